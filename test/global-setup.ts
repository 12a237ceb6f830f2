/**
 * Prepares a run of tests. It builds what has changed, so that no test runs on an old build, and makes a folder for the
 * files that tests share, whose path is in TEST_TEMPORARY. Tests of the command line begin with its cache `speeds`, in
 * which made-up speeds of the CPU kernels are remembered. Otherwise each of their processes would measure all kernels
 * first, because a busy machine remembers no measurement. Tests of the choice itself begin with an empty cache. All
 * temporary folders of the tests, and of the programs that they start, are in the shared folder, so that none outlives
 * the run.
 */

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const READY = fileURLToPath(new URL('../scripts/ready.mjs', import.meta.url));
const SCRIPT = fileURLToPath(new URL('./cli/remember-speeds.mjs', import.meta.url));
const DIST = fileURLToPath(new URL('../dist', import.meta.url));
/** The numbers of threads with which tests mine: this machine's, and one. */
const THREADS = [[], ['1']];

/** Longer than vitest needs to end its workers. */
const EXIT_MS = 2_000;

/** The variables that name the folder for temporary files: on Unix, and on Windows. */
const TEMPORARY = ['TMPDIR', 'TEMP', 'TMP'];

/** @returns a function to call when the tests have ended */
export default function setUp(): (() => void) | undefined {
  // Vitest calls this for each project of a run, one after the other.
  if (process.env.TEST_TEMPORARY !== undefined) return undefined;
  const ready = spawnSync(process.execPath, [READY, '--no-install'], { stdio: 'inherit' });
  if (ready.status !== 0) throw new Error('pickaxe cannot be built: the reason is above');
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-tests-'));
  // Some programs are started as another user.
  chmodSync(folder, 0o711);
  for (const threads of THREADS) {
    const args = [SCRIPT, DIST, join(folder, 'speeds'), ...threads];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the speeds of the kernels cannot be remembered: ${stderr}`);
  }
  process.env.TEST_TEMPORARY = folder;
  const temporary = join(folder, 't');
  mkdirSync(temporary);
  for (const name of TEMPORARY) process.env[name] = temporary;
  return () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    // Sometimes vitest waits ten seconds for its own transformer before it ends. Its reports are complete by now.
    setTimeout(() => process.exit(), EXIT_MS).unref();
  };
}
