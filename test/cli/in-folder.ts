/** Runs the command line in a new folder for each test, which also has the user's files. */

import { afterEach, beforeEach } from 'vitest';
import { Folder } from '../app/config/folder.ts';
import { pickaxeIn } from './in-process.ts';
import { start } from './pickaxe.ts';

export const KEY = 'a1'.repeat(32);

export let folder: Folder;

/** A file of tests calls this once. */
export function inNewFolders(): void {
  beforeEach(() => {
    folder = new Folder();
  });
  afterEach(() => folder.remove());
}

/** Runs a command that only prints something, in this process. */
export async function pickaxe(args: string[], env: Record<string, string> = {}) {
  return pickaxeIn(folder.path, args, { XDG_CONFIG_HOME: folder.path, ...env });
}

/** Runs a command in a process, to its end: for what it logs, and for mining. */
export async function asProgram(args: string[], env: Record<string, string> = {}) {
  const run = start(args, { XDG_CONFIG_HOME: folder.path, ...env }, undefined, folder.path);
  const code = await run.code;
  return { code, stdout: run.lines.join('\n'), stderr: run.stderr, run };
}

/** A project file with a node, its network, a key and the CPU. */
export const project = `[node]
urls = ["http://127.0.0.1:9"]
network = "development"

[miner]
public-keys = ["${KEY}"]

[devices]
use = ["cpu"]
`;
