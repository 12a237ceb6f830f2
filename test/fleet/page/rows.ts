/** Rows, coordinators and totals of a fleet's page. */

import type { RigSummary } from '#pickaxe/fleet/operator/fleet-answers.js';
import type { FleetCoordinator } from '#pickaxe/fleet/operator/fleet-status.js';
import { summaryOf } from '#pickaxe/fleet/operator/http/changes.js';
import type { Totals } from '#pickaxe/fleet/page/fleet-summary.js';
import { FleetRows } from '#pickaxe/fleet/page/rig-rows.js';
import { fleetRig } from '../operator/messages.ts';

/** The time by the server's clock. */
export const NOW = 1_700_000_000_000;

export const rig = (name: string, more: Partial<RigSummary> = {}): RigSummary => ({
  ...summaryOf(fleetRig(name)),
  ageSeconds: 0,
  ...more,
});

export function rowsOf(...rigs: RigSummary[]): FleetRows {
  const rows = new FleetRows();
  rows.apply({ whole: true, rigs, goneRigs: [], timeMillis: NOW });
  return rows;
}

export const coordinator = (name: string, more: Partial<FleetCoordinator> = {}): FleetCoordinator => ({
  name,
  version: '0.1.0',
  ageSeconds: 0.4,
  silent: false,
  duplicate: false,
  lost: null,
  chain: 3,
  height: 41,
  workAgeSeconds: 12,
  rigs: 4,
  hashesPerSecond: 6e9,
  ...more,
});

export const totals = (more: Partial<Totals> = {}): Totals => ({
  version: '1.2.3',
  control: true,
  mark: '0123456789abcdef-1',
  whole: true,
  timeMillis: NOW,
  listeningSeconds: 60,
  disconnected: null,
  rigsMining: 5,
  rigsPaused: 0,
  rigsSilent: 0,
  rigsFaulty: 0,
  hashesPerSecond: 2e9,
  provenHashesPerSecond: 1.5e9,
  found: 0,
  accepted: 0,
  rejected: 0,
  stale: 0,
  unknown: 0,
  pending: 0,
  repeats: null,
  coordinators: [],
  ignored: { malformed: 0, tooFast: 0, tooManyMembers: 0 },
  ...more,
});
