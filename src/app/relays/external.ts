/** `--external-worker`: somebody else's external worker beside the devices, or alone. */

import type { Logger } from 'pino';
import { ExternalRelay } from '../../relay/external/external-relay.ts';
import type { Command } from '../../system/process-group.ts';
import type { MakeRelay } from '../run-miner.ts';

const TAG = { tag: 'external-worker' };

export function externalWorker(command: Command, log: Logger): MakeRelay {
  const relayLog = {
    debug: (line: string) => log.debug(TAG, line),
    warn: (line: string) => log.warn(TAG, line),
  };
  return ({ source, emit, clock }) => new ExternalRelay({ command, source, emit, clock, log: relayLog });
}
