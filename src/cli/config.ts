/** `pickaxe config`: prints the example and the schema, and checks configuration files. */

import { EXIT, UsageError } from '../app/exit.ts';
import { type Loaded, loadFile } from '../config/load.ts';
import { exampleToml } from '../config/print.ts';
import { ConfigError } from '../config/raw-settings.ts';
import { jsonSchema } from '../config/schema.ts';

export function printExample(): number {
  process.stdout.write(exampleToml());
  return EXIT.done;
}

export function printSchema(): number {
  process.stdout.write(`${JSON.stringify(jsonSchema(), undefined, 2)}\n`);
  return EXIT.done;
}

/**
 * @param file is checked by itself; without it, all effective settings are checked
 * @throws UsageError that lists all errors
 */
export async function checkConfig(file: string | undefined, here: () => Promise<Loaded>): Promise<number> {
  const { files } = file === undefined ? await here() : alone(file);
  process.stdout.write(`${files.length > 0 ? files.join(', ') : 'no configuration file, only defaults'}: OK\n`);
  return EXIT.done;
}

function alone(file: string): Loaded {
  try {
    return loadFile(file, process.cwd(), 'mine');
  } catch (fault) {
    throw fault instanceof ConfigError ? new UsageError(fault.message) : fault;
  }
}
