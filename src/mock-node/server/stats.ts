/** The counters of the mock server. */

import type { Endpoint } from './faults.ts';

export class ServerStats {
  /** How many TCP connections were accepted. */
  connections = 0;
  /** How many requests arrived at each endpoint, whatever the answer was. */
  readonly requests: Record<Endpoint, number> = { work: 0, solved: 0, updates: 0, config: 0, block: 0, health: 0 };
  /** How many requests were hit by a fault of the script. */
  faults = 0;
  /** The largest number of update streams that were open at the same time. */
  mostOpenStreams = 0;
}
