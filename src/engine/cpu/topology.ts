/** Reads from Linux which CPUs this process may use, which of them share a core, and the quota. Pure. */

import { parseCpuList } from '../../text/cpu-list.ts';
import { type ReadText, readQuota } from './quota.ts';

export interface Topology {
  /** The CPUs that this process may use, in ascending order, grouped by the physical core that they share. */
  readonly cores: readonly (readonly number[])[];
  /** How many processor seconds per second the control groups allow; absent when there is no limit. */
  readonly quota?: number;
}

export function readTopology(read: ReadText): Topology | undefined {
  const cpus = readCpus(read);
  if (!cpus) return undefined;
  const cores = new Map<string, number[]>();
  for (const cpu of cpus) {
    // thread_siblings_list is the older name of core_cpus_list; every Linux kernel since 2.6 has it.
    const siblings = read(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`)?.trim() ?? `${cpu}`;
    cores.set(siblings, [...(cores.get(siblings) ?? []), cpu]);
  }
  const quota = readQuota(read);
  return { cores: [...cores.values()], ...(quota !== undefined && { quota }) };
}

/** @returns the allowed CPUs that are online: a process may be allowed 0-127 on a machine that has only 0-3 */
function readCpus(read: ReadText): number[] | undefined {
  const allowed = /^Cpus_allowed_list:\s*(\S+)$/m.exec(read('/proc/self/status') ?? '');
  const cpus = allowed ? parseCpuList(allowed[1]) : undefined;
  const online = parseCpuList(read('/sys/devices/system/cpu/online') ?? '');
  const present = cpus?.filter((cpu) => online?.includes(cpu)) ?? [];
  // A container may number its CPUs differently in /sys. A list that contains none of the allowed CPUs is ignored.
  return present.length > 0 ? present : cpus;
}
