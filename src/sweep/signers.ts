/** Which keys have to sign for an account. */

import type { Keyset } from '../ledger/command/coin.ts';

/** How many of its keys a keyset needs; undefined for a predicate that the ledger does not define. */
function signaturesNeeded({ keys, pred }: Keyset): number | undefined {
  return { 'keys-all': keys.length, 'keys-any': 1, 'keys-2': 2 }[pred];
}

/**
 * @param held the public keys whose secret keys are at hand
 * @returns as many of them as the keyset needs; undefined when they do not suffice
 */
export function signersOf(guard: Keyset, held: readonly string[]): readonly string[] | undefined {
  const needed = signaturesNeeded(guard);
  const usable = guard.keys.filter((key) => held.includes(key));
  return needed === undefined || needed < 1 || usable.length < needed ? undefined : usable.slice(0, needed);
}

/** @returns the only guard that an account of this name can have; undefined for names that leave it open */
export function guardOfName(account: string): Keyset | undefined {
  const [, key] = /^k:([0-9a-f]{64})$/.exec(account) ?? [];
  return key === undefined ? undefined : { keys: [key], pred: 'keys-all' };
}
