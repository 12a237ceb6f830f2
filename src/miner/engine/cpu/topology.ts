/**
 * Reads which CPUs this process may use, their cores, the kinds of the cores, and the quota of processor time. On
 * Linux, the functions read files only through a function that is passed to them.
 */

import { parseCpuList } from '../../../base/text/quantities.ts';
import { CORE_KINDS, type CoreKind } from '../device.ts';
import type { AddonCore } from './kernels/native-kernels.ts';

export interface Core {
  /** Numbers of the core's CPUs (hardware threads) that this process may use, ascending. */
  readonly cpus: readonly number[];
  /** Absent when all cores are alike, or when the system does not report their kinds. */
  readonly kind?: CoreKind;
}

export interface Topology {
  /** The cores that have at least one allowed CPU. */
  readonly cores: readonly Core[];
  /** Quota of processor time, in processor seconds per second; absent without a limit. */
  readonly quota?: number;
}

/**
 * Minimum ratio of the capacities of two kinds of ARM cores. On common chips the ratio is 1.5 to 4. Cores of one kind
 * can differ, too, but only by a few percent.
 */
const LEAST_GAP = 1.25;

/**
 * Reads the topology on Linux.
 * @returns undefined when Linux does not report the allowed CPUs
 */
export function readTopology(read: ReadText): Topology | undefined {
  const cpus = readCpus(read);
  if (!cpus) return undefined;
  const bySiblings = new Map<string, number[]>();
  for (const cpu of cpus) {
    // Linux has had the file `thread_siblings_list` since version 2.6. `core_cpus_list` is its newer name.
    const siblings = read(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`)?.trim() ?? `${cpu}`;
    bySiblings.set(siblings, [...(bySiblings.get(siblings) ?? []), cpu]);
  }
  const kinds = intelKinds(cpus, read) ?? kindsByCapacity(cpus, read);
  const quota = readQuota(read);
  const cores = [...bySiblings.values()].map((cpus) => withKind(cpus, kinds?.get(cpus[0])));
  return { cores, ...(quota !== undefined && { quota }) };
}

/**
 * Makes the topology on Windows and macOS.
 * @param cores the list of the native addon
 * @param areLevels whether each entry of the list stands for all cores of one kind, as on macOS
 * @returns undefined when the list is empty
 */
export function topologyOf(cores: readonly AddonCore[], areLevels: boolean): Topology | undefined {
  if (cores.length === 0) return undefined;
  const classes = new Set(cores.map(({ efficiencyClass }) => efficiencyClass));
  const fastest = Math.max(...classes);
  return {
    cores: cores.flatMap(({ cpus, efficiencyClass }) => {
      const kind = efficiencyClass === fastest ? 'performance' : 'efficiency';
      // No Mac with several kinds of cores has two hardware threads on a core.
      const each = areLevels ? cpus.map((cpu) => [cpu]) : [cpus];
      return each.map((cpus) => withKind(cpus, classes.size > 1 ? kind : undefined));
    }),
  };
}

/** @returns the kinds of these cores, `performance` first; an empty list where all cores are alike */
export function kindsOf(cores: readonly Core[]): CoreKind[] {
  return CORE_KINDS.filter((kind) => cores.some((core) => core.kind === kind));
}

function withKind(cpus: readonly number[], kind: CoreKind | undefined): Core {
  return { cpus, ...(kind !== undefined && { kind }) };
}

/**
 * @returns the allowed CPUs that are online, because 0-127 may be allowed on a machine that has only 0-3; undefined
 *   when Linux does not report the allowed CPUs
 */
function readCpus(read: ReadText): number[] | undefined {
  const allowed = /^Cpus_allowed_list:\s*(\S+)$/m.exec(read('/proc/self/status') ?? '');
  const cpus = allowed ? parseCpuList(allowed[1]) : undefined;
  const online = parseCpuList(read('/sys/devices/system/cpu/online') ?? '');
  const present = cpus?.filter((cpu) => online?.includes(cpu)) ?? [];
  // The list of online CPUs is ignored if it has none of the allowed CPUs, because a container may number its CPUs
  // differently in /sys.
  return present.length > 0 ? present : cpus;
}

type Kinds = ReadonlyMap<number, CoreKind>;

/**
 * On hybrid chips of Intel, Linux has a performance monitoring unit for each kind of core, and a folder for each unit.
 * Low-power cores are in `cpu_atom` or, on some chips, in `cpu_lowpower`.
 * @returns the kind of each CPU; undefined without such units, or when their folders do not list all of `cpus`
 */
function intelKinds(cpus: readonly number[], read: ReadText): Kinds | undefined {
  const cpusOf = (unit: string) => parseCpuList(read(`/sys/devices/${unit}/cpus`) ?? '') ?? [];
  const performance = new Set(cpusOf('cpu_core'));
  const efficiency = new Set(['cpu_atom', 'cpu_lowpower'].flatMap(cpusOf));
  if (!cpus.every((cpu) => performance.has(cpu) || efficiency.has(cpu))) return undefined;
  return new Map(cpus.map((cpu) => [cpu, performance.has(cpu) ? 'performance' : 'efficiency']));
}

/**
 * Linux reports the capacities of ARM cores, relative to the fastest core (1024). If there are three classes of cores,
 * as in phones, they are divided into two kinds at the largest ratio of neighbouring capacities. AMD's chips with dense
 * cores (Zen 4c, Zen 5c) have no such files, so all their cores count as alike. Dense cores only have lower clocks, so
 * the same kernel is the fastest on all cores.
 * @returns the kind of each CPU; undefined when a capacity is missing, or when no ratio is at least LEAST_GAP
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
 * @returns the online CPUs of the machine, and `cpus`. If the allowed CPUs are all of one kind, only the other CPUs
 *   show that there are two kinds
 */
function presentCpus(cpus: readonly number[], read: ReadText): number[] {
  const online = parseCpuList(read('/sys/devices/system/cpu/online') ?? '') ?? [];
  return [...new Set([...online, ...cpus])];
}

/* The quota of processor time, which control groups of version 1 or 2 set */

/** @param path absolute path of a file @returns its text; undefined when the file cannot be read */
type ReadText = (path: string) => string | undefined;

/** Maximum depth to which nested control groups are read, far more than systems have. */
const MAX_GROUPS = 64;

/** Mount point of control groups of version 2, inside and outside of containers. */
const VERSION_2_AT = '/sys/fs/cgroup';

/**
 * @param text content of `cpu.max`: the allowed microseconds or `max`, and the period in microseconds
 * @returns processor seconds per second; undefined without a limit or for invalid text
 */
function parseQuota(text: string): number | undefined {
  const match = /^(\d{1,15}) ([1-9]\d{0,14})$/.exec(text.trim());
  return match ? Number(match[1]) / Number(match[2]) : undefined;
}

/**
 * Reads the control groups of both versions, because the `cpu` controller may be in either version.
 * @returns the lowest quota of the process's group and of all groups that contain it, in processor seconds per second;
 *   undefined without a limit
 */
function readQuota(read: ReadText): number | undefined {
  const groups = read('/proc/self/cgroup') ?? '';
  const texts = [...quotasOfVersion2(groups, read), ...quotasOfVersion1(groups, read)];
  const quotas = texts.map(parseQuota).filter((quota) => quota !== undefined);
  return quotas.length > 0 ? Math.min(...quotas) : undefined;
}

/**
 * @returns the texts of `cpu.max` for the process's group and all groups that contain it; an empty text for a file that
 *   cannot be read. In a container with its own namespace, `/` is the group of the container. Outside of containers,
 *   the group `/` has no such file
 */
function quotasOfVersion2(groups: string, read: ReadText): string[] {
  const [, group] = /^0::(\/.*)$/m.exec(groups) ?? [];
  if (group === undefined) return [];
  return levelsOf(group).map((level) => read(`${VERSION_2_AT}${level}/cpu.max`) ?? '');
}

/**
 * @returns texts in the format of `cpu.max`, for the process's group and all groups that contain it. Version 1 has
 *   separate files for limit and period, and a limit of -1 means that there is none
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
  /** Path of the outermost group that the mount shows. */
  readonly root: string;
  /** Mount point: the path at which `root` is shown. */
  readonly at: string;
}

/**
 * @returns the folders of a group and of all groups that contain it, as far as mounts show these groups. If no mount
 *   shows the group, as in some containers, the mount points of all mounts
 */
function foldersOf(group: string, mounts: readonly Mount[]): string[] {
  const around = mounts.filter(({ root }) => root === '/' || `${group}/`.startsWith(`${root}/`));
  if (around.length === 0) return mounts.map(({ at }) => at);
  return around.flatMap(({ root, at }) => levelsOf(group.slice(root.length)).map((level) => `${at}${level}`));
}

/**
 * @param mountinfo content of /proc/self/mountinfo, with lines such as `36 35 98:0 ROOT AT rw master:1 - TYPE SOURCE
 *   OPTIONS` (proc_pid_mountinfo(5))
 * @returns the mounts of version 1's `cpu` controller
 */
function cpuMounts(mountinfo: string): Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [mount, filesystem = ''] = line.split(' - ');
    const [, , , root, at] = mount.split(' ').map(unescaped);
    const [type, , options = ''] = filesystem.split(' ');
    const isOfCpu = type === 'cgroup' && options.split(',').includes('cpu');
    return isOfCpu && at?.startsWith('/') ? [{ root, at }] : [];
  });
}

/** Decodes octal escapes, which the kernel writes for white space, such as `\040` for a space. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8)));
}

/**
 * @returns the paths of a group and of all groups that contain it, relative to the mount point. The outermost group is
 *   first; its path is empty
 */
function levelsOf(group: string): string[] {
  const names = group
    .split('/')
    .filter((name) => name !== '' && name !== '..')
    .slice(0, MAX_GROUPS);
  return [...names.keys(), names.length].map((depth) => ['', ...names.slice(0, depth)].join('/'));
}
