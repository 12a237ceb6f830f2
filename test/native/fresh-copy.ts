/** Makes copies of the package, to test builds. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runNpm } from '../../scripts/npm.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Far longer than a build takes. It may not hang the tests. */
const TIMEOUT_MS = 300_000;

/**
 * Unpacks the package as it is published, so that files that the package lacks are missing here, too.
 * @param copy the folder to make
 * @param packages the packages to install there
 */
export function makeFreshCopy(copy: string, packages: readonly string[]): void {
  mkdirSync(join(copy, 'home'), { recursive: true });
  run('tar', ['-xzf', packed(), '--strip-components=1'], copy);
  for (const name of packages) {
    const link = join(copy, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link);
  }
}

/** @returns the path of the package's archive, which is made once for all tests, because that takes three seconds */
function packed(): string {
  const folder = process.env.TEST_TEMPORARY!;
  const archive = join(folder, 'pickaxe.tgz');
  if (existsSync(archive)) return archive;
  const made = mkdtempSync(join(folder, 'pack-'));
  const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', made];
  const name = runNpm(args, { cwd: root, timeout: TIMEOUT_MS }).trim();
  renameSync(join(made, name), archive);
  return archive;
}

/** @throws Error with what the program printed, unless it ended well */
function run(command: string, args: readonly string[], cwd: string): string {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: TIMEOUT_MS });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout;
}

/**
 * Builds the addon in a copy, with only the path of this environment: no npm_config_nodedir, CPATH or CC.
 * @param command what starts Node
 */
export function buildAddon(copy: string, { CC, command = [] }: { CC?: string; command?: readonly string[] } = {}) {
  const [program, ...args] = [...command, process.execPath, 'scripts/build-native.mjs'];
  const env = { PATH: process.env.PATH, HOME: join(copy, 'home'), REQUIRE_NATIVE: '1', ...(CC && { CC }) };
  return spawnSync(program, args, { cwd: copy, env, encoding: 'utf8', timeout: TIMEOUT_MS });
}
