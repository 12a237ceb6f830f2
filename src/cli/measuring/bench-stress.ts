/** `pickaxe bench --stress`: keeps all devices busy, and checks each of their answers. */

import type { Logger } from 'pino';
import { chooseEngines, type DeviceSettings } from '../../app/composition/choose-engines.ts';
import { EXIT } from '../../app/process/exit.ts';
import { onSignals } from '../../app/process/signals.ts';
import { systemClock } from '../../base/system/clock.ts';
import { thisMachine } from '../../base/system/machine.ts';
import { jsonText } from '../../base/text/plain-text.ts';
import type { DeviceError } from '../../miner/engine/engine.ts';
import {
  BENCH_FORMAT_VERSION,
  type Sample,
  type StressDevice,
  type StressResult,
  spreadOf,
} from '../../rig/bench/bench-result.ts';
import { type StressStats, stressDevice, stressDevices } from '../../rig/bench/stress.ts';
import { formatHashrate } from '../../rig/status/units.ts';
import { progressTo } from '../../rig/terminal/log.ts';
import type { Io } from '../io.ts';
import { formatRate, headingOf, row, sensorRows, warnOfHiddenPower } from './bench-report.ts';

const SECONDS = 60;
/**
 * Number of samples of each device in a run of 10 minutes to 2 hours. Shorter runs have fewer samples, and longer runs
 * have one sample a minute. A line of the log is written for each sample.
 */
const SAMPLES = 120;
const LEAST_SAMPLES = 5;
const USUAL_SAMPLE_MS = 5_000;
const LONGEST_SAMPLE_MS = 60_000;

interface StressOptions {
  readonly seed: string;
  /** Number of nonces of each round. */
  readonly count?: number;
  readonly seconds?: number;
  readonly json: boolean;
}

export async function runStress(config: DeviceSettings, log: Logger, options: StressOptions, io: Io): Promise<number> {
  const { seed, count, seconds = SECONDS, json } = options;
  const date = new Date().toISOString();
  const faults = new Map<string, DeviceError>();
  const stop = new AbortController();
  const release = onSignals(() => {
    log.info({ tag: 'bench' }, 'stopping; repeat to exit at once');
    stop.abort();
  });
  const engines = await chooseEngines(config, log);
  const all = await stressDevices(engines, {
    seed,
    count,
    seconds,
    stop: stop.signal,
    clock: systemClock,
    sampleMs: sampleMsOf(1000 * seconds),
    listener: (engine) => progressTo(log, engine.name),
    failed: ({ name: tag }, fault) => {
      faults.set(tag, fault);
      log.error({ tag }, fault.message);
    },
    onSample: (stats, sample) => log.info({ tag: stats.engine.name }, sampleLine(stats, sample)),
    onError: ({ name: tag }, errors) => log.error({ tag }, errors.join('; ')),
  });
  release();
  const devices = all.map((stats) => stressDevice(stats, faults.get(stats.engine.name)));
  await warnOfHiddenPower(devices, log);
  const opened = new Set(all.map(({ engine }) => engine.name));
  const failed = [...faults]
    .filter(([name]) => !opened.has(name))
    .map(([name, { fault, message }]) => ({ name, fault, reason: message }));
  const result: StressResult = {
    type: 'stress',
    formatVersion: BENCH_FORMAT_VERSION,
    date,
    machine: thisMachine(),
    seed,
    count: count ?? null,
    durationSeconds: seconds,
    devices,
    failed,
  };
  if (json) io.out(`${jsonText(result)}\n`);
  else io.out([...devices.flatMap(deviceLines), ...failed.map(failedLine)].join(''));

  const wrong = failed.some(({ fault }) => fault === 'wrong-hashes') || devices.some(({ errors }) => errors.length > 0);
  if (wrong) return EXIT.wrongHashes;
  return devices.length > 0 ? EXIT.done : EXIT.noDevice;
}

function sampleMsOf(ms: number): number {
  const often = Math.min(USUAL_SAMPLE_MS, ms / LEAST_SAMPLES);
  return Math.max(often, Math.min(LONGEST_SAMPLE_MS, ms / SAMPLES));
}

/** @returns a text like `121.4 MH/s, 61 °C, 200 W; candidates: 69632 verified, 0 wrong, 0 missed` */
function sampleLine({ verified, wrong, missed }: StressStats, sample: Sample): string {
  const { hashesPerSecond, temperatureCelsius, powerWatts } = sample;
  const known = [
    formatHashrate(hashesPerSecond),
    ...(temperatureCelsius === null ? [] : [`${temperatureCelsius.toFixed(0)} °C`]),
    ...(powerWatts === null ? [] : [`${powerWatts.toFixed(0)} W`]),
  ];
  return `${known.join(', ')}; candidates: ${verified} verified, ${wrong} wrong, ${missed} missed`;
}

function deviceLines(device: StressDevice): string[] {
  const { hashesPerSecond, spread, rounds, candidates, errors, samples } = device;
  const { min, max } = spreadOf(samples.map((sample) => sample.hashesPerSecond));
  const { found, wrong, missed } = candidates;
  return [
    headingOf(device),
    row('hashrate', `${formatRate(hashesPerSecond, spread)} (${formatHashrate(min)} to ${formatHashrate(max)})`),
    ...sensorRows(device),
    row('rounds', rounds > 0 ? `${rounds}` : 'none was complete, so missed candidates are not known'),
    row('candidates', `${found} verified, ${wrong} wrong, ${missed} missed`),
    ...errors.map((error) => row('ERROR', error)),
    ...(errors.length === 0 ? [row('errors', 'none')] : []),
  ];
}

function failedLine({ name, reason }: { name: string; reason: string }): string {
  return `${name.padEnd(6)} not used: ${reason}\n`;
}
