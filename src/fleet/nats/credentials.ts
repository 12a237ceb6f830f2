/**
 * Credentials of a fleet's member: an nkey seed, or a credentials file (`.creds`) with a seed and a signed token (JWT).
 */

import { createUser, fromPublic, fromSeed } from '@nats-io/nkeys';
import type { Credentials } from './link.ts';

const SEED = /^SU[A-Z2-7]{56}$/;
const PUBLIC_KEY = /^U[A-Z2-7]{55}$/;
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/**
 * Matches each part of a credentials file, with its BEGIN and END lines. The first part is the token, and the second is
 * the seed.
 */
const PARTS = /-{3,}BEGIN[^\n]*-{3,}\s+(\S+)\s+-{3,}END[^\n]*-{3,}/g;

export function makeCredentials(): Credentials {
  return credentialsOf(new TextDecoder().decode(createUser().getSeed()));
}

/**
 * @param text the content of a file with a seed, or of a credentials file (`.creds`)
 * @throws Error whose message describes what is wrong. The message quotes nothing of the text, which may be secret
 */
export function readCredentials(text: string): Credentials {
  const parts = [...text.matchAll(PARTS)].map(([, part]) => part);
  if (parts.length === 0) return credentialsOf(seedIn(text));
  const [token, seed] = parts;
  if (parts.length !== 2 || !TOKEN.test(token)) {
    throw new Error('it has not the form of a credentials file, which holds a token and a seed');
  }
  return credentialsOf(seed, token);
}

/** Removes empty lines, and comments, which are lines that begin with `#`. */
function seedIn(text: string): string {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return lines.filter((line) => line !== '' && !line.startsWith('#')).join('\n');
}

function credentialsOf(seed: string, token?: string): Credentials {
  if (PUBLIC_KEY.test(seed)) throw new Error('it has the public key in place of the seed, which begins with SU');
  if (/^S[A-TV-Z]/.test(seed)) throw new Error('its seed is not a user’s: that begins with SU');
  if (!SEED.test(seed))
    throw new Error('it has neither an nkey seed (58 characters that begin with SU) nor credentials');
  try {
    return { seed, publicKey: fromSeed(new TextEncoder().encode(seed)).getPublicKey(), token };
  } catch {
    throw new Error('its seed is damaged: the check digits at its end are wrong');
  }
}

/** @returns whether the text has the form of a user's public key, and its check digits are right */
export function isPublicKey(text: string): boolean {
  if (!PUBLIC_KEY.test(text)) return false;
  try {
    fromPublic(text);
    return true;
  } catch {
    return false;
  }
}
