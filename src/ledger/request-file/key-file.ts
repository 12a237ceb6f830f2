/**
 * Reads key files: a public key and its secret key, as the contract tool or `pickaxe keygen` makes them. No error
 * quotes a secret.
 */

import { KeyPair } from '../command/keys.ts';
import { LedgerFormatError } from '../errors.ts';
import { Place } from './place.ts';

/**
 * @throws RequestFileError for a file without both keys, and for a secret key that does not belong to the public key.
 */
export function parseKeyFile(text: string, file: string): KeyPair {
  const { publicKey, secretKey, ...named } = Place.read(text, file).fields(
    'public',
    'secret',
    'publicKey',
    'secretKey',
  );
  const ours = [publicKey, secretKey].find((key) => !key.isAbsent);
  if (ours && !(named.public.isAbsent && named.secret.isAbsent))
    throw ours.fault('must not stand beside public or secret: leave one pair out');
  const keys = ours ? { public: publicKey, secret: secretKey } : named;
  if (keys.public.isAbsent) throw keys.public.fault('must be there: the public key');
  return readKeyPair(keys);
}

/** @param keys where the keys stand; the public key and the address, which is the same, may be absent */
export function readKeyPair(keys: {
  readonly secret: Place;
  readonly public: Place;
  readonly address?: Place;
}): KeyPair {
  const { secret, address } = keys;
  if (secret.isAbsent) throw secret.fault('must be there: the secret key');
  try {
    const text = secret.text();
    const pairs = [keys.public, address].map((key) => new KeyPair(text, key && !key.isAbsent ? key.text() : undefined));
    return pairs[0];
  } catch (error) {
    if (error instanceof LedgerFormatError) throw secret.fault(`is wrong: ${error.message}`);
    throw error;
  }
}
