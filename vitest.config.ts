import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import LongestFirst from './test/longest-first.ts';

/** Many tests wait for processes, nodes and devices: two cores finish three files at a time in half the time. */
const LEAST_WORKERS = 3;

/** Far longer than any test needs: beside busy programs even the start of a process takes ten seconds. */
const PATIENCE_MS = 120_000;

const ALL = 'test/**/*.test.ts';
const LONG = 'test/**/*.long.test.ts';
const MOCKS = 'test/**/*.mocks.test.ts';

/**
 * Folders whose files share processes, so that each process loads the code once for many of them. Their tests do not
 * replace the clock, and leave nothing behind in the process. All other files have a process each.
 */
const SHARED = [
  'blocks',
  'chain',
  'config',
  'ledger',
  'native/generator',
  'net',
  'node',
  'sweep',
  'terminal',
  'text',
  'wire',
].map((folder) => `test/${folder}/**/*.test.ts`);

/** Node.js itself loads the built code, without transforming it, so that every file of tests starts faster. */
const asBuilt = { deps: { external: [/\/dist\//] } };

export default defineConfig({
  test: {
    testTimeout: PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    globalSetup: 'test/global-setup.ts',
    // Applies to concurrent tests: those of the scripts, each of which keeps a core busy.
    maxConcurrency: 2,
    sequence: { sequencer: LongestFirst },
    maxWorkers: Math.max(LEAST_WORKERS, availableParallelism() - 1),
    projects: [
      {
        extends: true,
        test: { name: 'shared', include: SHARED, exclude: [LONG, MOCKS], server: asBuilt, isolate: false },
      },
      { extends: true, test: { name: 'short', include: [ALL], exclude: [...SHARED, LONG, MOCKS], server: asBuilt } },
      // Only a transformed module can be replaced by a mock.
      { extends: true, test: { name: 'mocks', include: [MOCKS] } },
      { extends: true, test: { name: 'long', include: [LONG], server: asBuilt } },
    ],
  },
});
