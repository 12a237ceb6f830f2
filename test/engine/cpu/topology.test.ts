import { describe, expect, test } from 'vitest';
import { parseQuota, readTopology } from '#pickaxe/engine/cpu/topology.js';

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

/** A machine as its files tell of it. */
interface Recorded {
  readonly allowed: string;
  /** Of /sys/devices/system/cpu/online; left out where it is hidden. */
  readonly online?: string;
  /** thread_siblings_list of CPU 0, 1 … */
  readonly siblings?: readonly string[];
  /** Of /proc/self/cgroup. */
  readonly groups?: string;
  /** By path below /sys/fs/cgroup. */
  readonly cpuMax?: Readonly<Record<string, string>>;
}

function read({ allowed, online, siblings = [], groups = '0::/\n', cpuMax = {} }: Recorded) {
  const files: Record<string, string> = {
    '/proc/self/status': `Name:\tnode\nCpus_allowed:\tff\nCpus_allowed_list:\t${allowed}\nMems_allowed_list:\t0\n`,
    '/proc/self/cgroup': groups,
  };
  if (online !== undefined) files['/sys/devices/system/cpu/online'] = `${online}\n`;
  for (const [cpu, list] of siblings.entries()) {
    files[`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`] = `${list}\n`;
  }
  for (const [path, text] of Object.entries(cpuMax)) files[`/sys/fs/cgroup${path}/cpu.max`] = text;
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

  test('a container whose view of /sys numbers its CPUs anew', () => {
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

  test('a quota that belongs to another group', () => {
    const cpuMax = { '/user.slice/user-1001.slice': '50000 100000\n' };
    expect(read({ allowed: '0', groups: `0::${session}\n`, cpuMax })?.quota).toBeUndefined();
  });

  test('control groups of version 1, which have no cpu.max', () => {
    expect(read({ allowed: '0', groups: '4:cpu,cpuacct:/docker/1\n', cpuMax: { '': '1 100000' } })?.quota).toBe(
      undefined,
    );
  });

  test('a container that hides the topology: each CPU is a core', () => {
    expect(read({ allowed: '2-3' })?.cores).toEqual([[2], [3]]);
  });
});

test('nothing is known without /proc, or with one that is odd', () => {
  expect(readTopology(() => undefined)).toBeUndefined();
  expect(readTopology(() => '')).toBeUndefined();
  expect(readTopology(() => 'Cpus_allowed_list:\t???\n')).toBeUndefined();
});

test('reads no file outside the control groups, whatever the group is called', () => {
  const paths: string[] = [];
  const status = 'Cpus_allowed_list:\t0\n';
  readTopology((path) => {
    paths.push(path);
    return path === '/proc/self/status' ? status : path === '/proc/self/cgroup' ? '0::/../../etc\n' : undefined;
  });
  expect(paths.filter((path) => path.includes('..'))).toEqual([]);
});
