/** Sends messages of a fleet over a link, as JSON, and checks the answers. */

import type { z } from 'zod';
import { messageBytes, readMessage } from '../messages.ts';
import type { Link, LinkMessage } from './link.ts';

/** Publishes a message at once or never (see `Link`). @returns whether the message was sent */
export function publish(link: Pick<Link, 'publish'>, subject: string, message: unknown): boolean {
  return link.publish(subject, messageBytes(message));
}

/**
 * Sends a request, and waits for the first answer.
 * @param answer the schema of the answer
 * @returns the answer; undefined if it does not fit the schema
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

/** An answer to a request: its subject and its content. */
export interface Answer {
  readonly reply: string;
  readonly message: unknown;
}

/**
 * Subscribes to requests, and answers them.
 * @param handle called with each request. It must check that the subject for the answer belongs to the sender of the
 *   request. It gets the request as bytes, so that it can apply limits before it parses the bytes. It returns undefined
 *   if there should be no answer, and must not throw
 * @param queue the queue group to join; absent if this member answers all requests
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
