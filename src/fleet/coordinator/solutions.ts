/**
 * Judges the solutions that rigs send, and submits each once. No rig is trusted: the proof-of-work hash is computed
 * again before a submission. If the work is known, the header may differ from the work's header only in the creation
 * time and the nonce.
 */

import { createHash } from 'node:crypto';
import { BoundedMap, TokenBucket } from '../../base/system/bounded.ts';
import type { Clock } from '../../base/system/clock.ts';
import type { Listener } from '../../miner/events/events.ts';
import type { StaleReason } from '../../miner/events/vocabulary.ts';
import type { RelayedWorks } from '../../miner/relay/relay.ts';
import type { Verdict } from '../../miner/source/source.ts';
import { Submitter } from '../../miner/source/submitter.ts';
import { equalBytes, fromHex } from '../../protocol/chain/bytes.ts';
import { type Job, prepareJob } from '../../protocol/chain/job.ts';
import { meetsTarget } from '../../protocol/chain/target.ts';
import { type Solution, verify } from '../../protocol/chain/verify.ts';
import {
  creationTimeOf,
  headerTargetOf,
  nonceOf,
  type Work,
  withCreationTime,
  withNonce,
  workOfHeader,
} from '../../protocol/chain/work.ts';
import { isOfPool, type SolutionRefusal, type SolutionRequest } from '../messages.ts';
import type { CoordinatorLimits } from './coordinator-limits.ts';
import type { OtherCoordinators } from './other-coordinators.ts';
import type { OwnWorks } from './own-works.ts';

/**
 * Submits a solution of another coordinator's work, or of an unknown work, to the nodes of this coordinator. Never
 * throws.
 */
export type SubmitElsewhere = (solution: Solution, stop: AbortSignal) => Promise<Verdict>;

interface SolutionsOptions {
  /** The coordinator's own name. */
  readonly name: string;
  /** The relay's name in events. */
  readonly relay: string;
  /** The name of the coordinator's own source. */
  readonly source: string;
  readonly works: Pick<RelayedWorks, 'judge'>;
  readonly own: OwnWorks;
  readonly others: OtherCoordinators;
  /** Undefined if there is no node to submit to. Then only solutions of this coordinator's works are submitted. */
  readonly submitElsewhere: SubmitElsewhere | undefined;
  readonly emit: Listener;
  readonly clock: Clock;
  readonly limits: CoordinatorLimits;
}

export type Judged =
  | { readonly kind: 'refused'; readonly code: SolutionRefusal; readonly reason: string }
  | {
      readonly kind: 'solution';
      readonly verdict: Promise<Verdict>;
      readonly solution: Solution;
      /** Whether this request has caused the submission. */
      readonly isFirst: boolean;
      /**
       * Whether the solution was submitted although its work is another coordinator's or unknown. Then only an
       * acceptance is a final verdict.
       */
      readonly isElsewhere: boolean;
    };

const UNKNOWN_WORK = refused('unknown-work', 'this coordinator does not know the work');
const OTHER_HEADER = refused('not-a-solution', 'the header is not one of the work');
const TOO_EARLY = refused('too-early', 'its creation time is later than the latest one that is surely valid');
const TOO_HARD = refused('not-a-solution', 'its hash does not meet the target');
const NOT_MINE = refused('not-mine', 'only the coordinator that gave the work can submit its solutions');
const TOO_MANY_UNKNOWN = refused(
  'too-many',
  'there are too many solutions of works that this coordinator does not know',
);
const TOO_MANY = refused('too-many', 'the coordinator that gave the work has given too many easy ones');

/**
 * The verdict for a rig that sends a solution which another rig has sent before. If a pool leaves few nonces free, rigs
 * search the same nonces, but the pool counts a share only once.
 */
const OF_ANOTHER_RIG: Verdict = { outcome: 'stale', reason: 'another rig has sent the same solution before' };

const ENDED: Readonly<Record<StaleReason, string>> = {
  'new-cut': 'a New Cut has made its work stale',
  solved: 'its work has a solution already',
  expired: 'its work has expired',
  cancelled: 'its work was cancelled',
};

interface Submitted {
  readonly solution: Solution;
  /** The name of the rig that sent the solution first. */
  readonly rig: string;
  readonly verdict: Promise<Verdict>;
  readonly isElsewhere: boolean;
}

export class Solutions {
  readonly #options: SolutionsOptions;
  readonly #elsewhere: Submitter | undefined;
  /**
   * Submitted solutions, by the SHA-256 hash of the header. A rig that repeats a solution gets the same verdict again.
   */
  readonly #submitted: BoundedMap<string, Submitted>;
  /** Works of other coordinators, and unknown works, of which this coordinator's nodes have accepted a solution. */
  readonly #solvedElsewhere = new WeakSet<Work>();
  /** The token bucket of each rig for solutions of unknown works, by the rig's name. */
  readonly #unknown: BoundedMap<string, TokenBucket>;
  /** The token bucket of all rigs together for solutions of unknown works. */
  readonly #allUnknown: TokenBucket;

  constructor(options: SolutionsOptions) {
    this.#options = options;
    const { source: name, submitElsewhere, emit, clock, limits } = options;
    this.#submitted = new BoundedMap(limits.verdicts);
    this.#unknown = new BoundedMap(limits.unknownRigs);
    this.#allUnknown = new TokenBucket(limits.allUnknownBurst, limits.allUnknownPerSecond, clock.monotonicMs());
    this.#elsewhere =
      submitElsewhere &&
      new Submitter({ source: { nameOf: () => name, submit: submitElsewhere }, emit, clock, isStale: () => false });
  }

  /** Settles when no solution of another coordinator's work, or of an unknown work, is being submitted. */
  async settled(): Promise<void> {
    await this.#elsewhere?.settled();
  }

  /**
   * Judges a solution. Submits it if it is valid, new and still useful.
   * @param rig the name of the rig that sent the solution
   * @param stop fires when attempts to submit should end
   */
  judge(request: SolutionRequest, rig: string, stop: AbortSignal): Judged {
    // This lookup comes first because it costs less than a verification. The submitter also recognizes repeated
    // solutions, but it keeps fewer of them.
    const earlier = this.#submitted.get(keyOf(fromHex(request.header)));
    if (earlier) {
      const { solution, verdict, isElsewhere } = earlier;
      return {
        kind: 'solution',
        verdict: earlier.rig === rig ? verdict : Promise.resolve(OF_ANOTHER_RIG),
        solution,
        isFirst: false,
        isElsewhere,
      };
    }
    const isOwn = request.coordinator === this.#options.name;
    return isOwn ? this.#judgeOwn(request, rig, stop) : this.#judgeElsewhere(request, rig, stop);
  }

  #judgeOwn({ work: name, header }: SolutionRequest, rig: string, stop: AbortSignal): Judged {
    const { own, works, clock } = this.#options;
    const known = own.find(name);
    if (!known) return this.#judgeUnknown(fromHex(header), rig, stop);
    const { work, ended } = known;
    const job = jobOfHeader(work, fromHex(header), known.latestTimeUs(clock.monotonicMs()));
    if (!job) return jobOfHeader(work, fromHex(header), creationTimeOf(fromHex(header))) ? TOO_EARLY : OTHER_HEADER;
    const { solution, verdict } = works.judge(job, nonceOf(fromHex(header)));
    if (!solution) return TOO_HARD;
    return this.#judged(solution, rig, verdict, ended ?? 'solved');
  }

  #judgeElsewhere({ coordinator, work: name, header }: SolutionRequest, rig: string, stop: AbortSignal): Judged {
    const { others, own, clock } = this.#options;
    const known = others.find(coordinator, name);
    if (!known) return this.#judgeUnknown(fromHex(header), rig, stop);
    const { work, ended } = known;
    if (!this.#elsewhere || isOfPool(work)) return NOT_MINE;
    const nowMs = clock.monotonicMs();
    // The issuer's last state may have come late. So a creation time that is valid for this coordinator's source is
    // accepted, too.
    const claimedUs = known.latestTimeUs(nowMs);
    const ownUs = own.latestTimeUs();
    const job = jobOfHeader(work, fromHex(header), claimedUs > ownUs ? claimedUs : ownUs);
    if (!job) return jobOfHeader(work, fromHex(header), creationTimeOf(fromHex(header))) ? TOO_EARLY : OTHER_HEADER;
    const { solution } = verify(job, nonceOf(fromHex(header)));
    // Nodes check a solution against the target in its header, and drop a work at its first wrong solution. Another
    // coordinator can claim a target that is easier than the header's. Without the second check here, a hash that meets
    // only the easier target could make the nodes drop a work of this coordinator.
    if (!solution || !meetsTarget(solution.powHash, headerTargetOf(solution.header))) return TOO_HARD;
    // If the issuer reported the work as solved, this may be the solution that ended the work. The issuer may have
    // failed to submit the solution, so this coordinator submits it.
    if (ended !== undefined && ended !== 'solved') return this.#judged(solution, rig, undefined, ended);
    if (this.#solvedElsewhere.has(work)) return this.#judged(solution, rig, undefined, 'solved');
    if (!known.elsewhere.take(1, nowMs)) return TOO_MANY;
    return this.#submitElsewhere(this.#elsewhere, solution, rig, stop);
  }

  /**
   * Judges a solution of an unknown work, such as a work that was issued before a restart of this coordinator. A node
   * needs only the header to judge the solution.
   */
  #judgeUnknown(header: Uint8Array, rig: string, stop: AbortSignal): Judged {
    const { own, clock, limits } = this.#options;
    const latestUs = own.latestTimeUs();
    // Before this coordinator's first work, the latest valid creation time is not known, and perhaps no node is in
    // reach.
    if (!this.#elsewhere || latestUs === 0n) return UNKNOWN_WORK;
    if (creationTimeOf(header) > latestUs) return TOO_EARLY;
    const work = workOfHeader(header);
    const { solution } = verify(prepareJob(work, creationTimeOf(header)), nonceOf(header));
    if (!solution) return TOO_HARD;
    const nowMs = clock.monotonicMs();
    const bucket = this.#unknown.get(rig) ?? new TokenBucket(limits.unknownBurst, limits.unknownPerSecond, nowMs);
    this.#unknown.set(rig, bucket);
    if (!bucket.take(1, nowMs) || !this.#allUnknown.take(1, nowMs)) return TOO_MANY_UNKNOWN;
    return this.#submitElsewhere(this.#elsewhere, solution, rig, stop);
  }

  #submitElsewhere(elsewhere: Submitter, solution: Solution, rig: string, stop: AbortSignal): Judged {
    const verdict = elsewhere.submit(solution, { name: this.#options.relay, isRelay: true, isElsewhere: true }, stop);
    void verdict?.then(({ outcome }) => {
      if (outcome === 'accepted') this.#solvedElsewhere.add(solution.work);
    });
    return this.#judged(solution, rig, verdict, 'solved', true);
  }

  /**
   * @param verdict the verdict on the submission; undefined if the solution is not submitted
   * @param ended why the solution is not submitted; used only without a verdict
   */
  #judged(
    solution: Solution,
    rig: string,
    verdict: Promise<Verdict> | undefined,
    ended: StaleReason,
    isElsewhere = false,
  ): Judged {
    const { isShare, header } = solution;
    if (verdict) {
      this.#submitted.set(keyOf(header), { solution, rig, verdict, isElsewhere });
      return { kind: 'solution', verdict, solution, isFirst: true, isElsewhere };
    }
    const isForgotten = isShare && ended === 'solved';
    const none: Verdict = isForgotten
      ? { outcome: 'unknown', reason: 'it was submitted before, and its verdict is no longer known' }
      : { outcome: 'stale', reason: ENDED[ended] };
    return { kind: 'solution', verdict: Promise.resolve(none), solution, isFirst: false, isElsewhere: false };
  }
}

function keyOf(header: Uint8Array): string {
  return createHash('sha256').update(header).digest('base64url');
}

function refused(code: SolutionRefusal, reason: string): Judged {
  return { kind: 'refused', code, reason };
}

/**
 * @param header 286 bytes
 * @param latestUs the latest creation time that is surely valid, in µs since the UNIX epoch
 * @returns the job with the header's creation time; undefined if the header is not one of the work. Only the nonce and
 *   the creation time may differ from the work's header, and a changed creation time must be valid for the work
 */
export function jobOfHeader(work: Work, header: Uint8Array, latestUs: bigint): Job | undefined {
  const creationTimeUs = creationTimeOf(header);
  const givenUs = creationTimeOf(work.header);
  const isRolled = work.rollTime && creationTimeUs > givenUs && creationTimeUs <= latestUs;
  if (creationTimeUs !== givenUs && !isRolled) return undefined;
  const expected = withNonce(withCreationTime(work.header, creationTimeUs), nonceOf(header));
  return equalBytes(header, expected) ? prepareJob(work, creationTimeUs) : undefined;
}
