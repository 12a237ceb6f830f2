import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Many tests wait for processes, nodes and devices: two cores finish three files at a time in half the time. */
const LEAST_WORKERS = 3;

/** Far longer than any test needs: beside busy programs even the start of a process takes ten seconds. */
const PATIENCE_MS = 120_000;

const ALL = 'test/**/*.test.ts';
const LONG = 'test/**/*.long.test.ts';

export default defineConfig({
  test: {
    testTimeout: PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    // Applies to concurrent tests: those of the scripts, each of which keeps a core busy.
    maxConcurrency: 2,
    maxWorkers: Math.max(LEAST_WORKERS, availableParallelism() - 1),
    projects: [
      { extends: true, test: { name: 'short', include: [ALL], exclude: [LONG] } },
      { extends: true, test: { name: 'long', include: [LONG] } },
    ],
  },
});
