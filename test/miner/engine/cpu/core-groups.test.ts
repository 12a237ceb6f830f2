import { describe, expect, test } from 'vitest';
import { formatCpuList } from '#pickaxe/base/text/quantities.js';
import { type Allowance, chooseThreads, groupThreads, type ThreadOptions } from '#pickaxe/miner/engine/cpu/threads.js';
import type { Core } from '#pickaxe/miner/engine/cpu/topology.js';
import type { CoreKind } from '#pickaxe/miner/engine/device.js';

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
/** Cores without SMT. */
const single = (first: number, last: number, kind?: CoreKind): Core[] =>
  range(first, last).map((cpu) => ({ cpus: [cpu], ...(kind && { kind }) }));
/** Cores with two hardware threads each, which have neighbouring numbers. */
const smt = (first: number, last: number, kind?: CoreKind): Core[] =>
  range(first, last)
    .filter((cpu) => cpu % 2 === 0)
    .map((cpu) => ({ cpus: [cpu, cpu + 1], ...(kind && { kind }) }));

const machine = (cores: Core[], more: Partial<Allowance> & { quota?: number } = {}): Allowance => {
  const { quota, ...others } = more;
  return {
    count: cores.flatMap(({ cpus }) => cpus).length,
    topology: { cores, ...(quota !== undefined && { quota }) },
    ...others,
  };
};

const CORE_I9_13900K = [...smt(0, 15, 'performance'), ...single(16, 31, 'efficiency')];
const METEOR_LAKE = [...smt(0, 11, 'performance'), ...single(12, 21, 'efficiency')];
const ARROW_LAKE = [...single(0, 7, 'performance'), ...single(8, 23, 'efficiency')];
const N100 = single(0, 3);
const RK3588 = [...single(0, 3, 'efficiency'), ...single(4, 7, 'performance')];
const M2_PRO = [...single(0, 7, 'performance'), ...single(8, 11, 'efficiency')];
const ZEN_4 = smt(0, 31);
const noPinning = { pinFault: 'only Linux and Windows can pin threads' };

/** @returns each group in short: `15 of 0-15 performance` (confined together), `16 pinned to 16-31 efficiency` */
function choose(wishes: ThreadOptions, allowance: Allowance) {
  const { threads, groups, why } = chooseThreads(wishes, allowance);
  expect(groups.flatMap(({ places }) => places)).toHaveLength(threads);
  const short = groups.map(({ kind, places }) => {
    const cpus = [...new Set(places.flat())];
    const isPinned = places.every((place) => place.length === 1) && cpus.length === places.length;
    if (!isPinned) for (const place of places) expect(place).toEqual(cpus);
    const where = cpus.length === 0 ? 'anywhere' : `${isPinned ? 'pinned to' : 'of'} ${formatCpuList(cpus)}`;
    return `${places.length} ${where}${kind ? ` ${kind}` : ''}`;
  });
  return { threads, groups: short, why };
}

describe('groups of threads', () => {
  test.each<[string, ThreadOptions, Allowance, string[]]>([
    [
      'a 13900K leaves one hardware thread of a performance core free, whose sibling uses its ports',
      {},
      machine(CORE_I9_13900K),
      ['15 of 0-15 performance', '16 pinned to 16-31 efficiency'],
    ],
    [
      'a 13900K with all of its threads: each is pinned',
      { threads: 32 },
      machine(CORE_I9_13900K),
      ['16 pinned to 0-15 performance', '16 pinned to 16-31 efficiency'],
    ],
    [
      'few threads are on performance cores, one on each core at most',
      { threads: 8 },
      machine(CORE_I9_13900K),
      ['8 of 0-15 performance'],
    ],
    [
      'further ones are on efficiency cores, before any core has a second one',
      { threads: 20 },
      machine(CORE_I9_13900K),
      ['8 of 0-15 performance', '12 of 16-31 efficiency'],
    ],
    [
      'a quota counts like the number that was asked for',
      {},
      machine(CORE_I9_13900K, { quota: 10.5 }),
      ['8 of 0-15 performance', '2 of 16-31 efficiency'],
    ],
    [
      'more threads than CPUs begin again with performance cores',
      { threads: 40 },
      machine(CORE_I9_13900K),
      ['24 of 0-15 performance', '16 pinned to 16-31 efficiency'],
    ],
    [
      'Meteor Lake counts its low-power cores as efficiency cores',
      {},
      machine(METEOR_LAKE),
      ['11 of 0-11 performance', '10 pinned to 12-21 efficiency'],
    ],
    [
      'a hybrid chip without SMT leaves an efficiency core free',
      {},
      machine(ARROW_LAKE),
      ['8 pinned to 0-7 performance', '15 of 8-23 efficiency'],
    ],
    ['an RK3588', {}, machine(RK3588), ['4 pinned to 4-7 performance', '3 of 0-3 efficiency']],
    ['an N100, whose cores are alike', {}, machine(N100), ['3 anywhere']],
    ['Zen 4, whose cores are alike', {}, machine(ZEN_4), ['31 anywhere']],
    ['Zen 4 with all of its threads', { threads: 32 }, machine(ZEN_4), ['32 pinned to 0-31']],
    [
      'a container that may use efficiency cores only has them wherever its threads are',
      {},
      machine(single(16, 19, 'efficiency')),
      ['3 anywhere efficiency'],
    ],
    ['an M2 Pro, where threads cannot be confined: one group', {}, machine(M2_PRO, noPinning), ['11 anywhere']],
    ['a 13900K without the native addon: one group', {}, machine(CORE_I9_13900K, noPinning), ['31 anywhere']],
    ['a 13900K that leaves placing to the system', { affinity: 'none' }, machine(CORE_I9_13900K), ['31 anywhere']],
    [
      'CPUs that were named, of both kinds',
      { affinity: [17, 0, 2, 16] },
      machine(CORE_I9_13900K),
      ['2 pinned to 0,2 performance', '2 pinned to 16-17 efficiency'],
    ],
    [
      'fewer threads than CPUs that were named: the first ones',
      { affinity: [17, 0, 2, 16], threads: 1 },
      machine(CORE_I9_13900K),
      ['1 pinned to 17 efficiency'],
    ],
    ['CPUs that were named, of one kind', { affinity: [0, 3] }, machine(ZEN_4), ['2 pinned to 0,3']],
  ])('%s', (_, wishes, allowance, groups) => {
    expect(choose(wishes, allowance).groups).toEqual(groups);
  });

  test('say why there is only one group, or where the threads of each are', () => {
    const why = (allowance: Allowance) => choose({}, allowance).why;
    expect(why(machine(CORE_I9_13900K))).toContain(
      'one of 32 hardware threads is left free (on 24 cores); ' +
        '15 threads on performance cores (CPUs 0-15), 16 on efficiency cores (CPUs 16-31); ',
    );
    expect(why(machine(M2_PRO, noPinning))).toContain(
      'on cores of both kinds, as the system places them: only Linux and Windows can pin threads',
    );
    expect(why(machine(single(16, 19, 'efficiency')))).toContain('on the efficiency cores, which are all that');
    expect(why(machine(ZEN_4))).not.toMatch(/performance|efficiency/);
  });

  test('give all threads a place, whatever the cores', () => {
    for (const cores of [CORE_I9_13900K, METEOR_LAKE, ARROW_LAKE, RK3588]) {
      for (let threads = 1; threads <= 100; threads++) {
        const places = groupThreads(cores, threads).flatMap((group) => group.places);
        expect(places).toHaveLength(threads);
        expect(places.every((place) => place.length > 0)).toBe(true);
      }
    }
  });
});

describe('the cores that mine', () => {
  test.each<[string, ThreadOptions, Allowance, string[]]>([
    [
      'performance cores of a 13900K: none is left free, because the efficiency cores are',
      { cores: 'performance' },
      machine(CORE_I9_13900K),
      ['16 pinned to 0-15 performance'],
    ],
    ['efficiency cores', { cores: 'efficiency' }, machine(CORE_I9_13900K), ['16 pinned to 16-31 efficiency']],
    [
      'some threads on efficiency cores',
      { cores: 'efficiency', threads: 5 },
      machine(CORE_I9_13900K),
      ['5 of 16-31 efficiency'],
    ],
    ['a quota that allows fewer', { cores: 'efficiency' }, machine(RK3588, { quota: 2 }), ['2 of 0-3 efficiency']],
    [
      'CPUs that are named among them',
      { cores: 'efficiency', affinity: [16, 20] },
      machine(CORE_I9_13900K),
      ['2 pinned to 16,20 efficiency'],
    ],
    ['all cores', { cores: 'all' }, machine(RK3588), choose({}, machine(RK3588)).groups],
    ['performance cores where all are alike: all of them', { cores: 'performance' }, machine(ZEN_4), ['31 anywhere']],
    [
      'efficiency cores in a container that has only these, even if threads cannot be confined',
      { cores: 'efficiency' },
      machine(single(16, 19, 'efficiency'), noPinning),
      ['3 anywhere efficiency'],
    ],
  ])('are %s', (_, wishes, allowance, groups) => {
    expect(choose(wishes, allowance).groups).toEqual(groups);
  });

  test('are named in the reason for the number of threads', () => {
    expect(choose({ cores: 'performance' }, machine(CORE_I9_13900K)).why).toContain(
      'all 16 hardware threads of performance cores (on 8 cores)',
    );
  });

  test.each<[string, ThreadOptions, Allowance, string]>([
    ['where all are alike', { cores: 'efficiency' }, machine(ZEN_4), 'no efficiency cores to choose'],
    ['where nothing is known', { cores: 'efficiency' }, { count: 4 }, 'no efficiency cores to choose'],
    [
      'that this process may not use',
      { cores: 'performance' },
      machine(single(16, 19, 'efficiency')),
      'this process may use no performance cores, only efficiency cores',
    ],
    [
      'where threads cannot be confined',
      { cores: 'performance' },
      machine(M2_PRO, noPinning),
      'cannot be confined to performance cores: only Linux and Windows can pin threads',
    ],
    [
      'and leaving the placing to the system',
      { cores: 'performance', affinity: 'none' },
      machine(CORE_I9_13900K),
      'choose one of both',
    ],
    [
      'and CPUs of the other kind',
      { cores: 'efficiency', affinity: [3] },
      machine(CORE_I9_13900K),
      'CPU 3: this process may use 16-31 as efficiency cores',
    ],
    [
      'and far more threads than they have',
      { cores: 'performance', threads: 65 },
      machine(CORE_I9_13900K),
      'too many for 16 hardware threads of performance cores',
    ],
  ])('are refused %s', (_, wishes, allowance, message) => {
    expect(() => chooseThreads(wishes, allowance)).toThrow(RangeError);
    expect(() => chooseThreads(wishes, allowance)).toThrow(message);
  });
});
