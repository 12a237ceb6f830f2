/** A rig's attempts to deliver one solution to the coordinators of its fleet. */

import { onAbort, pause } from '../../base/system/abort.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import type { NoVerdict } from '../../miner/source/delivery.ts';
import type { NamedNetwork, Verdict } from '../../miner/source/source.ts';
import { toHex } from '../../protocol/chain/bytes.ts';
import type { Solution } from '../../protocol/chain/verify.ts';
import { type FleetSubjects, isOfPool, SolutionAnswer, type SolutionRequest } from '../messages.ts';
import { type Link, LinkError } from '../nats/link.ts';
import { ask } from '../nats/requests.ts';
import type { FleetLimits } from './rig-limits.ts';

/** How a rig speaks to its fleet. */
export interface FleetMembership {
  readonly link: Link;
  readonly subjects: FleetSubjects;
  /** This rig's name. */
  readonly rig: string;
}

export interface Fleet extends FleetMembership {
  /** @returns the coordinators that are not silent, as in subjects, the rig's preferred one first */
  readonly responsive: () => readonly string[];
  readonly network?: NamedNetwork | undefined;
}

/** The coordinator that gave the work. */
interface Issuer {
  /** As in subjects. */
  readonly coordinator: string;
  readonly isUnresponsive: boolean;
  /** Fires when the coordinator becomes silent: an answer that has not come by then is not waited for. */
  readonly outage: AbortSignal;
}

/** Maximum length of texts from coordinators, in characters. */
const MOST_TEXT = 300;
/** A coordinator answers that a solution is pending after three seconds, so this pause matters only for a wrong one. */
const PENDING_PAUSE_MS = 250;
/** Number of times that another coordinator is asked before the next one is. */
const MOST_ASKS = 2;

type To = 'issuer' | 'fallback';
type AttemptLimits = Pick<FleetLimits, 'solutionTimeoutMs' | 'askAgainMs' | 'tooManyPauseMs'>;

export class FleetAttempts {
  readonly #fleet: Fleet;
  readonly #issuer: Issuer;
  readonly #request: SolutionRequest;
  readonly #limits: AttemptLimits;
  #next: To = 'issuer';
  /** Whether it is a pool's, so that no other coordinator can submit it, nor the issuer after a restart. */
  readonly #isOfPool: boolean;
  /** The other coordinators that have answered that they cannot submit it, since all of them had. */
  readonly #unable = new Set<string>();
  /** How often each other coordinator has been asked, since all of them had been asked often enough. */
  readonly #asked = new Map<string, number>();
  /** Whether the issuer's answer was lost: it may know the verdict, which another coordinator could only doubt. */
  #isAskedAgain = false;
  /** Whether the coordinator that was asked last cannot submit it, and another one may. */
  #isNextDue = false;
  /** Why the other coordinator that answered last has not delivered it. */
  #refusal: string | undefined;

  /** @param work the work's name */
  constructor(fleet: Fleet, issuer: Issuer, solution: Solution, work: string, limits: AttemptLimits) {
    this.#fleet = fleet;
    this.#issuer = issuer;
    this.#limits = limits;
    this.#request = { coordinator: issuer.coordinator, work, header: toHex(solution.header) };
    this.#isOfPool = isOfPool(solution.work);
  }

  /**
   * Asks the coordinator that gave the work and another one in turn, but no one that is silent. Asks again as long
   * as the answer is that the solution is being submitted, and once more when the issuer's answer was lost.
   */
  async attempt(stop: AbortSignal): Promise<Verdict | NoVerdict> {
    const isAgain = this.#isAskedAgain;
    this.#isAskedAgain = false;
    if (this.#isOfPool && this.#issuer.isUnresponsive && !isAgain) {
      const only = 'and only it can submit this share of its pool';
      const message = `coordinator ${oneLine(this.#issuer.coordinator)} is silent, ${only}`;
      return { message, mayHaveBeenTaken: false };
    }
    const to = isAgain || this.#isOfPool ? 'issuer' : this.#issuer.isUnresponsive ? 'fallback' : this.#next;
    this.#next = to === 'issuer' ? 'fallback' : 'issuer';
    const cut = new AbortController();
    const isCutOff = to === 'issuer' && !(isAgain && this.#issuer.isUnresponsive);
    const releases = [stop, ...(isCutOff ? [this.#issuer.outage] : [])].map((signal) =>
      onAbort(signal, () => cut.abort()),
    );
    // After an interrupted connection the issuer counts as silent until its next state comes.
    if (isAgain) void this.#cutWhenUnresponsive(cut);
    try {
      let answer = await this.#ask(to, isAgain, cut.signal);
      // Those that cannot submit it cost no pause: the one that can may be the last of them.
      while (to === 'fallback' && this.#isNextDue && !cut.signal.aborted) {
        const { mayHaveBeenTaken } = answer as NoVerdict;
        const next = await this.#ask(to, false, cut.signal);
        answer = 'outcome' in next ? next : { ...next, mayHaveBeenTaken: mayHaveBeenTaken || next.mayHaveBeenTaken };
      }
      return answer;
    } finally {
      cut.abort();
      for (const release of releases) release();
    }
  }

  async #cutWhenUnresponsive(cut: AbortController): Promise<void> {
    await pause(this.#limits.askAgainMs, cut.signal);
    if (this.#issuer.isUnresponsive) cut.abort();
  }

  /** @param isAgain whether the issuer is asked once more after its answer was lost */
  async #ask(to: To, isAgain: boolean, stop: AbortSignal): Promise<Verdict | NoVerdict> {
    this.#isNextDue = false;
    const { link, subjects, rig } = this.#fleet;
    const named = to === 'issuer' ? this.#issuer.coordinator : this.#other();
    const who = named === undefined ? 'another coordinator' : `coordinator ${oneLine(named)}`;
    let subject = named === undefined ? subjects.fallback(rig) : subjects.solution(named, rig);
    let mayHaveBeenTaken = false;
    // What another coordinator says it is submitting is not left to it alone.
    const left = to === 'fallback' ? Math.ceil(this.#limits.solutionTimeoutMs / PENDING_PAUSE_MS) : Infinity;
    for (let asked = 0; asked < left; asked++) {
      let answer: SolutionAnswer | undefined;
      try {
        answer = await ask(link, subject, this.#request, SolutionAnswer, this.#limits.solutionTimeoutMs, stop);
      } catch (fault) {
        const isSent = !(fault instanceof LinkError) || fault.mayHaveBeenTaken;
        if (to === 'issuer' && fault instanceof LinkError) {
          this.#isAskedAgain = fault.fault === 'disconnected' ? isAgain : isSent && !isAgain;
        }
        const message = fault instanceof LinkError ? `${who}: ${fault.message}` : `${who} has not answered`;
        const isNobodyLeft = to === 'fallback' && fault instanceof LinkError && fault.fault === 'no-responders';
        return {
          message: (isNobodyLeft ? this.#refusal : undefined) ?? message,
          mayHaveBeenTaken: mayHaveBeenTaken || isSent,
        };
      }
      if (!answer) return { message: `${who} gave an answer that is none`, mayHaveBeenTaken: true };
      if (answer.state === 'verdict') return this.#judged(answer, to, named, mayHaveBeenTaken);
      if (answer.state === 'refused') return this.#refused(answer, to, named, mayHaveBeenTaken);
      mayHaveBeenTaken = true;
      // Only the coordinator that submits it knows the verdict.
      if (answer.coordinator !== undefined) subject = subjects.solution(answer.coordinator, rig);
      await pause(PENDING_PAUSE_MS, stop);
      if (stop.aborted) break;
    }
    return { message: `${who} has not finished submitting it`, mayHaveBeenTaken };
  }

  /**
   * A coordinator that is heard is asked by its name: the servers do not know which members of a queue group are
   * frozen, and a repeated request must reach the same one. One that does not answer is asked once more, and then the
   * next one is.
   */
  #other(): string | undefined {
    const others = this.#others();
    // Now any coordinator that is not heard is asked, and then these again: they may have got another node since.
    if (others.every((each) => this.#unable.has(each))) {
      this.#unable.clear();
      return undefined;
    }
    const able = others.filter((each) => !this.#unable.has(each));
    const isLeft = (each: string) => (this.#asked.get(each) ?? 0) < MOST_ASKS;
    if (!able.some(isLeft)) this.#asked.clear();
    const chosen = able.find(isLeft);
    if (chosen !== undefined) this.#asked.set(chosen, (this.#asked.get(chosen) ?? 0) + 1);
    return chosen;
  }

  #others(): string[] {
    return this.#fleet.responsive().filter((each) => each !== this.#issuer.coordinator);
  }

  /**
   * The issuer's verdict ends a solution of its work, and so does an acceptance by anyone. Whatever else another
   * coordinator answers ends nothing: its node may not know the work, or its key may be in wrong hands.
   * @param named the coordinator; undefined for any one
   */
  #judged(
    { outcome, reason: text, by }: SolutionAnswer & { state: 'verdict' },
    to: To,
    named: string | undefined,
    mayHaveBeenTaken: boolean,
  ): Verdict | NoVerdict {
    const reason = oneLine(text, MOST_TEXT);
    if (to === 'fallback' && outcome !== 'accepted') {
      return this.#untaken(named, reason, mayHaveBeenTaken || outcome === 'unknown');
    }
    return { outcome, reason, ...(by !== undefined && { by: oneLine(by, MOST_TEXT) }) };
  }

  /** @param named the coordinator; undefined for any one */
  #refused(
    { code, reason: text }: SolutionAnswer & { state: 'refused' },
    to: To,
    named: string | undefined,
    mayHaveBeenTaken: boolean,
  ): Verdict | NoVerdict {
    const reason = oneLine(text, MOST_TEXT);
    if (code === 'too-many') {
      if (to === 'issuer') this.#next = to;
      if (named !== undefined) this.#asked.set(named, MOST_ASKS);
      return { message: reason, mayHaveBeenTaken, retryAfterMs: this.#limits.tooManyPauseMs };
    }
    if (code === 'too-early') return { message: reason, mayHaveBeenTaken };
    if (to === 'fallback') return this.#untaken(named, reason, mayHaveBeenTaken);
    if (code === 'not-a-solution' || code === 'wrong-message') {
      return { outcome: mayHaveBeenTaken ? 'unknown' : 'rejected', reason };
    }
    if (code === 'unknown-work' && this.#isOfPool) return { outcome: mayHaveBeenTaken ? 'unknown' : 'stale', reason };
    return { message: reason, mayHaveBeenTaken };
  }

  /** Another coordinator has not delivered the solution: the next one may. */
  #untaken(named: string | undefined, message: string, mayHaveBeenTaken: boolean): NoVerdict {
    this.#refusal = message;
    if (named !== undefined) {
      this.#unable.add(named);
      this.#isNextDue = this.#others().some((each) => !this.#unable.has(each));
    }
    return { message, mayHaveBeenTaken };
  }
}
