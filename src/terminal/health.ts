/** Key `e`: how each device is doing. */

import type { DeviceNow, DeviceSummary } from '../report/device-stats.ts';
import { formatTelemetry } from '../report/units.ts';
import { oneLine } from '../text/one-line.ts';
import type { View } from './view.ts';

export function health({ now, summary }: View): string[] {
  if (now.devices.size === 0) return ['no device has been opened yet'];
  return [...now.devices].flatMap(([name, device]) => lines(name, device, summary.devices[name]));
}

function lines(name: string, device: DeviceNow, summary: DeviceSummary | undefined): string[] {
  const { state, reason, description, telemetry, hashesPerJoule: efficiency } = device;
  const faults = summary && `${count(summary.reopens, 'failure')}, ${count(summary.hardwareErrors, 'hardware error')}`;
  const sensors = formatTelemetry(telemetry, efficiency);
  const facts = [state, faults, sensors].filter(Boolean).join(', ');
  return [
    `${name.padEnd(6)} ${facts}`,
    ...(reason === undefined ? [] : [`       ${oneLine(reason)}`]),
    ...(description === '' ? [] : [`       ${oneLine(description)}`]),
  ];
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}
