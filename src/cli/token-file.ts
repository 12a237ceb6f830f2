/** The token that HTTP clients have to send, from a file: it stands in no command line and no environment. */

import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { UsageError } from './exit-codes.ts';

const FEWEST_CHARACTERS = 16;
/** Far more than anybody needs, and far less than what the server takes in headers. */
const MOST_CHARACTERS = 512;
const OTHERS_MAY_READ = 0o044;

export interface Token {
  readonly token: string;
  /** What is questionable about it. */
  readonly warning?: string;
}

/** @throws UsageError that says what is wrong with the file */
export function readTokenFile(path: string): Token {
  const { text, mode } = read(path);
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token) || token.length < FEWEST_CHARACTERS || token.length > MOST_CHARACTERS) {
    throw new UsageError(
      `${path} must hold one token of ${FEWEST_CHARACTERS} to ${MOST_CHARACTERS} printable characters and nothing else. ` +
        `Make one with: openssl rand -hex 32 > ${path}`,
    );
  }
  const readable = process.platform !== 'win32' && (mode & OTHERS_MAY_READ) !== 0;
  return { token, ...(readable && { warning: `others on this machine can read ${path}: chmod 600 ${path}` }) };
}

/** No more than a token's length of it is read; a pipe, which would have to be waited for, is refused. */
function read(path: string): { text: string; mode: number } {
  let file: number | undefined;
  try {
    const stat = statSync(path);
    if (!stat.isFile()) throw new Error('it is not a file');
    file = openSync(path, 'r');
    const buffer = Buffer.alloc(2 * MOST_CHARACTERS);
    return { text: buffer.toString('latin1', 0, readSync(file, buffer)), mode: stat.mode };
  } catch (fault) {
    throw new UsageError(`--http-token-file ${path} cannot be read: ${(fault as Error).message}`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
