/** Makes notices for hooks and webhooks from some of the miner's events, each with a line for people. */

import { z } from 'zod';
import { wallMs } from '../../base/system/clock.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import type { MinerEvent } from '../../miner/events/events.ts';
import { type AlarmState, DEVICE_STATES } from '../../miner/events/vocabulary.ts';
import { describeBlockReward, describeBlockState } from '../log/verdict-lines.ts';
import type { RunningMiner } from '../running-miner.ts';
import { countsShares, livesOnRelays } from '../status/figures.ts';
import { arePaused } from '../status/rig-state.ts';
import {
  acceptedBlock,
  amount,
  blockState,
  count,
  deviceFault,
  deviceKind,
  millis,
  nonce,
  outcomeCounts,
  paidTo,
  provenCoins,
  rate,
} from '../status/shapes.ts';
import type { RigStatus } from '../status/status.ts';
import type { Tally } from '../status/tally.ts';
import { formatDuration, formatHashrate } from '../status/units.ts';

type Frame = 'timeMillis' | 'rig';
type Content = Notice extends infer Each ? (Each extends Notice ? Omit<Each, Frame> : never) : never;

/** Maximum length of a text, which can come from a driver or a node. */
const MAX_TEXT = 500;

/**
 * Sends the notice of the start at once. @returns a function to call at the end, which sends the notice of the stop
 */
export function sendNotices(
  { rigName, events, tally, clock }: Pick<RunningMiner, 'rigName' | 'events' | 'tally' | 'clock'>,
  send: (notice: Notice) => void,
): () => void {
  const notify = ({ type, ...fields }: Content) => {
    const notice = { type, timeMillis: wallMs(clock), rig: rigName, ...fields };
    const clean = Object.entries(notice).map(([name, value]) => [name, harmless(value)]);
    send(Object.fromEntries(clean) as Notice);
  };
  const lost = new Set<string>();
  const unsubscribe = events.on((event) => {
    if (event.type === 'verdict' && event.outcome === 'accepted' && event.isBlock) notify(block(event));
    if (event.type === 'block-state') for (const notice of contentsOfBlock(event)) notify(notice);
    if (event.type === 'block-reward') notify(blockReward(event));
    if (event.type === 'alarm') notify(contentOfAlarm(event));
    if (event.type !== 'device') return;
    const { device, state } = event;
    if (state !== 'reopening' && state !== 'parked') {
      lost.delete(device);
      return;
    }
    // A device is reported once when it is lost, even if reopening it fails again and again, and once when it is
    // parked.
    if (state === 'parked' || !lost.has(device)) notify(deviceLost(event, state));
    lost.add(device);
  });
  notify({ type: 'start', text: 'pickaxe has started' });
  return () => {
    unsubscribe();
    notify(stop(tally));
  };
}

function block({ device, isRelay, chain, height, nonce, answerSeconds }: MinerEvent & { type: 'verdict' }): Content {
  const finder = isRelay ? `brought by the relay ${device}` : `found by ${device}`;
  const text = `block accepted: chain ${chain} height ${height}, ${finder}`;
  return {
    type: 'block',
    text,
    device,
    isRelay,
    chain,
    height: Number(height),
    nonce: nonce.toString(),
    answerSeconds,
  };
}

/** Undecided states and repeated ones are not reported. */
function contentsOfBlock(event: MinerEvent & { type: 'block-state' }): Content[] {
  const { chain, height, blockHash, device, isRelay, state, previous, depth, reward, fees, paidTo } = event;
  if (state === 'pending' || state === 'contested' || state === 'unknown' || state === 'unanswered') return [];
  if (previous === undefined || previous === state) return [];
  const amounts = {
    ...(reward !== undefined && { reward }),
    ...(fees !== undefined && { fees }),
    ...(paidTo !== undefined && { paidTo }),
  };
  const block = { chain, height: Number(height), blockHash, device, isRelay };
  return [
    { type: 'block-state', text: `block ${describeBlockState(event)}`, ...block, state, previous, depth, ...amounts },
  ];
}

function blockReward(event: MinerEvent & { type: 'block-reward' }): Content {
  return { ...event, text: `block ${describeBlockReward(event)}`, height: Number(event.height) };
}

function deviceLost(
  { device, kind, reason = '', fault = 'lost' }: MinerEvent & { type: 'device' },
  state: 'reopening' | 'parked',
): Content {
  const text = `${device} is out of service (${state}): ${reason}`;
  return { type: 'device-lost', text, device, kind, state, reason, fault };
}

function contentOfAlarm({
  state,
  device,
  hashesPerSecond,
  limitHashesPerSecond,
}: MinerEvent & { type: 'alarm' }): Content {
  const isLow = state === 'raised';
  const [rate, limit] = [formatHashrate(hashesPerSecond), formatHashrate(limitHashesPerSecond)];
  const text = `${isLow ? 'low hashrate' : 'hashrate is back'}: ${device ?? 'the rig'} makes ${rate} (limit ${limit})`;
  const about = { ...(device !== undefined && { device }), hashesPerSecond, limitHashesPerSecond };
  return { type: isLow ? 'low-hashrate' : 'hashrate-ok', text, ...about };
}

function stop(tally: Tally): Content {
  const summary = tally.summary();
  const { accepted, rejected, stale, unknown, delivered, shares, hardwareErrors, hashes } = summary;
  const { uptimeSeconds, averageHashesPerSecond } = summary;
  const verdicts = countsShares(null, shares)
    ? `shares accepted ${shares.accepted}, blocks accepted ${accepted}`
    : `${accepted} accepted`;
  const [duration, average] = [formatDuration(uptimeSeconds), formatHashrate(averageHashesPerSecond)];
  return {
    type: 'stop',
    text: `pickaxe has stopped after ${duration}: ${verdicts}, ${average}`,
    accepted,
    rejected,
    stale,
    unknown,
    delivered,
    acceptedShares: shares.accepted,
    rejectedShares: shares.rejected,
    hardwareErrors,
    hashes,
    uptimeSeconds,
    averageHashesPerSecond,
  };
}

/** @returns a text as one line of bounded length without control characters; any other value as it is */
function harmless<Value>(value: Value): Value | string {
  return typeof value === 'string' ? oneLine(value, MAX_TEXT) : value;
}

/* The notices as they are sent. */

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

const ALARM = {
  device: device.exactOptional().meta({ description: 'absent where it is the whole rig’s hashrate' }),
  hashesPerSecond: rate,
  limitHashesPerSecond: rate,
};

export const Notice = z.discriminatedUnion('type', [
  notice('start', {}),
  notice('stop', {
    ...outcomeCounts('blocks by outcome'),
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
    reward: provenCoins.exactOptional(),
    fees: provenCoins.exactOptional(),
    paidTo: paidTo.exactOptional(),
  }),
  notice('block-reward', {
    ...acceptedBlock,
    reward: provenCoins.exactOptional(),
    fees: provenCoins.exactOptional(),
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
    fault: deviceFault,
  }),
  notice('low-hashrate', ALARM),
  notice('hashrate-ok', ALARM),
]);
export type Notice = Readonly<z.infer<typeof Notice>>;
export type NoticeType = Notice['type'];

export const NOTICES: readonly NoticeType[] = Notice.options.map(({ shape }) => shape.type.value);

/* The alarm of a low hashrate. */

/** The minimum hashrate of a device or, without a device, of the whole rig. */
export interface LeastRate {
  readonly device?: string;
  /** H/s */
  readonly limit: number;
}

/** Time between checks. Hashrates are averages over half a minute, so more frequent checks would show little more. */
const LOOK_MS = 5_000;
/** Time after which a sufficient hashrate clears the alarm: twice the time over which rates are averaged. */
const CLEAR_MS = 60_000;

/**
 * Raises the alarm when the rate has been below the limit for `afterMs` without a break, and clears it after a minute
 * (or after `afterMs`, if that is shorter) at or above the limit.
 */
export class LowRate {
  readonly #limit: number;
  readonly #afterMs: number;
  #raised = false;
  /** Time since which the rate has contradicted the state of the alarm. */
  #sinceMs: number | undefined;

  constructor(limit: number, afterMs: number) {
    this.#limit = limit;
    this.#afterMs = afterMs;
  }

  /**
   * @param rate H/s; undefined when there is nothing to compare
   * @returns the new state of the alarm; undefined when the state has not changed
   */
  observe(rate: number | undefined, nowMs: number): AlarmState | undefined {
    if (rate === undefined || rate < this.#limit === this.#raised) {
      this.#sinceMs = undefined;
      return undefined;
    }
    this.#sinceMs ??= nowMs;
    const waitMs = this.#raised ? Math.min(CLEAR_MS, this.#afterMs) : this.#afterMs;
    if (nowMs - this.#sinceMs < waitMs) return undefined;
    this.#sinceMs = undefined;
    this.#raised = !this.#raised;
    return this.#raised ? 'raised' : 'cleared';
  }
}

/**
 * @param device a device's name; undefined for the whole rig. A device that does not exist has a rate of 0
 * @returns H/s; undefined while there is nothing to compare: without a source or work, while the devices are paused, or
 * on a rig without devices that only relays work
 */
function rateOf(device: string | undefined, status: RigStatus, lacksWork: boolean): number | undefined {
  if (livesOnRelays(status)) return undefined;
  const watched = Object.entries(status.devices).filter(([name]) => device === undefined || name === device);
  const devices = watched.map(([, each]) => each);
  if (lacksWork || arePaused(devices)) return undefined;
  return devices.reduce((sum, { hashesPerSecond }) => sum + hashesPerSecond, 0);
}

/** @returns a function that ends the watch */
export function watchHashrate(
  least: readonly LeastRate[],
  afterMs: number,
  { events, tally, clock }: Pick<RunningMiner, 'events' | 'tally' | 'clock'>,
): () => void {
  const watches = least.map(({ device, limit }) => ({ device, limit, low: new LowRate(limit, afterMs) }));
  const timer = setInterval(() => {
    const status = tally.status();
    const { lacksWork } = tally;
    for (const { device, limit, low } of watches) {
      const hashesPerSecond = rateOf(device, status, lacksWork);
      const state = low.observe(hashesPerSecond, clock.monotonicMs());
      if (!state || hashesPerSecond === undefined) continue;
      const about = { state, ...(device && { device }), hashesPerSecond, limitHashesPerSecond: limit };
      events.emit({ type: 'alarm', alarm: 'low-hashrate', ...about });
    }
  }, LOOK_MS);
  return () => clearInterval(timer);
}
