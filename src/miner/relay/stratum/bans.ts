/**
 * Bans addresses of clients that flood the server or send junk. New connections from a banned address are refused for
 * some minutes. Its existing connections are not closed, because a whole farm can have one address. Pure.
 */

import { BoundedMap, TokenBucket } from '../../../base/system/bounded.ts';
import { networkOf } from './client-network.ts';
import type { StratumLimits } from './stratum-limits.ts';

type BanLimits = Pick<StratumLimits, 'banPoints' | 'banPointsPerMinute' | 'banMs' | 'remembered'>;

interface Offender {
  readonly bucket: TokenBucket;
  bannedUntilMs: number;
}

export class Bans {
  readonly #limits: BanLimits;
  /** The clients with penalties, by the network of their address (`networkOf`). */
  readonly #offenders: BoundedMap<string, Offender>;

  constructor(limits: BanLimits) {
    this.#limits = limits;
    this.#offenders = new BoundedMap(limits.remembered);
  }

  isBanned(address: string, nowMs: number): boolean {
    const offender = this.#offenders.get(networkOf(address));
    return offender !== undefined && offender.bannedUntilMs > nowMs;
  }

  /** Counts penalty points of an address. @returns whether these points have caused a ban */
  note(address: string, points: number, nowMs: number): boolean {
    const { banPoints, banPointsPerMinute, banMs } = this.#limits;
    const network = networkOf(address);
    const bucket = () => new TokenBucket(banPoints, banPointsPerMinute / 60, nowMs);
    const offender = this.#offenders.get(network) ?? { bucket: bucket(), bannedUntilMs: 0 };
    this.#offenders.set(network, offender);
    if (offender.bannedUntilMs > nowMs || offender.bucket.take(points, nowMs)) return false;
    offender.bannedUntilMs = nowMs + banMs;
    return true;
  }
}
