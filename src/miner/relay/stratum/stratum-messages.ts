/**
 * The messages of the stratum server. Each is a JSON object on one line. This file turns a client's lines into
 * requests, and a session's answers and jobs into lines. No other file of the server reads or writes the text of
 * messages.
 */

import { z } from 'zod';
import { jsonOrUndefined } from '../../../base/text/plain-text.ts';
import { NONCE_BYTES, toHex } from '../../../protocol/chain/bytes.ts';
import { LANES, type Nonce1 } from '../../../protocol/chain/nonce.ts';
import { difficultyOf } from '../../../protocol/chain/target.ts';
import { parseTarget } from '../../../protocol/wire/stratum.ts';
import { agentName, chosenDifficulty, hashesOfDifficulty, reversesNonces, workerName } from './login-fields.ts';
import type { Refusal, StratumLimits } from './stratum-limits.ts';

/** A connection that sends lines to a client. */
export interface LineConnection {
  /** The client's address; behind a proxy, the address in the proxy's header. */
  readonly address: string;
  send(lines: string | Buffer): void;
  /**
   * Ends the connection.
   * @param points the penalty; see `stratumLimits.banPoints`
   * @param refusal the kind of refusal to count; undefined if none is counted
   */
  close(reason: string, points: number, refusal?: Refusal): void;
}

/** A request. The session answers each request once. */
export type Request =
  | { readonly kind: 'subscribe'; readonly id: unknown; readonly agent: string }
  /** `chosen`: the difficulty that the password chooses, in hashes per share; undefined if it chooses none. */
  | { readonly kind: 'authorize'; readonly id: unknown; readonly worker: string; readonly chosen: number | undefined }
  /**
   * `difficulty`: the suggested difficulty in hashes per share; undefined if the client has sent no valid difficulty.
   */
  | { readonly kind: 'suggest'; readonly id: unknown; readonly difficulty: number | undefined }
  | ShareRequest
  /** A line that is not a stratum request. */
  | { readonly kind: 'junk'; readonly id: unknown };

/** A share, sent with `mining.submit`. */
export interface ShareRequest {
  readonly kind: 'share';
  readonly id: unknown;
  readonly worker: string;
  /** The job's id as the client has written it; empty if the client has sent another JSON type than a string. */
  readonly job: string;
  /** The job's number according to the id; 0 if this server cannot have made such an id. */
  readonly jobNumber: number;
  /** The whole nonce of 8 bytes; undefined if nonce2 is not readable, or if the client has not subscribed. */
  readonly nonce: bigint | undefined;
}

/**
 * The error codes of Bitcoin's stratum. Code 21 is also used for stale shares. Pools differ in their use of the codes
 * 21 to 23.
 */
const [OTHER, JOB_NOT_FOUND, DUPLICATE, LOW_DIFFICULTY, UNAUTHORIZED, NOT_SUBSCRIBED] = [20, 21, 22, 23, 24, 25];

/** The reasons for refusing a request, each with the code and the message of the answer. */
const REQUEST_ERRORS = {
  junk: [OTHER, 'this is no stratum request'],
  'unknown-method': [OTHER, 'unknown method'],
  'server-full': [OTHER, `all ${LANES - 1} places of this server are taken; try again later`],
  'wrong-difficulty': [OTHER, 'a difficulty is a number above 0'],
  invalid: [OTHER, 'nonce2 is a text of 1 to 12 hex digits'],
  'unknown-job': [JOB_NOT_FOUND, 'job not found'],
  stale: [JOB_NOT_FOUND, 'stale'],
  duplicate: [DUPLICATE, 'duplicate share'],
  'low-difficulty': [LOW_DIFFICULTY, 'low difficulty share'],
  'no-worker': [UNAUTHORIZED, 'no worker is authorized'],
  'too-many-workers': [
    UNAUTHORIZED,
    ({ workersPerSession }) => `a connection has ${workersPerSession} workers at most`,
  ],
  'not-subscribed': [NOT_SUBSCRIBED, 'not subscribed'],
} as const satisfies Record<string, readonly [number, string | ((limits: StratumLimits) => string)]>;
export type RequestError = keyof typeof REQUEST_ERRORS;

/**
 * Returns the `mining.notify` line of a job in ASCII. All sessions that get the job share the lines. `clean`: whether
 * the client must drop its earlier jobs.
 */
export type JobLines = (clean: boolean) => Buffer;

/** The client of a session: reads the client's lines, and writes answers and jobs. */
export class StratumClient {
  readonly #connection: LineConnection;
  readonly #limits: StratumLimits;
  /** Undefined before the client has subscribed. */
  #nonce1: Nonce1 | undefined;
  /** Whether the client writes nonces in reverse byte order. */
  #reversesNonces = false;

  constructor(connection: LineConnection, limits: StratumLimits) {
    this.#connection = connection;
    this.#limits = limits;
  }

  get address(): string {
    return this.#connection.address;
  }

  /**
   * Reads a line. Answers the requests that need no session.
   * @param line without its line end
   * @returns the request, if the session must answer it; otherwise undefined
   */
  receive(line: string): Request | undefined {
    if (line.trim() === '') return undefined;
    const message = parseClientLine(line);
    if (message.kind === 'answer') return undefined;
    if (message.kind === 'junk') return message;
    const { id, method, params } = message;
    switch (method) {
      case 'mining.submit':
        return { kind: 'share', id, ...this.#shareOf(params) };
      case 'mining.subscribe':
        return { kind: 'subscribe', id, agent: agentName(params[0]) };
      case 'mining.authorize':
        return { kind: 'authorize', id, worker: workerName(params[0]), chosen: chosenDifficulty(params[1]) };
      case 'mining.suggest_difficulty':
        return { kind: 'suggest', id, difficulty: hashesOfDifficulty(params[0]) };
      case 'mining.suggest_target': {
        const target = typeof params[0] === 'string' ? parseTarget(params[0]) : undefined;
        return { kind: 'suggest', id, difficulty: target && difficultyOf(target) };
      }
      case 'mining.extranonce.subscribe': // A session keeps its nonce1, so no message about a new nonce1 follows.
        this.#sendResult(id, true);
        return undefined;
      case 'mining.ping':
        this.#sendResult(id, 'pong');
        return undefined;
      case 'mining.configure': // The server supports no extension, but must answer about each.
        this.#sendResult(id, refusedExtensions(params[0]));
        return undefined;
      default:
        this.answer(id, 'unknown-method');
        return undefined;
    }
  }

  answer(id: unknown, result: 'accepted' | RequestError): void {
    if (result === 'accepted') this.#sendResult(id, true);
    else this.#sendError(id, result);
  }

  /**
   * Answers `mining.subscribe`.
   * @param agent the name of the client's program, which decides in what byte order nonces are written
   */
  answerSubscription(id: unknown, nonce1: Nonce1, agent: string): void {
    this.#nonce1 = nonce1;
    this.#reversesNonces = reversesNonces(agent);
    const written = this.#reversesNonces ? { ...nonce1, value: swapped(nonce1.value) } : nonce1;
    this.#sendResult(id, [null, formatNonce1(written), NONCE_BYTES - nonce1.bytes]);
  }

  /**
   * Sends a job. If the target has changed, sends the target before the job.
   * @param clean whether the client must drop its earlier jobs
   * @param target of the shares of this job and of later jobs, 32 bytes, little-endian; undefined if it is unchanged
   */
  give(job: JobLines, clean: boolean, target: Uint8Array | undefined): void {
    const notify = job(clean);
    this.#connection.send(target ? formatSetTarget(target) + notify.toString('latin1') : notify);
  }

  /** The same as `close` of `LineConnection`. */
  close(reason: string, points: number, refusal?: Refusal): void {
    this.#connection.close(reason, points, refusal);
  }

  /** Reads the parameters of `mining.submit`: the worker's name, the job's id and nonce2. */
  #shareOf([user, id, nonce2]: readonly unknown[]): Omit<ShareRequest, 'kind' | 'id'> {
    const job = typeof id === 'string' ? id : '';
    const nonce = typeof nonce2 === 'string' ? this.#nonceOf(nonce2) : undefined;
    return { worker: workerName(user), job, jobNumber: parseJobId(job), nonce };
  }

  #nonceOf(nonce2: string): bigint | undefined {
    const nonce1 = this.#nonce1;
    if (!nonce1) return undefined;
    return parseNonce2(this.#reversesNonces ? reversedHex(nonce2, NONCE_BYTES - nonce1.bytes) : nonce2, nonce1);
  }

  #sendResult(id: unknown, result: unknown): void {
    this.#connection.send(formatResult(id, result));
  }

  #sendError(id: unknown, error: RequestError): void {
    const [code, message] = REQUEST_ERRORS[error];
    this.#connection.send(formatError(id, code, typeof message === 'string' ? message : message(this.#limits)));
  }
}

/** @returns `false` for each of the first 16 extensions that the client names */
function refusedExtensions(names: unknown): Record<string, false> {
  const named = Array.isArray(names) ? names.filter((name) => typeof name === 'string').slice(0, 16) : [];
  return Object.fromEntries(named.map((name) => [name, false]));
}

/* Lines. Functions that format a line include its line end. */

/** A client's request. If `params` is anything else than a list, it counts as an empty list. */
const RequestLine = z.object({
  /** The answer repeats this id. It may be of any JSON type. */
  id: z.unknown().optional(),
  method: z.string().max(64),
  params: z.array(z.unknown()).catch([]),
});

/** A client's line: a request, an answer to a message of the server, or something else (`junk`). */
type ClientLine =
  | { readonly kind: 'request'; readonly id: unknown; readonly method: string; readonly params: readonly unknown[] }
  | { readonly kind: 'answer' }
  | { readonly kind: 'junk'; readonly id: unknown };

export function parseClientLine(line: string): ClientLine {
  const message = jsonOrUndefined(line);
  if (typeof message !== 'object' || message === null) return { kind: 'junk', id: null };
  const { success, data } = RequestLine.safeParse(message);
  if (success) return { kind: 'request', id: data.id ?? null, method: data.method, params: data.params };
  if (!('method' in message) && ('result' in message || 'error' in message)) return { kind: 'answer' };
  return { kind: 'junk', id: 'id' in message ? message.id : null };
}

export function formatResult(id: unknown, result: unknown): string {
  return `${JSON.stringify({ result, error: null, id })}\n`;
}

export function formatError(id: unknown, code: number, message: string): string {
  return `${JSON.stringify({ result: null, error: [code, message, null], id })}\n`;
}

/** @param target 32 bytes, little-endian */
export function formatSetTarget(target: Uint8Array): string {
  return `${JSON.stringify({ method: 'mining.set_target', params: [formatTarget(target)], id: null })}\n`;
}

/**
 * Formats each of the two lines of a job (clean or not) once, when it is first needed.
 * @param headerHex 572 hex digits
 */
export function jobLines(id: string, headerHex: string): JobLines {
  const lines = new Map<boolean, Buffer>();
  return (clean) => {
    const line = lines.get(clean) ?? Buffer.from(formatNotify(id, headerHex, clean), 'latin1');
    lines.set(clean, line);
    return line;
  };
}

/** @param headerHex 572 hex digits @param clean whether the client must drop its earlier jobs */
export function formatNotify(jobId: string, headerHex: string, clean: boolean): string {
  return `${JSON.stringify({ method: 'mining.notify', params: [jobId, headerHex, clean], id: null })}\n`;
}

/* Targets, job ids and nonces are written in hex digits, the most significant digit first. */

/** @param target 32 bytes, little-endian @returns 64 hex digits, big-endian */
export function formatTarget(target: Uint8Array): string {
  return toHex(target.toReversed());
}

/** @param number 0 … 2^32 − 1 @returns 8 hex digits */
export function formatJobId(number: number): string {
  return number.toString(16).padStart(8, '0');
}

/**
 * @param id as a client writes it, perhaps without leading zeros
 * @returns the job's number; 0 if this server cannot have made such an id
 */
export function parseJobId(id: string): number {
  return /^[\da-f]{1,8}$/i.test(id) ? Number.parseInt(id, 16) : 0;
}

/** @returns two hex digits for each byte of nonce1 */
export function formatNonce1({ value, bytes }: Nonce1): string {
  return bytes === 0 ? '' : value.toString(16).padStart(2 * bytes, '0');
}

/**
 * @param hex up to two hex digits for each byte of nonce2, with or without `0x`; some miners leave out leading zeros
 * @returns the nonce, whose low bytes are nonce1; undefined if the text is not a nonce2
 */
export function parseNonce2(hex: string, { value, bytes }: Nonce1): bigint | undefined {
  const digits = hex.replace(/^0x/i, '');
  if (digits.length > 2 * (NONCE_BYTES - bytes) || !/^[\da-f]+$/i.test(digits)) return undefined;
  return (BigInt(`0x${digits}`) << BigInt(8 * bytes)) | BigInt(value);
}

/** @returns a nonce1 of two bytes with its bytes in reverse order */
function swapped(value: number): number {
  return ((value << 8) | (value >> 8)) % LANES;
}

/**
 * Pads hex digits with leading zeros to `bytes` bytes, and then reverses the order of the bytes.
 * @returns 2 × `bytes` hex digits; the text unchanged if it has more digits than that
 */
function reversedHex(hex: string, bytes: number): string {
  const digits = hex.replace(/^0x/i, '').padStart(2 * bytes, '0');
  return digits.length > 2 * bytes ? hex : (digits.match(/../g) ?? []).reverse().join('');
}
