/**
 * Hashers that do not hash, for test networks that check no proof of work: when their pace says so, a work is submitted
 * as solved. It refuses to touch work of the main network, whatever anybody has configured.
 */

import { assumeSolved, type Solution } from '../../chain/verify.ts';
import { networkNumberOf, type Work } from '../../chain/work.ts';
import type { Listener } from '../../events/events.ts';
import type { Verdict, WorkSource } from '../../source/source.ts';
import type { Clock } from '../../system/clock.ts';
import { LoneWorker } from '../accounts.ts';
import type { Relay } from '../relay.ts';
import { RelayedWorks } from '../relayed-works.ts';
import type { Pace } from './pace.ts';

/** The number of mainnet01 in its headers. All 61 of its headers in test/vectors/headers.json have it. */
const MAINNET = 5;
/**
 * How long to wait after a solution that was not accepted, so that a node that does check the proof of work is not
 * flooded.
 */
const REST_MS = 1_000;

interface SimulatedRelayOptions {
  readonly pace: Pace;
  readonly source: WorkSource;
  readonly emit: Listener;
  readonly clock: Clock;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random: () => number;
  readonly warn: (line: string) => void;
}

export class SimulatedRelay implements Relay {
  readonly name = 'simulated';
  readonly #options: SimulatedRelayOptions;
  readonly #works: RelayedWorks;
  #account: LoneWorker | undefined;
  #giveUp = () => {};
  #rest: NodeJS.Timeout | undefined;
  #hasRefused = false;

  constructor(options: SimulatedRelayOptions) {
    this.#options = options;
    const { source, emit, clock } = options;
    const changed = (work: Work | undefined) => this.#change(work);
    this.#works = new RelayedWorks({ name: this.name, source, emit, clock, changed });
  }

  async open(): Promise<void> {
    await this.#options.pace.open?.();
  }

  async run(stop: AbortSignal): Promise<void> {
    const { emit, clock } = this.#options;
    this.#account = new LoneWorker({ relay: this.name, worker: this.name, emit, clock, hashes: false });
    try {
      await this.#works.follow(stop);
    } finally {
      this.#giveUp();
      clearTimeout(this.#rest);
      this.#account.end();
      await this.#options.pace.close?.();
    }
  }

  #change(work: Work | undefined): void {
    this.#account?.works(work?.target);
    this.#giveUp();
    if (work && !this.#rest) this.#begin(work);
  }

  #begin(work: Work): void {
    if (networkNumberOf(work.header) === MAINNET) {
      if (!this.#hasRefused) this.#options.warn('this is work of mainnet01, for which nothing is simulated');
      this.#hasRefused = true;
      return;
    }
    this.#giveUp = this.#options.pace.begin(work, () => this.#solve(work));
  }

  #solve(work: Work): void {
    const job = this.#works.jobOf(work);
    if (!job) return;
    const nonce = BigInt(Math.floor(this.#options.random() * 2 ** 53));
    const solution = assumeSolved(job, nonce);
    void this.#works.submit(solution)?.then((verdict) => this.#apply(solution, verdict));
  }

  #apply(solution: Solution, verdict: Verdict): void {
    const { outcome } = verdict;
    this.#options.pace.judged?.(solution.work, verdict);
    this.#account?.brought(solution, outcome);
    if (outcome === 'accepted' || this.#rest) return;
    this.#giveUp();
    this.#rest = setTimeout(() => {
      this.#rest = undefined;
      const { current } = this.#works;
      if (current) this.#begin(current);
    }, REST_MS);
  }
}
