/** A `Ranges` for tests: one rectangle of nonces, which checks that every nonce is accounted for. */

import { expect } from 'vitest';
import type { Ranges, SearchReport } from '#pickaxe/miner/engine/engine.js';
import { type Range, sizeOf } from '#pickaxe/protocol/chain/nonce.js';

export class Rectangle implements Ranges {
  readonly whole: Range;
  readonly #free: Range[];

  constructor(whole: Range) {
    this.whole = whole;
    this.#free = sizeOf(whole) > 0 ? [whole] : [];
  }

  take(most: { readonly counters: number; readonly pages: number }): Range | undefined {
    const from = this.#free.pop();
    if (from === undefined) return undefined;
    const counters = Math.min(from.counters, most.counters);
    const pages = Math.min(from.pages, most.pages);
    this.giveBack({ ...from, counter: from.counter + counters, counters: from.counters - counters });
    this.giveBack({ ...from, counters, page: from.page + pages, pages: from.pages - pages });
    return { ...from, counters, pages };
  }

  giveBack(range: Range): void {
    if (sizeOf(range) > 0) this.#free.push(range);
  }

  /** Every nonce must be in exactly one of the reports, or free. */
  expectBalanced(reports: readonly SearchReport[]): void {
    const parts = [...reports.map((report) => report.searched), ...this.#free];
    expect(parts.reduce((sum, part) => sum + sizeOf(part), 0)).toBe(sizeOf(this.whole));
    expect(parts.filter((part) => !inside(part, this.whole))).toEqual([]);
    expect(parts.filter((part, i) => parts.slice(0, i).some((other) => overlap(part, other)))).toEqual([]);
    expect(reports.filter(({ hashes, searched }) => hashes !== sizeOf(searched))).toEqual([]);
  }

  expectUsedUp(): void {
    expect(this.#free).toEqual([]);
  }
}

const lies = (start: number, count: number, inStart: number, inCount: number) =>
  start >= inStart && start + count <= inStart + inCount;

const inside = (part: Range, whole: Range) =>
  part.lane === whole.lane &&
  lies(part.page, part.pages, whole.page, whole.pages) &&
  lies(part.counter, part.counters, whole.counter, whole.counters);

const overlap = (a: Range, b: Range) =>
  a.page < b.page + b.pages &&
  b.page < a.page + a.pages &&
  a.counter < b.counter + b.counters &&
  b.counter < a.counter + a.counters;
