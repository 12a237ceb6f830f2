/** Tests the native build on a machine that has only a compiler: no Node.js headers, no npm settings, no network. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { buildAddon, makeFreshCopy } from './fresh-copy.ts';

const temporary = mkdtempSync(join(tmpdir(), 'pickaxe-build-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

const works = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
const hasCompiler = ['clang', 'cc', 'gcc'].some((command) => works(command, '--version'));
// This runs a command in a network namespace without a network.
const noNetwork = works('unshare', '-rn', 'true') ? ['unshare', '-rn'] : undefined;

const skipped = !hasCompiler && !process.env.CI;
describe.skipIf(skipped)(`the native build${skipped ? ', not tried: there is no C compiler' : ''}`, () => {
  const offline = noNetwork ? 'with no network' : 'with the network left on, since `unshare -rn` does not work here';

  test.runIf(process.env.CI)('needs no network', () => {
    expect(noNetwork).toBeDefined();
  });

  test(`needs only the package node-api-headers, ${offline}`, () => {
    const copy = join(temporary, 'complete');
    makeFreshCopy(copy, ['node-api-headers']);
    const { status, stderr } = buildAddon(copy, noNetwork && { command: noNetwork });
    expect(stderr).toMatch(/^Native CPU kernels built with \w+\.\n$/);
    expect(status).toBe(0);
    const script = 'console.log(require("./native/build/pickaxe.node").kernels.map(({ name }) => name).join(" "))';
    const loaded = spawnSync(process.execPath, ['-e', script], { cwd: copy, encoding: 'utf8' });
    expect(loaded.stdout.trim().split(' ')).toContain('portable');
  });

  test('says which package is missing, and finds the headers nowhere else', () => {
    const copy = join(temporary, 'without-headers');
    makeFreshCopy(copy, []);
    const { status, stderr } = buildAddon(copy);
    expect(stderr).toContain('the package node-api-headers is not installed (`npm ci` installs it)');
    expect(status).toBe(1);
    expect(existsSync(join(copy, 'native/build/pickaxe.node'))).toBe(false);
  });
});
