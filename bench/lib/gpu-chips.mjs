// Computes a chip's limit: lanes × clock ÷ instructions per nonce, if all three are known.
//
// GeForce RTX 50 is missing: All 128 lanes of its SMs do integers (NVIDIA RTX Blackwell whitepaper), which of the
// kernel's instructions run at half of that is not published, and an RTX 5090's published 33.59 GH/s (hashcat, mode
// 31000) is more than 64 lanes could do. Intel Arc: 8 lanes × 16 vector engines a core are known (oneAPI GPU
// optimization guide), what its compiler makes of the kernel is not. RDNA 4: nobody has counted.

/**
 * 4 × 16 lanes do integers in an SM (CUDA C++ Programming Guide, throughput of native arithmetic instructions, compute
 * capability 7.5 to 9.0). Instructions: counted in what ptxas makes of the kernel, in 28 registers; the last is
 * estimated.
 */
const NVIDIA = {
  unit: 'SMs',
  lanes: 64,
  kernels: [
    { instructions: 681, what: 'adds on the FMA pipe, the rest on the ALU pipe' },
    {
      instructions: 891,
      what: 'adds on the ALU pipe, too',
      remedy: 'compare the shaders, wgsl-multiplied-adds above all',
    },
    { instructions: 1195, what: 'rotates not fused into funnel shifts', remedy: 'compare the shaders, and drivers' },
  ],
};

/**
 * Two SIMDs of 32 lanes in a CU (AMD RDNA whitepaper); RDNA 3's second set of lanes takes no rotates. Instructions:
 * counted in what Mesa 25's RADV makes of the two shaders.
 */
const RDNA = {
  unit: 'CUs',
  lanes: 64,
  kernels: [
    { instructions: 899, what: 'two of the rotates by uniform distances' },
    { instructions: 1046, what: 'all rotates by constants', remedy: 'look why wgsl-uniform-rotates is not faster' },
  ],
};

/** The number of units and the boost clock in MHz, by the model's name without its maker. */
const CHIPS = new Map([
  // Hopper: glennklockwood.com/garden/processors/h100 and hmc-tech.com (132 SMs; PCIe: 114); an H200 at work reports
  // 1980 MHz.
  ['H200', { ...NVIDIA, units: 132, boostMHz: 1980, aim: 22e9 }],
  ['H100 80GB HBM3', { ...NVIDIA, units: 132, boostMHz: 1980 }],
  ['H100 PCIe', { ...NVIDIA, units: 114, boostMHz: 1755 }],
  // Ada: custompc.com (4090, 4080), thefpsreview.com (4070), hmc-tech.com (L40S, L40), cores ÷ 128.
  ['GeForce RTX 4090', { ...NVIDIA, units: 128, boostMHz: 2520 }],
  ['GeForce RTX 4080', { ...NVIDIA, units: 76, boostMHz: 2505 }],
  ['GeForce RTX 4070', { ...NVIDIA, units: 46, boostMHz: 2475 }],
  ['L40S', { ...NVIDIA, units: 142, boostMHz: 2520 }],
  ['L40', { ...NVIDIA, units: 142, boostMHz: 2490 }],
  // Ampere: hexus.net's review of the 3060 Ti and tweaktown.com (3090 Ti), cores ÷ 128; A100: hmc-tech.com, cores ÷ 64.
  ['GeForce RTX 3090 Ti', { ...NVIDIA, units: 84, boostMHz: 1860 }],
  ['GeForce RTX 3090', { ...NVIDIA, units: 82, boostMHz: 1695 }],
  ['GeForce RTX 3080', { ...NVIDIA, units: 68, boostMHz: 1710 }],
  ['GeForce RTX 3070', { ...NVIDIA, units: 46, boostMHz: 1725 }],
  ['GeForce RTX 3060 Ti', { ...NVIDIA, units: 38, boostMHz: 1665 }],
  ['A100-SXM4-40GB', { ...NVIDIA, units: 108, boostMHz: 1410 }],
  ['A100-SXM4-80GB', { ...NVIDIA, units: 108, boostMHz: 1410 }],
  ['A100 80GB PCIe', { ...NVIDIA, units: 108, boostMHz: 1410 }],
  // Turing: the same page of hexus.net, cores ÷ 64.
  ['GeForce RTX 2080 Ti', { ...NVIDIA, units: 68, boostMHz: 1545 }],
  ['GeForce RTX 2080 SUPER', { ...NVIDIA, units: 48, boostMHz: 1815 }],
  ['GeForce RTX 2080', { ...NVIDIA, units: 46, boostMHz: 1710 }],
  ['GeForce RTX 2070 SUPER', { ...NVIDIA, units: 40, boostMHz: 1770 }],
  ['GeForce RTX 2060', { ...NVIDIA, units: 30, boostMHz: 1680 }],
  // RDNA 3: guru3d.com and hardwaredb.net (7900), cputronic.com (7800 XT, 7600). RDNA 2: cputronic.com (6600 XT).
  ['Radeon RX 7900 XTX', { ...RDNA, units: 96, boostMHz: 2500 }],
  ['Radeon RX 7900 XT', { ...RDNA, units: 84, boostMHz: 2400 }],
  ['Radeon RX 7800 XT', { ...RDNA, units: 60, boostMHz: 2430 }],
  ['Radeon RX 7600', { ...RDNA, units: 32, boostMHz: 2655 }],
  ['Radeon RX 6600 XT', { ...RDNA, units: 32, boostMHz: 2589 }],
]);

/** The fraction of the ceiling that counts as reaching it: 22 of 24.6 GH/s on an H200. */
const REACHED = 0.89;
/**
 * A rate this close to the limit of a slower kernel probably belongs to that kernel. The exact value does not matter.
 */
const ALIKE = 0.85;
/** A clock below this fraction of the boost clock is limited by something. */
const HELD_DOWN = 0.95;

/**
 * @param model Dawn's name: `NVIDIA H200`, `AMD Radeon RX 7900 XTX (RADV NAVI31)`
 * @param coreMHz the sensors' reading while mining. Without it, the boost clock is used
 * @returns undefined for an unknown chip
 */
export function ceilingOf(model, coreMHz) {
  const name = model.replace(/\s*\(.*\)/, '').replace(/^(NVIDIA|AMD) /, '');
  const chip = CHIPS.get(name);
  if (!chip) return undefined;
  const { unit, units, lanes, boostMHz, aim } = chip;
  const MHz = coreMHz ?? boostMHz;
  const kernels = chip.kernels.map((kernel) => ({
    ...kernel,
    hashesPerSecond: Math.round((units * lanes * MHz * 1e6) / kernel.instructions),
  }));
  const clock =
    coreMHz === undefined ? 'the boost clock: no sensor reports the real one' : 'by the sensors while mining';
  const { hashesPerSecond } = kernels[0];
  return { hashesPerSecond, aim: aim ?? REACHED * hashesPerSecond, unit, units, lanes, MHz, clock, boostMHz, kernels };
}

/**
 * @param batches rows of the tuning: `{ batchMs, hashesPerSecond }`
 * @returns for people: what to look into; nothing when the rate is as expected
 */
export function lookInto(rate, { aim, kernels, MHz, boostMHz }, batches) {
  if (rate >= aim) return [];
  const [, ...slower] = kernels;
  const alike = slower.find(({ hashesPerSecond }) => rate <= hashesPerSecond && rate >= ALIKE * hashesPerSecond);
  const [shortest, longest] = [batches.at(0), batches.at(-1)].map((row) => row?.hashesPerSecond ?? rate);
  const causes = [
    alike && `the rate is that of: ${alike.what}: ${alike.remedy}`,
    MHz < HELD_DOWN * boostMHz && `the clock is ${MHz} of ${boostMHz} MHz: limits of power or temperature, or a lock`,
    shortest < 0.9 * longest && 'short batches are slower by more than 10 %: dispatches cost too much',
    rate < ALIKE * slower.at(-1).hashesPerSecond &&
      'slower than any variant should be: clock, limits, another process?',
  ].filter(Boolean);
  return causes.length > 0 ? causes : ['no cause shows here: compare drivers, and look for another process on the GPU'];
}
