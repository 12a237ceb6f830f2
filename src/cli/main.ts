#!/usr/bin/env node
/**
 * `pickaxe`: reads the command line and runs one command. A command is loaded when it is run, so that each starts fast.
 */

import { Command, CommanderError } from 'commander';
import { EXIT, exit, stopWithReader, UsageError } from '../app/exit.ts';
import { version } from '../system/version.ts';
import {
  addAccountCommands,
  addMeasuringCommands,
  addMiningCommands,
  addSetupCommands,
  addToolCommands,
} from './commands.ts';
import { layOutHelp, PROGRAM_NOTES } from './help.ts';
import { addLedgerCommands } from './ledger/commands.ts';
import { disguiseHashes } from './options.ts';
import { addSweepCommand } from './sweep/commands.ts';
import { addTxCommands } from './tx/commands.ts';
import { addHelp, explain, refuseMissingValues, withoutGuesses } from './wrong-lines.ts';

const program = new Command('pickaxe')
  .description('High-performance GPU/CPU proof-of-work miner for a multi-chain blake2s ledger.')
  .version(version, '-v, --version', 'print the version')
  // What commander says of a line that it cannot read is said below, in other words.
  .configureOutput({ outputError: () => {} })
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

addHelp(program);

stopWithReader();

const words = withoutGuesses(process.argv.slice(2));
try {
  if (words.length === 0) exit((await import('./welcome.ts')).runWelcome());
  else {
    refuseMissingValues(program, words);
    await program.parseAsync(disguiseHashes(words, program), { from: 'user' });
  }
} catch (fault) {
  if (fault instanceof CommanderError) {
    // Where only a subcommand is missing, commander has printed the help.
    if (fault.exitCode !== 0 && fault.code !== 'commander.help') {
      const message = explain(fault, program, words);
      process.stderr.write(`${message}\n(run with --help for the options)\n`);
      if (words[0] === mine.name()) await (await import('./mine.ts')).noteWrongFlags(mine.opts(), message);
    }
    exit(fault.exitCode === 0 ? EXIT.done : EXIT.usage);
  } else if (fault instanceof UsageError) {
    process.stderr.write(`error: ${fault.message}\n`);
    exit(EXIT.usage);
  } else {
    process.stderr.write(`internal error, please report it: ${fault instanceof Error ? fault.stack : fault}\n`);
    exit(EXIT.failed);
  }
}
