/** Messages of the members of a fleet, and links over which tests send them. */

import { setImmediate } from 'node:timers/promises';
import { type CoordinatorState, givenWorkOf, messageBytes } from '#pickaxe/fleet/messages.js';
import type { Link } from '#pickaxe/fleet/nats/link.js';
import type { FleetRig } from '#pickaxe/fleet/operator/fleet-status.js';
import type { RigReport } from '#pickaxe/fleet/rig-report.js';
import { FleetSubjects } from '#pickaxe/fleet/subjects.js';
import { makeWork } from '../../fakes.ts';
import type { FakeLink } from '../nats/fake-nats.ts';

export const SUBJECTS = new FleetSubjects('pickaxe');

/** Lets a fake link deliver what was sent. */
export const delivered = (): Promise<void> => setImmediate();

export const INSTANCE = '0123456789abcdef';
export const OTHER_INSTANCE = 'fedcba9876543210';

type Device = RigReport['devices'][number];

export const reportedDevice = (more: Partial<Device> = {}): Device => ({
  name: 'gpu0',
  kind: 'gpu',
  model: 'a card',
  state: 'ready',
  reason: null,
  hashesPerSecond: 25e9,
  provenHashesPerSecond: 24e9,
  celsius: 61,
  watts: 300,
  hardwareErrors: 0,
  reopens: 0,
  ...more,
});

export const report = (more: Partial<RigReport> = {}): RigReport => ({
  instance: INSTANCE,
  version: '0.1.0',
  group: null,
  uptimeSeconds: 100,
  state: 'mining',
  stateReason: null,
  coordinator: 'c1',
  hashesPerSecond: 25e9,
  provenHashesPerSecond: 24e9,
  hashes: 2.5e12,
  found: 0,
  accepted: 0,
  rejected: 0,
  stale: 0,
  unknown: 0,
  hardwareErrors: 0,
  control: true,
  devices: [reportedDevice()],
  ...more,
});

export const fleetRig = (name: string, more: Partial<FleetRig> = {}): FleetRig => {
  const { instance: _, ...rest } = report();
  return { name, ageSeconds: 3, silent: false, duplicate: false, ...rest, ...more };
};

/** A state with a work of its own, which is on a chain below 20 and named `…-NUMBER`. */
export function stateWithWork(number: number, more: Partial<CoordinatorState> = {}): CoordinatorState {
  const name = `${INSTANCE}-${number}`;
  return { ...beat(number, name), given: givenWorkOf(makeWork(1e6), name), ...more };
}

/** The short state of every second. */
export function beat(number: number, work: string | null): CoordinatorState {
  return { instance: INSTANCE, number, version: '0.1.0', work, latestTimeMicros: 1, ended: [], lost: null };
}

export function sendReport(link: Pick<Link, 'publish'>, name: string, more: Partial<RigReport> = {}): void {
  link.publish(SUBJECTS.report(name), messageBytes(report(more)));
}

export function sendState(link: FakeLink, name: string, state: CoordinatorState): void {
  link.publish(SUBJECTS.beat(name), messageBytes(state));
}
