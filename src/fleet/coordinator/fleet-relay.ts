/**
 * A coordinator is a relay that publishes the source's work to a fleet's rigs over NATS, and takes their solutions.
 * No message waits for a connection: after each reconnection the whole state is published again, and rigs repeat
 * requests that were not answered.
 */

import { onAbort, sharedController } from '../../base/system/abort.ts';
import { LogBucket } from '../../base/system/bounded.ts';
import type { Clock } from '../../base/system/clock.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import type { Listener } from '../../miner/events/events.ts';
import { type Relay, RelayedWorks, type RelayLog } from '../../miner/relay/relay.ts';
import type { SourceUpdate, WorkSource } from '../../miner/source/source.ts';
import { difficultyOf } from '../../protocol/chain/target.ts';
import type { Work } from '../../protocol/chain/work.ts';
import { CoordinatorState, FALLBACK_QUEUE, type FleetSubjects, readMessage, senderOf } from '../messages.ts';
import { type Link, type LinkMessage, type LinkState, untilConnected } from '../nats/link.ts';
import { answerRequests, ask, publish } from '../nats/requests.ts';
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

/** @returns the header of the block on which a work builds, 286 bytes; undefined if no node gives it. Never throws. */
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
  /** 16 hex digits, chosen at random. */
  readonly instance: string;
  /** Absent without a node to submit to: then only solutions of own works are taken. */
  readonly submitElsewhere?: SubmitElsewhere | undefined;
  /** @returns why the source's work is probably worth nothing; undefined while nothing speaks against it */
  readonly faultOfSource?: () => string | undefined;
  /** Absent if there is no node to ask for blocks. */
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
  /** The request to a node for the parent of each work, and its time (monotonic): any rig can ask for parents. */
  readonly #parents = new WeakMap<Work, { readonly atMs: number; readonly header: Promise<Uint8Array | undefined> }>();
  readonly #ends: (() => void)[] = [];
  #stop: AbortSignal = AbortSignal.abort();
  /** Set while the end of a work waits for the next work. */
  #ending: NodeJS.Timeout | undefined;

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
    // Without a connection in this time, the relay opens all the same, and the link keeps trying to connect.
    await untilConnected(link, this.#limits.connectMs, new AbortController().signal);
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
    // A coordinator without nodes could only refuse the requests of the queue group, which others could fulfil.
    if (submitElsewhere) this.#ends.push(answerRequests(link, subjects.fallbacks, solution, FALLBACK_QUEUE));
    this.#linkChanged(link.state);
  }

  /** @throws RelayRefusal if another coordinator of this name has started at about the same time, and goes on */
  async run(asked: AbortSignal): Promise<void> {
    const { refusal } = this.#namesakes;
    const ending = sharedController();
    const stop = ending.signal;
    const releases = [asked, refusal].map((signal) => onAbort(signal, () => ending.abort()));
    this.#stop = stop;
    const beat = setInterval(() => this.#publish(false), this.#limits.beatMs);
    const report = setInterval(() => this.#requests.emitStatus(NAME, this.#options.emit), this.#limits.reportMs);
    // The last state makes rigs leave at once. Solutions that they have sent are still answered.
    const releaseBeat = onAbort(stop, () => {
      clearInterval(beat);
      // The name now belongs to the other coordinator, so nothing is published. Earlier solutions are still submitted.
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
      // The last answers are sent in callbacks of the promises that have settled now.
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      for (const release of [...releases, releaseBeat]) release();
      clearInterval(beat);
      clearInterval(report);
      clearTimeout(this.#ending);
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
    else this.#ending ??= setTimeout(() => this.#publish(false), this.#limits.endDelayMs);
  }

  /** @returns whether the update changes what was published */
  #note(update: SourceUpdate): boolean {
    if (update.kind === 'stale') return this.#own.end(update.works, update.reason);
    if (update.kind === 'rest') return false;
    return this.#own.lose(update.kind === 'lost' ? update.reason : null);
  }

  #publish(isWhole: boolean): void {
    clearTimeout(this.#ending);
    this.#ending = undefined;
    const { link, subjects, name } = this.#options;
    const subject = isWhole ? subjects.work(name) : subjects.beat(name);
    if (link.state.isConnected) publish(link, subject, this.#own.state(isWhole, this.#fault()));
  }

  /**
   * The height of another coordinator is only a claim, so it counts only if the own height has stopped growing.
   * @returns why rigs should mine for another coordinator; undefined if they should not, or if no other could take over
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

  /** Takes a coordinator's state, which may be this coordinator's own. */
  #onState({ subject, data }: LinkMessage): void {
    const nowMs = this.#options.clock.monotonicMs();
    const { refusals } = this.#requests;
    const sender = senderOf(subject);
    if (sender === undefined) {
      refusals.note('wrong-name', undefined);
    } else if (sender === this.#options.name) {
      // The own states come back from the server, so their number needs no bound.
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

  /** Asks another coordinator for its current work. Without an answer, a later state causes a new request. */
  async #ask(coordinator: string): Promise<void> {
    const { link, subjects, name, clock } = this.#options;
    try {
      const subject = subjects.hello(coordinator, name);
      const state = await ask(link, subject, {}, CoordinatorState, this.#limits.helloMs, this.#stop);
      if (state) this.#others.take(coordinator, state, clock.monotonicMs());
    } catch {
      // The other coordinator gives no answer, or this one stops.
    }
  }
}
