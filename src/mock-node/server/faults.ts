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

export const faultKinds = [
  /** The connection is closed before the request is processed. */
  'drop',
  /** The request is processed and answered, `delayMs` late. */
  'delay',
  /** 503, with `retry-after` if `retryAfterS` is given. */
  'unavailable',
  /** 200 with a body that is one byte too short. */
  'wrong-length',
  /** 200 with the node's headers and a meaningless body. */
  'garbage',
  /** 200 with the node's headers and well-formed JSON of `bytes` bytes that does not answer the request. */
  'long-body',
  /** 200 with an HTML page and without the node's headers. */
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
  /** The update stream sends everything at its end, as through a proxy that buffers answers. */
  'buffered-stream',
  /** The update stream is open and sends nothing. */
  'silent-stream',
  /** The update stream also repeats `noise`, at `noiseBytesPerS`. */
  'noisy-stream',
  /** Endless interim answers (103 Early Hints) replace the answer, at `noiseBytesPerS`. */
  'early-hints',
  /** The answer's first chunk has an extension that never ends, at `noiseBytesPerS`. */
  'chunk-extension',
  /** The answer has the given `status` and `text`, and `retry-after` if `retryAfterS` is given. */
  'status',
  'missing-payload',
  /** Coinbases contain another amount than the one that was hashed. */
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
  /** The side, for a node with two ports; both by default. */
  side: z.enum(['service', 'p2p']).optional(),
  kind: z.enum(faultKinds),
  probability: z.number().min(0).max(1).default(1),
  /** Number of requests that have the fault; unlimited by default. */
  times: z.number().int().min(1).optional(),
  delayMs: z.number().int().min(0).max(600_000).default(0),
  retryAfterS: z.number().int().min(0).max(3600).optional(),
  status: z.number().int().min(400).max(599).default(503),
  text: z.string().max(1000).default(''),
  items: z.number().int().min(1).max(4096).default(1),
  blocksBack: z.number().int().min(1).max(400).default(1),
  bytes: z.number().int().min(16).max(100_000_000).default(33_500_000),
  /** Complete lines, so that the noise does not break the events between them. */
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

  /** @returns the first fault in the script for a request to this endpoint, if any */
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

/* The noise of a node with a fault, in an update stream or below the body of any answer. */

const NOISE_MS = 10;

/** The bytes before and in the noise below the body: an answer that never comes, or a chunk with a long extension. */
const BELOW_BODY = {
  'early-hints': { begin: '', noise: 'HTTP/1.1 103 Early Hints\r\nlink: </noise>\r\n\r\n' },
  'chunk-extension': { begin: '1;', noise: 'noise;' },
} as const;

/** Repeats the noise at a rate until the receiver is closed. A slow reader gets only as much as it can read. */
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
 * Sends noise below the body.
 * @param sendHead sends the head of a chunked answer
 * @returns false for a fault of another kind
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

/** A node's server for programs, its server for other nodes, or both on one port. */
export type Side = 'service' | 'p2p' | 'both';
