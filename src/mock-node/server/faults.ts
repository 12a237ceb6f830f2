/** The script of faults: which endpoint has which fault, and how many times. */

import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { z } from 'zod';
import type { Random } from '../random.ts';

export const endpoints = [
  'work',
  'solved',
  'updates',
  'config',
  'info',
  'health',
  'cut',
  'peers',
  'mempool',
  'payload',
  'block',
  'hash',
  'header',
  'local',
  'send',
  'poll',
  'listen',
  'private',
  'spv',
] as const;
export type Endpoint = (typeof endpoints)[number];

/**
 * The kinds of faults. With the following kinds, the request is not processed: `drop`, `unavailable`, `wrong-length`,
 * `garbage`, `long-body`, `captive-portal`, `hang`, `early-hints`, `chunk-extension` and `status`.
 */
export const faultKinds = [
  /** The connection is closed before the request is processed. */
  'drop',
  /** The request is processed and answered as usual, after `delayMs`. */
  'delay',
  /** The answer is 503, with `retry-after` if `retryAfterS` is given. */
  'unavailable',
  /** At every endpoint, the answer is 200 with a body of 321 bytes, one byte less than a work record has. */
  'wrong-length',
  /** The answer is 200 with the node's headers and a meaningless body. */
  'garbage',
  /**
   * The answer is 200 with the node's headers, and with well-formed JSON of `bytes` bytes that does not answer the
   * request.
   */
  'long-body',
  /** The answer is 200 with an HTML page and without the node's headers. */
  'captive-portal',
  /** The request is processed, and the connection is closed without an answer. */
  'lost-answer',
  /** The request never gets an answer. */
  'hang',
  /** The request is processed, and the connection is closed in the middle of the answer's body. */
  'broken-body',
  /** The request is processed, and the body of the answer never ends. */
  'endless-body',
  /** The update stream ends as soon as it is open. */
  'end-stream',
  /** The update stream sends all events only when it ends, as through a proxy that buffers answers. */
  'buffered-stream',
  /** The update stream is open and sends nothing. */
  'silent-stream',
  /** Besides its events, the update stream sends `noise` again and again, at `noiseBytesPerS`. */
  'noisy-stream',
  /** Interim answers (103 Early Hints) are sent without end, at `noiseBytesPerS`, instead of the answer. */
  'early-hints',
  /** The first chunk of the answer has an endless extension, which is sent at `noiseBytesPerS`. */
  'chunk-extension',
  /** The answer has the given `status` and `text`, and `retry-after` if `retryAfterS` is given. */
  'status',
  /** The payload does not exist. In a batch, this applies to the first payload. */
  'missing-payload',
  /**
   * The coinbase in an answer is not the coinbase that was hashed: its amount is higher by one coin or, if it has no
   * events, its `result` differs.
   */
  'wrong-reward',
  /** Pages have at most `items` items. */
  'short-pages',
  /** `next` is never null: after the last item, empty pages follow, each with a cursor. */
  'endless-pages',
  /** The cut is `blocksBack` blocks old on each chain. */
  'old-cut',
] as const;

const faultSchema = z.strictObject({
  endpoint: z.enum([...endpoints, 'any']),
  /** The side that has the fault, on a node with two ports; both sides by default. */
  side: z.enum(['service', 'p2p']).optional(),
  kind: z.enum(faultKinds),
  probability: z.number().min(0).max(1).default(1),
  /** How many requests get the fault, counted for each side separately; unlimited by default. */
  times: z.number().int().min(1).optional(),
  delayMs: z.number().int().min(0).max(600_000).default(0),
  retryAfterS: z.number().int().min(0).max(3600).optional(),
  status: z.number().int().min(400).max(599).default(503),
  text: z.string().max(1000).default(''),
  items: z.number().int().min(1).max(4096).default(1),
  blocksBack: z.number().int().min(1).max(400).default(1),
  bytes: z.number().int().min(16).max(100_000_000).default(33_500_000),
  /** The noise must consist of complete lines, so that it does not change the events before and after it. */
  noise: z.string().min(1).max(1000).endsWith('\n').default('\n'),
  noiseBytesPerS: z.number().min(1).max(10_000_000).default(1000),
});

const MAX_FAULTS = 100;
export const faultsSchema = z.array(faultSchema).max(MAX_FAULTS);

export type FaultInput = z.input<typeof faultSchema>;
export type Fault = z.output<typeof faultSchema>;

export class FaultScript {
  #faults: Fault[] = [];
  readonly #side: Side;
  readonly #random: Random;

  constructor(side: Side, random: Random) {
    this.#side = side;
    this.#random = random;
  }

  get faults(): readonly Fault[] {
    return this.#faults;
  }

  /** @throws ZodError if the script is not valid */
  set faults(script: readonly FaultInput[]) {
    this.#faults = faultsSchema.parse(script);
  }

  /** Uses up one of the `times` of the fault. @returns the first fault in the script that applies to this request */
  next(endpoint: Endpoint): Fault | undefined {
    for (const fault of this.#faults) {
      if (fault.endpoint !== 'any' && fault.endpoint !== endpoint) continue;
      if (fault.side !== undefined && this.#side !== 'both' && fault.side !== this.#side) continue;
      if (fault.times === 0 || this.#random() >= fault.probability) continue;
      if (fault.times !== undefined) fault.times -= 1;
      return fault;
    }
    return undefined;
  }
}

/* Noise: useless bytes that a node with a fault sends in an update stream, or outside the body of an answer. */

const NOISE_MS = 10;

/**
 * Noise outside the body of an answer: interim answers, or the extension of a chunk. `begin` is sent once, and then
 * `noise` is repeated.
 */
const BELOW_BODY = {
  'early-hints': { begin: '', noise: 'HTTP/1.1 103 Early Hints\r\nlink: </noise>\r\n\r\n' },
  'chunk-extension': { begin: '1;', noise: 'noise;' },
} as const;

/**
 * Repeats the noise at a rate until the receiver is closed. While the receiver cannot take more, the noise is left out.
 */
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
 * Begins to send noise outside the body, for the faults `early-hints` and `chunk-extension`.
 * @param sendHead sends the head of a chunked answer
 * @returns false for a fault of another kind, for which nothing is sent
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

/** A server of the node: for programs (`service`), for other nodes (`p2p`), or for both. */
export type Side = 'service' | 'p2p' | 'both';
