/**
 * Keeps all devices busy with challenges at the same time, and checks that no device reports a wrong candidate or
 * misses a candidate.
 */

import { onAbort } from '../../base/system/abort.ts';
import type { Clock, Timer } from '../../base/system/clock.ts';
import type { DeviceError, Engine, EngineInfo } from '../../miner/engine/engine.ts';
import { type Sample, type SensorSummary, type Spread, type StressDevice, spreadOf } from './bench-result.ts';
import {
  type Challenge,
  CheckedCandidates,
  doubtsOf,
  errorsOf,
  MOST_COUNT,
  makeChallenge,
  searchChallenge,
} from './challenge.ts';
import { combine, identityOf, perJoule, type Readings } from './device-result.ts';
import { inStep, type Opened, type OpenOptions, openAll } from './measure.ts';

/** Number of nonces in a device's first round. The slowest kernel searches them in seconds on one thread. */
const FIRST_COUNT = 2 ** 24;
/** Rounds grow until they take at least this long, so that a device does not report too many candidates per second. */
const ROUND_MS = 1_000;
/**
 * Rounds that take at least this long do not grow. Shorter rounds that take at least `ROUND_MS` grow only if the device
 * was faster in the last round than in all rounds before. This happens with GPUs that need long batches.
 */
const LONGEST_ROUND_MS = 5_000;
/**
 * A round has at most this many times the nonces of the previous round, so that an exceptionally short round is not
 * followed by a very long one.
 */
const MOST_GROWTH = 16;
/**
 * A device is regarded as faster only if its hashrate has grown by more than this fraction. The value is not critical.
 */
const GROWTH_WORTH = 0.2;
/** Maximum number of calls of `onError` for a device. Later rounds with errors appear only in the device's result. */
const REPORTED_ROUNDS = 10;

interface StressOptions extends OpenOptions {
  readonly seed: string;
  /** Number of nonces in each round. If it is absent, rounds grow (see `ROUND_MS`). */
  readonly count?: number | undefined;
  /** Duration of the test, counted from the time when all devices are open. */
  readonly seconds: number;
  readonly stop: AbortSignal;
  readonly clock: Clock;
  readonly sampleMs: number;
  readonly onSample: (stats: StressStats, sample: Sample) => void;
  /** Called at the end of a round that has errors, for the first `REPORTED_ROUNDS` such rounds of each device. */
  readonly onError: (engine: Engine, errors: readonly string[]) => void;
}

/** Opens the engines, tests them, and closes them. @returns the statistics of each device that could be opened */
export async function stressDevices(engines: readonly Engine[], options: StressOptions): Promise<StressStats[]> {
  const { seed, seconds, stop, clock, sampleMs, failed, onSample } = options;
  const end = new AbortController();
  const halt = () => end.abort();
  const release = onAbort(stop, halt);
  const timers: Timer[] = [];
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
      clock.setTimeout(halt, 1000 * seconds),
      clock.setInterval(() => busy.forEach(sample), sampleMs),
    );
    await inStep(all, failed, (stats) =>
      work(stats, knownFor, end.signal, options).finally(() => {
        busy.delete(stats);
        if (stats.samples.length === 0) sample(stats);
      }),
    );
    return all;
  } finally {
    for (const timer of timers) timer.cancel();
    release();
    await Promise.all(engines.map((engine) => engine.close()));
  }
}

/** Runs round after round until `stop` is aborted. @throws DeviceError when the device is lost */
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
      if (errors.length > 0 && wrongRounds++ < REPORTED_ROUNDS) onError(engine, errors);
    }
    if (count !== undefined) continue;
    const ms = clock.monotonicMs() - beganMs;
    const rate = nonces / ms;
    nonces = Math.min(MOST_COUNT, nonces * growthAfter(ms, rate > (1 + GROWTH_WORTH) * best));
    best = Math.max(best, rate);
  }
}

/**
 * @param ms duration of the last round
 * @param faster whether the device was faster in the last round than in all rounds before
 * @returns the factor by which the next round is larger
 */
function growthAfter(ms: number, faster: boolean): number {
  if (ms < ROUND_MS) return Math.min(MOST_GROWTH, 2 ** Math.ceil(Math.log2(ROUND_MS / Math.max(ms, 1))));
  return faster && ms < LONGEST_ROUND_MS ? 2 : 1;
}

/* The statistics and the errors of one device under stress. */

/** Maximum number of different doubts that are kept for one device. Further doubts are dropped. */
const MOST_DOUBTS = 6;

/**
 * A challenge, with all candidates that any device has found in any round with this challenge. These candidates are
 * verified, so every device must find all of them in each of its rounds with this challenge.
 */
interface KnownCandidates {
  readonly challenge: Challenge;
  readonly found: Set<bigint>;
}

export class StressStats {
  readonly engine: Engine;
  readonly info: EngineInfo;
  readonly samples: Sample[] = [];
  /** Number of rounds that were searched to their end. */
  rounds = 0;
  readonly #doubts = new Set<string>();
  readonly #readings: Readings;
  #hashes = 0;
  /** Time of the last sample, in seconds since the devices were opened. */
  #sampledSeconds = 0;
  /** Number of hashes of the whole test up to the last sample. */
  #sampledHashes = 0;
  /** Number of verified candidates of the rounds that have ended. */
  #verified = 0;
  /** Number of wrong candidates of the rounds that have ended. */
  #wrong = 0;
  /** The candidates of the present round. */
  #current: CheckedCandidates | undefined;
  /**
   * For each challenge, how often complete rounds found how many candidates: the key is a number of candidates, and the
   * value is the number of complete rounds that found exactly so many.
   */
  readonly #founds = new Map<KnownCandidates, Map<number, number>>();

  constructor({ engine, info, readings }: Opened) {
    this.engine = engine;
    this.info = info;
    this.#readings = readings;
  }

  get verified(): number {
    return this.#verified + (this.#current?.found.size ?? 0);
  }

  get wrong(): number {
    return this.#wrong + (this.#current?.wrong ?? 0);
  }

  /** Number of candidates that complete rounds missed. A later round can show that an earlier round missed some. */
  get missed(): number {
    let missed = 0;
    for (const [known, rounds] of this.#founds) {
      for (const [found, times] of rounds) missed += times * (known.found.size - found);
    }
    return missed;
  }

  /** The errors of all rounds, as lines for people. */
  get errors(): string[] {
    return [...errorsOf(this.wrong, this.missed), ...this.#doubts];
  }

  hashed(hashes: number): void {
    this.#hashes += hashes;
  }

  beginRound({ challenge }: KnownCandidates): CheckedCandidates {
    this.#current = new CheckedCandidates(challenge);
    return this.#current;
  }

  /** Ends the present round. @returns the errors of this round, as lines for people */
  endRound(known: KnownCandidates): string[] {
    const candidates = this.#current;
    if (!candidates) return [];
    this.#current = undefined;
    const { found, wrong, complete } = candidates;
    this.#verified += found.size;
    this.#wrong += wrong;
    for (const nonce of found.keys()) known.found.add(nonce);
    if (!complete) return errorsOf(wrong, 0);
    this.rounds++;
    const rounds = this.#founds.get(known) ?? new Map<number, number>();
    this.#founds.set(known, rounds.set(found.size, (rounds.get(found.size) ?? 0) + 1));
    const doubts = doubtsOf(candidates);
    for (const doubt of doubts) if (this.#doubts.size < MOST_DOUBTS) this.#doubts.add(doubt);
    return [...errorsOf(wrong, known.found.size - found.size), ...doubts];
  }

  /**
   * Adds a sample: the hashrate and the sensors' readings since the previous sample.
   * @param elapsedSeconds time since the devices were opened
   */
  sample(elapsedSeconds: number): Sample {
    const since = elapsedSeconds - this.#sampledSeconds;
    const hashesPerSecond = since > 0 ? (this.#hashes - this.#sampledHashes) / since : 0;
    const sample = { elapsedSeconds, hashesPerSecond, ...this.#readings.summary };
    this.#sampledSeconds = elapsedSeconds;
    this.#sampledHashes = this.#hashes;
    this.#readings.clear();
    this.samples.push(sample);
    return sample;
  }

  /** The statistics of the samples' hashrates. When the test has ended, there is at least one sample. */
  get hashrate(): Spread {
    return spreadOf(this.samples.map(({ hashesPerSecond }) => hashesPerSecond));
  }

  get sensors(): SensorSummary {
    return combine(this.samples);
  }
}

/* The result of a device under stress, as `pickaxe bench --stress --json` prints it. */

/** @param fault the error that ended the device's test early; undefined if there was none */
export function stressDevice(stats: StressStats, fault: DeviceError | undefined): StressDevice {
  const { engine, info, hashrate, sensors, rounds, verified: found, wrong, missed, errors, samples } = stats;
  return {
    ...identityOf(engine, info),
    hashesPerSecond: hashrate.mean,
    spread: hashrate.spread,
    ...sensors,
    hashesPerJoule: perJoule(hashrate.mean, sensors),
    rounds,
    candidates: { found, wrong, missed },
    errors: [...errors, ...(fault ? [`it failed: ${fault.message}`] : [])],
    samples,
  };
}
