/** Runs the built command line. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { minersNiceness } from '../priority.ts';

export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/**
 * The tests of a file share this cache, which is not the user's. It begins with the speeds of the CPU kernels. All
 * temporary folders are removed at the end of the run.
 */
export const cacheHome = mkdtempSync(join(tmpdir(), 'pickaxe-cache-'));
cpSync(join(process.env.TEST_TEMPORARY!, 'speeds'), join(cacheHome, 'pickaxe'), { recursive: true });
/** The user's own configuration must not affect the tests. */
const configHome = mkdtempSync(join(tmpdir(), 'pickaxe-config-'));
const stateHome = mkdtempSync(join(tmpdir(), 'pickaxe-state-'));

/** An exit code, or the signal that has killed the process. */
export type ExitCode = number | NodeJS.Signals;

export interface Run {
  readonly child: ChildProcess;
  /** Lines of stdout so far. */
  readonly lines: string[];
  stderr: string;
  /** Settles when the process has ended and its output is complete. */
  readonly code: Promise<ExitCode>;
  /** The events of `--json` so far. */
  events(type?: string): Record<string, unknown>[];
}

const unset = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PICKAXE_')));

/** The environment of the command line, in which it neither reads nor writes the user's files. */
export const isolated: { readonly env: NodeJS.ProcessEnv; readonly cwd: string } = {
  env: {
    ...unset,
    XDG_CACHE_HOME: cacheHome,
    XDG_CONFIG_HOME: configHome,
    XDG_STATE_HOME: stateHome,
    PICKAXE_CPU_PRIORITY: String(minersNiceness),
  },
  cwd: configHome,
};

/**
 * @param main the command line to run, if it is another copy
 * @param cwd the folder in which it runs. The default is a folder without a configuration
 * @param files number of files that it may have open. The default is this process's limit
 */
export function start(
  args: string[],
  env: Record<string, string> = {},
  main = MAIN,
  cwd = isolated.cwd,
  files?: number,
): Run {
  const node = [process.execPath, main, ...args];
  const [program, ...rest] = files === undefined ? node : ['sh', '-c', `ulimit -n ${files}; exec "$0" "$@"`, ...node];
  const child = spawn(program, rest, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...isolated.env, ...env },
  });
  const run: Run = {
    child,
    lines: [],
    stderr: '',
    code: once(child, 'close').then(([code, signal]) => (code ?? signal) as ExitCode),
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

export async function pickaxe(...args: string[]): Promise<{ code: ExitCode; stdout: string; stderr: string }> {
  const run = start(args);
  const code = await run.code;
  return { code, stdout: run.lines.join('\n'), stderr: run.stderr };
}
