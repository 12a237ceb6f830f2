/**
 * Bounds what a node can send over a connection, counted in bytes of the socket. HTTP allows much that is neither a header nor a
 * part of the body, such as interim answers (103) and chunk extensions, and the parser drops these without a word. Reading them
 * takes processor time from the search.
 */

import type { Socket } from 'node:net';
import { TokenBucket } from '../system/token-bucket.ts';
import { NodeError } from './errors.ts';

export interface ReadingBound {
  /** How many bytes may come for each request, at once. */
  readonly bytes: number;
  /** How many more may come each second after that. */
  readonly bytesPerSecond: number;
  /** For people: what is wrong when there are more. */
  readonly fault: string;
}

/**
 * Destroys the socket with a NodeError when more is read than the bound allows. Each request on the socket begins anew; no more
 * than one may be under way.
 * @param nowMs a monotonic clock
 */
export function boundReading(socket: Socket, bound: ReadingBound, nowMs: () => number): void {
  let bucket: TokenBucket | undefined;
  let [read, written] = [0, 0];
  socket.on('readable', () => {
    const { bytesRead, bytesWritten } = socket;
    if (!bucket || bytesWritten !== written) bucket = new TokenBucket(bound.bytes, bound.bytesPerSecond, nowMs());
    const isAllowed = bucket.take(bytesRead - read, nowMs());
    [read, written] = [bytesRead, bytesWritten];
    if (!isAllowed) socket.destroy(new NodeError('garbled', bound.fault));
  });
}
