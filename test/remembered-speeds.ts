/**
 * Before the first test: remembers made-up speeds of the CPU kernels in a cache that the tests of the command line begin with.
 * Otherwise each of their processes would measure all kernels first, for on a machine as busy as this nothing that was measured
 * is remembered. Tests of the choice itself begin with an empty cache.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./cli/remember-speeds.mjs', import.meta.url));
const DIST = fileURLToPath(new URL('../dist', import.meta.url));
/** The numbers of threads that tests mine with: that of this machine, and one. */
const THREADS = [[], ['1']];

/** @returns what ends with the tests */
export default function rememberSpeeds(): () => void {
  if (!existsSync(DIST)) throw new Error('pickaxe is not built: run "npm test", or "npm run build" first');
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-remembered-'));
  for (const threads of THREADS) {
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, DIST, folder, ...threads], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the speeds of the kernels cannot be remembered: ${stderr}`);
  }
  process.env.TEST_REMEMBERED_SPEEDS = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
