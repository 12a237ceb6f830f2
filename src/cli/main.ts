#!/usr/bin/env node
/** `pickaxe`: reads the command line and runs one command. A command is loaded when it is run, so that each starts fast. */

import { Command, CommanderError } from 'commander';
import { exit, stopWithReader } from '../app/exit.ts';
import { EXIT, UsageError } from '../app/exit-codes.ts';
import { version } from '../system/version.ts';
import { addAccountCommands } from './account-commands.ts';
import { PROGRAM_NOTES } from './examples.ts';
import { disguiseHashes } from './hash-arguments.ts';
import { layOutHelp } from './help.ts';
import { addLedgerCommands } from './ledger-commands.ts';
import { addMeasuringCommands } from './measuring-commands.ts';
import { addMiningCommands } from './mining-commands.ts';
import { addSetupCommands } from './setup-commands.ts';
import { addSweepCommand } from './sweep-command.ts';
import { addToolCommands } from './tool-commands.ts';
import { addTxCommands } from './tx-commands.ts';

const program = new Command('pickaxe')
  .description('High-performance GPU/CPU proof-of-work miner for a multi-chain blake2s ledger.')
  .version(version, '-v, --version', 'print the version')
  .showHelpAfterError('(run with --help for the options)')
  .exitOverride()
  .addHelpText('after', PROGRAM_NOTES);

layOutHelp(program);

const mine = addMiningCommands(program);
addSetupCommands(program);
addMeasuringCommands(program);
addLedgerCommands(program);
addTxCommands(program);
addAccountCommands(program);
addSweepCommand(program);
addToolCommands(program);

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
