/** What the table, the page and metrics derive from a rig's report. */

import { describe, expect, it } from 'vitest';
import {
  failedDeviceCount,
  faultsOf,
  hottestCelsius,
  isFaulty,
  shownState,
  totalWatts,
} from '#pickaxe/fleet/operator/fleet-figures.js';
import { summaryOf } from '#pickaxe/fleet/operator/http/changes.js';
import { fleetRig, reportedDevice } from './messages.ts';

const ready = reportedDevice();
const rigWith = (...devices: Parameters<typeof reportedDevice>[0][]) =>
  fleetRig('rig', { devices: devices.map((each) => reportedDevice(each)) });

it('a silent rig is shown as silent, whatever it did before', () => {
  expect([true, false].map((silent) => shownState({ silent, state: 'paused' }))).toEqual(['silent', 'paused']);
});

describe('a rig is faulty', () => {
  it.each([
    ['mining', [ready], false],
    ['paused', [ready], false],
    ['starting', [ready], false],
    ['waiting-for-work', [ready], true],
    ['no-source', [ready], true],
    ['no-device', [ready], true],
    ['mining', [ready, reportedDevice({ state: 'parked' })], true],
    ['mining', [reportedDevice({ state: 'reopening' }), ready], true],
    ['mining', [reportedDevice({ state: 'paused' })], false],
  ] as const)('%s with %j: %s', (state, devices, faulty) => {
    expect(isFaulty({ state: state as 'mining', devices: [...devices] })).toBe(faulty);
  });

  it('by as many devices as have failed', () => {
    expect(failedDeviceCount(rigWith({ state: 'parked' }, {}, { state: 'reopening' }))).toBe(2);
  });
});

it.each([
  ['no device', rigWith(), null, null],
  ['no sensor', rigWith({ celsius: null, watts: null }), null, null],
  ['one sensor of two', rigWith({ celsius: null, watts: null }, { celsius: 50, watts: 100 }), 50, 100],
  ['two sensors', rigWith({ celsius: 70, watts: 100 }, { celsius: 50, watts: 250 }), 70, 350],
  ['frost', rigWith({ celsius: -5, watts: 0 }, { celsius: 0, watts: 0 }), 0, 0],
])('the temperature and the power of a rig with %s', (_, rig, celsius, watts) => {
  expect([hottestCelsius(rig), totalWatts(rig)]).toEqual([celsius, watts]);
});

it('the faults of a rig are its wrong hashes and the times that devices were reopened', () => {
  expect(faultsOf({ ...rigWith({ reopens: 2 }, { reopens: 3 }), hardwareErrors: 10 })).toBe(15);
  expect(faultsOf({ ...rigWith(), hardwareErrors: 1 })).toBe(1);
});

it('the summary of a rig names each model once, and none that is not known', () => {
  const { models, deviceCount } = summaryOf(rigWith({ model: 'b' }, { model: null }, { model: 'a' }, { model: 'b' }));
  expect([models, deviceCount]).toEqual([['b', 'a'], 4]);
});
