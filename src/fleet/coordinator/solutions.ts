/**
 * Judges the solutions that rigs send, and submits each once. No rig is trusted: a header may differ from that of its
 * work only in creation time and nonce, and the whole hash is computed again before a submission.
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

/** Submits a solution of another coordinator's work to nodes that may know the work. Never throws. */
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
  /** Undefined if there is no node to submit to. */
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
       * Whether the work is another coordinator's, or unknown. Then only an acceptance by the own nodes is final.
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

/** The verdict for all rigs but the first: a pool's few free nonces make rigs repeat work, and a share counts once. */
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
  /** By the SHA-256 hash of the header: a rig that repeats its solution gets the verdict of the first submission. */
  readonly #submitted: BoundedMap<string, Submitted>;
  /** Works of other coordinators that have an accepted solution. */
  readonly #solvedElsewhere = new WeakSet<Work>();
  /** Bounds the solutions of unknown works: one bucket for each rig, by its name, and one for all rigs. */
  readonly #unknown: BoundedMap<string, TokenBucket>;
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

  /** Settles when no solution of another coordinator's work, or of an unknown one, is being submitted. */
  async settled(): Promise<void> {
    await this.#elsewhere?.settled();
  }

  /** @param rig the sender's name @param stop fires when attempts to submit should end */
  judge(request: SolutionRequest, rig: string, stop: AbortSignal): Judged {
    // This lookup comes first because it costs less than a hash, and because the submitter remembers fewer solutions.
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
    // The issuer's last state may have come late, so a creation time that is valid for the own source is taken, too.
    const claimedUs = known.latestTimeUs(nowMs);
    const ownUs = own.latestTimeUs();
    const job = jobOfHeader(work, fromHex(header), claimedUs > ownUs ? claimedUs : ownUs);
    if (!job) return jobOfHeader(work, fromHex(header), creationTimeOf(fromHex(header))) ? TOO_EARLY : OTHER_HEADER;
    const { solution } = verify(job, nonceOf(fromHex(header)));
    // Nodes check the target in the header, and drop a work at its first wrong solution. So if another coordinator
    // claimed an easier target, solutions for that target could end works of this coordinator.
    if (!solution || !meetsTarget(solution.powHash, headerTargetOf(solution.header))) return TOO_HARD;
    // If the work ended as solved, that may be by this solution, which the issuer may have failed to submit.
    if (ended !== undefined && ended !== 'solved') return this.#judged(solution, rig, undefined, ended);
    if (this.#solvedElsewhere.has(work)) return this.#judged(solution, rig, undefined, 'solved');
    if (!known.elsewhere.take(1, nowMs)) return TOO_MANY;
    return this.#submitElsewhere(this.#elsewhere, solution, rig, stop);
  }

  /**
   * Judges a solution of a work that is not known, such as one from before a restart of this coordinator. A node can
   * judge the solution from its header alone.
   */
  #judgeUnknown(header: Uint8Array, rig: string, stop: AbortSignal): Judged {
    const { own, clock, limits } = this.#options;
    const latestUs = own.latestTimeUs();
    // Before the first work of the own source, the time is not known, and perhaps no node is in reach.
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

  /** @param verdict of the submission; undefined if nothing is submitted @param ended why nothing is submitted */
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
 * @param header 286 bytes @param latestUs the latest creation time that is surely valid, in µs since the UNIX epoch
 * @returns the job of the header; undefined unless the header is that of the work with any nonce, and with the same
 *   creation time or another one that is valid
 */
export function jobOfHeader(work: Work, header: Uint8Array, latestUs: bigint): Job | undefined {
  const creationTimeUs = creationTimeOf(header);
  const givenUs = creationTimeOf(work.header);
  const isRolled = work.rollTime && creationTimeUs > givenUs && creationTimeUs <= latestUs;
  if (creationTimeUs !== givenUs && !isRolled) return undefined;
  const expected = withNonce(withCreationTime(work.header, creationTimeUs), nonceOf(header));
  return equalBytes(header, expected) ? prepareJob(work, creationTimeUs) : undefined;
}
