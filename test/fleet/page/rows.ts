/** Rows of a fleet's page. */

import type { RigSummary } from '#pickaxe/fleet/operator/fleet-answers.js';
import { summaryOf } from '#pickaxe/fleet/operator/http/changes.js';
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
