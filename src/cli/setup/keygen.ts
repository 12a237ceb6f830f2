/** `pickaxe keygen`: makes a key pair. Other commands read and write key files with this module's functions, too. */

import { generateKeyPairSync } from 'node:crypto';
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { secretTextIn } from '../../app/nodes/node-clients.ts';
import { EXIT, UsageError } from '../../app/process/exit.ts';
import type { KeyPair } from '../../protocol/ledger/command/command.ts';
import { parseKeyFile } from '../../protocol/ledger/request-file/unsigned-form.ts';
import { RequestFileError } from '../../protocol/ledger/request-file/yaml.ts';
import type { Io, Line } from '../io.ts';

export function declare(command: Command, { io, action }: Line): void {
  command
    .argument('<file>', 'file for the secret key, which must not exist yet, like pickaxe-key.json')
    .action(action((file) => runKeygen(file, io)));
}

function runKeygen(file: string, io: Io): number {
  const publicKey = makeKeyFile(file);
  io.out(
    `public key  ${publicKey}\naccount     k:${publicKey}\n\n` +
      `The secret key is in ${file} (only you can read it). Keep a copy in a safe place: nobody can restore it.\n` +
      `Mine with:  pickaxe mine --node URL --network ID --public-key ${publicKey}\n`,
  );
  return EXIT.done;
}

/** @returns the public key, 64 hex digits @throws UsageError when the file exists or cannot be written */
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
 * @throws UsageError, which quotes nothing of the file, if the file cannot be read, if other users can read it, or if
 *   it has no key pair
 */
export function readKeyFile(file: string): KeyPair {
  try {
    return parseKeyFile(secretTextIn(file, 'the key file'), file);
  } catch (fault) {
    if (fault instanceof RequestFileError) throw new UsageError(fault.message);
    throw fault;
  }
}

/** Converts a key of 32 bytes from base64url, as JWK has it (RFC 8037 §2), to hex digits. */
function hexOf(base64url: string | undefined): string {
  return Buffer.from(base64url ?? '', 'base64url').toString('hex');
}

/** Mode of a file that contains a secret. */
export const SECRET_MODE = 0o600;

/** Creates a file, and removes it again if writing fails. @throws Error of the system: EEXIST if the file exists */
export function createFile(file: string, text: string, mode: number): void {
  const fd = openSync(file, 'wx', mode);
  let whole = false;
  try {
    writeFileSync(fd, text);
    whole = true;
  } finally {
    closeSync(fd);
    if (!whole) rmSync(file, { force: true });
  }
}
