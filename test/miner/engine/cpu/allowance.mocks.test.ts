/** What this process may use, on pretended systems. */

import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Addon, AddonCore } from '#pickaxe/miner/engine/cpu/kernels/native-kernels.js';
import { pretendPlatform } from '../../../platform.ts';

/** The pretended system. */
const system = vi.hoisted(() => ({
  /** The result of `availableParallelism`. */
  parallelism: 4,
  /** The texts of files in /proc and /sys. */
  files: {} as Record<string, string>,
  cores: (): readonly unknown[] => [],
  addon: (): unknown => {
    throw new Error('not built');
  },
  niceness: 0,
  /** Called when a process sets its niceness. */
  setNiceness: (_: number): void => {},
}));

vi.mock('node:os', async (load) => ({
  ...(await load<object>()),
  availableParallelism: () => system.parallelism,
  getPriority: () => system.niceness,
  setPriority: (niceness: number) => system.setNiceness(niceness),
}));

vi.mock('node:fs', async (load) => {
  const real = await load<typeof import('node:fs')>();
  const readFileSync = (path: string, ...more: [never]) => {
    if (!/^\/(proc|sys)\//.test(String(path))) return real.readFileSync(path, ...more);
    const text = system.files[path];
    if (text === undefined) throw new Error('no such file');
    return text;
  };
  return { ...real, readFileSync };
});

vi.mock('#pickaxe/miner/engine/cpu/kernels/native-kernels.js', async (load) => ({
  ...(await load<object>()),
  addonCores: () => system.cores(),
  loadAddon: () => system.addon(),
}));

const { chooseThreads } = await import('#pickaxe/miner/engine/cpu/threads.js');
const { priorityFault, setPriority } = await import('#pickaxe/miner/engine/cpu/affinity.js');

beforeEach(() => {
  Object.assign(system, { parallelism: 4, files: {}, cores: () => [], niceness: 0, setNiceness: () => {} });
  system.addon = () => ({ checkPinning: () => {} }) as unknown as Addon;
});

function why(platform: string): string {
  pretendPlatform(platform);
  return chooseThreads().why;
}

const levels: AddonCore[] = [
  { cpus: [0, 1], efficiencyClass: 1 },
  { cpus: [2, 3], efficiencyClass: 0 },
];

describe('this process may use', () => {
  test('on macOS the cores of each kind', () => {
    system.cores = () => levels;
    expect(why('darwin')).toBe(
      'one of 4 hardware threads is left free; ' +
        'on cores of both kinds, as the system places them: only Linux and Windows can pin threads; niceness 19',
    );
  });

  test('on Windows the cores that it has, and no more CPUs than Node.js counts', () => {
    system.cores = () => levels.map((core) => ({ ...core, efficiencyClass: 0 }));
    expect(why('win32')).toBe('one of 4 hardware threads is left free (on 2 cores); placed by the system; niceness 19');
    system.parallelism = 3;
    expect(why('win32')).toMatch(/^one of 3 hardware threads is left free \(on 2 cores\); /);
  });

  test.each([
    ['lists none', () => []],
    [
      'cannot list them',
      () => {
        throw new Error('the system refuses');
      },
    ],
  ])('as many CPUs as Node.js counts, where the addon %s', (_, cores) => {
    system.cores = cores;
    expect(why('win32')).toBe('one of 4 hardware threads is left free; placed by the system; niceness 19');
  });

  test('on Linux the CPUs that it is allowed, and no more than Node.js counts', () => {
    system.parallelism = 64;
    system.files = { '/proc/self/status': 'Cpus_allowed_list:\t0-7\n' };
    expect(why('linux')).toMatch(/^one of 8 hardware threads is left free; /);
    system.parallelism = 3;
    expect(why('linux')).toMatch(/^one of 3 hardware threads is left free/);
  });

  test('on Linux with a quota the CPUs that it is allowed, whatever Node.js counts within the quota', () => {
    system.parallelism = 2;
    system.files = {
      '/proc/self/status': 'Cpus_allowed_list:\t0-7\n',
      '/proc/self/cgroup': '0::/\n',
      '/sys/fs/cgroup/cpu.max': '250000 100000',
    };
    expect(why('linux')).toMatch(/^as many as the control group's quota of 2\.50 CPUs allows; /);
    pretendPlatform('linux');
    expect(chooseThreads({ threads: 32 }).threads).toBe(32);
  });

  test('on Linux without /proc as many CPUs as Node.js counts', () => {
    expect(why('linux')).toBe('one of 4 hardware threads is left free; placed by the system; niceness 19');
  });

  test('only what it can change', () => {
    system.addon = () => {
      throw new Error('not built');
    };
    system.files = { '/proc/self/status': 'Cpus_allowed_list:\t0-1\n' };
    system.setNiceness = () => {
      throw Object.assign(new Error('A system error occurred'), { info: { message: 'operation not permitted' } });
    };
    expect(why('linux')).toBe(
      'all 2 hardware threads; ' +
        'not pinned: it requires the native addon, which is not built or cannot be loaded; ' +
        'priority unchanged: Linux refuses it (operation not permitted)',
    );
  });
});

describe('the priority of a thread', () => {
  test('can be changed on Linux if the system lets it keep the one that it has', () => {
    const set: number[] = [];
    system.niceness = 7;
    system.setNiceness = (niceness) => void set.push(niceness);
    expect([priorityFault('linux'), set]).toEqual([undefined, [7]]);
  });

  test('is the niceness on Linux, and set by the addon elsewhere', () => {
    const set: unknown[] = [];
    system.setNiceness = (niceness) => void set.push(['Linux', niceness]);
    system.addon = () => ({ setThreadPriority: (niceness: number) => void set.push(['the addon', niceness]) });
    pretendPlatform('linux');
    setPriority(5);
    pretendPlatform('darwin');
    setPriority(6);
    expect(set).toEqual([
      ['Linux', 5],
      ['the addon', 6],
    ]);
  });

  test.each([
    [9, 'niceness 9 requires privileges, because this process has 10: choose 10 or more'],
    [10, 'the system says no'],
    [11, 'the system says no'],
  ])('of a process with niceness 10 that cannot be %i is an error that says what is possible', (niceness, message) => {
    pretendPlatform('linux');
    system.niceness = 10;
    system.setNiceness = () => {
      throw new Error('the system says no');
    };
    expect(() => setPriority(niceness)).toThrow(message);
  });
});
