/** Keeps devices busy with challenges, all at once, and checks each answer: no wrong candidate, and none missed. */

import type { Engine } from '../engine/engine.ts';
import { onAbort } from '../system/abort.ts';
import type { Clock } from '../system/clock.ts';
import { MOST_COUNT, makeChallenge } from './challenge.ts';
import { searchChallenge } from './checked-candidates.ts';
import { inStep, type OpenOptions, openAll } from './open.ts';
import type { Sample } from './result.ts';
import { type KnownCandidates, StressStats } from './stress-stats.ts';

/** Nonces of a device's first round. The slowest kernel on one thread takes seconds for them. */
const FIRST_COUNT = 2 ** 24;
/**
 * Rounds grow until they take this long, and further while the hashrate grows with them. A fast GPU then runs long batches,
 * and does not report too many candidates.
 */
const ROUND_MS = 1_000;
const LONGEST_ROUND_MS = 5_000;
/** The largest growth from one round to the next: one odd round must not make the next one endless. */
const MOST_GROWTH = 16;
/** A hashrate that grows by less than this part counts as steady. The figure need not be exact. */
const GROWTH_WORTH = 0.2;
/** Wrong rounds that are reported one by one. A broken device has nothing else, and all of them are counted. */
const TOLD_ROUNDS = 10;

export interface StressOptions extends OpenOptions {
  readonly seed: string;
  /** Nonces of each round. The default is as many as take a second. */
  readonly count?: number | undefined;
  /** Counted from the moment when the devices are open. */
  readonly seconds: number;
  /** Ends the test earlier. */
  readonly stop: AbortSignal;
  readonly clock: Clock;
  /** Time between two samples of a device's state. */
  readonly sampleMs: number;
  readonly onSample: (stats: StressStats, sample: Sample) => void;
  /** Called with what is wrong with a round, for the first such rounds of each device. */
  readonly onError: (engine: Engine, errors: readonly string[]) => void;
}

/** Closes the engines afterwards. @returns the stats of each device that could be opened */
export async function stressDevices(engines: readonly Engine[], options: StressOptions): Promise<StressStats[]> {
  const { seed, seconds, stop, clock, sampleMs, failed, onSample } = options;
  const end = new AbortController();
  const halt = () => end.abort();
  const release = onAbort(stop, halt);
  const timers: NodeJS.Timeout[] = [];
  const known = new Map<number, KnownCandidates>();
  const knownFor = (count: number): KnownCandidates => {
    const before = known.get(count);
    if (before) return before;
    const made = { challenge: makeChallenge(seed, count), found: new Set<bigint>() };
    known.set(count, made);
    return made;
  };
  try {
    const all = (await openAll(engines, options)).map((opened) => new StressStats(opened));
    const busy = new Set(all);
    const startMs = clock.monotonicMs();
    const sample = (stats: StressStats) => onSample(stats, stats.sample((clock.monotonicMs() - startMs) / 1000));
    timers.push(
      setTimeout(halt, 1000 * seconds),
      setInterval(() => busy.forEach(sample), sampleMs),
    );
    await inStep(all, failed, (stats) =>
      work(stats, knownFor, end.signal, options).finally(() => {
        busy.delete(stats);
        if (stats.samples.length === 0) sample(stats);
      }),
    );
    return all;
  } finally {
    for (const timer of timers) clearTimeout(timer);
    release();
    await Promise.all(engines.map((engine) => engine.close()));
  }
}

/** Runs round after round until `stop`. @throws DeviceError when the device is lost. */
async function work(
  stats: StressStats,
  knownFor: (count: number) => KnownCandidates,
  stop: AbortSignal,
  { count, clock, onError }: StressOptions,
): Promise<void> {
  const { engine } = stats;
  let nonces = count ?? FIRST_COUNT;
  let best = 0;
  let wrongRounds = 0;
  while (!stop.aborted) {
    const round = knownFor(nonces);
    const beganMs = clock.monotonicMs();
    try {
      await searchChallenge(engine, stats.beginRound(round), stop, ({ hashes }) => stats.hashed(hashes));
    } finally {
      const errors = stats.endRound(round);
      if (errors.length > 0 && wrongRounds++ < TOLD_ROUNDS) onError(engine, errors);
    }
    if (count !== undefined) continue;
    const ms = clock.monotonicMs() - beganMs;
    const rate = nonces / ms;
    nonces = Math.min(MOST_COUNT, nonces * growthAfter(ms, rate > (1 + GROWTH_WORTH) * best));
    best = Math.max(best, rate);
  }
}

/**
 * How many times as large the next round is.
 * @param faster whether the device was faster than in smaller rounds
 */
function growthAfter(ms: number, faster: boolean): number {
  if (ms < ROUND_MS) return Math.min(MOST_GROWTH, 2 ** Math.ceil(Math.log2(ROUND_MS / Math.max(ms, 1))));
  return faster && ms < LONGEST_ROUND_MS ? 2 : 1;
}
