/** The WebAssembly kernels, built from native/wasm.c and kept in native/prebuilt/. */

import { readFileSync } from 'node:fs';
import { COUNTERS_WORD, HIT_WORDS, type Kernel, PAGES_WORD, ROW_COUNTERS } from './kernel.ts';

const FILES = { 'wasm-simdx2': 'scan-simdx2.wasm', 'wasm-simd': 'scan-simd.wasm', wasm: 'scan.wasm' } as const;

export type WasmName = keyof typeof FILES;

/**
 * Maximum number of rows in a call. V8 installs optimized code only between calls, so the first calls must be short. 64
 * rows take 1.5 ms with SIMD. Longer calls would be possible later, but no faster.
 */
const ROWS_PER_CALL = 64;

/** Minimum number of rows in a timed call. In shorter calls, the setup takes too large a part of the time. */
const LEAST_TIMED_ROWS = 16;

// TypeScript declares WebAssembly only among the types of the DOM, which this project does not use.
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: unknown };
};

interface Exports {
  memory: { buffer: ArrayBuffer };
  searchAt(): number;
  hitsAt(): number;
  search(): number;
}

/** @throws Error when the module cannot be read, or this version of Node.js cannot compile it */
export function loadWasm(name: WasmName): Kernel {
  return loadWasmFile(name, prebuilt(FILES[name]));
}

function prebuilt(file: string): URL {
  return new URL(`../../../../../native/prebuilt/${file}`, import.meta.url);
}

/** @returns the bytes of the prebuilt modules that can be read. They change whenever a kernel could have changed */
export function wasmBuilds(): Uint8Array[] {
  return Object.values(FILES).flatMap((file) => {
    try {
      return [readFileSync(prebuilt(file))];
    } catch {
      return []; // Loading the module reports why.
    }
  });
}

/** Loads a module from any file. scripts/build-wasm.mjs checks new builds with this function. */
export function loadWasmFile(name: WasmName, file: URL | string): Kernel {
  const bytes = readFileSync(file);
  let flag: Int32Array = new Int32Array(1);
  const host = { currentRun: () => Atomics.load(flag, 0) };
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), { host });
  const wasm = instance.exports as Exports;
  const memory = new Uint32Array(wasm.memory.buffer);
  const searchAt = wasm.searchAt() / 4;
  const hitsAt = wasm.hitsAt() / 4;
  const offsets = new StackSlots();
  return {
    name,
    search(search, currentRun, hits) {
      flag = currentRun;
      memory.set(search, searchAt);
      memory[searchAt + PAGES_WORD] = Math.min(search[PAGES_WORD], ROWS_PER_CALL);
      const startMs = performance.now();
      const rows = Reflect.apply(wasm.search, undefined, offsets.next()) as number;
      if (rows >= LEAST_TIMED_ROWS && search[COUNTERS_WORD] === ROW_COUNTERS) {
        offsets.learn((performance.now() - startMs) / rows);
      }
      hits.set(memory.subarray(hitsAt, hitsAt + HIT_WORDS));
      return rows;
    },
  };
}

/*
 * The place of a kernel on the stack. V8 aligns the stack only to 8 bytes, and keeps vectors there when it has no
 * register for them. A kernel loses 5 % of its speed when these vectors are not aligned to 16 bytes. It has only 25 to
 * 60 % of its speed when a vector lies across two memory pages, which happens at one of ten stack addresses (Node.js
 * 20, x86-64).
 *
 * JavaScript cannot read the stack's address. So several offsets are tried, and the fastest one is used most of the
 * time. An offset is made with arguments that the kernel ignores: each argument moves the stack by 8 bytes.
 */

/**
 * The ignored arguments for each offset. An odd number of arguments changes the alignment, and 64 arguments move the
 * stack away from the end of a memory page.
 */
const OFFSETS = [0, 1, 64, 65].map((words) => new Array<undefined>(words).fill(undefined));

/**
 * After the first EARLY_CALLS timed calls, one of this many timed calls tries the next offset, even if that offset is
 * slow. These calls cost 0.2 % of the speed.
 */
const TRY_EVERY = 16;

/**
 * Number of timed calls at the beginning in which offsets are tried more often, because the first 30 ms decide which
 * kernel is used.
 */
const EARLY_CALLS = 64;
/** Among the first EARLY_CALLS timed calls, one of this many tries the next offset. */
const TRY_EARLY = 4;

export class StackSlots {
  readonly #msPerRow = OFFSETS.map(() => Number.POSITIVE_INFINITY);
  #learned = 0;
  #offset = 0;

  /** @returns the ignored arguments for the next call */
  next(): readonly undefined[] {
    const tries = this.#learned / (this.#learned < EARLY_CALLS ? TRY_EARLY : TRY_EVERY);
    const fastest = this.#msPerRow.indexOf(Math.min(...this.#msPerRow));
    this.#offset = Number.isInteger(tries) ? tries % OFFSETS.length : fastest;
    return OFFSETS[this.#offset];
  }

  /**
   * Must be called only if the kernel's last call has searched at least LEAST_TIMED_ROWS full rows. The durations of
   * other calls cannot be compared.
   * @param msPerRow duration of that call divided by its number of rows, in ms
   */
  learn(msPerRow: number): void {
    this.#msPerRow[this.#offset] = msPerRow;
    this.#learned++;
  }
}
