/** Sends messages of a fleet over a link, as JSON, and checks the answers. */

import type { z } from 'zod';
import { messageBytes, readMessage } from '../messages.ts';
import type { Link, LinkMessage } from './link.ts';

/** Publishes a message at most once. @returns false if the message was not sent */
export function publish(link: Pick<Link, 'publish'>, subject: string, message: unknown): boolean {
  return link.publish(subject, messageBytes(message));
}

/**
 * Sends a request, and waits for the first answer.
 * @returns undefined if the answer is not a message of this kind
 * @throws LinkError, or the reason of `stop` when it fires
 */
export async function ask<Answer extends z.ZodType>(
  link: Pick<Link, 'request'>,
  subject: string,
  request: unknown,
  answer: Answer,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<z.infer<Answer> | undefined> {
  return readMessage(answer, await link.request(subject, messageBytes(request), timeoutMs, stop));
}

/** An answer to a request, and the subject for it. */
export interface Answer {
  readonly reply: string;
  readonly message: unknown;
}

/**
 * Answers requests.
 * @param handle gets each request as bytes, because bounds apply before a message is read; must check that the subject
 *   for the answer belongs to the sender of the request; returns undefined if there should be no answer; must not throw
 * @returns a function that unsubscribes
 */
export function answerRequests(
  link: Pick<Link, 'publish' | 'subscribe'>,
  subject: string,
  handle: (request: LinkMessage) => Answer | undefined | Promise<Answer | undefined>,
  queue?: string,
): () => void {
  const send = (answer: Answer | undefined) => answer && publish(link, answer.reply, answer.message);
  return link.subscribe(
    subject,
    (request) => {
      const answer = handle(request);
      if (answer instanceof Promise) void answer.then(send);
      else send(answer);
    },
    queue,
  );
}
