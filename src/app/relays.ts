/** Makes the relays that the settings ask for. Each has a file in `relays/`, and is imported only when it is used. */

import type { Logger } from 'pino';
import type { Config } from '../config/settings.ts';
import type { MakeRelay } from './run-miner.ts';

/** @throws UsageError when a relay cannot do what the settings ask for */
export async function relaysOf({ stratum, externalWorker }: Config, log: Logger): Promise<MakeRelay[]> {
  const { command } = externalWorker;
  return [
    ...(stratum.listen ? [(await import('./relays/stratum.ts')).stratumServer(stratum, log)] : []),
    ...(command === undefined ? [] : [(await import('./relays/external.ts')).externalWorker(command, log)]),
  ];
}
