/** Simulates the rest of the network: other miners' blocks, and newer transactions. */

import type { Random } from '../random.ts';
import type { Ledger } from './ledger.ts';

export class NetworkActivity {
  readonly #ledger: Ledger;
  readonly #random: Random;
  #rivalTimer: NodeJS.Timeout | undefined;
  #refreshTimer: NodeJS.Timeout | undefined;

  constructor(ledger: Ledger, random: Random) {
    this.#ledger = ledger;
    this.#random = random;
  }

  start(): void {
    const { rivalMs, refreshMs } = this.#ledger.settings;
    if (rivalMs > 0) this.#awaitRival(rivalMs);
    if (refreshMs > 0) this.#refreshTimer = setInterval(() => this.#ledger.refreshPayload(), refreshMs);
  }

  stop(): void {
    clearTimeout(this.#rivalTimer);
    clearInterval(this.#refreshTimer);
  }

  #awaitRival(meanMs: number): void {
    // Blocks are a Poisson process, so the gaps between them have an exponential distribution.
    const gapMs = -Math.log(1 - this.#random()) * meanMs;
    this.#rivalTimer = setTimeout(() => {
      if (!this.#ledger.standsStill) this.#ledger.advance();
      this.#awaitRival(meanMs);
    }, gapMs);
  }
}
