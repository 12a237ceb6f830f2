/** A WorkSource that uses one node's mining API over HTTP (document 1, "Mining"). */

import { Backoff } from '../../../base/net/backoff.ts';
import { BY_AUTHORITY, type Trust } from '../../../base/net/tls-trust.ts';
import { pause } from '../../../base/system/abort.ts';
import { type Clock, watchSuspension } from '../../../base/system/clock.ts';
import { checkConfig } from '../../../node/client/config.ts';
import type { MinerIdentity } from '../../../node/client/miner-identity.ts';
import { MiningClient } from '../../../node/client/mining.ts';
import type { NodeTransport } from '../../../node/http/exchange.ts';
import { type NodeError, quote } from '../../../node/http/node-error.ts';
import { type NodeLimits, nodeLimits } from '../../../node/http/request-limits.ts';
import { nodeAddress } from '../../../node/http/url.ts';
import type { Solution } from '../../../protocol/chain/verify.ts';
import { creationTimeOf, parentOf, type Work } from '../../../protocol/chain/work.ts';
import { NodeAnnouncements } from '../announcements.ts';
import { BaseSource } from '../complete-source.ts';
import {
  complete,
  type Judge,
  listeningUntil,
  type SourceContext,
  type UpdateListener,
  type Verdict,
} from '../source.ts';
import { SourceHealth } from '../source-health.ts';
import { FetchImpatience, WakeSignal } from './fetch-pauses.ts';
import { FetchSchedule } from './fetch-schedule.ts';
import { FETCHES_PER_SECOND, RequestBounds } from './request-bounds.ts';
import { StreamTrust } from './stream-trust.ts';
import { submitSolution } from './submission.ts';
import { UpdateStreams } from './update-streams.ts';

export interface NodeSourceOptions {
  /** The node's URL: `http://host:port`, for which pickaxe finds the path of the API, or a URL with that path. */
  readonly url: string;
  readonly network: string;
  /** The node's name for people. The default is its shortened URL. */
  readonly name?: string;
  readonly miner: MinerIdentity;
  /** How the certificate of an https node is checked. By default an authority must have signed it. */
  readonly trust?: Trust;
  readonly userAgent?: string;
}

/**
 * Weights of refused solutions in the sum that `MOST_REFUSED` (source-health.ts) limits. Three rejections in a row
 * reach the limit, or eight solutions in a row whose work the node does not know. During a trial, one rejection or two
 * such solutions are enough.
 */
const REJECTED_WEIGHT = 4;
const UNKNOWN_WORK_WEIGHT = 1.5;

export interface NodeSourceContext extends SourceContext<NodeLimits> {
  readonly transport?: NodeTransport;
}

export class NodeSource extends BaseSource {
  readonly name: string;
  readonly kind = 'node';
  readonly #miner: MinerIdentity;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #limits: NodeLimits;
  readonly #client: MiningClient;
  readonly #updates: UpdateStreams;
  readonly #schedule: FetchSchedule;
  readonly #streamTrust: StreamTrust;
  readonly #announcements: NodeAnnouncements;
  #listener: UpdateListener = () => {};
  /** Ends the wait for the next fetch when the time of that fetch may have changed. */
  readonly #replan: WakeSignal;
  /** Cancels a fetch without an answer, and ends pauses, when a New Cut comes or a stream opens. */
  readonly #impatience: FetchImpatience;
  readonly #bounds: RequestBounds;
  readonly #health: SourceHealth;
  /** When a New Cut last came, on any chain (monotonic). */
  #lastCutMs = Number.NEGATIVE_INFINITY;

  /** @throws Error if the URL is not a node URL */
  constructor(options: NodeSourceOptions, context: NodeSourceContext = {}) {
    super();
    const { url, network, miner, trust = BY_AUTHORITY, userAgent = 'pickaxe' } = options;
    const { clock, random, emit, limits } = complete(context, nodeLimits);
    const shown = nodeAddress(url, network);
    const address = { ...shown, name: options.name ?? shown.name };
    this.name = address.name;
    this.#miner = miner;
    this.#clock = clock;
    this.#replan = new WakeSignal(clock);
    this.#random = random;
    this.#limits = limits;
    this.#schedule = new FetchSchedule(this.#limits);
    this.#streamTrust = new StreamTrust(this.#limits);
    this.#impatience = new FetchImpatience(clock, this.#limits);
    this.#bounds = new RequestBounds(clock.monotonicMs());
    this.#announcements = new NodeAnnouncements(this.name, emit);
    this.#health = new SourceHealth({
      clock,
      random,
      limits: this.#limits,
      words: { what: 'solutions of its own work', question: '; is there a load balancer in front of it?' },
      alone: (fault, news) => this.#announcements.judgedAlone(fault, news),
    });
    const { transport } = context;
    this.#client = new MiningClient({ address, trust, userAgent, clock, limits, ...(transport && { transport }) });
    this.#updates = new UpdateStreams({
      url: address.origin,
      clock,
      random,
      limits,
      open: (chain, stop) => this.#client.updates(chain, stop),
      mayOpen: () => this.#bounds.mayOpenStream(clock.monotonicMs()),
      onOpen: (chain) => this.#streamOpened(chain),
      onNewCut: (chain) => this.#newCut(chain),
      onEnd: (chain) => this.#streamEnded(chain),
      onProblem: (_, { message }) => this.#announcements.streamProblem(message, this.#updates.open > 0),
    });
  }

  async follow(listener: UpdateListener, stop: AbortSignal): Promise<void> {
    this.#listener = listeningUntil(stop, listener);
    const endWatch = watchSuspension(this.#clock, (ms) => this.#resumed(ms));
    this.#health.start();
    try {
      await Promise.all([this.#reportConfig(stop), this.#keepFetching(stop)]);
    } finally {
      endWatch();
      this.#health.stop();
      this.#updates.close();
    }
  }

  async submit(solution: Solution, stop: AbortSignal): Promise<Verdict> {
    const { work, header } = solution;
    // Foreign work was not fetched by this source, or the source no longer remembers it. A solution of such work makes
    // this source's own work on the same parent stale only if the node accepts the solution.
    const isForeign = !this.#schedule.isRemembered(work);
    const options = {
      post: (signal: AbortSignal) => this.#client.submit(header, signal),
      isOutdated: () => this.#schedule.isOutdated(work),
      earlyMs: () => this.#client.nodeClock.untilMs(creationTimeOf(header)),
      // From now on the miner gets other work, even if the submission is repeated.
      onSent: () => {
        if (!isForeign) this.#solved(work);
      },
      pause: (ms: number, signal: AbortSignal) => this.#impatience.pause(ms, signal),
      // Expired work has no time left, so a minimum applies: the node decides whether it accepts the solution.
      lifeMs: Math.max(this.#schedule.lifeMs(work, this.#clock.monotonicMs()), this.#limits.solvedTimeoutMs),
      clock: this.#clock,
      random: this.#random,
      limits: this.#limits,
    };
    const verdict = await submitSolution(options, stop);
    if (!isForeign) this.#judge(verdict, this.#schedule.isOutdated(work));
    if (verdict.outcome !== 'accepted') this.#notSolved(work);
    else {
      if (isForeign) this.#solved(work);
      this.#bounds.accepted();
    }
    return verdict;
  }

  override onHealth(judge: Judge): void {
    this.#health.judge = judge;
  }

  /**
   * Passes a verdict on to the health. A rejection has more weight than the answer that the work is unknown, because a
   * New Cut that explains this answer may still be on its way.
   */
  #judge({ outcome, reason }: Verdict, isOutdated: boolean): void {
    if (outcome === 'accepted') this.#health.accepted();
    else if (outcome === 'rejected') this.#health.refused(quote(reason), REJECTED_WEIGHT);
    else if (outcome === 'stale' && !isOutdated) this.#health.refused(quote(reason), UNKNOWN_WORK_WEIGHT);
  }

  latestTimeUs(): bigint {
    return this.#client.nodeClock.latestTimeUs();
  }

  override async answers(stop: AbortSignal): Promise<boolean> {
    const lastSignMs = Math.max(this.#client.lastAnswerMs, this.#lastCutMs);
    if (this.#clock.monotonicMs() - lastSignMs < this.#limits.probeTimeoutMs) return true;
    try {
      await this.#client.ping(stop);
      return true;
    } catch (error) {
      // A refusal is an answer, too. A single broken connection proves nothing.
      const { kind } = error as NodeError;
      return stop.aborted || (kind !== 'timed out' && kind !== 'unreachable');
    }
  }

  async #keepFetching(stop: AbortSignal): Promise<void> {
    const pauses = new Backoff(this.#limits.fetchPauses, this.#random);
    const refusedPauses = new Backoff(this.#limits.refusedPauses, this.#random);
    let again = false;
    while (!stop.aborted) {
      await this.#untilAllowed(stop);
      if (stop.aborted) return;
      try {
        const done = await this.#impatience.hurried(stop, (signal) => this.#fetch(signal));
        if (!done) continue;
        pauses.reset();
        refusedPauses.reset();
        again = false;
        await this.#untilDue(stop);
      } catch (error) {
        if (stop.aborted) return;
        const { kind, retryAfterMs, nodeConfiguration, message } = error as Error & Partial<NodeError>;
        // A node may close an idle connection just when a request is sent, so the first such error is not an outage.
        again = !again && kind === 'broken';
        if (again) continue;
        this.#lose(message, nodeConfiguration);
        const patienceMs = this.#schedule.current
          ? retryAfterMs
          : Math.min(retryAfterMs ?? 0, this.#limits.idlePatienceMs);
        const pauseMs = (kind === 'refused' || kind === 'other network' ? refusedPauses : pauses).nextMs(patienceMs);
        await this.#impatience.pause(pauseMs, stop, () => this.#schedule.current === undefined);
      }
    }
  }

  /** Waits until `RequestBounds` allows another fetch. The work that is mined meanwhile may be stale. */
  async #untilAllowed(stop: AbortSignal): Promise<void> {
    while (!stop.aborted && !this.#bounds.mayFetch(this.#clock.monotonicMs())) {
      this.#announcements.tooManyFetches(FETCHES_PER_SECOND, this.#clock.monotonicMs());
      await pause(this.#clock, 1_000 / FETCHES_PER_SECOND, stop);
    }
  }

  async #fetch(stop: AbortSignal): Promise<void> {
    const askedAtMs = this.#clock.monotonicMs();
    const order = this.#schedule.fetchBegan(askedAtMs);
    const work = await this.#client.work(this.#miner, stop);
    if (stop.aborted) return;
    const wasLost = this.#announcements.isLost;
    this.#announcements.reached();
    const nowMs = this.#clock.monotonicMs();
    this.#announcements.gaveWork(nowMs - askedAtMs);
    const isNew = this.#schedule.fetchEnded(work, order, nowMs);
    const { current } = this.#schedule;
    this.#reportStale('expired');
    if (isNew) this.#listener({ kind: 'work', work });
    else if (current && wasLost) this.#listener({ kind: 'work', work: current });
    this.#streamTrust.fetched(work.chain, parentOf(work.header), askedAtMs, nowMs);
    this.#updates.follow(work.chain);
    if (wasLost) this.#updates.hurry();
  }

  /** Waits until the next fetch is due. Events such as a New Cut or the end of a stream can change that time. */
  async #untilDue(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const nowMs = this.#clock.monotonicMs();
      this.#judgeStreams(nowMs);
      const dueAtMs = this.#schedule.dueAtMs((chain) =>
        this.#streamTrust.pollReason(chain) === undefined ? this.#streamTrust.refreshMs(nowMs) : undefined,
      );
      if (dueAtMs <= nowMs) {
        if (this.#isPolling) this.#announcements.polling(this.#streamTrust.polled(nowMs));
        return;
      }
      await this.#replan.wait(Math.min(dueAtMs, this.#streamTrust.judgeAtMs()) - nowMs, stop);
    }
  }

  #judgeStreams(nowMs: number): void {
    const { missed, distrusted } = this.#streamTrust.judge(nowMs);
    for (const chain of missed) this.#announcements.missedCut(chain);
    const isTrustedAgain = this.#announcements.polled.some(
      ({ chain }) => this.#streamTrust.pollReason(chain) === undefined,
    );
    if (distrusted.length > 0 || isTrustedAgain) this.#announcements.polling(this.#streamTrust.polled(nowMs));
    if (distrusted.length > 0) this.#updates.reopen(distrusted);
  }

  get #isPolling(): boolean {
    const { current } = this.#schedule;
    return current !== undefined && this.#streamTrust.pollReason(current.chain) !== undefined;
  }

  #newCut(chain: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#lastCutMs = nowMs;
    this.#streamTrust.newCut(chain, nowMs);
    this.#schedule.newCut(chain, nowMs);
    this.#reportStale('new-cut');
    this.#replan.ring();
    this.#impatience.signOfLife();
  }

  #streamOpened(chain: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#announcements.streamOpened();
    this.#streamTrust.opened(chain, nowMs);
    this.#schedule.streamOpened(chain, nowMs);
    this.#replan.ring();
    this.#impatience.signOfLife();
  }

  #streamEnded(chain: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#streamTrust.ended(chain, nowMs);
    this.#schedule.streamEnded(chain, nowMs);
    this.#replan.ring();
  }

  #solved(work: Work): void {
    this.#schedule.solved(work);
    this.#reportStale('solved');
    this.#replan.ring();
  }

  #notSolved(work: Work): void {
    this.#schedule.notSolved(work);
    this.#replan.ring();
  }

  /** Called when a fetch has failed. The current work is mined on until it is older than `expiryMs`. */
  #lose(reason: string, nodeConfiguration?: readonly string[]): void {
    const wasLost = this.#announcements.isLost;
    this.#announcements.lost(reason, nodeConfiguration);
    if (!wasLost) this.#listener({ kind: 'lost', reason });
    if (this.#schedule.isExpired(this.#clock.monotonicMs())) {
      this.#schedule.expire();
      this.#reportStale('expired');
    }
  }

  #reportStale(reason: 'new-cut' | 'solved' | 'expired'): void {
    const works = this.#schedule.takeStale();
    if (works.length > 0) this.#listener({ kind: 'stale', works, reason });
  }

  /**
   * Called after a suspension of the machine or process. The current work is probably stale, and the node may have
   * closed all connections.
   * @param ms the duration of the suspension
   */
  #resumed(ms: number): void {
    const seconds = Math.round(ms / 1000);
    this.#announcements.note('info', `this machine or process was suspended for ${seconds} s: fetching new work`);
    this.#client.renewConnections();
    this.#schedule.makeDue();
    this.#replan.ring();
    this.#impatience.letGo();
    this.#updates.reopen();
  }

  /** Checks the node's configuration, so that problems are reported before the node refuses to give work. */
  async #reportConfig(stop: AbortSignal): Promise<void> {
    try {
      const report = await this.#client.config(stop);
      const { network } = this.#client.address;
      for (const { about, state, what, nodeConfiguration } of checkConfig(report, network, this.#miner)) {
        // A node that does not list this miner refuses to give it work, and that refusal is announced anyway.
        if (about !== 'miner') this.#announcements.note(state === 'ok' ? 'info' : state, what, nodeConfiguration);
      }
    } catch {
      // Not every node serves its configuration. If the node is out of reach, the fetch of work reports this.
    }
  }
}
