/** What a member proves its name with: an nkey seed, or a credentials file with a token that an operator has signed. */

import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';

export interface Credentials {
  /** The seed of a user's nkey (Ed25519): 58 characters that begin with `SU`. */
  readonly seed: string;
  /** The public key that belongs to it: 56 characters that begin with `U`. */
  readonly publicKey: string;
  /** The token (JWT) of a credentials file; undefined for a bare seed. */
  readonly token: string | undefined;
}

const SEED = /^SU[A-Z2-7]{56}$/;
const PUBLIC_KEY = /^U[A-Z2-7]{55}$/;
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** What stands between the marks of a credentials file: the token, and then the seed. */
const PARTS = /-{3,}BEGIN[^\n]*-{3,}\s+(\S+)\s+-{3,}END[^\n]*-{3,}/g;

export function makeCredentials(): Credentials {
  return credentialsOf(encoded([...SEED_PREFIX, ...randomBytes(KEY_BYTES)]));
}

/**
 * @param text of a file with a seed, or of a credentials file (`.creds`)
 * @throws Error that says what is wrong, and quotes nothing of the text
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

/** A file may explain itself: lines that begin with # are comments. */
function seedIn(text: string): string {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return lines.filter((line) => line !== '' && !line.startsWith('#')).join('\n');
}

function credentialsOf(seed: string, token?: string): Credentials {
  if (PUBLIC_KEY.test(seed)) throw new Error('it has the public key in place of the seed, which begins with SU');
  if (/^S[A-TV-Z]/.test(seed)) throw new Error('its seed is not a user’s: that begins with SU');
  if (!SEED.test(seed))
    throw new Error('it has neither an nkey seed (58 characters that begin with SU) nor credentials');
  const bytes = decoded(seed);
  if (!bytes) throw new Error('its seed is damaged: the check digits at its end are wrong');
  return { seed, publicKey: publicKeyOf(bytes.subarray(SEED_PREFIX.length)), token };
}

/** @returns whether the text has the form of a user's public key, and its check digits are right */
export function isPublicKey(text: string): boolean {
  return PUBLIC_KEY.test(text) && decoded(text) !== undefined;
}

/*
 * The form of nkeys: base32 of a prefix, 32 bytes and a checksum. The client's package would be loaded for this alone,
 * also by programs that have no fleet.
 */

const KEY_BYTES = 32;
const CHECKSUM_BYTES = 2;
/** They make the texts begin with SU and U. */
const SEED_PREFIX = [0b10010_101, 0b00_000_000];
const PUBLIC_PREFIX = [0b10100_000];
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** What precedes the 32 bytes of an Ed25519 seed in the format PKCS #8. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

function publicKeyOf(seed: Uint8Array): string {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return encoded([...PUBLIC_PREFIX, ...spki.subarray(-KEY_BYTES)]);
}

function encoded(bytes: readonly number[]): string {
  const sum = checksum(bytes);
  const bits = [...bytes, sum & 0xff, sum >> 8].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
}

/** @returns the prefix and the key; undefined when the checksum is wrong */
function decoded(text: string): Uint8Array | undefined {
  const bits = Array.from(text, (letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const all = Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
  const bytes = all.subarray(0, -CHECKSUM_BYTES);
  const [low, high] = all.subarray(-CHECKSUM_BYTES);
  return checksum(bytes) === low + 256 * high ? bytes : undefined;
}

/** CRC-16 with the polynomial 0x1021, which begins with zero. */
function checksum(bytes: Iterable<number>): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) sum = ((sum << 1) ^ (sum & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return sum;
}
