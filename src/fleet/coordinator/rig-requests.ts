/**
 * Answers the requests that a coordinator receives: requests for its state, and requests with solutions. Also takes
 * rigs' reports. Token buckets bound the number of messages of each sender.
 */

import { z } from 'zod';
import { settledWithin } from '../../base/system/abort.ts';
import { LogBucket, Refusals } from '../../base/system/bounded.ts';
import type { Clock } from '../../base/system/clock.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import type { Listener } from '../../miner/events/events.ts';
import type { Outcome } from '../../miner/events/vocabulary.ts';
import type { RelayLog } from '../../miner/relay/relay.ts';
import type { Verdict } from '../../miner/source/source.ts';
import { toHex } from '../../protocol/chain/bytes.ts';
import type { Solution } from '../../protocol/chain/verify.ts';
import type { Work } from '../../protocol/chain/work.ts';
import {
  type CoordinatorState,
  HelloRequest,
  MOST_TEXT,
  memberName,
  readMessage,
  type SolutionAnswer,
  SolutionRequest,
} from '../messages.ts';
import type { LinkMessage } from '../nats/link.ts';
import type { Answer } from '../nats/requests.ts';
import type { FleetSubjects } from '../subjects.ts';
import { type CoordinatorLimits, MESSAGE_REFUSALS, type MessageRefusal } from './coordinator-limits.ts';
import { type FleetRigAccount, Rigs } from './rigs.ts';
import type { Judged, Solutions } from './solutions.ts';

/** Capacity of the token bucket for log lines about rigs whose solutions are refused for a while. */
const REFUSED_LOGGED = 10;
/** Capacity of the token bucket for log lines about rigs' first accepted solutions. Many rigs may start together. */
const FIRST_SOLUTIONS_LOGGED = 100;
/** Capacity of the token bucket for log lines that name the finder of a block. A test network has very many blocks. */
const BLOCKS_LOGGED = 100;

/** The part of a rig's report that a coordinator reads. The hashrate is bounded so that the sum of all stays finite. */
const ReportedRate = z.object({ coordinator: memberName.nullable(), hashesPerSecond: z.number().min(0).max(1e30) });

type Refused = SolutionAnswer & { readonly state: 'refused' };

interface RequestsOptions {
  /** The coordinator's own name. */
  readonly name: string;
  readonly solutions: Pick<Solutions, 'judge'>;
  /** @returns this coordinator's state, with the whole current work */
  readonly state: () => CoordinatorState;
  /**
   * @returns the header of the block on which the current work builds: 286 bytes; undefined if there is no current
   *   work, or if no node returns the header
   */
  readonly parent: () => Promise<Uint8Array | undefined>;
  /** @returns the mean number of hashes until a solution of the current work; 0 without a current work */
  readonly difficulty: () => number;
  readonly subjects: FleetSubjects;
  readonly clock: Clock;
  readonly log: RelayLog;
  readonly limits: CoordinatorLimits;
}

interface Sent {
  readonly rig: FleetRigAccount;
  /** The name of the rig. Its account may have another name, because rigs beyond `limits.rigs` share one account. */
  readonly sender: string;
}

export class RigRequests {
  readonly refusals: Refusals<MessageRefusal>;
  readonly #options: RequestsOptions;
  readonly #rigs: Rigs;
  readonly #refusedLines: LogBucket;
  readonly #firstSolutions: LogBucket;
  readonly #blocks: LogBucket;

  constructor(options: RequestsOptions) {
    this.#options = options;
    const { clock, log, limits, difficulty } = options;
    const nowMs = clock.monotonicMs();
    this.#rigs = new Rigs(limits, difficulty, nowMs);
    this.refusals = new Refusals(
      clock,
      Object.keys(MESSAGE_REFUSALS) as MessageRefusal[],
      (line) => log.warn(line),
      limits.logMs,
    );
    this.#refusedLines = new LogBucket(REFUSED_LOGGED, nowMs);
    this.#firstSolutions = new LogBucket(FIRST_SOLUTIONS_LOGGED, nowMs);
    this.#blocks = new LogBucket(BLOCKS_LOGGED, nowMs);
  }

  /** @returns the answer with this coordinator's state; undefined if the request gets no answer */
  hello(request: LinkMessage): Answer | undefined | Promise<Answer> {
    const asked = this.#asked(request, 'hellos', this.#nowMs);
    if (!asked) return undefined;
    const { reply } = asked;
    if (readMessage(HelloRequest, request.data)?.parent) return this.#stateWithParent(reply);
    return { reply, message: this.#options.state() };
  }

  async #stateWithParent(reply: string): Promise<Answer> {
    const { parent, state } = this.#options;
    const header = await parent();
    const message: CoordinatorState = { ...state(), ...(header && { parent: toHex(header) }) };
    return { reply, message };
  }

  /**
   * Judges and submits a solution that a rig sent to this coordinator, or to any coordinator of `FALLBACK_QUEUE`.
   * @param stop fires when attempts to submit should end
   * @returns the answer: a verdict, a refusal or `pending`; undefined if the request gets no answer
   */
  solution(request: LinkMessage, stop: AbortSignal): Answer | undefined | Promise<Answer> {
    const nowMs = this.#nowMs;
    const asked = this.#asked(request, 'solutions', nowMs);
    if (!asked) return undefined;
    const { rig, reply } = asked;
    const judged = this.#judge(asked, request.data, stop, nowMs);
    if (judged.kind === 'solution') return this.#verdict(rig, judged).then((message) => ({ reply, message }));
    const message = this.#refuse(rig, judged, nowMs);
    return message && { reply, message };
  }

  /** Takes the rig's hashrate from its report, because solutions of a node's work are too rare for an estimate. */
  report({ subject, data }: LinkMessage): void {
    const nowMs = this.#nowMs;
    const found = this.#admitted(subject, 'reports', nowMs);
    // The coordinator's own devices also send reports, but do not mine for the relay.
    if (!found || found.sender === this.#options.name) return;
    const { rig } = found;
    const report = readMessage(ReportedRate, data);
    if (!report) this.refusals.note('wrong-message', rig.shown);
    else if (report.coordinator === this.#options.name) rig.mines(nowMs, report.hashesPerSecond);
    else rig.minesElsewhere();
  }

  /** Emits the `relay` event, with the statistics of all rigs. */
  emitStatus(relay: string, emit: Listener): void {
    const nowMs = this.#nowMs;
    this.#rigs.tick(nowMs);
    const workers = this.#rigs.list(nowMs);
    const sessions = workers.reduce((sum, worker) => sum + worker.sessions, 0);
    const hashesPerSecond = workers.reduce((sum, worker) => sum + worker.hashesPerSecond, 0);
    emit({ type: 'relay', relay, sessions, hashesPerSecond, workers, refused: { ...this.refusals.counts } });
  }

  get #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  /**
   * Checks a message before it is read. Only the subject is needed for that, so ignoring a message costs little.
   * @param bucket name of the sender's token bucket for messages of this kind
   * @returns the sender's name and account; undefined if the message must be ignored
   */
  #admitted(subject: string, bucket: 'solutions' | 'hellos' | 'reports', nowMs: number) {
    const found = this.#rigs.of(subject, nowMs);
    if (found?.rig[bucket].take(1, nowMs)) return found;
    this.refusals.note(found ? 'flood' : 'wrong-name', found?.rig.shown);
    return undefined;
  }

  #asked({ subject, reply }: LinkMessage, bucket: 'solutions' | 'hellos', nowMs: number) {
    const found = this.#admitted(subject, bucket, nowMs);
    if (!found) return undefined;
    const { rig, sender } = found;
    if (reply !== undefined && this.#options.subjects.isInboxOf(sender, reply)) return { rig, sender, reply };
    this.refusals.note('wrong-inbox', rig.shown);
    return undefined;
  }

  #judge({ rig, sender }: Sent, data: Uint8Array, stop: AbortSignal, nowMs: number): Judged {
    if (rig.isRefused(nowMs)) {
      return { kind: 'refused', code: 'too-many', reason: 'this rig has sent too many wrong solutions' };
    }
    const request = readMessage(SolutionRequest, data);
    const judged: Judged = request
      ? this.#options.solutions.judge(request, sender, stop)
      : { kind: 'refused', code: 'wrong-message', reason: 'the request has not the right form' };
    if (judged.kind === 'solution' && request?.coordinator === this.#options.name) rig.mines(nowMs);
    const isWrong = judged.kind === 'refused' && (judged.code === 'not-a-solution' || judged.code === 'wrong-message');
    if (isWrong && rig.wasWrong(nowMs)) this.#logRefused(rig, nowMs);
    return judged;
  }

  /**
   * Waits up to `answerMs` for the verdict. A refusal by this coordinator's nodes is no verdict if the work is another
   * coordinator's or unknown: the issuer of the work may come back with a node that accepts the solution.
   * @returns the answer to the rig; `pending` if there is no verdict in time
   */
  async #verdict(
    rig: FleetRigAccount,
    { verdict, solution, isFirst, isElsewhere }: Judged & { kind: 'solution' },
  ): Promise<SolutionAnswer> {
    const { name, limits } = this.#options;
    let answer: SolutionAnswer = { state: 'pending', coordinator: name };
    const known = verdict.then((verdict) => {
      if (isFirst) this.#count(rig, verdict, solution);
      const { outcome, reason, by } = verdict;
      if (isElsewhere && outcome !== 'accepted') {
        // With the outcome `unknown`, a node may have accepted the solution. A refusal would tell the rig that no node
        // has accepted it. So the answer to the first request stays `pending`.
        if (outcome !== 'unknown' || !isFirst) answer = notTaken(reason);
        return;
      }
      const from = by !== undefined && { by: oneLine(by, MOST_TEXT) };
      answer = { state: 'verdict', outcome, reason: oneLine(reason, MOST_TEXT), ...from };
    });
    await settledWithin(this.#options.clock, known, limits.answerMs);
    return answer;
  }

  #count({ account, shown }: FleetRigAccount, { outcome }: Verdict, { isBlock, work }: Solution): void {
    const nowMs = this.#nowMs;
    if (isBlock) this.#logBlock(shown, outcome, work, nowMs);
    const known = outcome === 'accepted' || outcome === 'stale' ? outcome : 'rejected';
    if (known === 'accepted' && isBlock) account.blocks++;
    const unlogged = account.note(known, nowMs) ? this.#firstSolutions.take(nowMs) : undefined;
    if (unlogged === undefined) return;
    const others = unlogged > 0 ? `, and of ${unlogged} others before it` : '';
    this.#options.log.info(`first accepted solution of ${shown}${others}`);
  }

  /** Logs the name of the rig that found a block, because the event about the block has only the relay's name. */
  #logBlock(shown: string, outcome: Outcome, { chain, height }: Work, nowMs: number): void {
    const unlogged = this.#blocks.take(nowMs);
    if (unlogged === undefined) return;
    const others = unlogged > 0 ? `; ${unlogged} blocks before it have no such line` : '';
    this.#options.log.info(`${shown} has found the block of chain ${chain} at height ${height}: ${outcome}${others}`);
  }

  /** Counts a refusal. @returns the answer; undefined if the rig's token bucket for refusals is empty */
  #refuse(
    rig: FleetRigAccount,
    { code, reason }: Pick<Refused, 'code' | 'reason'>,
    nowMs: number,
  ): SolutionAnswer | undefined {
    this.refusals.note(code, rig.shown);
    return rig.refusals.take(1, nowMs) ? { state: 'refused', code, reason } : undefined;
  }

  #logRefused({ shown }: FleetRigAccount, nowMs: number): void {
    const unlogged = this.#refusedLines.take(nowMs);
    if (unlogged === undefined) return;
    const others = unlogged > 0 ? `; so were ${unlogged} others` : '';
    const seconds = Math.ceil(this.#options.limits.refusedMs / 1000);
    this.#options.log.warn(`${shown} is refused for ${seconds} s: it has sent too many wrong solutions${others}`);
  }
}

function notTaken(reason: string): SolutionAnswer {
  const text = `no node of this coordinator takes it: ${oneLine(reason)}`;
  return { state: 'refused', code: 'not-mine', reason: oneLine(text, MOST_TEXT) };
}
