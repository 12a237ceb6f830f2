/** The counters of the mock server. */

import { type Endpoint, endpoints } from './faults.ts';

export class ServerStats {
  /** How many TCP connections were accepted. */
  connections = 0;
  /** How many requests arrived at each endpoint, whatever the answer was. */
  readonly requests: Record<Endpoint, number> = noRequests();
  /** How many requests were hit by a fault of the script. */
  faults = 0;
  /** How many requests were refused because their client asked too often. */
  throttled = 0;
  /** The largest number of update streams that were open at the same time. */
  mostOpenStreams = 0;
}

function noRequests(): Record<Endpoint, number> {
  return Object.fromEntries(endpoints.map((endpoint) => [endpoint, 0])) as Record<Endpoint, number>;
}
