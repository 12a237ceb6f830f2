/** What of an earlier tuning is taken, on a device that computes nothing. */

import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Cache } from '#pickaxe/cache.js';
import { DeviceError } from '#pickaxe/engine/engine.js';
import { type TuningWishes, tunedScanner, tuningKey } from '#pickaxe/engine/gpu/child/tuned-scanner.js';
import { TUNING_LIMITS } from '#pickaxe/engine/gpu/tuning.js';
import { nameOf, type Variant } from '#pickaxe/engine/gpu/variants.js';
import { FakeDevice } from './fake-device.ts';

/** Not a typical form: nothing but a memory leads to it first. */
const REMEMBERED: Variant = { shader: 'wgsl', workgroupSize: 256, trips: 32 };
const TUNING = {
  variant: REMEMBERED,
  batchMs: 8,
  hashesPerSecond: 5e9,
  variants: [{ variant: REMEMBERED, hashesPerSecond: 5e9 }],
  batches: [],
};

/** Opens a device that runs no form but the remembered one. @returns the forms that were tried, and what came of it */
async function openWith(wishes: Partial<TuningWishes>, remembered = { model: 'RTX', key: tuningKey('driver 550.1') }) {
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
    trying: (variant) => tried.push(nameOf(variant)),
    skip: [],
    check: async ({ variant }) => {
      if (nameOf(variant) !== nameOf(REMEMBERED)) throw new DeviceError('wrong hashes', 'wrong on this device');
    },
    ...wishes,
  }).catch((error: unknown) => error as DeviceError);
  return { tried, tuned };
}

test('a tuning is taken where model and driver are the same, and nothing is measured', async () => {
  const { tried, tuned } = await openWith({});
  expect(tuned).toMatchObject({ tuning: TUNING, why: expect.stringMatching(/^wgsl 256×32, .*, as measured before$/) });
  expect(tried).toEqual([nameOf(REMEMBERED)]);
});

const TYPICAL = ['wgsl 128×16', 'wgsl-uniform-rotates 128×16', 'wgsl-multiplied-adds 128×16'];

test.each<[string, Partial<TuningWishes>]>([
  ['another driver', { driver: 'driver 550.2' }],
  ['another model', { model: 'RTX Ti' }],
  ['a form that cost the device', { skip: [nameOf(REMEMBERED)] }],
  ['a wish to measure again', { again: true }],
  ['no cache', { cacheDirectory: undefined }],
])('with %s everything is measured anew', async (_, wishes) => {
  const { tried, tuned } = await openWith(wishes);
  expect(tried).toEqual(TYPICAL);
  expect(tuned).toMatchObject({ fault: 'wrong hashes' });
});

test('a tuning of a form that does not compute right any more is measured anew', async () => {
  const { tried, tuned } = await openWith({
    check: async () => {
      throw new DeviceError('wrong hashes', 'wrong on this device');
    },
  });
  expect(tried).toEqual([nameOf(REMEMBERED), ...TYPICAL]);
  expect(tuned).toMatchObject({ fault: 'wrong hashes' });
});

test('what tunings are remembered by tells drivers, Dawn and the shaders apart', () => {
  const { version } = createRequire(import.meta.url)('webgpu/package.json');
  expect(tuningKey('driver 550.1')).toEqual({
    driver: 'driver 550.1',
    dawn: version,
    shaders: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
});
