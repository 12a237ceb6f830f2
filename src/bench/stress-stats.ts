/** What one device did under stress, and what was wrong with it. */

import type { Engine, EngineInfo } from '../engine/engine.ts';
import type { Challenge } from './challenge.ts';
import { CheckedCandidates, doubtsOf, errorsOf } from './checked-candidates.ts';
import type { Opened } from './open.ts';
import { combine, type Readings } from './readings.ts';
import type { Sample, SensorSummary } from './result.ts';
import { type Spread, spreadOf } from './spread.ts';

/** How many different doubts about a device are kept. */
const MOST_DOUBTS = 6;

/**
 * A challenge with every candidate that any device found in any round. Each candidate is verified, so every device must
 * find all of them in each of its rounds.
 */
export interface KnownCandidates {
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
  /** When the last sample was taken, and the hashes until then. */
  #sampledSeconds = 0;
  #sampledHashes = 0;
  /** Verified and wrong candidates of the rounds that have ended. */
  #verified = 0;
  #wrong = 0;
  #current: CheckedCandidates | undefined;
  /** For each challenge: how many rounds found how many candidates. */
  readonly #founds = new Map<KnownCandidates, Map<number, number>>();

  constructor({ engine, info, readings }: Opened) {
    this.engine = engine;
    this.info = info;
    this.#readings = readings;
  }

  /** How many candidates were verified. */
  get verified(): number {
    return this.#verified + (this.#current?.found.size ?? 0);
  }

  get wrong(): number {
    return this.#wrong + (this.#current?.wrong ?? 0);
  }

  /** How many candidates complete rounds did not find. A later round can show that an earlier one missed some. */
  get missed(): number {
    let missed = 0;
    for (const [known, rounds] of this.#founds) {
      for (const [found, times] of rounds) missed += times * (known.found.size - found);
    }
    return missed;
  }

  /** Lines for people; none while all is well. */
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

  /** @returns what was wrong with the round */
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

  /** The spread over all samples. In the end there is at least one. */
  get hashrate(): Spread {
    return spreadOf(this.samples.map(({ hashesPerSecond }) => hashesPerSecond));
  }

  get sensors(): SensorSummary {
    return combine(this.samples);
  }
}
