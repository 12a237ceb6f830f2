/**
 * The works of other coordinators, from the states that they publish. When the issuer of a work gives no verdict, rigs
 * send their solutions of this work to other coordinators. The data of the states are only claims: nothing proves them.
 */

import { BoundedMap, TokenBucket } from '../../base/system/bounded.ts';
import type { StaleReason } from '../../miner/events/vocabulary.ts';
import type { Work } from '../../protocol/chain/work.ts';
import { type CoordinatorState, workOfGiven } from '../messages.ts';
import type { CoordinatorLimits } from './coordinator-limits.ts';
import type { SolvableWork } from './own-works.ts';

interface ForeignWork extends SolvableWork {
  /** The issuer's token bucket. It bounds how many solutions of this issuer's works are submitted. */
  readonly elsewhere: TokenBucket;
}

interface PublishedWork extends ForeignWork {
  ended: StaleReason | undefined;
  /** The latest valid creation time in the last state that named the work as current, in µs since the UNIX epoch. */
  claimedUs: bigint;
  /** Time of the last state that named the work as current (monotonic). */
  claimedMs: number;
}

interface Coordinator {
  readonly states: TokenBucket;
  readonly elsewhere: TokenBucket;
  /** Bounds the requests for the coordinator's current work. */
  readonly hellos: TokenBucket;
  /** The coordinator's last works, by their names. */
  readonly works: BoundedMap<string, PublishedWork>;
  instance: string;
  number: number;
  lastStateMs: number;
  /** The height of the last known work that a state named as current; −1 before the first. */
  height: bigint;
  /**
   * Whether the coordinator could take over rigs: its last state names a current work, and reports neither a lost
   * source nor a fault.
   */
  isFit: boolean;
}

export class OtherCoordinators {
  readonly #limits: CoordinatorLimits;
  /** The other coordinators, by their names. The coordinator whose last state is the oldest comes first. */
  readonly #coordinators = new Map<string, Coordinator>();

  constructor(limits: CoordinatorLimits) {
    this.#limits = limits;
  }

  /**
   * Takes a token from the coordinator's bucket for states.
   * @returns whether the state may be read: false if the bucket is empty, or if there are too many coordinators
   */
  admits(name: string, nowMs: number): boolean {
    return this.#of(name, nowMs)?.states.take(1, nowMs) === true;
  }

  /**
   * Processes a state for which `admits` has returned true. Ignores a state that is not newer than the last one of the
   * same run, unless the last one came at least `coordinatorIdleMs` ago.
   * @returns whether the caller should request the current work from the coordinator. It should if only the name of the
   *   work is known, the state does not list the work as ended, and the token bucket for such requests is not empty
   */
  take(name: string, state: CoordinatorState, nowMs: number): boolean {
    const coordinator = this.#coordinators.get(name);
    if (!coordinator) return false;
    const { instance, number, work: current, given, ended, latestTimeMicros } = state;
    // If no state has come for `coordinatorIdleMs`, a state with a lower number is taken, too. Otherwise, one forged
    // state with a huge number would shut out the coordinator for good.
    const isOverdue = nowMs - coordinator.lastStateMs >= this.#limits.coordinatorIdleMs;
    if (instance === coordinator.instance && number <= coordinator.number && !isOverdue) return false;
    coordinator.instance = instance;
    coordinator.number = number;
    coordinator.lastStateMs = nowMs;
    coordinator.isFit = state.lost === null && state.fault === undefined && current !== null;
    this.#coordinators.delete(name);
    this.#coordinators.set(name, coordinator);
    if (given && !coordinator.works.has(given.name)) {
      coordinator.works.set(given.name, publishedWork(coordinator, workOfGiven(given)));
    }
    const named = current === null ? undefined : coordinator.works.get(current);
    if (named) {
      coordinator.height = named.work.height;
      named.claimedUs = BigInt(latestTimeMicros);
      named.claimedMs = nowMs;
    }
    for (const { name: work, reason } of ended) {
      const known = coordinator.works.get(work);
      if (known) known.ended ??= reason;
    }
    const isUnknown = current !== null && !named && ended.every(({ name }) => name !== current);
    return isUnknown && coordinator.hellos.take(1, nowMs);
  }

  /** @returns the greatest height of the coordinators that could take over rigs; undefined if there are none */
  heightOfFit(nowMs: number): bigint | undefined {
    let height: bigint | undefined;
    for (const each of this.#coordinators.values()) {
      const isThere = each.isFit && nowMs - each.lastStateMs < this.#limits.coordinatorIdleMs;
      if (isThere && (height === undefined || each.height > height)) height = each.height;
    }
    return height;
  }

  /** @returns the names of the coordinators that could take over rigs, and whose current works are above this height */
  fitAbove(height: bigint, nowMs: number): string[] {
    const { coordinatorIdleMs } = this.#limits;
    return [...this.#coordinators].flatMap(([name, each]) => {
      return each.isFit && nowMs - each.lastStateMs < coordinatorIdleMs && each.height > height ? [name] : [];
    });
  }

  find(coordinator: string, work: string): ForeignWork | undefined {
    return this.#coordinators.get(coordinator)?.works.get(work);
  }

  #of(name: string, nowMs: number): Coordinator | undefined {
    const known = this.#coordinators.get(name);
    if (known || !this.#makeRoom(nowMs)) return known;
    const { stateBurst, statesPerSecond, elsewhereBurst, elsewherePerSecond, worksOfEach } = this.#limits;
    const { helloBurst, hellosPerSecond } = this.#limits;
    const coordinator: Coordinator = {
      states: new TokenBucket(stateBurst, statesPerSecond, nowMs),
      elsewhere: new TokenBucket(elsewhereBurst, elsewherePerSecond, nowMs),
      hellos: new TokenBucket(helloBurst, hellosPerSecond, nowMs),
      works: new BoundedMap(worksOfEach),
      instance: '',
      number: -1,
      lastStateMs: nowMs,
      height: -1n,
      isFit: false,
    };
    this.#coordinators.set(name, coordinator);
    return coordinator;
  }

  /**
   * If there is no room for another coordinator, drops the one whose last state is the oldest, but only if this state
   * is at least `coordinatorIdleMs` old.
   * @returns whether there is room now
   */
  #makeRoom(nowMs: number): boolean {
    if (this.#coordinators.size < this.#limits.coordinators) return true;
    const [[name, { lastStateMs }]] = this.#coordinators;
    if (nowMs - lastStateMs < this.#limits.coordinatorIdleMs) return false;
    this.#coordinators.delete(name);
    return true;
  }
}

function publishedWork({ elsewhere }: Coordinator, work: Work): PublishedWork {
  return {
    work,
    ended: undefined,
    elsewhere,
    claimedUs: 0n,
    claimedMs: 0,
    latestTimeUs(nowMs) {
      return this.claimedUs + BigInt(Math.round(1_000 * (nowMs - this.claimedMs)));
    },
  };
}
