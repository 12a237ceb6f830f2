// A user who has configured nothing, for a miner whose figures are to say nothing of this one's settings.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * What is remembered of the machine stays, such as its fastest kernel: otherwise each miner would measure it first.
 * @returns `cwd` and `env` for a process, without any settings of pickaxe's. They go when this process ends
 */
export function freshUser() {
  const cwd = mkdtempSync(join(tmpdir(), 'pickaxe-user-'));
  process.on('exit', () => rmSync(cwd, { recursive: true, force: true }));
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('PICKAXE_'));
  return { cwd, env: { ...Object.fromEntries(others), XDG_CONFIG_HOME: join(cwd, 'config') } };
}
