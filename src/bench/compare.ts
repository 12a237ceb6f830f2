/** Compares two results of `pickaxe bench --json`: who is faster, and did all do the same work? */

import type { BenchResult, DeviceResult } from './result.ts';
import { spreadOf } from './spread.ts';

/** A difference beyond this many standard deviations comes from the slices' noise in one case of twenty. */
const DEVIATIONS = 2;

export interface Pair {
  readonly a: DeviceResult;
  readonly b: DeviceResult;
  /** The mean hashrate of B as a multiple of A's. */
  readonly ratio: number;
  /** How much the ratio may differ from 1 by noise alone. */
  readonly noise: number;
  readonly verdict: 'faster' | 'slower' | 'within the spread';
}

export interface Comparison {
  readonly pairs: readonly Pair[];
  readonly onlyA: readonly DeviceResult[];
  readonly onlyB: readonly DeviceResult[];
  /** `different` means that a device on either side is wrong. Sums for another seed or count cannot be compared. */
  readonly sums: 'equal' | 'different' | 'not comparable';
}

export function compare(a: BenchResult, b: BenchResult): Comparison {
  const { pairs, onlyA, onlyB } = pairUp(a.devices, b.devices);
  return { pairs: pairs.map(([left, right]) => judge(left, right)), onlyA, onlyB, sums: compareSums(a, b) };
}

function compareSums(a: BenchResult, b: BenchResult): Comparison['sums'] {
  if (a.seed !== b.seed || a.count !== b.count || a.devices.length === 0 || b.devices.length === 0) {
    return 'not comparable';
  }
  const sums = new Set([...a.devices, ...b.devices].map(({ sum }) => sum));
  return sums.size === 1 ? 'equal' : 'different';
}

/** All figures come from the slices. */
function judge(a: DeviceResult, b: DeviceResult): Pair {
  const [left, right] = [spreadOf(a.slices), spreadOf(b.slices)];
  const ratio = right.mean / left.mean;
  const noise = (DEVIATIONS * Math.hypot(left.cv * left.mean, right.cv * right.mean)) / left.mean;
  if (Math.abs(ratio - 1) <= noise) return { a, b, ratio, noise, verdict: 'within the spread' };
  return { a, b, ratio, noise, verdict: ratio > 1 ? 'faster' : 'slower' };
}

/** The same device in both has the same name and model, else the same model (numbers of GPUs change), else the same name. */
function pairUp(a: readonly DeviceResult[], b: readonly DeviceResult[]) {
  const same: ((left: DeviceResult, right: DeviceResult) => boolean)[] = [
    (left, right) => left.name === right.name && left.model === right.model,
    (left, right) => left.kind === right.kind && left.model === right.model,
    (left, right) => left.name === right.name && left.kind === right.kind,
  ];
  const partners = new Map<DeviceResult, DeviceResult>();
  const taken = new Set<DeviceResult>();
  for (const fits of same) {
    for (const left of a) {
      const right = partners.has(left) ? undefined : b.find((one) => !taken.has(one) && fits(left, one));
      if (!right) continue;
      partners.set(left, right);
      taken.add(right);
    }
  }
  return {
    pairs: a.flatMap((left) => {
      const right = partners.get(left);
      return right ? [[left, right] as const] : [];
    }),
    onlyA: a.filter((left) => !partners.has(left)),
    onlyB: b.filter((right) => !taken.has(right)),
  };
}
