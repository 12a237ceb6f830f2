/** The commands that measure devices: their arguments and options. What they do is in `commands/`. */

import type { Command } from 'commander';
import { exit, UsageError } from '../app/exit.ts';
import { BENCH_TIME_SAYS } from './bench-options.ts';
import { positiveInteger, settingsOf, timeUpTo, withSettings } from './options.ts';

/** setTimeout waits for 24 days at most. */
const benchTime = timeUpTo(20 * 86_400, BENCH_TIME_SAYS);

/** Adds them to the program. */
export function addMeasuringCommands(program: Command): void {
  const bench = withSettings(program.command('bench'), 'devices.use', 'cpu', 'cpu.kernel', 'gpu', 'log')
    .description('measure the hashrate of each device, and prove its work')
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
    .action(async (options, command) =>
      exit(await (await import('./bench.ts')).runBench(await settingsOf(command), options)),
    );

  bench
    .command('compare')
    .description('compare two results of bench --json: hashrates, efficiency, hash sums')
    .argument('<a.json>', 'the result to compare with')
    .argument('<b.json>', 'the other result')
    .action(async (a, b) => {
      // Commander reads options after a subcommand as options of the command.
      const given = bench.options.filter((option) => bench.getOptionValueSource(option.attributeName()) === 'cli');
      if (given.length > 0) throw new UsageError(`bench compare has no option ${given[0].long}.`);
      exit((await import('./bench-compare.ts')).runCompare(a, b));
    });

  withSettings(program.command('devices'), 'cpu', 'gpu.software')
    .description('list what this machine can mine with: devices and kernels')
    .option('--json', 'one JSON object on stdout', false)
    .action(async (options, command) =>
      exit(await (await import('./devices.ts')).runDevices(await settingsOf(command), options)),
    );
}
