import { describe, expect, test } from 'vitest';
import { OTHER_WORKERS } from '#pickaxe/miner/events/vocabulary.js';
import { luckOf } from '#pickaxe/rig/status/figures.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { device, FakeClock, hashes, NO_EARNINGS, NO_SENSORS, relay, share, verdict, worker } from './fakes.ts';

const NONE = { accepted: 0, rejected: 0, stale: 0, unknown: 0, delivered: 0 };
const NO_SHARES = { ...NONE, acceptedHashes: 0 };

function fresh() {
  const clock = new FakeClock();
  const tally = new Tally(clock);
  return { clock, tally };
}

test('what still ends after mining is not part of the uptime and the average', () => {
  const { clock, tally } = fresh();
  tally.listen(hashes('cpu', 5_000));
  clock.advance(10_000);
  tally.end();
  clock.advance(30_000);
  expect(tally.summary()).toMatchObject({ uptimeSeconds: 10, averageHashesPerSecond: 500 });
});

describe('each device’s stats', () => {
  test('count its own hashes, verdicts, hardware errors and failures, and the sums are the rig’s', () => {
    const { clock, tally } = fresh();
    for (const name of ['cpu', 'gpu0']) tally.listen(device(name, 'ready'));
    tally.listen(hashes('cpu', 1_000));
    tally.listen(hashes('gpu0', 30_000));
    tally.listen(hashes('gpu0', 40_000));
    for (const each of ['accepted', 'accepted', 'rejected', 'stale'] as const) tally.listen(verdict('gpu0', each));
    for (const each of ['accepted', 'unknown'] as const) tally.listen(verdict('cpu', each));
    tally.listen({ type: 'hardware-error', device: 'gpu0', nonce: 1n });
    tally.listen(device('gpu0', 'reopening', 'it was lost'));
    tally.listen(device('gpu0', 'ready'));
    clock.advance(10_000);
    const blocks = { accepted: 2, rejected: 1, stale: 1, unknown: 0, delivered: 0 };
    const cpu = {
      ...NONE,
      accepted: 1,
      unknown: 1,
      shares: NO_SHARES,
      hardwareErrors: 0,
      reopens: 0,
      hashes: 1_000,
      proven: null,
    };
    const gpu0 = { ...blocks, shares: NO_SHARES, hardwareErrors: 1, reopens: 1, hashes: 70_000, proven: null };
    expect(tally.summary()).toEqual({
      accepted: 3,
      rejected: 1,
      stale: 1,
      unknown: 1,
      delivered: 0,
      shares: NO_SHARES,
      hardwareErrors: 1,
      hashes: 71_000,
      uptimeSeconds: 10,
      averageHashesPerSecond: 7_100,
      acceptedBlocks: null,
      switchSeconds: null,
      earnings: NO_EARNINGS,
      expectedBlocks: 71,
      bestDifficulty: 0,
      newCuts: 0,
      missedCuts: 0,
      devices: { cpu, gpu0 },
      relays: {},
    });
    expect(tally.accepted).toBe(3);
  });

  test('continue when the device is reopened, and after it is parked', () => {
    const { tally } = fresh();
    tally.listen(device('gpu0', 'ready'));
    tally.listen(hashes('gpu0', 5));
    for (let reopens = 0; reopens < 5; reopens++) tally.listen(device('gpu0', 'reopening', 'it was lost'));
    tally.listen(device('gpu0', 'parked', 'it was lost'));
    expect(tally.summary().devices.gpu0).toMatchObject({ hashes: 5, reopens: 5 });
  });

  test('are not kept for a device that never works', () => {
    const { tally } = fresh();
    tally.listen(device('gpu7', 'reopening', 'the driver refuses'));
    tally.listen(device('gpu7', 'parked', 'the driver refuses'));
    expect(tally.summary().devices).toEqual({});
    expect(tally.status().devices.gpu7.hasWorked).toBe(false);
  });

  test('count failures only after the device first works, because earlier ones belong to its start', () => {
    const { tally } = fresh();
    for (let attempt = 0; attempt < 3; attempt++) tally.listen(device('gpu0', 'reopening', 'no device yet'));
    tally.listen(device('gpu0', 'ready'));
    expect(tally.summary().devices.gpu0.reopens).toBe(0);
    tally.listen(device('gpu0', 'reopening', 'it was lost'));
    expect(tally.summary().devices.gpu0.reopens).toBe(1);
  });

  test('do not count a pause as a failure', () => {
    const { tally } = fresh();
    tally.listen(device('gpu0', 'ready'));
    tally.listen(device('gpu0', 'paused', 'it is at 90 °C'));
    tally.listen(device('gpu0', 'ready'));
    expect(tally.summary().devices.gpu0.reopens).toBe(0);
  });
});

test('a device that is to be opened is starting until its first event, and its rates count from then on', () => {
  const clock = new FakeClock();
  const tally = new Tally(clock, [
    { name: 'cpu', kind: 'cpu' },
    { name: 'gpu0', kind: 'gpu' },
  ]);
  clock.advance(20_000);
  tally.listen(device('gpu0', 'ready'));
  clock.advance(10_000);
  tally.listen(hashes('gpu0', 5_000));
  const { devices } = tally.status();
  expect(Object.entries(devices).map(([name, { kind, state }]) => [name, kind, state])).toEqual([
    ['cpu', 'cpu', 'starting'],
    ['gpu0', 'gpu', 'ready'],
  ]);
  expect(devices.gpu0.hashesPerSecond).toBe(500);
  expect(Object.keys(tally.summary().devices)).toEqual(['gpu0']);
});

describe('a device’s hashrate', () => {
  test('is an average over the last half minute, or since it came into service', () => {
    const { clock, tally } = fresh();
    clock.advance(100_000);
    tally.listen(device('gpu0', 'ready'));
    for (let second = 0; second < 10; second++) {
      clock.advance(1_000);
      tally.listen(hashes('gpu0', 700));
    }
    expect(tally.status().devices.gpu0.hashesPerSecond).toBe(700);
    clock.advance(15_000);
    expect(tally.status().devices.gpu0.hashesPerSecond).toBe(280);
    clock.advance(60_000);
    expect(tally.status().devices.gpu0.hashesPerSecond).toBe(0);
    expect(tally.summary().hashes).toBe(7_000);
  });
});

describe('a device’s sensors', () => {
  const telemetry = { temperatureCelsius: 61, powerWatts: 400 };
  function measured(powerWatts = telemetry.powerWatts) {
    const { clock, tally } = fresh();
    tally.listen(device('gpu0', 'ready'));
    clock.advance(1_000);
    tally.listen(hashes('gpu0', 20_000));
    tally.listen({ type: 'telemetry', device: 'gpu0', telemetry: { ...telemetry, powerWatts } });
    return { clock, now: () => tally.status().devices.gpu0 };
  }

  test('are reported with its efficiency in hashes per second for each watt', () => {
    const { now } = measured();
    const { hashesPerSecond, sensors, hashesPerJoule } = now();
    expect({ hashesPerSecond, sensors, hashesPerJoule }).toEqual({
      hashesPerSecond: 20_000,
      sensors: { ...NO_SENSORS, ...telemetry },
      hashesPerJoule: 50,
    });
  });

  test('are no longer reported ten seconds after their last reading', () => {
    const { clock, now } = measured();
    clock.advance(9_999);
    expect(now().sensors).toEqual({ ...NO_SENSORS, ...telemetry });
    clock.advance(1);
    expect(now().sensors).toEqual(NO_SENSORS);
    expect(now().hashesPerJoule).toBeNull();
  });

  test('give no efficiency if the power is 0', () => {
    expect(measured(0).now().hashesPerJoule).toBeNull();
  });

  test('report their last reading only, and nothing of earlier ones', () => {
    const { clock, tally } = fresh();
    tally.listen(device('gpu0', 'ready'));
    tally.listen({ type: 'telemetry', device: 'gpu0', telemetry });
    clock.advance(2_000);
    tally.listen({ type: 'telemetry', device: 'gpu0', telemetry: { temperatureCelsius: 62 } });
    expect(tally.status().devices.gpu0.sensors).toEqual({ ...NO_SENSORS, temperatureCelsius: 62 });
  });
});

describe('shares', () => {
  test('are counted apart from blocks, and one that is a block counts as both', () => {
    const { tally } = fresh();
    tally.listen(device('gpu0', 'ready'));
    for (const each of ['accepted', 'accepted', 'rejected', 'stale', 'unknown'] as const)
      tally.listen(share('gpu0', each));
    expect(tally.accepted).toBe(0);
    tally.listen(share('gpu0', 'accepted', '', { isBlock: true, difficulty: 700 }));
    const shares = { accepted: 3, rejected: 1, stale: 1, unknown: 1, delivered: 0, acceptedHashes: 1_700 };
    expect(tally.summary()).toMatchObject({ ...NONE, accepted: 1, shares });
    expect(tally.summary().devices.gpu0).toMatchObject({ ...NONE, accepted: 1, shares });
    expect(tally.accepted).toBe(1);
  });

  test('leave effort and the time of the last block alone', () => {
    const { clock, tally } = fresh();
    tally.listen(device('cpu', 'ready'));
    tally.listen(hashes('cpu', 500, 1_000));
    clock.advance(7_000);
    tally.listen(share('cpu', 'accepted'));
    expect(tally.status()).toMatchObject({ effort: 0.5, lastShareSeconds: 0 });
    expect(tally.status().lastBlockSeconds).toBeNull();
    tally.listen(share('cpu', 'accepted', '', { isBlock: true }));
    expect(tally.status()).toMatchObject({ effort: 0, lastBlockSeconds: 0 });
  });

  test('take a time of their own', () => {
    const { clock, tally } = fresh();
    tally.listen(device('cpu', 'ready'));
    tally.listen({ type: 'work', chain: 3, height: 42n, difficulty: 1e6, shareDifficulty: 5_000 });
    expect(tally.status().timeToShareSeconds).toBeNull();
    clock.advance(10_000);
    tally.listen(hashes('cpu', 1_000));
    expect(tally.status()).toMatchObject({ timeToShareSeconds: 50, timeToBlockSeconds: expect.closeTo(10_000) });
    tally.listen({ type: 'work', chain: 3, height: 42n, difficulty: 1e6 });
    expect(tally.status().timeToShareSeconds).toBeNull();
  });
});

test('the proven rate is that of a quarter of an hour, of all devices', () => {
  const { clock, tally } = fresh();
  for (const name of ['cpu', 'gpu0']) tally.listen(device(name, 'ready'));
  for (let second = 0; second < 3_600; second++) {
    clock.advance(1_000);
    const rate = second < 2_400 ? 1_000 : 100;
    for (const name of ['cpu', 'gpu0']) tally.listen({ type: 'proof', device: name, hashes: rate, difficulty: 9 });
  }
  const { provenHashesPerSecond, devices } = tally.status();
  expect(devices.cpu.provenHashesPerSecond).toBeCloseTo(100, 0);
  expect(provenHashesPerSecond).toBeCloseTo(200, 0);
});

describe('a relay', () => {
  const brought = (isBlock: boolean) => share('stratum', 'accepted', '', { isRelay: true, isBlock });

  test('is there from the start, and is no device', () => {
    const tally = new Tally(new FakeClock(), [], [{ name: 'stratum' }]);
    const nothing = { ...NONE, shares: NO_SHARES };
    expect(tally.summary()).toMatchObject({ relays: { stratum: nothing }, devices: {} });
    tally.listen(brought(true));
    expect(tally.status().devices).toEqual({});
    expect(tally.summary()).toMatchObject({
      accepted: 1,
      relays: { stratum: { accepted: 1, shares: { accepted: 1, acceptedHashes: 500 } } },
    });
    expect(tally.accepted).toBe(1);
  });

  test('brings blocks that change neither the devices’ effort nor their luck', () => {
    const { tally } = fresh();
    tally.listen(hashes('cpu', 2_000, 1_000));
    tally.listen(brought(true));
    expect(tally.status()).toMatchObject({ effort: 2, lastBlockSeconds: 0 });
    expect(luckOf(tally.summary())).toBe(0);
    tally.listen(verdict('cpu', 'accepted'));
    expect(luckOf(tally.summary())).toBe(0.5);
  });

  test('never adds to the rig’s hashrate, but shortens the time to a block', () => {
    const { clock, tally } = fresh();
    tally.listen({ type: 'work', chain: 3, height: 42n, difficulty: 1e6, shareDifficulty: 1e4 });
    tally.listen(device('cpu', 'ready'));
    clock.advance(10_000);
    tally.listen(hashes('cpu', 1_000));
    tally.listen(relay('stratum', worker('asic', { hashesPerSecond: 900 })));
    expect(tally.status()).toMatchObject({
      hashesPerSecond: 100,
      timeToBlockSeconds: expect.closeTo(1_000),
      timeToShareSeconds: 10,
    });
    expect(tally.status().hashesPerSecondByWindow.last10s).toBe(100);
    tally.listen(device('cpu', 'paused', 'night'));
    expect(tally.status().timeToBlockSeconds).toBeNull();
    expect(tally.summary()).toMatchObject({ hashes: 1_000, averageHashesPerSecond: 100 });
  });

  test('tells how its workers are doing, and shares get older until it tells again', () => {
    const { clock, tally } = fresh();
    const gone = worker('gone', { sessions: 0, hashesPerSecond: 0 });
    const { difficulty: _, lastShareSeconds: __, ...never } = gone;
    tally.listen(relay('stratum', worker('a', { sessions: 3 }), never, worker(OTHER_WORKERS, { sessions: 5 })));
    clock.advance(2_500);
    const now = tally.status().relays.stratum;
    expect(now).toMatchObject({ sessions: 8, workersConnected: 6, hashesPerSecond: 1_400e9 });
    expect(now.workers.map(({ lastShareSeconds }) => lastShareSeconds)).toEqual([6.5, null, 6.5]);
    tally.listen(relay('stratum'));
    expect(tally.status().relays.stratum).toMatchObject({ sessions: 0, workersConnected: 0, workers: [] });
  });
});
