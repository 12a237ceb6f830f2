/**
 * Finds out which CPUs this process may use, which of them share a core, what kind of core it is, and the quota. Pure.
 */

import { parseCpuList } from '../../text/quantities.ts';
import { CORE_KINDS, type CoreKind } from '../device.ts';
import type { AddonCore } from './kernels/native.ts';

/** A physical core. */
export interface Core {
  /** The CPUs (hardware threads) of the core that this process may use, in ascending order. */
  readonly cpus: readonly number[];
  /** Absent when all cores of the machine are alike, or when the system does not report their kinds. */
  readonly kind?: CoreKind;
}

export interface Topology {
  /** The cores on which this process may use at least one CPU. */
  readonly cores: readonly Core[];
  /** Processor seconds per second that the control groups allow; absent when there is no limit. */
  readonly quota?: number;
}

/**
 * ARM's cores are of two kinds when the capacity of some is at least this many times that of others. Within one kind
 * the capacities of favoured cores differ by a few percent; between kinds of the chips that people have they differ by
 * 1.5 to 4 times.
 */
const LEAST_GAP = 1.25;

/** @returns the topology that Linux reports; undefined when Linux does not report which CPUs this process may use */
export function readTopology(read: ReadText): Topology | undefined {
  const cpus = readCpus(read);
  if (!cpus) return undefined;
  const bySiblings = new Map<string, number[]>();
  for (const cpu of cpus) {
    // thread_siblings_list is the older name of core_cpus_list; every Linux kernel since 2.6 has it.
    const siblings = read(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`)?.trim() ?? `${cpu}`;
    bySiblings.set(siblings, [...(bySiblings.get(siblings) ?? []), cpu]);
  }
  const kinds = intelKinds(cpus, read) ?? kindsByCapacity(cpus, read);
  const quota = readQuota(read);
  const cores = [...bySiblings.values()].map((cpus) => withKind(cpus, kinds?.get(cpus[0])));
  return { cores, ...(quota !== undefined && { quota }) };
}

/**
 * @param cores the cores that Windows or macOS reports, from the native addon
 * @param areLevels whether each entry stands for all cores of one kind, as on macOS
 * @returns undefined when there are no cores
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

/** @returns the kinds among these cores, performance first; none where all cores are alike */
export function kindsOf(cores: readonly Core[]): CoreKind[] {
  return CORE_KINDS.filter((kind) => cores.some((core) => core.kind === kind));
}

function withKind(cpus: readonly number[], kind: CoreKind | undefined): Core {
  return { cpus, ...(kind !== undefined && { kind }) };
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

type Kinds = ReadonlyMap<number, CoreKind>;

/**
 * Intel's hybrid chips have a performance monitoring unit for each kind of core, and Linux has a folder for each unit.
 * On some chips the low-power cores of the SoC tile have their own folder, `cpu_lowpower`, and are not in `cpu_atom`.
 * @returns undefined when the chip has no such units, or when the folders do not name all of the CPUs
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
 * Linux knows the capacities of ARM's cores, relative to the fastest (1024). Where there are three classes, as on
 * phones, the widest gap divides them. AMD's dense cores (Zen 4c, Zen 5c) have no such files. Dense cores do the same
 * work in a cycle as the others and only have lower clocks, so the same kernel is the fastest on both, and they count
 * as alike.
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

/**
 * @returns all CPUs of the machine, including those that this process may not use: only all of them together show the
 *   kinds
 */
function presentCpus(cpus: readonly number[], read: ReadText): number[] {
  const online = parseCpuList(read('/sys/devices/system/cpu/online') ?? '') ?? [];
  return [...new Set([...online, ...cpus])];
}

/* Reads the processor time that Linux's control groups, version 1 or 2, allow this process. Pure. */

/** @returns the text of the file with this absolute path; undefined when it cannot be read */
type ReadText = (path: string) => string | undefined;

/** Maximum number of levels of control groups that are read. Real groups are nested far less deep. */
const MAX_GROUPS = 64;

/** The mount point of the hierarchy of version 2, in a container and outside. */
const VERSION_2_AT = '/sys/fs/cgroup';

/**
 * @param text the text of `cpu.max`: the allowed microseconds, or `max`, and the length of the period in microseconds
 * @returns processor seconds per second; undefined when there is no limit or the text is not valid
 */
function parseQuota(text: string): number | undefined {
  const match = /^(\d{1,15}) ([1-9]\d{0,14})$/.exec(text.trim());
  return match ? Number(match[1]) / Number(match[2]) : undefined;
}

/**
 * @returns the lowest quota of the process's control group and of all groups around it, in processor seconds per
 *   second; undefined when there is no limit. Both versions are read, because the `cpu` controller may be in either
 */
function readQuota(read: ReadText): number | undefined {
  const groups = read('/proc/self/cgroup') ?? '';
  const texts = [...quotasOfVersion2(groups, read), ...quotasOfVersion1(groups, read)];
  const quotas = texts.map(parseQuota).filter((quota) => quota !== undefined);
  return quotas.length > 0 ? Math.min(...quotas) : undefined;
}

/**
 * @returns the texts of `cpu.max`. In a container with its own namespace the group is `/`, and the file there is the
 *   container's. Outside, the root group has no such file
 */
function quotasOfVersion2(groups: string, read: ReadText): string[] {
  const [, group] = /^0::(\/.*)$/m.exec(groups) ?? [];
  if (group === undefined) return [];
  return levelsOf(group).map((level) => read(`${VERSION_2_AT}${level}/cpu.max`) ?? '');
}

/**
 * @returns texts in the form of `cpu.max`. In version 1 the limit and the period have separate files, and -1 means no
 *   limit
 */
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
  /** The outermost group of the mounted hierarchy. */
  readonly root: string;
  readonly at: string;
}

/** @returns the folders of a group and of the groups around it. In a container the group itself may be the outermost */
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

/** Replaces octal escapes such as `\040`, with which the kernel writes spaces. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8)));
}

/** @returns the paths of a group and of all groups around it below the mount point; '' is the outermost */
function levelsOf(group: string): string[] {
  const names = group
    .split('/')
    .filter((name) => name !== '' && name !== '..')
    .slice(0, MAX_GROUPS);
  return [...names.keys(), names.length].map((depth) => ['', ...names.slice(0, depth)].join('/'));
}
