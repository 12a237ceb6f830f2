/**
 * Works of other coordinators, from the states that they publish: when a coordinator is out of reach, rigs send the
 * solutions of its works to others. Everything here is only claimed by another member.
 */

import { BoundedMap, TokenBucket } from '../../base/system/bounded.ts';
import type { StaleReason } from '../../miner/events/vocabulary.ts';
import type { Work } from '../../protocol/chain/work.ts';
import { type CoordinatorState, workOfGiven } from '../messages.ts';
import type { CoordinatorLimits } from './coordinator-limits.ts';
import type { SolvableWork } from './own-works.ts';

interface ForeignWork extends SolvableWork {
  /** Token bucket of the issuer, which bounds the submissions of solutions of all its works. */
  readonly elsewhere: TokenBucket;
}

interface PublishedWork extends ForeignWork {
  ended: StaleReason | undefined;
  /** The latest safe creation time (µs since the UNIX epoch) by the last state that named the work as current. */
  claimedUs: bigint;
  /** Time at which that state came (monotonic). */
  claimedMs: number;
}

interface Coordinator {
  readonly states: TokenBucket;
  readonly elsewhere: TokenBucket;
  /** Bounds the requests for the coordinator's current work. */
  readonly hellos: TokenBucket;
  /** By name. */
  readonly works: BoundedMap<string, PublishedWork>;
  instance: string;
  number: number;
  lastStateMs: number;
  /** The height of its newest work; −1 before the first. */
  height: bigint;
  /** Whether the coordinator could take rigs over: its last state has work, and neither a lost source nor a fault. */
  isFit: boolean;
}

export class OtherCoordinators {
  readonly #limits: CoordinatorLimits;
  /** By name. The coordinator whose last state is the oldest comes first. */
  readonly #coordinators = new Map<string, Coordinator>();

  constructor(limits: CoordinatorLimits) {
    this.#limits = limits;
  }

  /** Counts a state of this coordinator. @returns whether the state may be read; false beyond the bounds */
  admits(name: string, nowMs: number): boolean {
    return this.#of(name, nowMs)?.states.take(1, nowMs) === true;
  }

  /**
   * Takes a state that `admits` has let through, unless the state is old.
   * @returns whether to ask for the current work, of which only the name is known here
   */
  take(name: string, state: CoordinatorState, nowMs: number): boolean {
    const coordinator = this.#coordinators.get(name);
    if (!coordinator) return false;
    const { instance, number, work: current, given, ended, latestTimeMicros } = state;
    // If newer states are overdue, a lower number counts, too: a forged state with a huge number must not shut out the
    // coordinator for good.
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

  /** @returns the greatest height of the coordinators that could take rigs over; undefined if there is none */
  heightOfFit(nowMs: number): bigint | undefined {
    let height: bigint | undefined;
    for (const each of this.#coordinators.values()) {
      const isThere = each.isFit && nowMs - each.lastStateMs < this.#limits.coordinatorIdleMs;
      if (isThere && (height === undefined || each.height > height)) height = each.height;
    }
    return height;
  }

  /** @returns the names of coordinators that could take rigs over and whose works are above this height */
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

  /** If there is no room, drops the coordinator with the oldest state, if idle. @returns whether there is room */
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
