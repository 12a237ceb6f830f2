/** Copies of what ships, to build in other ways than for use. */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Far more than a build takes: it may not hang the tests. */
const TIMEOUT_MS = 120_000;

/**
 * Copies everything that is not built from C.
 * @param copy the folder to make
 * @param packages what is installed there
 */
export function makeFreshCopy(copy: string, packages: readonly string[]): void {
  const built = join(root, 'native', 'build');
  for (const folder of ['dist', 'scripts', 'native']) {
    cpSync(join(root, folder), join(copy, folder), { recursive: true, filter: (path) => path !== built });
  }
  cpSync(join(root, 'package.json'), join(copy, 'package.json'));
  mkdirSync(join(copy, 'node_modules'));
  mkdirSync(join(copy, 'home'));
  for (const name of packages) symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name));
}

/**
 * Builds the addon in a copy, with nothing of this environment but the path: no npm_config_nodedir, CPATH or CC.
 * @param command what starts Node
 */
export function buildAddon(copy: string, { CC, command = [] }: { CC?: string; command?: readonly string[] } = {}) {
  const [program, ...args] = [...command, process.execPath, 'scripts/build-native.mjs'];
  const env = { PATH: process.env.PATH, HOME: join(copy, 'home'), REQUIRE_NATIVE: '1', ...(CC && { CC }) };
  return spawnSync(program, args, { cwd: copy, env, encoding: 'utf8', timeout: TIMEOUT_MS });
}
