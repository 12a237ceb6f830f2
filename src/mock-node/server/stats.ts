/** What the mock server counts. */

import type { Endpoint } from './faults.ts';

export class ServerStats {
  /** TCP connections accepted. */
  connections = 0;
  /** Requests that arrived, whatever became of them. */
  readonly requests: Record<Endpoint, number> = { work: 0, solved: 0, updates: 0, config: 0, block: 0, health: 0 };
  /** Requests that a fault of the script hit. */
  faults = 0;
  /** The most update streams that were open at once. */
  mostOpenStreams = 0;
}
