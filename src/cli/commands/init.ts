/** `pickaxe init`: asks for what mining needs, checks each answer against the real thing, and writes it to a file. */

import { lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { confirm, select } from '@inquirer/prompts';
import { EXIT, UsageError } from '../../app/exit-codes.ts';
import { userConfigDirectory } from '../../config/files.ts';
import type { Answers } from '../init/answers.ts';
import { askDevices } from '../init/ask-devices.ts';
import { askNodesAndMiner } from '../init/ask-miner.ts';
import { askPools } from '../init/ask-pool.ts';
import { say } from '../init/say.ts';
import { write } from '../init/write.ts';

const PROJECT_FILE = 'pickaxe.toml';

export interface InitOptions {
  /** The user's file instead of the project's. */
  readonly user: boolean;
}

export async function runInit({ user }: InitOptions): Promise<number> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new UsageError(
      'pickaxe init asks questions, and there is no terminal here to answer on. Without one, use:\n' +
        '  pickaxe config example > pickaxe.toml   and edit that file (docs/configuration.md), or\n' +
        '  pickaxe mine --node URL --network ID --public-key HEX, or\n' +
        '  pickaxe mine --pool URL --user NAME.WORKER',
    );
  }
  const file = user ? userFile() : resolve(PROJECT_FILE);
  refuseTwin(file);
  let start: string;
  try {
    const isThere = exists(file);
    if (isThere && !(await confirm({ message: `${file} exists. Overwrite it?`, default: false }))) {
      say('Nothing was changed.');
      return EXIT.done;
    }
    const answers = await ask(dirname(file));
    write(file, answers, isThere);
    start = howToStart(answers, user);
  } catch (fault) {
    // What @inquirer/core throws at Ctrl-C.
    if ((fault as Error).name !== 'ExitPromptError') throw fault;
    say('No configuration was written.');
    return EXIT.interrupted;
  }
  say(`${file} is written.`, 'Every other setting, explained: pickaxe config example', `To start mining: ${start}`);
  return EXIT.done;
}

/** A password counts only in a project file that is named. */
function howToStart({ pool }: Answers, user: boolean): string {
  return pool?.password && !user ? `pickaxe mine --config ${PROJECT_FILE}` : 'pickaxe mine';
}

/** @param folder that of the settings */
async function ask(folder: string): Promise<Answers> {
  const kind = await select({
    message: 'Mine on',
    choices: [
      { name: 'a node: the rewards of the blocks that you find are yours', value: 'node', short: 'a node' },
      { name: 'a pool: many miners share the rewards', value: 'pool', short: 'a pool' },
    ],
  });
  const source = kind === 'node' ? { node: await askNodesAndMiner() } : { pool: await askPools(folder) };
  return { ...source, ...(await askDevices()) };
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

function exists(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}
