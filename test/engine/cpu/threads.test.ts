import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, getPriority } from 'node:os';
import { describe, expect, test } from 'vitest';
import { CpuEngine } from '#pickaxe/engine/cpu/cpu-engine.js';
import { nicenessFault } from '#pickaxe/engine/cpu/niceness.js';
import { pinFault, pinThread } from '#pickaxe/engine/cpu/pinning.js';
import { type Allowance, chooseThreads } from '#pickaxe/engine/cpu/threads.js';
import { readTopology } from '#pickaxe/engine/cpu/topology.js';
import { nativeIsBuilt } from './loadable-kernels.ts';

/** A Linux machine: CPUs by core. */
function linux(cores: number[][], more: { quota?: number; pinFault?: string } = {}): Allowance {
  const { quota, pinFault } = more;
  return {
    count: cores.flat().length,
    topology: { cores, ...(quota !== undefined && { quota }) },
    ...(pinFault !== undefined && { pinFault }),
    niceThreads: true,
  };
}
const plain = (count: number) => linux(Array.from({ length: count }, (_, cpu) => [cpu]));
const elsewhere: Allowance = { count: 8, pinFault: 'only Linux can pin threads', niceThreads: false };
const smt = [
  [0, 4],
  [1, 5],
  [2, 6],
  [3, 7],
];

describe('how many threads', () => {
  test.each([
    [1, 1],
    [2, 2],
    [3, 2],
    [64, 63],
  ])('of %i hardware threads %i hash', (available, threads) => {
    expect(chooseThreads({}, plain(available)).threads).toBe(threads);
  });

  test('siblings hash, too', () => {
    expect(chooseThreads({}, linux(smt))).toMatchObject({
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
  ])('a quota of %d CPUs of 8 pays for %i', (quota, threads) => {
    const chosen = chooseThreads({}, linux(smt, { quota }));
    expect(chosen.threads).toBe(threads);
    expect(chosen.cpus).toEqual([]);
    expect(chosen.why.includes('quota')).toBe(threads < 7);
  });

  test('as many as asked for, whatever the machine and the quota', () => {
    const chosen = chooseThreads({ threads: 7 }, linux([[0], [1]], { quota: 1 }));
    expect(chosen).toMatchObject({ threads: 7, cpus: [], why: expect.stringMatching(/^asked for/) });
  });

  test('one on each CPU that was named', () => {
    expect(chooseThreads({ affinity: [1, 6] }, linux(smt))).toMatchObject({ threads: 2, cpus: [1, 6] });
  });

  test('where the system tells no more than a number', () => {
    expect(chooseThreads({}, elsewhere)).toMatchObject({ threads: 7, cpus: [] });
  });
});

test('on this machine, no more than it has', () => {
  const { threads, why } = chooseThreads();
  expect(threads).toBeGreaterThanOrEqual(1);
  expect(threads).toBeLessThanOrEqual(availableParallelism());
  expect(why).toMatch(/hardware threads|quota/);
});

describe('where they run', () => {
  test('each has a CPU of its own when all of them hash', () => {
    expect(chooseThreads({}, linux([[0], [3]]))).toMatchObject({ threads: 2, cpus: [0, 3] });
    expect(chooseThreads({ threads: 4 }, plain(4)).cpus).toEqual([0, 1, 2, 3]);
  });

  test.each([
    [4, undefined],
    [5, '5 CPU threads hash no faster than 4, the number of hardware threads'],
    [16, '16 CPU threads hash no faster than 4, the number of hardware threads'],
  ])('%i threads on 4 hardware threads are warned of when they are more', (threads, warning) => {
    expect(chooseThreads({ threads }, plain(4))).toMatchObject({ threads });
    expect(chooseThreads({ threads }, plain(4)).warning).toBe(warning);
  });

  test('more than four for each hardware thread are refused', () => {
    expect(() => chooseThreads({ threads: 17 }, plain(4))).toThrow(
      '17 CPU threads are too many for 4 hardware threads: give 16 at most',
    );
  });

  test('the system places them when a CPU is free, when there are more threads than CPUs, and on a single CPU', () => {
    expect(chooseThreads({ threads: 3 }, plain(4)).cpus).toEqual([]);
    expect(chooseThreads({ threads: 5 }, plain(4)).cpus).toEqual([]);
    expect(chooseThreads({}, plain(1)).cpus).toEqual([]);
  });

  test('the system places them when that was asked for', () => {
    expect(chooseThreads({ affinity: 'none' }, plain(2))).toMatchObject({ threads: 2, cpus: [] });
  });

  test('says why it could not pin them', () => {
    const chosen = chooseThreads({}, linux([[0], [1]], { pinFault: 'there is no addon' }));
    expect(chosen).toMatchObject({ cpus: [], why: expect.stringContaining('not pinned: there is no addon') });
  });

  test('fewer threads than CPUs named take the first ones', () => {
    expect(chooseThreads({ threads: 2, affinity: [1, 2, 3] }, plain(4)).cpus).toEqual([1, 2]);
  });

  test.each([
    ['a CPU that the process may not use', { affinity: [0, 4] }, plain(4), 'CPU 4: this process may use 0-3'],
    ['fewer CPUs than threads', { threads: 3, affinity: [0, 1] }, plain(4), '3 CPU threads cannot be pinned to 2 CPUs'],
    ['a list of no CPUs', { affinity: [] }, plain(4), "name some, or 'none'"],
    ['no CPUs for a thread', { threads: 1, affinity: [] }, plain(4), "name some, or 'none'"],
    ['a CPU named twice', { affinity: [0, 1, 0] }, plain(4), 'cannot be pinned to 0,1,0: name each CPU only once'],
    ['CPUs on another system', { affinity: [0] }, elsewhere, 'only Linux'],
  ])('refuses %s', (_, wishes, allowance, says) => {
    expect(() => chooseThreads(wishes, allowance)).toThrow(RangeError);
    expect(() => chooseThreads(wishes, allowance)).toThrow(says);
  });
});

describe('their niceness', () => {
  test('is the kindest there is, or the one asked for', () => {
    expect(chooseThreads({}, plain(2)).niceness).toBe(19);
    expect(chooseThreads({ niceness: 0 }, plain(2)).niceness).toBe(0);
  });

  test("is left alone where it would be the whole process's, which is said", () => {
    const chosen = chooseThreads({ niceness: 5 }, elsewhere);
    expect(chosen.niceness).toBeUndefined();
    expect(chosen.why).toContain('priority unchanged');
  });

  const sandbox: Allowance = { ...plain(2), nicenessFault: 'Linux refuses it (operation not permitted)' };

  test('is left alone where a sandbox refuses to change it, which is said', () => {
    const chosen = chooseThreads({}, sandbox);
    expect(chosen).toMatchObject({ threads: 2, cpus: [0, 1] });
    expect(chosen.niceness).toBeUndefined();
    expect(chosen.why).toContain('priority unchanged: Linux refuses it (operation not permitted)');
  });

  test.each([0, 5])('that is asked for, like %d, is not left alone in silence', (niceness) => {
    expect(() => chooseThreads({ niceness }, sandbox)).toThrow(RangeError);
    expect(() => chooseThreads({ niceness }, sandbox)).toThrow(
      `cannot be given niceness ${niceness}: Linux refuses it`,
    );
  });

  test.each([-1, 20, 1.5, Number.NaN])('refuses %d', (niceness) => {
    expect(() => chooseThreads({ niceness }, plain(2))).toThrow(RangeError);
  });
});

test('threads are pinned on Linux alone', () => {
  expect(pinFault('darwin')).toContain('Linux');
});

test.runIf(process.platform === 'linux')('threads are pinned with the native addon', () => {
  expect(pinFault() === undefined).toBe(nativeIsBuilt);
});

test('asking whether the niceness can be changed does not change it', () => {
  const before = getPriority();
  expect(nicenessFault()).toBeUndefined();
  expect(getPriority()).toBe(before);
});

test.runIf(process.platform === 'linux' && nativeIsBuilt)('a CPU that is not there is refused', () => {
  expect(() => pinThread(1023)).toThrow('cannot be pinned to CPU 1023');
  expect(() => pinThread(4_000_000)).toThrow('cannot be pinned to CPU 4000000');
});

/** What Linux says of this process's threads. */
function threads() {
  return readdirSync('/proc/self/task').map((task) => {
    const stat = readFileSync(`/proc/self/task/${task}/stat`, 'utf8');
    return {
      niceness: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]),
      cpus: /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync(`/proc/self/task/${task}/status`, 'utf8'))![1],
    };
  });
}

/** Kinder than these tests, whatever they run under: less takes privileges, and the same would tell no thread apart. */
const kinder = Math.max(0, getPriority()) + 1;
const tooNice = kinder > 19 && 'these tests have niceness 19, and none is kinder';
const skipped = process.platform !== 'linux' ? 'the system is another' : tooNice;

describe.skipIf(skipped)(`threads of an engine on Linux${skipped ? ` (skipped: ${skipped})` : ''}`, () => {
  async function during<T>(options: ConstructorParameters<typeof CpuEngine>[0], look: () => T): Promise<T> {
    const engine = new CpuEngine({ kernel: 'js', ...options });
    await engine.open();
    try {
      return look();
    } finally {
      await engine.close();
    }
  }

  test('have the niceness asked for, and no other thread has', async () => {
    const before = threads().length;
    const running = await during({ threads: 2, niceness: kinder, affinity: 'none' }, threads);
    expect(running.filter(({ niceness }) => niceness === kinder)).toHaveLength(2);
    expect(running.length).toBeGreaterThan(before);
    expect(threads().filter(({ niceness }) => niceness === kinder)).toEqual([]);
  });

  test.runIf(nativeIsBuilt)('are pinned each to its own CPU, and no other thread is', async () => {
    const allowed = threads()[0].cpus;
    const named = readTopology((path) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined))!
      .cores.flat()
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
