#!/usr/bin/env node
/** `pickaxe`: reads the command line and runs one command. A command is loaded when it is run, so that each starts fast. */

import { Argument, Command, CommanderError, Option } from 'commander';
import { exit, stopWithReader } from '../app/exit.ts';
import { EXIT, UsageError } from '../app/exit-codes.ts';
import { BLOCK_STATES } from '../events/vocabulary.ts';
import { version } from '../system/version.ts';
import { MINE_EXAMPLES, NOTES, PROGRAM_EXAMPLES, WORKER_EXAMPLES } from './examples.ts';
import { disguiseHashes } from './hash-arguments.ts';
import { addLedgerCommands } from './ledger-commands.ts';
import { blockStates, positiveInteger, positiveSeconds, reword, settingsOf, timeOf, withSettings } from './options.ts';
import { addSweepCommand } from './sweep-command.ts';
import { addTxCommands } from './tx-commands.ts';

const program = new Command('pickaxe')
  .description('High-performance GPU/CPU proof-of-work miner for a multi-chain blake2s ledger.')
  .version(version, '-v, --version', 'print the version')
  .showHelpAfterError('(run with --help for all options)')
  .exitOverride()
  .addHelpText('after', PROGRAM_EXAMPLES + NOTES);

/** The tables of settings that every command that mines has flags for. */
const MINING = [
  'rig',
  'devices',
  'cpu',
  'gpu',
  'external-worker',
  'run',
  'stratum',
  'http',
  'log',
  'log-file',
  'pause',
  'alarm',
  'hooks',
  'webhook',
];

/** The same without limits and the JSON of events: a worker's parent ends it, and stdout carries the protocol. */
const MINING_FOR_OTHERS = [...MINING.filter((table) => table !== 'run' && table !== 'stratum'), 'run.status'];

program.commandsGroup('Mining:');

const mine = withSettings(
  program.command('mine'),
  'node',
  'discovery',
  'pool',
  'miner',
  'blocks',
  ...MINING,
  'test-network',
)
  .description('mine on your nodes or pools until you stop it')
  .option('--print-config', 'print the effective settings and their sources, and exit')
  .option(
    '--dry-run',
    'check settings and devices without asking the node or the pool, print what would mine, and exit',
  )
  .addHelpText('after', MINE_EXAMPLES)
  .action(async (options, command) => {
    const { runMine } = await import('./commands/mine.ts');
    exit(await runMine(() => settingsOf(command), options, command.opts()));
  });

withSettings(program.command('demo'), ...MINING)
  .description('mine on a mock node inside this process: nothing to configure, nothing leaves this machine')
  .action(async (_, command) =>
    exit(await (await import('./commands/demo.ts')).runDemo(await settingsOf(command), () => settingsOf(command))),
  );

withSettings(program.command('worker'), ...MINING_FOR_OTHERS)
  .description('mine for another program: jobs in and shares out, as one JSON object a line')
  .option('--listen <address>', 'take jobs from a socket instead of stdin, like unix:/run/user/1000/pickaxe.sock')
  .option('--schema', 'print the JSON Schema of both directions, and exit', false)
  .addHelpText('after', WORKER_EXAMPLES)
  .action(async ({ schema, ...options }, command) => {
    const { printWorkerSchema, runWorker } = await import('./commands/worker.ts');
    exit(schema ? printWorkerSchema() : await runWorker(await settingsOf(command), options, () => settingsOf(command)));
  });

withSettings(program.command('external-worker'), 'devices', 'cpu', 'gpu', 'log')
  .description('find the nonce of the header on stdin, as the reference mining client asks external workers to')
  .argument('<target>', 'the target in 64 hex digits; the one in the header counts')
  .option('--connect <address>', 'let a warm worker do it: unix:PATH as in pickaxe worker --listen unix:PATH')
  .action(async (target, options, command) =>
    exit(
      await (await import('./commands/external-worker.ts')).runExternalWorker(
        await settingsOf(command),
        target,
        options,
      ),
    ),
  );

reword(withSettings(program.command('stats'), 'http.listen', 'http.token-file'), {
  '--http': 'where the miner serves HTTP, as it was started with: [HOST:]PORT (default: as configured)',
  '--http-token-file': 'file with the token that the miner asks for (default: as configured)',
})
  .description('ask a running miner that serves HTTP how it is doing')
  .option('--json', 'one JSON object on stdout, for programs', false)
  .addOption(
    new Option('--format <name>', 'for another system, in its format')
      .choices(['hive', 'mmpos', 'xmrig', 'prom'])
      .conflicts('json'),
  )
  .action(async (options, command) =>
    exit(await (await import('./commands/stats.ts')).runStats((await settingsOf(command)).config, options)),
  );

withSettings(program.command('blocks'), 'node', 'blocks.folder', 'blocks.settled-depth')
  .description('print what became of the blocks that nodes accepted, and what they have earned')
  .option('--since <time>', 'only blocks of this last time: seconds, or a time like 12h or 7d', timeOf)
  .option('--status <list>', `only blocks in these states: ${BLOCK_STATES.join(', ')}`, blockStates)
  .option('--refresh', 'ask the nodes first, which takes some seconds; a rig that mines does so by itself', false)
  .option('--watch', 'go on, and print each block that changes', false)
  .option('--json', 'one JSON object on stdout; with --watch also one for each block that changes', false)
  .option('--csv <file>', 'write comma-separated values to this file as well')
  .action(async (options, command) =>
    exit(await (await import('./commands/blocks.ts')).runBlocks((await settingsOf(command)).config, options)),
  );

program.commandsGroup('Setting up:');

program
  .command('init')
  .description('ask for a node or a pool and for devices, check each answer, and write pickaxe.toml')
  .option('--user', "write the user's file instead, which applies in every folder", false)
  .action(async (options) => exit(await (await import('./commands/init.ts')).runInit(options)));

withSettings(
  program.command('doctor'),
  'node',
  'ledger.dialect',
  'ledger.command-path',
  'pool',
  'miner',
  'devices.use',
  'cpu',
  'gpu.software',
)
  .description('check this machine and its nodes or pools, and say what keeps it from mining and what to do about it')
  .option('--json', 'one JSON object on stdout', false)
  .action(async (options, command) =>
    exit(await (await import('./commands/doctor.ts')).runDoctor(() => settingsOf(command), options)),
  );

const config = program.command('config').description('explain and check configuration files').helpCommand(false);

config
  .command('example')
  .description('print a TOML file that names and explains every setting')
  .action(async () => exit((await import('./commands/config.ts')).printExample()));

config
  .command('schema')
  .description('print the JSON Schema of configuration files, for editors')
  .action(async () => exit((await import('./commands/config.ts')).printSchema()));

config
  .command('check')
  .description('check a configuration file, or without one everything that "pickaxe mine" would read here')
  .argument('[file]')
  .action(async (file, _, command) =>
    exit(await (await import('./commands/config.ts')).checkConfig(file, () => settingsOf(command))),
  );

program
  .command('keygen')
  .description('make an Ed25519 key pair: the secret key is written to a new file that only you can read')
  .argument('<file>', 'file for the secret key, which must not exist yet, like pickaxe-key.json')
  .action(async (file) => exit((await import('./commands/keygen.ts')).runKeygen(file)));

const service = program.command('service').helpCommand(false).description('run pickaxe as a systemd service');
for (const [name, what] of [
  ['print', 'print the unit that install would write'],
  ['install', 'write a unit with the paths of this machine, and print how to start it'],
  ['uninstall', 'remove that unit'],
] as const) {
  const action = service
    .command(name)
    .description(what)
    .option('--user', 'for this user (the default, except for root)')
    .option('--system', 'for the whole machine (the default for root)');
  if (name !== 'uninstall') action.option('-c, --config <file>', 'configuration file of the service');
  if (name !== 'print') action.option('--force', 'even if somebody has changed the unit');
  action.action(async (options) => exit(await (await import('./commands/service.ts')).runService(name, options)));
}

program.commandsGroup('Measuring:');

const bench = withSettings(program.command('bench'), 'devices.use', 'cpu', 'gpu', 'log')
  .description('measure the hashrate of each device and prove its work by a hash sum, offline')
  .helpCommand(false)
  .option('--seconds <n>', 'length of each measurement (default: 10; with --stress 60)', positiveSeconds)
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
    exit(await (await import('./commands/bench.ts')).runBench(await settingsOf(command), options)),
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
    exit((await import('./commands/bench-compare.ts')).runCompare(a, b));
  });

withSettings(program.command('devices'), 'cpu', 'gpu.software')
  .description('list the devices and kernels that this machine can mine with')
  .option('--json', 'one JSON object on stdout', false)
  .action(async (options, command) =>
    exit(await (await import('./commands/devices.ts')).runDevices(await settingsOf(command), options)),
  );

program.commandsGroup('Ledger:');

addLedgerCommands(program);
addTxCommands(program);

withSettings(program.command('nodes'), 'node', 'ledger', 'miner')
  .description('look at the nodes: do they answer, agree, keep up, and give work?')
  .option('--discover', 'look at the peers of these nodes, too', false)
  .option('--most <n>', 'look at no more than this many peers', positiveInteger(500), 32)
  .option('--json', 'one JSON object on stdout', false)
  .action(async (options, command) =>
    exit(await (await import('./commands/nodes.ts')).runNodes(await settingsOf(command), options)),
  );

withSettings(program.command('balance'), 'node', 'ledger', 'miner.public-keys', 'miner.account')
  .description('print what an account has on each chain, and in all')
  .argument('[account]', 'the account (default: that of the miner)')
  .option('--token <module>', 'the token, by its module with its namespace', 'coin')
  .option('--json', 'one JSON object on stdout', false)
  .action(async (account, options, command) =>
    exit(await (await import('./commands/balance.ts')).runBalance(await settingsOf(command), account, options)),
  );

addSweepCommand(program);

program.commandsGroup('Tools:');

program
  .command('verify')
  .description('check the proof of work of a header or a work record (322 bytes), and compute its block hash')
  .argument('<hex>', 'hex digits; in a record, its own target counts and not the one in the header')
  .option('--json', 'one JSON object on stdout', false)
  .action(async (hex, options) => exit((await import('./commands/verify.ts')).runVerify(hex, options)));

withSettings(program.command('mock-node'), 'log')
  .description('run a mock node on this machine, to try miners against')
  .option('--port <n>', 'port to listen on (default: a free one)', positiveInteger(65_535))
  .option(
    '--control-port <n>',
    'port of this machine to take instructions on (default: a free one)',
    positiveInteger(65_535),
  )
  .option('--network <id>', 'network: mainnet01, testnet04, development or test-singleton', 'development')
  .option('--difficulty <hashes>', 'average number of hashes for a block', positiveInteger(2 ** 53), 50_000_000)
  .option('--options <json>', 'any options of the mock node as a JSON object, like {"rivalMs":5000,"streamMs":5000}')
  .option('--faults <json>', 'faults as a JSON array, like [{"endpoint":"work","kind":"unavailable","times":3}]')
  .option('--duration <time>', 'stop after this time: seconds, or a time like 90m or 1h30m', timeOf)
  .action(async (options, command) =>
    exit(await (await import('./commands/mock-node.ts')).runMockNode(await settingsOf(command), options)),
  );

program
  .command('version')
  .description('print the version')
  .action(() => {
    process.stdout.write(`${version}\n`);
    exit(EXIT.done);
  });

program
  .command('completion')
  .description('print a shell completion script')
  .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
  .action(async (shell) => exit((await import('./commands/completion.ts')).runCompletion(program, shell)));

program.helpCommand('help [command]', 'explain a command');

stopWithReader();

try {
  if (process.argv.length <= 2) exit((await import('./commands/welcome.ts')).runWelcome());
  else await program.parseAsync(disguiseHashes(process.argv, program));
} catch (fault) {
  if (fault instanceof CommanderError) {
    const isAboutMine = fault.exitCode !== 0 && process.argv[2] === mine.name();
    if (isAboutMine) await (await import('./commands/mine.ts')).noteWrongFlags(mine.opts(), fault.message);
    exit(fault.exitCode === 0 ? EXIT.done : EXIT.usage);
  } else if (fault instanceof UsageError) {
    process.stderr.write(`error: ${fault.message}\n`);
    exit(EXIT.usage);
  } else {
    process.stderr.write(`internal error, please report it: ${fault instanceof Error ? fault.stack : fault}\n`);
    exit(EXIT.failed);
  }
}
