/** The queries, bodies and answers of a fleet's HTTP API. `FleetStatus` and its parts are in `fleet-status.ts`. */

import { z } from 'zod';
import { amount, count, millis } from '../../rig/status/shapes.ts';
import { ControlAnswer, ControlRequest, memberName } from '../messages.ts';
import { FleetRig, FleetStatus } from './fleet-status.ts';

/** Maximum number of rigs that one control request can name: as many as `Roster` keeps. */
const MOST_NAMED_RIGS = 20_000;

/**
 * A rig in a list. It has sums instead of devices: the devices are the largest part of a `FleetRig`, but are shown only
 * for one rig at a time.
 */
export const RigSummary = z
  .strictObject({
    ...FleetRig.omit({
      devices: true,
      uptimeSeconds: true,
      hashes: true,
      found: true,
      unknown: true,
      hardwareErrors: true,
    }).shape,
    faulty: z.boolean().describe('as in `rigsFaulty`'),
    deviceCount: count,
    failedDeviceCount: count.describe('those parked or reopening'),
    celsius: FleetRig.shape.devices.element.shape.celsius.describe('of the hottest device'),
    watts: amount.nullable().describe('the sum of the devices that have a sensor'),
    faults: count.describe('wrong hashes, and failures after which a device was reopened'),
    models: z.array(z.string()).describe('of its devices, each once'),
  })
  .meta({ id: 'RigSummary', description: 'a rig without its devices' });
export type RigSummary = Readonly<z.infer<typeof RigSummary>>;

export const FleetChanges = z
  .object({
    version: z.string(),
    control: z.boolean().describe('whether requests can control rigs'),
    mark: z.string().describe('to be sent as `since` with the next request'),
    whole: z.boolean().describe('whether `rigs` are all rigs, and not only those that have changed'),
    ...FleetStatus.omit({ rigs: true }).shape,
    rigs: z.array(RigSummary).describe('those that have changed; of the others, only `ageSeconds` has'),
    goneRigs: z.array(memberName).describe('those no longer listed'),
  })
  .meta({ id: 'FleetChanges', description: 'what has changed in a fleet' });
export type FleetChanges = Readonly<z.infer<typeof FleetChanges>>;

export const FleetChangesQuery = z.strictObject({
  since: z
    .string()
    .regex(/^[\da-f]{16}-\d{1,15}$/, 'the mark of an earlier answer')
    .optional()
    .describe('the mark of an earlier answer; without it, or if that is too old, all rigs are answered'),
});

export type FleetChangesQuery = z.infer<typeof FleetChangesQuery>;

export const FleetRigQuery = z.strictObject({ name: memberName });
export type FleetRigQuery = z.infer<typeof FleetRigQuery>;

/** A selection of rigs by conditions. A rig must meet every condition that is given. */
export const RigSelection = z
  .strictObject({
    names: z.array(memberName).min(1).max(MOST_NAMED_RIGS).exactOptional(),
    group: memberName.exactOptional(),
    pattern: memberName.exactOptional().describe('of names: `*` stands for any characters, `?` for one'),
  })
  .refine((each) => Object.keys(each).length > 0, 'give names, a group or a pattern; the pattern * means every rig')
  .describe('the rigs that meet every condition given');
export type RigSelection = z.infer<typeof RigSelection>;

export const FleetControlBody = z
  .strictObject({
    request: ControlRequest,
    rigs: RigSelection,
  })
  .meta({ id: 'FleetControlBody' });
export type FleetControlBody = z.infer<typeof FleetControlBody>;

export const FleetControlAnswer = z
  .object({
    done: count.describe('how many rigs did it'),
    failed: count.describe('how many did not'),
    rigs: z.array(z.object({ name: memberName, ...ControlAnswer.shape })).describe('by name'),
  })
  .meta({ id: 'FleetControlAnswer' });
export type FleetControlAnswer = Readonly<z.infer<typeof FleetControlAnswer>>;

export const TimedControlAnswer = z
  .object({
    askedMillis: millis.describe('when the rigs were asked: earlier reports do not know of it'),
    ...FleetControlAnswer.shape,
  })
  .meta({ id: 'TimedControlAnswer', description: 'the rigs’ answers to a request' });
export type TimedControlAnswer = Readonly<z.infer<typeof TimedControlAnswer>>;

export const FleetHealth = z.object({ status: z.literal('ok') }).meta({ id: 'FleetHealth' });
export const FleetReadiness = z
  .object({ ready: z.boolean(), reasons: z.array(z.literal('disconnected')) })
  .meta({ id: 'FleetReadiness' });

export const FleetMetricsQuery = z.strictObject({
  rigs: z.enum(['sums', 'each']).default('sums').describe('`each` adds metrics of every rig'),
});
