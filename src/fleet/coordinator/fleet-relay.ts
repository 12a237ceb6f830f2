/**
 * A coordinator is a relay that publishes the source's work to a fleet's rigs over NATS, and takes their solutions.
 * Without a connection, no message is kept for later: after each reconnection, the coordinator publishes its whole
 * state again, and rigs repeat unanswered requests.
 */

import { onAbort, sharedController } from '../../base/system/abort.ts';
import { LogBucket } from '../../base/system/bounded.ts';
import type { Clock, Timer } from '../../base/system/clock.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import type { Listener } from '../../miner/events/events.ts';
import { type Relay, RelayedWorks, type RelayLog } from '../../miner/relay/relay.ts';
import type { SourceUpdate, WorkSource } from '../../miner/source/source.ts';
import { difficultyOf } from '../../protocol/chain/target.ts';
import type { Work } from '../../protocol/chain/work.ts';
import { CoordinatorState, readMessage } from '../messages.ts';
import { type Link, type LinkMessage, type LinkState, untilConnected } from '../nats/link.ts';
import { answerRequests, ask, publish } from '../nats/requests.ts';
import { FALLBACK_QUEUE, type FleetSubjects, senderOf } from '../subjects.ts';
import { type CoordinatorLimits, coordinatorLimits } from './coordinator-limits.ts';
import { Lag } from './lag.ts';
import { Namesakes } from './namesakes.ts';
import { OtherCoordinators } from './other-coordinators.ts';
import { OwnWorks } from './own-works.ts';
import { RigRequests } from './rig-requests.ts';
import { Solutions, type SubmitElsewhere } from './solutions.ts';

const NAME = 'fleet';
/** Capacity of the token bucket for log lines about the connection. */
const LINES_LOGGED = 10;
const STOPPING = 'this coordinator is stopping';

/**
 * @returns the header of the block on which a work builds: 286 bytes; undefined if no node returns it. Never throws.
 */
export type ParentOf = (work: Work, stop: AbortSignal) => Promise<Uint8Array | undefined>;

export interface FleetRelayOptions {
  readonly source: WorkSource;
  readonly emit: Listener;
  readonly clock: Clock;
  readonly log: RelayLog;
  /** The relay neither opens nor closes the link. */
  readonly link: Link;
  readonly subjects: FleetSubjects;
  /** The coordinator's name. */
  readonly name: string;
  /** 16 random hex digits, which distinguish this process from others of the same name. */
  readonly instance: string;
  /** Absent if there is no node to submit to. Then the coordinator submits only solutions of its own works. */
  readonly submitElsewhere?: SubmitElsewhere | undefined;
  /** @returns why the source's work is probably worth nothing; undefined while the source is healthy */
  readonly faultOfSource?: () => string | undefined;
  /** Requests the header of a work's parent from nodes. Absent if there is no node to ask. */
  readonly parentOf?: ParentOf | undefined;
  readonly limits?: Partial<CoordinatorLimits>;
}

export class FleetRelay implements Relay {
  readonly name = NAME;
  readonly #options: FleetRelayOptions;
  readonly #limits: CoordinatorLimits;
  readonly #works: RelayedWorks;
  readonly #own: OwnWorks;
  readonly #others: OtherCoordinators;
  readonly #solutions: Solutions;
  readonly #requests: RigRequests;
  readonly #connectionLines: LogBucket;
  readonly #lag: Lag;
  readonly #namesakes: Namesakes;
  /**
   * For each work, the last request to a node for the header of the work's parent, and the time of the request
   * (monotonic). It is kept so that many requests from other members cause few requests to nodes.
   */
  readonly #parents = new WeakMap<Work, { readonly atMs: number; readonly header: Promise<Uint8Array | undefined> }>();
  readonly #ends: (() => void)[] = [];
  #stop: AbortSignal = AbortSignal.abort();
  /** Timer of the state about the end of a work; undefined while no such state is held back (see `endDelayMs`). */
  #ending: Timer | undefined;

  constructor(options: FleetRelayOptions) {
    this.#options = options;
    const { source, emit, clock, log, link, subjects, name, instance, submitElsewhere } = options;
    const limits = { ...coordinatorLimits, ...options.limits };
    const nowMs = clock.monotonicMs();
    const works = new RelayedWorks({
      name: NAME,
      source,
      emit,
      clock,
      changed: (work, update) => this.#changed(work, update),
      updated: (update) => {
        if (this.#note(update)) this.#publish(false);
      },
    });
    const own = new OwnWorks({ instance, source, clock, most: limits.works, endedMs: limits.endedMs });
    const others = new OtherCoordinators(limits);
    const parts = { name, relay: NAME, source: source.name, works, own, others, submitElsewhere };
    const solutions = new Solutions({ ...parts, emit, clock, limits });
    const difficulty = () => (works.current ? difficultyOf(works.current.target) : 0);
    const state = () => own.state(true, this.#fault());
    const parent = () => this.#parent();
    this.#requests = new RigRequests({ name, solutions, state, parent, difficulty, subjects, clock, log, limits });
    this.#lag = new Lag({ name, own, others, link, subjects, clock, limits });
    this.#limits = limits;
    this.#works = works;
    this.#own = own;
    this.#others = others;
    this.#solutions = solutions;
    this.#connectionLines = new LogBucket(LINES_LOGGED, nowMs);
    this.#namesakes = new Namesakes({ name, instance, own, link, subjects, clock, log, limits });
  }

  /** @throws RelayRefusal if another coordinator of this name answers */
  async open(): Promise<void> {
    const { link, name, subjects, submitElsewhere } = this.#options;
    // If there is no connection after `connectMs`, the relay opens all the same, and the link keeps trying to connect.
    await untilConnected(this.#options.clock, link, this.#limits.connectMs, new AbortController().signal);
    await this.#namesakes.refuse();
    const requests = this.#requests;
    const solution = (request: LinkMessage) => requests.solution(request, this.#stop);
    this.#ends.push(
      link.subscribe(subjects.allWork, (message) => this.#onState(message)),
      link.subscribe(subjects.allBeats, (message) => this.#onState(message)),
      answerRequests(link, subjects.hellosTo(name), (request) => requests.hello(request)),
      answerRequests(link, subjects.solutionsTo(name), solution),
      link.subscribe(subjects.reports, (message) => requests.report(message)),
      link.onState((state) => this.#linkChanged(state)),
    );
    // A coordinator without nodes does not join the queue group, because it could only refuse the group's requests.
    if (submitElsewhere) this.#ends.push(answerRequests(link, subjects.fallbacks, solution, FALLBACK_QUEUE));
    this.#linkChanged(link.state);
  }

  /** @throws RelayRefusal if an earlier coordinator has the same name; or what the source has thrown */
  async run(asked: AbortSignal): Promise<void> {
    const { refusal } = this.#namesakes;
    const ending = sharedController();
    const stop = ending.signal;
    const releases = [asked, refusal].map((signal) => onAbort(signal, () => ending.abort()));
    this.#stop = stop;
    const beat = this.#options.clock.setInterval(() => this.#publish(false), this.#limits.beatMs);
    const report = this.#options.clock.setInterval(
      () => this.#requests.emitStatus(NAME, this.#options.emit),
      this.#limits.reportMs,
    );
    // The last state reports that this coordinator is stopping, so that rigs leave at once. Solutions that the rigs
    // have sent are still answered.
    const releaseBeat = onAbort(stop, () => {
      beat.cancel();
      // The name now belongs to the other coordinator, so nothing more is published or received. Submissions that have
      // begun are still completed.
      if (refusal.aborted) {
        for (const end of this.#ends.splice(0)) end();
        return;
      }
      this.#own.lose(STOPPING);
      this.#publish(false);
    });
    try {
      await this.#works.follow(stop);
      await this.#solutions.settled();
      // Callbacks of the promises that have just settled send the last answers. They run before this wait ends.
      await new Promise<void>((resolve) => this.#options.clock.setImmediate(resolve));
    } finally {
      for (const release of [...releases, releaseBeat]) release();
      beat.cancel();
      report.cancel();
      this.#ending?.cancel();
      for (const end of this.#ends.splice(0)) end();
      this.#requests.emitStatus(NAME, this.#options.emit);
      this.#requests.refusals.close();
    }
    if (refusal.aborted) throw refusal.reason;
  }

  /* The connection */

  #linkChanged(state: LinkState): void {
    const { log, name, subjects, clock } = this.#options;
    if (state.isConnected) {
      this.#namesakes.connected();
      this.#publish(true);
    }
    const unlogged = this.#connectionLines.take(clock.monotonicMs());
    if (unlogged === undefined) return;
    const others = unlogged === 0 ? '' : ` (${unlogged} lines about the connection were left out)`;
    if (state.isConnected) log.info(`publishes work as ${subjects.work(name)} at ${state.server}${others}`);
    else log.warn(`reaches no rigs: ${state.reason}${others}`);
  }

  /* The states */

  #changed(work: Work | undefined, update: SourceUpdate): void {
    const isNoted = this.#note(update);
    if (!this.#own.change(work) && !isNoted) return;
    if (work) this.#publish(true);
    else this.#ending ??= this.#options.clock.setTimeout(() => this.#publish(false), this.#limits.endDelayMs);
  }

  /** @returns whether the next state will differ from the last one because of this update */
  #note(update: SourceUpdate): boolean {
    if (update.kind === 'stale') return this.#own.end(update.works, update.reason);
    if (update.kind === 'rest') return false;
    return this.#own.lose(update.kind === 'lost' ? update.reason : null);
  }

  #publish(isWhole: boolean): void {
    this.#ending?.cancel();
    this.#ending = undefined;
    const { link, subjects, name } = this.#options;
    const subject = isWhole ? subjects.work(name) : subjects.beat(name);
    if (link.state.isConnected) publish(link, subject, this.#own.state(isWhole, this.#fault()));
  }

  /**
   * Another coordinator's height is only a claim. Without a proof (see `Lag`), the claim counts only if the greatest
   * height of this coordinator's works has not grown for `standstillMs`.
   * @returns why rigs should mine for another coordinator; undefined if they need not, or if no other coordinator could
   *   take over
   */
  #fault(): string | undefined {
    const { clock, faultOfSource } = this.#options;
    const others = this.#others.heightOfFit(clock.monotonicMs());
    if (others === undefined) return undefined;
    const growth = this.#own.growth();
    const { standstillMs, blocksBehind } = this.#limits;
    if (growth && growth.sinceMs >= standstillMs && others - growth.height >= BigInt(blocksBehind)) {
      const seconds = Math.floor(growth.sinceMs / 1000);
      return `its source stands still: no new block for ${seconds} s, and other coordinators have newer ones`;
    }
    const { blocks } = this.#lag;
    if (blocks !== undefined) return `its source is ${blocks} blocks behind another coordinator’s, which has shown one`;
    return faultOfSource?.();
  }

  /** Takes a state of any coordinator, possibly of this one. */
  #onState({ subject, data }: LinkMessage): void {
    const nowMs = this.#options.clock.monotonicMs();
    const { refusals } = this.#requests;
    const sender = senderOf(subject);
    if (sender === undefined) {
      refusals.note('wrong-name', undefined);
    } else if (sender === this.#options.name) {
      // The server sends this coordinator's own states back to it, so no token bucket limits states of this name.
      const state = readMessage(CoordinatorState, data);
      if (state) this.#namesakes.onState(state);
    } else if (!this.#others.admits(sender, nowMs)) {
      refusals.note('flood', oneLine(sender));
    } else {
      const state = readMessage(CoordinatorState, data);
      if (!state) refusals.note('wrong-message', oneLine(sender));
      else if (this.#others.take(sender, state, nowMs)) void this.#ask(sender);
      void this.#lag.look(this.#stop);
    }
  }

  async #parent(): Promise<Uint8Array | undefined> {
    const { current } = this.#own;
    const { parentOf, clock } = this.#options;
    if (!current || !parentOf) return undefined;
    const nowMs = clock.monotonicMs();
    const known = this.#parents.get(current);
    if (known && (nowMs - known.atMs < this.#limits.askParentMs || (await known.header))) return await known.header;
    const header = parentOf(current, this.#stop).catch(() => undefined);
    this.#parents.set(current, { atMs: nowMs, header });
    return await header;
  }

  /**
   * Asks another coordinator for its current work. If there is no answer, one of its later states causes a new request.
   */
  async #ask(coordinator: string): Promise<void> {
    const { link, subjects, name, clock } = this.#options;
    try {
      const subject = subjects.hello(coordinator, name);
      const state = await ask(link, subject, {}, CoordinatorState, this.#limits.helloMs, this.#stop);
      if (state) this.#others.take(coordinator, state, clock.monotonicMs());
    } catch {
      // There was no answer, or this coordinator is stopping.
    }
  }
}
