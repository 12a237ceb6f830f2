/** The slow part of simulated hashers, which really hash: a search of a few thousand nonces. */

import { BoundedMap } from '#pickaxe/base/system/bounded.js';
import { ROW_COUNTERS, scan } from '#pickaxe/miner/engine/cpu/kernels/kernel.js';
import { loadWasm } from '#pickaxe/miner/engine/cpu/kernels/wasm-kernels.js';
import { type Puzzle, puzzleOf } from '#pickaxe/protocol/chain/job.js';
import type { Lane } from '#pickaxe/protocol/chain/nonce.js';
import { parseHeader } from '#pickaxe/protocol/wire/stratum.js';

/** A header as a stratum server sends it. */
export interface PreparedHeader {
  readonly hex: string;
  readonly header: Uint8Array;
  readonly puzzle: Puzzle;
}

/** @param target 32 bytes, little-endian @returns the puzzle with another target */
export function withTarget(puzzle: Puzzle, target: Uint8Array): Puzzle {
  const view = new DataView(target.buffer, target.byteOffset);
  const words = new Uint32Array(8);
  for (let at = 0; at < 8; at++) words[at] = view.getUint32(4 * at, true);
  return { ...puzzle, target: words };
}

const EASIEST = new Uint8Array(32).fill(0xff);
const prepared = new BoundedMap<string, PreparedHeader>(256);

/**
 * Prepares a header once for all ASICs, because the sessions of a server share their headers.
 * @returns undefined for anything else than a header in hex
 */
export function prepareHeader(hex: string): PreparedHeader | undefined {
  const known = prepared.get(hex);
  if (known) return known;
  const header = parseHeader(hex);
  if (!header) return undefined;
  const made = { hex, header, puzzle: puzzleOf(header, EASIEST) };
  prepared.set(hex, made);
  return made;
}

/** Every version of Node.js has this kernel. */
const kernel = loadWasm('wasm-simd');
/** The search in this thread is the only one, so it is always the current run. */
const RUN = 1;
const currentRun = Int32Array.of(RUN);

/** Searches the nonces of a lane, one after the other. */
export class Search {
  readonly #puzzle: Puzzle;
  readonly #lane: Lane;
  #counter: number;

  /** @param counter where the search begins */
  constructor(puzzle: Puzzle, lane: Lane, counter = 0) {
    this.#puzzle = puzzle;
    this.#lane = lane;
    this.#counter = counter;
  }

  /** The next counter. */
  get counter(): number {
    return this.#counter;
  }

  /** @returns the nonces among the next `hashes` that meet the target */
  next(hashes: number): bigint[] {
    const found: bigint[] = [];
    for (const end = this.#counter + hashes; this.#counter < end; ) {
      const counters = Math.min(ROW_COUNTERS, end - this.#counter);
      const range = { ...this.#lane, counter: this.#counter, counters, page: 0, pages: 1 };
      found.push(...scan(kernel, this.#puzzle, RUN, range, currentRun).candidates);
      this.#counter += counters;
    }
    return found;
  }
}
