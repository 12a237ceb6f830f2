/** Makes notices of some events, for hooks and webhooks. Each notice contains a line for people. */

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

/** Maximum length of a text in a notice. A text can come from a driver or a node, so it could be long. */
const MAX_TEXT = 500;

/**
 * Sends the notice `start` at once, and later a notice for each event that has one.
 * @returns a function to call when mining has ended. It sends the notice `stop`
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
    // A lost device is reported once, even if reopening it fails repeatedly. When it is parked, it is reported again.
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

/**
 * @returns one notice if the block's state has changed to `won`, `settled`, `orphaned`, `never-entered` or `lost`;
 *   otherwise none
 */
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

/**
 * @returns a text as one line of at most `MAX_TEXT` characters without control characters; any other value unchanged
 */
function harmless<Value>(value: Value): Value | string {
  return typeof value === 'string' ? oneLine(value, MAX_TEXT) : value;
}

/* The shapes of the notices. */

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

/** The minimum hashrate of one device or, if `device` is absent, of the whole rig. */
export interface LeastRate {
  readonly device?: string;
  /** The minimum in H/s. */
  readonly limit: number;
}

/** Time between two checks of hashrates. These are averages over half a minute, so they change slowly. */
const LOOK_MS = 5_000;
/**
 * Maximum time after which a sufficient hashrate clears the alarm: twice the time over which hashrates are averaged.
 */
const CLEAR_MS = 60_000;

/**
 * The alarm of one hashrate. It is raised when the rate has been below the limit for `afterMs` without a break. It is
 * cleared when the rate has been at or above the limit for `CLEAR_MS`, or for `afterMs` if `afterMs` is shorter.
 */
export class LowRate {
  readonly #limit: number;
  readonly #afterMs: number;
  #raised = false;
  /**
   * Time since which the rate has called for the other state of the alarm, in ms of the clock's `monotonicMs`: below
   * the limit if the alarm is not raised, at or above the limit if it is raised. Undefined if the state fits the rate,
   * or if there was no rate to compare with the limit.
   */
  #sinceMs: number | undefined;

  constructor(limit: number, afterMs: number) {
    this.#limit = limit;
    this.#afterMs = afterMs;
  }

  /**
   * @param rate hashrate in H/s; undefined if there is none to compare with the limit
   * @param nowMs ms of the clock's `monotonicMs`
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
 * @param device name of a device; undefined for the whole rig. A device that does not exist has the hashrate 0
 * @param lacksWork whether a source or work is missing
 * @returns the hashrate in H/s; undefined if a low hashrate would be no fault: while a source or work is missing, while
 *   the devices are paused, and on a rig that has only relays
 */
function rateOf(device: string | undefined, status: RigStatus, lacksWork: boolean): number | undefined {
  if (livesOnRelays(status)) return undefined;
  const watched = Object.entries(status.devices).filter(([name]) => device === undefined || name === device);
  const devices = watched.map(([, each]) => each);
  if (lacksWork || arePaused(devices)) return undefined;
  return devices.reduce((sum, { hashesPerSecond }) => sum + hashesPerSecond, 0);
}

/** Checks the hashrates repeatedly, and emits `alarm` events. @returns a function that ends the checks */
export function watchHashrate(
  least: readonly LeastRate[],
  afterMs: number,
  { events, tally, clock }: Pick<RunningMiner, 'events' | 'tally' | 'clock'>,
): () => void {
  const watches = least.map(({ device, limit }) => ({ device, limit, low: new LowRate(limit, afterMs) }));
  const timer = clock.setInterval(() => {
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
  return () => timer.cancel();
}
