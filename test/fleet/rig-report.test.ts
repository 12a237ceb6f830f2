/** Which reports of rigs are read: each field is tried with values that just fit, and with some that do not. */

import { describe, expect, it } from 'vitest';
import { RigReport } from '#pickaxe/fleet/rig-report.js';
import { report, reportedDevice } from './operator/messages.ts';

const text = (length: number) => 'x'.repeat(length);

type Values = readonly [fits: readonly unknown[], exceeds: readonly unknown[]];

const COUNT: Values = [
  [0, 1e11],
  [-1, 1e11 + 1, 0.5, null],
];
const AMOUNT: Values = [
  [0, 0.5, 1e30],
  [-0.5, 1.001e30, null],
];
const NULL_OR_AMOUNT: Values = [
  [null, 0, 1e30],
  [-0.5, 1.001e30, undefined],
];
const TEXT: Values = [
  ['', text(128)],
  [text(129), null, 1],
];
const NULL_OR_TEXT: Values = [
  [null, '', text(128)],
  [text(129), undefined],
];
const NAME: Values = [
  ['a', text(64)],
  ['', text(65), '\ud800', null],
];
const NULL_OR_NAME: Values = [
  [null, 'a', text(64)],
  ['', text(65), '\ud800', undefined],
];

const FIELDS: Record<keyof RigReport, Values> = {
  instance: [['0123456789abcdef'], ['0123456789abcde', '0123456789ABCDEF', '0123456789abcdef0']],
  version: TEXT,
  group: NULL_OR_NAME,
  uptimeSeconds: AMOUNT,
  state: [
    ['mining', 'paused'],
    ['asleep', null],
  ],
  stateReason: NULL_OR_TEXT,
  coordinator: NULL_OR_NAME,
  hashesPerSecond: AMOUNT,
  provenHashesPerSecond: NULL_OR_AMOUNT,
  hashes: AMOUNT,
  found: COUNT,
  accepted: COUNT,
  rejected: COUNT,
  stale: COUNT,
  unknown: COUNT,
  hardwareErrors: COUNT,
  control: [
    [true, false],
    [null, 1],
  ],
  devices: [
    [[], Array.from({ length: 64 }, () => reportedDevice())],
    [Array.from({ length: 65 }, () => reportedDevice()), null],
  ],
};

const DEVICE_FIELDS: Record<keyof ReturnType<typeof reportedDevice>, Values> = {
  name: NAME,
  kind: [
    ['cpu', 'gpu'],
    ['asic', null],
  ],
  model: NULL_OR_TEXT,
  state: [
    ['ready', 'paused', 'parked'],
    ['asleep', null],
  ],
  reason: NULL_OR_TEXT,
  hashesPerSecond: AMOUNT,
  provenHashesPerSecond: NULL_OR_AMOUNT,
  celsius: [
    [null, -300, 0.5, 10_000],
    [-300.5, 10_000.5, undefined],
  ],
  watts: NULL_OR_AMOUNT,
  hardwareErrors: COUNT,
  reopens: COUNT,
};

describe('a report', () => {
  it.each(Object.entries(FIELDS))('has %s within limits', (name, [fits, exceeds]) => {
    const isRead = (value: unknown) => RigReport.safeParse({ ...report(), [name]: value }).success;
    expect(fits.map(isRead)).toEqual(fits.map(() => true));
    expect(exceeds.map(isRead)).toEqual(exceeds.map(() => false));
  });

  it.each(Object.entries(DEVICE_FIELDS))('has %s of a device within limits', (name, [fits, exceeds]) => {
    const isRead = (value: unknown) =>
      RigReport.safeParse(report({ devices: [{ ...reportedDevice(), [name]: value }] })).success;
    expect(fits.map(isRead)).toEqual(fits.map(() => true));
    expect(exceeds.map(isRead)).toEqual(exceeds.map(() => false));
  });

  it('has all of these fields, and no others', () => {
    expect(RigReport.parse(report())).toEqual(report());
    expect(Object.keys(FIELDS).sort()).toEqual(Object.keys(report()).sort());
    expect(Object.keys(DEVICE_FIELDS).sort()).toEqual(Object.keys(reportedDevice()).sort());
    for (const more of [{ ...report(), mood: 1 }, report({ devices: [{ ...reportedDevice(), mood: 1 } as never] })]) {
      expect(RigReport.safeParse(more).success).toBe(false);
    }
  });
});
