import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import LongestFirst from './test/longest-first.ts';

/** Many tests wait for processes, nodes and devices: two cores finish three files at a time in half the time. */
const LEAST_WORKERS = 3;

/** Far longer than any test needs: beside busy programs even the start of a process takes ten seconds. */
const PATIENCE_MS = 120_000;

const LONG = 'test/**/*.long.test.ts';
const MOCKS = 'test/**/*.mocks.test.ts';

/** Folders whose tests leave nothing behind in the process. */
const CLEAN = [
  'app',
  'base/net',
  'base/text',
  'contract',
  'fleet/coordinator',
  'fleet/rig',
  'miner/relay',
  'miner/source',
  'mock-node',
  'native',
  'node',
  'protocol',
  'rig/http',
  'rig/log',
  'rig/status',
  'rig/survey',
  'rig/terminal',
];
/** A file with one of these has a process of its own: it replaces the clock, or listens to the whole process. */
const WANTS_ALONE = /useFakeTimers|setSystemTime|process\.on\(/;

/** Files that share processes, so that each process loads the code once for many of them: all others have one each. */
const SHARED = readdirSync(new URL('test', import.meta.url), { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.test.ts') && !/\.(long|mocks)\.test\.ts$/.test(path))
  .filter((path) => CLEAN.some((folder) => path.startsWith(`test/${folder}/`)))
  .filter((path) => !WANTS_ALONE.test(readFileSync(new URL(path, import.meta.url), 'utf8')));

/** Node.js itself loads the built code, without transforming it, so that every file of tests starts faster. */
const asBuilt = { deps: { external: [/\/dist\//] } };

export default defineConfig({
  test: {
    testTimeout: PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    globalSetup: 'test/global-setup.ts',
    setupFiles: 'test/leaks.ts',
    // Applies to concurrent tests: those of the scripts, each of which keeps a core busy.
    maxConcurrency: 2,
    sequence: { sequencer: LongestFirst },
    maxWorkers: Math.max(LEAST_WORKERS, availableParallelism() - 1),
    projects: [
      {
        extends: true,
        test: { name: 'shared', include: SHARED, server: asBuilt, isolate: false },
      },
      {
        extends: true,
        test: { name: 'short', include: ['test/**/*.test.ts'], exclude: [...SHARED, LONG, MOCKS], server: asBuilt },
      },
      // Only a transformed module can be replaced by a mock.
      { extends: true, test: { name: 'mocks', include: [MOCKS] } },
      { extends: true, test: { name: 'long', include: [LONG], server: asBuilt } },
    ],
  },
});
