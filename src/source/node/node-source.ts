/** A WorkSource on one node's mining API over HTTP (document 1, "Mining"). */

import type { Solution } from '../../chain/verify.ts';
import { parseWork, type Work } from '../../chain/work.ts';
import { type Clock, systemClock } from '../../clock.ts';
import type { Listener } from '../../events/events.ts';
import { Mailbox } from '../mailbox.ts';
import type { SourceUpdate, Verdict, WorkSource } from '../source.ts';
import { Backoff } from './backoff.ts';
import { type MinerIdentity, NodeClient } from './client.ts';
import { NodeClock } from './clock.ts';
import { checkConfig } from './config-check.ts';
import { pause } from './deadline.ts';
import { NodeError } from './errors.ts';
import { type NodeLimits, nodeLimits } from './limits.ts';
import { solve } from './solving.ts';
import { Updates } from './updates.ts';
import { nodeAddress } from './url.ts';
import { Works } from './works.ts';

export interface NodeSourceOptions {
  /** `http://host:port`, or with the path of the API, which is then taken as it is. */
  readonly url: string;
  readonly network: string;
  /** What people call it; left out, its address as it is shown. */
  readonly name?: string;
  readonly miner: MinerIdentity;
  /** Takes any TLS certificate. */
  readonly insecureTls?: boolean;
  readonly userAgent?: string;
}

/** What comes in from outside; each has a default. */
export interface NodeSourceSurroundings {
  readonly clock?: Clock;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
  readonly emit?: Listener;
  readonly limits?: Partial<NodeLimits>;
}

export class NodeSource implements WorkSource {
  readonly name: string;
  readonly #options: NodeSourceOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #emit: Listener;
  readonly #nodeClock: NodeClock;
  readonly #client: NodeClient;
  readonly #updates: Updates;
  readonly #limits: NodeLimits;
  readonly #works: Works;
  readonly #mailbox = new Mailbox();
  readonly #network: string;
  #fetches = 0;
  /** The reason told last for being out of reach; undefined while within reach. */
  #outage: string | undefined;
  #everReached = false;
  /** Whether people know that streams cannot be had. */
  #polling = false;
  /** Ends the wait for the next fetch. */
  #wake: () => void = () => {};

  /** @throws Error when the URL is not a node's */
  constructor(options: NodeSourceOptions, { clock, random, emit, limits }: NodeSourceSurroundings = {}) {
    const { name = nodeAddress(options.url, options.network).name } = options;
    const address = { ...nodeAddress(options.url, options.network), name };
    this.#options = options;
    this.#clock = clock ?? systemClock;
    this.#random = random ?? Math.random;
    this.#emit = emit ?? (() => {});
    this.#nodeClock = new NodeClock(this.#clock);
    this.#limits = { ...nodeLimits, ...limits };
    this.#works = new Works(this.#limits);
    this.name = address.name;
    this.#network = address.network;
    this.#client = new NodeClient({
      address,
      miner: options.miner,
      nodeClock: this.#nodeClock,
      clock: this.#clock,
      userAgent: options.userAgent ?? 'pickaxe',
      insecureTls: options.insecureTls ?? false,
      limits: this.#limits,
    });
    this.#updates = new Updates({
      url: `${address.origin}${address.basePath}/mining/updates`,
      clock: this.#clock,
      random: this.#random,
      limits: this.#limits,
      open: (chain, stop) => this.#client.openUpdates(chain, stop),
      onOpen: (chain) => this.#streamOpened(chain),
      onNewCut: (chain) => this.#newCut(chain),
      onEnd: (chain) => this.#streamEnded(chain),
      onProblem: (error) => this.#streamProblem(error),
    });
  }

  async *works(stop: AbortSignal): AsyncGenerator<SourceUpdate, void> {
    const ending = new AbortController();
    const end = () => {
      ending.abort();
      this.#wake();
    };
    if (stop.aborted) end();
    stop.addEventListener('abort', end, { once: true });
    const background = [this.#reportConfig(ending.signal), this.#keepFetching(ending.signal)];
    try {
      yield* this.#mailbox.updates(stop);
    } finally {
      stop.removeEventListener('abort', end);
      end();
      this.#updates.close();
      await Promise.all(background);
    }
  }

  async submit(solution: Solution, stop: AbortSignal): Promise<Verdict> {
    const { work, header } = solution;
    const options = {
      post: (signal: AbortSignal) => this.#client.postSolved(header, signal),
      isOutdated: () => this.#works.isOutdated(work),
      // The miner waits for other work from here on, even while this solution is tried again.
      onFirstAttempt: () => this.#solved(work),
      random: this.#random,
      limits: this.#limits,
    };
    return await solve(options, stop);
  }

  latestTimeUs(): bigint {
    return this.#nodeClock.latestTimeUs();
  }

  /** One fetch at a time, each when it is due. */
  async #keepFetching(stop: AbortSignal): Promise<void> {
    const pauses = new Backoff(this.#limits.fetchPauses, this.#random);
    let again = false;
    while (!stop.aborted) {
      try {
        await this.#fetch(stop);
        pauses.reset();
        again = false;
        await this.#untilDue(stop);
      } catch (error) {
        if (stop.aborted) return;
        // A node may close an idle connection at the very moment it is used: no outage until that happens twice.
        again = !again && error instanceof NodeError && error.fault === 'broken';
        if (again) continue;
        this.#lose(error instanceof Error ? error.message : String(error));
        await pause(pauses.nextMs(error instanceof NodeError ? error.retryAfterMs : undefined), stop);
      }
    }
  }

  async #fetch(stop: AbortSignal): Promise<void> {
    const order = this.#works.begin(this.#clock.monotonicMs());
    const record = await this.#client.getWork(stop);
    if (stop.aborted) return;
    const wasLost = this.#outage !== undefined;
    this.#reached();
    this.#fetches += 1;
    const work = parseWork(record, { id: `${this.#fetches}` });
    const isNew = this.#works.deliver(work, order, this.#clock.monotonicMs());
    const { current } = this.#works;
    if (current && (isNew || wasLost)) this.#mailbox.put({ kind: 'work', work: current });
    this.#updates.follow(work.chain);
  }

  /** Waits until the next fetch is due; New Cuts, openings and verdicts move that moment. */
  async #untilDue(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const waitMs = this.#works.dueAtMs((chain) => this.#updates.isOpen(chain)) - this.#clock.monotonicMs();
      if (waitMs <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  #newCut(chain: number): void {
    if (this.#works.newCut(chain, this.#clock.monotonicMs())) {
      this.#mailbox.put({ kind: 'stale', reason: 'new cut' });
    }
    this.#wake();
  }

  #streamOpened(chain: number): void {
    this.#polling = false;
    this.#works.streamOpened(chain);
    this.#wake();
  }

  #streamEnded(chain: number): void {
    this.#works.streamEnded(chain, this.#clock.monotonicMs());
    this.#wake();
  }

  #streamProblem(error: NodeError): void {
    // Told once, and not at all while work cannot be had either: that has been told.
    if (this.#polling || this.#outage !== undefined) return;
    this.#polling = true;
    this.#tell('info', `no update stream for now, asking for work every few seconds: ${error.message}`);
  }

  #solved(work: Work): void {
    if (work.until !== 'solved' || this.#works.current !== work) return;
    this.#works.drop();
    this.#mailbox.put({ kind: 'stale', reason: 'solved' });
    this.#wake();
  }

  #reached(): void {
    if (this.#everReached && this.#outage === undefined) return;
    this.#everReached = true;
    this.#outage = undefined;
    this.#tell('connected', 'the node gives work');
  }

  #lose(reason: string): void {
    if (this.#outage === undefined) {
      this.#tell('lost', reason);
      this.#mailbox.put({ kind: 'lost', reason });
    } else if (this.#outage !== reason) {
      this.#tell('lost', reason);
    }
    this.#outage = reason;
    if (this.#works.isExpired(this.#clock.monotonicMs())) {
      this.#works.drop();
      this.#mailbox.put({ kind: 'stale', reason: 'expired' });
    }
  }

  /** Tells people early what a refusal would tell them late. */
  async #reportConfig(stop: AbortSignal): Promise<void> {
    try {
      const report = await this.#client.getConfig(stop);
      for (const { state, reason } of checkConfig(report, this.#network || undefined, this.#options.miner))
        this.#tell(state, reason);
    } catch {
      // Not every node serves it, and one that is out of reach is told of when work is asked for.
    }
  }

  #tell(state: 'connected' | 'lost' | 'warning' | 'info', reason: string): void {
    this.#emit({ event: 'source', source: this.name, state, reason });
  }
}
