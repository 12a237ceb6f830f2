/** Writes a session into the ledger: when it has begun, and its shares, as far as its place allows. */

import type { LedgerEntry } from './ledger-line.ts';
import type { LedgerPlace, LedgerPlaces, ShareEntry } from './ledger-places.ts';

export type SessionEntry = Extract<LedgerEntry, { type: 'session' }>;

export class ShareBook {
  readonly #places: LedgerPlaces;
  readonly #place: LedgerPlace;
  /** Waits for the first share: a client may connect and leave as often as it likes. */
  #begin: SessionEntry | undefined;
  readonly #session: number;

  constructor(places: LedgerPlaces, begin: SessionEntry) {
    this.#places = places;
    this.#place = places.take(begin.address);
    this.#begin = begin;
    this.#session = begin.session;
  }

  write(share: ShareEntry): void {
    this.#place.tell();
    if (!this.#place.admit(share, this.#begin ? 2 : 1)) return;
    if (this.#begin) this.#places.record(this.#begin);
    this.#begin = undefined;
    this.#places.record({ type: 'share', session: this.#session, ...share });
  }

  /** The session has ended. */
  end(): void {
    this.#places.giveBack(this.#place);
  }
}
