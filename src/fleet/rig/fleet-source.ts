/** A WorkSource that gets work from a fleet's coordinators over NATS servers, from one coordinator at a time. */

import { createHash } from 'node:crypto';
import { Backoff } from '../../base/net/backoff.ts';
import { onAbort, pause } from '../../base/system/abort.ts';
import { BoundedMap, LogBucket, TokenBucket } from '../../base/system/bounded.ts';
import { type Clock, watchSuspension } from '../../base/system/clock.ts';
import { Announcements } from '../../miner/source/announcements.ts';
import { BaseSource } from '../../miner/source/complete-source.ts';
import { FailoverSource } from '../../miner/source/failover.ts';
import {
  complete,
  listeningUntil,
  type NamedNetwork,
  type SourceContext,
  type SourceUpdate,
  type UpdateListener,
  type Verdict,
} from '../../miner/source/source.ts';
import type { Solution } from '../../protocol/chain/verify.ts';
import type { Work } from '../../protocol/chain/work.ts';
import type { LinkMessage, LinkState } from '../nats/link.ts';
import { senderOf } from '../subjects.ts';
import { CoordinatorSource } from './coordinator-source.ts';
import { type FleetLimits, fleetLimits, MOST_COORDINATORS } from './rig-limits.ts';
import type { Fleet, FleetMembership } from './solution-delivery.ts';

export interface FleetSourceOptions extends FleetMembership {
  /** The fleet's name for people, such as the URLs of its servers. */
  readonly name: string;
  /** The network to which works must belong. By default, works of any network are mined. */
  readonly network?: NamedNetwork | undefined;
}

/** Capacity and rate of the token bucket for log lines about lost connections: five at once, then one in 10 min. */
const MOST_NOTES = 5;
const NOTES_PER_SECOND = 1 / 600;
/** Capacity and rate of the token bucket for messages of senders that are not known as coordinators. */
const STRANGERS_AT_ONCE = 64;
const STRANGERS_PER_SECOND = 8;
/** A lost coordinator is replaced soon, because the other coordinators usually have work. */
const PATIENCE = { patienceMs: 500, readyPatienceMs: 500 };
/**
 * Time for which less preferred coordinators are still followed after a preferred one gives work again. It is short,
 * because each followed coordinator costs messages.
 */
const STANDBY_MS = 10_000;

export class FleetSource extends BaseSource {
  readonly name: string;
  readonly kind = 'fleet';
  readonly #fleet: Fleet;
  readonly #context: SourceContext<FleetLimits>;
  readonly #clock: Clock;
  readonly #limits: FleetLimits;
  readonly #announcements: Announcements;
  readonly #notes: LogBucket;
  readonly #renewPauses: Backoff;
  /** The coordinators that have sent a state, by name. */
  readonly #coordinators = new Map<string, CoordinatorSource>();
  /** By name of a coordinator: `rankOf`. */
  readonly #ranks = new BoundedMap<string, string>(MOST_COORDINATORS);
  #failover: FailoverSource | undefined;
  #listener: UpdateListener = () => {};
  #isLost = false;
  /** Called when a coordinator is found. `follow` waits for the first call. */
  #firstFound: () => void = () => {};
  #hasIgnored = false;
  /** Limits the rate of messages from senders that are not known as coordinators. */
  readonly #strangers: TokenBucket;
  /** JSON of the coordinators' names in the order that the failover got last; empty before the first change. */
  #order = '';
  /** Time of the last state, or of the last connection to a server if that is later (monotonic); +∞ before both. */
  #lastMessageMs = Number.POSITIVE_INFINITY;
  #isConnected = false;
  /** Time at which the connection was last made or lost (monotonic). */
  #linkSinceMs = Number.NEGATIVE_INFINITY;
  /** Time at which a server was last left for another one (monotonic); −∞ before the first time. */
  #renewedMs = Number.NEGATIVE_INFINITY;
  /** Minimum time from `#renewedMs` until the present server may be left. */
  #renewPauseMs = 0;

  constructor(options: FleetSourceOptions, context: SourceContext<FleetLimits> = {}) {
    super();
    const { clock, random, emit, limits } = complete(context, fleetLimits);
    this.name = options.name;
    this.#fleet = { ...options, responsive: () => this.#responsive() };
    this.#context = context;
    this.#clock = clock;
    this.#limits = limits;
    this.#announcements = new Announcements(this.kind, this.name, emit);
    this.#notes = new LogBucket(MOST_NOTES, clock.monotonicMs(), NOTES_PER_SECOND);
    this.#strangers = new TokenBucket(STRANGERS_AT_ONCE, STRANGERS_PER_SECOND, clock.monotonicMs());
    this.#renewPauses = new Backoff(limits.renewPauses, random);
  }

  async follow(listener: UpdateListener, stop: AbortSignal): Promise<void> {
    this.#listener = listeningUntil(stop, listener);
    const { link, subjects } = this.#fleet;
    this.#announcements.started();
    this.#linkChanged(link.state);
    const beganMs = this.#clock.monotonicMs();
    const looking = this.#clock.setInterval(
      () => this.#clock.setImmediate(() => this.#look(beganMs)),
      this.#limits.lookMs,
    );
    const firstFound = new Promise<void>((resolve) => {
      this.#firstFound = resolve;
      onAbort(stop, resolve);
    });
    // Until a coordinator is chosen, the works of all coordinators are received. After that, each CoordinatorSource
    // that is followed subscribes to its own coordinator's works.
    const endOfWorks = link.subscribe(subjects.allWork, (message) => this.#take(message));
    const endings = [
      endOfWorks,
      link.subscribe(subjects.allBeats, (message) => this.#take(message)),
      link.onState((state) => this.#linkChanged(state)),
      watchSuspension(this.#clock, (ms) => this.#resumed(ms)),
      () => looking.cancel(),
    ];
    try {
      await firstFound;
      await pause(this.#clock, this.#limits.gatherMs, stop);
      if (stop.aborted) return;
      const { clock, emit } = this.#context;
      const sources = this.#ranked();
      this.#failover = new FailoverSource({
        sources,
        ...PATIENCE,
        standbyMs: STANDBY_MS,
        ...(clock && { clock }),
        ...(emit && { emit }),
      });
      const following = this.#failover.follow((update) => this.#passOn(update), stop);
      endOfWorks();
      await following;
    } finally {
      for (const end of endings) end();
    }
  }

  async submit(solution: Solution, stop: AbortSignal): Promise<Verdict> {
    const issuer = [...this.#coordinators.values()].find((each) => each.hasIssued(solution.work));
    if (!issuer) return { outcome: 'unknown', reason: 'no coordinator gave this work' };
    return { by: issuer.name, ...(await issuer.submit(solution, stop)) };
  }

  latestTimeUs(work: Work): bigint {
    return this.#failover?.latestTimeUs(work) ?? 0n;
  }

  override nameOf(work: Work): string {
    return this.#failover?.nameOf(work) ?? this.name;
  }

  #take({ subject, data }: LinkMessage): void {
    const name = senderOf(subject);
    if (name === undefined) return;
    const known = this.#coordinators.get(name);
    const coordinator = known ?? this.#newCoordinator(name);
    // A sender counts as a coordinator only after a valid state.
    if (!coordinator?.take(data)) return;
    this.#lastMessageMs = this.#clock.monotonicMs();
    this.#renewPauses.reset();
    this.#renewPauseMs = this.#limits.renewPauses.firstMs / 2;
    if (known) return;
    this.#coordinators.set(name, coordinator);
    this.#firstFound();
    this.#reorder();
  }

  #newCoordinator(name: string): CoordinatorSource | undefined {
    if (!this.#strangers.take(1, this.#clock.monotonicMs())) return undefined;
    if (this.#coordinators.size < MOST_COORDINATORS) return new CoordinatorSource(this.#fleet, name, this.#context);
    if (!this.#hasIgnored) {
      this.#hasIgnored = true;
      this.#announcements.note('info', `has more than ${MOST_COORDINATORS} coordinators: further ones are not used`);
    }
    return undefined;
  }

  /**
   * @returns the coordinators in this rig's order of preference. Each rig has an order of its own, so that the rigs
   *   spread evenly over the coordinators. Coordinators that have sent no state for twice `lostAfterMs` come last, so
   *   that a failover does not try them first
   */
  #ranked(): CoordinatorSource[] {
    const goneSinceMs = this.#clock.monotonicMs() - 2 * this.#limits.lostAfterMs;
    const all = Array.from(this.#coordinators.values(), (source) => {
      const isThere = source.lastStateMs > goneSinceMs ? 1 : 0;
      return { source, key: `${isThere} ${this.#rankOf(source.coordinator)}` };
    });
    return all.sort((a, b) => (a.key < b.key ? 1 : -1)).map(({ source }) => source);
  }

  #rankOf(coordinator: string): string {
    const rank = this.#ranks.get(coordinator) ?? rankOf(this.#fleet.rig, coordinator);
    this.#ranks.set(coordinator, rank);
    return rank;
  }

  /**
   * @returns the names of the responsive coordinators in this rig's order of preference, but coordinators whose own
   *   source is out of reach come last
   */
  #responsive(): string[] {
    const responsive = this.#ranked().filter(({ isUnresponsive }) => !isUnresponsive);
    const [without, others] = [true, false].map((is) => responsive.filter((each) => each.isWithoutSource === is));
    return [...others, ...without].map(({ coordinator }) => coordinator);
  }

  #reorder(): void {
    const sources = this.#ranked();
    const order = JSON.stringify(sources.map(({ coordinator }) => coordinator));
    if (!this.#failover || order === this.#order) return;
    this.#order = order;
    this.#failover.change(sources);
  }

  #passOn(update: SourceUpdate): void {
    if (update.kind === 'lost') {
      this.#lose(this.#reasonOf(update.reason));
      return;
    }
    if (update.kind === 'work') {
      this.#isLost = false;
      this.#announcements.reached('a coordinator of the fleet gives work');
    }
    this.#listener(update);
  }

  /** @param reason why one of the coordinators is lost @returns why the fleet gives no work */
  #reasonOf(reason: string): string {
    const { state } = this.#fleet.link;
    if (!state.isConnected) return state.reason;
    return this.#coordinators.size === 1 ? `its only coordinator is lost: ${reason}` : 'all its coordinators are lost';
  }

  #lose(reason: string): void {
    this.#announcements.lost(reason);
    if (!this.#isLost) this.#listener({ kind: 'lost', reason });
    this.#isLost = true;
  }

  #linkChanged(state: LinkState): void {
    const wasConnected = this.#isConnected;
    this.#isConnected = state.isConnected;
    if (wasConnected !== state.isConnected) this.#linkSinceMs = this.#clock.monotonicMs();
    if (state.isConnected) this.#lastMessageMs = this.#clock.monotonicMs();
    else if (wasConnected && this.#notes.take(this.#clock.monotonicMs()) !== undefined) {
      this.#announcements.note('info', `the connection has ended, and another one is being made: ${state.reason}`);
    }
  }

  /** @param beganMs time at which this source was started (monotonic) */
  #look(beganMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    const isOverdue = this.#coordinators.size === 0 ? nowMs - beganMs >= this.#limits.noneFoundMs : this.#isLost;
    if (isOverdue) this.#reportNone(nowMs);
    this.#leaveIdleServer(nowMs);
    this.#dropUnresponsive(nowMs);
    // Without a connection, one coordinator after the other becomes unresponsive. This must not change the order.
    if (this.#isConnected) this.#reorder();
  }

  /**
   * Reports the fleet as lost if no coordinator is responsive, and if the connection was neither made nor lost within
   * the last `lostAfterMs`. If there is a connection, the report includes what to check.
   */
  #reportNone(nowMs: number): void {
    const isAnyResponsive = [...this.#coordinators.values()].some(({ isUnresponsive }) => !isUnresponsive);
    if (isAnyResponsive || nowMs - this.#linkSinceMs < this.#limits.lostAfterMs) return;
    const { state } = this.#fleet.link;
    const hint = 'is pickaxe coordinate running, with the same --nats-subject?';
    this.#lose(
      state.isConnected ? `connected to ${state.server}, but no coordinator sends messages: ${hint}` : state.reason,
    );
  }

  /**
   * Leaves a server for another one if no state has come for `idleServerMs`. The server may have lost its connections
   * to the other servers of the cluster.
   */
  #leaveIdleServer(nowMs: number): void {
    const isIdle = this.#isConnected && nowMs - this.#lastMessageMs >= this.#limits.idleServerMs;
    if (!isIdle || nowMs < this.#renewedMs + this.#renewPauseMs) return;
    this.#renewedMs = nowMs;
    this.#renewPauseMs = this.#renewPauses.nextMs();
    this.#fleet.link.renew();
  }

  #dropUnresponsive(nowMs: number): void {
    const isGone = ({ lastStateMs }: CoordinatorSource) => nowMs - lastStateMs >= this.#limits.forgetMs;
    const gone = [...this.#coordinators].filter(([, coordinator]) => isGone(coordinator));
    // If all coordinators are gone, they are kept, because they may return.
    if (gone.length === this.#coordinators.size) return;
    for (const [name] of gone) this.#coordinators.delete(name);
  }

  #resumed(ms: number): void {
    const seconds = Math.round(ms / 1000);
    this.#announcements.note('info', `this machine or process was suspended for ${seconds} s: asking for new work`);
    for (const coordinator of this.#coordinators.values()) coordinator.resumed(ms);
  }
}

/**
 * Rendezvous hashing: when a coordinator is lost, its rigs spread over all other coordinators, and all other rigs keep
 * their coordinators.
 * @returns a hash as hex digits. A rig prefers the coordinator with the greatest hash
 */
function rankOf(rig: string, coordinator: string): string {
  return createHash('sha256')
    .update(JSON.stringify([rig, coordinator]))
    .digest('hex');
}
