/**
 * The NATS subjects of a fleet. Except in subjects of answers, the last token is the sender's name. The permissions of
 * a NATS server (nats/server-accounts.ts) let each member publish only under its own name. Pure.
 */

/** Maximum length of a member's name, in UTF-16 code units. */
export const MOST_NAME = 64;

/**
 * Matches the part of a reply subject that follows the inbox and a dot: 1 to 200 characters. No token in it is empty or
 * contains a wildcard of NATS (`*` or `>`).
 */
const ANSWER_TOKENS = /^(?=.{1,200}$)[\w$+/=-]+(?:\.[\w$+/=-]+)*$/;

/** NATS queue group of the coordinators that answer fallback requests. Each request reaches only one of them. */
export const FALLBACK_QUEUE = 'coordinators';

export class FleetSubjects {
  readonly #prefix: string;

  /**
   * @param prefix first part of all subjects, such as `pickaxe`: one or more tokens separated by dots. It distinguishes
   *   the fleets of a server
   */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /**
   * Subject of a coordinator's whole states, which contain its current work. The coordinator publishes one for each new
   * work, and one after each connection to a server. Rigs that follow the coordinator, other coordinators and operators
   * subscribe to this subject.
   */
  work(coordinator: string): string {
    return `${this.#prefix}.work.${token(coordinator)}`;
  }

  get allWork(): string {
    return `${this.#prefix}.work.*`;
  }

  /**
   * Subject of a coordinator's short states, which have only the name of the current work. The coordinator publishes
   * one every second, and one when a work has ended, or the coordinator's source is lost or back. All members subscribe
   * to this subject.
   */
  beat(coordinator: string): string {
    return `${this.#prefix}.beat.${token(coordinator)}`;
  }

  get allBeats(): string {
    return `${this.#prefix}.beat.*`;
  }

  /** Subject of the requests with which a rig or coordinator asks a coordinator for its whole state. */
  hello(coordinator: string, sender: string): string {
    return `${this.#prefix}.hello.${token(coordinator)}.${token(sender)}`;
  }

  /** All subjects on which a member requests the states of coordinators. Used in the member's permissions. */
  hellosBy(sender: string): string {
    return `${this.#prefix}.hello.*.${token(sender)}`;
  }

  hellosTo(coordinator: string): string {
    return `${this.#prefix}.hello.${token(coordinator)}.*`;
  }

  /**
   * Subject of the requests with which a rig sends solutions to one coordinator. This is the issuer of the work, or
   * another coordinator if the issuer has not given a verdict.
   */
  solution(coordinator: string, rig: string): string {
    return `${this.#prefix}.solution.${token(coordinator)}.${token(rig)}`;
  }

  solutionsBy(rig: string): string {
    return `${this.#prefix}.solution.*.${token(rig)}`;
  }

  solutionsTo(coordinator: string): string {
    return `${this.#prefix}.solution.${token(coordinator)}.*`;
  }

  /**
   * Subject of the requests with which a rig sends a solution to any coordinator of `FALLBACK_QUEUE`. The rig uses it
   * if the issuer of the work has not given a verdict, and the rig has no other coordinator to ask by name.
   */
  fallback(rig: string): string {
    return `${this.#prefix}.fallback.${token(rig)}`;
  }

  get fallbacks(): string {
    return `${this.#prefix}.fallback.*`;
  }

  /** Subject of a rig's reports, which operators and coordinators receive. */
  report(rig: string): string {
    return `${this.#prefix}.report.${token(rig)}`;
  }

  get reports(): string {
    return `${this.#prefix}.report.*`;
  }

  /** Subject of an operator's requests to a rig. */
  control(rig: string, operator: string): string {
    return `${this.#prefix}.control.${token(rig)}.${token(operator)}`;
  }

  controlsBy(operator: string): string {
    return `${this.#prefix}.control.*.${token(operator)}`;
  }

  controlsTo(rig: string): string {
    return `${this.#prefix}.control.${token(rig)}.*`;
  }

  get controls(): string {
    return `${this.#prefix}.control.*.*`;
  }

  /** First part of the subjects on which a rig or coordinator receives answers, without a final dot. */
  inbox(member: string): string {
    return `${this.#prefix}.inbox.${token(member)}`;
  }

  get inboxes(): string {
    return `${this.#prefix}.inbox.>`;
  }

  /**
   * First part of the subjects on which an operator receives answers, without a final dot. Rigs publish these answers.
   * Operators' inboxes have another prefix than rigs' inboxes, so that rigs need no permission to publish to the inbox
   * of another rig.
   */
  operatorInbox(operator: string): string {
    return `${this.#prefix}.operator.${token(operator)}`;
  }

  /**
   * Subjects of rigs' answers to operators. The last two tokens are random, so that a rig cannot guess the subject of
   * the answer to a request that it has not received.
   */
  get operatorAnswers(): string {
    return `${this.#prefix}.operator.*.*.*`;
  }

  /**
   * Whether a reply subject belongs to the inbox of this member, so that the answer reaches only this member. A request
   * can contain any reply subject, even one on which rigs would take the answer for a coordinator's state.
   */
  isInboxOf(member: string, reply: string): boolean {
    return isBelow(this.inbox(member), reply);
  }

  isInboxOfOperator(operator: string, reply: string): boolean {
    return isBelow(this.operatorInbox(operator), reply);
  }

  /**
   * The subjects to which rigs of all names may publish, and to which they may subscribe. Used for a site that has only
   * rigs, and for the messages that may leave and enter the NATS accounts of rigs.
   */
  get ofAnyRig(): { readonly publish: readonly string[]; readonly subscribe: readonly string[] } {
    const prefix = this.#prefix;
    return {
      publish: [`${prefix}.hello.*.*`, `${prefix}.solution.*.*`, this.fallbacks, this.reports, this.operatorAnswers],
      subscribe: [this.allWork, this.allBeats, this.controls, `${prefix}.inbox.*.>`],
    };
  }
}

function isBelow(inbox: string, reply: string): boolean {
  return reply.startsWith(`${inbox}.`) && ANSWER_TOKENS.test(reply.slice(inbox.length + 1));
}

/**
 * @returns the name of a member as one token of a subject. Characters other than ASCII letters, digits, `-` and `_` are
 *   written as their UTF-8 bytes, each byte as `%` and two upper-case hex digits
 * @throws URIError if the name contains half of a surrogate pair
 */
export function token(name: string): string {
  return encodeURIComponent(name).replace(/[.!~*'()]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * @returns the name in the last token of a subject; undefined if that token is not the result of the function `token`
 *   for any valid name
 */
export function senderOf(subject: string): string | undefined {
  const last = subject.slice(subject.lastIndexOf('.') + 1);
  try {
    const name = decodeURIComponent(last);
    return token(name) === last && name.length > 0 && name.length <= MOST_NAME ? name : undefined;
  } catch {
    return undefined;
  }
}
