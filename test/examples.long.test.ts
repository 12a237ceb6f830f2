/**
 * Runs the examples with the packed npm package, like somebody who has installed it, and compiles them with its types.
 */

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isolated } from './cli/pickaxe.ts';
import { makeFreshCopy } from './native/fresh-copy.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const examples = join(root, 'examples');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const names = readdirSync(examples).filter((name) => name.endsWith('.mjs'));

/** Far longer than an example takes. */
const RUN_MS = 300_000;

/** The last output of each example, which shows that it has reached its end. */
const SAYS: Readonly<Record<string, RegExp>> = {
  'mine.mjs': /accepted\n(.*\n)*[3-9] blocks accepted, [\d.]+ [kMG]?H\/s on average\n$/,
  'devices.mjs': /^cpu \(\S+\): [\d.]+ [kMG]?H\/s, .*, 0 hardware errors$/m,
  'pool.mjs': /(share|block) accepted\n(.*\n)*\d+ shares accepted\n$/,
  'parent.mjs': /^(share|block) with nonce \d+ accepted\n(.*\n)*bye: drained\n\d+ shares accepted, exit code 0\n$/m,
  'command.mjs': /^exit code 0, pickaxe configuration\nexit code 2, error: .*main net.*\n$/,
  'own-source.mjs': /(share|block) with nonce 0x[\da-f]{14}2a\n(.*\n)*([5-9]|\d{2,}) shares\n$/,
  'own-engine.mjs': /^slow: \d+ hashes, [1-9]\d* proofs, 0 hardware errors$/m,
  'own-relay.mjs': /: accepted\n(.*\n)*[3-9] blocks accepted\n$/,
};

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-examples-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(() => {
  makeFreshCopy(join(folder, 'node_modules/pickaxe'), Object.keys(manifest.dependencies));
  symlinkSync(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'));
  for (const name of names) copyFileSync(join(examples, name), join(folder, name));
});

describe('the examples', () => {
  test.each(names)('%s does what it says, and ends', (name) => {
    const args = name === 'devices.mjs' ? ['4'] : [];
    const options = { ...isolated, cwd: folder, encoding: 'utf8', timeout: RUN_MS } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, [name, ...args], options);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(SAYS[name]);
  });

  test('agree with the types of the package', () => {
    const compilerOptions = {
      ...{ allowJs: true, checkJs: true, noEmit: true, strict: true, exactOptionalPropertyTypes: true },
      ...{ module: 'nodenext', target: 'es2023', skipLibCheck: false, types: ['node'] },
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mjs'] }));
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8', timeout: RUN_MS });
    expect(stdout).toBe('');
  });

  test('are all in the list of examples/README.md', () => {
    const listed = readFileSync(join(examples, 'README.md'), 'utf8').matchAll(/^\| \[([a-z-]+\.mjs)\]/gm);
    expect(Array.from(listed, ([, name]) => name).sort()).toEqual([...names].sort());
  });
});
