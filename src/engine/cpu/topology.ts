/** What Linux says about the CPUs that this process may use: pure parsing, and one function that reads it together. */

import { parseCpuList } from '../../text/cpu-list.ts';
import { type ReadText, readQuota } from './quota.ts';

export interface Topology {
  /** The CPUs that this process may use, grouped by the physical core that they share, in ascending order. */
  readonly cores: readonly (readonly number[])[];
  /** Processor seconds a second that the control groups allow; absent where there is no limit. */
  readonly quota?: number;
}

export function readTopology(read: ReadText): Topology | undefined {
  const cpus = readCpus(read);
  if (!cpus) return undefined;
  const cores = new Map<string, number[]>();
  for (const cpu of cpus) {
    // The kernel's older name of core_cpus_list, which every one since 2.6 still has.
    const siblings = read(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`)?.trim() ?? `${cpu}`;
    cores.set(siblings, [...(cores.get(siblings) ?? []), cpu]);
  }
  const quota = readQuota(read);
  return { cores: [...cores.values()], ...(quota !== undefined && { quota }) };
}

/** The CPUs of the process that are there: it may be allowed others, as in 0-127 where 0-3 are online. */
function readCpus(read: ReadText): number[] | undefined {
  const allowed = /^Cpus_allowed_list:\s*(\S+)$/m.exec(read('/proc/self/status') ?? '');
  const cpus = allowed ? parseCpuList(allowed[1]) : undefined;
  const online = parseCpuList(read('/sys/devices/system/cpu/online') ?? '');
  const present = cpus?.filter((cpu) => online?.includes(cpu)) ?? [];
  // A container's own view of /sys can number its CPUs anew: a list with none of ours is of no use.
  return present.length > 0 ? present : cpus;
}
