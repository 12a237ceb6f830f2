/**
 * Detects that this coordinator's source lags behind another coordinator's source. The heights of another coordinator's
 * works are only claims. So the other coordinator is asked for the header of the block on which its work builds. This
 * block proves the lag if it is recent, high enough, and at least half as hard to find as a block of this coordinator's
 * work.
 */

import { BoundedSet } from '../../base/system/bounded.ts';
import type { Clock } from '../../base/system/clock.ts';
import { fromHex } from '../../protocol/chain/bytes.ts';
import { prepareJob } from '../../protocol/chain/job.ts';
import { difficultyOf } from '../../protocol/chain/target.ts';
import { verify } from '../../protocol/chain/verify.ts';
import { creationTimeOf, networkNumberOf, nonceOf, type Work, workOfHeader } from '../../protocol/chain/work.ts';
import { CoordinatorState, type HelloRequest } from '../messages.ts';
import type { Link } from '../nats/link.ts';
import { ask } from '../nats/requests.ts';
import type { FleetSubjects } from '../subjects.ts';
import type { CoordinatorLimits } from './coordinator-limits.ts';
import type { OtherCoordinators } from './other-coordinators.ts';
import type { OwnWorks } from './own-works.ts';

/**
 * Maximum ratio of the difficulty of a block of this coordinator's work to the difficulty of a block that proves a lag.
 * It is above 1 because the difficulties of chains differ, and so do those of the blocks of one chain.
 */
const MOST_EASIER = 2;
/**
 * Maximum time, in µs, by which the creation time of a block that proves a lag may be ahead of the clock of this
 * coordinator's node.
 */
const MOST_AHEAD_US = 10_000_000n;
/**
 * Maximum number of headers that are kept so that each counts as a proof only once. Within `provenAgeMs`, a real
 * network has fewer blocks.
 */
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
  /** The height of the last block that proved a lag (−1 before the first), and when the proof expires (monotonic). */
  #proven = { height: -1n, untilMs: 0 };
  /** The headers of blocks that have proved a lag, in hex. */
  readonly #shown = new BoundedSet<string>(MOST_SHOWN);
  #askedMs = Number.NEGATIVE_INFINITY;

  constructor(options: LagOptions) {
    this.#options = options;
  }

  /**
   * Number of blocks by which this coordinator's works are behind a work that builds on the block of the last proof.
   * Undefined if no proof counts now, or if the number is below `blocksBehind`.
   */
  get blocks(): bigint | undefined {
    const { own, clock, limits } = this.#options;
    const growth = own.growth();
    if (!growth || clock.monotonicMs() >= this.#proven.untilMs) return undefined;
    const behind = this.#proven.height + 1n - growth.height;
    return behind >= BigInt(limits.blocksBehind) ? behind : undefined;
  }

  /**
   * Asks other coordinators for a proof, but only those that could take over rigs and claim a work at least
   * `blocksBehind` blocks higher than this coordinator's works. Does nothing within `askParentMs` of the last requests,
   * or while a proof still counts for more than half of `provenMs`. Never throws.
   */
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
      return; // There was no answer, or this coordinator is stopping.
    }
    const parent = state?.parent;
    if (parent === undefined || this.#shown.has(parent)) return;
    const height = this.#heightProvenBy(fromHex(parent));
    const growth = own.growth();
    // If a work on this block is less than `blocksBehind` ahead of this coordinator's works, the block proves no lag.
    // Such a block must not prolong the time for which an earlier proof by a higher block counts.
    if (height === undefined || !growth || height + 1n - growth.height < BigInt(limits.blocksBehind)) return;
    this.#shown.add(parent);
    this.#proven = { height, untilMs: clock.monotonicMs() + limits.provenMs };
  }

  /**
   * @param header 286 bytes
   * @returns the height of the header's block; undefined unless the block is recent, of this network and hard enough,
   *   and its hash meets its target
   */
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
