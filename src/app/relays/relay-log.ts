/** The log as relays see it. */

import type { Logger } from 'pino';
import type { RelayLog } from '../../relay/relay.ts';

export function relayLog(log: Logger, tag: string): RelayLog {
  return {
    debug: (line) => log.debug({ tag }, line),
    info: (line) => log.info({ tag }, line),
    warn: (line) => log.warn({ tag }, line),
  };
}
