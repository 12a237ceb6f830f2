/** The commands beside mining: their arguments and options. What they do is in `commands/`. */

import { Argument, type Command } from 'commander';
import { EXIT, exit } from '../app/exit.ts';
import { version } from '../system/version.ts';
import { positiveInteger, settingsOf, timeOf, withSettings } from './options.ts';

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
