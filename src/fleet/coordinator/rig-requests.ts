/** What rigs send to a coordinator: requests for its state, solutions, and reports. Every message has a bound. */

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
  type FleetSubjects,
  HelloRequest,
  MOST_TEXT,
  memberName,
  messageBytes,
  readMessage,
  type SolutionAnswer,
  SolutionRequest,
} from '../messages.ts';
import type { Link, LinkMessage } from '../nats/link.ts';
import { type CoordinatorLimits, REFUSALS, type Refusal } from './coordinator-limits.ts';
import { type Rig, Rigs } from './rigs.ts';
import type { Judged, Solutions } from './solutions.ts';

/** Capacity of the token bucket for log lines about rigs that are refused for a while. */
const REFUSED_LOGGED = 10;
/** The same for first solutions: enough for a fleet that starts. */
const FIRST_SOLUTIONS_LOGGED = 100;
/** The same for the finders of blocks: the owner of a fleet wants to know each, and a test network has too many. */
const BLOCKS_LOGGED = 100;

/** What a coordinator reads of a rig's report. Rates are bounded, so that their sum stays finite. */
const ReportedRate = z.object({ coordinator: memberName.nullable(), hashesPerSecond: z.number().min(0).max(1e30) });

type Refused = SolutionAnswer & { readonly state: 'refused' };

interface RequestsOptions {
  /** The coordinator's own name. */
  readonly name: string;
  readonly solutions: Pick<Solutions, 'judge'>;
  /** @returns the whole state */
  readonly state: () => CoordinatorState;
  /** @returns the header of the block on which the current work builds, 286 bytes; undefined if no node gives it */
  readonly parent: () => Promise<Uint8Array | undefined>;
  /** @returns the number of hashes that a solution of the current work takes on average; 0 without work */
  readonly difficulty: () => number;
  readonly link: Pick<Link, 'publish'>;
  readonly subjects: FleetSubjects;
  readonly clock: Clock;
  readonly log: RelayLog;
  readonly limits: CoordinatorLimits;
}

interface Sent {
  readonly rig: Rig;
  /** Its name. Beyond a number of rigs, several share the bounds of one. */
  readonly sender: string;
}

export class RigRequests {
  readonly refusals: Refusals<Refusal>;
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
    this.refusals = new Refusals(Object.keys(REFUSALS) as Refusal[], (line) => log.warn(line), limits.logMs);
    this.#refusedLines = new LogBucket(REFUSED_LOGGED, nowMs);
    this.#firstSolutions = new LogBucket(FIRST_SOLUTIONS_LOGGED, nowMs);
    this.#blocks = new LogBucket(BLOCKS_LOGGED, nowMs);
  }

  hello(message: LinkMessage): void {
    const asked = this.#asked(message, 'hellos', this.#nowMs);
    if (!asked) return;
    if (readMessage(HelloRequest, message.data)?.parent) void this.#answerWithParent(asked.reply);
    else this.#options.link.publish(asked.reply, messageBytes(this.#options.state()));
  }

  async #answerWithParent(reply: string): Promise<void> {
    const { parent, state, link } = this.#options;
    const header = await parent();
    link.publish(reply, messageBytes({ ...state(), ...(header && { parent: toHex(header) }) }));
  }

  /** Takes a request to this coordinator or to any one. @param stop asks for the end of attempts to submit */
  solution(message: LinkMessage, stop: AbortSignal): void {
    const nowMs = this.#nowMs;
    const asked = this.#asked(message, 'solutions', nowMs);
    if (!asked) return;
    const { rig, reply } = asked;
    const judged = this.#judge(asked, message.data, stop, nowMs);
    if (judged.kind === 'refused') this.#refuse(rig, reply, judged, nowMs);
    else void this.#answer(rig, reply, judged);
  }

  /** Reads the rig's own claim about its hashrate: solutions of a node's work are too rare to estimate it. */
  report({ subject, data }: LinkMessage): void {
    const nowMs = this.#nowMs;
    const found = this.#admitted(subject, 'reports', nowMs);
    // The devices of the coordinator's own machine are no part of the relay.
    if (!found || found.sender === this.#options.name) return;
    const { rig } = found;
    const report = readMessage(ReportedRate, data);
    if (!report) this.refusals.note('wrong-message', rig.shown);
    else if (report.coordinator === this.#options.name) rig.mines(nowMs, report.hashesPerSecond);
    else rig.minesElsewhere();
  }

  /** Emits the event about the rigs. */
  tell(relay: string, emit: Listener): void {
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
   * The checks that cost the least, before anything of a message is read but its subject.
   * @param bucket of the sender, which bounds its messages of this kind
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
   * Answers with the verdict, or that it is pending. That the own nodes do not take a solution of another one's work is
   * no verdict: its coordinator may come back, with a node that takes it.
   */
  async #answer(
    rig: Rig,
    reply: string,
    { verdict, solution, isFirst, isElsewhere }: Judged & { kind: 'solution' },
  ): Promise<void> {
    const { name, link, limits } = this.#options;
    let answer: SolutionAnswer = { state: 'pending', coordinator: name };
    const known = verdict.then((verdict) => {
      if (isFirst) this.#count(rig, verdict, solution);
      const { outcome, reason, by } = verdict;
      if (isElsewhere && outcome !== 'accepted') {
        // Whoever asks again learns from `pending` that a node may have taken it.
        if (outcome !== 'unknown' || !isFirst) answer = notTaken(reason);
        return;
      }
      const from = by !== undefined && { by: oneLine(by, MOST_TEXT) };
      answer = { state: 'verdict', outcome, reason: oneLine(reason, MOST_TEXT), ...from };
    });
    await settledWithin(known, limits.answerMs);
    link.publish(reply, messageBytes(answer));
  }

  #count({ account, shown }: Rig, { outcome }: Verdict, { isBlock, work }: Solution): void {
    const nowMs = this.#nowMs;
    if (isBlock) this.#logBlock(shown, outcome, work, nowMs);
    const known = outcome === 'accepted' || outcome === 'stale' ? outcome : 'rejected';
    if (known === 'accepted' && isBlock) account.blocks++;
    const unlogged = account.note(known, nowMs) ? this.#firstSolutions.take(nowMs) : undefined;
    if (unlogged === undefined) return;
    const others = unlogged > 0 ? `, and of ${unlogged} others before it` : '';
    this.#options.log.info(`first accepted solution of ${shown}${others}`);
  }

  /** The event about a block names only the relay: the owner of a thousand rigs learns here which of them found it. */
  #logBlock(shown: string, outcome: Outcome, { chain, height }: Work, nowMs: number): void {
    const unlogged = this.#blocks.take(nowMs);
    if (unlogged === undefined) return;
    const others = unlogged > 0 ? `; ${unlogged} blocks before it have no such line` : '';
    this.#options.log.info(`${shown} has found the block of chain ${chain} at height ${height}: ${outcome}${others}`);
  }

  /** Counts a refusal, and tells the rig unless it was told too often. */
  #refuse(rig: Rig, reply: string, { code, reason }: Pick<Refused, 'code' | 'reason'>, nowMs: number): void {
    this.refusals.note(code, rig.shown);
    if (!rig.refusals.take(1, nowMs)) return;
    const answer: SolutionAnswer = { state: 'refused', code, reason };
    this.#options.link.publish(reply, messageBytes(answer));
  }

  #logRefused({ shown }: Rig, nowMs: number): void {
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
