/** A listener for a source's updates, and a minimal miner. */

import { vi } from 'vitest';
import { sharedController } from '#pickaxe/base/system/abort.js';
import { updatesOf } from '#pickaxe/miner/source/following.js';
import type { SourceUpdate, WorkSource } from '#pickaxe/miner/source/source.js';
import { prepareJob, solves } from '#pickaxe/protocol/chain/job.js';
import { joinNonce, laneWithin } from '#pickaxe/protocol/chain/nonce.js';
import { type Solution, verify } from '#pickaxe/protocol/chain/verify.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';

/** How long tests wait for a condition: far longer than it takes. */
const PATIENCE_MS = 60_000;

export function eventually<T>(condition: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(condition, { timeout: PATIENCE_MS, interval: 5 });
}

/** Follows a source until `end`. A miner does not mine a work again that has ended, so no source may give one. */
export class Follower {
  readonly updates: SourceUpdate[] = [];
  readonly #endedWorks = new Set<Work>();
  readonly #ending = sharedController();
  readonly #ended: Promise<void>;

  constructor(source: WorkSource) {
    this.#ended = this.#follow(source);
  }

  get stop(): AbortSignal {
    return this.#ending.signal;
  }

  get received(): Work[] {
    return this.updates.flatMap((update) => (update.kind === 'work' ? [update.work] : []));
  }

  of<Kind extends SourceUpdate['kind']>(kind: Kind): Extract<SourceUpdate, { kind: Kind }>[] {
    return this.updates.filter((update) => update.kind === kind) as Extract<SourceUpdate, { kind: Kind }>[];
  }

  /** The current work, once there is one. */
  async work(): Promise<Work> {
    return await eventually(() => {
      const latest = this.received.at(-1);
      const isStale = this.of('stale').some(({ works }) => works.some((work) => work === latest));
      if (!latest || isStale) throw new Error('no work yet');
      return latest;
    });
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#ended;
  }

  async #follow(source: WorkSource): Promise<void> {
    for await (const update of updatesOf(source, this.stop)) {
      this.updates.push(update);
      if (update.kind === 'stale') for (const work of update.works) this.#endedWorks.add(work);
      if (update.kind === 'work' && this.#endedWorks.has(update.work)) throw new Error('a work came that had ended');
    }
  }
}

/**
 * Finds the first solution in a lane, as far as the source leaves it open, for difficulties of a few hundred hashes.
 */
export function mine(work: Work, lane = 0): Solution {
  const job = prepareJob(work);
  for (let counter = 0; ; counter++) {
    const nonce = { ...laneWithin(work.nonce1, lane), counter, page: 0 };
    if (solves(job, nonce)) return verify(job, joinNonce(nonce)).solution as Solution;
  }
}

/** Makes a solution whose hash does not meet the target, which `verify` never makes. */
export function wrongSolution(work: Work): Solution {
  const job = prepareJob(work);
  for (let counter = 0; ; counter++) {
    const nonce = { lane: 0, step: 1, counter, page: 0 };
    if (solves(job, nonce)) continue;
    const header = job.header.slice();
    new DataView(header.buffer).setBigUint64(278, joinNonce(nonce), true);
    return { work, nonce: joinNonce(nonce), header, powHash: new Uint8Array(32) } as unknown as Solution;
  }
}
