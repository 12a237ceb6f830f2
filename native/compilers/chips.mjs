// Computes a card's limits: lanes × clock ÷ instructions per nonce, for each variant of the kernel, if all are known.

import { CARDS } from './cards.mjs';
import { recorded } from './instructions.mjs';

/**
 * What else an NVIDIA driver may make of the kernel: all additions on the ALU pipe; and rotates of three instructions.
 */
const NVIDIA_ODDITIES = [
  {
    instructions: 890,
    what: 'adds on the ALU pipe, too',
    remedy: 'compare the shaders, wgsl-multiplied-adds above all',
  },
  { instructions: 1195, what: 'rotates not fused into funnel shifts', remedy: 'compare the shaders, and drivers' },
];

/** The fraction of the ceiling that counts as reaching it: 22 of 24.7 GH/s on an H200, with the plain shader. */
const REACHED = 0.89;
/**
 * A rate this close to the limit of a slower kernel probably belongs to that kernel. The exact value does not matter.
 */
const ALIKE = 0.85;
/** With at least this fraction of the best kernel's rate, a kernel cannot be distinguished from the best by a rate. */
const AS_FAST = 0.97;
/** A clock below this fraction of the boost clock is limited by something. */
const HELD_DOWN = 0.95;

/** @returns for each variant what its family's compiler makes of it, best first */
function kernelsOf({ family, lanes, unit, compiler: usual = '' }, rows) {
  const compiled = rows
    .filter(({ families, compiler }) => families.includes(family) && compiler.startsWith(usual))
    .map(({ variant, compiler, instructionsPerNonce: instructions }) => ({
      variant,
      instructions,
      what: `${variant} by ${compiler}`,
    }))
    .sort((a, b) => a.instructions - b.instructions);
  const [best] = compiled;
  if (!best) return [];
  const slower = compiled.slice(1).map((kernel) => ({ ...kernel, remedy: `look why ${best.variant} is not faster` }));
  const odd = unit === 'SMs' && lanes === 64 ? NVIDIA_ODDITIES : [];
  return [best, ...[...slower, ...odd].sort((a, b) => a.instructions - b.instructions)];
}

/**
 * @param model Dawn's name: `NVIDIA H200`, `AMD Radeon RX 7900 XTX (RADV NAVI31)`
 * @param coreMHz the sensors' reading while mining. Without it, the boost clock is used
 * @param rows the recorded counts
 * @returns undefined for an unknown card
 */
export function ceilingOf(model, coreMHz, rows = recorded()) {
  const name = model.replace(/\s*\(.*\)/, '').replace(/^(NVIDIA|AMD|Intel) /, '');
  const card = CARDS.get(name);
  if (!card) return undefined;
  const { unit, units, lanes, boostMHz, aim } = card;
  const MHz = coreMHz ?? boostMHz;
  const rateOf = ({ instructions }) => Math.round((units * lanes * MHz * 1e6) / instructions);
  const kernels = kernelsOf(card, rows).map((kernel) => ({ ...kernel, hashesPerSecond: rateOf(kernel) }));
  if (kernels.length === 0) return undefined;
  const clock =
    coreMHz === undefined ? 'the boost clock: no sensor reports the real one' : 'by the sensors while mining';
  const { hashesPerSecond } = kernels[0];
  // Whether NVIDIA's drivers keep multiplications by a one is not known, so the aim there is by the plain shader.
  const aimed = kernels.find(({ variant }) => lanes === 64 && unit === 'SMs' && variant === 'wgsl') ?? kernels[0];
  const reached = aim ?? REACHED * aimed.hashesPerSecond;
  return { hashesPerSecond, aim: reached, unit, units, lanes, MHz, clock, boostMHz, kernels };
}

/**
 * @param batches rows of the tuning: `{ batchMs, hashesPerSecond }`
 * @returns for people: what to look into; nothing when the rate is as expected
 */
export function lookInto(rate, { aim, kernels, MHz, boostMHz }, batches) {
  if (rate >= aim) return [];
  const slower = kernels.filter(({ hashesPerSecond }) => hashesPerSecond < AS_FAST * kernels[0].hashesPerSecond);
  const alike = slower.find(({ hashesPerSecond }) => rate <= hashesPerSecond && rate >= ALIKE * hashesPerSecond);
  const [shortest, longest] = [batches.at(0), batches.at(-1)].map((row) => row?.hashesPerSecond ?? rate);
  const causes = [
    alike && `the rate is that of: ${alike.what}: ${alike.remedy}`,
    MHz < HELD_DOWN * boostMHz && `the clock is ${MHz} of ${boostMHz} MHz: limits of power or temperature, or a lock`,
    shortest < 0.9 * longest && 'short batches are slower by more than 10 %: dispatches cost too much',
    rate < ALIKE * kernels.at(-1).hashesPerSecond &&
      'slower than any variant should be: clock, limits, another process?',
  ].filter(Boolean);
  return causes.length > 0 ? causes : ['no cause shows here: compare drivers, and look for another process on the GPU'];
}

/** A rate this close to what was computed confirms it: dispatches cost some percent, and clocks are read rarely. */
const CONFIRMS = { least: 0.85, most: 1.05 };

/**
 * @param ceiling of `ceilingOf`
 * @param variants the rows of a tuning: `{ variant: { shader }, hashesPerSecond }`
 * @returns for each shader what the README expects of the card at its clock, and whether the best rate confirms that
 */
export function predictionsOf({ kernels }, variants) {
  return kernels.flatMap(({ variant: shader, instructions, hashesPerSecond: expected }) => {
    const rates = variants.filter(({ variant }) => variant.shader === shader).map((row) => row.hashesPerSecond ?? 0);
    const measured = Math.max(0, ...rates);
    if (measured === 0) return [];
    const ratio = measured / expected;
    const { least, most } = CONFIRMS;
    const verdict = ratio < least ? 'refuted: slower' : ratio > most ? 'refuted: faster' : 'confirmed';
    return [{ shader, instructions, expected, measured, ratio, verdict }];
  });
}

/**
 * @param rows new counts, with `families`
 * @returns for each card whose family was compiled by the usual compiler: its rate with the best variant and with the
 *   plain one, at the boost clock
 */
export function expectedRates(rows) {
  return [...CARDS].flatMap(([name, { family, published }]) => {
    const ceiling = ceilingOf(name, undefined, rows);
    if (!ceiling) return [];
    const [best] = ceiling.kernels;
    const plain = ceiling.kernels.find(({ variant }) => variant === 'wgsl');
    const { unit, units, lanes, MHz } = ceiling;
    return [{ name, family, unit, units, lanes, MHz, best, plain, published }];
  });
}
