/** Decides who may connect: bounds connections, and bans addresses. It logs bans, at a bounded rate. Pure but for the log. */

import { LogBucket } from '../../system/log-bucket.ts';
import type { RelayLog } from '../relay.ts';
import { Bans, networkOf } from './bans.ts';
import type { StratumLimits } from './limits.ts';

/** How bad a connection as such is: 5,000 may come at once from an address, and then 50 a second. */
const CONNECTION_POINTS = 0.02;
/** Lines of the log about bans that may come at once. */
const LOG_BURST = 10;

export class Doorkeeper {
  readonly #limits: StratumLimits;
  readonly #log: RelayLog;
  readonly #bans: Bans;
  readonly #logged: LogBucket;
  /** How many connections there are, by `networkOf` their address. */
  readonly #counts = new Map<string, number>();

  constructor(limits: StratumLimits, log: RelayLog, nowMs: number) {
    this.#limits = limits;
    this.#log = log;
    this.#bans = new Bans(limits);
    this.#logged = new LogBucket(LOG_BURST, nowMs);
  }

  /** @returns why this connection is refused; undefined when it may stay, and `leave` must be called at its end */
  enter(address: string, nowMs: number): 'banned' | 'crowded' | undefined {
    if (this.#bans.isBanned(address, nowMs)) return 'banned';
    this.note(address, CONNECTION_POINTS, 'too many connections', nowMs);
    const network = networkOf(address);
    const count = this.#counts.get(network) ?? 0;
    if (count >= this.#limits.connectionsPerAddress) return 'crowded';
    this.#counts.set(network, count + 1);
    return undefined;
  }

  leave(address: string): void {
    const network = networkOf(address);
    const count = (this.#counts.get(network) ?? 1) - 1;
    if (count > 0) this.#counts.set(network, count);
    else this.#counts.delete(network);
  }

  /** @param points how bad it was what came from this address */
  note(address: string, points: number, reason: string, nowMs: number): void {
    if (points === 0 || !this.#bans.note(address, points, nowMs)) return;
    const unlogged = this.#logged.take(nowMs);
    if (unlogged === undefined) return;
    const others = unlogged > 0 ? `; so were ${unlogged} others` : '';
    const minutes = Math.ceil(this.#limits.banMs / 60_000);
    this.#log.warn(`${address} is banned for ${minutes} minutes: ${reason}${others}`);
  }
}
