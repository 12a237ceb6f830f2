import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, getPriority } from 'node:os';
import { describe, expect, test } from 'vitest';
import { pinFault, pinThread, priorityFault } from '#pickaxe/miner/engine/cpu/affinity.js';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import type { Addon } from '#pickaxe/miner/engine/cpu/kernels/native-kernels.js';
import { type Allowance, chooseThreads, type ThreadOptions } from '#pickaxe/miner/engine/cpu/threads.js';
import { readTopology } from '#pickaxe/miner/engine/cpu/topology.js';
import { nativeIsBuilt } from './loadable-kernels.ts';

/** A Linux machine: CPUs by core. */
function linux(cores: number[][], more: { quota?: number; pinFault?: string } = {}): Allowance {
  const { quota, pinFault } = more;
  return {
    count: cores.flat().length,
    topology: { cores: cores.map((cpus) => ({ cpus })), ...(quota !== undefined && { quota }) },
    ...(pinFault !== undefined && { pinFault }),
  };
}
const plain = (count: number) => linux(Array.from({ length: count }, (_, cpu) => [cpu]));
const elsewhere: Allowance = {
  count: 8,
  pinFault: 'only Linux and Windows can pin threads',
  priorityFault: 'only some systems can',
};
const smt = [
  [0, 4],
  [1, 5],
  [2, 6],
  [3, 7],
];

/** @returns the choice, with the CPUs that threads are pinned to: none when the system places them */
function choose(wishes: ThreadOptions, allowance: Allowance) {
  const choice = chooseThreads(wishes, allowance);
  expect(choice.groups.flatMap(({ places }) => places)).toHaveLength(choice.threads);
  return { ...choice, cpus: choice.groups.flatMap(({ places }) => places).flat() };
}

describe('how many threads', () => {
  test.each([
    [1, 1],
    [2, 2],
    [3, 2],
    [64, 63],
  ])('with %i hardware threads, %i threads hash', (available, threads) => {
    expect(choose({}, plain(available)).threads).toBe(threads);
  });

  test.each([
    ['50%', plain(8), 4],
    ['50%', plain(3), 1],
    ['1%', plain(1), 1],
    ['100%', plain(64), 64],
    ['99%', plain(64), 63],
    ['50%', linux(smt, { quota: 3 }), 1],
    ['100%', linux(smt, { quota: 0.5 }), 1],
    ['50%', elsewhere, 4],
  ] as const)('%s of the hardware threads is rounded down, and is one at least', (threads, allowance, chosen) => {
    const { threads: count, why, warning } = choose({ threads }, allowance);
    expect([count, warning]).toEqual([chosen, undefined]);
    expect(why).toContain(`${threads} of `);
  });

  test('a part of the CPUs that threads are pinned to counts those', () => {
    expect(choose({ threads: '50%', affinity: [0, 1, 2, 3] }, plain(64)).cpus).toEqual([0, 1]);
  });

  test('the siblings of a core hash, too', () => {
    expect(choose({}, linux(smt))).toMatchObject({
      threads: 7,
      cpus: [],
      why: expect.stringContaining('4 cores'),
    });
  });

  test.each([
    [0.05, 1],
    [1.5, 1],
    [2, 2],
    [3.9, 3],
    [6.9, 6],
    [7.5, 7],
    [100, 7],
  ])('with a quota of %d CPUs of 8, %i threads hash', (quota, threads) => {
    const chosen = choose({}, linux(smt, { quota }));
    expect(chosen.threads).toBe(threads);
    expect(chosen.cpus).toEqual([]);
    expect(chosen.why.includes('quota')).toBe(threads < 7);
  });

  test('as many threads hash as asked for, whatever the quota', () => {
    const chosen = choose({ threads: 7 }, linux([[0], [1]], { quota: 1 }));
    expect(chosen).toMatchObject({ threads: 7, cpus: [], why: expect.stringMatching(/^asked for/) });
  });

  test('one thread hashes on each CPU that was named', () => {
    expect(choose({ affinity: [1, 6] }, linux(smt))).toMatchObject({ threads: 2, cpus: [1, 6] });
  });

  test('a number of CPUs is enough, without a topology', () => {
    expect(choose({}, elsewhere)).toMatchObject({ threads: 7, cpus: [] });
  });
});

test('no more threads hash than this machine has', () => {
  const { threads, why } = chooseThreads();
  expect(threads).toBeGreaterThanOrEqual(1);
  expect(threads).toBeLessThanOrEqual(availableParallelism());
  expect(why).toMatch(/hardware threads|quota/);
});

describe('where threads run', () => {
  test('each thread has its own CPU when all CPUs hash', () => {
    expect(choose({}, linux([[0], [3]]))).toMatchObject({ threads: 2, cpus: [0, 3] });
    expect(choose({ threads: 4 }, plain(4)).cpus).toEqual([0, 1, 2, 3]);
  });

  test.each([
    [4, undefined],
    [5, '5 CPU threads are more than the 4 hardware threads, and hash no faster'],
    [16, '16 CPU threads are more than the 4 hardware threads, and hash no faster'],
  ])('%i threads on 4 hardware threads cause a warning if they are more', (threads, warning) => {
    expect(choose({ threads }, plain(4))).toMatchObject({ threads });
    expect(choose({ threads }, plain(4)).warning).toBe(warning);
  });

  test.each([0, -1, 1.5, Number.NaN, 1_025])('%d are refused', (threads) => {
    expect(() => chooseThreads({ threads }, plain(1_000))).toThrow(
      `the number of CPU threads is a whole number from 1 to 1024, not ${threads}`,
    );
  });

  test('1 to 1024 may be asked for', () => {
    for (const threads of [1, 1_024]) expect(choose({ threads }, plain(256)).threads).toBe(threads);
  });

  test('more than four for each hardware thread are refused', () => {
    expect(choose({ threads: 16 }, plain(4)).threads).toBe(16);
    expect(() => chooseThreads({ threads: 17 }, plain(4))).toThrow(
      '17 CPU threads are too many for 4 hardware threads: give 16 at most',
    );
  });

  test('the system places them when a CPU is free, when there are more threads than CPUs, and on a single CPU', () => {
    expect(choose({ threads: 3 }, plain(4)).cpus).toEqual([]);
    expect(choose({ threads: 5 }, plain(4)).cpus).toEqual([]);
    expect(choose({}, plain(1)).cpus).toEqual([]);
  });

  test('the system places them when that was asked for', () => {
    expect(choose({ affinity: 'none' }, plain(2))).toMatchObject({ threads: 2, cpus: [] });
  });

  test('a reason is given when threads cannot be pinned', () => {
    const chosen = choose({}, linux([[0], [1]], { pinFault: 'there is no addon' }));
    expect(chosen).toMatchObject({ cpus: [], why: expect.stringContaining('not pinned: there is no addon') });
  });

  test('fewer threads than CPUs named take the first ones', () => {
    expect(choose({ threads: 2, affinity: [1, 2, 3] }, plain(4)).cpus).toEqual([1, 2]);
  });

  test.each([
    ['a CPU that the process may not use', { affinity: [0, 4] }, plain(4), 'CPU 4: this process may use 0-3'],
    ['fewer CPUs than threads', { threads: 3, affinity: [0, 1] }, plain(4), '3 CPU threads cannot be pinned to 2 CPUs'],
    ['a list of no CPUs', { affinity: [] }, plain(4), "name some, or 'none'"],
    ['no CPUs for a thread', { threads: 1, affinity: [] }, plain(4), "name some, or 'none'"],
    ['a CPU named twice', { affinity: [0, 1, 0] }, plain(4), 'cannot be pinned to 0,1,0: name each CPU only once'],
    ['CPUs on another system', { affinity: [0] }, elsewhere, 'only Linux'],
  ])('refuses %s', (_, wishes, allowance, message) => {
    expect(() => chooseThreads(wishes, allowance)).toThrow(RangeError);
    expect(() => chooseThreads(wishes, allowance)).toThrow(message);
  });
});

describe('the reasons for a choice', () => {
  const named = plain(4);
  const hybrid: Allowance = {
    count: 6,
    topology: {
      cores: [
        { cpus: [0, 1], kind: 'performance' },
        { cpus: [2], kind: 'efficiency' },
        ...[3, 4, 5].map((cpu) => ({ cpus: [cpu], kind: 'efficiency' as const })),
      ],
    },
  };

  test.each<[ThreadOptions, Allowance, string]>([
    [{}, named, 'one of 4 hardware threads is left free; placed by the system; niceness 19'],
    [{}, plain(2), 'all 2 hardware threads; each pinned to a CPU; niceness 19'],
    [{ niceness: 3 }, plain(1), 'all 1 hardware threads; placed by the system; niceness 3'],
    [{ affinity: 'none' }, plain(2), 'all 2 hardware threads; placed by the system, as asked for; niceness 19'],
    [{ affinity: [1, 3] }, named, 'one on each CPU asked for; pinned to CPUs 1,3; niceness 19'],
    [{ affinity: [1] }, named, 'one on each CPU asked for; pinned to CPU 1; niceness 19'],
    [
      { threads: '50%' },
      linux([[0], [1], [2], [3]], { quota: 2.5512 }),
      '50% of 2.55 hardware threads, as asked for; placed by the system; niceness 19',
    ],
    [
      {},
      linux([[0], [1], [2], [3]], { quota: 1.5 }),
      "as many as the control group's quota of 1.50 CPUs allows; placed by the system; niceness 19",
    ],
    [{ threads: 1 }, hybrid, 'asked for; 1 thread on performance cores (CPUs 0-1); niceness 19'],
    [
      { affinity: [0, 2, 4] },
      hybrid,
      'one on each CPU asked for; pinned to CPUs 0,2,4: ' +
        '1 thread on performance cores (CPU 0), 2 on efficiency cores (CPUs 2,4); niceness 19',
    ],
    [
      { cores: 'performance' },
      hybrid,
      'all 2 hardware threads of performance cores (on 1 cores); ' +
        '2 threads on performance cores (CPUs 0-1); niceness 19',
    ],
    [
      { cores: 'efficiency', threads: '75%' },
      hybrid,
      '75% of 4 hardware threads of efficiency cores, as asked for; ' +
        '3 threads on efficiency cores (CPUs 2-5); niceness 19',
    ],
  ])('%j: %#', (wishes, allowance, why) => {
    expect(chooseThreads(wishes, allowance).why).toBe(why);
  });

  test.each<[ThreadOptions, Allowance, string]>([
    [{ affinity: [9] }, named, 'CPU threads cannot be pinned to CPU 9: this process may use 0-3'],
    [
      { affinity: [3], cores: 'performance' },
      hybrid,
      'CPU threads cannot be pinned to CPU 3: this process may use 0-1 as performance cores',
    ],
    [
      { threads: 9, cores: 'performance' },
      hybrid,
      '9 CPU threads are too many for 2 hardware threads of performance cores: give 8 at most',
    ],
  ])('%j is refused in so many words', (wishes, allowance, message) => {
    expect(() => chooseThreads(wishes, allowance)).toThrow(message);
    try {
      chooseThreads(wishes, allowance);
    } catch (error) {
      expect((error as Error).message).toBe(message);
    }
  });

  test('what does not apply is absent', () => {
    const sandbox: Allowance = { ...plain(2), priorityFault: 'no' };
    expect(chooseThreads({}, sandbox)).toStrictEqual({
      threads: 2,
      groups: [{ places: [[0], [1]] }],
      why: 'all 2 hardware threads; each pinned to a CPU; priority unchanged: no',
    });
  });
});

describe('the niceness of threads', () => {
  test('is 19, or the one asked for', () => {
    expect(choose({}, plain(2)).niceness).toBe(19);
    expect(choose({ niceness: 0 }, plain(2)).niceness).toBe(0);
  });

  const sandbox: Allowance = { ...plain(2), priorityFault: 'Linux refuses it (operation not permitted)' };

  test('is not changed where a sandbox refuses it, and the reason is given', () => {
    const chosen = choose({}, sandbox);
    expect(chosen).toMatchObject({ threads: 2, cpus: [0, 1] });
    expect(chosen.niceness).toBeUndefined();
    expect(chosen.why).toContain('priority unchanged: Linux refuses it (operation not permitted)');
  });

  test.each([0, 5])('that was asked for, such as %d, is an error where it cannot be set', (niceness) => {
    expect(() => chooseThreads({ niceness }, sandbox)).toThrow(RangeError);
    expect(() => chooseThreads({ niceness }, sandbox)).toThrow(
      `cannot be given niceness ${niceness}: Linux refuses it`,
    );
  });

  test.each([-1, 20, 1.5, Number.NaN])('refuses %d', (niceness) => {
    expect(() => chooseThreads({ niceness }, plain(2))).toThrow(RangeError);
  });
});

/** An addon of another system, with only the functions that the test needs. */
const addonWith = (functions: Partial<Addon>) => () => functions as Addon;
const noAddon = () => {
  throw new Error('not built');
};

describe('whether threads can be pinned', () => {
  test('is a question of the system first', () => {
    expect(pinFault('darwin', noAddon)).toBe('only Linux and Windows can pin threads');
  });

  test.each(['linux', 'win32'])('takes the addon on %s', (platform) => {
    expect(pinFault(platform, noAddon)).toContain('requires the native addon');
    expect(pinFault(platform, addonWith({ checkPinning: () => undefined }))).toBeUndefined();
  });

  test('is said in the words of the system that refuses it', () => {
    const refuses = addonWith({
      checkPinning: () => {
        throw new Error('Access is denied');
      },
    });
    expect(pinFault('win32', refuses)).toBe('Windows refuses it (Access is denied)');
    expect(pinFault('linux', refuses)).toBe('Linux refuses it (Access is denied)');
  });
});

describe('whether threads can be given a priority', () => {
  test.each(['win32', 'darwin'])('takes the addon on %s', (platform) => {
    expect(priorityFault(platform, noAddon)).toContain('requires the native addon');
    expect(priorityFault(platform, addonWith({}))).toBeUndefined();
  });

  test('does not take the addon on Linux', () => {
    if (process.platform === 'linux') expect(priorityFault('linux', noAddon)).toBeUndefined();
    expect(priorityFault('freebsd', noAddon)).toBe('only Linux, Windows and macOS can do it for single threads');
  });
});

test.runIf(process.platform === 'linux')('threads are pinned with the native addon', () => {
  expect(pinFault() === undefined).toBe(nativeIsBuilt);
});

test('checking whether the priority can be changed does not change it', () => {
  const before = getPriority();
  expect(priorityFault()).toBeUndefined();
  expect(getPriority()).toBe(before);
});

test.runIf(process.platform === 'linux' && nativeIsBuilt)('a CPU that does not exist is refused', () => {
  expect(() => pinThread([1023])).toThrow('a thread cannot be pinned to CPU 1023: Invalid argument');
  expect(() => pinThread([0, 4_000_000])).toThrow('a thread cannot be pinned to CPU 0,4000000: Invalid argument');
});

/** Reads from Linux the properties of this process's threads. */
function threads() {
  return readdirSync('/proc/self/task').map((task) => {
    const stat = readFileSync(`/proc/self/task/${task}/stat`, 'utf8');
    return {
      niceness: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]),
      cpus: /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync(`/proc/self/task/${task}/status`, 'utf8'))![1],
    };
  });
}

/** A niceness above that of these tests: a lower one would require privileges, and an equal one would prove nothing. */
const kinder = Math.max(0, getPriority()) + 1;
const tooNice = kinder > 19 && 'these tests have niceness 19, and none is kinder';
const skipped = process.platform !== 'linux' ? 'the system is another' : tooNice;

describe.skipIf(skipped)(`threads of an engine on Linux${skipped ? ` (skipped: ${skipped})` : ''}`, () => {
  async function during<T>(options: ConstructorParameters<typeof CpuEngine>[0], look: () => T): Promise<T> {
    const engine = new CpuEngine({ kernel: 'wasm', ...options });
    await engine.open();
    try {
      return look();
    } finally {
      await engine.close();
    }
  }

  test('have the niceness that was asked for, and other threads do not', async () => {
    const before = threads().length;
    const running = await during({ threads: 2, niceness: kinder, affinity: 'none' }, threads);
    expect(running.filter(({ niceness }) => niceness === kinder)).toHaveLength(2);
    expect(running.length).toBeGreaterThan(before);
    expect(threads().filter(({ niceness }) => niceness === kinder)).toEqual([]);
  });

  test.runIf(nativeIsBuilt)('are each pinned to their own CPU, and other threads are not', async () => {
    const allowed = threads()[0].cpus;
    const named = readTopology((path) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined))!
      .cores.flatMap(({ cpus }) => cpus)
      .slice(0, 2);
    const running = await during({ affinity: named, niceness: kinder }, threads);
    const hashing = running.filter(({ niceness }) => niceness === kinder).map(({ cpus }) => Number(cpus));
    expect(hashing.sort((a, b) => a - b)).toEqual(named);
    if (named.length > 1) {
      const others = running.filter(({ niceness }) => niceness !== kinder).map(({ cpus }) => cpus);
      expect(new Set(others)).toEqual(new Set([allowed]));
    }
  });
});
