/** The choice of kernels, and what people read about it, with pretended kernels and measurements. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { arch, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Cache } from '#pickaxe/base/system/cache.js';
import {
  chooseKernels,
  forceKernel,
  recallTuning,
  rememberTuning,
  surveyKernels,
} from '#pickaxe/miner/engine/cpu/kernels/choose.js';
import type { Turns } from '#pickaxe/miner/engine/cpu/kernels/measure-kernels.js';
import type { CoreGroup } from '#pickaxe/miner/engine/cpu/threads.js';
import { KERNEL_NAMES, type KernelName } from '#pickaxe/miner/engine/device.js';

/** The pretended machine. */
const machine = vi.hoisted(() => ({
  /** Why kernels cannot be used. */
  unusable: {} as Record<string, string>,
  /** The turns of each group. */
  turns: [] as unknown[],
  measured: 0,
  /** The bytes of the native kernels; undefined if there are none. */
  build: undefined as Uint8Array | undefined,
}));

vi.mock('#pickaxe/miner/engine/cpu/kernels/measure-kernels.js', async (load) => ({
  ...(await load<object>()),
  measureKernels: async () => {
    machine.measured++;
    return machine.turns;
  },
}));
vi.mock('#pickaxe/miner/engine/cpu/kernels/load-kernel.js', async (load) => {
  const { DeviceError } = await import('#pickaxe/miner/engine/engine.js');
  const loadKernel = (name: string) => {
    const why = machine.unusable[name];
    if (why !== undefined) throw new DeviceError(why === 'computed wrong hashes' ? 'wrong-hashes' : 'missing', why);
    return { name };
  };
  const loadKernels = (names: readonly string[]) => {
    const kernels = names.filter((name) => machine.unusable[name] === undefined).map((name) => ({ name }));
    const faults = names.flatMap((name) =>
      machine.unusable[name] === undefined ? [] : [[name, machine.unusable[name]]],
    );
    return { kernels, unusable: new Map(faults as [string, string][]) };
  };
  return { ...(await load<object>()), loadKernel, loadKernels };
});
vi.mock('#pickaxe/miner/engine/cpu/kernels/native-kernels.js', async (load) => ({
  ...(await load<object>()),
  nativeOrigin: () => 'built-here',
  nativeBuild: () => machine.build,
}));

/** This machine has these kernels, and for each other one the reason why it cannot be used. */
function has(usable: readonly KernelName[], why: Partial<Record<KernelName, string>> = {}): void {
  const others = KERNEL_NAMES.filter((name) => !usable.includes(name));
  machine.unusable = Object.fromEntries(others.map((name) => [name, why[name] ?? 'made for another kind of chip']));
}

/** Turns with these rates, in hashes per ms. */
const turnsOf = (rates: Partial<Record<KernelName, number>>): Turns =>
  new Map(Object.entries(rates).map(([name, rate]) => [name as KernelName, Array<number>(20).fill(rate)]));

const ALIKE: CoreGroup[] = [{ places: [[], []] }];

beforeEach(() => {
  has(['avx2', 'wasm']);
  Object.assign(machine, { turns: [turnsOf({ avx2: 50_000, wasm: 8_000 })], measured: 0 });
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'pickaxe-kernels-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

describe('a kernel that the user asked for', () => {
  test.each([
    ['avx2', 'asked for; built here'],
    ['wasm', 'asked for'],
  ] as const)('%s is used: %s', (name, why) => {
    expect(forceKernel(name)).toEqual({ name, why, detail: why });
  });

  test.each([
    ['needs AVX2', 'missing'],
    ['computed wrong hashes', 'wrong-hashes'],
  ])('that cannot be used because it %s is a fault, and the error says what to do', (why, fault) => {
    has([], { avx2: why });
    const message = `CPU kernel avx2: ${why}; let pickaxe choose the kernel`;
    expect(() => forceKernel('avx2')).toThrow(expect.objectContaining({ fault, message }));
  });
});

describe('the fastest kernel', () => {
  test('that is native has the rates of all in its details, and the reasons why others cannot be used', async () => {
    has(['avx2', 'wasm'], { sse41: 'needs SSE4.1', avx2x2: 'computed wrong hashes' });
    expect(await chooseKernels({ groups: ALIKE })).toEqual([
      {
        name: 'avx2',
        why: 'the fastest of 2 here; built here',
        detail:
          'the fastest here (MH/s per thread: avx2 50.0, wasm 8.0); built here; ' +
          'avx2x2: computed wrong hashes; sse41: needs SSE4.1; not remembered: there is no cache directory',
      },
    ]);
  });

  test('of many has the rates of three, and the first three names for each reason', async () => {
    has(['avx2', 'sse41', 'wasm', 'wasm-simd'], {
      avx512x2: 'needs AVX-512F',
      avx512: 'needs AVX-512F',
      avx512vlx2: 'needs AVX-512F',
      avx512vl: 'needs AVX-512F',
      portable: 'not in this build',
    });
    machine.turns = [turnsOf({ wasm: 8_000, 'wasm-simd': 20_000, sse41: 25_000, avx2: 50_040 })];
    const [{ detail }] = await chooseKernels({ groups: ALIKE, cacheDirectory: folder() });
    expect(detail).toBe(
      'the fastest here (MH/s per thread: avx2 50.0, sse41 25.0, wasm-simd 20.0 …); built here; ' +
        'avx512x2, avx512, avx512vlx2 …: needs AVX-512F; portable: not in this build',
    );
  });

  test('of three has no sign that there are more', async () => {
    has(['avx2', 'sse41', 'wasm']);
    machine.turns = [turnsOf({ wasm: 8_000, sse41: 25_000, avx2: 50_000 })];
    const [{ detail }] = await chooseKernels({ groups: ALIKE, cacheDirectory: folder() });
    expect(detail).toBe('the fastest here (MH/s per thread: avx2 50.0, sse41 25.0, wasm 8.0); built here');
  });

  test('that is WebAssembly has the reasons why no native one is used in its short text, too', async () => {
    has(['wasm'], { avx2: 'not built: install clang' });
    machine.turns = [turnsOf({ wasm: 8_000 })];
    const [{ why, detail }] = await chooseKernels({ groups: ALIKE, cacheDirectory: folder() });
    expect(why).toBe('the fastest of 1 here; avx2: not built: install clang');
    expect(detail).toBe('the fastest here (MH/s per thread: wasm 8.0); avx2: not built: install clang');
  });

  test('is remembered, and then has the reasons only of those that were not measured', async () => {
    const cacheDirectory = folder();
    await chooseKernels({ groups: ALIKE, cacheDirectory });
    has(['avx2'], { wasm: 'computed wrong hashes', sse41: 'needs SSE4.1' });
    expect(await chooseKernels({ groups: ALIKE, cacheDirectory })).toEqual([
      {
        name: 'avx2',
        why: 'the fastest of 2 here, as measured before; built here',
        detail:
          'the fastest here (MH/s per thread: avx2 50.0, wasm 8.0), as measured before; built here; ' +
          'sse41: needs SSE4.1',
      },
    ]);
    expect(machine.measured).toBe(1);
    // The fastest one itself cannot be used any more.
    has(['wasm']);
    machine.turns = [turnsOf({ wasm: 8_000 })];
    expect(await chooseKernels({ groups: ALIKE, cacheDirectory })).toMatchObject([{ name: 'wasm' }]);
    expect(machine.measured).toBe(2);
  });

  test('is that of the list where no thread could measure in time', async () => {
    machine.turns = [new Map(['avx2', 'wasm'].map((name) => [name, []]))];
    expect(await chooseKernels({ groups: ALIKE, cacheDirectory: folder() })).toEqual([
      {
        name: 'avx2',
        why: 'usually the fastest, not measured; built here',
        detail: 'usually the fastest, not measured; built here; not remembered: no thread got the processor in time',
      },
    ]);
  });
});

describe('in a hurry', () => {
  const HYBRID: CoreGroup[] = [
    { kind: 'performance', places: [[0]] },
    { kind: 'efficiency', places: [[1], [2]] },
  ];

  test('the first kernel that can be used is taken for all cores, and nothing is measured', async () => {
    has(['sse41', 'wasm'], { avx2: 'needs AVX2' });
    const choice = {
      name: 'sse41',
      why: 'usually the fastest, not measured; built here',
      detail: 'usually the fastest, not measured; built here; avx2: needs AVX2',
    };
    expect(await chooseKernels({ groups: HYBRID, hurried: true })).toEqual([choice, choice]);
    expect(machine.measured).toBe(0);
  });

  test.each([true, false])(
    '%s: without any kernel that can be used there is a fault with the reasons',
    async (hurried) => {
      has([], { avx2: 'needs AVX2', wasm: 'computed wrong hashes' });
      const choosing = chooseKernels({ groups: HYBRID, hurried });
      await expect(choosing).rejects.toMatchObject({
        fault: 'wrong-hashes',
        message: 'no CPU kernel can be used (avx2: needs AVX2; wasm: computed wrong hashes)',
      });
      expect(machine.measured).toBe(0);
    },
  );

  test('what is remembered is used', async () => {
    const cacheDirectory = folder();
    await chooseKernels({ groups: ALIKE, cacheDirectory });
    expect(await chooseKernels({ groups: ALIKE, cacheDirectory, hurried: true })).toMatchObject([
      { why: expect.stringContaining('as measured before') },
    ]);
  });

  test('what is remembered of only some kinds of cores is not used', async () => {
    const cacheDirectory = folder();
    const cache = new Cache(cacheDirectory);
    rememberTuning(cache, HYBRID, 0, { speeds: { wasm: 1e6 }, fastest: 'wasm' });
    expect((await chooseKernels({ groups: HYBRID, cacheDirectory, hurried: true })).map(({ name }) => name)).toEqual([
      'avx2',
      'avx2',
    ]);
    rememberTuning(cache, HYBRID, 1, { speeds: { avx2: 1e6 }, fastest: 'avx2' });
    expect((await chooseKernels({ groups: HYBRID, cacheDirectory, hurried: true })).map(({ name }) => name)).toEqual([
      'wasm',
      'avx2',
    ]);
  });
});

describe('a survey', () => {
  test('has the kind and the threads of each group, and what was measured', async () => {
    const groups: CoreGroup[] = [
      { kind: 'performance', places: [[0]] },
      { kind: 'efficiency', places: [[1], [2]] },
    ];
    machine.turns = [turnsOf({ avx2: 50_000, wasm: 8_000 }), turnsOf({ avx2: 10_000, wasm: 12_000 })];
    const cacheDirectory = folder();
    const expected = [
      { kind: 'performance', threads: 1, speeds: { avx2: 5e7, wasm: 8e6 }, fastest: 'avx2' },
      { kind: 'efficiency', threads: 2, speeds: { avx2: 1e7, wasm: 1.2e7 }, fastest: 'wasm' },
    ];
    const unusable = new Map(Object.entries(machine.unusable));
    const survey = () => surveyKernels({ groups, cacheDirectory });
    expect(await survey()).toStrictEqual(expected.map((each) => ({ ...each, unusable })));
    expect(await survey()).toStrictEqual(expected.map((each) => ({ ...each, unusable })));
    expect(machine.measured).toBe(1);
    // A kernel that cannot be used any more is left out.
    has(['wasm']);
    machine.turns = [turnsOf({ wasm: 8_000 }), turnsOf({ wasm: 12_000 })];
    expect((await survey()).map(({ speeds }) => speeds)).toEqual([{ wasm: 8e6 }, { wasm: 1.2e7 }]);
    expect(machine.measured).toBe(2);
  });

  test('leaves out the speeds of kernels that cannot be used any more', async () => {
    const cacheDirectory = folder();
    await surveyKernels({ groups: ALIKE, cacheDirectory });
    has(['avx2']);
    const [{ speeds, fastest }] = await surveyKernels({ groups: ALIKE, cacheDirectory });
    expect([speeds, fastest, machine.measured]).toEqual([{ avx2: 5e7 }, 'avx2', 1]);
  });

  test('without any kernel has only the reasons', async () => {
    has([]);
    expect(await surveyKernels({ groups: ALIKE })).toEqual([
      { threads: 2, speeds: {}, unusable: new Map(Object.entries(machine.unusable)) },
    ]);
    expect(machine.measured).toBe(0);
  });
});

test('what is remembered belongs to one build of the native kernels', () => {
  const cache = new Cache(folder());
  const tuning = (speed: number) => ({ speeds: { wasm: speed }, fastest: 'wasm' }) as const;
  const recalled = () => recallTuning(cache, ALIKE, 0);
  const builds = [undefined, new Uint8Array([1]), new Uint8Array([2])];
  for (const build of builds) {
    machine.build = build;
    expect(recalled()).toBeUndefined();
    rememberTuning(cache, ALIKE, 0, tuning(1e6));
    expect(recalled()).toEqual(tuning(1e6));
  }
  machine.build = undefined;
});

test('what is remembered belongs to as many threads of the same kinds', () => {
  const directory = folder();
  const cache = new Cache(directory);
  const tuning = { speeds: { wasm: 1e6 }, fastest: 'wasm' } as const;
  const places = (count: number) => Array.from({ length: count }, () => []);
  const groups: CoreGroup[][] = [
    [{ places: places(1) }],
    [{ places: places(2) }],
    [{ kind: 'performance', places: places(2) }],
    [{ kind: 'efficiency', places: places(2) }],
    [
      { kind: 'performance', places: places(2) },
      { kind: 'efficiency', places: places(2) },
    ],
    [
      { kind: 'performance', places: places(2) },
      { kind: 'efficiency', places: places(3) },
    ],
    [
      { kind: 'performance', places: places(1) },
      { kind: 'efficiency', places: places(3) },
    ],
  ];
  for (const some of groups) {
    for (const index of some.keys()) {
      expect(recallTuning(cache, some, index)).toBeUndefined();
      expect(rememberTuning(cache, some, index, tuning)).toBeUndefined();
      expect(recallTuning(cache, some, index)).toEqual(tuning);
    }
  }
  const subjects = readdirSync(directory).map((file) => {
    const { key } = JSON.parse(readFileSync(join(directory, file), 'utf8'));
    return key.subject.slice(`cpu ${cpus()[0]?.model.trim() || arch()}, `.length);
  });
  expect(subjects.sort()).toEqual([
    '1 thread',
    '2 threads',
    'efficiency of 1 performance and 3 efficiency threads',
    'efficiency of 2 efficiency threads',
    'efficiency of 2 performance and 2 efficiency threads',
    'efficiency of 2 performance and 3 efficiency threads',
    'performance of 1 performance and 3 efficiency threads',
    'performance of 2 performance and 2 efficiency threads',
    'performance of 2 performance and 3 efficiency threads',
    'performance of 2 performance threads',
  ]);
});
