/** Counters, and the rates, estimates and latencies that follow from them. */

import type { MinerEvent } from '../../miner/events/events.ts';
import { OUTCOMES, type Outcome } from '../../miner/events/vocabulary.ts';
import { BLOCK_STATES, type BlockState, FATE_OF } from '../../node/blocks/fate.ts';
import type { AcceptedBlocks, DeviceStatus, OutcomeCounts, Proven, Shares, Spread } from './status.ts';

/** Resolution of hash counts. */
const STEP_MS = 500;

const WINDOWS_MS = { last10s: 10_000, last60s: 60_000, last15m: 900_000 } as const;

/** Number of steps in a ring: those of the longest window, and two that the window contains in part. */
const STEPS = WINDOWS_MS.last15m / STEP_MS + 2;

export class Meter {
  total = 0;
  /** Time of the first hashes. */
  firstMs: number | null = null;
  /** The highest rate over 10 s, in H/s; null before the first 10 s. */
  highest: number | null = null;
  readonly #sinceMs: number;
  /** Rings, in which step number n is at n % STEPS. */
  readonly #endsMs = new Float64Array(STEPS);
  readonly #hashes = new Float64Array(STEPS);
  #steps = 0;

  constructor(sinceMs: number) {
    this.#sinceMs = sinceMs;
  }

  add(hashes: number, nowMs: number): void {
    this.total += hashes;
    if (hashes > 0) this.firstMs ??= nowMs;
    const last = (this.#steps - 1) % STEPS;
    if (this.#steps > 0 && nowMs < this.#endsMs[last]) {
      this.#hashes[last] += hashes;
      return;
    }
    const now = this.windows(nowMs).last10s;
    if (now !== null) this.highest = Math.max(this.highest ?? 0, now);
    const next = this.#steps++ % STEPS;
    this.#endsMs[next] = nowMs + STEP_MS;
    this.#hashes[next] = hashes;
  }

  /** @returns H/s over the last `windowMs`, or since the start if less time has passed */
  rate(nowMs: number, windowMs: number): number {
    const fromMs = Math.max(this.#sinceMs, nowMs - windowMs);
    return nowMs > fromMs ? (1000 * this.#since(fromMs)) / (nowMs - fromMs) : 0;
  }

  /** @returns H/s in each window; null for windows longer than the time since the start */
  windows(nowMs: number): DeviceStatus['hashesPerSecondByWindow'] {
    const over = (windowMs: number) => (nowMs - this.#sinceMs < windowMs ? null : this.rate(nowMs, windowMs));
    return { last10s: over(WINDOWS_MS.last10s), last60s: over(WINDOWS_MS.last60s), last15m: over(WINDOWS_MS.last15m) };
  }

  #since(fromMs: number): number {
    let sum = 0;
    for (let step = this.#steps - 1; step >= Math.max(0, this.#steps - STEPS); step--) {
      const ms = this.#endsMs[step % STEPS] - fromMs;
      if (ms <= 0) break;
      // A step that began before the window counts in part.
      sum += this.#hashes[step % STEPS] * Math.min(1, ms / STEP_MS);
    }
    return sum;
  }
}

/* Proofs: the hashes of a device, estimated from its verified candidates */

/** Half the width of a 95 % interval, in standard deviations. */
const Z95 = 1.96;

export class ProofStats {
  #proofs = 0;
  #hashes = 0;
  #squares = 0;

  add(hashes: number): void {
    this.#proofs++;
    this.#hashes += hashes;
    this.#squares += hashes ** 2;
  }

  get proven(): Proven | null {
    if (this.#proofs === 0) return null;
    const hashes = this.#hashes;
    // The number of candidates of one difficulty that would have the same relative variance.
    const n = hashes ** 2 / this.#squares;
    return { hashes, low: hashes * lowest(n), high: hashes * highest(n), proofs: this.#proofs };
  }
}

/**
 * Whether a device counts clearly more or fewer hashes than its candidates prove: its count is more than twice as far
 * from the estimate as the limits of the interval. Chance does this once in ten thousand checks.
 */
export function isDoubtful(counted: number, { hashes, low, high }: Proven): boolean {
  return counted > high + (high - hashes) || counted < low - (hashes - low);
}

/* 95 % limits of a Poisson count, as fractions (Wilson and Hilferty, 1931), right within a percent from 1 on. */
function lowest(n: number): number {
  return Math.max(0, 1 - 1 / (9 * n) - Z95 / (3 * Math.sqrt(n))) ** 3;
}

function highest(n: number): number {
  const m = n + 1;
  return (m / n) * (1 - 1 / (9 * m) + Z95 / (3 * Math.sqrt(m))) ** 3;
}

export class Luck {
  expectedBlocks = 0;
  bestDifficulty = 0;
  #expectedAtLast = 0;

  /** @param difficulty of the work that was searched */
  searched(hashes: number, difficulty: number): void {
    this.expectedBlocks += hashes / difficulty;
  }

  proved(difficulty: number): void {
    this.bestDifficulty = Math.max(this.bestDifficulty, difficulty);
  }

  accepted(): void {
    this.#expectedAtLast = this.expectedBlocks;
  }

  /** Work since the last accepted block ÷ average work for a block. */
  get effort(): number {
    return this.expectedBlocks - this.#expectedAtLast;
  }
}

/* Latencies */

/** Number of latencies that are kept: hours of New Cuts, and enough for a 99th percentile. */
const REMEMBERED = 500;

export class Latencies {
  readonly #seconds: number[] = [];
  #count = 0;

  add(seconds: number): void {
    this.#count++;
    this.#seconds.push(seconds);
    if (this.#seconds.length > REMEMBERED) this.#seconds.shift();
  }

  get spread(): Spread | null {
    const last = this.#seconds.at(-1);
    if (last === undefined) return null;
    const sorted = [...this.#seconds].sort((a, b) => a - b);
    const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
    return { p50: at(0.5), p99: at(0.99), last, count: this.#count };
  }
}

/** Counts verdicts of blocks and of shares. A share that is a block counts as both. */
export class VerdictCounts {
  readonly #blocks = noOutcomes();
  readonly #shares = noOutcomes();
  #acceptedHashes = 0;

  add({ outcome, isBlock, isShare, difficulty }: MinerEvent & { type: 'verdict' }): void {
    if (isBlock) this.#blocks[outcome]++;
    if (!isShare) return;
    this.#shares[outcome]++;
    if (outcome === 'accepted') this.#acceptedHashes += difficulty;
  }

  get blocks(): OutcomeCounts {
    return { ...this.#blocks };
  }

  get shares(): Shares {
    return { ...this.#shares, acceptedHashes: this.#acceptedHashes };
  }
}

function noOutcomes(): Record<Outcome, number> {
  return Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
}

/** Counts the states of this run's blocks. Events carry the previous state, so memory does not grow with the blocks. */
export class BlockCounts {
  readonly #counts = new Map<BlockState, number>(BLOCK_STATES.map((state) => [state, 0]));
  #paidElsewhere = 0;

  /** Ignores the events of blocks of earlier runs. */
  add({ state, previous, isEarlier }: MinerEvent & { type: 'block-state' }): void {
    if (isEarlier) return;
    if (previous !== undefined) this.#change(previous, -1);
    this.#change(state, 1);
  }

  /** Counts blocks that pay another account: each such block has exactly one `block-reward` event with `paidTo`. */
  addReward({ paidTo, isEarlier }: MinerEvent & { type: 'block-reward' }): void {
    if (paidTo !== undefined && !isEarlier) this.#paidElsewhere++;
  }

  /** The counts; null before the first block, because there may be no block log, so no state is known. */
  get accepted(): AcceptedBlocks | null {
    const settled = this.#counts.get('settled')!;
    const paidElsewhere = this.#paidElsewhere;
    const counts = { won: 0, settled, orphaned: 0, pending: 0, unanswered: 0, lost: 0, paidElsewhere };
    for (const [state, count] of this.#counts) counts[FATE_OF[state]] += count;
    const { won, orphaned, pending, unanswered, lost } = counts;
    return won + orphaned + pending + unanswered + lost > 0 ? counts : null;
  }

  #change(state: BlockState, by: number): void {
    this.#counts.set(state, this.#counts.get(state)! + by);
  }
}

export interface TimedFlag {
  readonly value: boolean;
  /** On the clock's `monotonicMs`. */
  readonly sinceMs: number;
}

/** @returns the flag itself if its value is the same */
export function withValue(before: TimedFlag, value: boolean, nowMs: number): TimedFlag {
  return before.value === value ? before : { value, sinceMs: nowMs };
}
