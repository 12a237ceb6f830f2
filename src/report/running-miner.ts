/** A miner that runs, as whatever runs beside it gets it: the HTTP server, guards, notices, the terminal. */

import type { Logger } from 'pino';
import type { Controls, Events } from '../events/events.ts';
import type { Clock } from '../system/clock.ts';
import type { AskBalance } from './earnings.ts';
import type { LogTail } from './log-tail.ts';
import type { Setup } from './rig.ts';
import type { Tally } from './tally.ts';

export interface RunningMiner {
  /** What its owner calls the rig. */
  readonly rigName: string;
  readonly setup: Setup;
  readonly controls: Controls;
  readonly events: Events;
  /** It has had each event before any other listener gets it. */
  readonly tally: Tally;
  readonly clock: Clock;
  readonly log: Logger;
  readonly logTail: LogTail;
  /** Asks what the account that is mined for has; absent where there is no node to ask. */
  readonly askBalance?: AskBalance | undefined;
}
