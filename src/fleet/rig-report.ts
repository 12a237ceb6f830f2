/** A rig's report to the operators of its fleet: a message of at most one in ten seconds (docs/fleet.md). */

import { z } from 'zod';
import { DEVICE_STATES } from '../events/vocabulary.ts';
import { deviceKind } from '../report/shapes.ts';
import { RIG_STATES } from '../report/status.ts';
import { instance, memberName } from '../wire/fleet.ts';

/** Maximum number of devices in a report. Its sums cover all devices. */
export const MOST_DEVICES = 64;
/** Maximum length of a text, in characters: with as many devices as possible, a report has less than 60 kB. */
export const MOST_TEXT = 128;
const shortText = z.string().max(MOST_TEXT);
/** The figures are bounded, so that sums over a fleet stay exact. */
const count = z.int().min(0).max(1e11);
const amount = z.number().min(0).max(1e30);

const ReportedDevice = z.strictObject({
  name: memberName,
  kind: deviceKind,
  model: shortText.nullable(),
  state: z.enum(DEVICE_STATES),
  reason: shortText.nullable().describe('why it does not mine; null while it does'),
  hashesPerSecond: amount.describe('over half a minute, by counted nonces'),
  provenHashesPerSecond: amount.nullable().describe('by verified candidates; null while there are too few'),
  celsius: z.number().min(-300).max(10_000).nullable(),
  watts: amount.nullable(),
  hardwareErrors: count.describe('reported candidates that are wrong'),
  reopens: count.describe('how often it failed and had to be opened again'),
});
export type ReportedDevice = Readonly<z.infer<typeof ReportedDevice>>;

export const RigReport = z.strictObject({
  instance,
  version: shortText,
  group: memberName.nullable().describe('the group that the rig’s owner has put it into; null without one'),
  uptimeSeconds: amount,
  state: z.enum(RIG_STATES),
  stateReason: shortText.nullable().describe('what keeps the rig from mining; null while it mines'),
  coordinator: memberName
    .nullable()
    .describe('the coordinator whose work is mined; null without one, as for a coordinator’s own devices'),
  hashesPerSecond: amount.describe('of its devices, over half a minute, by counted nonces'),
  provenHashesPerSecond: amount.nullable().describe('by verified candidates; null while there are too few'),
  hashes: amount.describe('nonces that its devices have searched since the start'),
  found: count.describe('solutions that its devices have found since the start. Those without a verdict are pending'),
  accepted: count,
  rejected: count,
  stale: count,
  unknown: count,
  hardwareErrors: count,
  control: z.boolean().describe('whether the rig’s owner lets operators control it'),
  devices: z.array(ReportedDevice).max(MOST_DEVICES),
});
export type RigReport = Readonly<z.infer<typeof RigReport>>;
