/** The native build on a machine that has a compiler and nothing else: no Node headers, no npm settings, no network. */

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const headersPackage = dirname(createRequire(import.meta.url).resolve('node-api-headers/package.json'));
const temporary = mkdtempSync(join(tmpdir(), 'pickaxe-build-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

const works = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
const compiler = ['clang', 'cc', 'gcc'].find((command) => works(command, '--version'));
// A namespace of its own, without a network in it.
const noNetwork = works('unshare', '-rn', 'true') ? ['unshare', '-rn'] : [];

/** A copy of what ships, not built yet. */
function freshCopy(name: string, packages: readonly string[]): string {
  const copy = join(temporary, name);
  for (const folder of ['dist', 'scripts', 'native']) {
    const built = join(root, 'native', 'build');
    cpSync(join(root, folder), join(copy, folder), { recursive: true, filter: (path) => path !== built });
  }
  cpSync(join(root, 'package.json'), join(copy, 'package.json'));
  mkdirSync(join(copy, 'node_modules'));
  for (const path of packages) symlinkSync(path, join(copy, 'node_modules', basename(path)));
  return copy;
}

function build(copy: string, prefix: readonly string[] = []) {
  const home = join(copy, 'home');
  mkdirSync(home);
  const [command, ...args] = [...prefix, process.execPath, 'scripts/build-native.mjs'];
  // Nothing of this environment but the path: no npm_config_nodedir, CPATH or CC.
  const env = { PATH: process.env.PATH, HOME: home, REQUIRE_NATIVE: '1' };
  return spawnSync(command, args, { cwd: copy, env, encoding: 'utf8' });
}

describe.skipIf(compiler === undefined && !process.env.CI)(
  `the native build${compiler === undefined ? ' (skipped: no C compiler)' : ''}`,
  () => {
    const offline =
      noNetwork.length > 0 ? 'with no network' : 'with the network left on, since unshare does not work here';

    test(`takes the package node-api-headers and nothing else, ${offline}`, () => {
      const copy = freshCopy('complete', [headersPackage]);
      const { status, stderr } = build(copy, noNetwork);
      expect(stderr).toMatch(/^Native CPU kernels built with \w+\.\n$/);
      expect(status).toBe(0);
      const script = 'console.log(require("./native/build/pickaxe.node").kernels.map(({ name }) => name).join(" "))';
      const loaded = spawnSync(process.execPath, ['-e', script], { cwd: copy, encoding: 'utf8' });
      expect(loaded.stdout.trim().split(' ')).toContain('portable');
    });

    test('says which package is missing, and finds the headers nowhere else', () => {
      const copy = freshCopy('without-headers', []);
      const { status, stderr } = build(copy);
      expect(stderr).toContain('the package node-api-headers is not installed (`npm ci` installs it)');
      expect(status).toBe(1);
      expect(existsSync(join(copy, 'native/build/pickaxe.node'))).toBe(false);
    });
  },
);
