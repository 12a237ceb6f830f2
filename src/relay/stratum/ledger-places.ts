/**
 * Bounds what clients can make the share ledger write. Each session has a place, and leaves it to the next session from the same
 * address with all that it has used up: a client that connects again and again gains nothing by it. All places of an address
 * together have a bound as well, because an address may have thousands of sessions at one time.
 */

import { OTHER_WORKERS } from '../../events/vocabulary.ts';
import type { Clock } from '../../system/clock.ts';
import { TokenBucket } from '../../system/token-bucket.ts';
import { siteOf } from './bans.ts';
import type { LedgerEntry } from './ledger-line.ts';
import type { StratumLimits } from './limits.ts';

/** How often left-out lines are summed up: a flood may last for days, and the ledger should show it meanwhile. */
const TELL_MS = 60_000;
/** For each line of shares that an address may have, it may have so many that sum up what was left out. */
const SUMS_PER_LINE = 0.1;

export type ShareEntry = Omit<Extract<LedgerEntry, { type: 'share' }>, 'type' | 'session'>;

export interface PlacesOptions {
  /** Writes a line of the ledger. */
  readonly record: (entry: LedgerEntry) => void;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly limits: StratumLimits;
  /** The seconds between two shares of a session whose rate is known. */
  readonly aimSeconds: number;
}

/** Of one worker: how many shares have no line, and what the accepted ones among them stand for. */
interface LeftOut {
  lines: number;
  accepted: number;
  blocks: number;
  acceptedHashes: number;
}

/** What all places of one address have together. */
class AddressLines {
  readonly shares: TokenBucket;
  readonly sums: TokenBucket;
  /** How many places it has. */
  places = 0;

  constructor({ clock, limits }: PlacesOptions) {
    const { ledgerBurstPerAddress: most, ledgerLinesPerSecondPerAddress: perSecond } = limits;
    const nowMs = clock.monotonicMs();
    this.shares = new TokenBucket(most, perSecond, nowMs);
    this.sums = new TokenBucket(SUMS_PER_LINE * most, SUMS_PER_LINE * perSecond, nowMs);
  }
}

export class LedgerPlace {
  readonly network: string;
  readonly #options: PlacesOptions;
  readonly #address: AddressLines;
  readonly #lines: TokenBucket;
  readonly #worthless: TokenBucket;
  readonly #leftOut = new Map<string, LeftOut>();
  #toldMs: number;

  /** @param network `siteOf` the client's address */
  constructor(network: string, address: AddressLines, options: PlacesOptions) {
    const { clock, limits, aimSeconds } = options;
    this.network = network;
    this.#address = address;
    this.#options = options;
    this.#toldMs = clock.monotonicMs();
    this.#lines = new TokenBucket(limits.ledgerBurst, limits.ledgerLinesPerShare / aimSeconds, this.#toldMs);
    this.#worthless = new TokenBucket(limits.worthlessBurst, limits.worthlessPerSecond, this.#toldMs);
  }

  /**
   * @param lines how many the share needs
   * @returns whether it gets them. If not, it is summed up
   */
  admit(share: ShareEntry, lines: number): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    // A share that stands for nothing costs its client nothing either, so there can be any number of them.
    const isRare = Boolean(share.difficulty) || this.#worthless.take(1, nowMs);
    if (isRare && this.#lines.take(lines, nowMs) && this.#address.shares.take(lines, nowMs)) return true;
    this.#leaveOut(share);
    return false;
  }

  /** Tells how many lines were left out, if it is time for that. Where the address has no line for it, the sums grow on. */
  tell(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#toldMs < TELL_MS || !this.#address.sums.take(this.#leftOut.size, nowMs)) return;
    this.tellNow();
  }

  tellNow(): void {
    if (this.#leftOut.size === 0) return;
    for (const [worker, sums] of this.#leftOut) this.#options.record({ type: 'left-out', worker, ...sums });
    this.#leftOut.clear();
    this.#toldMs = this.#options.clock.monotonicMs();
  }

  #leaveOut({ worker, result, difficulty = 0, isBlock }: ShareEntry): void {
    const isFull = this.#leftOut.size >= this.#options.limits.workersPerSession && !this.#leftOut.has(worker);
    const name = isFull ? OTHER_WORKERS : worker;
    const sums = this.#leftOut.get(name) ?? { lines: 0, accepted: 0, blocks: 0, acceptedHashes: 0 };
    this.#leftOut.set(name, sums);
    sums.lines++;
    if (result !== 'accepted') return;
    sums.accepted++;
    if (isBlock) sums.blocks++;
    sums.acceptedHashes += difficulty;
  }
}

export class LedgerPlaces {
  readonly #options: PlacesOptions;
  /** The places that no session has, by network; those that were left least recently come first. */
  readonly #free = new Map<string, LedgerPlace[]>();
  /** By network, as long as it has places. */
  readonly #addresses = new Map<string, AddressLines>();
  #count = 0;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  get record(): PlacesOptions['record'] {
    return this.#options.record;
  }

  /** @returns a place for a session of this client. It must be given back */
  take(address: string): LedgerPlace {
    const network = siteOf(address);
    const free = this.#free.get(network);
    const place = free?.pop();
    if (free?.length === 0) this.#free.delete(network);
    if (!place) return this.#make(network);
    this.#count--;
    return place;
  }

  giveBack(place: LedgerPlace): void {
    place.tell();
    const free = this.#free.get(place.network) ?? [];
    free.push(place);
    this.#free.delete(place.network);
    this.#free.set(place.network, free);
    this.#count++;
    // There are never more sessions than connections at one time.
    if (this.#count > this.#options.limits.connections) this.#forget();
  }

  /** Writes the sums that are not written yet. All places must have been given back. */
  close(): void {
    for (const free of this.#free.values()) for (const place of free) place.tellNow();
  }

  #make(network: string): LedgerPlace {
    const address = this.#addresses.get(network) ?? new AddressLines(this.#options);
    this.#addresses.set(network, address);
    address.places++;
    return new LedgerPlace(network, address, this.#options);
  }

  #forget(): void {
    const [network, free] = this.#free.entries().next().value as [string, LedgerPlace[]];
    const address = this.#addresses.get(network) as AddressLines;
    free.shift()?.tellNow();
    if (free.length === 0) this.#free.delete(network);
    if (--address.places === 0) this.#addresses.delete(network);
    this.#count--;
  }
}
