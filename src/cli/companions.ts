/** What runs beside the miner, as the options ask for it. Each is loaded when it is wanted. */

import type { Companion } from './run-miner.ts';

// biome-ignore lint/suspicious/noEmptyInterface: each companion adds its own options
export interface CompanionOptions {}

/** @throws UsageError when an option makes no sense. */
export async function companionsOf(_options: CompanionOptions): Promise<Companion[]> {
  const systemd = process.env.NOTIFY_SOCKET
    ? await (await import('./systemd/companion.ts')).systemdCompanion()
    : undefined;
  return [...(systemd ? [systemd] : [])];
}
