/** What runs beside the miner, as the options ask for it. Each is loaded when it is wanted. */

import type { TerminalOptions } from './companions/terminal.ts';
import type { Companion } from './run-miner.ts';

export interface CompanionOptions extends TerminalOptions {}

/** Each makes a companion of the options, or none when they do not ask for it. */
const FACTORIES: readonly ((options: CompanionOptions) => Promise<Companion | undefined>)[] = [
  async (options) => (await import('./companions/terminal.ts')).terminal(options),
];

/** @throws UsageError when an option makes no sense. */
export async function companionsOf(options: CompanionOptions): Promise<Companion[]> {
  const companions = await Promise.all(FACTORIES.map((make) => make(options)));
  return companions.filter((companion) => companion !== undefined);
}
