/** A WorkSource on one node's mining API over HTTP (document 1, "Mining"). */

import type { Solution } from '../../chain/verify.ts';
import { parentOf, parseWork, type Work } from '../../chain/work.ts';
import type { Listener } from '../../events/events.ts';
import { Backoff } from '../../node/backoff.ts';
import { type MinerIdentity, NodeClient } from '../../node/client.ts';
import { NodeClock } from '../../node/clock.ts';
import { checkConfig } from '../../node/config-check.ts';
import { NodeError } from '../../node/errors.ts';
import { type NodeLimits, nodeLimits } from '../../node/limits.ts';
import { BY_AUTHORITY, type Trust } from '../../node/tls.ts';
import { nodeAddress } from '../../node/url.ts';
import { type Clock, systemClock } from '../../system/clock.ts';
import { Mailbox } from '../mailbox.ts';
import type { SourceUpdate, Verdict, WorkSource } from '../source.ts';
import { Bell } from './bell.ts';
import { Haste } from './haste.ts';
import { solve } from './solving.ts';
import { StreamTrust } from './stream-trust.ts';
import { watchSuspension } from './suspension.ts';
import { Updates } from './updates.ts';
import { Works } from './works.ts';

export interface NodeSourceOptions {
  /** `http://host:port`, or with the path of the API, which is then taken as it is. */
  readonly url: string;
  readonly network: string;
  /** What people call it. The default is its address as it is shown. */
  readonly name?: string;
  readonly miner: MinerIdentity;
  /** What makes an https node's certificate trusted: by default, that an authority has signed it. */
  readonly trust?: Trust;
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
  readonly #trust: StreamTrust;
  readonly #mailbox = new Mailbox();
  readonly #network: string;
  #fetches = 0;
  /** When a New Cut last came, on any chain (monotonic). */
  #lastCutMs = Number.NEGATIVE_INFINITY;
  /** The reason told last for being out of reach; undefined while within reach. */
  #outage: string | undefined;
  #everReached = false;
  /** Whether people know that a stream cannot be had. */
  #streamProblemTold = false;
  /** The chains that people know to be polled. */
  #polledTold: ReturnType<StreamTrust['polled']> = [];
  /** Rung when the next fetch may be due at another time than it was. */
  readonly #plans = new Bell();
  /** Ends what the node's signs of life make pointless: a fetch that hangs, and pauses. */
  readonly #haste: Haste;

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
    this.#trust = new StreamTrust(this.#limits);
    this.#haste = new Haste(this.#clock, this.#limits);
    this.name = address.name;
    this.#network = address.network;
    this.#client = new NodeClient({
      address,
      miner: options.miner,
      nodeClock: this.#nodeClock,
      clock: this.#clock,
      userAgent: options.userAgent ?? 'pickaxe',
      trust: options.trust ?? BY_AUTHORITY,
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
      onProblem: (_, error) => this.#streamProblem(error),
    });
  }

  async *works(stop: AbortSignal): AsyncGenerator<SourceUpdate, void> {
    const ending = new AbortController();
    const end = () => ending.abort();
    if (stop.aborted) end();
    stop.addEventListener('abort', end, { once: true });
    const background = [this.#reportConfig(ending.signal), this.#keepFetching(ending.signal)];
    const endWatch = watchSuspension(this.#clock, (ms) => this.#resumed(ms));
    try {
      yield* this.#mailbox.updates(stop);
    } finally {
      stop.removeEventListener('abort', end);
      end();
      endWatch();
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
      onSent: () => this.#solved(work),
      pause: (ms: number, signal: AbortSignal) => this.#haste.pause(ms, signal),
      // Whether the node still knows older work is for the node to say.
      lifeMs: Math.max(this.#works.lifeMs(work, this.#clock.monotonicMs()), this.#limits.solvedTimeoutMs),
      random: this.#random,
      limits: this.#limits,
    };
    const verdict = await solve(options, stop);
    if (verdict.verdict !== 'accepted') this.#notSolved(work);
    return verdict;
  }

  latestTimeUs(): bigint {
    return this.#nodeClock.latestTimeUs();
  }

  async answers(stop: AbortSignal): Promise<boolean> {
    const lastSignMs = Math.max(this.#client.lastAnswerMs, this.#lastCutMs);
    if (this.#clock.monotonicMs() - lastSignMs < this.#limits.probeTimeoutMs) return true;
    try {
      await this.#client.ping(stop);
      return true;
    } catch (error) {
      // Whatever answers, even with a refusal, does not hang. One broken connection says nothing.
      const { fault } = error as NodeError;
      return stop.aborted || (fault !== 'no answer' && fault !== 'unreachable');
    }
  }

  /** One fetch at a time, each when it is due. */
  async #keepFetching(stop: AbortSignal): Promise<void> {
    const pauses = new Backoff(this.#limits.fetchPauses, this.#random);
    const refusedPauses = new Backoff(this.#limits.refusedPauses, this.#random);
    let again = false;
    while (!stop.aborted) {
      try {
        const done = await this.#haste.hurried(stop, (signal) => this.#fetch(signal));
        if (!done) continue;
        pauses.reset();
        refusedPauses.reset();
        again = false;
        await this.#untilDue(stop);
      } catch (error) {
        if (stop.aborted) return;
        const { fault, retryAfterMs } = error instanceof NodeError ? error : ({} as Partial<NodeError>);
        // A node may close an idle connection at the very moment it is used: no outage until that happens twice.
        again = !again && fault === 'broken';
        if (again) continue;
        this.#lose(error instanceof Error ? error.message : String(error));
        const patienceMs = this.#works.current
          ? retryAfterMs
          : Math.min(retryAfterMs ?? 0, this.#limits.idlePatienceMs);
        const pauseMs = (fault === 'refused' ? refusedPauses : pauses).nextMs(patienceMs);
        await this.#haste.pause(pauseMs, stop, () => this.#works.current === undefined);
      }
    }
  }

  async #fetch(stop: AbortSignal): Promise<void> {
    const askedAtMs = this.#clock.monotonicMs();
    const order = this.#works.begin(askedAtMs);
    const record = await this.#client.getWork(stop);
    if (stop.aborted) return;
    const wasLost = this.#outage !== undefined;
    this.#reached();
    this.#fetches += 1;
    const work = parseWork(record, { id: `${this.#fetches}` });
    const nowMs = this.#clock.monotonicMs();
    this.#trust.fetched(work.chain, parentOf(work.header), askedAtMs, nowMs);
    const isNew = this.#works.deliver(work, order, nowMs);
    const { current } = this.#works;
    if (current && (isNew || wasLost)) this.#mailbox.put({ kind: 'work', work: current });
    this.#updates.follow(work.chain);
    if (wasLost) this.#updates.hurry();
  }

  /** Waits until the next fetch is due; New Cuts, openings and verdicts move that moment. */
  async #untilDue(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const nowMs = this.#clock.monotonicMs();
      this.#judgeStreams(nowMs);
      const dueAtMs = this.#works.dueAtMs((chain) =>
        this.#trust.pollReason(chain) === undefined ? this.#trust.refreshMs(nowMs) : undefined,
      );
      if (dueAtMs <= nowMs) {
        if (this.#isPolling) this.#tellPolled(nowMs);
        return;
      }
      await this.#plans.wait(Math.min(dueAtMs, this.#trust.judgeAtMs()) - nowMs, stop);
    }
  }

  #judgeStreams(nowMs: number): void {
    const { missed, distrusted } = this.#trust.judge(nowMs);
    for (const chain of missed) this.#emit({ event: 'missed_cut', source: this.name, chain });
    if (distrusted.length > 0) {
      this.#tellPolled(nowMs);
      this.#updates.reopen(distrusted);
    } else if (this.#polledTold.some(({ chain }) => this.#trust.pollReason(chain) === undefined)) {
      this.#tellPolled(nowMs);
    }
  }

  /** Whether what is mined is asked for again and again. */
  get #isPolling(): boolean {
    const { current } = this.#works;
    return current !== undefined && this.#trust.pollReason(current.chain) !== undefined;
  }

  #tellPolled(nowMs: number): void {
    const chains = this.#trust.polled(nowMs);
    if (JSON.stringify(chains) === JSON.stringify(this.#polledTold)) return;
    this.#polledTold = chains;
    this.#emit({ event: 'polling', source: this.name, chains });
  }

  #newCut(chain: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#lastCutMs = nowMs;
    this.#trust.newCut(chain, nowMs);
    if (this.#works.newCut(chain, nowMs)) this.#mailbox.put({ kind: 'stale', reason: 'new cut' });
    this.#plans.ring();
    this.#haste.signOfLife();
  }

  #streamOpened(chain: number): void {
    this.#streamProblemTold = false;
    this.#trust.opened(chain, this.#clock.monotonicMs());
    this.#works.streamOpened(chain);
    this.#plans.ring();
    this.#haste.signOfLife();
  }

  #streamEnded(chain: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#trust.ended(chain, nowMs);
    this.#works.streamEnded(chain, nowMs);
    this.#plans.ring();
  }

  #streamProblem({ message }: NodeError): void {
    // Told once, and not at all while work cannot be had either: that has been told.
    if (this.#streamProblemTold || this.#outage !== undefined) return;
    this.#streamProblemTold = true;
    const others = this.#updates.open === 0 ? '' : ' Other chains have theirs.';
    this.#tell('info', `no update stream for now, asking for work every few seconds: ${message}${others}`);
  }

  #solved(work: Work): void {
    if (!this.#works.solved(work)) return;
    this.#mailbox.put({ kind: 'stale', reason: 'solved' });
    this.#plans.ring();
  }

  #notSolved(work: Work): void {
    this.#works.notSolved(work);
    this.#plans.ring();
  }

  /** Old work is worthless, and the node may have forgotten every connection. */
  #resumed(ms: number): void {
    this.#tell('info', `this machine or process was suspended for ${Math.round(ms / 1000)} s: work is asked for anew`);
    this.#client.renewConnections();
    this.#works.mustFetch();
    this.#plans.ring();
    this.#haste.letGo();
    this.#updates.reopen();
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
