import { describe, expect, test } from 'vitest';
import { Latencies, Luck } from '#pickaxe/rig/status/counters.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { device, FakeClock, hashes, verdict } from './fakes.ts';

describe('luck', () => {
  test('expects blocks by the difficulty of the work that the hashes were for', () => {
    const luck = new Luck();
    luck.searched(500, 1_000);
    luck.searched(500, 250);
    expect(luck.expectedBlocks).toBe(2.5);
    expect(luck.effort).toBe(2.5);
    luck.accepted();
    expect(luck.effort).toBe(0);
    luck.searched(100, 1_000);
    expect(luck.effort).toBeCloseTo(0.1);
    expect(luck.expectedBlocks).toBeCloseTo(2.6);
  });

  test('remembers the best hash', () => {
    const luck = new Luck();
    for (const difficulty of [10, 500, 20]) luck.proved(difficulty);
    expect(luck.bestDifficulty).toBe(500);
  });
});

describe('latencies', () => {
  test('have a median, a 99th percentile, a last value and a count', () => {
    const latencies = new Latencies();
    expect(latencies.spread).toBeNull();
    for (let ms = 100; ms >= 1; ms--) latencies.add(ms);
    expect(latencies.spread).toEqual({ p50: 51, p99: 100, last: 1, count: 100 });
  });

  test('forget the oldest values, but count them', () => {
    const latencies = new Latencies();
    for (let i = 0; i < 10; i++) latencies.add(1e6);
    for (let i = 0; i < 500; i++) latencies.add(1);
    expect(latencies.spread).toEqual({ p50: 1, p99: 1, last: 1, count: 510 });
    for (let i = 0; i < 5; i++) latencies.add(1e6);
    for (let i = 0; i < 495; i++) latencies.add(1);
    expect(latencies.spread).toEqual({ p50: 1, p99: 1e6, last: 1, count: 1010 });
  });
});

describe('the state of the rig', () => {
  function rig() {
    const clock = new FakeClock();
    const tally = new Tally(clock);
    return { clock, tally };
  }

  test('has the work, the time to a block, effort and proofs', () => {
    const { clock, tally } = rig();
    tally.listen(device('cpu', 'ready'));
    tally.listen({ type: 'work', chain: 3, height: 42n, difficulty: 20_000 });
    for (let s = 0; s < 40; s++) {
      clock.advance(1_000);
      tally.listen(hashes('cpu', 100, 20_000));
      if (s % 4 === 0) tally.listen({ type: 'proof', device: 'cpu', hashes: 400, difficulty: 400 + s });
    }
    const now = tally.status();
    expect(now.hashesPerSecond).toBeCloseTo(100, -1);
    expect(now.timeToBlockSeconds).toBeCloseTo(20_000 / now.hashesPerSecond);
    expect(now.effort).toBeCloseTo(0.2);
    expect(now.work).toEqual({ chain: 3, height: 42, difficulty: 20_000, shareDifficulty: null, ageSeconds: 40 });
    expect(tally.summary()).toMatchObject({ expectedBlocks: expect.closeTo(0.2), bestDifficulty: 436, accepted: 0 });
    expect(tally.summary().devices.cpu.proven).toMatchObject({ hashes: 4_000, proofs: 10 });
    tally.listen(verdict('cpu', 'accepted'));
    expect(tally.status().effort).toBe(0);
  });

  test('has no time to a block while nothing is hashed, or while there is no work', () => {
    const { clock, tally } = rig();
    tally.listen(device('cpu', 'ready'));
    expect(tally.status().work).toBeNull();
    tally.listen({ type: 'work', chain: 3, height: 42n, difficulty: 20_000 });
    clock.advance(1_000);
    expect(tally.status().timeToBlockSeconds).toBeNull();
  });

  test('knows no time to a block while every device is paused, though half a minute still has hashes in it', () => {
    const { clock, tally } = rig();
    tally.listen(device('cpu', 'ready'));
    tally.listen({ type: 'work', chain: 3, height: 42n, difficulty: 20_000 });
    for (let s = 0; s < 10; s++) {
      clock.advance(1_000);
      tally.listen(hashes('cpu', 100, 20_000));
    }
    tally.listen(device('cpu', 'paused', 'it is night'));
    const now = tally.status();
    expect(now.hashesPerSecond).toBeGreaterThan(0);
    expect(now.timeToBlockSeconds).toBeNull();
  });

  test('has devices that never worked, with the reason, and paused devices', () => {
    const { tally } = rig();
    tally.listen({ type: 'progress', device: 'gpu1', what: 'measuring', done: 0.1 });
    tally.listen(device('gpu0', 'parked', 'the driver refuses'));
    tally.listen(device('cpu', 'ready'));
    tally.listen(device('cpu', 'paused', 'it is night'));
    const { devices } = tally.status();
    expect(devices.gpu0).toMatchObject({ kind: 'gpu', state: 'parked', reason: 'the driver refuses' });
    expect(devices.cpu).toMatchObject({ kind: 'cpu', state: 'paused', reason: 'it is night' });
  });

  test('has each node’s state, since when, and how often the node was lost', () => {
    const { clock, tally } = rig();
    const source = (state: 'connected' | 'lost' | 'warning' | 'info', reason = '') =>
      tally.listen({ type: 'source', source: 'http://a', kind: 'node', state, reason });
    source('warning', 'it does not list this miner');
    expect(tally.status().sources['http://a']).toMatchObject({ state: 'connecting', losses: 0 });
    source('connected', 'hello');
    clock.advance(5_000);
    source('lost', 'gone');
    clock.advance(5_000);
    source('lost', 'still gone');
    source('info', 'whatever');
    expect(tally.status().sources['http://a']).toEqual({
      kind: 'node',
      state: 'lost',
      reason: 'still gone',
      ageSeconds: 5,
      latencySeconds: null,
      losses: 1,
      warning: 'it does not list this miner',
      missedCuts: 0,
      polledChains: [],
    });
  });

  test('has the chains of a node that are polled, and the number of blocks that its streams did not announce', () => {
    const { tally } = rig();
    const polling = (...chains: { chain: number; reason: 'no-stream' | 'missed-block' }[]) =>
      tally.listen({ type: 'polling', source: 'http://a', chains });
    for (const chain of [3, 4]) tally.listen({ type: 'missed-cut', source: 'http://a', chain });
    tally.listen({ type: 'missed-cut', source: 'http://b', chain: 3 });
    polling({ chain: 3, reason: 'missed-block' }, { chain: 4, reason: 'no-stream' });
    expect(tally.status().sources['http://a']).toMatchObject({
      state: 'connecting',
      missedCuts: 2,
      polledChains: [
        { chain: 3, reason: 'missed-block' },
        { chain: 4, reason: 'no-stream' },
      ],
    });
    expect(tally.summary().missedCuts).toBe(3);
    polling();
    expect(tally.status().sources['http://a']).toMatchObject({ missedCuts: 2, polledChains: [] });
  });

  test('has the number of New Cuts, and how long job switches took', () => {
    const { tally } = rig();
    for (const switchSeconds of [3, 1, 2]) {
      tally.listen({ type: 'new-cut', chain: 1 });
      tally.listen({ type: 'job-switch', device: 'cpu', switchSeconds });
    }
    expect(tally.summary()).toMatchObject({ newCuts: 3, switchSeconds: { p50: 2, p99: 3, last: 2, count: 3 } });
  });
});
