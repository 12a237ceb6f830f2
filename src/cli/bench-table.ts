/** What `pickaxe bench` found, for people. */

import { CANDIDATES_DEVIATION, EXPECTED_CANDIDATES } from '../bench/challenge.ts';
import type { BenchResult, DeviceResult } from '../bench/result.ts';
import { formatHashrate, formatPercent, withPrefix } from '../report/units.ts';

type Sensors = Pick<DeviceResult, 'powerW' | 'temperatureC' | 'hashes_per_joule'>;
type Device = Pick<DeviceResult, 'name' | 'model' | 'kernel' | 'threads'>;

/** `cpu    AMD EPYC; avx512x2, 2 threads` */
export function headingOf({ name, model, kernel, threads }: Device): string {
  const count = threads === undefined ? '' : `, ${threads} ${threads === 1 ? 'thread' : 'threads'}`;
  return `${name.padEnd(6)} ${model}; ${kernel}${count}\n`;
}

export function row(name: string, value: string): string {
  return `  ${name.padEnd(13)} ${value}\n`;
}

/** What is known of power and temperature, as one row. */
export function sensorRow({ powerW, temperatureC, hashes_per_joule }: Sensors): string {
  const known = [
    powerW === undefined ? 'not known' : `${powerW.toFixed(0)} W`,
    hashes_per_joule !== undefined && `${withPrefix(hashes_per_joule)}H/J`,
    temperatureC !== undefined && `${temperatureC.toFixed(0)} °C at most`,
  ];
  return row('power', known.filter(Boolean).join(', '));
}

export function benchLines({ machine, seed, count, together, devices, failed }: BenchResult): string[] {
  const sums = new Set(devices.map(({ sum }) => sum));
  return [
    `pickaxe ${machine.pickaxe} on ${machine.cpu}, ${machine.os}, Node.js ${machine.node}\n`,
    together && devices.length > 1 ? 'all devices at once\n' : '',
    ...devices.flatMap(deviceLines),
    ...failed.map(({ name, reason }) => `${name.padEnd(6)} not measured: ${reason}\n`),
    devices.length > 0 ? `The hash sum is of seed “${seed}” and ${count} nonces.` : '',
    devices.length > 1 && sums.size === 1 ? ` All devices agree.` : '',
    sums.size > 1 ? ' DEVICES DISAGREE: at least one of them computes wrong hashes.' : '',
    devices.length > 0 ? '\n' : 'No device could be measured.\n',
  ];
}

function deviceLines(device: DeviceResult): string[] {
  const { hashrate, slices, sum, candidates, errors } = device;
  const { mean, median, min, max, cv } = hashrate;
  const spread = `${formatHashrate(min)} to ${formatHashrate(max)}, median ${formatHashrate(median)}`;
  const expected = `${EXPECTED_CANDIDATES} ± ${CANDIDATES_DEVIATION} expected`;
  return [
    headingOf(device),
    row('hashrate', `${formatHashrate(mean)} ± ${formatPercent(cv, 1)} (${slices.length} slices: ${spread})`),
    sensorRow(device),
    row('hash sum', `${sum} (${candidates.found} candidates found, ${expected})`),
    ...errors.map((error) => row('ERROR', error)),
  ];
}
