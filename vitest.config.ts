import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import LongestFirst from './test/longest-first.ts';

/** Many tests wait for nodes, streams and clocks: with fewer files at a time, two cores would often have nothing to do. */
const LEAST_WORKERS = 5;

/** Far longer than any test needs: beside busy programs even the start of a process takes ten seconds. */
const PATIENCE_MS = 120_000;
/** Long tests build, install and mine, some of them under an emulator: longer than what they start may take itself. */
const LONG_PATIENCE_MS = 400_000;

const LONG = 'test/**/*.long.test.ts';
const MOCKS = 'test/**/*.mocks.test.ts';

/** Files that have a process of their own, and folders of such files. */
const ALONE = [
  // It watches the connections of all code, so it must be the first to load that.
  'test/base/net/connecting.test.ts',
  // It counts the listeners of the whole process.
  'test/base/system/process-group.test.ts',
  // They set the time zone, which a process reads once.
  'test/rig/pauses/schedule.test.ts',
];

/** Patterns of long tests that CI leaves out, because nothing that they try has changed: `.ci/left-out.mjs`. */
const LEFT_OUT = process.env.LEFT_OUT?.split(' ').filter(Boolean) ?? [];

/** Files that share processes, so that each process loads the code once for many of them. */
const SHARED = readdirSync(new URL('test', import.meta.url), { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.test.ts') && !/\.(long|mocks)\.test\.ts$/.test(path))
  .filter((path) => !ALONE.some((one) => path.startsWith(one)));

/** Node.js itself loads the built code, without transforming it, so that every file of tests starts faster. */
const asBuilt = { deps: { external: [/\/dist\//] } };

export default defineConfig({
  test: {
    testTimeout: PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    // Room for young objects, in MiB. With the smaller room that Node.js gives them, tests take a twentieth longer.
    execArgv: ['--max-semi-space-size=64'],
    globalSetup: 'test/global-setup.ts',
    setupFiles: ['test/undici-timer.ts', 'test/leaks.ts'],
    // Applies to concurrent tests: those of the scripts, each of which keeps a core busy.
    maxConcurrency: 2,
    sequence: { sequencer: LongestFirst },
    maxWorkers: Math.max(LEAST_WORKERS, availableParallelism() - 1),
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: SHARED,
          server: asBuilt,
          isolate: false,
          // Besides those above.
          setupFiles: ['test/cases.ts'],
        },
      },
      {
        extends: true,
        test: { name: 'short', include: ['test/**/*.test.ts'], exclude: [...SHARED, LONG, MOCKS], server: asBuilt },
      },
      // Only a transformed module can be replaced by a mock. Each file has a context of its own, which is a third cheaper
      // than a process of its own.
      { extends: true, test: { name: 'mocks', include: [MOCKS], pool: 'vmForks' } },
      {
        extends: true,
        test: {
          name: 'long',
          include: [LONG],
          exclude: LEFT_OUT,
          server: asBuilt,
          testTimeout: LONG_PATIENCE_MS,
          hookTimeout: LONG_PATIENCE_MS,
        },
      },
    ],
  },
});
