#!/usr/bin/env node
/** `pickaxe`: reads the command line and runs one command. Commands are loaded when they are run, to start fast. */

import { Command, CommanderError, Option } from 'commander';
import { version } from '../version.ts';
import { EXIT, UsageError } from './exit-codes.ts';
import { LOG_FORMATS, LOG_LEVELS } from './log.ts';
import {
  batchMilliseconds,
  celsius,
  celsiusOrNone,
  checkedAddress,
  cpuAffinity,
  deviceNames,
  gather,
  niceness,
  positiveInteger,
  positiveSeconds,
  publicKey,
} from './options.ts';

const NETWORKS = 'mainnet01, testnet04, development or test-singleton';

const program = new Command('pickaxe')
  .description('High-performance GPU/CPU proof-of-work miner for a multi-chain blake2s ledger.')
  .version(version)
  .helpCommand(false)
  .showHelpAfterError('(run with --help for all options)')
  .addHelpText(
    'after',
    `
First steps:
  pickaxe demo          mines at once, on a mock node inside this process
  pickaxe devices       what this machine can mine with
  pickaxe keygen FILE   a key pair to receive rewards
  pickaxe mine --node http://HOST:1848 --network mainnet01 --public-key KEY

Exit codes: 0 done, 1 internal error, 2 wrong usage, 3 no usable device, 4 no work within a bounded run,
6 a device computed wrong hashes. No developer fee, no telemetry.`,
  );

/** Which kernel is the fastest depends on how many threads hash. */
function withThreads(command: Command): Command {
  return command
    .option('--threads <n>', 'CPU threads (default: leaves the machine usable)', positiveInteger(1024))
    .option('--cpu-priority <n>', 'niceness of the CPU threads, 0 to 19 (default: 19; Linux only)', niceness)
    .option(
      '--cpu-affinity <list>',
      'CPUs to pin CPU threads to, like 0,2-5, or none (default: pinned only if every CPU hashes)',
      cpuAffinity,
    );
}

/** Options that every command which searches has. */
function withDevices(command: Command): Command {
  command.option(
    '--devices <list>',
    'devices to use, like cpu,gpu0,gpu1 (default: the CPU and every real GPU)',
    deviceNames,
  );
  return withThreads(command)
    .option('--kernel <name>', 'CPU kernel to use instead of the best one (see: pickaxe devices)')
    .option(
      '--gpu-batch-ms <ms>',
      'length of a GPU dispatch: a longer one costs less, a shorter one restarts sooner (default: as tuned)',
      batchMilliseconds,
    )
    .option('--software-gpu', 'admit software GPU adapters, which are slower than the CPU engine', false);
}

function withTemperatures(command: Command): Command {
  return command
    .option(
      '--temp-limit <celsius>',
      'a device this hot rests, where its temperature is known; or none',
      celsiusOrNone,
      90,
    )
    .option('--temp-resume <celsius>', 'a device that rests goes on at this (default: 10 below --temp-limit)', celsius);
}

function withLog(command: Command): Command {
  return command
    .addOption(new Option('--log-level <level>', 'how much to log on stderr').choices(LOG_LEVELS).default('info'))
    .addOption(
      new Option('--log-format <format>', 'auto: text on a terminal, else JSON').choices(LOG_FORMATS).default('auto'),
    );
}

function withBounds(command: Command): Command {
  return command
    .option('--blocks <n>', 'stop after this many accepted blocks', positiveInteger(1e9))
    .option('--duration <seconds>', 'stop after this long', positiveSeconds)
    .option('--json', 'events as one JSON object a line on stdout', false);
}

function withHttp(command: Command): Command {
  return command
    .option(
      '--http <[host:]port>',
      'serve API and metrics over HTTP, on this machine only unless HOST says more',
      checkedAddress,
    )
    .option('--http-token-file <file>', 'HTTP clients must send the token in this file (Authorization: Bearer TOKEN)')
    .option('--http-control', 'HTTP clients may pause, resume and stop; without it they only read', false);
}

withHttp(withLog(withBounds(withTemperatures(withDevices(program.command('mine'))))))
  .description('mine on a node')
  .option('--node <url>', 'node URL; several times for failover, the first preferred', gather)
  .option('--network <id>', `network: ${NETWORKS}; not needed where every node URL has a path`)
  .option('--public-key <hex>', 'miner public key, 64 hex digits; several times for several keys', publicKey)
  .option('--account <name>', 'miner account (default: k: and the public key)')
  .addOption(
    new Option('--predicate <name>', 'which keys must sign')
      .choices(['keys-all', 'keys-any', 'keys-2'])
      .default('keys-all'),
  )
  .option(
    '--insecure-tls',
    'accept any certificate of an https node: others can then read and change the traffic',
    false,
  )
  .action(async (options) => exit(await (await import('./commands/mine.ts')).runMine(options)));

withHttp(withLog(withBounds(withTemperatures(withDevices(program.command('demo'))))))
  .description('mine on a mock node inside this process: nothing to configure, nothing leaves this machine')
  .action(async (options) => exit(await (await import('./commands/demo.ts')).runDemo(options)));

withDevices(program.command('bench'))
  .description('measure the hashrate of each device, offline')
  .option('--seconds <n>', 'length of the measurement of each device', positiveSeconds, 5)
  .option('--tune', 'measure every kernel again instead, of the CPU and of GPUs, and remember the fastest', false)
  .option('--json', 'one JSON object on stdout', false)
  .action(async (options) => exit(await (await import('./commands/bench.ts')).runBench(options)));

withThreads(program.command('devices'))
  .description('list the devices and kernels that this machine can mine with')
  .option('--json', 'one JSON object on stdout', false)
  .action(async (options) => exit(await (await import('./commands/devices.ts')).runDevices(options)));

program
  .command('verify')
  .description('check the proof of work of a header (286 bytes) or a work record (322 bytes)')
  .argument('<hex>', 'hex digits; the target of a record decides over the one inside its header')
  .action(async (hex) => exit((await import('./commands/verify.ts')).runVerify(hex)));

program
  .command('keygen')
  .description('make an Ed25519 key pair: the secret goes to a new file that only you can read')
  .argument('<file>', 'where the secret key goes; must not exist yet')
  .action(async (file) => exit((await import('./commands/keygen.ts')).runKeygen(file)));

withLog(program.command('mock-node'))
  .description('run the mock node alone, on this machine only, to try miners against')
  .option('--port <n>', 'port to listen on (default: a free one)', positiveInteger(65_535))
  .option('--network <id>', `network: ${NETWORKS}`, 'development')
  .option('--difficulty <hashes>', 'hashes that a block takes on average', positiveInteger(2 ** 53), 50_000_000)
  .option('--options <json>', 'any options of the mock node as a JSON object, like {"rivalMs":5000,"streamMs":5000}')
  .option('--faults <json>', 'faults as a JSON array, like [{"endpoint":"work","kind":"unavailable","times":3}]')
  .option('--duration <seconds>', 'stop after this long', positiveSeconds)
  .action(async (options) => exit(await (await import('./commands/mock-node.ts')).runMockNode(options)));

/** For a reader of stdout that has stopped reading: the last lines are not worth waiting for without end. */
const FLUSH_MS = 2_000;

/** Ends the process once stdout has taken everything: a wrapper must get the last line. */
function exit(code: number): void {
  process.exitCode = code;
  process.stdout.write('', () => process.exit(code));
  setTimeout(() => process.exit(code), FLUSH_MS);
}

let readerGone = false;

process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
  if (fault.code !== 'EPIPE') throw fault;
  // Whoever read our output has gone, as in `pickaxe devices | head -1`. A miner stops in its own way.
  if (process.listenerCount('SIGTERM') === 0) process.exit(EXIT.done);
  if (!readerGone) process.kill(process.pid, 'SIGTERM');
  readerGone = true;
});

for (const command of [program, ...program.commands]) command.exitOverride();

try {
  if (process.argv.length <= 2) program.help();
  await program.parseAsync();
} catch (fault) {
  if (fault instanceof CommanderError) {
    exit(fault.exitCode === 0 ? EXIT.done : EXIT.usage);
  } else if (fault instanceof UsageError) {
    process.stderr.write(`error: ${fault.message}\n`);
    exit(EXIT.usage);
  } else {
    process.stderr.write(`internal error, please report it: ${fault instanceof Error ? fault.stack : fault}\n`);
    exit(EXIT.failed);
  }
}
