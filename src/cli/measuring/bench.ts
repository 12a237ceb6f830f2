/** `pickaxe bench`: measures each device's hashrate, and proves its work with a hash sum. It uses no network. */

import { randomInt } from 'node:crypto';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { chooseEngines } from '../../app/composition/choose-engines.ts';
import type { Loaded } from '../../app/config/load.ts';
import type { Config } from '../../app/config/settings.ts';
import { EXIT, UsageError } from '../../app/process/exit.ts';
import { systemClock } from '../../base/system/clock.ts';
import { thisMachine } from '../../base/system/machine.ts';
import { jsonText } from '../../base/text/plain-text.ts';
import { BENCH_FORMAT_VERSION, type BenchResult, type FailedDevice } from '../../rig/bench/bench-result.ts';
import { type Challenge, DEFAULT_COUNT, makeChallenge } from '../../rig/bench/challenge.ts';
import { MOST_SECONDS, measureDevices, type Progress, WARM_UP_MS } from '../../rig/bench/measure.ts';
import { formatHashrate, formatPercent } from '../../rig/status/units.ts';
import { makeLog, progressTo } from '../../rig/terminal/log.ts';
import { isForeground, screen, terminalKind } from '../../rig/terminal/screen.ts';
import type { Io, Line } from '../io.ts';
import { positiveInteger, settingsOf, timeUpTo, withSettings } from '../usage/options.ts';
import { benchCsv, benchLines, formatRate, resultLine, warnOfHiddenPower } from './bench-report.ts';

/** Default length of a measurement, in seconds: long enough to show how much the rate varies meanwhile. */
const SECONDS = 10;

/** Here 1h stands for MOST_SECONDS, and 20d for the maximum of `benchTime`. */
const BENCH_TIME_MESSAGE = 'Give seconds, or a time like 90s or 5m: up to 1h, and with --stress up to 20d.';
/** Parses times of up to 20 days, less than the longest delay of setTimeout, which is 24 days. */
const benchTime = timeUpTo(20 * 86_400, BENCH_TIME_MESSAGE);

export function declare(bench: Command, { io, action }: Line): void {
  withSettings(bench, 'devices.use', 'cpu', 'cpu.kernel', 'gpu', 'log')
    .helpCommand(false)
    .option(
      '--seconds <time>',
      'length of each measurement: seconds, or a time like 5m, up to 1h (default: 10; with --stress 60, up to 20d)',
      benchTime,
    )
    .option('--repeat <n>', 'measure all devices n times, in turns (default: 1)', positiveInteger(1_000))
    .option(
      '--seed <text>',
      'text that the hash sum is computed from; the sum of your own cannot be known in advance',
      'pickaxe',
    )
    .option(
      '--count <n>',
      'nonces of the hash sum, 65536 or more (default: 134217728); of each round, with --stress',
      positiveInteger(2 ** 40),
    )
    .option('--together', 'all devices at once, as when mining', false)
    .option('--stress', 'keep all devices busy instead, and check each of their answers', false)
    .option('--tune', 'measure every kernel again instead, of the CPU and of GPUs, and remember the fastest', false)
    .option('--json', 'one JSON object on stdout', false)
    .option('--csv', 'comma-separated values on stdout, one row per device and run', false)
    .action(action(async (options) => runBench(await settingsOf(bench), options, io)));

  bench
    .command('compare')
    .description('compare two results of bench --json: hashrates, efficiency, hash sums')
    .argument('<a.json>', 'the result to compare with')
    .argument('<b.json>', 'the other result')
    .action(
      action(async (a, b) => {
        const given = bench.options.filter((option) => bench.getOptionValueSource(option.attributeName()) === 'cli');
        if (given.length > 0) throw new UsageError(`bench compare has no option ${given[0].long}.`);
        return (await import('./bench-compare.ts')).runCompare(a, b, io);
      }),
    );
}

interface BenchOptions {
  /** Length of each measurement. Default: 10, or 60 with `stress`. */
  readonly seconds?: number;
  /** Number of measurements of each device. Default: 1. */
  readonly repeat?: number;
  readonly seed: string;
  /** Number of nonces that are searched for the hash sum or, with `stress`, in each round. */
  readonly count?: number;
  readonly together: boolean;
  readonly stress: boolean;
  readonly tune: boolean;
  readonly json: boolean;
  readonly csv: boolean;
}

async function runBench({ config, origins }: Loaded, options: BenchOptions, io: Io): Promise<number> {
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
    // Only the flag is an error. A kernel in a configuration file is for mining, and tuning may find a faster kernel.
    if (origins.get('cpu.kernel')?.layer === 'flag') {
      throw new UsageError('--tune measures every CPU kernel: omit --kernel.');
    }
    return (await import('./tune.ts')).runTune(config, log, json, io);
  }
  const challenge = challengeOf(seed, count);
  if (stress) return (await import('./bench-stress.ts')).runStress(config, log, options, io);
  if (seconds > MOST_SECONDS) throw new UsageError(`--seconds is too long. ${BENCH_TIME_MESSAGE}`);
  const result = withLines(await measure(config, log, { ...options, seconds, challenge }));
  const { devices, failed } = result;
  io.out(json ? `${jsonText(result)}\n` : csv ? benchCsv(result) : benchLines(result).join(''));
  const wrong = devices.some(({ runs }) => runs.some(({ errors }) => errors.length > 0));
  if (wrong || failed.some(({ fault }) => fault === 'wrong-hashes')) return EXIT.wrongHashes;
  return devices.length > 0 ? EXIT.done : EXIT.noDevice;
}

function withLines(result: BenchResult): BenchResult {
  const devices = result.devices.map((device) => {
    const line = resultLine(result, device);
    return line === undefined ? device : { ...device, line };
  });
  return { ...result, devices };
}

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
    onProgress: ({ name }, how) => progress.show(name, how),
    failed: ({ name }, { fault, message: reason }) => {
      failed.push({ name, fault, reason });
      log.error({ tag: name }, reason);
    },
  }).finally(() => progress.end());
  await warnOfHiddenPower(devices, log);
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

/** @throws UsageError when no challenge can have this seed and count */
function challengeOf(seed: string, count: number): Challenge {
  try {
    return makeChallenge(seed, count);
  } catch (fault) {
    if (!(fault instanceof RangeError)) throw fault;
    throw new UsageError(`${fault.message}.`);
  }
}

/* Progress on stderr. On a terminal it is a line that is rewritten; elsewhere it is lines of the log. */

interface BenchProgress {
  show(device: string, progress: Progress): void;
  end(): void;
}

/** @param seconds length of each run's measurement */
function benchProgress(log: Logger, format: Config['log']['format'], repeat: number, seconds: number): BenchProgress {
  const hasLine = terminalKind().escapes && format !== 'json' && isForeground();
  return hasLine ? new ProgressLine(repeat) : logged(log, repeat, seconds);
}

function logged(log: Logger, repeat: number, seconds: number): BenchProgress {
  return {
    show(tag, progress) {
      const { run, step } = progress;
      const which = repeat > 1 ? `run ${run} of ${repeat}: ` : '';
      if (step === 'warming-up') log.info({ tag }, `${which}measuring for ${seconds} s after a warm-up`);
      if (step === 'done') log.info({ tag }, `${which}${formatRate(progress.hashesPerSecond, progress.spread)}`);
    },
    end() {},
  };
}

class ProgressLine implements BenchProgress {
  readonly #repeat: number;
  readonly #busy = new Map<string, string>();

  constructor(repeat: number) {
    this.#repeat = repeat;
    process.once('SIGINT', this.#interrupted);
  }

  show(device: string, progress: Progress): void {
    const text = describe(progress);
    if (text === undefined) this.#busy.delete(device);
    else
      this.#busy.set(device, `${device}${this.#repeat > 1 ? ` run ${progress.run} of ${this.#repeat}` : ''} ${text}`);
    this.#draw();
  }

  end(): void {
    process.off('SIGINT', this.#interrupted);
    screen.show('');
  }

  /** Leaves the last column empty, because some terminals begin a new line as soon as that column is written. */
  #draw(): void {
    screen.show([...this.#busy.values()].join('  ').slice(0, screen.columns - 1));
  }

  /** Clears the line, so that the shell's prompt begins on an empty line. Then ends the process. */
  readonly #interrupted = (): void => {
    screen.show('');
    // On Windows a process cannot end by a signal, so the exit code must show the reason.
    if (process.platform === 'win32') process.exit(EXIT.interrupted);
    process.kill(process.pid, 'SIGINT');
  };
}

/** @returns a device's progress as text; undefined when its run is over */
function describe(progress: Progress): string | undefined {
  switch (progress.step) {
    case 'opening':
      return 'starting';
    case 'warming-up':
      return 'warming up';
    case 'measuring': {
      const { done, hashesPerSecond } = progress;
      const rate = hashesPerSecond === undefined ? '' : `, ${formatHashrate(hashesPerSecond)}`;
      return `measuring ${formatPercent(done)}${rate}`;
    }
    case 'searching-challenge':
      return `computing the hash sum ${formatPercent(progress.done)}`;
    case 'done':
    case 'failed':
      return undefined;
  }
}
