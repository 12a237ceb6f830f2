/** The commands that mine, and that tell how mining goes: their arguments and options. What they do is in `commands/`. */

import { type Command, Option } from 'commander';
import { exit } from '../app/exit.ts';
import { BLOCK_STATES } from '../events/vocabulary.ts';
import { listLast, MINE_EXAMPLES, WORKER_EXAMPLES } from './help.ts';
import { blockStates, collect, httpAddresses, settingsOf, timeOf, withSettings } from './options.ts';

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
