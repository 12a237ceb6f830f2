/** Tests the use of remembered tunings, on a device that computes nothing. */

import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Cache } from '#pickaxe/base/system/cache.js';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import { wgslOf } from '#pickaxe/miner/engine/gpu/child/shader-scanner.js';
import {
  hopefulOf,
  type TuningOptions,
  tunedScanner,
  tuningKey,
} from '#pickaxe/miner/engine/gpu/child/tuned-scanner.js';
import {
  isTypical,
  nameOf,
  SHADER_NAMES,
  TUNING_LIMITS,
  tuningShape,
  VARIANTS,
  type Variant,
  whyTuning,
} from '#pickaxe/miner/engine/gpu/tuning.js';
import { FakeDevice } from './fake-device.ts';

/** A variant that is not typical, so that it is opened first only if it was remembered. */
const REMEMBERED: Variant = { shader: 'wgsl', workgroupSize: 256, trips: 32 };
const TUNING = {
  variant: REMEMBERED,
  batchMs: 8,
  hashesPerSecond: 5e9,
  variants: [{ variant: REMEMBERED, hashesPerSecond: 5e9 }],
  batches: [],
};

/**
 * Opens a device that can run only the remembered variant.
 * @returns the variants that were tried, and the result
 */
async function openWith(wishes: Partial<TuningOptions>, remembered = { model: 'RTX', key: tuningKey('driver 550.1') }) {
  const cacheDirectory = mkdtempSync(join(tmpdir(), 'pickaxe-'));
  onTestFinished(() => rmSync(cacheDirectory, { recursive: true, force: true }));
  new Cache(cacheDirectory).remember(`gpu ${remembered.model}`, remembered.key, TUNING);
  const tried: string[] = [];
  const tuned = await tunedScanner(new FakeDevice().asDevice, {
    model: 'RTX',
    driver: 'driver 550.1',
    cacheDirectory,
    again: false,
    limits: TUNING_LIMITS,
    progress: () => {},
    trying: (variant) => variant && tried.push(nameOf(variant)),
    skip: [],
    check: async ({ variant }) => {
      if (nameOf(variant) !== nameOf(REMEMBERED)) throw new DeviceError('wrong-hashes', 'wrong on this device');
    },
    ...wishes,
  }).catch((error: unknown) => error as DeviceError);
  return { tried, tuned };
}

test('a remembered tuning of the same model and driver is used, and nothing is measured', async () => {
  const { tried, tuned } = await openWith({});
  expect(tuned).toMatchObject({ tuning: TUNING, why: expect.stringMatching(/^wgsl 256×32, .*, as measured before$/) });
  expect(tried).toEqual([nameOf(REMEMBERED)]);
});

const TYPICAL = [
  'wgsl 128×16',
  'wgsl-uniform-rotates 128×16',
  'wgsl-added-zeros 128×16',
  'wgsl-multiplied-adds 128×16',
];

test.each<[string, Partial<TuningOptions>]>([
  ['another driver', { driver: 'driver 550.2' }],
  ['another model', { model: 'RTX Ti' }],
  ['a variant that cost the device', { skip: [nameOf(REMEMBERED)] }],
  ['a wish to measure again', { again: true }],
  ['no cache', { cacheDirectory: undefined }],
])('with %s everything is measured again', async (_, wishes) => {
  const { tried, tuned } = await openWith(wishes);
  expect(tried).toEqual(TYPICAL);
  expect(tuned).toMatchObject({ fault: 'wrong-hashes' });
});

test('a variant that does not compute right any more is replaced by a new measurement', async () => {
  const { tried, tuned } = await openWith({
    check: async () => {
      throw new DeviceError('wrong-hashes', 'wrong on this device');
    },
  });
  expect(tried).toEqual([nameOf(REMEMBERED), ...TYPICAL]);
  expect(tuned).toMatchObject({ fault: 'wrong-hashes' });
});

test('a variant stays named until a device that it cost says that it is lost', async () => {
  const device = new FakeDevice();
  let now: string | undefined;
  let namedAtLoss: string | undefined;
  const lost = sleep(50).then(() => {
    namedAtLoss = now;
  });
  await expect(
    tunedScanner(Object.assign(device, { lost }).asDevice, {
      model: 'RTX',
      driver: 'driver 550.1',
      again: false,
      limits: TUNING_LIMITS,
      progress: () => {},
      trying: (variant) => {
        now = variant && nameOf(variant);
      },
      skip: [],
      check: async () => {
        throw new Error('a dispatch failed');
      },
    }),
  ).rejects.toMatchObject({ fault: 'lost' });
  expect(namedAtLoss).toBe(TYPICAL[0]);
});

test('the key of tunings differs for other drivers, versions of Dawn and shaders', () => {
  const { version } = createRequire(import.meta.url)('webgpu/package.json');
  expect(tuningKey('driver 550.1')).toEqual({
    driver: 'driver 550.1',
    dawn: version,
    shaders: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
});

/**
 * A device that ends each batch at once, and has a clock of its own.
 * @param rateOf gives the number of counters that a variant searches in a ms
 */
function quickDevice(rateOf = (_: string) => 1e6): FakeDevice {
  const device = new FakeDevice();
  let nowMs = 1_000;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const utilization = { active: 1, idle: 99, utilization: 0.01 };
  const use = vi.spyOn(performance, 'eventLoopUtilization').mockReturnValue(utilization);
  onTestFinished(() => {
    clock.mockRestore();
    use.mockRestore();
  });
  device.isQuick = true;
  device.ranQuickly = ({ compute: { module, constants } }, workgroups) => {
    const shader = SHADER_NAMES.find((each) => wgslOf(each) === module.code)!;
    const { WORKGROUP_SIZE: workgroupSize, COUNTERS_PER_INVOCATION: trips } = constants;
    nowMs += (workgroups * workgroupSize * trips) / rateOf(nameOf({ shader, workgroupSize, trips }));
  };
  return device;
}

describe('a measurement', () => {
  const variants = VARIANTS.filter((variant) => isTypical(variant) || nameOf(variant).endsWith(' 64×8'));
  const limits = { variants, warmUpMs: 0, turnMs: 1, batchTurnMs: 1 };
  const names = variants.map(nameOf).sort();

  async function measure(wishes: Partial<TuningOptions> = {}, rateOf?: (name: string) => number) {
    const cacheDirectory = mkdtempSync(join(tmpdir(), 'pickaxe-'));
    onTestFinished(() => rmSync(cacheDirectory, { recursive: true, force: true }));
    const device = quickDevice(rateOf);
    const model = 'RTX';
    const driver = 'driver 550.1';
    const settled: Omit<TuningOptions, 'check'> = {
      model,
      driver,
      cacheDirectory,
      again: true,
      limits,
      progress: () => {},
      trying: () => {},
      skip: [],
    };
    const tuned = await tunedScanner(device.asDevice, { ...settled, check: async () => {}, ...wishes });
    const recalled = new Cache(cacheDirectory).recall(`gpu ${model}`, tuningKey(driver), tuningShape);
    return { ...tuned, device, recalled };
  }

  test('is ranked and remembered, and only one variant stays open', async () => {
    const { scanner, tuning, why, device, recalled } = await measure();
    expect(tuning.variants.map(({ variant }) => nameOf(variant)).sort()).toEqual(names);
    const rates = tuning.variants.map(({ hashesPerSecond }) => hashesPerSecond!);
    expect(rates).toEqual(rates.toSorted((a, b) => b - a));
    expect(tuning.variant).toEqual(tuning.variants[0].variant);
    expect(scanner.variant).toEqual(tuning.variant);
    expect(why).toMatch(/; fastest of \d+ variants that run here$/);
    expect(recalled).toEqual(tuning);
    const buffersOfOne = device.buffers.length / variants.length;
    expect(device.buffers.filter(({ destroyed }) => !destroyed)).toHaveLength(buffersOfOne);
    scanner.destroy();
    expect(device.buffers.filter(({ destroyed }) => !destroyed)).toEqual([]);
  });

  /** Rates of variants in a ms, if they are not 1e6. */
  const RATES: Readonly<Record<string, number>> = {
    'wgsl 64×8': 1.1e6,
    // Too slow for its shader's other variant to be tried.
    'wgsl-uniform-rotates 128×16': 0.79e6,
    'wgsl-uniform-rotates 64×8': 5e6,
    // Just fast enough.
    'wgsl-added-zeros 128×16': 0.81e6,
  };
  const BROKEN = 'wgsl-multiplied-adds 128×16';
  const what = 'measuring 8 variants of the kernel: a few seconds, once for this GPU and driver';

  test.each([
    ['leaves out the other variants of a shader that is too slow', false],
    ['that is made again leaves out none', true],
  ])('%s', async (_, again) => {
    const [tried, progress]: [(string | undefined)[], [string, number][]] = [[], []];
    const { scanner, tuning, device } = await measure(
      {
        again,
        trying: (variant) => tried.push(variant && nameOf(variant)),
        progress: (...each) => progress.push(each),
        check: async ({ variant }) => {
          if (nameOf(variant) === BROKEN) throw new DeviceError('wrong-hashes', 'wrong on this device');
        },
      },
      (name) => RATES[name] ?? 1e6,
    );
    const rated = tuning.variants.map(({ variant, hashesPerSecond }) => [nameOf(variant), hashesPerSecond]);
    const slow = [
      ['wgsl-added-zeros 128×16', 0.81e9],
      ['wgsl-uniform-rotates 128×16', 0.79e9],
    ];
    const usual = [
      ['wgsl 64×8', 1.1e9],
      ['wgsl 128×16', 1e9],
      ['wgsl-added-zeros 64×8', 1e9],
    ];
    const all = [...(again ? [['wgsl-uniform-rotates 64×8', 5e9]] : []), ...usual, ...slow];
    const byName = (rows: unknown[][]) => rows.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));
    expect(byName(rated)).toEqual(byName([...all, [BROKEN, undefined]]));
    expect(rated.map(([, rate]) => rate)).toEqual([...all.map(([, rate]) => rate), undefined]);
    expect(tuning.variants.at(-1)?.fault).toBe('wrong on this device');
    expect(nameOf(scanner.variant)).toBe(all[0][0]);
    expect(tuning).toMatchObject({ variant: scanner.variant, batchMs: 2, hashesPerSecond: all[0][1] });
    expect(progress).toEqual([
      [what, 0],
      [what, 0.25],
      [what, 0.5],
      [`measuring which batch length suits ${all[0][0]}`, 0],
    ]);
    // Each variant is named before it is opened and before each turn, and none after that.
    expect(tried.filter((name, i) => (name === undefined) !== (i % 2 === 1))).toEqual([]);
    expect(new Set(tried)).toEqual(new Set([...rated.map(([name]) => name), undefined]));
    // What the others had on the device is free again.
    expect(device.buffers.filter(({ destroyed }) => !destroyed)).toHaveLength(8);
  });

  test('fails with the reason of the first variant when none can be used', async () => {
    const check = async () => Promise.reject(new DeviceError('wrong-hashes', 'wrong on this device'));
    await expect(measure({ check })).rejects.toThrow('wrong on this device');
  });

  test('that cannot be remembered is made at each start, which is said', async () => {
    const { why } = await measure({ cacheDirectory: fileURLToPath(import.meta.url) });
    expect(why).toMatch(/^.*; fastest of 8 variants that run here; measured at each start: ./);
  });

  test('is remembered, and with it the length of a batch that the user chose at present', async () => {
    const { why } = await measure({ batchMs: 5 });
    expect(why).toMatch(/, batches of 5 ms as asked for; fastest of 8 variants that run here$/);
  });

  describe('of the variant that the user asked for', () => {
    const asked: Variant = { shader: 'wgsl', workgroupSize: 64, trips: 32 };

    async function ask(wishes: Partial<TuningOptions> = {}) {
      const device = quickDevice();
      const tried = new Set<string>();
      const cacheDirectory = mkdtempSync(join(tmpdir(), 'pickaxe-'));
      onTestFinished(() => rmSync(cacheDirectory, { recursive: true, force: true }));
      new Cache(cacheDirectory).remember('gpu RTX', tuningKey('driver 550.1'), TUNING);
      const tuned = await tunedScanner(device.asDevice, {
        model: 'RTX',
        driver: 'driver 550.1',
        cacheDirectory,
        again: false,
        variant: asked,
        limits,
        progress: () => {},
        trying: (variant) => variant && tried.add(nameOf(variant)),
        skip: [],
        check: async () => {},
        ...wishes,
      });
      const recalled = new Cache(cacheDirectory).recall('gpu RTX', tuningKey('driver 550.1'), tuningShape);
      return { ...tuned, tried: [...tried], recalled };
    }

    test('tries no other one, whatever is remembered, and measures lengths of batches', async () => {
      const { scanner, tuning, why, tried, measure, recalled } = await ask();
      expect(tried).toEqual(['wgsl 64×32']);
      expect(scanner.variant).toEqual(asked);
      expect(tuning).toMatchObject({ variant: asked, batchMs: 2, hashesPerSecond: 1e9 });
      expect(tuning.variants).toEqual([{ variant: asked, hashesPerSecond: 1e9 }]);
      expect(tuning.batches.map(({ batchMs }) => batchMs)).toEqual([2, 4, 8, 16, 32]);
      expect([why, measure, recalled]).toEqual(['wgsl 64×32, as asked for', undefined, TUNING]);
    });

    test('takes the length of a batch that the user chose', async () => {
      const { tuning } = await ask({ batchMs: 5 });
      expect(tuning).toEqual({
        variant: asked,
        batchMs: 5,
        hashesPerSecond: 1e9,
        variants: [{ variant: asked, hashesPerSecond: 1e9 }],
        batches: [],
      });
    });

    test('fails when it cannot be used, and frees its memory', async () => {
      const fault = new DeviceError('wrong-hashes', 'wrong on this device');
      await expect(ask({ check: async () => Promise.reject(fault) })).rejects.toBe(fault);
    });
  });

  test('scores a batch by its rate minus two batches per block', async () => {
    const { tuning } = await measure();
    expect(tuning.batches.map(({ batchMs }) => batchMs)).toEqual([2, 4, 8, 16, 32]);
    for (const { batchMs, hashesPerSecond, score } of tuning.batches) {
      expect(Math.abs(score - hashesPerSecond * (1 - (2 * batchMs) / 30_000))).toBeLessThanOrEqual(1);
    }
  });

  test('is remembered without a variant that cost the device, which is said', async () => {
    const skipped = 'wgsl 128×16';
    const { tuning, why, recalled } = await measure({ skip: [skipped] });
    expect(why).toMatch(/here; the GPU was lost with wgsl 128×16, which pickaxe bench --tune tries again$/);
    expect(recalled).toEqual(tuning);
    expect(whyTuning(recalled!)).toBe(why);
    const faulty = tuning.variants.filter(({ fault }) => fault !== undefined);
    expect(faulty.map(({ variant }) => nameOf(variant))).toEqual([skipped]);
  });
});

test('a shader’s other variants are measured only if its typical one has at least 80 % of the best rate', () => {
  const heat = [1_000, 900, 800, 799, 10].map((hashesPerSecond) => ({ hashesPerSecond }));
  expect(hopefulOf(heat)).toEqual(heat.slice(0, 3));
});

describe('a likely variant', () => {
  const likely: Variant = { shader: 'wgsl-multiplied-adds', workgroupSize: 128, trips: 16 };
  const variants = VARIANTS.filter((variant) => isTypical(variant) || nameOf(variant).endsWith(' 64×8'));

  async function openLikely(wishes: Partial<TuningOptions> = {}) {
    const device = quickDevice();
    const tried: string[] = [];
    const progress: string[] = [];
    const tuned = await tunedScanner(device.asDevice, {
      model: 'RTX',
      driver: 'driver 550.1',
      again: false,
      likely,
      limits: { variants, warmUpMs: 0, turnMs: 1, batchTurnMs: 1 },
      progress: (what) => progress.push(what),
      trying: (variant) => void (variant && !tried.includes(nameOf(variant)) && tried.push(nameOf(variant))),
      skip: [],
      check: async () => {},
      ...wishes,
    });
    return { tuned, tried, progress };
  }

  test('is the only one that is tried before the GPU mines, and then all are measured in turns', async () => {
    const { tuned, tried, progress } = await openLikely();
    expect(tried).toEqual([nameOf(likely)]);
    expect(tuned.scanner.variant).toEqual(likely);
    expect(tuned.tuning).toMatchObject({ variant: likely, batchMs: 8, batches: [] });
    expect(tuned.why).toBe(
      'wgsl-multiplied-adds 128×16, probably the fastest here; all variants are measured while it mines',
    );
    let turns = 0;
    let running = 0;
    const measured = await tuned.measure!(async (turn) => {
      turns++;
      expect(++running).toBe(1);
      const result = await turn();
      running--;
      return result;
    });
    expect(measured.measure).toBeUndefined();
    expect(progress).toEqual([]);
    expect(turns).toBeGreaterThan(variants.length);
    expect(measured.tuning.variants.length).toBeGreaterThan(1);
    expect(measured.tuning.batches.length).toBeGreaterThan(1);
    expect(measured.why).toMatch(/; fastest of \d+ variants that run here/);
  });

  test('is not the only suspect when the device is lost: each variant is named while it runs', async () => {
    let now: string | undefined;
    const trying = (variant?: Variant) => {
      now = variant && nameOf(variant);
    };
    const { tuned } = await openLikely({ trying });
    const named: (string | undefined)[] = [];
    const measured = await tuned.measure!(async (turn) => {
      expect(now).toBeUndefined();
      const result = turn();
      named.push(now);
      await result;
      expect(now).toBeUndefined();
      return result;
    });
    expect(named).not.toContain(undefined);
    const best = nameOf(measured.tuning.variant);
    // The last turns measure the lengths of batches.
    expect(new Set(named.slice(-3 * measured.tuning.batches.length))).toEqual(new Set([best]));
  });

  test.each<[string, Partial<TuningOptions>]>([
    ['does not run', { check: async ({ variant }) => void (await refuse(variant)) }],
    ['has cost the device', { skip: [nameOf(likely)] }],
    ['is not wanted', { again: true }],
  ])('that %s is passed over: all are measured at once', async (_, wishes) => {
    const { tuned } = await openLikely(wishes);
    expect(tuned.measure).toBeUndefined();
    expect(tuned.tuning.variants.length).toBeGreaterThan(1);
    expect(tuned.tuning.batches.length).toBeGreaterThan(1);
  });

  async function refuse(variant: Variant): Promise<void> {
    if (nameOf(variant) === nameOf(likely)) throw new DeviceError('wrong-hashes', 'wrong on this device');
  }

  const others = VARIANTS.filter((variant) => nameOf(variant) !== nameOf(likely)).map(nameOf);
  test.each<[string, Partial<TuningOptions>]>([
    ['the process may end soon', { hurried: true }],
    ['three others cost the device', { skip: others.slice(0, 3) }],
  ])('is used without measuring when %s', async (_, wishes) => {
    const { tuned, tried } = await openLikely(wishes);
    expect(tried).toEqual([nameOf(likely)]);
    expect(tuned.measure).toBeUndefined();
    expect(tuned.why).toBe(
      'wgsl-multiplied-adds 128×16, probably the fastest here; pickaxe bench --tune measures all variants',
    );
  });

  test('is measured further after two others cost the device', async () => {
    expect((await openLikely({ skip: others.slice(0, 2) })).tuned.measure).toBeDefined();
  });

  test('has the length of a batch that the user chose', async () => {
    expect((await openLikely({ batchMs: 3 })).tuned.tuning.batchMs).toBe(3);
  });

  test('that is not known is not tried: all are measured at once', async () => {
    const { tuned, tried } = await openLikely({ likely: undefined });
    expect(tuned.measure).toBeUndefined();
    expect(tried[0]).toBe('wgsl 128×16');
  });
});
