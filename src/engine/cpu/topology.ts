/** What Linux says about the CPUs that this process may use: pure parsing, and one function that reads it together. */

import { parseCpuList } from '../../cpu-list.ts';

/** Far above how deep anybody nests control groups. */
const MAX_GROUPS = 64;

export interface Topology {
  /** The CPUs that this process may use, grouped by the physical core that they share, in ascending order. */
  readonly cores: readonly (readonly number[])[];
  /** Processor seconds a second that the control groups allow; left out, no limit. */
  readonly quota?: number;
}

/**
 * @param text of `cpu.max`: `max 100000`, or the microseconds allowed in each period of so many
 * @returns processor seconds a second; undefined for no limit, and for what is no such file
 */
export function parseQuota(text: string): number | undefined {
  const match = /^(\d{1,15}) ([1-9]\d{0,14})$/.exec(text.trim());
  return match ? Number(match[1]) / Number(match[2]) : undefined;
}

/** @param read the text of a file of this absolute path; undefined when it cannot be read */
export function readTopology(read: (path: string) => string | undefined): Topology | undefined {
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
function readCpus(read: (path: string) => string | undefined): number[] | undefined {
  const allowed = /^Cpus_allowed_list:\s*(\S+)$/m.exec(read('/proc/self/status') ?? '');
  const cpus = allowed ? parseCpuList(allowed[1]) : undefined;
  const online = parseCpuList(read('/sys/devices/system/cpu/online') ?? '');
  const present = cpus?.filter((cpu) => online?.includes(cpu)) ?? [];
  // A container's own view of /sys can number its CPUs anew: a list with none of ours is of no use.
  return present.length > 0 ? present : cpus;
}

/**
 * The tightest cpu.max of the process's control group (version 2) and of every group around it. In a container with a
 * name space of its own the group is `/`, and the file there is the container's; the machine's own root has none.
 */
function readQuota(read: (path: string) => string | undefined): number | undefined {
  const group = /^0::(\/.*)$/m.exec(read('/proc/self/cgroup') ?? '');
  if (!group) return undefined;
  const names = group[1]
    .split('/')
    .filter((name) => name !== '' && name !== '..')
    .slice(0, MAX_GROUPS);
  let quota: number | undefined;
  for (let depth = names.length; depth >= 0; depth--) {
    const text = read(['/sys/fs/cgroup', ...names.slice(0, depth), 'cpu.max'].join('/'));
    const own = text === undefined ? undefined : parseQuota(text);
    if (own !== undefined) quota = Math.min(own, quota ?? own);
  }
  return quota;
}
