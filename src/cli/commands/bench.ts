/** `pickaxe bench`: the hashrate of each device, and a sum that proves its work; offline. */

import { randomInt } from 'node:crypto';
import { chooseEngines } from '../../app/choose-engines.ts';
import { EXIT, UsageError } from '../../app/exit-codes.ts';
import { type Challenge, DEFAULT_COUNT, makeChallenge } from '../../bench/challenge.ts';
import { measureDevices } from '../../bench/measure.ts';
import { MOST_SECONDS, WARM_UP_MS } from '../../bench/rate.ts';
import { BENCH_FORMAT, type BenchResult } from '../../bench/result.ts';
import type { Loaded } from '../../config/load.ts';
import { systemClock } from '../../system/clock.ts';
import { thisMachine } from '../../system/machine.ts';
import { makeLog, progressTo } from '../../terminal/log.ts';
import { benchLines } from '../bench-table.ts';
import type { BenchOptions } from './bench-options.ts';

/** Enough slices for their spread to mean something. */
const SECONDS = 10;

/** @returns the exit code */
export async function runBench({ config, origins }: Loaded, options: BenchOptions): Promise<number> {
  const { tune, stress, json } = options;
  const log = makeLog(config.log.level, config.log.format);
  if (tune) {
    // One that a file names is what mines; tuning tells whether another is faster.
    if (origins.get('cpu.kernel')?.layer === 'flag') {
      throw new UsageError('--tune measures every CPU kernel: leave out --kernel.');
    }
    if (stress) throw new UsageError('--tune and --stress are two things: give one of them.');
    return (await import('./tune.ts')).runTune(config, log, json);
  }
  const { seed, count = DEFAULT_COUNT, together, seconds = SECONDS } = options;
  const challenge = challengeOf(seed, count);
  if (stress) return (await import('./bench-stress.ts')).runStress(config, log, options);
  if (seconds > MOST_SECONDS) {
    throw new UsageError(`Give up to ${MOST_SECONDS} seconds; to keep devices busy for longer: --stress.`);
  }

  const failed: BenchResult['failed'] = [];
  let wrongHashes = false;
  const devices = await measureDevices(await chooseEngines(config, log), {
    challenge,
    warmUpMs: Math.min(WARM_UP_MS, 1000 * seconds),
    seconds,
    together,
    clock: systemClock,
    random: (below) => randomInt(below),
    listener: (engine) => progressTo(log, engine.name),
    failed: ({ name }, { fault, message: reason }) => {
      failed.push({ name, reason });
      if (fault === 'wrong-hashes') wrongHashes = true;
      log.error({ tag: name }, reason);
    },
  });
  const machine = thisMachine();
  const result: BenchResult = { format: BENCH_FORMAT, machine, seed, count, seconds, together, devices, failed };
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : benchLines(result).join(''));
  if (wrongHashes || devices.some(({ errors }) => errors.length > 0)) return EXIT.wrongHashes;
  return devices.length > 0 ? EXIT.done : EXIT.noDevice;
}

/** @throws UsageError when there is none of this seed and count. */
function challengeOf(seed: string, count: number): Challenge {
  try {
    return makeChallenge(seed, count);
  } catch (fault) {
    if (!(fault instanceof RangeError)) throw fault;
    throw new UsageError(`${fault.message}.`);
  }
}
