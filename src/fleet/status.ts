/** The status of a fleet as operators see it: the one shape of the table, the page, `--json` and metrics. */

import { z } from 'zod';
import { amount, count, millis, rate } from '../report/shapes.ts';
import { memberName, sentence } from '../wire/fleet.ts';
import { RigReport } from './rig-report.ts';

export const FleetRig = z
  .strictObject({
    name: memberName,
    ageSeconds: amount.describe('how long ago its last report came'),
    silent: z.boolean().describe('whether its reports have ceased'),
    duplicate: z.boolean().describe('whether two rigs report under this name'),
    ...RigReport.omit({ instance: true }).shape,
  })
  .meta({ id: 'FleetRig' });
export type FleetRig = Readonly<z.infer<typeof FleetRig>>;

const FleetCoordinator = z
  .strictObject({
    name: memberName,
    version: z.string(),
    silent: z.boolean().describe('whether its states have ceased'),
    lost: sentence.nullable().describe('why its own source is out of reach; null while it is in reach'),
    chain: count.nullable().describe('of its work; null while there is none'),
    height: count.nullable(),
    workAgeSeconds: amount.nullable(),
    rigs: count.describe('rigs that mine its work, by their reports'),
  })
  .meta({ id: 'FleetCoordinator' });
export type FleetCoordinator = Readonly<z.infer<typeof FleetCoordinator>>;

export const FleetStatus = z
  .object({
    timeMillis: millis,
    /** The servers' connection: null while connected, else why not. */
    disconnected: sentence.nullable(),
    rigsMining: count,
    rigsPaused: count,
    rigsSilent: count,
    rigsFaulty: count.describe('rigs with a device that is parked or reopening, or without work or devices'),
    hashesPerSecond: rate.describe('sum of the rigs that are not silent, by counted nonces'),
    provenHashesPerSecond: rate.describe('sum of those that report it, by verified candidates'),
    found: count,
    accepted: count,
    rejected: count,
    stale: count,
    unknown: count,
    repeatedRatio: amount
      .nullable()
      .describe('expected share of repeated work: rigs × mean rate × mean age of a job ÷ nonces of a job'),
    coordinators: z.array(FleetCoordinator),
    rigs: z.array(FleetRig).describe('by name'),
  })
  .meta({ id: 'FleetStatus' });
export type FleetStatus = Readonly<z.infer<typeof FleetStatus>>;
