/** Loads kernels and checks them: only a kernel that gives right answers may mine. */

import { joinNonce, type Range } from '../../../../protocol/chain/nonce.ts';
import type { KernelName } from '../../device.ts';
import { DeviceError } from '../../engine.ts';
import { type Kernel, ROW_COUNTERS, scan } from './kernel.ts';
import { isNative, loadNative } from './native-kernels.ts';
import { loadWasm, type WasmName } from './wasm-kernels.ts';

/**
 * Loads a kernel and checks it.
 * @throws DeviceError with fault `missing` when the kernel cannot run here, or `wrong-hashes` when it gives a wrong
 *   answer
 */
export function loadKernel(name: KernelName): Kernel {
  let kernel: Kernel;
  try {
    kernel = load(name);
  } catch (error) {
    throw new DeviceError('missing', (error as Error).message, { cause: error });
  }
  if (!answersRight(kernel)) throw new DeviceError('wrong-hashes', 'computed wrong hashes');
  return kernel;
}

function load(name: KernelName): Kernel {
  return isNative(name) ? loadNative(name) : loadWasm(name as WasmName);
}

export interface Loaded {
  readonly kernels: readonly Kernel[];
  /** The reason for each kernel that cannot be used. */
  readonly unusable: ReadonlyMap<KernelName, string>;
}

export function loadKernels(names: readonly KernelName[]): Loaded {
  const kernels: Kernel[] = [];
  const unusable = new Map<KernelName, string>();
  for (const name of names) {
    try {
      kernels.push(loadKernel(name));
    } catch (error) {
      unusable.set(name, (error as DeviceError).message);
    }
  }
  return { kernels, unusable };
}

/*
 * The known answers that a kernel must give. The header is that of block 6,321,600 of chain 0, from a live network with
 * this wire format (test/vectors/headers.json). The nonces were computed with node:crypto.
 */

// biome-ignore format: words
const MIDSTATE = Uint32Array.of(
  0x82be3f0a, 0x527d0ea3, 0x448be713, 0xf5e386af, 0x1590174a, 0x8b8caf88, 0xda59a3c7, 0xcbeb7d8d,
);
// biome-ignore format: words
const TAIL = Uint32Array.of(
  0x75c00000, 0x00000060, 0x00050000, 0x6ce40000, 0x42a9bce2, 0x00000006, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
);
// biome-ignore format: words
const BLOCK_TARGET = Uint32Array.of(
  0x6394d381, 0xcca9cfbf, 0xf4121a49, 0x365ab97e, 0xad141f92, 0xf6bd673c, 0x0000005d, 0,
);

/** @returns a target of 8 words, least significant first: word 7 is `word7`, and all bits of the other words are set */
const targetOf = (word7: number) => Uint32Array.from({ length: 8 }, (_, i) => (i < 7 ? 0xffff_ffff : word7));

interface KnownAnswer {
  readonly target: Uint32Array;
  readonly range: Range;
  /** Page and counter of each nonce that solves the puzzle, in the order in which a kernel searches. */
  readonly solve: readonly (readonly [number, number])[];
}

// biome-ignore format: a table
const KNOWN_ANSWERS: readonly KnownAnswer[] = [
  // The nonce of the block itself, with its real target, whose word 7 is zero.
  { target: BLOCK_TARGET, range: { lane: 2422, step: 1, page: 31900, pages: 3, counter: 572356089, counters: ROW_COUNTERS },
    solve: [[31901, 572356389]] },
  // The end of the space. A row has 509 counters, so its last vector is not full, whatever the length of a vector.
  { target: targetOf(0x01ffffff), range: { lane: 4660, step: 1, page: 65534, pages: 2, counter: 4294966787, counters: 509 },
    solve: [[65534, 4294966934], [65534, 4294966940], [65534, 4294967247], [65534, 4294967289],
            [65535, 4294966833], [65535, 4294967090], [65535, 4294967114], [65535, 4294967176]] },
  // The start of the space, with a target that only half of the kernels' hits meet.
  { target: targetOf(0x01000000), range: { lane: 65535, step: 1, page: 0, pages: 50, counter: 0, counters: 37 },
    solve: [[19, 19], [20, 7], [21, 17], [31, 28], [34, 22], [36, 23], [41, 32]] },
  // The end of the space in a lane of three bytes, with a step of 256.
  { target: targetOf(0x01ffffff), range: { lane: 5177382, step: 256, page: 65534, pages: 2, counter: 16776707, counters: 509 },
    solve: [[65534, 16776937], [65534, 16777000], [65534, 16777024], [65534, 16777118], [65534, 16777163],
            [65534, 16777203], [65535, 16776715], [65535, 16776720], [65535, 16776984], [65535, 16777121],
            [65535, 16777177]] },
  // The start of the space in a lane of four bytes, with a step of 65,536.
  { target: targetOf(0x01000000), range: { lane: 4294967294, step: 65536, page: 0, pages: 50, counter: 0, counters: 37 },
    solve: [[17, 6], [21, 18], [28, 20], [38, 11], [46, 16], [48, 16]] },
  // A target that every hash meets.
  { target: targetOf(0xffffffff), range: { lane: 0, step: 1, page: 7, pages: 1, counter: 2147483647, counters: 3 },
    solve: [[7, 2147483647], [7, 2147483648], [7, 2147483649]] },
];

/** Hashes about 7,300 nonces. @returns whether the kernel finds exactly the known nonces */
export function answersRight(kernel: Kernel): boolean {
  return KNOWN_ANSWERS.every(({ target, range, solve }) => {
    const expected = solve.map(([page, counter]) => joinNonce({ ...range, page, counter }));
    const found: bigint[] = [];
    let left = range;
    while (left.pages > 0) {
      const { pages, candidates } = scan(kernel, { midstate: MIDSTATE, tail: TAIL, target }, 1, left, Int32Array.of(1));
      if (pages === 0) return false;
      found.push(...candidates);
      left = { ...left, page: left.page + pages, pages: left.pages - pages };
    }
    return found.length === expected.length && found.every((nonce, i) => nonce === expected[i]);
  });
}
