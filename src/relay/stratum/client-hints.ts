/** What workers say of themselves: their name, their program, and the difficulty that their password asks for. Pure. */

import { oneLine } from '../../text/plain-text.ts';
import { hashesOfDifficulty } from '../../wire/stratum.ts';

/**
 * Enough for an account that names its key (66 characters) and the name of a worker. Tables shorten names by
 * themselves.
 */
const NAME_CHARACTERS = 128;
/** That of a program: some ASICs cut their own names at this length. */
const AGENT_CHARACTERS = 63;
const UNNAMED = 'unnamed';

/**
 * @param user the user name as the client writes it, often `ACCOUNT.WORKER`
 * @returns 1 to 128 printable characters on one line; where there are more, the account is shortened, and the worker
 *   stays
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

/** @returns at most 63 printable characters; empty when the client does not say */
export function agentName(agent: unknown): string {
  return typeof agent === 'string' ? oneLine(agent, AGENT_CHARACTERS) : '';
}

/**
 * BlackMiner's F1 writes the bytes of nonce1 and nonce2 in the order in which they stand in the header, which is the
 * reverse of the numbers that stratum means.
 */
export function reversesNonces(agent: string): boolean {
  return /black ?miner|^f1\b/i.test(agent);
}

/**
 * @param password words that are separated by commas, semicolons or blanks; `d=0.5` asks for a difficulty
 * @returns hashes per share; undefined when it asks for none
 */
export function chosenDifficulty(password: unknown): number | undefined {
  const words = typeof password === 'string' ? password.split(/[,;\s]+/) : [];
  const chosen = words.find((word) => /^d=/i.test(word));
  return chosen === undefined ? undefined : hashesOfDifficulty(chosen.slice(2));
}
