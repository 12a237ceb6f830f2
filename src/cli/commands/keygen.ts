/** `pickaxe keygen`: a new key pair, and what to do with it. */

import { EXIT } from '../../app/exit-codes.ts';
import { makeKeyFile } from '../key-file.ts';

/** @param file where the secret goes: it must not exist yet */
export function runKeygen(file: string): number {
  const publicKey = makeKeyFile(file);
  process.stdout.write(
    `public key  ${publicKey}\naccount     k:${publicKey}\n\n` +
      `The secret key is in ${file} (only you can read it). Keep a copy in a safe place: nobody can restore it.\n` +
      `Mine with:  pickaxe mine --node URL --network ID --public-key ${publicKey}\n`,
  );
  return EXIT.done;
}
