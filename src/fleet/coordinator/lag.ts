/**
 * Notices that the own source lags behind another coordinator's. The heights of another coordinator are only claims, so
 * the other coordinator is asked for the header of a block. A recent block at least half as hard to find as one of the
 * own work, and high enough, proves the lag.
 */

import { BoundedSet } from '../../base/system/bounded.ts';
import type { Clock } from '../../base/system/clock.ts';
import { fromHex } from '../../protocol/chain/bytes.ts';
import { prepareJob } from '../../protocol/chain/job.ts';
import { difficultyOf } from '../../protocol/chain/target.ts';
import { verify } from '../../protocol/chain/verify.ts';
import { creationTimeOf, networkNumberOf, nonceOf, type Work, workOfHeader } from '../../protocol/chain/work.ts';
import { CoordinatorState, type FleetSubjects, type HelloRequest } from '../messages.ts';
import type { Link } from '../nats/link.ts';
import { ask } from '../nats/requests.ts';
import type { CoordinatorLimits } from './coordinator-limits.ts';
import type { OtherCoordinators } from './other-coordinators.ts';
import type { OwnWorks } from './own-works.ts';

/** Greatest ratio of the own work's difficulty to the shown block's: difficulties of chains, and of blocks, differ. */
const MOST_EASIER = 2;
/** Maximum time by which a shown block's creation time may be ahead of the own node's clock, in µs. */
const MOST_AHEAD_US = 10_000_000n;
/** Maximum number of remembered blocks, each of which counts once. A real network has fewer within `provenAgeMs`. */
const MOST_SHOWN = 1_024;

interface LagOptions {
  /** The coordinator's own name. */
  readonly name: string;
  readonly own: Pick<OwnWorks, 'last' | 'latestTimeUs' | 'growth'>;
  readonly others: Pick<OtherCoordinators, 'fitAbove'>;
  readonly link: Pick<Link, 'request'>;
  readonly subjects: FleetSubjects;
  readonly clock: Clock;
  readonly limits: CoordinatorLimits;
}

export class Lag {
  readonly #options: LagOptions;
  /** The height of the last proven block, and the time until which the proof counts (monotonic). */
  #proven = { height: -1n, untilMs: 0 };
  /** The headers that have counted as a proof, in hex. */
  readonly #shown = new BoundedSet<string>(MOST_SHOWN);
  #askedMs = Number.NEGATIVE_INFINITY;

  constructor(options: LagOptions) {
    this.#options = options;
  }

  /** By how many blocks the own source is behind a proven one; undefined without a proof, or below `blocksBehind`. */
  get blocks(): bigint | undefined {
    const { own, clock, limits } = this.#options;
    const growth = own.growth();
    if (!growth || clock.monotonicMs() >= this.#proven.untilMs) return undefined;
    const behind = this.#proven.height + 1n - growth.height;
    return behind >= BigInt(limits.blocksBehind) ? behind : undefined;
  }

  /** Asks coordinators that claim newer blocks for a proof, if a request is due. Never throws. */
  async look(stop: AbortSignal): Promise<void> {
    const { own, others, clock, limits } = this.#options;
    if (stop.aborted) return;
    const nowMs = clock.monotonicMs();
    const growth = own.growth();
    const isProven = this.blocks !== undefined && this.#proven.untilMs - nowMs > limits.provenMs / 2;
    if (!growth || isProven || nowMs - this.#askedMs < limits.askParentMs) return;
    const claiming = others.fitAbove(growth.height + BigInt(limits.blocksBehind) - 1n, nowMs);
    if (claiming.length === 0) return;
    this.#askedMs = nowMs;
    await Promise.all(claiming.map((each) => this.#ask(each, stop)));
  }

  async #ask(coordinator: string, stop: AbortSignal): Promise<void> {
    const { link, subjects, name, own, clock, limits } = this.#options;
    const request: HelloRequest = { parent: true };
    let state: CoordinatorState | undefined;
    try {
      const subject = subjects.hello(coordinator, name);
      state = await ask(link, subject, request, CoordinatorState, limits.parentMs, stop);
    } catch {
      return; // The other coordinator gives no answer, or this one stops.
    }
    const parent = state?.parent;
    if (parent === undefined || this.#shown.has(parent)) return;
    const height = this.#heightProvenBy(fromHex(parent));
    const growth = own.growth();
    // Anybody can show a block that is less than `blocksBehind` ahead of the own source. Such a block must not prolong
    // the proof of a higher one.
    if (height === undefined || !growth || height + 1n - growth.height < BigInt(limits.blocksBehind)) return;
    this.#shown.add(parent);
    this.#proven = { height, untilMs: clock.monotonicMs() + limits.provenMs };
  }

  /** @param header 286 bytes @returns its height; undefined unless it is of a recent and hard block of this network */
  #heightProvenBy(header: Uint8Array): bigint | undefined {
    const { own, limits } = this.#options;
    const like: Work | undefined = own.last;
    if (!like || networkNumberOf(header) !== networkNumberOf(like.header)) return undefined;
    const work = workOfHeader(header);
    if (difficultyOf(work.target) * MOST_EASIER < difficultyOf(like.blockTarget)) return undefined;
    const age = own.latestTimeUs() - creationTimeOf(header);
    if (age > BigInt(limits.provenAgeMs) * 1_000n || age < -MOST_AHEAD_US) return undefined;
    const { solution } = verify(prepareJob(work, creationTimeOf(header)), nonceOf(header));
    return solution && work.height;
  }
}
