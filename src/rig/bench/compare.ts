/** Compares two results of `pickaxe bench --json`: their hashrates, and whether all devices did the same work. */

import { type BenchResult, type DeviceResult, meanOf, spreadOf } from './bench-result.ts';

/** Number of standard deviations that a difference must exceed. Noise alone exceeds two in one case of twenty. */
const DEVIATIONS = 2;

/**
 * Minimum number of runs for computing the spread from the runs. With fewer runs, it is computed from their slices.
 */
const LEAST_RUNS = 3;

/** A device's hashrate, computed from the slices of its runs instead of the file's own totals. */
interface Rate {
  /** The median of the runs. */
  readonly hashesPerSecond: number;
  /** The standard deviation of the runs, or of the slices if there are few runs, as a fraction of the mean. */
  readonly spread: number;
  readonly basis: 'runs' | 'slices';
}

export interface Pair {
  readonly a: DeviceResult;
  readonly b: DeviceResult;
  /** The hashrate of B as a multiple of A's. */
  readonly ratio: number;
  /** The amount by which noise alone may make the ratio differ from 1. */
  readonly noise: number;
  readonly verdict: 'faster' | 'slower' | 'within-spread';
}

export interface Comparison {
  readonly pairs: readonly Pair[];
  readonly onlyA: readonly DeviceResult[];
  readonly onlyB: readonly DeviceResult[];
  /** `different` means that a device on either side is wrong. Sums for another seed or count cannot be compared. */
  readonly sums: 'equal' | 'different' | 'not-comparable';
}

export function compare(a: BenchResult, b: BenchResult): Comparison {
  const { pairs, onlyA, onlyB } = pairUp(a.devices, b.devices);
  return { pairs: pairs.map(([left, right]) => comparePair(left, right)), onlyA, onlyB, sums: compareSums(a, b) };
}

function compareSums(a: BenchResult, b: BenchResult): Comparison['sums'] {
  if (a.seed !== b.seed || a.count !== b.count || a.devices.length === 0 || b.devices.length === 0) {
    return 'not-comparable';
  }
  const runs = [...a.devices, ...b.devices].flatMap(({ runs }) => runs);
  const sums = new Set(runs.map(({ hashSum }) => hashSum));
  return sums.size === 1 ? 'equal' : 'different';
}

export function rateOf({ runs }: DeviceResult): Rate {
  const rates = runs.map(({ slices }) => meanOf(slices));
  const hashesPerSecond = spreadOf(rates).median;
  if (runs.length >= LEAST_RUNS) return { hashesPerSecond, spread: spreadOf(rates).spread, basis: 'runs' };
  return { hashesPerSecond, spread: spreadOf(runs.flatMap(({ slices }) => slices)).spread, basis: 'slices' };
}

function comparePair(a: DeviceResult, b: DeviceResult): Pair {
  const [left, right] = [rateOf(a), rateOf(b)];
  const ratio = right.hashesPerSecond / left.hashesPerSecond;
  const noise = DEVIATIONS * Math.hypot(left.spread, ratio * right.spread);
  if (Math.abs(ratio - 1) <= noise) return { a, b, ratio, noise, verdict: 'within-spread' };
  return { a, b, ratio, noise, verdict: ratio > 1 ? 'faster' : 'slower' };
}

/**
 * Pairs devices with equal names and models first, then those with equal models (GPUs may be numbered anew), then those
 * with equal names.
 */
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
