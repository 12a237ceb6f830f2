/** Runs the built command line. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { ourNiceness } from '../priority.ts';

export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** Tests remember nothing in the user's own cache, and what one remembers spares the others of its file a measurement. */
export const cacheHome = mkdtempSync(join(tmpdir(), 'pickaxe-cache-'));
/** Nor does anything that the user has configured change what they find: no file, and no variable. */
const configHome = mkdtempSync(join(tmpdir(), 'pickaxe-config-'));
// What was killed may still be writing its last lines.
afterAll(() => {
  for (const folder of [cacheHome, configHome]) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

export interface Run {
  readonly child: ChildProcess;
  /** Lines of stdout so far. */
  readonly lines: string[];
  stderr: string;
  /** Settles when the process has ended and its output is complete. */
  readonly code: Promise<number | null>;
  /** The `--json` events so far. */
  events(type?: string): Record<string, unknown>[];
}

const unset = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PICKAXE_')));

/** The environment for the command line: nothing of the user's is read or written there. */
export const isolated: { readonly env: NodeJS.ProcessEnv; readonly cwd: string } = {
  env: { ...unset, XDG_CACHE_HOME: cacheHome, XDG_CONFIG_HOME: configHome, PICKAXE_CPU_PRIORITY: String(ourNiceness) },
  cwd: configHome,
};

/** How long `vi.waitFor` waits for what comes within a second on a machine that has nothing else to do. */
export const PATIENCE = { timeout: 60_000 };

/**
 * @param main the command line to run, when it is another copy of it
 * @param cwd where it runs. The default is a folder without a configuration
 */
export function start(args: string[], env: Record<string, string> = {}, main = MAIN, cwd = isolated.cwd): Run {
  const child = spawn(process.execPath, [main, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...isolated.env, ...env },
  });
  const run: Run = {
    child,
    lines: [],
    stderr: '',
    code: once(child, 'close').then(([code]) => code as number | null),
    events: (wanted) =>
      run.lines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ type }) => wanted === undefined || type === wanted),
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
