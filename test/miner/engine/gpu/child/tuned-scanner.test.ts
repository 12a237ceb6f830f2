/** Tests the use of remembered tunings, on a device that computes nothing. */

import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Cache } from '#pickaxe/base/system/cache.js';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import {
  hopefulOf,
  type TuningOptions,
  tunedScanner,
  tuningKey,
} from '#pickaxe/miner/engine/gpu/child/tuned-scanner.js';
import {
  isTypical,
  nameOf,
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

describe('a measurement', () => {
  const variants = VARIANTS.filter((variant) => isTypical(variant) || variant.trips === 8);
  const limits = { variants, warmUpMs: 0, turnMs: 1, batchTurnMs: 1 };
  const names = variants.map(nameOf).sort();

  async function measure(wishes: Partial<TuningOptions> = {}) {
    const cacheDirectory = mkdtempSync(join(tmpdir(), 'pickaxe-'));
    onTestFinished(() => rmSync(cacheDirectory, { recursive: true, force: true }));
    const device = new FakeDevice();
    device.isQuick = true;
    const model = 'RTX';
    const driver = 'driver 550.1';
    const settled = {
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
  const variants = VARIANTS.filter((variant) => isTypical(variant) || variant.trips === 8);

  async function openLikely(wishes: Partial<TuningOptions> = {}) {
    const device = new FakeDevice();
    device.isQuick = true;
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
});
