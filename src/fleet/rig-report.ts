/** A rig's report to the operators of its fleet: a message of at most one in ten seconds (docs/fleet.md). */

import { z } from 'zod';
import { DEVICE_STATES } from '../events/vocabulary.ts';
import { amount, count, deviceKind, rate } from '../report/shapes.ts';
import { RIG_STATES } from '../report/status.ts';
import { instance, memberName, sentence } from '../wire/fleet.ts';

/** Maximum number of devices in a report. */
const MOST_DEVICES = 64;
const shortText = z.string().max(128);

const ReportedDevice = z.strictObject({
  name: memberName,
  kind: deviceKind,
  model: shortText.nullable(),
  state: z.enum(DEVICE_STATES),
  /** Why it does not mine; null while it does. */
  reason: sentence.nullable(),
  /** Over half a minute, by counted nonces. */
  hashesPerSecond: rate,
  /** By verified candidates; null while there are too few. */
  provenHashesPerSecond: rate.nullable(),
  celsius: z.number().nullable(),
  watts: amount.nullable(),
  hardwareErrors: count,
  reopens: count,
});

export const RigReport = z.strictObject({
  instance,
  version: shortText,
  /** The group that the rig's owner has put it into; null without one. */
  group: memberName.nullable(),
  uptimeSeconds: amount,
  state: z.enum(RIG_STATES),
  stateReason: sentence.nullable(),
  /** The coordinator whose work is mined; null while there is none. */
  coordinator: memberName.nullable(),
  hashesPerSecond: rate,
  provenHashesPerSecond: rate.nullable(),
  /** Since the start. */
  hashes: amount,
  /** Counts since the start: solutions found, and their verdicts. */
  found: count,
  accepted: count,
  rejected: count,
  stale: count,
  unknown: count,
  hardwareErrors: count,
  /** Whether the rig's owner lets operators control it. */
  control: z.boolean(),
  devices: z.array(ReportedDevice).max(MOST_DEVICES),
});
export type RigReport = Readonly<z.infer<typeof RigReport>>;
