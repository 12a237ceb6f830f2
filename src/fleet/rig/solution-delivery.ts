/** Attempts to deliver one solution of a rig to the coordinators of the rig's fleet. */

import { onAbort, pause } from '../../base/system/abort.ts';
import type { Clock } from '../../base/system/clock.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import type { NoVerdict } from '../../miner/source/delivery.ts';
import type { NamedNetwork, Verdict } from '../../miner/source/source.ts';
import { toHex } from '../../protocol/chain/bytes.ts';
import type { Solution } from '../../protocol/chain/verify.ts';
import { isOfPool, SolutionAnswer, type SolutionRequest } from '../messages.ts';
import { type Link, LinkError } from '../nats/link.ts';
import { ask } from '../nats/requests.ts';
import type { FleetSubjects } from '../subjects.ts';
import type { FleetLimits } from './rig-limits.ts';

/** A rig's connection to its fleet. */
export interface FleetMembership {
  readonly link: Link;
  readonly subjects: FleetSubjects;
  /** This rig's name. */
  readonly rig: string;
}

export interface Fleet extends FleetMembership {
  /** @returns the exact names of the responsive coordinators, in the order in which the rig asks them */
  readonly responsive: () => readonly string[];
  readonly network?: NamedNetwork | undefined;
}

/** The coordinator that issued the work. */
interface Issuer {
  /** The coordinator's exact name, for subjects. */
  readonly coordinator: string;
  /** Whether no state of the coordinator has come for `lostAfterMs`. */
  readonly isUnresponsive: boolean;
  /** Fires when the coordinator becomes unresponsive. This ends the wait for the coordinator's answer. */
  readonly outage: AbortSignal;
}

/** Maximum length of a text from a coordinator, in UTF-16 code units. A longer text is cut. */
const MOST_TEXT = 300;
/**
 * Pause after a `pending` answer. Coordinators give this answer only after three seconds, so the pause matters only if
 * a faulty coordinator answers at once.
 */
const PENDING_PAUSE_MS = 250;
/** Number of requests to a coordinator other than the issuer before the next coordinator is asked. */
const MOST_ASKS = 2;

type To = 'issuer' | 'fallback';
type AttemptLimits = Pick<FleetLimits, 'solutionTimeoutMs' | 'askAgainMs' | 'tooManyPauseMs'>;

export class FleetAttempts {
  readonly #fleet: Fleet;
  readonly #issuer: Issuer;
  readonly #request: SolutionRequest;
  readonly #clock: Clock;
  readonly #limits: AttemptLimits;
  #next: To = 'issuer';
  /** Whether the solution is a share of a pool. Only the issuer can submit it, and only before the issuer restarts. */
  readonly #isOfPool: boolean;
  /** Other coordinators that could not submit the solution. Emptied when no other coordinator is left to ask. */
  readonly #unable = new Set<string>();
  /**
   * Number of requests to each other coordinator. Emptied when every responsive coordinator that is not in `#unable`
   * has got `MOST_ASKS` requests.
   */
  readonly #asked = new Map<string, number>();
  /**
   * Whether the next attempt asks the issuer once more, because its answer was lost. Perhaps no other coordinator has
   * the verdict.
   */
  #isAskedAgain = false;
  /** Whether the coordinator that was asked last cannot submit the solution, and another one can be asked at once. */
  #isNextDue = false;
  /** The reason in the last answer of another coordinator that has not accepted the solution. */
  #refusal: string | undefined;

  /** @param work the name of the solution's work */
  constructor(fleet: Fleet, issuer: Issuer, solution: Solution, work: string, clock: Clock, limits: AttemptLimits) {
    this.#clock = clock;
    this.#fleet = fleet;
    this.#issuer = issuer;
    this.#limits = limits;
    this.#request = { coordinator: issuer.coordinator, work, header: toHex(solution.header) };
    this.#isOfPool = isOfPool(solution.work);
  }

  /**
   * Makes one attempt. Attempts alternate between the issuer and the other coordinators, but leave out coordinators
   * that are unresponsive. A share of a pool is sent only to the issuer. While the answer is `pending`, the attempt
   * repeats its request. If the issuer's answer was lost, the next attempt asks the issuer once more.
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
    // Right after an interruption of the connection, the issuer counts as unresponsive until its next state. So the
    // request is ended only if this state does not come in time.
    if (isAgain) void this.#cutWhenUnresponsive(cut);
    try {
      let answer = await this.#ask(to, isAgain, cut.signal);
      // When a coordinator cannot submit the solution, the next one is asked without a pause: perhaps only the last of
      // them can.
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
    await pause(this.#clock, this.#limits.askAgainMs, cut.signal);
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
    // A coordinator that always answers `pending` must not prevent a request to the other coordinators.
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
      // Only the coordinator that is submitting the solution will have the verdict.
      if (answer.coordinator !== undefined) subject = subjects.solution(answer.coordinator, rig);
      await pause(this.#clock, PENDING_PAUSE_MS, stop);
      if (stop.aborted) break;
    }
    return { message: `${who} has not finished submitting it`, mayHaveBeenTaken };
  }

  /**
   * Chooses the coordinator to ask instead of the issuer. A responsive coordinator is asked by its name, for two
   * reasons: a NATS server may choose a frozen member of a queue group, and a repeated request must reach the same
   * coordinator. A coordinator that does not answer is asked once more before the next coordinator is chosen.
   * @returns the coordinator's name; undefined if the request should go to the queue group, of which any member may
   *   answer
   */
  #other(): string | undefined {
    const others = this.#others();
    // No coordinator is left that can be asked by its name, so this request goes to the queue group. Later requests go
    // to coordinators by their names again, because these coordinators may have another node by then.
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
   * The issuer's verdict is final, and so is an acceptance by any coordinator. Any other verdict of another coordinator
   * is not final: that coordinator's node may not have the work, or its key may have been stolen.
   * @param named the coordinator that was asked; undefined if it was the queue group
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

  /** @param named the coordinator that was asked; undefined if it was the queue group */
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

  /** Notes that another coordinator could not submit the solution, and whether a further one can be asked at once. */
  #untaken(named: string | undefined, message: string, mayHaveBeenTaken: boolean): NoVerdict {
    this.#refusal = message;
    if (named !== undefined) {
      this.#unable.add(named);
      this.#isNextDue = this.#others().some((each) => !this.#unable.has(each));
    }
    return { message, mayHaveBeenTaken };
  }
}
