/**
 * Makes the scanner of a device. The scanner has the variant that the user asked for, the remembered variant, the
 * likely variant, or the variant that was measured as the fastest.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { Cache, digest, type Key } from '../../../../base/system/cache.ts';
import { DeviceError } from '../../engine.ts';
import {
  isTypical,
  LOST_WITH_IT,
  nameOf,
  type Tuning,
  type TuningLimits,
  tuningShape,
  VARIANTS,
  type Variant,
  type VariantRow,
  whyTuning,
} from '../tuning.ts';
import { atOnce, bestBatch, type InTurn, raceBatches, raceVariants, type Trying } from './autotune.ts';
import { dawnVersion } from './gpu-device.ts';
import { Scanner, wgslOf } from './shader-scanner.ts';

/**
 * If the typical variant of a shader has less than this fraction of the fastest typical variant's rate, the shader's
 * other variants are measured only with the option `again`. The rates of one shader's variants differ by a tenth only,
 * and compiling a variant takes part of a second. The exact value does not matter.
 */
const HOPELESS_SHADER = 0.8;

export interface TuningOptions {
  /** Model of the GPU. Tunings are remembered by model and driver. */
  readonly model: string;
  /** Description of the driver, with its version. */
  readonly driver: string;
  /** Folder in which tunings are remembered. Without it, nothing is remembered. */
  readonly cacheDirectory?: string | undefined;
  /** Whether to measure all variants before mining, even if a tuning is remembered. */
  readonly again: boolean;
  /** The variant that the user asked for. If it is set, no other variant is measured, and nothing is remembered. */
  readonly variant?: Variant | undefined;
  /**
   * The variant with which the GPU mines at once if no tuning is remembered. Unless `hurried` is set, the variants are
   * then measured while the GPU mines.
   */
  readonly likely?: Variant | undefined;
  /** Whether to leave out the measurement that would otherwise run while the GPU mines with `likely`. */
  readonly hurried?: boolean;
  /** Length of a batch in ms, if the user chose one. */
  readonly batchMs?: number | undefined;
  readonly limits: TuningLimits;
  /** See `EngineListener.progress`. */
  readonly progress: (what: string, done: number) => void;
  readonly trying: Trying;
  /** Names of the variants that must not be tried, because the device was lost while they were being tried. */
  readonly skip: readonly string[];
  /** Checks a scanner before it mines. @throws DeviceError when it computes wrong hashes */
  readonly check: (scanner: Scanner) => Promise<void>;
}

export interface Tuned {
  readonly scanner: Scanner;
  readonly tuning: Tuning;
  /** For people: why this variant is used. */
  readonly why: string;
  /**
   * Measures the variants while the GPU mines with the likely variant. Absent if the variants have been measured
   * already, or if no measurement is wanted.
   */
  readonly measure?: (inTurn: InTurn) => Promise<Tuned>;
}

/**
 * @returns the key of a tuning: the shaders, the driver, and the version of Dawn. The fastest variant depends on all of
 *   them, because Dawn and the driver compile the shaders. It also depends on the model, which is not in the key
 */
export function tuningKey(driver: string): Key {
  const shaders = digest(VARIANTS.map(({ shader }) => wgslOf(shader)).join());
  return { driver, shaders, dawn: dawnVersion() };
}

/**
 * @throws DeviceError when the variant that the user asked for cannot be used on this device. If the user asked for
 *   none: when no remembered, likely or typical variant can be used
 */
export async function tunedScanner(device: GPUDevice, wanted: TuningOptions): Promise<Tuned> {
  const { variant, again, hurried, model, driver, cacheDirectory, batchMs, skip } = wanted;
  const cache = new Cache(cacheDirectory);
  const subject = `gpu ${model}`;
  const key = tuningKey(driver);
  const recalled = again || variant ? undefined : cache.recall(subject, key, tuningShape);
  if (recalled && !skip.includes(nameOf(recalled.variant))) {
    const { scanner } = await open(device, recalled.variant, wanted);
    // If there is no scanner, the remembered variant does not run any more. Then the code below chooses as if nothing
    // were remembered, and throws the reason if no variant runs.
    if (scanner) return { scanner, tuning: recalled, why: `${whyTuning(recalled, batchMs)}, as measured before` };
  }
  if (variant) return askedFor(device, variant, wanted);
  const measured = async (progress: TuningOptions['progress'], inTurn: InTurn): Promise<Tuned> => {
    const { scanner, tuning } = await measure(device, { ...wanted, progress }, inTurn);
    const forgotten = cache.remember(subject, key, tuning);
    const why = whyTuning(tuning, batchMs);
    return { scanner, tuning, why: forgotten === undefined ? why : `${why}; measured at each start: ${forgotten}` };
  };
  const mining = again ? undefined : await likelyScanner(device, wanted);
  if (!mining) return measured(wanted.progress, atOnce);
  if (hurried || skip.length >= MOST_LOSSES) {
    return { ...mining, why: `${mining.why}; pickaxe bench --tune measures all variants` };
  }
  const why = `${mining.why}; all variants are measured while it mines`;
  // The progress of this measurement is not reported, because the device mines already.
  return { ...mining, why, measure: (inTurn) => measured(() => {}, inTurn) };
}

/**
 * If the GPU mines with the likely variant, and was lost with at least this number of other variants, the variants are
 * not measured.
 */
const MOST_LOSSES = 3;

/** Length of a batch before lengths are measured, in ms: the middle length of BATCHES_MS in autotune.ts. */
const LIKELY_BATCH_MS = 8;

/**
 * Makes a scanner for the likely variant, and measures its rate.
 * @returns undefined if no variant is likely, or if the likely variant must be skipped or does not run
 */
async function likelyScanner(device: GPUDevice, wanted: TuningOptions): Promise<Tuned | undefined> {
  const { likely, skip, batchMs = LIKELY_BATCH_MS, limits, trying } = wanted;
  if (!likely || skip.includes(nameOf(likely))) return undefined;
  const { scanner } = await open(device, likely, wanted);
  if (!scanner) return undefined;
  const [{ hashesPerSecond }] = await raceVariants([scanner], limits, trying);
  const tuning = {
    variant: likely,
    batchMs,
    hashesPerSecond,
    variants: [{ variant: likely, hashesPerSecond }],
    batches: [],
  };
  return { scanner, tuning, why: `${nameOf(likely)}, probably the fastest here` };
}

/**
 * Measures the variant that the user asked for, and the lengths of batches unless the user chose a length.
 * @throws the fault of the variant when it does not run
 */
async function askedFor(device: GPUDevice, variant: Variant, wanted: TuningOptions): Promise<Tuned> {
  const { batchMs, limits, trying } = wanted;
  const { scanner, fault } = await open(device, variant, wanted);
  if (!scanner) throw fault;
  const [{ hashesPerSecond }] = await raceVariants([scanner], limits, trying);
  const variants = [{ variant, hashesPerSecond }];
  const batches = batchMs === undefined ? await raceBatches(scanner, hashesPerSecond, limits, trying) : [];
  const tuning = {
    variant,
    variants,
    batches,
    ...(batchMs === undefined ? bestBatch(batches) : { batchMs, hashesPerSecond }),
  };
  return { scanner, tuning, why: `${nameOf(variant)}, as asked for` };
}

/**
 * Measures the typical variant of each shader, then all variants of the shaders that are not too slow (with `again`, of
 * all shaders), and then the lengths of batches with the fastest variant.
 * @throws Error when no typical variant runs
 */
async function measure(device: GPUDevice, wanted: TuningOptions, inTurn: InTurn) {
  const { progress, limits, trying, again: thorough } = wanted;
  const what = `measuring ${limits.variants.length} variants of the kernel: a few seconds, once for this GPU and driver`;
  progress(what, 0);
  const typical = await openAll(device, limits.variants.filter(isTypical), wanted);
  if (typical.scanners.length === 0) throw typical.faults[0].fault;
  const firstRace = await raceVariants(typical.scanners, limits, trying, inTurn);
  const hopeful = thorough ? firstRace : hopefulOf(firstRace);
  const shaders = hopeful.map(({ scanner }) => scanner.variant.shader);

  progress(what, 0.25);
  const rest = limits.variants.filter((variant) => !isTypical(variant) && shaders.includes(variant.shader));
  const others = await openAll(device, rest, wanted);
  progress(what, 0.5);
  const ranked = await raceVariants(
    [...hopeful.map(({ scanner }) => scanner), ...others.scanners],
    limits,
    trying,
    inTurn,
  );
  const [{ scanner, hashesPerSecond }] = ranked;
  const all = [...ranked, ...firstRace.filter((each) => !hopeful.includes(each))];
  for (const { scanner: other } of all.slice(1)) other.destroy();

  progress(`measuring which batch length suits ${nameOf(scanner.variant)}`, 0);
  const batches = await raceBatches(scanner, hashesPerSecond, limits, trying, inTurn);
  const variants: VariantRow[] = [
    ...all.map(({ scanner: { variant }, hashesPerSecond }) => ({ variant, hashesPerSecond })),
    ...[...typical.faults, ...others.faults].map(({ variant, fault }) => ({ variant, fault: fault.message })),
  ];
  const { batchMs, hashesPerSecond: inFlight } = bestBatch(batches);
  return { scanner, tuning: { variant: scanner.variant, batchMs, hashesPerSecond: inFlight, variants, batches } };
}

/**
 * @param typical the typical variant of each shader, fastest first
 * @returns the typical variants of the shaders whose other variants are worth measuring
 */
export function hopefulOf<Rated extends { readonly hashesPerSecond: number }>(typical: readonly Rated[]): Rated[] {
  return typical.filter(({ hashesPerSecond }) => hashesPerSecond >= HOPELESS_SHADER * typical[0].hashesPerSecond);
}

async function openAll(device: GPUDevice, variants: readonly Variant[], wanted: TuningOptions) {
  const scanners: Scanner[] = [];
  const faults: { readonly variant: Variant; readonly fault: Error }[] = [];
  for (const variant of variants) {
    const skipped = wanted.skip.includes(nameOf(variant));
    const { scanner, fault } = skipped ? SKIPPED : await open(device, variant, wanted);
    if (scanner) scanners.push(scanner);
    else faults.push({ variant, fault });
  }
  return { scanners, faults };
}

const SKIPPED: Opened = { fault: new DeviceError('lost', LOST_WITH_IT) };

type Opened =
  | { readonly scanner: Scanner; readonly fault?: never }
  | { readonly scanner?: never; readonly fault: Error };

/** Time limit for the report that the device is lost, in ms. The exact value does not matter. */
const LOSS_MS = 1_000;

/** Compiles and checks a variant. Returns a fault instead of throwing it, so that other variants can be tried. */
async function open(device: GPUDevice, variant: Variant, { trying, check }: TuningOptions): Promise<Opened> {
  let scanner: Scanner | undefined;
  trying(variant);
  try {
    scanner = await Scanner.compile(device, variant);
    await check(scanner);
    return { scanner };
  } catch (fault) {
    scanner?.destroy();
    if (fault instanceof DeviceError) return { fault };
    // If the device is lost, its loss is reported a little later, and the report ends this process. That must happen
    // while this variant still counts as the one that is being tried.
    await Promise.race([device.lost, sleep(LOSS_MS)]);
    return {
      fault: new DeviceError('lost', `the driver cannot run it: ${(fault as Error).message}`, { cause: fault }),
    };
  } finally {
    trying(undefined);
  }
}
