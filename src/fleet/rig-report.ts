/**
 * The report that a rig, or a coordinator with devices, publishes every ten seconds for the fleet's operators and
 * coordinators (docs/fleet.md).
 */

import { z } from 'zod';
import { deviceKind, deviceState } from '../rig/status/shapes.ts';
import { RigStatus } from '../rig/status/status.ts';
import { instance, memberName } from './messages.ts';

/** Maximum number of devices that a report lists. The sums of the report cover all devices. */
export const MOST_DEVICES = 64;
/**
 * Maximum length of a text, in UTF-16 code units. If all texts are in ASCII, the report of a rig with 64 devices has
 * less than 60 kB, which is below the maximum length of a message.
 */
export const MOST_TEXT = 128;
const shortText = z.string().max(MOST_TEXT);
/** A count. Its maximum keeps the sum over 20,000 rigs below 2^53, so that the sum is exact. */
const count = z.int().min(0).max(1e11);
const amount = z.number().min(0).max(1e30);

const proven = amount.nullable().describe('by verified candidates');

const ReportedDevice = z
  .strictObject({
    name: memberName,
    kind: deviceKind,
    model: shortText.nullable(),
    state: deviceState,
    reason: shortText.nullable().describe('why it does not mine'),
    hashesPerSecond: amount,
    provenHashesPerSecond: proven,
    celsius: z.number().min(-300).max(10_000).nullable(),
    watts: amount.nullable(),
    hardwareErrors: count,
    reopens: count,
  })
  .describe('a device of such a rig');
export type ReportedDevice = Readonly<z.infer<typeof ReportedDevice>>;

export const RigReport = z.strictObject({
  instance,
  version: shortText,
  group: memberName.nullable().describe('the one that its owner has put it into'),
  uptimeSeconds: amount,
  state: RigStatus.shape.state,
  stateReason: shortText.nullable().describe('why it does not mine'),
  coordinator: memberName.nullable().describe('whose work it mines; a coordinator names itself; null if none'),
  hashesPerSecond: amount.describe('of its devices, over half a minute, by counted nonces'),
  provenHashesPerSecond: proven,
  hashes: amount,
  found: count.describe('solutions since its start; those without an outcome are pending'),
  accepted: count,
  rejected: count,
  stale: count,
  unknown: count,
  hardwareErrors: count,
  control: z.boolean().describe('whether its owner lets operators control it'),
  devices: z.array(ReportedDevice).max(MOST_DEVICES),
});
export type RigReport = Readonly<z.infer<typeof RigReport>>;
