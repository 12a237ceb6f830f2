/** The notices that hooks and webhooks get, sent as they are. */

import { z } from 'zod';
import { DEVICE_FAULTS } from '../engine/device.ts';
import { DEVICE_STATES } from '../events/vocabulary.ts';
import {
  acceptedBlock,
  amount,
  blockState,
  coins,
  count,
  deviceKind,
  millis,
  nonce,
  outcomeCounts,
  paidTo,
  rate,
} from '../report/shapes.ts';

const device = z.string();

function notice<Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  return z.object({
    type: z.literal(type),
    timeMillis: millis,
    rig: z.string().meta({ description: 'the rig’s name' }),
    text: z.string().meta({ description: 'one line for people' }),
    ...fields,
  });
}

const alarm = {
  device: device.exactOptional().meta({ description: 'absent where it is the whole rig’s hashrate' }),
  hashesPerSecond: rate,
  limitHashesPerSecond: rate,
};

export const Notice = z.discriminatedUnion('type', [
  notice('start', {}),
  notice('stop', {
    ...outcomeCounts,
    acceptedShares: count,
    rejectedShares: count,
    hardwareErrors: count,
    hashes: amount,
    uptimeSeconds: z.number(),
    averageHashesPerSecond: rate,
  }),
  notice('block', {
    device: device.meta({ description: 'what found it: a device, or a relay that brought it' }),
    isRelay: z.boolean(),
    chain: count,
    height: count,
    nonce,
    answerSeconds: z.number(),
  }),
  notice('block-state', {
    ...acceptedBlock,
    state: blockState.extract(['won', 'settled', 'orphaned', 'never-entered', 'lost']),
    previous: blockState,
    depth: count,
    reward: coins.exactOptional(),
    fees: coins.exactOptional(),
    paidTo: paidTo.exactOptional(),
  }),
  notice('block-reward', {
    ...acceptedBlock,
    reward: coins.exactOptional(),
    fees: coins.exactOptional(),
    fault: z.string().exactOptional().meta({ description: 'what a node says of the reward and is false' }),
    paidTo: paidTo.exactOptional(),
    account: z.string().exactOptional().meta({ description: 'whom the block was mined for; with paidTo' }),
    source: z.string().exactOptional().meta({ description: 'the node that gave the work; with paidTo' }),
    isEarlier: z.literal(true).exactOptional(),
  }),
  notice('device-lost', {
    device,
    kind: deviceKind,
    state: z.enum(DEVICE_STATES).extract(['reopening', 'parked']),
    reason: z.string(),
    fault: z.enum(DEVICE_FAULTS),
  }),
  notice('low-hashrate', alarm),
  notice('hashrate-ok', alarm),
]);
export type Notice = Readonly<z.infer<typeof Notice>>;
export type NoticeType = Notice['type'];

export const NOTICES: readonly NoticeType[] = Notice.options.map(({ shape }) => shape.type.value);
