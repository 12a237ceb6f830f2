/** What one device did under stress, and what of it was wrong. */

import type { Engine, EngineInfo } from '../engine/engine.ts';
import type { Challenge } from './challenge.ts';
import { Claims, doubtsOf, errorsOf } from './claims.ts';
import type { Opened } from './open.ts';
import { type ReadingSummary, Readings } from './readings.ts';
import { type Spread, spreadOf } from './spread.ts';

/** Different ones that are told of a device. */
const MOST_DOUBTS = 6;

/**
 * A challenge and every candidate of it that any device found in any round. Each is verified, so what is in here must be
 * found by all, each time: it needs no second opinion on what is right.
 */
export interface Answer {
  readonly challenge: Challenge;
  readonly found: Set<bigint>;
}

export interface Sample extends ReadingSummary {
  /** Since the devices were open. */
  readonly seconds: number;
  /** H/s since the sample before. */
  readonly hashrate: number;
}

export class StressBooks {
  readonly engine: Engine;
  readonly info: EngineInfo;
  readonly samples: Sample[] = [];
  /** Rounds that were searched to their end. */
  rounds = 0;
  readonly #doubts = new Set<string>();
  readonly #readings: Readings;
  readonly #whole = new Readings();
  #hashes = 0;
  /** When the last sample was taken, and the hashes until then. */
  #sampledSeconds = 0;
  #sampledHashes = 0;
  /** Of rounds that have ended. */
  #verified = 0;
  #wrong = 0;
  #current: Claims | undefined;
  /** How many rounds found how many candidates. */
  readonly #founds = new Map<Answer, Map<number, number>>();

  constructor({ engine, info, readings }: Opened) {
    this.engine = engine;
    this.info = info;
    this.#readings = readings;
  }

  /** Candidates that were verified. */
  get verified(): number {
    return this.#verified + (this.#current?.found.size ?? 0);
  }

  get wrong(): number {
    return this.#wrong + (this.#current?.wrong ?? 0);
  }

  /** Candidates that complete rounds did not find: a later round can show that an earlier one missed some. */
  get missed(): number {
    let missed = 0;
    for (const [answer, rounds] of this.#founds) {
      for (const [found, times] of rounds) missed += times * (answer.found.size - found);
    }
    return missed;
  }

  /** Lines for people, none while all is well. */
  get errors(): string[] {
    return [...errorsOf(this.wrong, this.missed), ...this.#doubts];
  }

  hashed(hashes: number): void {
    this.#hashes += hashes;
  }

  beginRound({ challenge }: Answer): Claims {
    this.#current = new Claims(challenge);
    return this.#current;
  }

  /** @returns what was wrong with the round */
  endRound(answer: Answer): string[] {
    const claims = this.#current;
    if (!claims) return [];
    this.#current = undefined;
    const { found, wrong, complete } = claims;
    this.#verified += found.size;
    this.#wrong += wrong;
    for (const nonce of found.keys()) answer.found.add(nonce);
    if (!complete) return errorsOf(wrong, 0);
    this.rounds++;
    const rounds = this.#founds.get(answer) ?? new Map<number, number>();
    this.#founds.set(answer, rounds.set(found.size, (rounds.get(found.size) ?? 0) + 1));
    const doubts = doubtsOf(claims);
    for (const doubt of doubts) if (this.#doubts.size < MOST_DOUBTS) this.#doubts.add(doubt);
    return [...errorsOf(wrong, answer.found.size - found.size), ...doubts];
  }

  /** @param seconds since the devices were open */
  sample(seconds: number): Sample {
    const since = seconds - this.#sampledSeconds;
    const hashrate = since > 0 ? (this.#hashes - this.#sampledHashes) / since : 0;
    const sample = { seconds, hashrate, ...this.#readings.summary };
    this.#sampledSeconds = seconds;
    this.#sampledHashes = this.#hashes;
    this.#readings.clear();
    this.#whole.take(sample);
    this.samples.push(sample);
    return sample;
  }

  /** Of the samples, of which there is at least one in the end. */
  get hashrate(): Spread {
    return spreadOf(this.samples.map(({ hashrate }) => hashrate));
  }

  get readings(): ReadingSummary {
    return this.#whole.summary;
  }
}
