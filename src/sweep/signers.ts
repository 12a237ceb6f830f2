/** Which keys have to sign for an account, and which guards are signed for. */

import type { Keyset } from '../ledger/command/coin.ts';
import { quoted } from '../ledger/errors.ts';

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

/**
 * Whoever satisfies the guard that a step 0 names has the coins, and nodes say which guard an account has. So its keys must
 * be among those that the user has named, and where several keys leave it open how many of them must sign, the user's word
 * decides about that, too.
 * @param known the keys that may be in the guard, and the predicate of a guard with several keys
 * @returns what is wrong with a guard; undefined when it may be signed
 */
export function guardFault(guard: Keyset, known: Keyset): string | undefined {
  const { keys, pred } = guard;
  const strangers = keys.filter((key) => !known.keys.includes(key));
  if (strangers.length > 0) {
    return `has keys that you have not named: ${strangers.join(', ')}. Name with --guard-key those that belong to it`;
  }
  const impossible = impossibleGuard(guard);
  if (impossible !== undefined) return impossible;
  if (signaturesNeeded(guard) === undefined || keys.length === 1 || pred === known.pred) return undefined;
  return `has the predicate ${pred}, and not ${known.pred}. If that is right, say so with --predicate ${pred}`;
}

/** @returns why nobody could ever sign for a guard; undefined when somebody could */
export function impossibleGuard(guard: Keyset): string | undefined {
  const { keys, pred } = guard;
  const needed = signaturesNeeded(guard);
  const isPossible = new Set(keys).size === keys.length && (needed === undefined || needed <= keys.length);
  if (isPossible) return undefined;
  return `has ${keys.length === 1 ? 'one key' : 'a key twice'} and the predicate ${quoted(pred)}, which nobody could satisfy`;
}
