/** Finds out how much processor time Linux's control groups, version 1 or 2, allow this process. Pure. */

/** @returns the text of the file with this absolute path; undefined when it cannot be read */
export type ReadText = (path: string) => string | undefined;

/** The most levels of control groups that are looked at; nobody nests them so deep. */
const MAX_GROUPS = 64;

/** Where the hierarchy of version 2 is mounted, in a container and outside. */
const VERSION_2_AT = '/sys/fs/cgroup';

/**
 * @param text the text of `cpu.max`: the allowed microseconds, or `max`, and the length of the period in microseconds
 * @returns processor seconds per second; undefined when there is no limit or the text is not valid
 */
export function parseQuota(text: string): number | undefined {
  const match = /^(\d{1,15}) ([1-9]\d{0,14})$/.exec(text.trim());
  return match ? Number(match[1]) / Number(match[2]) : undefined;
}

/**
 * @returns the lowest quota of the process's control group and of all groups around it, in processor seconds per second;
 *   undefined when there is no limit. Both versions are read, because the `cpu` controller may be in either
 */
export function readQuota(read: ReadText): number | undefined {
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

/** @returns texts as in `cpu.max`. In version 1 the limit and the period have separate files, and -1 means no limit */
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
