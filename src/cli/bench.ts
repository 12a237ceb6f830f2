/** `pickaxe bench`: the hashrate of each device, and a sum that proves its work; offline. */

import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import { chooseEngines } from '../app/choose-engines.ts';
import { EXIT, UsageError } from '../app/exit.ts';
import { type Challenge, DEFAULT_COUNT, makeChallenge } from '../bench/challenge.ts';
import { MOST_SECONDS, measureDevices, WARM_UP_MS } from '../bench/measure.ts';
import { BENCH_FORMAT_VERSION, type BenchResult, type FailedDevice } from '../bench/result.ts';
import type { Loaded } from '../config/load.ts';
import type { Config } from '../config/settings.ts';
import { systemClock } from '../system/clock.ts';
import { thisMachine } from '../system/machine.ts';
import { makeLog, progressTo } from '../terminal/log.ts';
import { jsonText } from '../text/plain-text.ts';
import { BENCH_TIME_SAYS, type BenchOptions } from './bench-options.ts';
import { benchProgress } from './bench-progress.ts';
import { benchCsv, benchLines, resultLine, tellHiddenPower } from './bench-report.ts';

/** Enough slices for their spread to mean something. */
const SECONDS = 10;

/** @returns the exit code */
export async function runBench({ config, origins }: Loaded, options: BenchOptions): Promise<number> {
  const { tune, stress, seed, count = DEFAULT_COUNT, json, csv, seconds = SECONDS } = options;
  refuseContradictions(options);
  if (config.devices.use.length === 0) {
    const where = origins.get('devices.use')?.where;
    throw new UsageError(
      `Without devices there is nothing to measure (${where}: none). Name some: --devices cpu,gpu0.`,
    );
  }
  const log = makeLog(config.log.level, config.log.format);
  if (tune) {
    // A file may name the kernel to mine with. Tuning finds out whether another one is faster.
    if (origins.get('cpu.kernel')?.layer === 'flag') {
      throw new UsageError('--tune measures every CPU kernel: omit --kernel.');
    }
    return (await import('./tune.ts')).runTune(config, log, json);
  }
  const challenge = challengeOf(seed, count);
  if (stress) return (await import('./bench-stress.ts')).runStress(config, log, options);
  if (seconds > MOST_SECONDS) throw new UsageError(`--seconds is too long. ${BENCH_TIME_SAYS}`);
  const result = withLines(await measure(config, log, { ...options, seconds, challenge }));
  const { devices, failed } = result;
  process.stdout.write(json ? `${jsonText(result)}\n` : csv ? benchCsv(result) : benchLines(result).join(''));
  const wrong = devices.some(({ runs }) => runs.some(({ errors }) => errors.length > 0));
  if (wrong || failed.some(({ fault }) => fault === 'wrong-hashes')) return EXIT.wrongHashes;
  return devices.length > 0 ? EXIT.done : EXIT.noDevice;
}

/** Adds to each device the line to paste. */
function withLines(result: BenchResult): BenchResult {
  const devices = result.devices.map((device) => {
    const line = resultLine(result, device);
    return line === undefined ? device : { ...device, line };
  });
  return { ...result, devices };
}

/** @throws UsageError when options contradict each other. */
function refuseContradictions({ tune, stress, json, csv, repeat }: BenchOptions): void {
  if (tune && stress) throw new UsageError('--tune and --stress cannot be used together: give one of them.');
  if (json && csv) throw new UsageError('--json and --csv are two formats: give one of them.');
  const other = tune ? '--tune' : stress ? '--stress' : undefined;
  if (other === undefined) return;
  if (csv) throw new UsageError(`${other} has no --csv: use --json.`);
  if (repeat !== undefined) throw new UsageError(`${other} has no --repeat: omit it.`);
}

interface Measurements extends BenchOptions {
  readonly seconds: number;
  readonly challenge: Challenge;
}

async function measure(config: Config, log: Logger, measurements: Measurements): Promise<BenchResult> {
  const { challenge, seconds, repeat = 1, together } = measurements;
  const date = new Date().toISOString();
  const failed: FailedDevice[] = [];
  const engines = await chooseEngines(config, log);
  const progress = benchProgress(log, config.log.format, repeat, seconds);
  const devices = await measureDevices(engines, {
    challenge,
    warmUpMs: Math.min(WARM_UP_MS, 1000 * seconds),
    seconds,
    repeat,
    together,
    clock: systemClock,
    random: (below) => randomInt(below),
    listener: (engine) => progressTo(log, engine.name),
    onProgress: ({ name }, how) => progress.tell(name, how),
    failed: ({ name }, { fault, message: reason }) => {
      failed.push({ name, fault, reason });
      log.error({ tag: name }, reason);
    },
  }).finally(() => progress.end());
  await tellHiddenPower(devices, log);
  const { seed, count } = challenge;
  return {
    type: 'bench',
    formatVersion: BENCH_FORMAT_VERSION,
    date,
    machine: thisMachine(),
    seed,
    count,
    durationSeconds: seconds,
    repeat,
    together,
    devices,
    failed,
  };
}

/** @throws UsageError when no challenge can have this seed and count. */
function challengeOf(seed: string, count: number): Challenge {
  try {
    return makeChallenge(seed, count);
  } catch (fault) {
    if (!(fault instanceof RangeError)) throw fault;
    throw new UsageError(`${fault.message}.`);
  }
}
