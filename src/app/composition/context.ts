/** What a rig uses from outside, apart from its settings, its devices and its log. */

import { type Clock, systemClock } from '../../base/system/clock.ts';
import type { OpenConnection } from '../../miner/source/pool/pool-source.ts';
import type { NodeTransport } from '../../node/http/exchange.ts';

export interface RigContext {
  readonly clock: Clock;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random: () => number;
  /** Carries the requests to nodes. If absent, they go over the network. */
  readonly transport?: NodeTransport;
  /** Opens the connections to pools. If absent, they use TCP or TLS. */
  readonly openConnection?: OpenConnection;
}

export const systemContext: RigContext = { clock: systemClock, random: () => Math.random() };
