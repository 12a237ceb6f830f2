/** Simulated rigs: members with a simulated device, whose solutions are in the books. */

import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { HEADER_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import type { Account, Books } from './books.ts';
import { SimulatedEngine } from './engine.ts';
import { type MemberOptions, SimulatedMember } from './members.ts';

export interface RigOptions extends Omit<MemberOptions, 'mostSkewMs' | 'coordinates'> {
  readonly books: Books;
  readonly hashesPerSecond: number;
}

const MOST_SKEW_MS = 1_000;

export class SimulatedRig extends SimulatedMember {
  /** Number of nonces that all processes of this rig have searched, and of those on the newest block of any node. */
  searched = 0;
  current = 0;
  /** Virtual time of the last batch whose parent was the newest block of a node. */
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
    const { simulation, books, nodes, hashesPerSecond } = this.#options;
    const engine = new SimulatedEngine(this.process, hashesPerSecond, this.random);
    const { account } = this;
    engine.onFound = (header) => books.candidate(account, header);
    engine.onBatch = ({ work }, nonces) => {
      this.searched += nonces;
      const parent = work.header.subarray(HEADER_OFFSET.parent, HEADER_OFFSET.parent + 32);
      if (!nodes.some((node) => node.isCurrent(work.chain, parent))) return;
      this.current += nonces;
      this.lastCurrentMs = simulation.time.nowMs;
    };
    return [engine];
  }

  protected override listen(event: MinerEvent): void {
    this.#options.books.listen(this.account, event);
  }
}
