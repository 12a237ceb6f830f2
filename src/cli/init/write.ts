/** Writes what was answered to `pickaxe init`: the settings, and a pool's password to a file of its own. */

import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../../app/exit-codes.ts';
import { renameFileSync } from '../../system/rename.ts';
import { createFile, SECRET_MODE } from '../new-file.ts';
import { type Answers, configText, type Password } from './answers.ts';

/** Set whatever the umask is, because pickaxe refuses to read a file that others may write to. */
const MODE = 0o644;
/** The mode of folders that are made. */
const FOLDER_MODE = 0o700;

/**
 * Writes all or nothing.
 * @param replaces whether the user wants an existing file to be replaced: otherwise there must be none
 * @throws UsageError that says which file could not be written, and why
 */
export function write(file: string, answers: Answers, replaces: boolean): void {
  const secret = answers.pool?.password && writePassword(dirname(file), answers.pool.password);
  try {
    orUsageError(file, () => writeSettings(file, configText(answers), replaces));
  } catch (fault) {
    if (secret !== undefined) rmSync(secret, { force: true });
    throw fault;
  }
}

/** @returns the file */
function writePassword(folder: string, { file: name, text }: Password): string {
  const file = resolve(folder, name);
  orUsageError(file, () => {
    mkdirSync(dirname(file), { recursive: true, mode: FOLDER_MODE });
    createFile(file, `${text}\n`, SECRET_MODE);
  });
  return file;
}

function writeSettings(file: string, text: string, replaces: boolean): void {
  mkdirSync(dirname(file), { recursive: true, mode: FOLDER_MODE });
  const made = replaces ? `${file}.${randomBytes(6).toString('hex')}.unfinished` : file;
  createFile(made, text, MODE);
  if (replaces) replace(file, made);
}

function replace(file: string, by: string): void {
  try {
    renameFileSync(by, file);
  } catch (fault) {
    rmSync(by, { force: true });
    throw fault;
  }
}

function orUsageError(file: string, act: () => void): void {
  try {
    act();
  } catch (fault) {
    throw new UsageError(`${file} could not be written: ${(fault as Error).message}`);
  }
}
