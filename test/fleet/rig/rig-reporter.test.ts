/** What a rig reports of itself. */

import { expect, it } from 'vitest';
import { version } from '#pickaxe/base/system/version.js';
import { MOST_MESSAGE_BYTES, messageBytes } from '#pickaxe/fleet/messages.js';
import { type RigIdentity, RigReporter } from '#pickaxe/fleet/rig/rig-reporter.js';
import { RigReport } from '#pickaxe/fleet/rig-report.js';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { expectShape } from '../../expect-shape.ts';
import { device, FakeClock, hashes, verdict } from '../../rig/status/fakes.ts';
import { INSTANCE } from '../operator/messages.ts';

function setUp(identity: Partial<RigIdentity> = {}) {
  const clock = new FakeClock();
  const tally = new Tally(clock, [{ name: 'gpu0', kind: 'gpu' }], [], 'fleet');
  const reporter = new RigReporter({ instance: INSTANCE, control: false, ...identity });
  const happens = (...events: MinerEvent[]) => {
    for (const event of events) {
      tally.listen(event);
      reporter.listen(event);
    }
  };
  return { clock, happens, report: () => reporter.report(tally.status()) };
}

const found = (more: Partial<Extract<MinerEvent, { type: 'solution' }>> = {}): MinerEvent => {
  const { outcome: _, reason: __, answerSeconds: ___, ...about } = verdict('gpu0', 'accepted');
  return { ...about, type: 'solution', hash: new Uint8Array(32), ...more };
};

const source = (name: string, state: 'connected' | 'lost' | 'standby'): MinerEvent => {
  return { type: 'source', source: name, kind: 'fleet', state, reason: '' };
};

it('has the rates, readings and faults of each device', () => {
  const { clock, happens, report } = setUp({ group: 'hall-a', control: true });
  happens(device('gpu0', 'ready'), source('c1', 'connected'));
  for (let i = 0; i < 30; i++)
    happens(hashes('gpu0', 1e9), { type: 'proof', device: 'gpu0', hashes: 1e9, difficulty: 1 });
  clock.advance(10_000);
  happens({ type: 'hardware-error', device: 'gpu0', nonce: 1n });
  happens({ type: 'telemetry', device: 'gpu0', telemetry: { hotspotCelsius: 70, powerWatts: 250 } });
  const now = report();
  expectShape(RigReport, now);
  expect(now).toMatchObject({
    instance: INSTANCE,
    version,
    group: 'hall-a',
    control: true,
    uptimeSeconds: 10,
    coordinator: 'c1',
    hashesPerSecond: 3e9,
    provenHashesPerSecond: 3e9,
    hashes: 3e10,
    hardwareErrors: 1,
    devices: [{ name: 'gpu0', kind: 'gpu', state: 'ready', celsius: 70, watts: 250, hashesPerSecond: 3e9 }],
  });
});

it('has a proven rate if one of its devices has', () => {
  const clock = new FakeClock();
  const tally = new Tally(clock, [
    { name: 'gpu0', kind: 'gpu' },
    { name: 'cpu', kind: 'cpu' },
  ]);
  const reporter = new RigReporter({ instance: INSTANCE, control: false });
  for (const name of ['gpu0', 'cpu']) tally.listen(device(name, 'ready'));
  for (let i = 0; i < 30; i++) tally.listen({ type: 'proof', device: 'cpu', hashes: 1e9, difficulty: 1 });
  clock.advance(10_000);
  const report = reporter.report(tally.status());
  expect(report?.provenHashesPerSecond).toBeGreaterThan(0);
  expect(report?.devices.map(({ provenHashesPerSecond }) => provenHashesPerSecond !== null)).toEqual([false, true]);
});

it('prefers the temperature of the chip to that of its hottest place, and has the texts of a device in one line', () => {
  const { happens, report } = setUp();
  happens({ ...device('gpu0', 'paused', 'too\nhot'), kind: 'gpu', model: 'a\tcard' } as MinerEvent);
  happens({ type: 'telemetry', device: 'gpu0', telemetry: { temperatureCelsius: 60, hotspotCelsius: 70 } });
  expect(report()?.devices).toMatchObject([{ model: 'a card', reason: 'too hot', celsius: 60 }]);
});

it('has a name of a coordinator of up to 64 characters, and none that is longer or empty', () => {
  for (const [name, shown] of [
    ['c'.repeat(64), 'c'.repeat(64)],
    ['c'.repeat(65), null],
    ['', null],
  ] as const) {
    const { happens, report } = setUp();
    happens(source(name, 'connected'));
    expect(report()?.coordinator).toBe(shown);
  }
});

it('has no proven rate before 30 proofs', () => {
  const { clock, happens, report } = setUp();
  happens(device('gpu0', 'ready'));
  for (let i = 0; i < 29; i++) happens({ type: 'proof', device: 'gpu0', hashes: 1e9, difficulty: 1 });
  clock.advance(1_000);
  expect(report()).toMatchObject({ provenHashesPerSecond: null, devices: [{ provenHashesPerSecond: null }] });
});

it('counts each solution of the devices once, and none of relays', () => {
  const { happens, report } = setUp();
  happens(found(), found(), found(), found(), found(), found());
  happens(found({ isRelay: true, device: 'fleet' }), verdict('fleet', 'accepted', '', { isRelay: true }));
  const outcomes = ['accepted', 'accepted', 'rejected', 'stale', 'unknown'] as const;
  happens(...outcomes.map((outcome) => verdict('gpu0', outcome)));
  expect(report()).toMatchObject({ found: 6, accepted: 2, rejected: 1, stale: 1, unknown: 1 });
});

it('names the coordinator in use', () => {
  const { happens, report } = setUp({ sourceName: 'nats://a:4222' });
  happens(source('nats://a:4222', 'connected'));
  expect(report()?.coordinator).toBeNull();
  happens(source('c1', 'connected'), source('c2', 'standby'));
  expect(report()?.coordinator).toBe('c1');
  happens(source('c1', 'lost'), source('c2', 'connected'));
  expect(report()?.coordinator).toBe('c2');
});

it('names the coordinator itself for its own devices', () => {
  const clock = new FakeClock();
  const tally = new Tally(clock, [{ name: 'cpu', kind: 'cpu' }]);
  const reporter = new RigReporter({ instance: INSTANCE, control: false, ownCoordinator: 'c1' });
  expect(reporter.report(tally.status())?.coordinator).toBe('c1');
});

it('is not sent for a rig without devices', () => {
  const reporter = new RigReporter({ instance: INSTANCE, control: false });
  expect(reporter.report(new Tally(new FakeClock()).status())).toBeUndefined();
});

it('fits a message, however many devices have however much to say', () => {
  const { happens, report } = setUp();
  for (let i = 0; i < 100; i++) {
    const about = device(`gpu${i} ${'n'.repeat(80)}`, 'paused', 'r'.repeat(500));
    happens({ ...about, kind: 'gpu', model: 'm'.repeat(500) } as MinerEvent);
  }
  const now = report();
  expectShape(RigReport, now);
  expect(now?.devices).toHaveLength(64);
  expect(messageBytes(now).length).toBeLessThan(MOST_MESSAGE_BYTES);
});

it('counts no verdict on a solution that was only delivered', () => {
  const { happens, report } = setUp();
  happens(verdict('gpu0', 'delivered' as 'accepted'));
  expect(report()).toMatchObject({ accepted: 0, rejected: 0, stale: 0, unknown: 0 });
  expect(report()).not.toHaveProperty('delivered');
});
