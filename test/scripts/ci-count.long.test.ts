/** The text of CI about a report of tests. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, scratch } from './run.ts';

test('CI counts the tests of a report, and says why each one failed', () => {
  const folder = join(scratch, 'tests');
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'one.test.js'),
    `describe('coins', () => {
      test('are kept', () => {});
      test('are counted', () => { throw new Error('a coin is missing'); });
    });`,
  );
  writeFileSync(join(folder, 'other.test.js'), `throw new Error('it cannot be loaded');`);
  const report = join(folder, 'report.json');
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const args = ['run', '--root', folder, '--globals', '--reporter=json', `--outputFile=${report}`];
  spawnSync(process.execPath, [vitest, ...args], { cwd: folder });

  const { stdout, stderr } = spawnSync(process.execPath, [join(ROOT, '.ci/count.mjs'), report], { encoding: 'utf8' });
  expect(stdout).toBe('1 1\n');
  expect(stderr).toMatch(/^FAILED: .*one\.test\.js: coins are counted\n {2}Error: a coin is missing\n/m);
  expect(stderr).toMatch(/^FAILED: .*other\.test\.js\n {2}it cannot be loaded\n/m);
});
