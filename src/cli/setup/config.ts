/** `pickaxe config`: prints an example and the schema of configuration files, and checks such files. */

import type { Command } from 'commander';
import { type Loaded, loadFile } from '../../app/config/load.ts';
import { exampleToml } from '../../app/config/print.ts';
import { ConfigError } from '../../app/config/raw-settings.ts';
import { jsonSchema } from '../../app/config/schema.ts';
import { EXIT, UsageError } from '../../app/process/exit.ts';
import type { Io, Line } from '../io.ts';
import { settingsOf } from '../usage/options.ts';

export function declare(config: Command, { io, action }: Line): void {
  config.helpCommand(false);
  config
    .command('example')
    .description('print a TOML file that names and explains every setting')
    .action(action(() => printed(exampleToml(), io)));
  config
    .command('schema')
    .description('print the JSON Schema of configuration files, for editors')
    .action(action(() => printed(`${JSON.stringify(jsonSchema(), undefined, 2)}\n`, io)));
  config
    .command('check')
    .description('check a configuration file, or without one everything that "pickaxe mine" would read here')
    .argument('[file]')
    .action(action((file, _, command) => checkConfig(file, () => settingsOf(command, 'either'), io)));
}

function printed(text: string, io: Io): number {
  io.out(text);
  return EXIT.done;
}

/** @param file the file to check; if absent, all effective settings are checked @throws UsageError if a check fails */
async function checkConfig(file: string | undefined, here: () => Promise<Loaded>, io: Io): Promise<number> {
  const { files } = file === undefined ? await here() : alone(file);
  io.out(`${files.length > 0 ? files.join(', ') : 'no configuration file, only defaults'}: OK\n`);
  return EXIT.done;
}

function alone(file: string): Loaded {
  try {
    return loadFile(file, process.cwd(), 'either');
  } catch (fault) {
    throw fault instanceof ConfigError ? new UsageError(fault.message) : fault;
  }
}
