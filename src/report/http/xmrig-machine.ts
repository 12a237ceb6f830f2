/** What xmrig's answers say of the machine. */

import { createHash } from 'node:crypto';
import { arch, availableParallelism, cpus, freemem, hostname, loadavg, totalmem } from 'node:os';

export function resources(): object {
  const memory = { free: freemem(), total: totalmem(), resident_set_memory: process.memoryUsage.rss() };
  return { memory, load_average: loadavg(), hardware_concurrency: availableParallelism() };
}

export function cpu(): object {
  const threads = cpus();
  const is64bit = ['x64', 'arm64', 'riscv64', 'ppc64', 's390x', 'loong64'].includes(arch());
  return {
    brand: threads[0]?.model.trim() || arch(),
    aes: false,
    avx2: false,
    x64: is64bit,
    '64_bit': is64bit,
    l2: 0,
    l3: 0,
    cores: threads.length,
    threads: threads.length,
    packages: 1,
    nodes: 1,
    backend: 'node',
    msr: 'none',
    assembly: 'none',
    arch: arch(),
    flags: [],
  };
}

/** 16 hex digits: the same at every start on a machine. */
export function machineId(): string {
  return createHash('sha256').update(`pickaxe ${hostname()}`).digest('hex').slice(0, 16);
}
