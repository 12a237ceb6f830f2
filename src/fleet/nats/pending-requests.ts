/** The requests of a connection that wait for their answers. Each request has its own subject for the answer. */

import { randomBytes } from 'node:crypto';
import { onAbort } from '../../base/system/abort.ts';
import type { Clock } from '../../base/system/clock.ts';
import { LinkError, type LinkFault } from './link.ts';

interface Waiting {
  readonly subject: string;
  readonly answer: (data: Uint8Array) => void;
  readonly fail: (fault: Error) => void;
}

export class PendingRequests {
  readonly #beginning: string;
  readonly #clock: Clock;
  /** The pending requests, by the last token of the subject for the answer. The oldest request comes first. */
  readonly #waiting = new Map<string, Waiting>();

  /** @param inbox first part of the subjects on which this member receives answers, without a final dot */
  constructor(inbox: string, clock: Clock) {
    this.#clock = clock;
    // Two connections of one member must not get each other's answers.
    this.#beginning = `${inbox}.${randomToken()}.`;
  }

  /** The subject of all answers, with a wildcard as its last token. The caller subscribes to it. */
  get answers(): string {
    return `${this.#beginning}*`;
  }

  /**
   * Sends a request, and waits for its answer.
   * @param send sends the request; `reply` is the subject for the answer
   * @returns the data of the answer
   * @throws LinkError, the reason of `stop` when it fires, or what `send` has thrown
   */
  start(subject: string, timeoutMs: number, stop: AbortSignal, send: (reply: string) => void): Promise<Uint8Array> {
    const token = randomToken();
    return new Promise((resolve, reject) => {
      if (stop.aborted) return reject(stop.reason);
      const end = () => {
        timer.cancel();
        release();
        this.#waiting.delete(token);
      };
      const fail = (fault: unknown) => {
        end();
        reject(fault);
      };
      const late = () => fail(new LinkError('timeout', `there was no answer within ${timeoutMs / 1000} seconds`));
      const timer = this.#clock.setTimeout(late, timeoutMs);
      const release = onAbort(stop, () => fail(stop.reason));
      this.#waiting.set(token, {
        subject,
        answer: (data) => {
          end();
          resolve(data);
        },
        fail,
      });
      try {
        send(`${this.#beginning}${token}`);
      } catch (fault) {
        fail(fault);
      }
    });
  }

  /** @param subject the answer's subject @param isFromNobody whether this is the server's report of no responders */
  onAnswer(subject: string, data: Uint8Array, isFromNobody: boolean): void {
    const waiting = this.#waiting.get(subject.slice(this.#beginning.length));
    if (!waiting) return;
    if (isFromNobody) waiting.fail(new LinkError('no-responders', 'nobody takes such requests now'));
    else waiting.answer(data);
  }

  /** Fails the oldest request to a subject that the server has denied. Denials come in the order of the requests. */
  deny(subject: string): void {
    const first = [...this.#waiting.values()].find((waiting) => waiting.subject === subject);
    first?.fail(denied());
  }

  /** Fails all pending requests. */
  end(fault: LinkFault, message: string): void {
    for (const { fail } of [...this.#waiting.values()]) fail(new LinkError(fault, message));
  }
}

export function denied(): LinkError {
  return new LinkError('denied', 'the server does not permit this account to use the subject');
}

/** @returns 24 random hex digits: a token that makes a subject hard to guess */
function randomToken(): string {
  return randomBytes(12).toString('hex');
}
