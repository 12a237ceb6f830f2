/**
 * The status of a fleet as operators see it. The table, the page, `--json` and metrics are all made from this shape.
 */

import { z } from 'zod';
import { amount, count, millis, rate } from '../../rig/status/shapes.ts';
import { memberName, sentence } from '../messages.ts';
import { RigReport } from '../rig-report.ts';

/**
 * Why messages of members were ignored. `tooManyMembers`: the limits on the number of members, or on the total length
 * of their messages, left no room for a message.
 */
const IGNORED = ['malformed', 'tooFast', 'tooManyMembers'] as const;
export type Ignored = (typeof IGNORED)[number];

export const FleetRig = z
  .strictObject({
    name: memberName,
    ageSeconds: amount.describe('of its last report'),
    silent: z.boolean().describe('whether no report came for 35 s'),
    duplicate: z.boolean().describe('whether two rigs have this name'),
    ...RigReport.omit({ instance: true }).shape,
  })
  .meta({ id: 'FleetRig', description: 'a rig, by its own claims' });
export type FleetRig = Readonly<z.infer<typeof FleetRig>>;

const ofWork = count.nullable().describe('of its work');

const FleetCoordinator = z
  .strictObject({
    name: memberName,
    version: z.string(),
    ageSeconds: amount.describe('of its last state'),
    silent: z.boolean().describe('whether no state came for 5 s'),
    duplicate: z.boolean().describe('whether two coordinators have this name'),
    lost: sentence.nullable().describe('why its source is out of reach'),
    chain: ofWork,
    height: ofWork,
    workAgeSeconds: amount.nullable().describe('of its work'),
    rigs: count.describe('those that mine its work'),
    hashesPerSecond: rate.describe('of these rigs'),
  })
  .meta({ id: 'FleetCoordinator', description: 'a coordinator' });
export type FleetCoordinator = Readonly<z.infer<typeof FleetCoordinator>>;

const ExpectedRepeats = z
  .object({
    ratio: amount.describe('`rigs` × rate × seconds ÷ `nonces`, at most 1'),
    rigs: count.describe('those that mine'),
    meanHashesPerSecond: rate.describe('their mean'),
    jobSeconds: amount.describe('for which one header is searched'),
    nonces: amount.describe('that a rig may search with one header'),
  })
  .meta({
    id: 'ExpectedRepeats',
    description: 'an upper limit of repeated work, as though all rigs searched one header',
  });
export type ExpectedRepeats = Readonly<z.infer<typeof ExpectedRepeats>>;

const kindOfRigs = count.describe('numbers of rigs');
const verdicts = count.describe('by outcome');

export const FleetStatus = z
  .object({
    timeMillis: millis.describe('now'),
    listeningSeconds: amount.describe('for how long it has been connected: each rig reports once in 10 s'),
    disconnected: sentence.nullable().describe('why no server is in reach'),
    rigsMining: kindOfRigs,
    rigsPaused: kindOfRigs,
    rigsSilent: kindOfRigs,
    rigsFaulty: count.describe(
      'those that are not silent, and lack work, a coordinator or a device, or have one that is parked or reopening',
    ),
    hashesPerSecond: rate.describe('the sum of the rigs that are not silent, by counted nonces'),
    provenHashesPerSecond: rate.describe('the same, by verified candidates'),
    found: count.describe('solutions of all rigs, each since its start: the sum of the next five'),
    accepted: verdicts,
    rejected: verdicts,
    stale: verdicts,
    unknown: verdicts,
    pending: count.describe('those without an outcome at the last report'),
    repeats: ExpectedRepeats.nullable().describe('once the work of the rigs is known'),
    coordinators: z.array(FleetCoordinator).describe('by name'),
    rigs: z.array(FleetRig).describe('by name'),
    ignored: z
      .object(Object.fromEntries(IGNORED.map((reason) => [reason, count])) as Record<Ignored, typeof count>)
      .describe('ignored messages; the last for want of room for another member'),
  })
  .meta({ id: 'FleetStatus', description: 'a fleet as an operator sees it' });
export type FleetStatus = Readonly<z.infer<typeof FleetStatus>>;
