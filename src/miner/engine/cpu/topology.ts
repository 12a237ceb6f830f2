/** Reads which CPUs this process may use, the cores they belong to, their kinds, and the quota. Pure. */

import { parseCpuList } from '../../../base/text/quantities.ts';
import { CORE_KINDS, type CoreKind } from '../device.ts';
import type { AddonCore } from './kernels/native-kernels.ts';

export interface Core {
  /** The allowed CPUs (hardware threads) of the core, ascending. */
  readonly cpus: readonly number[];
  /** Absent when all cores are alike, or the system does not report their kinds. */
  readonly kind?: CoreKind;
}

export interface Topology {
  /** The cores with at least one allowed CPU. */
  readonly cores: readonly Core[];
  /** Quota in processor seconds per second; absent without a limit. */
  readonly quota?: number;
}

/**
 * Minimum ratio of capacities between two kinds of ARM's cores. On common chips it is 1.5 to 4, while favoured cores of
 * one kind differ by a few percent.
 */
const LEAST_GAP = 1.25;

/** @returns undefined when Linux does not report the allowed CPUs */
export function readTopology(read: ReadText): Topology | undefined {
  const cpus = readCpus(read);
  if (!cpus) return undefined;
  const bySiblings = new Map<string, number[]>();
  for (const cpu of cpus) {
    // `thread_siblings_list` is the older name of `core_cpus_list`. Every kernel since 2.6 has it.
    const siblings = read(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`)?.trim() ?? `${cpu}`;
    bySiblings.set(siblings, [...(bySiblings.get(siblings) ?? []), cpu]);
  }
  const kinds = intelKinds(cpus, read) ?? kindsByCapacity(cpus, read);
  const quota = readQuota(read);
  const cores = [...bySiblings.values()].map((cpus) => withKind(cpus, kinds?.get(cpus[0])));
  return { cores, ...(quota !== undefined && { quota }) };
}

/**
 * @param cores from the native addon, on Windows or macOS
 * @param areLevels whether each entry stands for all cores of one kind, as on macOS
 * @returns undefined without cores
 */
export function topologyOf(cores: readonly AddonCore[], areLevels: boolean): Topology | undefined {
  if (cores.length === 0) return undefined;
  const classes = new Set(cores.map(({ efficiencyClass }) => efficiencyClass));
  const fastest = Math.max(...classes);
  return {
    cores: cores.flatMap(({ cpus, efficiencyClass }) => {
      const kind = efficiencyClass === fastest ? 'performance' : 'efficiency';
      // No Mac with levels has two hardware threads on a core.
      const each = areLevels ? cpus.map((cpu) => [cpu]) : [cpus];
      return each.map((cpus) => withKind(cpus, classes.size > 1 ? kind : undefined));
    }),
  };
}

/** @returns the kinds of these cores, performance first; none where all cores are alike */
export function kindsOf(cores: readonly Core[]): CoreKind[] {
  return CORE_KINDS.filter((kind) => cores.some((core) => core.kind === kind));
}

function withKind(cpus: readonly number[], kind: CoreKind | undefined): Core {
  return { cpus, ...(kind !== undefined && { kind }) };
}

/** @returns the allowed CPUs that are online: 0-127 may be allowed on a machine that has 0-3 */
function readCpus(read: ReadText): number[] | undefined {
  const allowed = /^Cpus_allowed_list:\s*(\S+)$/m.exec(read('/proc/self/status') ?? '');
  const cpus = allowed ? parseCpuList(allowed[1]) : undefined;
  const online = parseCpuList(read('/sys/devices/system/cpu/online') ?? '');
  const present = cpus?.filter((cpu) => online?.includes(cpu)) ?? [];
  // A container may number its CPUs differently in /sys; such a list is ignored.
  return present.length > 0 ? present : cpus;
}

type Kinds = ReadonlyMap<number, CoreKind>;

/**
 * Intel's hybrid chips have a performance monitoring unit, and thus a folder, for each kind of core. On some chips the
 * low-power cores are not in `cpu_atom`, but in `cpu_lowpower`.
 * @returns undefined without such units, or when the folders do not name all CPUs
 */
function intelKinds(cpus: readonly number[], read: ReadText): Kinds | undefined {
  const cpusOf = (unit: string) => parseCpuList(read(`/sys/devices/${unit}/cpus`) ?? '') ?? [];
  const performance = new Set(cpusOf('cpu_core'));
  const efficiency = new Set(['cpu_atom', 'cpu_lowpower'].flatMap(cpusOf));
  if (performance.size === 0 && efficiency.size === 0) return undefined;
  if (!cpus.every((cpu) => performance.has(cpu) || efficiency.has(cpu))) return undefined;
  return new Map(cpus.map((cpu) => [cpu, performance.has(cpu) ? 'performance' : 'efficiency']));
}

/**
 * Linux reports the capacities of ARM's cores, relative to the fastest (1024). If there are three classes of cores, as
 * on phones, the widest gap divides them into two kinds. AMD's dense cores (Zen 4c, Zen 5c) have no such files and
 * count as alike: the dense cores only have lower clocks, so the same kernel is the fastest.
 */
function kindsByCapacity(cpus: readonly number[], read: ReadText): Kinds | undefined {
  const capacities = new Map(
    presentCpus(cpus, read).map((cpu) => [cpu, Number(read(`/sys/devices/system/cpu/cpu${cpu}/cpu_capacity`))]),
  );
  const sorted = [...capacities.values()].sort((a, b) => a - b);
  if (!sorted.every((capacity) => capacity > 0)) return undefined;
  const gaps = sorted.slice(1).map((capacity, i) => ({ ratio: capacity / sorted[i], from: capacity }));
  const widest = gaps.reduce((a, b) => (b.ratio > a.ratio ? b : a), { ratio: 1, from: 0 });
  if (widest.ratio < LEAST_GAP) return undefined;
  return new Map(cpus.map((cpu) => [cpu, (capacities.get(cpu) ?? 0) >= widest.from ? 'performance' : 'efficiency']));
}

/** @returns all CPUs of the machine, because the allowed ones alone may not show that there are two kinds */
function presentCpus(cpus: readonly number[], read: ReadText): number[] {
  const online = parseCpuList(read('/sys/devices/system/cpu/online') ?? '') ?? [];
  return [...new Set([...online, ...cpus])];
}

/* The quota of processor time by control groups, version 1 or 2. Pure. */

/** @returns undefined when the file with this absolute path cannot be read */
type ReadText = (path: string) => string | undefined;

/** Maximum depth of control groups, far more than there are. */
const MAX_GROUPS = 64;

/** Mount point of version 2, in a container and outside. */
const VERSION_2_AT = '/sys/fs/cgroup';

/**
 * @param text of `cpu.max`: the allowed microseconds or `max`, and the period in microseconds
 * @returns processor seconds per second; undefined without a limit or for invalid text
 */
function parseQuota(text: string): number | undefined {
  const match = /^(\d{1,15}) ([1-9]\d{0,14})$/.exec(text.trim());
  return match ? Number(match[1]) / Number(match[2]) : undefined;
}

/**
 * @returns the lowest quota of the process's group and the groups around it, in processor seconds per second; undefined
 *   without a limit. Both versions are read, because the `cpu` controller may be in either
 */
function readQuota(read: ReadText): number | undefined {
  const groups = read('/proc/self/cgroup') ?? '';
  const texts = [...quotasOfVersion2(groups, read), ...quotasOfVersion1(groups, read)];
  const quotas = texts.map(parseQuota).filter((quota) => quota !== undefined);
  return quotas.length > 0 ? Math.min(...quotas) : undefined;
}

/**
 * @returns texts of `cpu.max`. In a container with its own namespace, the file of the group `/` is the container's.
 *   Outside, the root group has no such file
 */
function quotasOfVersion2(groups: string, read: ReadText): string[] {
  const [, group] = /^0::(\/.*)$/m.exec(groups) ?? [];
  if (group === undefined) return [];
  return levelsOf(group).map((level) => read(`${VERSION_2_AT}${level}/cpu.max`) ?? '');
}

/** @returns texts as in `cpu.max`. Version 1 has separate files for limit and period, and -1 means no limit */
function quotasOfVersion1(groups: string, read: ReadText): string[] {
  const lines = [...groups.matchAll(/^\d+:([^:]*):(\/.*)$/gm)];
  const [, , group] = lines.find(([, controllers]) => controllers.split(',').includes('cpu')) ?? [];
  if (group === undefined) return [];
  return foldersOf(group, cpuMounts(read('/proc/self/mountinfo') ?? '')).map((folder) => {
    const [quota, period] = ['quota', 'period'].map((name) => read(`${folder}/cpu.cfs_${name}_us`)?.trim());
    return `${quota} ${period}`;
  });
}

interface Mount {
  /** The outermost group that is mounted. */
  readonly root: string;
  readonly at: string;
}

/** @returns folders of a group and of the groups around it. In a container the group itself may be the outermost */
function foldersOf(group: string, mounts: readonly Mount[]): string[] {
  const around = mounts.filter(({ root }) => root === '/' || `${group}/`.startsWith(`${root}/`));
  if (around.length === 0) return mounts.map(({ at }) => at);
  return around.flatMap(({ root, at }) => {
    const below = root === '/' ? group : group.slice(root.length);
    return levelsOf(below).map((level) => `${at}${level}`);
  });
}

/** @param mountinfo lines `36 35 98:0 ROOT AT rw master:1 - TYPE SOURCE OPTIONS` (proc_pid_mountinfo(5)) */
function cpuMounts(mountinfo: string): Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [mount, filesystem = ''] = line.split(' - ');
    const [, , , root, at] = mount.split(' ').map(unescaped);
    const [type, , options = ''] = filesystem.split(' ');
    const isOfCpu = type === 'cgroup' && options.split(',').includes('cpu');
    return isOfCpu && at?.startsWith('/') ? [{ root, at }] : [];
  });
}

/** Decodes octal escapes, by which the kernel writes spaces (`\040`). */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8)));
}

/** @returns paths of a group and of the groups around it, below the mount point; '' is the outermost group */
function levelsOf(group: string): string[] {
  const names = group
    .split('/')
    .filter((name) => name !== '' && name !== '..')
    .slice(0, MAX_GROUPS);
  return [...names.keys(), names.length].map((depth) => ['', ...names.slice(0, depth)].join('/'));
}
