/** Counters, and the rates, estimates and latencies that are computed from them. */

import type { MinerEvent } from '../../miner/events/events.ts';
import { OUTCOMES, type Outcome } from '../../miner/events/vocabulary.ts';
import { BLOCK_STATES, type BlockState, FATE_OF } from '../../node/blocks/fate.ts';
import type { AcceptedBlocks, DeviceStatus, OutcomeCounts, Proven, Shares, Spread } from './status.ts';

/** Length of a step. The hashes of a step are kept as one sum. */
const STEP_MS = 500;

const WINDOWS_MS = { last10s: 10_000, last60s: 60_000, last15m: 900_000 } as const;

/** Number of steps in a ring: as many as the longest window has, and two more that only partly lie in the window. */
const STEPS = WINDOWS_MS.last15m / STEP_MS + 2;

export class Meter {
  total = 0;
  /** Time of the first hashes, in ms of the clock's `monotonicMs`; null before them. */
  firstMs: number | null = null;
  /** Highest rate over 10 s, in H/s, measured at the start of each step; null until 10 s have passed. */
  highest: number | null = null;
  readonly #sinceMs: number;
  /** End of each step. This array is a ring: step number n is at the index n % STEPS. */
  readonly #endsMs = new Float64Array(STEPS);
  /** Number of hashes in each step, at the same indices as in `#endsMs`. */
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

  /** @returns H/s over the last `windowMs`, or since the meter was created if that is less time ago */
  rate(nowMs: number, windowMs: number): number {
    const fromMs = Math.max(this.#sinceMs, nowMs - windowMs);
    return nowMs > fromMs ? (1000 * this.#since(fromMs)) / (nowMs - fromMs) : 0;
  }

  /** @returns H/s over each window; null for a window that is longer than the meter's age */
  windows(nowMs: number): DeviceStatus['hashesPerSecondByWindow'] {
    const over = (windowMs: number) => (nowMs - this.#sinceMs < windowMs ? null : this.rate(nowMs, windowMs));
    return { last10s: over(WINDOWS_MS.last10s), last60s: over(WINDOWS_MS.last60s), last15m: over(WINDOWS_MS.last15m) };
  }

  #since(fromMs: number): number {
    let sum = 0;
    for (let step = this.#steps - 1; step >= Math.max(0, this.#steps - STEPS); step--) {
      const ms = this.#endsMs[step % STEPS] - fromMs;
      if (ms <= 0) break;
      // Of a step that began before the window, only the part within the window counts.
      sum += this.#hashes[step % STEPS] * Math.min(1, ms / STEP_MS);
    }
    return sum;
  }
}

/* Proofs: the number of hashes of a device, estimated from its verified candidates */

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
    // An estimate from n candidates of equal difficulty would have the same relative variance.
    const n = hashes ** 2 / this.#squares;
    return { hashes, low: hashes * lowest(n), high: hashes * highest(n), proofs: this.#proofs };
  }
}

/**
 * Whether a device counts clearly more or fewer hashes than its candidates prove. This is so if the count is more than
 * twice as far from the estimate as the limit of the 95 % interval on the same side. By chance, a correct count is
 * doubtful in about one of ten thousand checks.
 */
export function isDoubtful(counted: number, { hashes, low, high }: Proven): boolean {
  return counted > high + (high - hashes) || counted < low - (hashes - low);
}

/*
 * A count n comes from a Poisson distribution, whose mean is not known. `lowest` and `highest` return the limits of the
 * 95 % interval of this mean, as fractions of n (Wilson and Hilferty, 1931). From n = 5 on, the approximation is exact
 * to one percent.
 */
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

  /** @param difficulty number of hashes that a block of the searched work takes on average */
  searched(hashes: number, difficulty: number): void {
    this.expectedBlocks += hashes / difficulty;
  }

  proved(difficulty: number): void {
    this.bestDifficulty = Math.max(this.bestDifficulty, difficulty);
  }

  accepted(): void {
    this.#expectedAtLast = this.expectedBlocks;
  }

  /** Number of blocks to expect from the hashes that were searched since the last call of `accepted`. */
  get effort(): number {
    return this.expectedBlocks - this.#expectedAtLast;
  }
}

/* Latencies */

/** Maximum number of latencies that are kept, the newest ones: enough for a 99th percentile. */
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

/** Counts the blocks of this run by state. Events contain a block's previous state, if any, so no blocks are stored. */
export class BlockCounts {
  readonly #counts = new Map<BlockState, number>(BLOCK_STATES.map((state) => [state, 0]));
  #paidElsewhere = 0;

  /** Moves a block from its previous state to its new one. Events of blocks of earlier runs are ignored. */
  add({ state, previous, isEarlier }: MinerEvent & { type: 'block-state' }): void {
    if (isEarlier) return;
    if (previous !== undefined) this.#change(previous, -1);
    this.#change(state, 1);
  }

  /** Counts blocks that pay another account: each such block has exactly one `block-reward` event with `paidTo`. */
  addReward({ paidTo, isEarlier }: MinerEvent & { type: 'block-reward' }): void {
    if (paidTo !== undefined && !isEarlier) this.#paidElsewhere++;
  }

  /** The counts; null while no block has a state. If there is no block log, states never become known. */
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
  /** Time of the last change of the value, or of the start, in ms of the clock's `monotonicMs`. */
  readonly sinceMs: number;
}

/** @returns `before` if it has this value already; otherwise a flag that has had this value since `nowMs` */
export function withValue(before: TimedFlag, value: boolean, nowMs: number): TimedFlag {
  return before.value === value ? before : { value, sinceMs: nowMs };
}
