import { describe, expect, test } from 'vitest';
import { version } from '#pickaxe/base/system/version.js';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { JsonLine, JsonLines } from '#pickaxe/rig/log/json-lines.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { device, FakeClock, hashes, NO_EARNINGS, NO_SENSORS, relay, verdict, worker } from '../status/fakes.ts';

function json() {
  const written: string[] = [];
  const clock = new FakeClock();
  const tally = new Tally(clock);
  const jsonLines = new JsonLines((line) => written.push(line), clock);
  const tell = (...events: MinerEvent[]) => {
    for (const event of events) {
      tally.listen(event);
      jsonLines.listen(event);
    }
  };
  return { clock, tally, jsonLines, tell, lines: () => written.map((line) => JSON.parse(line)), written };
}

test('the first line says who earns, where, and from which files, as far as that is known', () => {
  const { jsonLines, lines } = json();
  const configFiles = ['/a.toml'];
  const devices = [{ name: 'cpu' }, { name: 'gpu0' }];
  jsonLines.start('rig-7', { configFiles, account: 'k:me', network: 'development' }, devices);
  jsonLines.start('rig-7', { configFiles, user: 'me.rig1', pools: ['stratum+tcp://pool.example:3333'] }, devices);
  const first = {
    type: 'start',
    timeMillis: 1_700_000_000_000,
    rig: 'rig-7',
    version,
    configFiles,
    devices: ['cpu', 'gpu0'],
  };
  expect(lines()).toEqual([
    { ...first, account: 'k:me', network: 'development', user: null },
    { ...first, account: null, network: null, user: 'me.rig1' },
  ]);
});

test('the fields of every line come in the schema’s order, whatever the order in which they are computed', () => {
  const { tally, jsonLines, tell, lines } = json();
  jsonLines.start('rig-7', { configFiles: [], account: 'k:me', network: 'development' }, []);
  tell(device('cpu', 'ready'), hashes('cpu', 100), relay('stratum', worker('a')), verdict('cpu', 'accepted'));
  jsonLines.hashrate(tally.status());
  jsonLines.summary(tally.summary());
  const shapes = new Map(JsonLine.options.map(({ shape }) => [shape.type.value as string, Object.keys(shape)]));
  expect(lines().map(({ type }) => type)).toEqual(expect.arrayContaining(['start', 'relay', 'hashrate', 'summary']));
  for (const line of lines()) expect(Object.keys(line)).toEqual(shapes.get(line.type));
});

describe('the hashrate line', () => {
  test('has the sensors of each device that has any', () => {
    const { clock, tally, jsonLines, tell, lines } = json();
    tell(device('cpu', 'ready'), device('gpu0', 'ready'), device('gpu1', 'ready'));
    clock.advance(1_000);
    tell(hashes('cpu', 100), hashes('gpu0', 8_000), hashes('gpu1', 900));
    const telemetry = {
      temperatureCelsius: 61,
      hotspotCelsius: 70,
      powerWatts: 400,
      fanRpm: 1_200,
      coreHertz: 1980e6,
      memoryHertz: 2619e6,
    };
    tell({ type: 'telemetry', device: 'gpu0', telemetry });
    tell({ type: 'telemetry', device: 'gpu1', telemetry: { fanRatio: 0.3 } });
    jsonLines.hashrate(tally.status());
    expect(lines().at(-1)).toEqual({
      type: 'hashrate',
      timeMillis: 1_700_000_001_000,
      hashesPerSecond: 9_000,
      devices: {
        cpu: { hashesPerSecond: 100, sensors: NO_SENSORS, hashesPerJoule: null },
        gpu0: { hashesPerSecond: 8_000, sensors: { ...NO_SENSORS, ...telemetry }, hashesPerJoule: 20 },
        gpu1: { hashesPerSecond: 900, sensors: { ...NO_SENSORS, fanRatio: 0.3 }, hashesPerJoule: null },
      },
    });
  });

  test('has no sensors once their readings are old', () => {
    const { clock, tally, jsonLines, tell, lines } = json();
    tell(device('gpu0', 'ready'), { type: 'telemetry', device: 'gpu0', telemetry: { temperatureCelsius: 61 } });
    clock.advance(10_000);
    jsonLines.hashrate(tally.status());
    expect(lines().at(-1)).toMatchObject({
      hashesPerSecond: 0,
      devices: { gpu0: { hashesPerSecond: 0, sensors: NO_SENSORS } },
    });
  });
});

test('fractions are rounded, those of times to the microsecond', () => {
  const { tell, written } = json();
  tell({ type: 'job-switch', device: 'cpu', switchSeconds: 0.055899000000208615 });
  expect(written[0]).toContain('"switchSeconds":0.055899}');
});

test('the summary has each device’s stats', () => {
  const { clock, tally, jsonLines, tell, lines } = json();
  tell(
    device('gpu0', 'ready'),
    hashes('gpu0', 500, 250),
    verdict('gpu0', 'accepted'),
    device('gpu0', 'reopening', 'lost'),
  );
  clock.advance(2_000);
  jsonLines.summary(tally.summary());
  const none = { accepted: 0, rejected: 0, stale: 0, unknown: 0, delivered: 0 };
  const shares = { ...none, acceptedHashes: 0 };
  const counts = { ...none, accepted: 1, shares, hardwareErrors: 0, hashes: 500 };
  expect(lines().at(-1)).toEqual({
    type: 'summary',
    timeMillis: 1_700_000_002_000,
    ...counts,
    uptimeSeconds: 2,
    averageHashesPerSecond: 250,
    expectedBlocks: 2,
    bestDifficulty: 0,
    acceptedBlocks: null,
    switchSeconds: null,
    earnings: NO_EARNINGS,
    newCuts: 0,
    missedCuts: 0,
    devices: { gpu0: { ...counts, reopens: 1, proven: null } },
    relays: {},
  });
});

describe('events', () => {
  test('are printed one per line, with nonces as decimal strings and heights as numbers', () => {
    const { tell, lines, written } = json();
    const hash = Uint8Array.from({ length: 32 }, (_, i) => i);
    tell(verdict('gpu0', 'accepted'));
    const kind = { isRelay: false, isBlock: true, isShare: false, difficulty: 1_000 };
    tell({ type: 'solution', device: 'gpu0', chain: 3, height: 42n, nonce: 2n ** 64n - 1n, ...kind, hash });
    tell({ type: 'progress', device: 'gpu0', what: 'measuring', done: 0.5 });
    tell(device('gpu0', 'reopening', 'two\nlines'));
    expect(lines()).toMatchObject([
      { type: 'verdict', device: 'gpu0', height: 42, nonce: '9223372036854775808' },
      { type: 'solution', nonce: '18446744073709551615', hash: Buffer.from(hash).toString('hex') },
      { type: 'progress', device: 'gpu0', what: 'measuring', done: 0.5 },
      { type: 'device', state: 'reopening', reason: 'two\nlines' },
    ]);
    for (const line of written) expect(line).toMatch(/^[^\n]+\n$/);
  });

  test('of relays have their workers, with null for what is not known', () => {
    const { tell, lines } = json();
    const { difficulty: _, lastShareSeconds: __, ...gone } = worker('gone', { sessions: 0, hashesPerSecond: 0 });
    tell(relay('stratum', worker('asic'), gone));
    const [line] = lines();
    expect(line).toMatchObject({ type: 'relay', relay: 'stratum', sessions: 1, hashesPerSecond: 700e9 });
    expect(line.workers).toEqual([worker('asic'), { ...gone, difficulty: null, lastShareSeconds: null }]);
  });

  test('have null where something is not known', () => {
    const { tell, lines } = json();
    tell({ type: 'work', chain: 3, height: 42n, difficulty: 1_000 }, device('cpu', 'ready'));
    const block = { chain: 3, height: 42n, blockHash: 'h', device: 'cpu', isRelay: false };
    tell({ type: 'block-reward', ...block, reward: '0.98' });
    expect(lines()).toMatchObject([
      { type: 'work', networkCode: null, shareDifficulty: null },
      { type: 'device', detail: null, model: null, kernel: null, cores: null, bus: null, reason: null, fault: null },
      { type: 'block-reward', reward: '0.98', fees: null, fault: null, paidTo: null, isEarlier: false },
    ]);
  });

  test('that are frequent, and readings, appear only in the hashrate line', () => {
    const { tell, written } = json();
    tell(hashes('gpu0', 5), { type: 'telemetry', device: 'gpu0', telemetry: { temperatureCelsius: 61 } });
    expect(written).toEqual([]);
  });
});
