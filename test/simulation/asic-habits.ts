/** The habits of simulated ASICs, and what follows them. */

import type { PreparedHeader } from './hashing.ts';

export interface AsicHabits {
  readonly hashesPerSecond: number;
  readonly user: string;
  /** The default chooses a difficulty of about 430 hashes per share. */
  readonly password: string;
  /** Parameters of `mining.subscribe`. */
  readonly subscription: readonly unknown[];
  /** The difficulty that it suggests, in the unit of the server; undefined for none. */
  readonly suggestion: number | undefined;
  /** Whether it authorizes before it subscribes. */
  readonly authorizesFirst: boolean;
  /** Whether nonce2 is written without leading zeros. */
  readonly omitsZeros: boolean;
  /** Time for which it goes on with its job after a newer one has come. */
  readonly lagMs: number;
  /** Share of the found shares that are sent twice: 0 to 1. */
  readonly duplicates: number;
  /** Wrong shares for each found one. */
  readonly wrong: number;
  /** Mean time after which it connects again without a reason; 0 for never. */
  readonly reconnectMs: number;
  /** Time between two rounds of hashing. */
  readonly roundMs: number;
  /** Time until it connects first. */
  readonly startMs: number;
}

export const USUAL: AsicHabits = {
  hashesPerSecond: 500,
  user: 'asic.1',
  password: 'd=0.0000001',
  subscription: ['asic/1', null],
  suggestion: undefined,
  authorizesFirst: false,
  omitsZeros: false,
  lagMs: 20,
  duplicates: 0,
  wrong: 0,
  reconnectMs: 0,
  roundMs: 200,
  startMs: 0,
};

/** `good`: it meets the target of its job, which the server had not replaced when the share was sent. */
export type ShareKind = 'good' | 'old' | 'duplicate' | 'wrong';

/** A share as it was sent. */
export interface SentShare {
  readonly kind: ShareKind;
  readonly user: string;
  readonly job: string;
  readonly nonce2: string;
}

/** Follows what an ASIC says and hears, each in its order. */
export interface AsicWatcher {
  nonce1(hex: string): void;
  target(target: Uint8Array): void;
  job(id: string, prepared: PreparedHeader, isClean: boolean): void;
  authorizes(user: string): void;
  share(share: SentShare): void;
  /** @param share the share that was answered @param answer `accepted` or the server's words */
  answer(share: SentShare, answer: string): void;
  /** @param nonces number of nonces that were searched */
  searched(nonces: number): void;
  /** The server has said nothing for so long that the ASIC connects again. */
  silent(): void;
  closed(): void;
  /** The server has done what no correct server does. */
  fault(what: string): void;
}
