import { describe, expect, test } from 'vitest';
import { kindsOf, readTopology, type Topology, topologyOf } from '#pickaxe/miner/engine/cpu/topology.js';

/** A machine, described by its files. */
interface Recorded {
  readonly allowed: string;
  /** The text of /sys/devices/system/cpu/online; absent when the file is hidden. */
  readonly online?: string;
  /** The texts of thread_siblings_list of CPU 0, 1 … */
  readonly siblings?: readonly string[];
  /** The texts of further files, by path below /sys/devices. */
  readonly devices?: Readonly<Record<string, string>>;
  /** The text of /proc/self/cgroup. */
  readonly groups?: string;
  /** The texts of cpu.max, by path below /sys/fs/cgroup. */
  readonly cpuMax?: Readonly<Record<string, string>>;
  /** The text of /proc/self/mountinfo. */
  readonly mounts?: readonly string[];
  /** Control groups of version 1, by folder: quota and period in microseconds. */
  readonly cfs?: Readonly<Record<string, readonly [quota: number, period: number]>>;
}

function read({
  allowed,
  online,
  siblings = [],
  devices = {},
  groups = '0::/\n',
  cpuMax = {},
  mounts,
  cfs = {},
}: Recorded) {
  const files: Record<string, string> = {
    '/proc/self/status': `Name:\tnode\nCpus_allowed:\tff\nCpus_allowed_list:\t${allowed}\nMems_allowed_list:\t0\n`,
    '/proc/self/cgroup': groups,
  };
  if (online !== undefined) files['/sys/devices/system/cpu/online'] = `${online}\n`;
  for (const [cpu, list] of siblings.entries()) {
    files[`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`] = `${list}\n`;
  }
  for (const [path, text] of Object.entries(devices)) files[`/sys/devices/${path}`] = `${text}\n`;
  for (const [path, text] of Object.entries(cpuMax)) files[`/sys/fs/cgroup${path}/cpu.max`] = text;
  if (mounts) files['/proc/self/mountinfo'] = `${mounts.join('\n')}\n`;
  for (const [folder, [quota, period]] of Object.entries(cfs)) {
    files[`${folder}/cpu.cfs_quota_us`] = `${quota}\n`;
    files[`${folder}/cpu.cfs_period_us`] = `${period}\n`;
  }
  return readTopology((path) => files[path]);
}

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
    expect(read({ allowed: '0', cpuMax: { '': text } })?.quota).toBe(quota);
  });
});

/** @returns the CPUs of each core */
const coresOf = (topology: Topology | undefined) => topology?.cores.map(({ cpus }) => cpus);

const session = '/user.slice/user-1000.slice/session-2.scope';

describe('what Linux says of', () => {
  test('a desktop without SMT', () => {
    expect(read({ allowed: '0-3', siblings: ['0', '1', '2', '3'], groups: `0::${session}\n` })).toEqual({
      cores: [{ cpus: [0] }, { cpus: [1] }, { cpus: [2] }, { cpus: [3] }],
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
    expect(coresOf(read({ allowed: '0-7', siblings }))).toEqual(cores);
  });

  test('a hybrid: 2 performance cores with SMT, 4 efficiency cores without', () => {
    const siblings = ['0-1', '0-1', '2-3', '2-3', '4', '5', '6', '7'];
    expect(coresOf(read({ allowed: '0-7', siblings }))).toEqual([[0, 1], [2, 3], [4], [5], [6], [7]]);
  });

  test('2 sockets with SMT, CPUs of the sockets interleaved', () => {
    const siblings = ['0,4', '1,5', '2,6', '3,7', '0,4', '1,5', '2,6', '3,7'];
    expect(read({ allowed: '0-7', siblings })?.cores).toHaveLength(4);
  });

  test('a process bound to some CPUs: siblings that it may not use are not counted', () => {
    const siblings = ['0,4', '1,5', '2,6', '3,7', '0,4', '1,5', '2,6', '3,7'];
    expect(coresOf(read({ allowed: '1-2,6', siblings }))).toEqual([[1], [2, 6]]);
  });

  test('a virtual machine with room for 128 CPUs, of which 4 are there', () => {
    const siblings = ['0-1', '0-1', '2-3', '2-3'];
    expect(coresOf(read({ allowed: '0-127', online: '0-3', siblings }))).toEqual([
      [0, 1],
      [2, 3],
    ]);
  });

  test('a machine with a CPU switched off, and a process bound to some', () => {
    expect(coresOf(read({ allowed: '1-4', online: '0,2-7' }))).toEqual([[2], [3], [4]]);
  });

  test('a machine with a single CPU, which has room for more', () => {
    expect(read({ allowed: '0-127', online: '0' })).toStrictEqual({ cores: [{ cpus: [0] }] });
  });

  test('a container whose view of /sys numbers its CPUs differently', () => {
    expect(coresOf(read({ allowed: '4-5', online: '0-1' }))).toEqual([[4], [5]]);
  });

  test('a machine whose list of CPUs that are there is odd', () => {
    expect(coresOf(read({ allowed: '0-1', online: '???' }))).toEqual([[0], [1]]);
  });

  test('a container with a quota and a control group name space of its own', () => {
    const cores = [{ cpus: [0] }, { cpus: [1] }];
    expect(read({ allowed: '0-1', cpuMax: { '': '150000 100000\n' } })).toEqual({ cores, quota: 1.5 });
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
    expect(coresOf(read({ allowed: '2-3' }))).toEqual([[2], [3]]);
  });
});

/** @returns the CPUs of each kind */
function kindsIn(topology: Topology | undefined) {
  const cpusOf = (kind?: string) => topology?.cores.filter((core) => core.kind === kind).flatMap(({ cpus }) => cpus);
  return { performance: cpusOf('performance'), efficiency: cpusOf('efficiency'), alike: cpusOf() };
}
const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
const pairs = (first: number, last: number) =>
  range(first, last).map((cpu) => `${cpu - (cpu % 2)}-${cpu - (cpu % 2) + 1}`);
const capacities = (all: readonly number[]) =>
  Object.fromEntries(all.map((capacity, cpu) => [`system/cpu/cpu${cpu}/cpu_capacity`, `${capacity}`]));

describe('the kinds of cores that Linux says', () => {
  const raptorLake = {
    online: '0-31',
    siblings: [...pairs(0, 15), ...range(16, 31).map(String)],
    devices: { 'cpu_core/cpus': '0-15', 'cpu_atom/cpus': '16-31' },
  };

  test('of a Core i9-13900K: 8 performance cores with SMT, 16 efficiency cores', () => {
    const topology = read({ allowed: '0-31', ...raptorLake });
    expect(kindsIn(topology)).toEqual({ performance: range(0, 15), efficiency: range(16, 31), alike: [] });
    expect(topology?.cores).toHaveLength(24);
    expect(kindsOf(topology!.cores)).toEqual(['performance', 'efficiency']);
  });

  test('of a container that may use only efficiency cores', () => {
    const topology = read({ allowed: '16-19', ...raptorLake });
    expect(kindsIn(topology)).toEqual({ performance: [], efficiency: range(16, 19), alike: [] });
    expect(kindsOf(topology!.cores)).toEqual(['efficiency']);
  });

  test('of a machine with a performance core switched off', () => {
    const devices = { 'cpu_core/cpus': '0-13', 'cpu_atom/cpus': '16-31' };
    expect(kindsIn(read({ allowed: '0-31', ...raptorLake, online: '0-13,16-31', devices })).performance).toEqual(
      range(0, 13),
    );
  });

  test('of Meteor Lake: its low-power cores are efficiency cores, wherever Linux counts them', () => {
    const meteorLake = { allowed: '0-21', online: '0-21' };
    const newer = { 'cpu_core/cpus': '0-11', 'cpu_atom/cpus': '12-19', 'cpu_lowpower/cpus': '20-21' };
    const older = { 'cpu_core/cpus': '0-11', 'cpu_atom/cpus': '12-21' };
    for (const devices of [newer, older]) {
      expect(kindsIn(read({ ...meteorLake, devices })).efficiency).toEqual(range(12, 21));
    }
  });

  test('of an N100: all of its cores are alike, because Linux has no unit for each kind', () => {
    expect(kindsIn(read({ allowed: '0-3', online: '0-3' })).alike).toEqual([0, 1, 2, 3]);
  });

  test('of Zen 4, and of Zen 4 with dense cores: all are alike', () => {
    const highest = Object.fromEntries(
      [196, 186, 191, 196, 120, 120].map((perf, cpu) => [`system/cpu/cpu${cpu}/acpi_cppc/highest_perf`, `${perf}`]),
    );
    expect(kindsIn(read({ allowed: '0-5', online: '0-5', devices: highest })).alike).toEqual(range(0, 5));
  });

  test('of an RK3588: 4 small cores before 4 large ones', () => {
    const devices = capacities([414, 414, 414, 414, 1024, 1024, 1024, 1024]);
    expect(kindsIn(read({ allowed: '0-7', online: '0-7', devices }))).toEqual({
      performance: range(4, 7),
      efficiency: range(0, 3),
      alike: [],
    });
    // A process that is confined to small cores still finds out that they are small.
    expect(kindsIn(read({ allowed: '1-2', online: '0-7', devices })).efficiency).toEqual([1, 2]);
  });

  test('of a chip with three classes: the widest gap divides them', () => {
    const devices = capacities([250, 250, 250, 250, 762, 762, 1024, 1024]);
    expect(kindsIn(read({ allowed: '0-7', online: '0-7', devices })).performance).toEqual(range(4, 7));
  });

  test.each<[string, readonly number[], readonly number[]]>([
    ['in any order', [1024, 250, 1024, 250], [0, 2]],
    ['with a single small core', [512, 1024, 250, 1024], [0, 1, 3]],
    ['with a single large core', [250, 250, 1024, 300], [2]],
    ['with capacities of 2 : 3', [682, 1024], [1]],
    ['with capacities of 4 : 5', [1000, 800], [0]],
  ])('of a chip whose cores are listed %s: %j', (_, all, performance) => {
    const cpus = `0-${all.length - 1}`;
    const topology = read({ allowed: cpus, online: cpus, devices: capacities([...all]) });
    const efficiency = [...all.keys()].filter((cpu) => !performance.includes(cpu));
    expect(kindsIn(topology)).toEqual({ performance, efficiency, alike: [] });
  });

  test('of a machine that has only cores of one unit', () => {
    const both = { allowed: '0-1', online: '0-1' };
    expect(kindsIn(read({ ...both, devices: { 'cpu_core/cpus': '0-1' } })).performance).toEqual([0, 1]);
    expect(kindsIn(read({ ...both, devices: { 'cpu_atom/cpus': '0-1' } })).efficiency).toEqual([0, 1]);
  });

  test.each([
    ['favoured cores of one kind', [1024, 1009, 980, 980]],
    ['cores of one kind with capacities of more than 4 : 5', [1000, 801]],
    ['equal cores', [1024, 1024]],
    ['a single core', [1024]],
  ])('of %s: they are alike', (_, all) => {
    const cpus = all.length === 1 ? '0' : `0-${all.length - 1}`;
    expect(kindsIn(read({ allowed: cpus, online: cpus, devices: capacities(all) })).alike).toEqual([...all.keys()]);
  });

  test.each([
    ['units that do not know all CPUs', { 'cpu_core/cpus': '0', 'cpu_atom/cpus': '1' }],
    ['units that are not lists', { 'cpu_core/cpus': '???', 'cpu_atom/cpus': '' }],
    ['capacities that are not numbers', { ...capacities([1024, 300, 300]), 'system/cpu/cpu1/cpu_capacity': 'x' }],
    ['capacities of 0', capacities([1024, 0, 300])],
    ['capacities of some CPUs only', capacities([1024, 300])],
  ])('are not believed: %s', (_, devices) => {
    expect(kindsIn(read({ allowed: '0-2', online: '0-2', devices })).alike).toEqual([0, 1, 2]);
  });
});

describe('the kinds of cores that other systems say', () => {
  test('Windows on a hybrid chip: the highest class is performance', () => {
    const cores = [
      { cpus: [0, 1], efficiencyClass: 1 },
      { cpus: [2, 3], efficiencyClass: 1 },
      { cpus: [4], efficiencyClass: 0 },
      { cpus: [5], efficiencyClass: 0 },
    ];
    expect(topologyOf(cores, false)?.cores).toEqual([
      { cpus: [0, 1], kind: 'performance' },
      { cpus: [2, 3], kind: 'performance' },
      { cpus: [4], kind: 'efficiency' },
      { cpus: [5], kind: 'efficiency' },
    ]);
  });

  test('Windows on a chip whose cores are alike', () => {
    const cores = [0, 2, 4].map((cpu) => ({ cpus: [cpu, cpu + 1], efficiencyClass: 0 }));
    expect(topologyOf(cores, false)).toEqual({ cores: [{ cpus: [0, 1] }, { cpus: [2, 3] }, { cpus: [4, 5] }] });
  });

  test('macOS on an M2 Pro: 8 performance and 4 efficiency cores, one entry for each level', () => {
    const cores = [
      { cpus: range(0, 7), efficiencyClass: 1 },
      { cpus: range(8, 11), efficiencyClass: 0 },
    ];
    const topology = topologyOf(cores, true);
    expect(topology?.cores).toHaveLength(12);
    expect(kindsIn(topology)).toEqual({ performance: range(0, 7), efficiency: range(8, 11), alike: [] });
  });

  test('nothing, where there is no addon', () => {
    expect(topologyOf([], false)).toBeUndefined();
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

  test('is read where Linux has no groups of version 2', () => {
    const cfs = { [`${at}/a`]: [150_000, 100_000] as const };
    expect(quotaOf({ groups: '4:cpu,cpuacct:/a\n', mounts, cfs })).toBe(1.5);
    expect(quotaOf({ groups: '', mounts, cfs })).toBeUndefined();
  });

  test('is not that of another container, which is mounted, too', () => {
    const other = '/mnt/other';
    const both = [...others, mount('/docker/1f3', at, 'cpu,cpuacct'), mount('/docker/9e2', other, 'cpu,cpuacct')];
    const cfs = { [at]: [200_000, 100_000] as const, [other]: [50_000, 100_000] as const };
    expect(quotaOf({ groups: v1('/docker/1f3'), mounts: both, cfs })).toBe(2);
    expect(quotaOf({ groups: v1('/docker/9e2'), mounts: both, cfs })).toBe(0.5);
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

  test('is not in a file system of another kind', () => {
    const overlay = `40 25 0:30 / ${at} rw - overlay overlay rw,cpu`;
    const cfs = { [at]: [200_000, 100_000] as const };
    expect(quotaOf({ groups: v1('/'), mounts: [overlay], cfs })).toBeUndefined();
  });

  test('is undefined without a valid list of mounts', () => {
    const cfs = { [at]: [200_000, 100_000] as const };
    expect(quotaOf({ groups: v1('/'), cfs })).toBeUndefined();
    expect(
      quotaOf({ groups: v1('/'), mounts: ['', '-', ' - ', ' - cgroup', 'x - cgroup x cpu'], cfs }),
    ).toBeUndefined();
  });
});

test('a system that hides its control groups has no quota', () => {
  const topology = readTopology((path) => (path === '/proc/self/status' ? 'Cpus_allowed_list:\t0-1\n' : undefined));
  expect(topology).toEqual({ cores: [{ cpus: [0] }, { cpus: [1] }] });
});

test('nothing is known without a valid /proc', () => {
  expect(readTopology(() => undefined)).toBeUndefined();
  expect(readTopology(() => '')).toBeUndefined();
  expect(readTopology(() => 'Cpus_allowed_list:\t???\n')).toBeUndefined();
});

test('reads the files of 64 groups at most, however deep they are, and none at a path that is not absolute', () => {
  const deep = '/a'.repeat(100);
  const paths: string[] = [];
  readTopology((path) => {
    paths.push(path);
    if (path === '/proc/self/cgroup') return `4:cpu:${deep}\n0::${deep}\n`;
    if (path === '/proc/self/mountinfo') {
      return ['1 1 0:1 / relative rw - cgroup c rw,cpu', 'x - cgroup c rw,cpu'].join('\n');
    }
    return path === '/proc/self/status' ? 'Cpus_allowed_list:\t0\n' : undefined;
  });
  const files = paths.filter((path) => path.endsWith('cpu.max'));
  expect(files).toHaveLength(65);
  expect(files.at(-1)).toBe(`/sys/fs/cgroup${'/a'.repeat(64)}/cpu.max`);
  expect(paths.filter((path) => !path.startsWith('/'))).toEqual([]);
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
