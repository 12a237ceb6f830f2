/** Key `h`: the hashrate of each device, counted and proven. */

import type { DeviceSummary } from '../report/device-stats.ts';
import { isDoubtful } from '../report/proven.ts';
import type { RigNow } from '../report/rig-now.ts';
import { formatDuration, formatHashrate, formatInterval } from '../report/units.ts';
import type { View } from './view.ts';

/** A device that works finds hundreds of verified candidates in this time. */
const SILENT_SECONDS = 120;

export function hashrates({ now, summary }: View): string[] {
  const { devices } = now;
  const width = Math.max(3, ...[...devices.keys()].map((name) => name.length));
  const row = (name: string, cells: readonly string[]) =>
    `${name.padEnd(width)}${cells.map((cell) => cell.padStart(13)).join('')}`;
  return [
    row('', ['10 s', '60 s', '15 min', 'highest']),
    ...[...devices].map(([name, device]) => row(name, cells(device))),
    ...(devices.size > 1 ? [row('all', cells(now))] : []),
    `over the whole run, ${formatDuration(summary.uptimeSeconds)}; verified candidates prove it:`,
    ...Object.keys(summary.devices).map((name) => {
      const hashingSeconds = devices.get(name)?.hashingSeconds ?? 0;
      return `${name.padEnd(width)} ${proven(summary.devices[name], summary.uptimeSeconds, hashingSeconds)}`;
    }),
  ];
}

type Rates = Pick<RigNow, 'hashesPerSecondByWindow' | 'highestHashesPerSecond'>;

function cells({ hashesPerSecondByWindow: windows, highestHashesPerSecond: highest }: Rates): string[] {
  return [windows.last10s, windows.last60s, windows.last15m, highest].map((rate) =>
    rate === null ? '-' : formatHashrate(rate),
  );
}

function proven({ hashes, proven }: DeviceSummary, seconds: number, hashingSeconds: number): string {
  const counted = `counted ${formatHashrate(hashes / seconds)}`;
  if (!proven) {
    const warning = hashingSeconds > SILENT_SECONDS ? ': IT PROVES NOTHING of what it counts' : '';
    return `nothing yet; ${counted}${warning}`;
  }
  const rate = formatInterval(proven.hashes / seconds, proven.low / seconds, proven.high / seconds);
  const more = hashes > proven.hashes ? 'MORE' : 'LESS';
  return `proven ${rate}; ${counted}${isDoubtful(hashes, proven) ? `: ${more} THAN IT PROVES` : ''}`;
}
