/** Faults in every module that is built, and the runner that repeats a test in place with each fault. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vite';
import { expect, test } from 'vitest';
import { findPlaces, putIn } from '../../scripts/mutations/places.mjs';
import { ROOT, scratch } from './run.ts';

const FAULTS = 3;

test('every module stays JavaScript with all its faults at once', () => {
  const dist = join(ROOT, 'dist');
  const modules = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  let all = 0;
  for (const name of modules) {
    const text = readFileSync(join(dist, name), 'utf8');
    const places = findPlaces(text).map((place: object, id: number) => ({ ...place, id }));
    all += places.length;
    const faulty = putIn(text, places);
    expect(() => parseAst(faulty), name).not.toThrow();
  }
  expect(all).toBeGreaterThan(10_000);
});

test('a fault is noticed by a failure, also by one that cannot be described, and by a promise without a handler', () => {
  const folder = join(scratch, 'repeated');
  mkdirSync(folder);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const files = {
    'some.test.js': `
      import { expect, it } from 'vitest';
      const fail = () => { throw new Error('a fault'); };
      it('fails', () => { if (globalThis.fault(0)) fail(); });
      // vitest describes a difference by a copy, which has no private member.
      class Coin { #value = 1; get value() { return this.#value; } }
      it('cannot be described', () => expect(new Coin()).toMatchObject({ value: globalThis.fault(1) ? 2 : 1 }));
      it('leaves something', () => { if (globalThis.fault(2)) void Promise.reject(new Error('a fault')); });`,
    'vitest.config.mjs': `
      const runner = ${JSON.stringify(join(ROOT, 'scripts/mutations/runner.mjs'))};
      export default { test: { runner, include: ['some.test.js'], pool: 'forks' } };`,
    noticed: '',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const [events, noticed, path] = ['events', 'noticed', 'plan.json'].map((name) => join(folder, name));
  const times = { mostTestMs: 60_000, mostFaultMs: 60_000, leastLimitMs: 60_000 };
  const plan = { root: folder, folder, events, noticed, faults: FAULTS, files: { 'some.test.js': {} }, ...times };
  writeFileSync(path, JSON.stringify(plan));
  const args = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--config', join(folder, 'vitest.config.mjs')];
  spawnSync(process.execPath, args, { cwd: folder, env: { ...process.env, FAULTS_PLAN: path }, timeout: 60_000 });
  const read = readFileSync(events, 'utf8').trimEnd().split('\n');
  const found = read.map((line) => JSON.parse(line)).filter(({ type }) => type === 'noticed');
  expect(found.map(({ id, test: by }) => [id, by])).toEqual([
    [0, 'fails'],
    [1, 'cannot be described'],
    [2, 'leaves something'],
  ]);
}, 120_000);
