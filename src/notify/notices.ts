/** Notices for hooks and webhooks. They are made from a few of the miner's events, each with a line for people. */

import type { MinerEvent } from '../events/events.ts';
import type { RunningMiner } from '../report/running-miner.ts';
import type { Tally } from '../report/tally.ts';
import { formatDuration, formatHashrate } from '../report/units.ts';
import { wallMs } from '../system/clock.ts';
import { oneLine } from '../text/one-line.ts';

export const NOTICES = ['start', 'stop', 'block', 'device-lost', 'low-hashrate', 'hashrate-ok'] as const;
export type NoticeName = (typeof NOTICES)[number];

/** A notice is sent as JSON, so it has only JSON values. */
export interface Notice {
  readonly event: NoticeName;
  /** Milliseconds since the UNIX epoch. */
  readonly time: number;
  /** The rig's name. */
  readonly rig: string;
  /** One line for people. */
  readonly text: string;
  readonly [field: string]: string | number;
}

type Content = Omit<Notice, 'event' | 'time' | 'rig'> & { readonly text: string };

/** Longer texts are cut. They can come from a driver or a node. */
const MAX_TEXT = 500;

/**
 * Calls `hear` with the notice of the start at once, and with the other notices as events happen.
 * @returns a function to call at the end, which gives the notice of the stop
 */
export function tellNotices(
  { rigName, events, tally, clock }: Pick<RunningMiner, 'rigName' | 'events' | 'tally' | 'clock'>,
  hear: (notice: Notice) => void,
): () => void {
  const rig = oneLine(rigName, MAX_TEXT);
  const tell = (event: NoticeName, content: Content) => {
    const clean = Object.fromEntries(Object.entries(content).map(([name, value]) => [name, harmless(value)]));
    hear({ event, time: wallMs(clock), rig, text: '', ...clean });
  };
  const lost = new Set<string>();
  const unsubscribe = events.on((event) => {
    if (event.event === 'verdict' && event.verdict === 'accepted') tell('block', block(event));
    if (event.event === 'alarm') tell(event.state === 'raised' ? 'low-hashrate' : 'hashrate-ok', alarm(event));
    if (event.event !== 'device') return;
    const { device, state } = event;
    const out = state === 'restarting' || state === 'parked';
    // There is one notice when a device is lost, however often it is reopened, and one when it is parked.
    if (out && (state === 'parked' || !lost.has(device))) tell('device-lost', deviceLost(event));
    if (out) lost.add(device);
    else lost.delete(device);
  });
  tell('start', { text: 'pickaxe has started' });
  return () => {
    unsubscribe();
    tell('stop', stop(tally));
  };
}

function block({ device, chain, height, nonce, ms }: MinerEvent & { event: 'verdict' }): Content {
  const text = `block accepted: chain ${chain} height ${height}, found by ${device}`;
  return { text, device, chain, height: Number(height), nonce: nonce.toString(), ms };
}

function deviceLost({ device, kind, state, reason = '', fault = 'lost' }: MinerEvent & { event: 'device' }): Content {
  return { text: `${device} is out of service (${state}): ${reason}`, device, kind, state, reason, fault };
}

function alarm({ state, device, value, limit }: MinerEvent & { event: 'alarm' }): Content {
  const what = state === 'raised' ? 'low hashrate' : 'hashrate is back';
  const text = `${what}: ${device ?? 'the rig'} makes ${formatHashrate(value)} (at least ${formatHashrate(limit)})`;
  return { text, ...(device !== undefined && { device }), hashrate: value, limit };
}

function stop(tally: Tally): Content {
  const { accepted, rejected, stale, unknown, hardware_errors, hashes, seconds, hashrate } = tally.summary();
  const text = `pickaxe has stopped after ${formatDuration(seconds)}: ${accepted} accepted, ${formatHashrate(hashrate)}`;
  return { text, accepted, rejected, stale, unknown, hardware_errors, hashes, seconds, hashrate };
}

/** @returns texts as one line of bounded length without control characters; numbers as they are */
function harmless(value: string | number): string | number {
  return typeof value === 'string' ? oneLine(value, MAX_TEXT) : value;
}
