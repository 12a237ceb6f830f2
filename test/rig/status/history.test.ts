import { pino } from 'pino';
import { expect, it } from 'vitest';
import { LOG_LINE_OPTIONS, LogTail } from '#pickaxe/rig/log/log-tail.js';
import { History } from '#pickaxe/rig/status/history.js';
import { LastWork } from '#pickaxe/rig/status/source-stats.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { device, FakeClock, hashes, relay, share, verdict, worker } from './fakes.ts';

const START_MS = 1_700_000_000_000;

function rig() {
  const clock = new FakeClock();
  const tally = new Tally(clock);
  const history = new History(tally, clock);
  const step = (count = 1) => {
    for (let i = 0; i < count; i++) {
      clock.advance(10_000);
      history.step();
    }
  };
  return { tally, history, step };
}

it('each step has the rate of each device, its sensors, and the outcomes of solutions', () => {
  const { tally, history, step } = rig();
  tally.listen(device('gpu0', 'ready'));
  tally.listen(hashes('gpu0', 50_000));
  tally.listen(verdict('gpu0', 'accepted'));
  step();
  tally.listen(device('cpu', 'ready'));
  tally.listen(hashes('gpu0', 20_000));
  for (const each of ['accepted', 'accepted', 'stale', 'rejected', 'unknown'] as const)
    tally.listen(verdict('gpu0', each));
  step();
  tally.listen({ type: 'telemetry', device: 'gpu0', telemetry: { temperatureCelsius: 61, powerWatts: 200 } });
  const { timeMillis } = history.points('10m');
  expect(timeMillis).toEqual([START_MS + 10_000, START_MS + 20_000]);
  expect(history.points('10m')).toEqual({
    range: '10m',
    stepSeconds: 10,
    timeMillis,
    accepted: [1, 2],
    rejected: [0, 1],
    stale: [0, 1],
    shares: { accepted: [0, 0], rejected: [0, 0], stale: [0, 0] },
    relays: {},
    devices: {
      gpu0: { hashesPerSecond: [5_000, 2_000], temperatureCelsius: [null, null], powerWatts: [null, null] },
      cpu: { hashesPerSecond: [null, 0], temperatureCelsius: [null, null], powerWatts: [null, null] },
    },
  });
});

it('each step has the readings of sensors, and null once their last reading is old', () => {
  const { tally, history, step } = rig();
  tally.listen(device('gpu0', 'ready'));
  step();
  tally.listen({ type: 'telemetry', device: 'gpu0', telemetry: { temperatureCelsius: 61, powerWatts: 200 } });
  history.step();
  step();
  const { temperatureCelsius, powerWatts } = history.points('1h').devices.gpu0;
  expect([temperatureCelsius, powerWatts]).toEqual([
    [null, 61, null],
    [null, 200, null],
  ]);
});

it('ten minutes have 60 points, an hour 360, a day 720; older points are forgotten', () => {
  const { tally, history, step } = rig();
  tally.listen(device('cpu', 'ready'));
  let sum = 0;
  for (let i = 0; i < 9_000; i++) {
    tally.listen(hashes('cpu', 10 * i));
    if (i % 100 === 0) tally.listen(verdict('cpu', 'accepted'));
    if (i >= 9_000 - 8_640) sum += i;
    step();
  }
  expect(history.points('10m').timeMillis).toHaveLength(60);
  expect(history.points('10m').devices.cpu.hashesPerSecond.at(-1)).toBe(8_999);
  expect(history.points('1h').timeMillis).toHaveLength(360);
  const day = history.points('24h');
  expect(day.timeMillis).toHaveLength(720);
  expect(day.stepSeconds).toBe(120);
  expect(day.accepted.reduce((all, each) => all + each, 0)).toBe(86);
  expect(day.devices.cpu.hashesPerSecond.reduce((all, each) => all! + each!, 0)! * 12).toBeCloseTo(sum, -1);
  expect(day.timeMillis.at(-1)).toBe(START_MS + 90_000_000);
});

it('points do not move as time passes, and there are never more than 720', () => {
  const { tally, history, step } = rig();
  tally.listen(device('cpu', 'ready'));
  tally.listen(hashes('cpu', 1));
  step(8_645);
  const before = history.points('24h').timeMillis;
  for (let steps = 0; steps < 13; steps++) {
    step();
    const after = history.points('24h').timeMillis;
    expect(after.length).toBeLessThanOrEqual(720);
    expect(before).toEqual(expect.arrayContaining(after.slice(0, 700)));
  }
});

it('the last work of each chain is kept, in the order of the chains, for at most 256 chains', () => {
  const works = new LastWork(new FakeClock());
  const work = (chain: number, height: bigint) => works.add({ type: 'work', chain, height, difficulty: 5 });
  work(7, 1n);
  work(3, 1n);
  work(7, 2n);
  expect(works.all()).toMatchObject([
    { chain: 3, height: 1n },
    { chain: 7, height: 2n, difficulty: 5 },
  ]);
  for (let chain = 1_000; chain < 1_256; chain++) work(chain, 1n);
  expect(works.all()).toHaveLength(256);
  expect(works.all()[0]).toMatchObject({ chain: 1_000 });
});

it('the last 500 lines of the log are kept, from the level info on, each of limited length', () => {
  const tail = new LogTail();
  const log = pino({ ...LOG_LINE_OPTIONS, level: 'debug' }, tail);
  log.debug('not kept');
  for (let i = 1; i <= 600; i++) log.warn({ tag: 'node' }, `line ${i}`);
  log.error('x'.repeat(5_000));
  expect(tail.after(0)).toHaveLength(500);
  expect(tail.after(0)[0]).toEqual({
    number: 102,
    timeMillis: expect.any(Number),
    level: 'warn',
    tag: 'node',
    message: 'line 102',
  });
  expect(tail.after(600)).toMatchObject([{ number: 601, level: 'error', tag: '', message: 'x'.repeat(1_000) }]);
});

it('shares have columns of their own, and so have the estimated hashrates of relays', () => {
  const { tally, history, step } = rig();
  tally.listen(share('gpu0', 'accepted'));
  step();
  for (const each of ['accepted', 'accepted', 'rejected', 'stale'] as const) tally.listen(share('gpu0', each));
  tally.listen(relay('stratum', worker('asic', { hashesPerSecond: 5e9 })));
  step();
  const { accepted, shares, relays, devices } = history.points('10m');
  expect(accepted).toEqual([0, 0]);
  expect(shares).toEqual({ accepted: [1, 2], rejected: [0, 1], stale: [0, 1] });
  expect(relays).toEqual({ stratum: { hashesPerSecond: [null, 5e9] } });
  expect(Object.keys(devices)).not.toContain('stratum');
});
