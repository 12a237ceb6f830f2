/** What a run of CI leaves out: what nothing has changed. */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { SETS, setsLeftOut } from '../../.ci/left-out.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const at = (path: string) => existsSync(join(ROOT, path));

/** A pattern has one pair of braces at most. */
function expand(pattern: string): string[] {
  const [braces, names] = /\{(.*)\}/.exec(pattern) ?? [];
  return braces === undefined ? [pattern] : names.split(',').map((name) => pattern.replace(braces, name));
}

it('names files and folders that exist', () => {
  const files = SETS.flatMap(({ files }) => files).flatMap(expand);
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((file) => !at(file.replace('/**', '')))).toEqual([]);
  const begins = (path: string) => {
    const [, folder, beginning] = /^(.*?)([^/]*)$/.exec(path)!;
    return at(folder) && readdirSync(join(ROOT, folder)).some((name) => name.startsWith(beginning));
  };
  expect(SETS.flatMap(({ paths }) => paths).filter((path) => !begins(path))).toEqual([]);
});

it('leaves out what no change touches, and nothing else', () => {
  const names = (...changed: string[]) => setsLeftOut(changed).map(({ name }) => name);
  expect(names()).toEqual(SETS.map(({ name }) => name));
  expect(names('README.md', 'docs/node.md')).toEqual(SETS.map(({ name }) => name));
  expect(names('test/miner/engine/cpu/kernels.test.ts')).toEqual(SETS.map(({ name }) => name));
  expect(names('test/native/kernels.long.test.ts')).not.toContain(
    'kernels by all compilers, sanitizers and emulated chips',
  );
  expect(names('src/cli/repl/repl.ts', 'src/cli/usage/usage.ts')).toEqual(
    SETS.map(({ name }) => name).filter((name) => name !== 'the npm package'),
  );
  const afterShader = names('shaders/search.wgsl');
  expect(afterShader).not.toContain('all variants of the shaders');
  expect(afterShader).not.toContain('what GPU compilers make of the shaders');
  expect(afterShader).toContain('benchmarks');
  expect(names('src/contract/values/decimal.ts')).toEqual(
    SETS.map(({ name }) => name).filter((name) => !name.startsWith('commands that sign and move coins')),
  );
  expect(names('native/search.c')).toEqual([
    'all variants of the shaders',
    'what GPU compilers make of the shaders',
    'benchmarks',
    'what pickaxe bench measures and prints',
    'web pages in a browser',
    'scripts for developers',
    'fleets as programs',
    'pools, ASICs and external workers, as programs',
    'commands that sign and move coins, as programs and on nodes that lie',
    'commands that set pickaxe up, as programs',
    'unattended mining as a program: log files, hooks, webhooks, pauses, full disks, unread output',
    'endurance and misbehaviour as scripts',
  ]);
});
