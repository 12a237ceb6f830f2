// Simulates a user without settings and without blocks of earlier runs, so that figures do not depend on who measures.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders = [];
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/**
 * The cache with measurements of the machine stays, because otherwise each miner would measure the kernels first.
 * @returns `cwd` and `env` for a process, without any settings or block log of pickaxe. The folder is removed when this
 *   process ends
 */
export function freshUser() {
  const cwd = mkdtempSync(join(tmpdir(), 'pickaxe-user-'));
  folders.push(cwd);
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('PICKAXE_'));
  const own = { XDG_CONFIG_HOME: join(cwd, 'config'), XDG_STATE_HOME: join(cwd, 'state') };
  return { cwd, env: { ...Object.fromEntries(others), ...own } };
}
