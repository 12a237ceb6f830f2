/** The commands that set up a rig and examine it: their arguments and options. What they do is in `commands/`. */

import type { Command } from 'commander';
import { exit } from '../app/exit.ts';
import { settingsOf, withSettings } from './options.ts';

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
