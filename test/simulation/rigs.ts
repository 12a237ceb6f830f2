/** Simulated rigs: members with a simulated device, whose solutions are in the books. */

import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import type { Job } from '#pickaxe/protocol/chain/job.js';
import { SimulatedEngine } from './engine.ts';
import { type MemberOptions, SimulatedMember } from './members.ts';
import type { Account, RigBooks } from './rig-books.ts';

export interface RigOptions extends Omit<MemberOptions, 'mostSkewMs' | 'coordinates'> {
  readonly books: RigBooks;
  /** Whether a batch that began then (monotonic) was on the newest block. Called once for each batch, at its end. */
  readonly isCurrent: (job: Job, nonces: number, beganMs: number) => boolean;
  readonly hashesPerSecond: number;
}

const MOST_SKEW_MS = 1_000;

export class SimulatedRig extends SimulatedMember {
  /** Number of nonces that all processes of this rig have searched, and of those on the newest block. */
  searched = 0;
  current = 0;
  /** Virtual time of the last batch on the newest block. */
  lastCurrentMs = 0;
  readonly #options: RigOptions;
  /** The books of the present process. */
  protected account!: Account;

  constructor(options: RigOptions) {
    super({ ...options, mostSkewMs: MOST_SKEW_MS });
    this.#options = options;
    this.start();
  }

  override start(): void {
    if (this.isRunning) return;
    this.account = this.#options.books.open(this.name);
    super.start();
  }

  override kill(): void {
    super.kill();
    this.#options.books.close(this.account);
  }

  protected override engines(): readonly SimulatedEngine[] {
    const { simulation, books, isCurrent, hashesPerSecond } = this.#options;
    const engine = new SimulatedEngine(this.process, hashesPerSecond, this.random);
    const { account } = this;
    engine.onFound = (header, job) => books.candidate(account, header, job);
    engine.onBatch = (job, nonces, beganMs) => {
      this.searched += nonces;
      if (!isCurrent(job, nonces, beganMs)) return;
      this.current += nonces;
      this.lastCurrentMs = simulation.time.nowMs;
    };
    return [engine];
  }

  protected override listen(event: MinerEvent): void {
    this.#options.books.listen(this.account, event);
  }
}
