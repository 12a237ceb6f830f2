/** `--external-worker`: somebody else's external worker beside the devices, or alone. */

import type { Logger } from 'pino';
import { ExternalRelay } from '../../relay/external.ts';
import type { Command } from '../../system/process-group.ts';
import type { MakeRelay } from '../run-miner.ts';
import { relayLog } from './relay-log.ts';

export function externalWorker(command: Command, log: Logger): MakeRelay {
  return ({ source, emit, clock }) => {
    return new ExternalRelay({ command, source, emit, clock, log: relayLog(log, 'external-worker') });
  };
}
