/**
 * Bans addresses that flood the server or send junk: for some minutes, no new connection of theirs is accepted. Connections that
 * behave go on, because a whole farm can have one address. Pure.
 */

import { isIPv6 } from 'node:net';
import { TokenBucket } from '../../system/token-bucket.ts';
import type { StratumLimits } from './limits.ts';
import { plainAddress } from './plain-address.ts';

type BanLimits = Pick<StratumLimits, 'banPoints' | 'banPointsPerMinute' | 'banMs' | 'remembered'>;

interface Known {
  readonly bucket: TokenBucket;
  bannedUntilMs: number;
}

export class Bans {
  readonly #limits: BanLimits;
  /** By `networkOf` their address; those that did something wrong least recently come first. */
  readonly #known = new Map<string, Known>();

  constructor(limits: BanLimits) {
    this.#limits = limits;
  }

  isBanned(address: string, nowMs: number): boolean {
    const known = this.#known.get(networkOf(address));
    return known !== undefined && known.bannedUntilMs > nowMs;
  }

  /** @param points how bad it was what came from this address @returns whether it is banned because of that */
  note(address: string, points: number, nowMs: number): boolean {
    const { banPoints, banPointsPerMinute, banMs, remembered } = this.#limits;
    const network = networkOf(address);
    const bucket = () => new TokenBucket(banPoints, banPointsPerMinute / 60, nowMs);
    const known = this.#known.get(network) ?? { bucket: bucket(), bannedUntilMs: 0 };
    this.#known.delete(network);
    this.#known.set(network, known);
    if (this.#known.size > remembered) this.#known.delete(this.#known.keys().next().value as string);
    if (known.bannedUntilMs > nowMs || known.bucket.take(points, nowMs)) return false;
    known.bannedUntilMs = nowMs + banMs;
    return true;
  }
}

/** Whoever has an IPv6 network of 48 bits, which is a usual size, has 65,536 of 64 bits. */
const SITE_BITS = 48;

/** @returns an IPv4 address as it is; of an IPv6 address its network of 48 bits. What is bounded for each address is bounded for it */
export function siteOf(address: string): string {
  return networkOf(address, SITE_BITS);
}

/**
 * @param bits how many bits of an IPv6 address make its network, a multiple of 16. Whoever has one address has all that begin with
 * the same 64 bits
 * @returns an IPv4 address as it is; of an IPv6 address its network
 */
export function networkOf(address: string, bits = 64): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head, tail] = plain.replace(/%.*$/, '').split('::');
  const groups = head === '' ? [] : head.split(':');
  const last = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : 8 - groups.length - last.length - (plain.includes('.') ? 1 : 0);
  const all = [...groups, ...Array<string>(Math.max(0, zeros)).fill('0'), ...last];
  return `${all
    .slice(0, bits / 16)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/${bits}`;
}
