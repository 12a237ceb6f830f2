import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Many tests wait for processes, nodes and devices: two cores do three files at a time in half the time. */
const LEAST_WORKERS = 3;

/** Far more than a test takes: beside busy programs even the start of a process takes ten seconds. */
const PATIENCE_MS = 120_000;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    // Of tests that are concurrent: those of scripts, which are busy themselves.
    maxConcurrency: 2,
    maxWorkers: Math.max(LEAST_WORKERS, availableParallelism() - 1),
  },
});
