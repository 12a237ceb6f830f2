import { describe, expect, test } from 'vitest';
import { hasStarted, intervalFor, isAlive, whyIdle } from '#pickaxe/app/process/systemd.js';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { device, FakeClock } from '../../../rig/status/fakes.ts';

const source = (state: 'connected' | 'lost' | 'warning' | 'info', name = 'node'): MinerEvent => {
  return { type: 'source', source: name, kind: 'node', state, reason: '' };
};

function after(...events: MinerEvent[]) {
  const tally = new Tally(new FakeClock());
  for (const event of events) tally.listen(event);
  const now = tally.status();
  return { ready: hasStarted(now), idle: whyIdle(now) };
}

describe('the state of a rig', () => {
  const cpu = device('cpu', 'ready');
  test.each([
    ['at its start', [], false, /^starting \(no device has been opened yet\)$/],
    ['that opens a device', [{ type: 'progress', device: 'gpu0', what: 'tuning', done: 0.5 }], false, /opened/],
    ['with a device, before the node answers', [cpu], true, /^no node \(none has answered yet\), retrying$/],
    ['with a node, before a device', [source('connected')], true, /opened/],
    ['that should hash', [cpu, source('connected')], true, undefined],
    [
      'of a parent that has no job',
      [cpu, { type: 'source', source: 'parent', kind: 'parent', state: 'connected', reason: '' }],
      true,
      /^no work \(the parent has given none yet\)/,
    ],
    ['that lost its node', [cpu, source('connected'), source('lost')], true, /^no node/],
    ['that was warned', [cpu, source('connected'), source('warning')], true, undefined],
    ['that lost one node of two', [cpu, source('connected', 'a'), source('lost', 'b')], true, undefined],
    ['with one device of two', [cpu, device('gpu0', 'parked', 'dead'), source('connected')], true, undefined],
    [
      'that is too hot',
      [cpu, device('cpu', 'paused', '91 °C'), source('connected')],
      true,
      /^paused \(cpu paused: 91 °C\)$/,
    ],
    [
      'whose devices all fail',
      [device('gpu0', 'reopening', 'hangs'), device('gpu1', 'parked', 'dead')],
      false,
      /^no device mines \(gpu0 reopening: hangs; gpu1 parked: dead\)$/,
    ],
  ] as [string, MinerEvent[], boolean, RegExp | undefined][])('%s is judged right', (_, events, ready, idle) => {
    const now = after(...events);
    expect(now.ready).toBe(ready);
    if (idle) expect(now.idle).toMatch(idle);
    else expect(now.idle).toBeUndefined();
  });
});

describe('a rig without devices', () => {
  const work: MinerEvent = { type: 'work', chain: 3, height: 42n, difficulty: 1e9 };
  function without(...events: MinerEvent[]) {
    const tally = new Tally(new FakeClock(), [], [{ name: 'stratum' }]);
    for (const event of events) tally.listen(event);
    return tally.status();
  }

  test('has started at once, and is alive without hashing as long as it has work', () => {
    expect(hasStarted(without())).toBe(true);
    expect(isAlive(without(), false)).toBe(true); // no node is a reason
    expect(isAlive(without(source('connected')), false)).toBe(false);
    expect(isAlive(without(source('connected'), work), false)).toBe(true);
  });

  test('is not like one whose devices should hash', () => {
    const tally = new Tally(new FakeClock(), [], [{ name: 'stratum' }]);
    for (const event of [device('cpu', 'ready'), source('connected'), work]) tally.listen(event);
    expect([isAlive(tally.status(), false), isAlive(tally.status(), true)]).toEqual([false, true]);
  });
});

describe('messages', () => {
  test.each([0.5, 20, 400, 19_999, 20_000, 60_000, 1e9])(
    'come at least twice within a watchdog of %d ms',
    (watchdogMs) => {
      expect(intervalFor(watchdogMs)).toBeGreaterThan(0);
      expect(intervalFor(watchdogMs)).toBeLessThanOrEqual(watchdogMs / 2);
      expect(intervalFor(watchdogMs)).toBeLessThanOrEqual(intervalFor());
    },
  );

  test('come every ten seconds unless a watchdog requires more', () => {
    expect([intervalFor(), intervalFor(19_000)]).toEqual([10_000, 9_500]);
  });
});
