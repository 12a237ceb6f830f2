/** The commands: their arguments and options. Each loads what it does only when it is called. */

import { Argument, type Command, Option } from 'commander';
import { EXIT, exit, UsageError } from '../app/exit.ts';
import { BLOCK_STATES } from '../events/vocabulary.ts';
import { version } from '../system/version.ts';
import { BENCH_TIME_SAYS } from './bench-options.ts';
import { listLast, MINE_EXAMPLES, WORKER_EXAMPLES } from './help.ts';
import {
  blockStates,
  collect,
  httpAddresses,
  positiveInteger,
  settingsOf,
  timeOf,
  timeUpTo,
  withSettings,
} from './options.ts';

/** The tables of settings that every command that mines has flags for. */
const MINING = [
  'rig',
  'devices',
  'cpu',
  'gpu',
  'external-worker',
  'run',
  'stratum',
  'power',
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

/** Adds them to the program. @returns the command `mine` */
export function addMiningCommands(program: Command): Command {
  const printConfig = new Option('--print-config', 'print the effective settings and their sources, and exit');
  const mine = withSettings(program.command('mine'), 'node', 'pool', 'miner', 'blocks', ...MINING, 'test-network')
    .description('mine on your nodes or pools until you stop it')
    .addOption(printConfig)
    .option(
      '--dry-run',
      'check settings and devices, print what would mine, and exit, without asking the node or the pool',
    )
    .addHelpText('after', MINE_EXAMPLES)
    .action(async (options, command) => {
      const { runMine } = await import('./mine.ts');
      // Settings that contradict each other can still be printed, to find out where they come from.
      const refused = options.printConfig ? undefined : 'start';
      exit(await runMine(() => settingsOf(command, refused), options, command.opts()));
    });

  listLast(mine, [printConfig]);

  withSettings(program.command('demo'), ...MINING)
    .description('mine on a mock node in this process: nothing to set up')
    .action(async (_, command) => {
      const load = () => settingsOf(command, 'rig');
      exit(await (await import('./demo.ts')).runDemo(await load(), load));
    });

  withSettings(program.command('worker'), ...MINING_FOR_OTHERS)
    .description('mine for another program: jobs in and shares out, one JSON object per line')
    .option('--listen <address>', 'take jobs from a socket instead of stdin, like unix:/run/user/1000/pickaxe.sock')
    .option('--schema', 'print the JSON Schema of both directions, and exit', false)
    .addHelpText('after', WORKER_EXAMPLES)
    .action(async ({ schema, ...options }, command) => {
      const { printWorkerSchema, runWorker } = await import('./worker.ts');
      const load = () => settingsOf(command, 'rig');
      exit(schema ? printWorkerSchema() : await runWorker(await load(), options, load));
    });

  withSettings(program.command('external-worker'), 'devices', 'cpu', 'gpu', 'log')
    .description("read a header from stdin and print its nonce (the reference client's external-worker protocol)")
    .argument('<target>', 'the target in 64 hex digits; the one in the header counts')
    .option('--connect <address>', 'let a warm worker do it: unix:PATH as in pickaxe worker --listen unix:PATH')
    .action(async (target, options, command) =>
      exit(await (await import('./external-worker.ts')).runExternalWorker(await settingsOf(command), target, options)),
    );

  withSettings(program.command('stats'))
    .description('ask running miners how they are doing, over HTTP')
    .option(
      '--http <address>',
      'where a miner serves HTTP: [HOST:]PORT; give it again for each further miner (default: as configured)',
      httpAddresses,
    )
    .option(
      '--http-token-file <file>',
      'file with the token; one for each miner, in the same order, or one for several on this machine (default: as configured, for the miner of this configuration)',
      collect,
    )
    .option('--json', 'one JSON object on stdout, for programs', false)
    .addOption(
      new Option('--format <name>', 'for another system, in its format')
        .choices(['hive', 'mmpos', 'xmrig', 'prom'])
        .conflicts('json'),
    )
    .action(async (options, command) =>
      exit(await (await import('./stats.ts')).runStats((await settingsOf(command)).config, options)),
    );

  withSettings(program.command('blocks'), 'node', 'blocks.folder', 'blocks.settled-depth')
    .description('list your blocks, their state, and what they have earned')
    .option('--since <time>', 'only blocks of this last time: seconds, or a time like 12h or 7d', timeOf)
    .option('--status <list>', `only blocks in these states: ${BLOCK_STATES.join(', ')}`, blockStates)
    .option('--refresh', 'ask the nodes first, which takes some seconds; a rig that mines does so by itself', false)
    .option('--watch', 'go on, and print each block that changes', false)
    .option('--json', 'one JSON object on stdout; with --watch also one for each block that changes', false)
    .option('--csv <file>', 'write comma-separated values to this file as well')
    .action(async (options, command) =>
      exit(await (await import('./blocks.ts')).runBlocks((await settingsOf(command)).config, options)),
    );

  return mine;
}

/** Adds them to the program. */
export function addSetupCommands(program: Command): void {
  program
    .command('init')
    .description('answer a few questions, and pickaxe.toml is written')
    .option('--user', "write the user's file instead, which applies in every folder", false)
    .action(async (options) => exit(await (await import('./init/init.ts')).runInit(options)));

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
    'power',
  )
    .description('say what keeps this machine from mining, and what to do')
    .option('--json', 'one JSON object on stdout', false)
    .action(async (options, command) =>
      exit(await (await import('./doctor.ts')).runDoctor((refused) => settingsOf(command, refused), options)),
    );

  const config = program.command('config').description('explain and check configuration files').helpCommand(false);

  config
    .command('example')
    .description('print a TOML file that names and explains every setting')
    .action(async () => exit((await import('./config.ts')).printExample()));

  config
    .command('schema')
    .description('print the JSON Schema of configuration files, for editors')
    .action(async () => exit((await import('./config.ts')).printSchema()));

  config
    .command('check')
    .description('check a configuration file, or without one everything that "pickaxe mine" would read here')
    .argument('[file]')
    .action(async (file, _, command) =>
      exit(await (await import('./config.ts')).checkConfig(file, () => settingsOf(command, 'mine'))),
    );

  program
    .command('keygen')
    .description('make a key pair, with its secret half in a new file')
    .argument('<file>', 'file for the secret key, which must not exist yet, like pickaxe-key.json')
    .action(async (file) => exit((await import('./keygen.ts')).runKeygen(file)));

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
    action.action(async (options) => exit(await (await import('./service.ts')).runService(name, options)));
  }
}

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

/** Adds them to the program. */
export function addAccountCommands(program: Command): void {
  withSettings(program.command('nodes'), 'node', 'ledger', 'miner')
    .description('look at the nodes: do they answer, agree, keep up, and give work?')
    .option('--json', 'one JSON object on stdout', false)
    .action(async (options, command) =>
      exit(await (await import('./nodes.ts')).runNodes(await settingsOf(command), options)),
    );

  withSettings(program.command('balance'), 'node', 'ledger', 'miner.public-keys', 'miner.account')
    .description('print what an account has on each chain, and in total')
    .argument('[account]', 'the account (default: that of the miner)')
    .option('--token <module>', 'the token, by its module with its namespace', 'coin')
    .option('--json', 'one JSON object on stdout', false)
    .action(async (account, options, command) =>
      exit(await (await import('./balance.ts')).runBalance(await settingsOf(command), account, options)),
    );
}

/** Adds them to the program. */
export function addToolCommands(program: Command): void {
  program
    .command('verify')
    .description('check the proof of work of a header or a work record (322 bytes), and compute its block hash')
    .argument('<header>', 'hex digits or base64url, - is standard input; in a record, its own target counts')
    .option('--json', 'one JSON object on stdout', false)
    .action(async (header, options) => exit(await (await import('./verify.ts')).runVerify(header, options)));

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
      exit(await (await import('./mock-node.ts')).runMockNode(await settingsOf(command), options)),
    );

  program
    .command('version', { hidden: true })
    .description('print the version')
    .action(() => {
      process.stdout.write(`${version}\n`);
      exit(EXIT.done);
    });

  program
    .command('completion')
    .description('print a completion script for your shell')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action(async (shell) => exit((await import('./completion.ts')).runCompletion(program, shell)));
}
