/** What a misbehaving node sends over and over again: noise in an update stream, or below the body of any answer. */

import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { Fault } from './faults.ts';

/** How often noise is sent. */
const NOISE_MS = 10;

/** What precedes the noise of the faults below the body: an answer that never comes, or a chunk whose size has a long extension. */
const BELOW_BODY = {
  'early-hints': { begin: '', noise: 'HTTP/1.1 103 Early Hints\r\nlink: </noise>\r\n\r\n' },
  'chunk-extension': { begin: '1;', noise: 'noise;' },
} as const;

/** Repeats the noise at a rate, until the receiver is closed. A slow reader gets only as much as it can read. */
export function sendNoise(receiver: Writable, noise: string, bytesPerS: number): void {
  const perMs = bytesPerS / 1000 / noise.length;
  const beganMs = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.floor((performance.now() - beganMs) * perMs);
    if (!receiver.writableNeedDrain && due > sent) receiver.write(noise.repeat(due - sent));
    sent = due;
  }, NOISE_MS);
  receiver.on('close', () => clearInterval(timer));
}

/**
 * Sends the noise of a fault that is below the body.
 * @param sendHead sends the head of an answer with chunks
 * @returns whether the fault is one
 */
export function sendNoiseBelowBody(response: ServerResponse, fault: Fault, sendHead: () => void): boolean {
  if (fault.kind !== 'early-hints' && fault.kind !== 'chunk-extension') return false;
  const { socket } = response.req;
  if (fault.kind === 'chunk-extension') sendHead();
  const { begin, noise } = BELOW_BODY[fault.kind];
  socket.write(begin);
  sendNoise(socket, noise, fault.noiseBytesPerS);
  return true;
}
