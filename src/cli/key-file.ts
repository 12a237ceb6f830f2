/** Files with an Ed25519 key pair: makes a new one for receiving block rewards, and reads what signs. */

import { generateKeyPairSync } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../app/exit-codes.ts';
import { secretTextIn } from '../app/secret-file.ts';
import type { KeyPair } from '../ledger/command/keys.ts';
import { RequestFileError } from '../ledger/request-file/errors.ts';
import { parseKeyFile } from '../ledger/request-file/key-file.ts';
import { createFile, SECRET_MODE } from './new-file.ts';

/**
 * @param file for both keys; it must not exist yet
 * @returns the public key, 64 hex digits
 * @throws UsageError when the file exists or cannot be written
 */
export function makeKeyFile(file: string): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { x, d } = privateKey.export({ format: 'jwk' });
  const publicKey = hexOf(x);
  const text = `${JSON.stringify({ publicKey, secretKey: hexOf(d) }, undefined, 2)}\n`;
  try {
    createFile(file, text, SECRET_MODE);
  } catch (fault) {
    const code = (fault as NodeJS.ErrnoException).code;
    if (code === 'EEXIST') throw new UsageError(`${file} already exists and stays as it is: give another file.`);
    if (code === 'ENOENT') throw new UsageError(`There is no folder ${dirname(resolve(file))}: make it first.`);
    throw new UsageError(`The secret key could not be written to ${file}: ${(fault as Error).message}`);
  }
  return publicKey;
}

/**
 * @param file as `makeKeyFile` or the contract tool writes it
 * @throws UsageError, which quotes nothing of the file, unless only its owner can read it and it has a key pair
 */
export function readKeyFile(file: string): KeyPair {
  try {
    return parseKeyFile(secretTextIn(file, 'the key file'), file);
  } catch (fault) {
    if (fault instanceof RequestFileError) throw new UsageError(fault.message);
    throw fault;
  }
}

/** 32 bytes from the JWK's base64url (RFC 8037 §2) to hex. */
function hexOf(base64url: string | undefined): string {
  return Buffer.from(base64url ?? '', 'base64url').toString('hex');
}
