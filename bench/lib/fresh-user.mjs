// A user who has configured nothing, for a miner whose figures are to say nothing of this one's settings.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** @returns `cwd` and `env` for a process, both with nothing in them that pickaxe reads. They go when this process ends. */
export function freshUser() {
  const cwd = mkdtempSync(join(tmpdir(), 'pickaxe-user-'));
  process.on('exit', () => rmSync(cwd, { recursive: true, force: true }));
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('PICKAXE_'));
  const [XDG_CACHE_HOME, XDG_CONFIG_HOME] = ['cache', 'config'].map((name) => join(cwd, name));
  return { cwd, env: { ...Object.fromEntries(others), XDG_CACHE_HOME, XDG_CONFIG_HOME } };
}
