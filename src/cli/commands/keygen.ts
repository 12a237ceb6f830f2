/** `pickaxe keygen`: a new Ed25519 key pair for receiving block rewards. */

import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { EXIT, UsageError } from '../exit-codes.ts';

/** Only the owner may read the secret. */
const SECRET_MODE = 0o600;

/** @param file where the secret goes: it must not exist yet */
export function runKeygen(file: string): number {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { x, d } = privateKey.export({ format: 'jwk' });
  const publicHex = hexOf(x);
  try {
    writeFileSync(file, `${JSON.stringify({ publicKey: publicHex, secretKey: hexOf(d) }, undefined, 2)}\n`, {
      mode: SECRET_MODE,
      flag: 'wx',
    });
  } catch (fault) {
    const code = (fault as NodeJS.ErrnoException).code;
    if (code === 'EEXIST') throw new UsageError(`${file} exists already and is left as it is: name another file.`);
    throw new UsageError(`The secret key could not be written to ${file}: ${(fault as Error).message}`);
  }
  process.stdout.write(
    `public key  ${publicHex}\naccount     k:${publicHex}\n\n` +
      `The secret key is in ${file} (only you can read it). Keep a copy in a safe place: nobody can restore it.\n` +
      `Mine with:  pickaxe mine --node URL --network ID --public-key ${publicHex}\n`,
  );
  return EXIT.done;
}

/** 32 bytes from the JWK's base64url (RFC 8037 §2) to hex. */
function hexOf(base64url: string | undefined): string {
  return Buffer.from(base64url ?? '', 'base64url').toString('hex');
}
