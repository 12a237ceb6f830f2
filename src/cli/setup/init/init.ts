/** `pickaxe init`: asks for the settings that mining needs, checks each answer, and writes the configuration file. */

import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { userConfigDirectory } from '../../../app/config/config-files.ts';
import { EXIT, orUsageError, UsageError } from '../../../app/process/exit.ts';
import { renameFileSync } from '../../../base/system/files.ts';
import type { Io, Line } from '../../io.ts';
import { createFile, SECRET_MODE } from '../keygen.ts';
import { type Answers, askDevices, configText, type Password } from './answers.ts';
import { askNodesAndMiner } from './ask-miner.ts';
import { askPools } from './ask-sources.ts';
import { Questions } from './questions.ts';

const PROJECT_FILE = 'pickaxe.toml';

export function declare(command: Command, { io, action }: Line): void {
  command
    .option('--user', "write the user's file instead, which applies in every folder", false)
    .action(action((options) => runInit(options, io)));
}

interface InitOptions {
  readonly user: boolean;
}

async function runInit({ user }: InitOptions, io: Io): Promise<number> {
  if (io.terminal === undefined) {
    throw new UsageError(
      'pickaxe init asks questions, and there is no terminal here to answer on. Without one, use:\n' +
        '  pickaxe config example > pickaxe.toml   and edit that file (docs/configuration.md), or\n' +
        '  pickaxe mine --node URL --network ID --public-key HEX, or\n' +
        '  pickaxe mine --pool URL --user NAME.WORKER, or\n' +
        '  pickaxe mine --nats URL',
    );
  }
  const questions = new Questions(io.terminal);
  const file = user ? userFile() : resolve(PROJECT_FILE);
  refuseTwin(file);
  let start: string;
  try {
    const isThere = exists(file);
    if (isThere && !(await questions.confirm(`${file} exists. Overwrite it?`))) {
      questions.say('Nothing was changed.');
      return EXIT.done;
    }
    const answers = await ask(questions, dirname(file), io);
    write(file, answers, isThere);
    start = howToStart(answers, user);
  } catch (fault) {
    // @inquirer/core throws an ExitPromptError when the user ends a question with Ctrl-C.
    if ((fault as Error).name !== 'ExitPromptError') throw fault;
    questions.say('No configuration was written.');
    return EXIT.interrupted;
  }
  questions.say(
    `${file} is written.`,
    'Every other setting, explained: pickaxe config example',
    `To start mining: ${start}`,
  );
  return EXIT.done;
}

/** @returns the command line that starts mining. A project file with a password must be named with --config */
function howToStart({ pool }: Answers, user: boolean): string {
  return pool?.password && !user ? `pickaxe mine --config ${PROJECT_FILE}` : 'pickaxe mine';
}

async function ask(questions: Questions, folder: string, io: Io): Promise<Answers> {
  const kind = await questions.select('Mine on', [
    { name: 'a node: the rewards of the blocks that you find are yours', value: 'node', short: 'a node' },
    { name: 'a pool: many miners share the rewards', value: 'pool', short: 'a pool' },
  ]);
  const source =
    kind === 'node' ? { node: await askNodesAndMiner(questions) } : { pool: await askPools(questions, folder) };
  return { ...source, ...(await askDevices(questions, io)) };
}

function userFile(): string {
  const folder = userConfigDirectory(process.env);
  if (folder === undefined) throw new UsageError('This user has no home directory: run pickaxe init without --user.');
  return join(folder, 'config.toml');
}

/** @throws UsageError if a JSON file of the same name exists, because pickaxe does not start while that file exists */
function refuseTwin(file: string): void {
  const twin = file.replace(/toml$/, 'json');
  if (exists(twin))
    throw new UsageError(`${twin} exists, and pickaxe reads TOML only: move its settings to ${file}, and remove it.`);
}

function exists(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

/** Mode of the configuration file. Pickaxe refuses to read a file that other users may write to. */
const MODE = 0o644;
const FOLDER_MODE = 0o700;

/**
 * Writes the password's file, if there is a password, and then the settings. If the settings cannot be written, the
 * password's file is removed again.
 * @param replaces whether to replace an existing file. If false, the file must not exist yet
 * @throws UsageError with the file that could not be written, and the reason
 */
export function write(file: string, answers: Answers, replaces: boolean): void {
  const secret = answers.pool?.password && writePassword(dirname(file), answers.pool.password);
  try {
    orUsageError(() => writeSettings(file, configText(answers), replaces), notWritten(file));
  } catch (fault) {
    if (secret !== undefined) rmSync(secret, { force: true });
    throw fault;
  }
}

const notWritten = (file: string) => (why: string) => `${file} could not be written: ${why}`;

function writePassword(folder: string, { file: name, text }: Password): string {
  const file = resolve(folder, name);
  orUsageError(() => {
    mkdirSync(dirname(file), { recursive: true, mode: FOLDER_MODE });
    createFile(file, `${text}\n`, SECRET_MODE);
  }, notWritten(file));
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
