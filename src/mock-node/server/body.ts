/** Reads the bodies of requests. */

import type { IncomingMessage } from 'node:http';

/** @returns undefined when the body is too large. Even then it is read to its end, so that the client gets the answer */
export async function readBody(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= most) chunks.push(chunk);
  }
  return length <= most ? Buffer.concat(chunks) : undefined;
}
