import { describe, expect, test } from 'vitest';
import { parseQuota } from '#pickaxe/engine/cpu/quota.js';
import { readTopology } from '#pickaxe/engine/cpu/topology.js';

describe('cpu.max', () => {
  test.each([
    ['max 100000\n', undefined],
    ['150000 100000\n', 1.5],
    ['5000 100000', 0.05],
    ['1600000 100000', 16],
    ['100000 0', undefined],
    ['100000', undefined],
    ['', undefined],
  ])('%j', (text, quota) => {
    expect(parseQuota(text)).toBe(quota);
  });
});

/** A machine, described by its files. */
interface Recorded {
  readonly allowed: string;
  /** The text of /sys/devices/system/cpu/online; absent when the file is hidden. */
  readonly online?: string;
  /** The texts of thread_siblings_list of CPU 0, 1 … */
  readonly siblings?: readonly string[];
  /** The text of /proc/self/cgroup. */
  readonly groups?: string;
  /** The texts of cpu.max, by path below /sys/fs/cgroup. */
  readonly cpuMax?: Readonly<Record<string, string>>;
  /** The text of /proc/self/mountinfo. */
  readonly mounts?: readonly string[];
  /** Control groups of version 1, by folder: quota and period in microseconds. */
  readonly cfs?: Readonly<Record<string, readonly [quota: number, period: number]>>;
}

function read({ allowed, online, siblings = [], groups = '0::/\n', cpuMax = {}, mounts, cfs = {} }: Recorded) {
  const files: Record<string, string> = {
    '/proc/self/status': `Name:\tnode\nCpus_allowed:\tff\nCpus_allowed_list:\t${allowed}\nMems_allowed_list:\t0\n`,
    '/proc/self/cgroup': groups,
  };
  if (online !== undefined) files['/sys/devices/system/cpu/online'] = `${online}\n`;
  for (const [cpu, list] of siblings.entries()) {
    files[`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`] = `${list}\n`;
  }
  for (const [path, text] of Object.entries(cpuMax)) files[`/sys/fs/cgroup${path}/cpu.max`] = text;
  if (mounts) files['/proc/self/mountinfo'] = `${mounts.join('\n')}\n`;
  for (const [folder, [quota, period]] of Object.entries(cfs)) {
    files[`${folder}/cpu.cfs_quota_us`] = `${quota}\n`;
    files[`${folder}/cpu.cfs_period_us`] = `${period}\n`;
  }
  return readTopology((path) => files[path]);
}

const session = '/user.slice/user-1000.slice/session-2.scope';

describe('what Linux says of', () => {
  test('a desktop without SMT', () => {
    expect(read({ allowed: '0-3', siblings: ['0', '1', '2', '3'], groups: `0::${session}\n` })).toEqual({
      cores: [[0], [1], [2], [3]],
    });
  });

  test('4 cores with SMT, siblings half the machine apart', () => {
    const siblings = ['0,4', '1,5', '2,6', '3,7', '0,4', '1,5', '2,6', '3,7'];
    const cores = [
      [0, 4],
      [1, 5],
      [2, 6],
      [3, 7],
    ];
    expect(read({ allowed: '0-7', siblings })).toEqual({ cores });
  });

  test('a hybrid: 2 performance cores with SMT, 4 efficiency cores without', () => {
    const siblings = ['0-1', '0-1', '2-3', '2-3', '4', '5', '6', '7'];
    expect(read({ allowed: '0-7', siblings })?.cores).toEqual([[0, 1], [2, 3], [4], [5], [6], [7]]);
  });

  test('2 sockets with SMT, CPUs of the sockets interleaved', () => {
    const siblings = ['0,4', '1,5', '2,6', '3,7', '0,4', '1,5', '2,6', '3,7'];
    expect(read({ allowed: '0-7', siblings })?.cores).toHaveLength(4);
  });

  test('a process bound to some CPUs: siblings that it may not use are not counted', () => {
    const siblings = ['0,4', '1,5', '2,6', '3,7', '0,4', '1,5', '2,6', '3,7'];
    expect(read({ allowed: '1-2,6', siblings })?.cores).toEqual([[1], [2, 6]]);
  });

  test('a virtual machine with room for 128 CPUs, of which 4 are there', () => {
    const siblings = ['0-1', '0-1', '2-3', '2-3'];
    expect(read({ allowed: '0-127', online: '0-3', siblings })?.cores).toEqual([
      [0, 1],
      [2, 3],
    ]);
  });

  test('a machine with a CPU switched off, and a process bound to some', () => {
    expect(read({ allowed: '1-4', online: '0,2-7' })?.cores).toEqual([[2], [3], [4]]);
  });

  test('a container whose view of /sys numbers its CPUs differently', () => {
    expect(read({ allowed: '4-5', online: '0-1' })?.cores).toEqual([[4], [5]]);
  });

  test('a machine whose list of CPUs that are there is odd', () => {
    expect(read({ allowed: '0-1', online: '???' })?.cores).toEqual([[0], [1]]);
  });

  test('a container with a quota and a control group name space of its own', () => {
    expect(read({ allowed: '0-1', cpuMax: { '': '150000 100000\n' } })).toEqual({ cores: [[0], [1]], quota: 1.5 });
  });

  test('a service whose slice has the tightest quota of all groups around it', () => {
    const groups = '12:cpuset:/\n0::/a.slice/b.slice/c.service\n';
    const cpuMax = {
      '/a.slice': '400000 100000\n',
      '/a.slice/b.slice': '200000 100000\n',
      '/a.slice/b.slice/c.service': 'max 100000\n',
    };
    expect(read({ allowed: '0-7', groups, cpuMax })?.quota).toBe(2);
  });

  test('a service with a quota above that of the group around it, which counts', () => {
    const groups = '0::/a.slice/b.service\n';
    const cpuMax = { '/a.slice': '200000 100000\n', '/a.slice/b.service': '400000 100000\n' };
    expect(read({ allowed: '0-7', groups, cpuMax })?.quota).toBe(2);
  });

  test('a service with a quota below that of the group around it', () => {
    const groups = '0::/a.slice/b.service\n';
    const cpuMax = { '/a.slice': '400000 100000\n', '/a.slice/b.service': '200000 100000\n' };
    expect(read({ allowed: '0-7', groups, cpuMax })?.quota).toBe(2);
  });

  test('a quota that belongs to another group', () => {
    const cpuMax = { '/user.slice/user-1001.slice': '50000 100000\n' };
    expect(read({ allowed: '0', groups: `0::${session}\n`, cpuMax })?.quota).toBeUndefined();
  });

  test('a container that hides the topology: each CPU is a core', () => {
    expect(read({ allowed: '2-3' })?.cores).toEqual([[2], [3]]);
  });
});

/** A mount of control groups of version 1, as Linux writes it. */
const mount = (root: string, at: string, controllers: string) =>
  `33 25 0:29 ${root} ${at} ro,nosuid,nodev,noexec,relatime master:11 - cgroup cgroup rw,${controllers}`;
const others = [
  '24 29 0:22 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw',
  '31 25 0:27 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:9 - tmpfs tmpfs ro,mode=755',
  mount('/', '/sys/fs/cgroup/cpuset', 'cpuset'),
  mount('/', '/sys/fs/cgroup/memory', 'memory'),
];
const v1 = (group: string, controllers = 'cpu,cpuacct') =>
  `12:cpuset:/elsewhere\n4:${controllers}:${group}\n1:name=systemd:/x\n0::/\n`;

describe('the quota of control groups of version 1', () => {
  const at = '/sys/fs/cgroup/cpu,cpuacct';
  const mounts = [...others, mount('/', at, 'cpu,cpuacct')];
  const none: readonly [number, number] = [-1, 100_000];
  const quotaOf = (recorded: Omit<Recorded, 'allowed'>) => read({ allowed: '0-63', ...recorded })?.quota;

  test('is the quota of the group', () => {
    const cfs = { [at]: none, [`${at}/a.slice`]: none, [`${at}/a.slice/b`]: [250_000, 100_000] as const };
    expect(quotaOf({ groups: v1('/a.slice/b'), mounts, cfs })).toBe(2.5);
  });

  test.each([
    [200_000, 400_000],
    [400_000, 200_000],
    [-1, 200_000],
    [200_000, -1],
  ])('is the lowest of all levels: %i around %i', (outer, inner) => {
    const cfs = {
      [at]: none,
      [`${at}/a.slice`]: [outer, 100_000] as const,
      [`${at}/a.slice/b`]: [inner, 100_000] as const,
    };
    expect(quotaOf({ groups: v1('/a.slice/b'), mounts, cfs })).toBe(2);
  });

  test('is undefined when every group has -1', () => {
    expect(quotaOf({ groups: v1('/a.slice'), mounts, cfs: { [at]: none, [`${at}/a.slice`]: none } })).toBeUndefined();
  });

  test('is in the hierarchy of the cpu controller, alone or with others, wherever it is mounted', () => {
    const cfs = { '/mnt/my groups/cpu/a': [150_000, 100_000] as const };
    const mounts = [...others, mount('/', '/mnt/my\\040groups/cpu', 'cpu')];
    expect(quotaOf({ groups: v1('/a', 'cpu'), mounts, cfs })).toBe(1.5);
    expect(quotaOf({ groups: v1('/a', 'cpuacct'), mounts, cfs })).toBeUndefined();
  });

  test('of a container whose group is the outermost that is mounted', () => {
    const mounts = [...others, mount('/docker/1f3', at, 'cpu,cpuacct')];
    const cfs = { [at]: [200_000, 100_000] as const };
    expect(quotaOf({ groups: v1('/docker/1f3'), mounts, cfs })).toBe(2);
    const inner = { ...cfs, [`${at}/inner`]: [50_000, 100_000] as const };
    expect(quotaOf({ groups: v1('/docker/1f3/inner'), mounts, cfs: inner })).toBe(0.5);
  });

  test('of a container with a name space of its own, whose group is /', () => {
    expect(quotaOf({ groups: v1('/'), mounts, cfs: { [at]: [300_000, 100_000] } })).toBe(3);
  });

  test('of a container whose group is not below what is mounted', () => {
    const cfs = { [at]: [200_000, 100_000] as const };
    expect(quotaOf({ groups: v1('/docker/1f3'), mounts, cfs })).toBe(2);
    const foreign = [...others, mount('/docker/1f', at, 'cpu,cpuacct')];
    expect(quotaOf({ groups: v1('/docker/1f3'), mounts: foreign, cfs })).toBe(2);
  });

  test('counts beside one of version 2', () => {
    const cfs = { [`${at}/a`]: [400_000, 100_000] as const };
    expect(quotaOf({ groups: v1('/a'), mounts, cfs, cpuMax: { '': '300000 100000' } })).toBe(3);
    expect(quotaOf({ groups: v1('/a'), mounts, cfs, cpuMax: { '': '500000 100000' } })).toBe(4);
  });

  test.each([
    [0, 0],
    [200_000, 0],
    [200_000, -5],
  ])('is undefined when files are not valid: %i of %i', (quota, period) => {
    expect(quotaOf({ groups: v1('/a'), mounts, cfs: { [`${at}/a`]: [quota, period] } })).toBeUndefined();
  });

  test('is undefined without a valid list of mounts', () => {
    const cfs = { [at]: [200_000, 100_000] as const };
    expect(quotaOf({ groups: v1('/'), cfs })).toBeUndefined();
    expect(
      quotaOf({ groups: v1('/'), mounts: ['', '-', ' - ', ' - cgroup', 'x - cgroup x cpu'], cfs }),
    ).toBeUndefined();
  });
});

test('nothing is known without a valid /proc', () => {
  expect(readTopology(() => undefined)).toBeUndefined();
  expect(readTopology(() => '')).toBeUndefined();
  expect(readTopology(() => 'Cpus_allowed_list:\t???\n')).toBeUndefined();
});

test('reads no file outside the control groups, whatever the group is called', () => {
  const paths: string[] = [];
  const status = 'Cpus_allowed_list:\t0\n';
  readTopology((path) => {
    paths.push(path);
    if (path === '/proc/self/cgroup') return '4:cpu:/../../etc\n0::/../../etc\n';
    if (path === '/proc/self/mountinfo') return `${mount('/', '/sys/fs/cgroup/cpu', 'cpu')}\n`;
    return path === '/proc/self/status' ? status : undefined;
  });
  expect(paths).toContain('/sys/fs/cgroup/cpu/etc/cpu.cfs_quota_us');
  expect(paths.filter((path) => path.includes('..'))).toEqual([]);
});
