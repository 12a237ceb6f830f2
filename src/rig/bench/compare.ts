/** Compares two results of `pickaxe bench --json`: their hashrates and their hash sums. */

import { type BenchResult, type DeviceResult, meanOf, spreadOf } from './bench-result.ts';

/**
 * Number of standard deviations that a difference must exceed to count. By noise alone, one of twenty differences
 * exceeds two.
 */
const DEVIATIONS = 2;

/**
 * Minimum number of runs for which the spread is computed from the hashrates of the runs. With fewer runs, it is
 * computed from the slices of the runs.
 */
const LEAST_RUNS = 3;

/** A device's hashrate, computed from the slices of its runs. The totals in the file are not used. */
interface Rate {
  /** Median of the hashrates of the runs. */
  readonly hashesPerSecond: number;
  /**
   * Standard deviation of the runs or, if there are fewer than `LEAST_RUNS`, of the slices, as a fraction of the mean.
   */
  readonly spread: number;
  readonly basis: 'runs' | 'slices';
}

export interface Pair {
  readonly a: DeviceResult;
  readonly b: DeviceResult;
  /** The hashrate of `b`, divided by that of `a`. */
  readonly ratio: number;
  /** Maximum difference of the ratio from 1 that is regarded as noise. */
  readonly noise: number;
  readonly verdict: 'faster' | 'slower' | 'within-spread';
}

export interface Comparison {
  readonly pairs: readonly Pair[];
  readonly onlyA: readonly DeviceResult[];
  readonly onlyB: readonly DeviceResult[];
  /**
   * Whether all hash sums are equal. If they are different, at least one device is wrong. Hash sums are comparable only
   * if both results have devices, the same seed and the same count.
   */
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
 * Makes pairs of devices. Devices with the same name and model are paired first. Next are devices of the same kind and
 * model, because GPUs may have new numbers. Last are devices of the same name and kind.
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
