/** Runs the built command line. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** Tests remember nothing in the user's own cache, and what one remembers spares the others of its file a measurement. */
export const cacheHome = mkdtempSync(join(tmpdir(), 'pickaxe-cache-'));
process.once('exit', () => rmSync(cacheHome, { recursive: true, force: true }));

export interface Run {
  readonly child: ChildProcess;
  /** Lines of stdout so far. */
  readonly lines: string[];
  stderr: string;
  /** Settles when the process has ended and its output is complete. */
  readonly code: Promise<number | null>;
  /** The `--json` events so far. */
  events(name?: string): Record<string, unknown>[];
}

/** @param main the command line to run, when it is another copy of it */
export function start(args: string[], env: Record<string, string> = {}, main = MAIN): Run {
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, XDG_CACHE_HOME: cacheHome, ...env },
  });
  const run: Run = {
    child,
    lines: [],
    stderr: '',
    code: once(child, 'close').then(([code]) => code as number | null),
    events: (name) =>
      run.lines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ event }) => name === undefined || event === name),
  };
  createInterface({ input: child.stdout! }).on('line', (line) => run.lines.push(line));
  child.stderr!.on('data', (chunk) => {
    run.stderr += chunk;
  });
  return run;
}

export async function pickaxe(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const run = start(args);
  const code = await run.code;
  return { code, stdout: run.lines.join('\n'), stderr: run.stderr };
}
