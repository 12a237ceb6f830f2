/** `pickaxe init`: asks for what mining needs, checks each answer against the real thing, and writes it to a file. */

import { randomBytes } from 'node:crypto';
import { closeSync, lstatSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { confirm } from '@inquirer/prompts';
import { EXIT, UsageError } from '../../app/exit-codes.ts';
import { userConfigDirectory } from '../../config/files.ts';
import { renameFileSync } from '../../system/rename.ts';
import { type Answers, configText } from '../init/answers.ts';
import { askDevices } from '../init/ask-devices.ts';
import { askNodesAndMiner } from '../init/ask-miner.ts';
import { say } from '../init/say.ts';

export interface InitOptions {
  /** The user's file instead of the project's. */
  readonly user: boolean;
}

export async function runInit({ user }: InitOptions): Promise<number> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new UsageError(
      'pickaxe init asks questions, and there is no terminal here to answer on. Without one, use:\n' +
        '  pickaxe config example > pickaxe.toml   and edit that file (docs/configuration.md), or\n' +
        '  pickaxe mine --node URL --network ID --public-key HEX',
    );
  }
  const file = user ? userFile() : resolve('pickaxe.toml');
  refuseTwin(file);
  try {
    const isThere = exists(file);
    if (isThere && !(await confirm({ message: `${file} exists. Overwrite it?`, default: false }))) {
      say('Nothing was changed.');
      return EXIT.done;
    }
    const answers = { ...(await askNodesAndMiner()), ...(await askDevices()) };
    write(file, answers, isThere);
  } catch (fault) {
    // What @inquirer/core throws at Ctrl-C.
    if ((fault as Error).name !== 'ExitPromptError') throw fault;
    say('No configuration was written.');
    return EXIT.interrupted;
  }
  say(`${file} is written. It also explains every other setting.`, 'To start mining: pickaxe mine');
  return EXIT.done;
}

function userFile(): string {
  const folder = userConfigDirectory(process.env);
  if (folder === undefined) throw new UsageError('This user has no home directory: run pickaxe init without --user.');
  return join(folder, 'config.toml');
}

/** Where there is a file in each format, pickaxe reads neither. */
function refuseTwin(file: string): void {
  const twin = file.replace(/toml$/, 'json');
  if (exists(twin))
    throw new UsageError(`${twin} exists, and pickaxe reads only one of the two files: edit that one, or remove it.`);
}

/** Set whatever the umask is, because pickaxe refuses to read a file that others may write to. */
const MODE = 0o644;

/** @param replaces whether the user wants an existing file to be replaced: otherwise there must be none */
export function write(file: string, answers: Answers, replaces: boolean): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const made = replaces ? `${file}.${randomBytes(6).toString('hex')}.unfinished` : file;
    create(made, configText(answers));
    if (replaces) replace(file, made);
  } catch (fault) {
    throw new UsageError(`${file} could not be written: ${(fault as Error).message}`);
  }
}

/** Leaves nothing behind when the disk is full. */
function create(file: string, text: string): void {
  const fd = openSync(file, 'wx', MODE);
  let whole = false;
  try {
    writeFileSync(fd, text);
    whole = true;
  } finally {
    closeSync(fd);
    if (!whole) rmSync(file, { force: true });
  }
}

function replace(file: string, by: string): void {
  try {
    renameFileSync(by, file);
  } catch (fault) {
    rmSync(by, { force: true });
    throw fault;
  }
}

function exists(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}
