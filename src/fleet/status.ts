/** The status of a fleet as operators see it: the one shape of the table, the page, `--json` and metrics. */

import { z } from 'zod';
import { amount, count, millis, rate } from '../report/shapes.ts';
import { memberName, sentence } from '../wire/fleet.ts';
import { RigReport } from './rig-report.ts';

/** Why messages were ignored. `tooManyMembers`: there was no room for another rig or coordinator. */
export const IGNORED = ['malformed', 'tooFast', 'tooManyMembers'] as const;
export type Ignored = (typeof IGNORED)[number];

export const FleetRig = z
  .strictObject({
    name: memberName,
    ageSeconds: amount.describe('how long ago its last report came'),
    silent: z.boolean().describe('whether its reports have ceased: none came for 35 s'),
    duplicate: z.boolean().describe('whether two rigs report under this name'),
    ...RigReport.omit({ instance: true }).shape,
  })
  .meta({ id: 'FleetRig' });
export type FleetRig = Readonly<z.infer<typeof FleetRig>>;

const FleetCoordinator = z
  .strictObject({
    name: memberName,
    version: z.string(),
    ageSeconds: amount.describe('how long ago its last state came'),
    silent: z.boolean().describe('whether its states have ceased: none came for 5 s'),
    duplicate: z.boolean().describe('whether two coordinators have this name'),
    lost: sentence.nullable().describe('why its own source is out of reach; null while it is in reach'),
    chain: count.nullable().describe('of its work; null without work, and until its record was heard'),
    height: count.nullable(),
    workAgeSeconds: amount.nullable(),
    rigs: count.describe('rigs that mine its work, by their reports'),
    hashesPerSecond: rate.describe('of these rigs, by counted nonces'),
  })
  .meta({ id: 'FleetCoordinator' });
export type FleetCoordinator = Readonly<z.infer<typeof FleetCoordinator>>;

const ExpectedRepeats = z
  .object({
    ratio: amount.describe('the expected share of repeated work: rigs × mean rate × seconds ÷ nonces, at most 1'),
    rigs: count.describe('rigs that mine'),
    meanHashesPerSecond: rate.describe('mean rate of these rigs, by counted nonces'),
    jobSeconds: amount.describe('time for which one header is searched'),
    nonces: amount.describe('nonces that a rig may search with one header'),
  })
  .meta({
    id: 'ExpectedRepeats',
    description: 'An upper limit, as though all rigs searched the same header. Rigs begin at random nonces',
  });
export type ExpectedRepeats = Readonly<z.infer<typeof ExpectedRepeats>>;

export const FleetStatus = z
  .object({
    timeMillis: millis,
    listeningSeconds: amount.describe('for how long the present connection has lasted. Each rig reports once in 10 s'),
    disconnected: sentence.nullable().describe('why there is no connection to a server; null while there is one'),
    rigsMining: count,
    rigsPaused: count,
    rigsSilent: count,
    rigsFaulty: count.describe(
      'rigs that are not silent and have a device that is parked or reopening, or have no work, no coordinator or no device',
    ),
    hashesPerSecond: rate.describe('sum of the rigs that are not silent, by counted nonces'),
    provenHashesPerSecond: rate.describe('sum of those that report it, by verified candidates'),
    found: count.describe('solutions of all rigs, silent ones included, since the start of each rig'),
    accepted: count,
    rejected: count,
    stale: count,
    unknown: count,
    pending: count.describe('found, and without a verdict at the last report'),
    repeats: ExpectedRepeats.nullable().describe('null until the work of the rigs is known'),
    coordinators: z.array(FleetCoordinator).describe('by name'),
    rigs: z.array(FleetRig).describe('by name'),
    ignored: z
      .object(Object.fromEntries(IGNORED.map((reason) => [reason, count])) as Record<Ignored, typeof count>)
      .describe('messages of members that were ignored, by the reason'),
  })
  .meta({ id: 'FleetStatus' });
export type FleetStatus = Readonly<z.infer<typeof FleetStatus>>;
