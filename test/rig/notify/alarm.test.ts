import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Events, type MinerEvent } from '#pickaxe/miner/events/events.js';
import { type LeastRate, LowRate, watchHashrate } from '#pickaxe/rig/notify/notices.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { device, hashes, relay, worker } from '../status/fakes.ts';

const MINUTE = 60_000;

describe('the alarm for one hashrate and its limit', () => {
  /** @param rates one rate for each 10 seconds. @returns the changes of the alarm, and when they happened */
  function judge(low: LowRate, rates: (number | undefined)[]) {
    return rates
      .map((rate, i) => [i * 10, low.observe(rate, i * 10_000)] as const)
      .filter(([, state]) => state !== undefined)
      .map(([seconds, state]) => `${state} after ${seconds} s`);
  }

  it('is raised once after the given time below the limit without a break', () => {
    expect(judge(new LowRate(100, 30_000), [99, 99, 99, 99, 0, 0, 0, 0])).toEqual(['raised after 30 s']);
    expect(judge(new LowRate(100, 30_000), [99, 99, 99, 100, 99, 99, 99, 100])).toEqual([]);
  });

  it('is cleared after a minute at the limit, or after the given time if that is shorter', () => {
    const low = (afterMs: number) => new LowRate(100, afterMs);
    const back = Array(10).fill(100);
    expect(judge(low(20_000), [0, 0, 0, ...back])).toEqual(['raised after 20 s', 'cleared after 50 s']);
    expect(judge(low(5 * MINUTE), [...Array(31).fill(0), ...back])).toEqual([
      'raised after 300 s',
      'cleared after 370 s',
    ]);
  });

  it('does not come and go while the rate varies around the limit', () => {
    const low = new LowRate(100, 20_000);
    expect(judge(low, [0, 0, 0, 100, 99, 101, 99, 100, 99, 100, 99])).toEqual(['raised after 20 s']);
  });

  it('starts its time again when there was no rate to judge', () => {
    expect(judge(new LowRate(100, 30_000), [0, 0, 0, undefined, 0, 0, 0])).toEqual([]);
    expect(judge(new LowRate(100, 20_000), [0, 0, 0, undefined, undefined, 0, 0, 0])).toEqual(['raised after 20 s']);
  });
});

describe('the alarm of a rig', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const node = (state: 'connected' | 'lost'): MinerEvent => ({
    type: 'source',
    source: 'a node',
    kind: 'node',
    state,
    reason: '',
  });
  const work: MinerEvent = { type: 'work', chain: 1, height: 2n, difficulty: 1e9 };

  function rig(...least: LeastRate[]) {
    return rigWith([], least);
  }

  function rigWith(relays: { name: string }[], least: LeastRate[]) {
    const clock = { ...systemClock, nowUs: () => BigInt(Date.now()) * 1000n, monotonicMs: () => Date.now() };
    const events = new Events();
    const tally = new Tally(clock, [], relays);
    const alarms: string[] = [];
    events.on(tally.listen);
    events.on((event) => {
      if (event.type !== 'alarm') return;
      const { state, device, hashesPerSecond, limitHashesPerSecond: limit } = event;
      alarms.push(`${state} ${device ?? 'rig'} ${hashesPerSecond > 0 ? 'some' : 'none'} of ${limit}`);
    });
    const end = watchHashrate(least, 2 * MINUTE, { events, tally, clock });
    /** Makes each device hash at the given rate. */
    const run = (minutes: number, rates: Record<string, number> = {}) => {
      for (let seconds = 0; seconds < minutes * 60; seconds++) {
        vi.advanceTimersByTime(1_000);
        for (const [name, rate] of Object.entries(rates)) events.emit(hashes(name, rate));
      }
    };
    return { events, alarms, run, end };
  }

  test('judges a parked device, but not the rig while all its other devices are paused', () => {
    const { events, alarms, run } = rig({ limit: 150 }, { device: 'gpu0', limit: 100 });
    for (const event of [node('connected'), work, device('cpu', 'paused'), device('gpu0', 'parked')])
      events.emit(event);
    run(5);
    expect(alarms).toEqual(['raised gpu0 none of 100']);
    events.emit(device('cpu', 'parked'));
    run(5);
    expect(alarms[1]).toBe('raised rig none of 150');
  });

  test('raises and clears alarms for the rig and for devices', () => {
    const { events, alarms, run, end } = rig({ limit: 150 }, { device: 'gpu0', limit: 100 });
    for (const event of [node('connected'), work, device('cpu', 'ready'), device('gpu0', 'ready')]) events.emit(event);
    run(5, { cpu: 60, gpu0: 110 });
    expect(alarms).toEqual([]);
    run(4, { cpu: 60, gpu0: 50 });
    expect(alarms).toEqual(['raised gpu0 some of 100', 'raised rig some of 150']);
    run(4, { cpu: 20, gpu0: 120 });
    expect(alarms.slice(2)).toEqual(['cleared gpu0 some of 100']);
    run(4, { cpu: 60, gpu0: 120 });
    expect(alarms.slice(3)).toEqual(['cleared rig some of 150']);
    end();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is silent while all devices are paused, without a node, and before the first work', () => {
    const { events, alarms, run } = rig({ limit: 100 });
    events.emit(node('connected'));
    events.emit(device('cpu', 'ready'));
    run(10);
    events.emit(work);
    events.emit(device('cpu', 'paused', 'it is night'));
    run(10);
    events.emit(device('cpu', 'ready'));
    events.emit(node('lost'));
    run(10);
    expect(alarms).toEqual([]);
    events.emit(node('connected'));
    run(3);
    expect(alarms).toEqual(['raised rig none of 100']);
  });

  test('ignores a paused device by itself, but counts it for the rig', () => {
    const { events, alarms, run } = rig({ limit: 150 }, { device: 'gpu0', limit: 100 });
    for (const event of [node('connected'), work, device('cpu', 'ready'), device('gpu0', 'paused')]) events.emit(event);
    run(5, { cpu: 100 });
    expect(alarms).toEqual(['raised rig some of 150']);
  });

  test('never fires for a rig without devices, which hands its work on', () => {
    const { events, alarms, run } = rigWith([{ name: 'stratum' }], [{ limit: 100 }, { device: 'gpu0', limit: 100 }]);
    for (const event of [node('connected'), work]) events.emit(event);
    run(20);
    expect(alarms).toEqual([]);
  });

  test('does not count what workers hash', () => {
    const { events, alarms, run } = rigWith([{ name: 'stratum' }], [{ limit: 100 }]);
    for (const event of [node('connected'), work, device('cpu', 'ready'), relay('stratum', worker('asic'))])
      events.emit(event);
    run(5, { cpu: 10 });
    expect(alarms).toEqual(['raised rig some of 100']);
  });

  test('counts a device that never opened as 0 H/s', () => {
    const { events, alarms, run } = rig({ device: 'gpu7', limit: 1 });
    for (const event of [node('connected'), work, device('cpu', 'ready')]) events.emit(event);
    run(5, { cpu: 100 });
    expect(alarms).toEqual(['raised gpu7 none of 1']);
  });
});
