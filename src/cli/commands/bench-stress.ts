/** `pickaxe bench --stress`: all devices under load, each answer checked. */

import type { Logger } from 'pino';
import { chooseEngines, type DeviceSettings } from '../../app/choose-engines.ts';
import { EXIT } from '../../app/exit-codes.ts';
import { onSignals } from '../../app/run-miner.ts';
import { stressDevices } from '../../bench/stress.ts';
import type { Sample, StressStats } from '../../bench/stress-stats.ts';
import type { DeviceError } from '../../engine/engine.ts';
import { formatHashrate, formatPercent, formatTelemetry } from '../../report/units.ts';
import { systemClock } from '../../system/clock.ts';
import { thisMachine } from '../../system/machine.ts';
import { progressTo } from '../../terminal/log.ts';
import { headingOf, row, sensorRow } from '../bench-table.ts';
import type { BenchOptions } from './bench-options.ts';

/** Another one when fields change their meaning. */
const STRESS_FORMAT = 'pickaxe stress 1';

const SECONDS = 60;
/** Between samples of each device, and log lines: a long run has this many, a short one a few. */
const SAMPLES = 120;
const LEAST_SAMPLES = 5;
const USUAL_SAMPLE_MS = 5_000;
const LONGEST_SAMPLE_MS = 60_000;

/** @returns the exit code */
export async function runStress(config: DeviceSettings, log: Logger, options: BenchOptions): Promise<number> {
  const { seed, count, seconds = SECONDS, json } = options;
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
  const results = all.map((stats) => resultOf(stats, faults.get(stats.engine.name)));
  const opened = new Set(all.map(({ engine }) => engine.name));
  const failed = [...faults]
    .filter(([name]) => !opened.has(name))
    .map(([name, { fault, message }]) => ({ name, fault, reason: message }));
  const machine = thisMachine();
  const asked = { seed, ...(count !== undefined && { count }), seconds };
  const result = { format: STRESS_FORMAT, machine, ...asked, devices: results, failed };
  if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else process.stdout.write([...results.flatMap(deviceLines), ...failed.map(failedLine)].join(''));

  const wrong = failed.some(({ fault }) => fault === 'wrong hashes') || results.some(({ errors }) => errors.length > 0);
  if (wrong) return EXIT.wrongHashes;
  return results.length > 0 ? EXIT.done : EXIT.noDevice;
}

function sampleMsOf(ms: number): number {
  const often = Math.min(USUAL_SAMPLE_MS, ms / LEAST_SAMPLES);
  return Math.max(often, Math.min(LONGEST_SAMPLE_MS, ms / SAMPLES));
}

function resultOf(stats: StressStats, fault: DeviceError | undefined) {
  const { engine, info, hashrate, readings, rounds, verified: found, wrong, missed, samples } = stats;
  const { model, kernel, threads } = info;
  const { powerW } = readings;
  return {
    name: engine.name,
    kind: engine.kind,
    model,
    kernel,
    ...(threads !== undefined && { threads }),
    hashrate,
    ...readings,
    ...(powerW !== undefined && { hashes_per_joule: hashrate.mean / powerW }),
    rounds,
    candidates: { found, wrong, missed },
    errors: [...stats.errors, ...(fault ? [`it failed: ${fault.message}`] : [])],
    samples,
  };
}

/** `121.4 MH/s, 61 °C; candidates: 69632 verified, 0 wrong, 0 missed` */
function sampleLine({ verified, wrong, missed }: StressStats, sample: Sample): string {
  const sensors = formatTelemetry(sample);
  const how = `${formatHashrate(sample.hashrate)}${sensors && `, ${sensors}`}`;
  return `${how}; candidates: ${verified} verified, ${wrong} wrong, ${missed} missed`;
}

function deviceLines(device: ReturnType<typeof resultOf>): string[] {
  const { hashrate, rounds, candidates, errors } = device;
  const { mean, min, max, cv } = hashrate;
  const { found, wrong, missed } = candidates;
  return [
    headingOf(device),
    row(
      'hashrate',
      `${formatHashrate(mean)} ± ${formatPercent(cv, 1)} (${formatHashrate(min)} to ${formatHashrate(max)})`,
    ),
    sensorRow(device),
    row('rounds', rounds > 0 ? `${rounds}` : 'none was complete: nothing is known of missed candidates'),
    row('candidates', `${found} verified, ${wrong} wrong, ${missed} missed`),
    ...errors.map((error) => row('ERROR', error)),
    ...(errors.length === 0 ? [row('errors', 'none')] : []),
  ];
}

function failedLine({ name, reason }: { name: string; reason: string }): string {
  return `${name.padEnd(6)} not used: ${reason}\n`;
}
