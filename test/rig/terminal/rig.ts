/** A rig whose tally a test fills, and its status. */

import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import type { EarningsTerms } from '#pickaxe/rig/status/earnings.js';
import type { RigStatus } from '#pickaxe/rig/status/status.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { device, FakeClock, hashes } from '../status/fakes.ts';

export const NODE = 'http://node:1848/ledger/0.0/mainnet01';
export const POOL = 'stratum+tcp://pool.example:3333';

export class FakeRig {
  readonly clock = new FakeClock();
  readonly tally: Tally;

  /** @param relays the names of the relays */
  constructor(...relays: string[]) {
    this.tally = new Tally(
      this.clock,
      [],
      relays.map((name) => ({ name })),
    );
  }

  /** @param terms the terms for the rig's estimate of earnings */
  static earning(terms: EarningsTerms): FakeRig {
    const rig = new FakeRig();
    return Object.assign(rig, { tally: new Tally(rig.clock, [], [], 'node', terms) });
  }

  tell(...events: MinerEvent[]): this {
    for (const event of events) this.tally.listen(event);
    return this;
  }

  /** A node that gives work of this difficulty. */
  connected(difficulty: number): this {
    return this.tell(
      { type: 'source', source: NODE, kind: 'node', state: 'connected', reason: 'the node gives work' },
      { type: 'work', chain: 3, height: 42n, networkCode: 5, difficulty },
    );
  }

  /** A pool that gives work with shares of this difficulty. */
  onPool(difficulty: number, shareDifficulty: number): this {
    return this.tell(
      { type: 'source', source: POOL, kind: 'pool', state: 'connected', reason: 'the pool gives work' },
      { type: 'work', chain: 3, height: 42n, difficulty, shareDifficulty },
    );
  }

  /** Lets devices mine at these rates (H/s). Each second, each of them finds as many candidates as `proofs` says. */
  mine(rates: Record<string, number>, seconds: number, { difficulty = 1e12, proofs = 4, honesty = 1 } = {}): this {
    for (const name of Object.keys(rates)) this.tell(device(name, 'ready'));
    for (let half = 0; half < 2 * seconds; half++) {
      for (const [name, rate] of Object.entries(rates)) {
        this.tell(hashes(name, rate / 2, difficulty));
        const worth = (rate * honesty) / proofs;
        for (let i = 0; i < proofs; i += 2)
          this.tell({ type: 'proof', device: name, hashes: worth, difficulty: worth });
      }
      this.clock.advance(500);
    }
    return this;
  }

  get status(): RigStatus {
    return this.tally.status();
  }
}
