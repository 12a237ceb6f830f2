/** Runs command lines in this process: for commands that print something and end. */

import { run } from '#pickaxe/cli/run.js';
import { isolated } from './pickaxe.ts';
import { type Given, pretendedIo } from './pretended-io.ts';

export interface Ended {
  readonly code: number;
  /** Without the last newline. */
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in a folder without a configuration. */
export async function pickaxe(...args: string[]): Promise<Ended> {
  return pickaxeIn(isolated.cwd, args);
}

/** Command lines run one after the other, because each needs the process's folder and variables. */
let last: Promise<unknown> = Promise.resolve();

/**
 * @param folder where the command runs
 * @param env variables beside those that keep it away from the user's files
 * @param given what the command finds outside
 */
export function pickaxeIn(
  folder: string,
  args: readonly string[],
  env: Record<string, string> = {},
  given: Given = {},
): Promise<Ended> {
  const ended = last.then(() => runIn(folder, args, env, given));
  last = ended.catch(() => {});
  return ended;
}

async function runIn(
  folder: string,
  args: readonly string[],
  env: Record<string, string>,
  given: Given,
): Promise<Ended> {
  const io = pretendedIo({ now: Date.now(), ...given });
  const before = { env: process.env, cwd: process.cwd() };
  process.env = { ...isolated.env, ...env };
  process.chdir(folder);
  try {
    const code = await run(args, io);
    return { code, stdout: io.stdout.replace(/\n$/, ''), stderr: io.stderr };
  } finally {
    process.chdir(before.cwd);
    process.env = before.env;
  }
}
