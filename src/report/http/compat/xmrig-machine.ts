/** What xmrig's answers say about the machine. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, freemem, hostname, loadavg, totalmem } from 'node:os';

export function resources(): object {
  const memory = { free: freemem(), total: totalmem(), resident_set_memory: process.memoryUsage.rss() };
  return { memory, load_average: loadavg(), hardware_concurrency: availableParallelism() };
}

export function cpu(): object {
  const threads = cpus();
  features ??= cpuFeatures();
  const is64bit = ['x64', 'arm64', 'riscv64', 'ppc64', 's390x', 'loong64'].includes(arch());
  return {
    brand: threads[0]?.model.trim() || arch(),
    ...features,
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
  };
}

/** The instruction sets that xmrig lists, as Linux calls them, with xmrig's name where that is another one. */
const FLAGS: Readonly<Record<string, string>> = {
  aes: 'aes',
  vaes: 'vaes',
  avx: 'avx',
  avx2: 'avx2',
  avx512f: 'avx512f',
  bmi2: 'bmi2',
  sse2: 'sse2',
  ssse3: 'ssse3',
  sse4_1: 'sse4.1',
  xop: 'xop',
  popcnt: 'popcnt',
  cat_l3: 'cat_l3',
};

let features: ReturnType<typeof cpuFeatures> | undefined;

/** Nothing where the system does not tell: saying that a CPU lacks what it has would be wrong. */
function cpuFeatures(): { aes: boolean; avx2: boolean; flags: string[] } | Record<string, never> {
  try {
    return featuresIn(readFileSync('/proc/cpuinfo', 'latin1'));
  } catch {
    return {};
  }
}

/** @param cpuinfo as Linux prints it (proc(5)): on x86 a line `flags`, on ARM a line `Features` */
export function featuresIn(cpuinfo: string): ReturnType<typeof cpuFeatures> {
  const [, words] = /^(?:flags|Features)\s*:(.*)$/m.exec(cpuinfo) ?? [];
  if (words === undefined) return {};
  const known = new Set(words.trim().split(/\s+/));
  const flags = Object.keys(FLAGS).filter((name) => known.has(name));
  return { aes: known.has('aes'), avx2: known.has('avx2'), flags: flags.map((name) => FLAGS[name]) };
}

/** 16 hex digits: the same at every start on a machine. */
export function machineId(): string {
  return createHash('sha256').update(`pickaxe ${hostname()}`).digest('hex').slice(0, 16);
}
