/** What all sessions of a stratum server share. */

import type { LogBucket } from '../../system/bounded.ts';
import type { Clock } from '../../system/clock.ts';
import type { Accounts } from '../accounts.ts';
import type { RelayedWorks, RelayLog } from '../relay.ts';
import type { RememberedRates } from './difficulty.ts';
import type { SharedJobs } from './jobs.ts';
import type { StratumLimits } from './limits.ts';
import type { Nonce1Pool } from './nonce1-pool.ts';
import type { ShareLogQuota } from './share-log.ts';

export interface SessionContext {
  readonly works: Pick<RelayedWorks, 'current' | 'judge' | 'isStale'>;
  readonly jobs: SharedJobs;
  readonly nonce1s: Nonce1Pool;
  readonly accounts: Accounts;
  readonly rates: RememberedRates;
  readonly clock: Clock;
  readonly limits: StratumLimits;
  /** The seconds between two shares of a session whose rate is known. */
  readonly aimSeconds: number;
  /** The seconds between two shares of a session whose rate is not known. */
  readonly learningSeconds: () => number;
  /** Where sessions and their shares are written down. */
  readonly quota: ShareLogQuota;
  readonly log: RelayLog;
  /** Bounds the log's lines about workers that bring their first share. */
  readonly firstShares: LogBucket;
}

/** An answer to a client's request, and what follows once it is sent. */
export type Reply = ({ readonly result: unknown } | { readonly code: number; readonly words: string }) & {
  readonly afterwards?: () => void;
  /** Whether the request was a share that met its target, also where it came too late. */
  readonly metTarget?: boolean;
};
