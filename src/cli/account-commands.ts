/** The commands that look at nodes and at an account: their arguments and options. What they do is in `commands/`. */

import type { Command } from 'commander';
import { exit } from '../app/exit.ts';
import { settingsOf, withSettings } from './options.ts';

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
