/** Principals: account names that are made from guards. Such an account can belong only to the guard in its name. */

import { isDottedName, ModuleName } from '../names.ts';
import { hashText } from './hash.ts';
import { jsonTextOf } from './json.ts';
import {
  type CapabilityGuard,
  DEFAULT_PREDICATE,
  type Guard,
  type KeysetGuard,
  type Storable,
  type UserGuard,
} from './values.ts';

/** A public key of ED25519 in a keyset: 32 bytes in lower-case hex digits. */
const KEY = /^[\da-f]{64}$/;
/** A public key in a principal. `create-principal` writes only lower-case hex digits, but checks ignore the case. */
const KEY_IN_PRINCIPAL = /^[\da-f]{64}$/i;
/** A hash of 32 bytes in base64url without padding. */
const HASH = /^[\w-]{43}$/;

/**
 * The native `create-principal`.
 * @throws ContractError as `jsonTextOf`, if the arguments of a user guard or a capability guard cannot be written
 */
export function principalOf(guard: Guard): string {
  switch (guard.kind) {
    case 'keyset':
      return keysetPrincipal(guard);
    case 'keyset-ref':
      return `r:${guard.name}`;
    case 'user':
      return `u:${guard.fun.text}:${hashText(hashedOfUser(guard))}`;
    case 'capability':
      return `c:${hashText(hashedOfCapability(guard))}`;
    case 'module':
      return `m:${guard.module.text}:${guard.name}`;
    case 'defpact':
      return `p:${guard.pactId}:${guard.name}`;
  }
}

/**
 * @returns the text that `principalOf` hashes for this guard; undefined if it hashes nothing
 * @throws ContractError as `principalOf`
 */
export function hashedForPrincipal(guard: Guard): string | undefined {
  if (guard.kind === 'user') return hashedOfUser(guard);
  if (guard.kind === 'capability') return hashedOfCapability(guard);
  return guard.kind === 'keyset' && !isSingleKey(guard) ? hashedOfKeyset(guard) : undefined;
}

/**
 * The native `typeof-principal`. Only the form of the text is checked, not whether the guard exists.
 * @returns `k:`, `w:`, `r:`, `u:`, `m:`, `p:` or `c:`; an empty text for a text that does not have one of these forms
 */
export function typeOfPrincipal(text: string): string {
  const type = text.slice(0, 2);
  // Any name is accepted here, because names of old keysets have no fixed form.
  if (type === 'r:') return text.length > type.length ? type : '';
  const [first, second, ...more] = text.slice(2).split(':');
  return more.length === 0 && hasForm(type, first, second) ? type : '';
}

/** The native `is-principal`. */
export function isPrincipal(text: string): boolean {
  return typeOfPrincipal(text) !== '';
}

/**
 * @param type the first two characters of the text
 * @param first the part after the type, up to the next colon
 * @param second the part after that colon; undefined if there is no such colon
 */
function hasForm(type: string, first: string, second: string | undefined): boolean {
  if (second === undefined) return type === 'k:' ? KEY_IN_PRINCIPAL.test(first) : type === 'c:' && HASH.test(first);
  switch (type) {
    case 'w:':
    case 'p:':
      return HASH.test(first) && isDottedName(second);
    case 'u:':
      return isDottedName(first) && HASH.test(second);
    case 'm:':
      return ModuleName.parse(first) !== undefined && isDottedName(second);
    default:
      return false;
  }
}

function keysetPrincipal(guard: KeysetGuard): string {
  return isSingleKey(guard) ? `k:${guard.keys[0]}` : `w:${hashText(hashedOfKeyset(guard))}:${guard.predicate}`;
}

function isSingleKey({ keys, predicate }: KeysetGuard): boolean {
  return keys.length === 1 && predicate === DEFAULT_PREDICATE && KEY.test(keys[0]);
}

function hashedOfKeyset({ keys }: KeysetGuard): string {
  return keys.join('');
}

function hashedOfUser({ args }: UserGuard): string {
  return jsonTexts(args);
}

function hashedOfCapability({ name, args, pactId = '' }: CapabilityGuard): string {
  return name.text + jsonTexts(args) + pactId;
}

function jsonTexts(values: readonly Storable[]): string {
  return values.map(jsonTextOf).join('');
}
