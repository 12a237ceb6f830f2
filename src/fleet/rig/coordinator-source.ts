/**
 * A WorkSource that gets work from one coordinator of a fleet. It sends solutions to this coordinator or, if this
 * coordinator gives no verdict, to other coordinators.
 */

import { Backoff } from '../../base/net/backoff.ts';
import { aborted, pause, sharedController } from '../../base/system/abort.ts';
import { LogBucket, TokenBucket } from '../../base/system/bounded.ts';
import type { Clock } from '../../base/system/clock.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { Announcements } from '../../miner/source/announcements.ts';
import { BaseSource } from '../../miner/source/complete-source.ts';
import { deliver } from '../../miner/source/delivery.ts';
import {
  complete,
  type Judge,
  listeningUntil,
  type SourceContext,
  type UpdateListener,
  type Verdict,
} from '../../miner/source/source.ts';
import { SourceHealth } from '../../miner/source/source-health.ts';
import type { Solution } from '../../protocol/chain/verify.ts';
import type { Work } from '../../protocol/chain/work.ts';
import { CoordinatorState, messageBytes, readMessage } from '../messages.ts';
import { LinkError } from '../nats/link.ts';
import { CoordinatorStates, type IssuedWork } from './coordinator-state.ts';
import { type FleetLimits, fleetLimits, STATES_AT_ONCE, STATES_PER_SECOND } from './rig-limits.ts';
import { type Fleet, FleetAttempts } from './solution-delivery.ts';

/** Capacity and rate of the token bucket for log lines that a coordinator causes: three at once, then one in 10 min. */
const MOST_NOTES = 3;
const NOTES_PER_SECOND = 1 / 600;
/** Capacity of the token bucket for warnings about lost blocks. A test network can have very many lost blocks. */
const MOST_LOST_BLOCKS = 20;
const NO_FAULTS = JSON.stringify([false, undefined]);
/** Maximum length of a reason from a coordinator, in UTF-16 code units. A longer reason is cut. */
const MOST_REASON = 300;
/**
 * Weight of a rejected block in the judgement of a coordinator's health. A rejected share has the weight 1. Three
 * rejected blocks in a row, or twelve rejected shares in a row, make the coordinator unhealthy if at least `refusedMs`
 * passes between the first and the last of them. During a trial, fewer are enough.
 */
const BLOCK_WEIGHT = 4;

export class CoordinatorSource extends BaseSource {
  readonly name: string;
  readonly kind = 'fleet';
  /** The coordinator's exact name, for subjects. The name for people is `name`. */
  readonly coordinator: string;
  readonly #fleet: Fleet;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #limits: FleetLimits;
  readonly #announcements: Announcements;
  readonly #states: CoordinatorStates;
  readonly #health: SourceHealth;
  readonly #reads: TokenBucket;
  #judgeHealth: Judge | undefined;
  /**
   * Why the coordinator is unhealthy by the verdicts on solutions of its works; undefined while these show no fault.
   */
  #refusing: string | undefined;
  /**
   * JSON of the last report to `#judgeHealth`, for comparison: whether the coordinator's state has a fault, and
   * `#refusing`. Undefined before the first report.
   */
  #reportedHealth: string | undefined;
  readonly #notes: LogBucket;
  readonly #lostBlocks: LogBucket;
  #listener: UpdateListener | undefined;
  #isSyncDue = false;
  /** The last work that the listener received; undefined before the first, and once it has ended or is withdrawn. */
  #given: IssuedWork | undefined;
  /** Works that this source has ended at their first solution. States may still name one of them as current. */
  readonly #done = new WeakSet<Work>();
  /** Whether the listener has received a `lost` update, and no work since then. */
  #isReportedLost = false;
  #outage = sharedController();
  #asking: Promise<void> | undefined;
  /** Number of solutions that wait for their verdicts. */
  #waiting = 0;
  #stop: AbortSignal = AbortSignal.abort();

  /** @param coordinator the coordinator's exact name */
  constructor(fleet: Fleet, coordinator: string, context: SourceContext<FleetLimits> = {}) {
    super();
    const { clock, random, emit, limits } = complete(context, fleetLimits);
    this.#fleet = fleet;
    this.coordinator = coordinator;
    this.name = oneLine(coordinator) || 'a coordinator without a name that can be shown';
    this.#clock = clock;
    this.#random = random;
    this.#limits = limits;
    this.#announcements = new Announcements(this.kind, this.name, emit);
    this.#health = new SourceHealth({
      clock,
      random,
      limits,
      words: { what: 'solutions of its own work', question: '' },
      alone: (fault, news) => this.#announcements.judgedAlone(fault, news),
    });
    this.#states = new CoordinatorStates(limits.replacedAfterMs);
    this.#reads = new TokenBucket(STATES_AT_ONCE, STATES_PER_SECOND, clock.monotonicMs());
    this.#notes = new LogBucket(MOST_NOTES, clock.monotonicMs(), NOTES_PER_SECOND);
    this.#lostBlocks = new LogBucket(MOST_LOST_BLOCKS, clock.monotonicMs());
  }

  /** Time at which the coordinator's last state came (monotonic); −∞ before the first. */
  get lastStateMs(): number {
    return this.#states.lastStateMs;
  }

  /** Whether the coordinator's last state reports that its own source is out of reach. */
  get isWithoutSource(): boolean {
    return this.#states.lost !== null;
  }

  get isUnresponsive(): boolean {
    return this.#clock.monotonicMs() - this.lastStateMs >= this.#limits.lostAfterMs;
  }

  /**
   * If a listener follows this source, the signal fires when no state has come from the coordinator for `lostAfterMs`.
   * After the next state, there is a new signal.
   */
  get outage(): AbortSignal {
    return this.#outage.signal;
  }

  /**
   * Takes a message from the coordinator.
   * @returns whether the message was accepted as the coordinator's newest state
   */
  take(data: Uint8Array): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (!this.#reads.take(1, nowMs)) {
      this.#note(`sends more than ${STATES_PER_SECOND} messages a second: the rest is not read`);
      return false;
    }
    const state = readMessage(CoordinatorState, data);
    const reception = state && this.#states.take(state, nowMs);
    if (reception === 'other-instance') {
      this.#note('is the name of two coordinators, of which only one is used: give each a name of its own');
    }
    if (reception !== 'taken') return false;
    if (this.outage.aborted) this.#outage = sharedController();
    this.#reportHealth();
    this.#syncSoon();
    return true;
  }

  /** May be called again after an earlier call has ended. Then a work that was given before comes as another one. */
  async follow(listener: UpdateListener, stop: AbortSignal): Promise<void> {
    this.#listener = listeningUntil(stop, listener);
    this.#stop = stop;
    this.#given = undefined;
    this.#isReportedLost = false;
    const { current } = this.#states;
    if (current && !this.#done.has(current.work)) this.#states.renew(current);
    this.#announcements.started();
    this.#health.start();
    const { link, subjects } = this.#fleet;
    const unsubscribe = link.subscribe(subjects.work(this.coordinator), ({ data }) => this.take(data));
    this.#look();
    if (!this.isUnresponsive) this.#sync();
    // Messages may have arrived while this process could not run. They are read before the coordinator is treated as
    // unresponsive.
    const looking = this.#clock.setInterval(() => this.#clock.setImmediate(() => this.#look()), this.#limits.lookMs);
    await aborted(stop);
    looking.cancel();
    this.#health.stop();
    unsubscribe();
    this.#listener = undefined;
    await this.#asking;
  }

  /** Whether this coordinator issued the work, which may have ended. */
  hasIssued(work: Work): boolean {
    return this.#states.about(work) !== undefined;
  }

  /**
   * Sends a solution and waits for its verdict. While `mostWaiting` solutions wait for their verdicts, a further
   * solution is not sent. Each solution of a node's work ends this work, even if the solution is not sent.
   */
  async submit(solution: Solution, stop: AbortSignal): Promise<Verdict> {
    const known = this.#states.about(solution.work);
    if (!known) return { outcome: 'unknown', reason: 'this coordinator did not give this work' };
    const { mostWaiting } = this.#limits;
    if (this.#waiting >= mostWaiting) {
      this.#solved(known);
      return { outcome: 'stale', reason: `${mostWaiting} solutions wait for this coordinator’s verdicts; not sent` };
    }
    this.#waiting++;
    try {
      const isDead = known.hasEnded;
      const verdict = await this.#deliver(solution, known, stop);
      if (!isDead && !this.isUnresponsive) this.#judge(solution, verdict);
      return verdict;
    } finally {
      this.#waiting--;
    }
  }

  async #deliver(solution: Solution, known: IssuedWork, stop: AbortSignal): Promise<Verdict> {
    let hasAnswer = false;
    const pauses = new Backoff(this.#limits.submitPauses, this.#random);
    const attempts = new FleetAttempts(this.#fleet, this, solution, known.name, this.#clock, this.#limits);
    const leftMs = known.confirmedMs + this.#limits.expiryMs - this.#clock.monotonicMs();
    const verdict = await deliver(
      {
        attempt: async (signal) => {
          const answer = await attempts.attempt(signal);
          hasAnswer = 'outcome' in answer;
          return answer;
        },
        whyOutdated: () => (known.hasEnded ? 'its work ended before a coordinator could be reached' : undefined),
        onSent: () => this.#solved(known),
        nextPauseMs: (retryAfterMs) => pauses.nextMs(retryAfterMs),
        pause: (ms, signal) => this.#untilConnected(ms, signal),
        // The minimum leaves time to ask the issuer and another coordinator once each, even if the work is too old.
        lifeMs: Math.max(leftMs, 2 * this.#limits.solutionTimeoutMs),
        untaken: 'stale',
        limits: this.#limits,
        clock: this.#clock,
      },
      stop,
    );
    if (!hasAnswer && solution.isBlock && !known.hasEnded) this.#noteLost(solution.work, verdict.reason);
    return verdict;
  }

  #noteLost({ chain, height }: Work, reason: string): void {
    if (this.#lostBlocks.take(this.#clock.monotonicMs()) === undefined) return;
    const block = `the block of chain ${chain} at height ${height}`;
    this.#announcements.note('warning', `${block} is lost, because no coordinator has taken it: ${reason}`);
  }

  override onHealth(judge: Judge): void {
    this.#reportedHealth = undefined;
    this.#judgeHealth = judge;
    this.#health.judge = (fault, news) => {
      this.#refusing = fault;
      this.#reportHealth(news);
    };
    this.#reportHealth();
  }

  /**
   * Reports the faults that the coordinator's last state and verdicts show. Does nothing if these faults have not
   * changed and there is no news.
   * @param news what has changed in the judgement of a coordinator whose verdicts show no fault
   */
  #reportHealth(news?: string): void {
    const { fault } = this.#states;
    const own = fault === undefined ? undefined : `says that ${oneLine(fault, MOST_REASON)}`;
    const faults = [own, this.#refusing].filter((fault) => fault !== undefined);
    // The text of the state's fault is not compared, because it may contain a duration that grows.
    const reported = JSON.stringify([own !== undefined, this.#refusing]);
    if (!this.#judgeHealth || (reported === (this.#reportedHealth ?? NO_FAULTS) && news === undefined)) return;
    this.#reportedHealth = reported;
    this.#judgeHealth(faults.length === 0 ? undefined : faults.join(', and '), news);
  }

  #judge({ isBlock }: Solution, { outcome, reason }: Verdict): void {
    if (outcome === 'accepted') this.#health.accepted();
    else if (outcome === 'rejected') this.#health.refused(reason, isBlock ? BLOCK_WEIGHT : 1);
  }

  latestTimeUs(work: Work): bigint {
    return this.#states.latestTimeUs(work, this.#clock.monotonicMs());
  }

  override async answers(): Promise<boolean> {
    // Messages that have arrived while this process could not run are read first.
    await new Promise<void>((resolve) => this.#clock.setImmediate(resolve));
    return !this.isUnresponsive;
  }

  /** Reports that the coordinator is lost. The last work is mined on until no state has confirmed it for `expiryMs`. */
  lose(reason: string): void {
    if (!this.#listener) return;
    this.#announcements.lost(reason);
    if (!this.#isReportedLost) this.#listener({ kind: 'lost', reason });
    this.#isReportedLost = true;
  }

  /** Called after a suspension of this machine or process. @param ms duration of the suspension */
  resumed(ms: number): void {
    this.#states.age(ms);
    if (this.#listener) this.#ask(true);
  }

  /**
   * Calls `#sync` after all messages that have arrived are read. So after a time in which this process could not run,
   * the listener gets only the newest work.
   */
  #syncSoon(): void {
    if (this.#isSyncDue) return;
    this.#isSyncDue = true;
    this.#clock.setImmediate(() => {
      this.#isSyncDue = false;
      this.#sync();
    });
  }

  /**
   * Sends the listener an update for each change since the last call: works that have ended, a new work, no current
   * work, or the loss of the coordinator. Requests the current work if only its name is known.
   */
  #sync(): void {
    const ended = this.#states.takeEnded();
    for (const [reason, works] of ended) {
      if (this.#given && works.includes(this.#given.work)) this.#given = undefined;
      this.#listener?.({ kind: 'stale', works, reason });
    }
    if (!this.#listener) return;
    const { current, lost, hasNone } = this.#states;
    const { network } = this.#fleet;
    const other = current && network?.otherThan(current.work.header);
    const isUsable = current !== undefined && other === undefined && !this.#done.has(current.work);
    if (isUsable && (lost === null || !this.#given)) this.#give(current);
    else if (hasNone && this.#given) {
      this.#given = undefined;
      this.#listener({ kind: 'rest' });
    }
    if (other !== undefined) this.lose(`gives work of another network (${other}) than ${network?.name}`);
    else if (lost !== null) this.lose(oneLine(lost, MOST_REASON) || 'its own source is out of reach');
    if (this.#states.isCurrentUnknown) this.#ask();
  }

  #give(known: IssuedWork): void {
    if (known === this.#given && !this.#isReportedLost) return;
    this.#given = known;
    this.#isReportedLost = false;
    this.#announcements.reached('the coordinator gives work');
    this.#listener?.({ kind: 'work', work: known.work });
  }

  /**
   * Reports the coordinator as lost if no state has come for `lostAfterMs`. Ends a work if no state has named it as
   * current for `expiryMs`.
   */
  #look(): void {
    if (!this.#listener) return;
    const nowMs = this.#clock.monotonicMs();
    // After a loss was reported, it is not reported again before the next state.
    if (this.isUnresponsive && !(this.outage.aborted && this.#isReportedLost)) {
      this.#outage.abort();
      const { state } = this.#fleet.link;
      const unresponsive = `has sent nothing for ${this.#limits.lostAfterMs / 1000} s`;
      this.lose(state.isConnected ? unresponsive : `this rig is not connected to the fleet: ${state.reason}`);
    }
    const { current } = this.#states;
    for (const known of new Set([this.#given, current])) {
      if (known && nowMs - known.confirmedMs >= this.#limits.expiryMs) this.#expire(known);
    }
  }

  #expire(known: IssuedWork): void {
    this.#states.forget(known);
    if (known !== this.#given) return;
    this.#given = undefined;
    this.#listener?.({ kind: 'stale', works: [known.work], reason: 'expired' });
  }

  /**
   * Ends a node's work at its first solution, so that the miner searches no more nonces of this work while the solution
   * is being delivered. A pool's work goes on.
   */
  #solved(known: IssuedWork): void {
    if (known.work.until !== 'solved' || this.#done.has(known.work)) return;
    this.#done.add(known.work);
    if (known === this.#given) this.#given = undefined;
    if (!known.hasEnded) this.#listener?.({ kind: 'stale', works: [known.work], reason: 'solved' });
  }

  /**
   * Requests the coordinator's state until the current work is known, unless such requests are under way.
   * @param isSure whether to send at least one request, even if the current work is known
   */
  #ask(isSure = false): void {
    this.#asking ??= this.#keepAsking(isSure, this.#stop).finally(() => {
      this.#asking = undefined;
    });
  }

  async #keepAsking(isSure: boolean, stop: AbortSignal): Promise<void> {
    const pauses = new Backoff(this.#limits.helloPauses, this.#random);
    const { link, subjects, rig } = this.#fleet;
    // Thousands of rigs may have missed the same state. They should not all send their requests at the same moment.
    await pause(this.#clock, this.#random() * this.#limits.helloDelayMs, stop);
    for (let isFirst = isSure; !stop.aborted && (isFirst || this.#states.isCurrentUnknown); isFirst = false) {
      const subject = subjects.hello(this.coordinator, rig);
      try {
        const answer = await link.request(subject, messageBytes({}), this.#limits.helloTimeoutMs, stop);
        if (this.take(answer) && !this.#states.isCurrentUnknown) return;
      } catch (fault) {
        // `#look` reports a coordinator that sends nothing. It does not report that the NATS server denies the request.
        if (fault instanceof LinkError && fault.fault === 'denied') {
          this.#note(`cannot be asked for its work: ${fault.message}`);
        }
      }
      await pause(this.#clock, pauses.nextMs(), stop);
    }
  }

  /** Waits for `ms`, but at most until the next connection to a NATS server, or until `stop`. */
  async #untilConnected(ms: number, stop: AbortSignal): Promise<void> {
    const connected = new AbortController();
    const forget = this.#fleet.link.onState(({ isConnected }) => {
      if (isConnected) connected.abort();
    });
    await pause(this.#clock, ms, stop, connected.signal);
    forget();
  }

  #note(what: string): void {
    const leftOut = this.#notes.take(this.#clock.monotonicMs());
    if (leftOut !== undefined) this.#announcements.note('info', what);
  }
}
