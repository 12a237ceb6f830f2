/** The commands that mine, and that tell how mining goes: their arguments and options. What they do is in `commands/`. */

import { type Command, Option } from 'commander';
import { exit } from '../app/exit.ts';
import { BLOCK_STATES } from '../events/vocabulary.ts';
import { MINE_EXAMPLES, WORKER_EXAMPLES } from './examples.ts';
import { blockStates, reword, settingsOf, timeOf, withSettings } from './options.ts';

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
      exit(
        schema ? printWorkerSchema() : await runWorker(await settingsOf(command), options, () => settingsOf(command)),
      );
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

  return mine;
}
