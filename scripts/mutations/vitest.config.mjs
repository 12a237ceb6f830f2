// vitest's configuration of a campaign: the files of the plan, in its order, each in a process of its own.

import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';

const root = fileURLToPath(new URL('../..', import.meta.url));
const plan = JSON.parse(readFileSync(process.env.FAULTS_PLAN, 'utf8'));
const files = Object.keys(plan.files);
const isMocks = (path) => path.endsWith('.mocks.test.ts');

class InOrder extends BaseSequencer {
  async sort(specifications) {
    const place = ({ moduleId }) => files.indexOf(relative(root, moduleId).replaceAll('\\', '/'));
    return specifications.toSorted((a, b) => place(a) - place(b));
  }
}

const project = (name, include, more) => ({
  extends: true,
  test: { name, include, runner: fileURLToPath(new URL('runner.mjs', import.meta.url)), ...more },
});

export default defineConfig({
  root,
  test: {
    globalSetup: 'test/global-setup.ts',
    setupFiles: ['test/undici-timer.ts', 'test/leaks.ts'],
    testTimeout: plan.timeoutMs,
    hookTimeout: plan.timeoutMs,
    passWithNoTests: true,
    pool: 'forks',
    maxWorkers: plan.workers,
    sequence: { sequencer: InOrder },
    reporters: ['dot'],
    projects: [
      project(
        'plain',
        files.filter((path) => !isMocks(path)),
        { server: { deps: { external: [/\/dist\//] } } },
      ),
      project('mocks', files.filter(isMocks)),
    ].filter(({ test }) => test.include.length > 0),
  },
});
