/**
 * The texts of a client's login: the program's name, a worker's name, and a password that may choose a difficulty.
 * Pure.
 */

import { oneLine } from '../../../base/text/plain-text.ts';

/**
 * Maximum length of a worker's name, in characters. An account that is named by its key has 66 characters, which leaves
 * room for the rest of the name.
 */
const NAME_CHARACTERS = 128;
/** Maximum length of a program's name, in characters. Some ASICs cut off their own names at this length. */
const AGENT_CHARACTERS = 63;
const UNNAMED = 'unnamed';

/**
 * @param user the client's user name, often `ACCOUNT.WORKER`
 * @returns 1 to 128 printable characters on one line. A longer name is shortened before its first dot if possible,
 *   otherwise at its end
 */
export function workerName(user: unknown): string {
  const clean = typeof user === 'string' ? oneLine(user) : '';
  if (clean.length <= NAME_CHARACTERS) return clean === '' ? UNNAMED : clean;
  const dot = clean.indexOf('.');
  const worker = dot < 0 ? '' : clean.slice(dot);
  const room = NAME_CHARACTERS - worker.length;
  return room < 2 ? oneLine(clean, NAME_CHARACTERS) : `${oneLine(clean, room)}${worker}`;
}

/** @returns at most 63 printable characters; empty if the client has not sent a name */
export function agentName(agent: unknown): string {
  return typeof agent === 'string' ? oneLine(agent, AGENT_CHARACTERS) : '';
}

/**
 * Whether the program writes nonce1 and nonce2 in the byte order of the header, which is the reverse of stratum's
 * order. BlackMiner's F1 does.
 */
export function reversesNonces(agent: string): boolean {
  return /black ?miner|^f1\b/i.test(agent);
}

/*
 * Stratum messages and passwords use Bitcoin's unit of difficulty. Everywhere else in pickaxe, a difficulty is an
 * average number of hashes.
 */

/** Average number of hashes per share of difficulty 1 in Bitcoin's unit. The target of such a share is 2^224 − 1. */
const HASHES_AT_DIFFICULTY_1 = 2 ** 32;

/** Maximum number of hashes per share. A target has 256 bits, so a higher difficulty makes no sense. */
const MOST_HASHES = 2 ** 255;

/**
 * @param difficulty in Bitcoin's unit, a number in a message or a text in a password, such as 0.05 or `65536`; it may
 *   be below 1
 * @returns hashes per share, at least 1; undefined if the parameter is not a valid difficulty
 */
export function hashesOfDifficulty(difficulty: unknown): number | undefined {
  const isNumber = typeof difficulty === 'number' || (typeof difficulty === 'string' && NUMBER.test(difficulty));
  const hashes = isNumber ? Number(difficulty) * HASHES_AT_DIFFICULTY_1 : 0;
  return hashes > 0 && hashes <= MOST_HASHES ? Math.max(1, hashes) : undefined;
}

const NUMBER = /^\d{1,20}(\.\d{1,20})?(e[+-]?\d{1,2})?$/i;

/**
 * @param password words separated by commas, semicolons or blanks. A word such as `d=0.5` chooses a difficulty
 * @returns hashes per share; undefined if the password chooses no valid difficulty
 */
export function chosenDifficulty(password: unknown): number | undefined {
  const words = typeof password === 'string' ? password.split(/[,;\s]+/) : [];
  const chosen = words.find((word) => /^d=/i.test(word));
  return chosen === undefined ? undefined : hashesOfDifficulty(chosen.slice(2));
}
