import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Many tests wait for processes, nodes and devices: two cores do three files at a time in half the time. */
const LEAST_WORKERS = 3;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: Math.max(LEAST_WORKERS, availableParallelism() - 1),
  },
});
