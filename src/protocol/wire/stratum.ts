/** How stratum writes targets, nonces and headers: in hex digits, with numbers' most significant digits first. Pure. */

import { z } from 'zod';
import { jsonOrUndefined, oneLine } from '../../base/text/plain-text.ts';
import { fromHex, HEADER_BYTES, NONCE_BYTES, TARGET_BYTES, toHex } from '../chain/bytes.ts';
import type { Nonce1 } from '../chain/nonce.ts';

/** @param target 32 bytes, little-endian @returns 64 hex digits, big-endian */
export function formatTarget(target: Uint8Array): string {
  return toHex(target.toReversed());
}

/**
 * @param hex up to 64 hex digits, big-endian; some servers leave out leading zeros
 * @returns 32 bytes, little-endian; undefined if the text is not a target
 */
export function parseTarget(hex: string): Uint8Array | undefined {
  if (!/^(0x)?[\da-f]{1,64}$/i.test(hex)) return undefined;
  return fromHex(hex.replace(/^0x/i, '').padStart(2 * TARGET_BYTES, '0')).toReversed();
}

/** @param hex 572 hex digits @returns 286 bytes; undefined if the text is not a header */
export function parseHeader(hex: string): Uint8Array | undefined {
  return hex.length === 2 * HEADER_BYTES && /^[\da-f]+$/i.test(hex) ? fromHex(hex) : undefined;
}

/** @returns two hex digits for each byte of nonce1 */
export function formatNonce1({ value, bytes }: Nonce1): string {
  return bytes === 0 ? '' : value.toString(16).padStart(2 * bytes, '0');
}

/** @returns the part of the nonce that the miner chose: two hex digits for each of its 8 − nonce1.bytes bytes */
export function formatNonce2(nonce: bigint, { bytes }: Nonce1): string {
  return (nonce >> BigInt(8 * bytes)).toString(16).padStart(2 * (NONCE_BYTES - bytes), '0');
}

/**
 * @param hex up to two hex digits for each byte of nonce2; some miners leave out leading zeros
 * @returns the nonce with both parts; undefined if the text is not a nonce2
 */
export function parseNonce2(hex: string, { value, bytes }: Nonce1): bigint | undefined {
  const digits = hex.replace(/^0x/i, '');
  if (digits.length > 2 * (NONCE_BYTES - bytes) || !/^[\da-f]+$/i.test(digits)) return undefined;
  return (BigInt(`0x${digits}`) << BigInt(8 * bytes)) | BigInt(value);
}

/* Messages of stratum clients and servers, one JSON object a line. Formatted lines include their line end. */

/** A client's request. Anything but a list of parameters counts as an empty list. */
const Request = z.object({
  /** Echoed, whatever its type. */
  id: z.unknown().optional(),
  method: z.string().max(64),
  params: z.array(z.unknown()).catch([]),
});

export interface Request {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A client's line: a request, an answer to a server's message, or neither. */
type ClientLine =
  | { readonly kind: 'request'; readonly request: Request }
  | { readonly kind: 'answer' }
  | { readonly kind: 'junk'; readonly id: unknown };

export function parseClientLine(line: string): ClientLine {
  const message = jsonOrUndefined(line);
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return { kind: 'junk', id: null };
  const { success, data } = Request.safeParse(message);
  if (success) return { kind: 'request', request: { ...data, id: data.id ?? null } };
  if (!('method' in message) && ('result' in message || 'error' in message)) return { kind: 'answer' };
  return { kind: 'junk', id: 'id' in message ? message.id : null };
}

/** The error codes of Bitcoin, with 21 also for stale shares. Pools disagree about 21 to 23. */
export const STRATUM_ERROR = {
  other: 20,
  jobNotFound: 21,
  duplicate: 22,
  lowDifficulty: 23,
  unauthorized: 24,
  notSubscribed: 25,
} as const;

export function formatResult(id: unknown, result: unknown): string {
  return `${JSON.stringify({ result, error: null, id })}\n`;
}

export function formatError(id: unknown, code: number, words: string): string {
  return `${JSON.stringify({ result: null, error: [code, words, null], id })}\n`;
}

/** @param targetHex 64 hex digits, big-endian */
export function formatSetTarget(targetHex: string): string {
  return `${JSON.stringify({ method: 'mining.set_target', params: [targetHex], id: null })}\n`;
}

/** @param headerHex 572 hex digits @param clean whether the client must drop its earlier jobs */
export function formatNotify(jobId: string, headerHex: string, clean: boolean): string {
  return `${JSON.stringify({ method: 'mining.notify', params: [jobId, headerHex, clean], id: null })}\n`;
}

/* Stratum's difficulty, as in Bitcoin. Everywhere else in pickaxe, a difficulty is the average number of hashes. */

/** Average number of hashes per share of difficulty 1, whose target is 2^224 − 1. */
const HASHES_AT_DIFFICULTY_1 = 2 ** 32;

/** A target has 256 bits, so no share takes more hashes. */
const MOST_HASHES = 2 ** 255;

/**
 * @param difficulty as in a message or a password, such as 0.05 or `65536`; it may be below 1
 * @returns hashes per share, at least 1; undefined if it is not a difficulty
 */
export function hashesOfDifficulty(difficulty: unknown): number | undefined {
  const isNumber = typeof difficulty === 'number' || (typeof difficulty === 'string' && NUMBER.test(difficulty));
  const hashes = isNumber ? Number(difficulty) * HASHES_AT_DIFFICULTY_1 : 0;
  return hashes > 0 && hashes <= MOST_HASHES ? Math.max(1, hashes) : undefined;
}

const NUMBER = /^\d{1,20}(\.\d{1,20})?(e[+-]?\d{1,2})?$/i;

/* Texts by which a worker identifies itself and asks for a difficulty. */

/** Maximum length of a worker's name, in characters: enough for an account named by its key (66) and a name. */
const NAME_CHARACTERS = 128;
/** Maximum length of a program's name, in characters: some ASICs cut off their own names there. */
const AGENT_CHARACTERS = 63;
const UNNAMED = 'unnamed';

/**
 * @param user the client's user name, often `ACCOUNT.WORKER`
 * @returns 1 to 128 printable characters on one line; if the name is longer, its account is shortened first
 */
export function workerName(user: unknown): string {
  const clean = typeof user === 'string' ? oneLine(user) : '';
  if (clean.length <= NAME_CHARACTERS) return clean === '' ? UNNAMED : clean;
  const dot = clean.indexOf('.');
  const worker = dot < 0 ? '' : clean.slice(dot);
  const room = NAME_CHARACTERS - worker.length;
  return room < 2
    ? oneLine(clean, NAME_CHARACTERS)
    : `${oneLine(clean.slice(0, dot < 0 ? undefined : dot), room)}${worker}`;
}

/** @returns at most 63 printable characters; empty if the client does not name its program */
export function agentName(agent: unknown): string {
  return typeof agent === 'string' ? oneLine(agent, AGENT_CHARACTERS) : '';
}

/** BlackMiner's F1 writes nonce1 and nonce2 in the byte order of the header, which is the reverse of stratum's. */
export function reversesNonces(agent: string): boolean {
  return /black ?miner|^f1\b/i.test(agent);
}

/**
 * @param password words separated by commas, semicolons or blanks; `d=0.5` asks for a difficulty
 * @returns hashes per share; undefined if the password asks for none
 */
export function chosenDifficulty(password: unknown): number | undefined {
  const words = typeof password === 'string' ? password.split(/[,;\s]+/) : [];
  const chosen = words.find((word) => /^d=/i.test(word));
  return chosen === undefined ? undefined : hashesOfDifficulty(chosen.slice(2));
}
