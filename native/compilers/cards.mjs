// Cards: how many units they have, their boost clock, what compilers call their family, and the rates that others have
// published for the same hash.

/**
 * 4 × 16 lanes do integers in an SM (CUDA C++ Programming Guide, throughput of native arithmetic instructions, compute
 * capability 7.0 to 9.0). GeForce RTX 50: the guide's successor of that table was not at hand. With 64 lanes, an RTX
 * 5090's published rate is that of 842 to 907 instructions at 2.6 to 2.8 GHz: the 888 that ptxas makes of the plain
 * kernel there, all on one pipe.
 */
const NVIDIA = { unit: 'SMs', lanes: 64 };
/** Pascal: 128 lanes add and do logic; shifts, which take half of them, count twice (the same table). */
const PASCAL = { unit: 'SMs', lanes: 128 };
/** RDNA: two SIMDs of 32 lanes in a CU; GCN and Vega: four of 16 (AMD's whitepapers). */
const AMD = { unit: 'CUs', lanes: 64 };
/**
 * A vector engine has 8 lanes, and a core of Xe-HPG 16 engines (oneAPI GPU optimization guide). `compiler`: the one on
 * Linux.
 */
const INTEL = { unit: 'vector engines', lanes: 8, compiler: 'ANV' };

/** hashcat's own benchmark, mode 31000: short passwords, and so one block, as here. GH/s. */
const hashcat = (GHs) => `${GHs.toFixed(2)} (hashcat)`;

/** By the model's name without its maker. */
export const CARDS = new Map([
  // Hopper: glennklockwood.com/garden/processors/h100 and hmc-tech.com (132 SMs; PCIe: 114); an H200 at work reports
  // 1980 MHz.
  ['H200', { ...NVIDIA, family: 'sm_90', units: 132, boostMHz: 1980, aim: 22e9 }],
  ['H100 80GB HBM3', { ...NVIDIA, family: 'sm_90', units: 132, boostMHz: 1980 }],
  ['H100 PCIe', { ...NVIDIA, family: 'sm_90', units: 114, boostMHz: 1755, published: hashcat(18.5) }],
  // Blackwell: sipoch.com (5090, 5080) and pcspecchart.com (5090).
  ['GeForce RTX 5090', { ...NVIDIA, family: 'sm_120', units: 170, boostMHz: 2407, published: hashcat(33.59) }],
  ['GeForce RTX 5080', { ...NVIDIA, family: 'sm_120', units: 84, boostMHz: 2617 }],
  // Ada: custompc.com (4090, 4080), thefpsreview.com (4070), hmc-tech.com (L40S, L40), cores ÷ 128.
  ['GeForce RTX 4090', { ...NVIDIA, family: 'sm_89', units: 128, boostMHz: 2520 }],
  ['GeForce RTX 4080', { ...NVIDIA, family: 'sm_89', units: 76, boostMHz: 2505, published: hashcat(19.81) }],
  ['GeForce RTX 4070', { ...NVIDIA, family: 'sm_89', units: 46, boostMHz: 2475 }],
  ['L40S', { ...NVIDIA, family: 'sm_89', units: 142, boostMHz: 2520 }],
  ['L40', { ...NVIDIA, family: 'sm_89', units: 142, boostMHz: 2490 }],
  // Ampere: hexus.net's review of the 3060 Ti and tweaktown.com (3090 Ti), cores ÷ 128; A100: hmc-tech.com, cores ÷ 64.
  ['GeForce RTX 3090 Ti', { ...NVIDIA, family: 'sm_86', units: 84, boostMHz: 1860 }],
  ['GeForce RTX 3090', { ...NVIDIA, family: 'sm_86', units: 82, boostMHz: 1695, published: hashcat(13.33) }],
  ['GeForce RTX 3080', { ...NVIDIA, family: 'sm_86', units: 68, boostMHz: 1710, published: hashcat(8.73) }],
  ['GeForce RTX 3070', { ...NVIDIA, family: 'sm_86', units: 46, boostMHz: 1725 }],
  ['GeForce RTX 3060 Ti', { ...NVIDIA, family: 'sm_86', units: 38, boostMHz: 1665 }],
  ['A100-SXM4-40GB', { ...NVIDIA, family: 'sm_80', units: 108, boostMHz: 1410 }],
  ['A100-SXM4-80GB', { ...NVIDIA, family: 'sm_80', units: 108, boostMHz: 1410 }],
  ['A100 80GB PCIe', { ...NVIDIA, family: 'sm_80', units: 108, boostMHz: 1410 }],
  // Turing: the same page of hexus.net, cores ÷ 64. Pascal: fpsbench.com, cores ÷ 128.
  ['GeForce RTX 2080 Ti', { ...NVIDIA, family: 'sm_75', units: 68, boostMHz: 1545 }],
  ['GeForce RTX 2080 SUPER', { ...NVIDIA, family: 'sm_75', units: 48, boostMHz: 1815 }],
  ['GeForce RTX 2080', { ...NVIDIA, family: 'sm_75', units: 46, boostMHz: 1710 }],
  ['GeForce RTX 2070 SUPER', { ...NVIDIA, family: 'sm_75', units: 40, boostMHz: 1770 }],
  ['GeForce RTX 2060', { ...NVIDIA, family: 'sm_75', units: 30, boostMHz: 1680 }],
  ['GeForce GTX 1080 Ti', { ...PASCAL, family: 'sm_61', units: 28, boostMHz: 1582 }],
  // RDNA 4: fpsbench.com. RDNA 3: guru3d.com and hardwaredb.net (7900), cputronic.com (7800 XT, 7600). RDNA 2:
  // cputronic.com (6600 XT), hmc-tech.com (6800 XT).
  ['Radeon RX 9070 XT', { ...AMD, family: 'gfx1201', units: 64, boostMHz: 2970 }],
  ['Radeon RX 7900 XTX', { ...AMD, family: 'navi31', units: 96, boostMHz: 2500 }],
  ['Radeon RX 7900 XT', { ...AMD, family: 'navi31', units: 84, boostMHz: 2400 }],
  ['Radeon RX 7800 XT', { ...AMD, family: 'navi32', units: 60, boostMHz: 2430 }],
  ['Radeon RX 7600', { ...AMD, family: 'navi33', units: 32, boostMHz: 2655 }],
  ['Radeon RX 6800 XT', { ...AMD, family: 'navi21', units: 72, boostMHz: 2250 }],
  ['Radeon RX 6600 XT', { ...AMD, family: 'navi23', units: 32, boostMHz: 2589 }],
  // GCN: fpsbench.com.
  ['Radeon RX 580', { ...AMD, family: 'polaris10', units: 36, boostMHz: 1340 }],
  // Xe-HPG: svethardware.cz, by Intel's specification; 16 engines a core.
  ['Arc A770', { ...INTEL, family: 'dg2', units: 512, boostMHz: 2100 }],
  ['Arc A750', { ...INTEL, family: 'dg2', units: 448, boostMHz: 2050 }],
]);
