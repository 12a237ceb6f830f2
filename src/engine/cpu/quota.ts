/** How much processor time Linux's control groups allow this process: pure parsing, of both of their versions. */

/** The text of a file of this absolute path; undefined when it cannot be read. */
export type ReadText = (path: string) => string | undefined;

/** Far above how deep anybody nests control groups. */
const MAX_GROUPS = 64;

/** Where a container's or the machine's hierarchy of version 2 is mounted. */
const VERSION_2_AT = '/sys/fs/cgroup';

/**
 * @param text of `cpu.max`: `max 100000`, or the microseconds allowed in each period of so many
 * @returns processor seconds a second; undefined for no limit, and for what is no such file
 */
export function parseQuota(text: string): number | undefined {
  const match = /^(\d{1,15}) ([1-9]\d{0,14})$/.exec(text.trim());
  return match ? Number(match[1]) / Number(match[2]) : undefined;
}

/**
 * The tightest quota of the process's control groups and of every group around them, in processor seconds a second;
 * undefined for no limit. A machine has its `cpu` controller in one version; with the other one's files it is told nothing.
 */
export function readQuota(read: ReadText): number | undefined {
  const groups = read('/proc/self/cgroup') ?? '';
  const texts = [...quotasOfVersion2(groups, read), ...quotasOfVersion1(groups, read)];
  const quotas = texts.map(parseQuota).filter((quota) => quota !== undefined);
  return quotas.length > 0 ? Math.min(...quotas) : undefined;
}

/**
 * In a container with a name space of its own the group is `/`, and the file there is the container's; the machine's own
 * root has none.
 */
function quotasOfVersion2(groups: string, read: ReadText): string[] {
  const [, group] = /^0::(\/.*)$/m.exec(groups) ?? [];
  if (group === undefined) return [];
  return levelsOf(group).map((level) => read(`${VERSION_2_AT}${level}/cpu.max`) ?? '');
}

/** As the text of `cpu.max` would be. Here the limit and its period have files of their own, and -1 is no limit. */
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
  /** The group that is the mount's outermost. */
  readonly root: string;
  readonly at: string;
}

/** The folders of a group and of those around it. In a container these can be mounted so that it is the outermost. */
function foldersOf(group: string, mounts: readonly Mount[]): string[] {
  const around = mounts.filter(({ root }) => root === '/' || `${group}/`.startsWith(`${root}/`));
  if (around.length === 0) return mounts.map(({ at }) => at);
  return around.flatMap(({ root, at }) => {
    const below = root === '/' ? group : group.slice(root.length);
    return levelsOf(below).map((level) => `${at}${level}`);
  });
}

/** @param mountinfo see proc_pid_mountinfo(5): `36 35 98:0 ROOT AT rw master:1 - TYPE SOURCE OPTIONS` */
function cpuMounts(mountinfo: string): Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [mount, filesystem = ''] = line.split(' - ');
    const [, , , root, at] = mount.split(' ').map(unescaped);
    const [type, , options = ''] = filesystem.split(' ');
    const isOfCpu = type === 'cgroup' && options.split(',').includes('cpu');
    return isOfCpu && at?.startsWith('/') ? [{ root, at }] : [];
  });
}

/** Spaces and the like are written as `\040`. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8)));
}

/** A group and every one around it, as paths below where their hierarchy is mounted: '' is the outermost. */
function levelsOf(group: string): string[] {
  const names = group
    .split('/')
    .filter((name) => name !== '' && name !== '..')
    .slice(0, MAX_GROUPS);
  return [...names.keys(), names.length].map((depth) => ['', ...names.slice(0, depth)].join('/'));
}
