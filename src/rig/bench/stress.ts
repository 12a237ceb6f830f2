/** Keeps devices busy with challenges, all at once, and checks that no candidate is wrong and none is missed. */

import { onAbort } from '../../base/system/abort.ts';
import type { Clock } from '../../base/system/clock.ts';
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

/** Number of nonces in a device's first round. The slowest kernel takes seconds for them on one thread. */
const FIRST_COUNT = 2 ** 24;
/**
 * Rounds grow until they take this long, and further while the hashrate grows with them, so that a fast GPU runs long
 * batches and does not report too many candidates.
 */
const ROUND_MS = 1_000;
const LONGEST_ROUND_MS = 5_000;
/** Maximum growth from one round to the next, so that the round after an exceptionally short one is not endless. */
const MOST_GROWTH = 16;
/** A hashrate that grows by less than this fraction counts as steady. The exact value does not matter. */
const GROWTH_WORTH = 0.2;
/** Maximum number of wrong rounds of a device that are reported one by one. Further ones are only counted. */
const REPORTED_ROUNDS = 10;

interface StressOptions extends OpenOptions {
  readonly seed: string;
  /** Number of nonces in each round. By default, rounds grow with the hashrate, see `ROUND_MS`. */
  readonly count?: number | undefined;
  /** Duration, counted from the time when the devices are open. */
  readonly seconds: number;
  readonly stop: AbortSignal;
  readonly clock: Clock;
  readonly sampleMs: number;
  readonly onSample: (stats: StressStats, sample: Sample) => void;
  /** Called with the errors of the first wrong rounds of each device. */
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
      if (errors.length > 0 && wrongRounds++ < REPORTED_ROUNDS) onError(engine, errors);
    }
    if (count !== undefined) continue;
    const ms = clock.monotonicMs() - beganMs;
    const rate = nonces / ms;
    nonces = Math.min(MOST_COUNT, nonces * growthAfter(ms, rate > (1 + GROWTH_WORTH) * best));
    best = Math.max(best, rate);
  }
}

/** @param faster whether the device was faster than in smaller rounds @returns the growth of the next round */
function growthAfter(ms: number, faster: boolean): number {
  if (ms < ROUND_MS) return Math.min(MOST_GROWTH, 2 ** Math.ceil(Math.log2(ROUND_MS / Math.max(ms, 1))));
  return faster && ms < LONGEST_ROUND_MS ? 2 : 1;
}

/* The statistics and the errors of one device under stress. */

/** Maximum number of different doubts about a device that are kept. */
const MOST_DOUBTS = 6;

/**
 * A challenge with every candidate that any device found in any round. Each candidate is verified, so every device must
 * find all of them in each of its rounds.
 */
interface KnownCandidates {
  readonly challenge: Challenge;
  readonly found: Set<bigint>;
}

export class StressStats {
  readonly engine: Engine;
  readonly info: EngineInfo;
  readonly samples: Sample[] = [];
  /** Rounds that were searched to their end. */
  rounds = 0;
  readonly #doubts = new Set<string>();
  readonly #readings: Readings;
  #hashes = 0;
  /** Time of the last sample, and the number of hashes until that time. */
  #sampledSeconds = 0;
  #sampledHashes = 0;
  /** Verified and wrong candidates of the rounds that have ended. */
  #verified = 0;
  #wrong = 0;
  #current: CheckedCandidates | undefined;
  /** For each challenge, the numbers of candidates that rounds have found, each with the number of such rounds. */
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

  /** Number of candidates that complete rounds did not find. A later round can show that an earlier one missed some. */
  get missed(): number {
    let missed = 0;
    for (const [known, rounds] of this.#founds) {
      for (const [found, times] of rounds) missed += times * (known.found.size - found);
    }
    return missed;
  }

  /** Lines for people. */
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

  /** @returns the errors of the round: lines for people */
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

  /** @param elapsedSeconds time since the devices were open */
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

  /** The spread over all samples. At the end there is at least one sample. */
  get hashrate(): Spread {
    return spreadOf(this.samples.map(({ hashesPerSecond }) => hashesPerSecond));
  }

  get sensors(): SensorSummary {
    return combine(this.samples);
  }
}

/* The result of a device under stress, as `pickaxe bench --stress --json` prints it. */

/** @param fault the fault that ended the device's test early */
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
