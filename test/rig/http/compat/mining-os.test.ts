import { expect, test } from 'vitest';
import { z } from 'zod';
import { hiveStats, mmposStats } from '#pickaxe/rig/http/compat.js';
import { Status } from '#pickaxe/rig/status/status.js';
import { device, hashes, relay, share, verdict, worker } from '../../status/fakes.ts';
import { serve } from '../serving.ts';

/** hive/miners/custom/README.md of HiveOS. */
const hiveShape = z.strictObject({
  hs: z.array(z.number()),
  hs_units: z.literal('khs'),
  temp: z.array(z.int().nullable()),
  fan: z.array(z.int().nullable()),
  uptime: z.int(),
  ver: z.string(),
  ar: z.array(z.int()).length(3),
  algo: z.string(),
  bus_numbers: z.array(z.int().min(0).max(255).nullable()),
});

/** CUSTOM_MINER.MD of mmpOS. */
const mmposShape = z.strictObject({
  busid: z.array(z.union([z.literal('cpu'), z.int()])),
  hash: z.array(z.number()),
  units: z.enum(['hs', 'khs', 'mhs', 'ghs', 'ths']),
  air: z.array(z.string()).length(3),
  shares: z.strictObject({
    accepted: z.array(z.int()),
    rejected: z.array(z.int()),
    invalid: z.array(z.int()),
  }),
  miner_name: z.string(),
  miner_version: z.string(),
});

/** A rig on which a GPU opens before the CPU. */
async function rig(): Promise<Status> {
  const { ask, emit, clock } = await serve();
  emit({ ...device('gpu0', 'ready'), bus: '0000:0a:00.0' });
  emit(device('gpu1', 'ready'));
  emit(device('cpu', 'ready'));
  emit({ type: 'telemetry', device: 'gpu0', telemetry: { temperatureCelsius: 61.4, fanRatio: 0.95 } });
  emit({ type: 'telemetry', device: 'gpu1', telemetry: { hotspotCelsius: 80 } });
  emit({ type: 'telemetry', device: 'cpu', telemetry: { temperatureCelsius: 71.6, powerWatts: 125 } });
  clock.advance(9_000);
  for (const [name, count] of [
    ['gpu0', 180_000_000],
    ['gpu1', 90_000_000],
    ['cpu', 9_000_000],
  ] as const) {
    emit(hashes(name, count));
  }
  for (const each of ['accepted', 'accepted', 'stale', 'rejected'] as const) emit(verdict('gpu0', each));
  emit({ type: 'hardware-error', device: 'gpu1', nonce: 1n });
  return (await ask('/api/v1/status')).json;
}

test('HiveOS gets each device’s rate and sensors, and its bus as a decimal number', async () => {
  const { khs, stats } = hiveStats(await rig());
  expect(hiveShape.parse(stats)).toEqual({
    hs: [20_000, 10_000, 1_000],
    hs_units: 'khs',
    temp: [61, 80, 72],
    fan: [95, null, null],
    uptime: 9,
    ver: expect.stringMatching(/^\d+\.\d+\.\d+/),
    ar: [2, 2, 1],
    algo: 'blake2s',
    bus_numbers: [10, null, null],
  });
  expect(khs).toBe(31_000);
});

test('the hashes of a fast rig over weeks are not too large a number', async () => {
  const { ask, emit } = await serve();
  emit(device('gpu0', 'ready'));
  emit(hashes('gpu0', 2 ** 53));
  emit(hashes('gpu0', 2 ** 40));
  const status = Status.parse((await ask('/api/v1/status')).json);
  expect(hiveStats(status).stats.hs).toHaveLength(1);
});

test('mmpOS gets the CPU first, and each device’s shares', async () => {
  const stats = mmposStats(await rig());
  expect(mmposShape.parse(stats)).toMatchObject({
    busid: ['cpu', 10, 0],
    hash: [1_000_000, 20_000_000, 10_000_000],
    units: 'hs',
    air: ['2', '1', '2'],
    shares: { accepted: [0, 2, 0], rejected: [0, 2, 0], invalid: [0, 0, 1] },
  });
});

test('on a pool both get shares where they got blocks, those of relays included', async () => {
  const { ask, emit } = await serve();
  for (const name of ['cpu', 'gpu0']) emit(device(name, 'ready'));
  emit(verdict('gpu0', 'accepted'));
  emit({ type: 'work', chain: 3, height: 42n, difficulty: 1e15, shareDifficulty: 1e12 });
  const before: Status = (await ask('/api/v1/status')).json;
  expect([hiveStats(before).stats.ar, mmposStats(before).air]).toEqual([
    [0, 0, 0],
    ['0', '0', '0'],
  ]);
  for (const each of ['accepted', 'accepted', 'rejected', 'stale'] as const) emit(share('gpu0', each));
  emit(share('cpu', 'accepted', '', { isBlock: true }));
  emit(share('stratum', 'accepted', '', { isRelay: true }));
  emit(relay('stratum', worker('asic')));
  const status: Status = (await ask('/api/v1/status')).json;
  expect(hiveStats(status)).toMatchObject({ khs: 0, stats: { hs: [0, 0], ar: [4, 2, 0] } });
  expect(mmposStats(status)).toMatchObject({
    air: ['4', '0', '2'],
    shares: { accepted: [1, 2], rejected: [0, 2], invalid: [0, 0] },
  });
});
