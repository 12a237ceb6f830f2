/** Flags for the threads of Piscina. */

const FLAG = '--no-experimental-require-module';

/**
 * Flags that make Piscina load its script by import() only. Piscina would try require() first, and Node.js 20 aborts
 * the process if a thread is ended during the require() of an ES module. This happens, for example, when a miner is
 * stopped right after its start.
 */
export const IMPORT_ONLY: readonly string[] = process.allowedNodeEnvironmentFlags.has(FLAG) ? [FLAG] : [];
