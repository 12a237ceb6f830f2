// The command line of benchmarks that mine in rounds with the CPU, and the kernel that all rounds use.

import { parseArgs } from 'node:util';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import { printHeading } from '../lib/figures.mjs';

const OPTIONS = {
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '8' },
  'warm-up': { type: 'string', default: '3' },
  threads: { type: 'string' },
  kernel: { type: 'string' },
  out: { type: 'string' },
};

/**
 * Reads the command line, prints the heading, and finds the fastest kernel unless one was named.
 * @param more further options, as `parseArgs` has them
 */
export async function miningRounds(more = {}) {
  const { values } = parseArgs({ options: { ...OPTIONS, ...more }, allowNegative: true });
  printHeading();
  const asked = {
    ...(values.threads && { threads: Number(values.threads) }),
    ...(values.kernel && { kernel: values.kernel }),
  };
  const engine = new CpuEngine(asked);
  const { kernel: used, threads } = await engine.open();
  await engine.close();
  // On a hybrid chip this is the kernel of the performance cores.
  const [kernel] = used.split('+');
  return {
    values,
    rounds: Number(values.rounds),
    ms: 1000 * Number(values.seconds),
    warmUpMs: 1000 * Number(values['warm-up']),
    kernel,
    threads,
    newEngine: () => new CpuEngine({ ...asked, kernel }),
  };
}
