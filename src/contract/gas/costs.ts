/**
 * The charges of the table model, in units of gas unless a name or a comment mentions thousandths of a unit. These
 * charges are those of nodes of dialect 4. Dialect 5 has others, except for cryptography (`natives5.ts`).
 */

import type { Dialect } from '../dialect.ts';
import { Decimal } from '../values/decimal.ts';
import { absolute } from '../values/integers.ts';
import { printed } from '../values/printing.ts';
import { Time } from '../values/time.ts';
import { type Guard, isGuard, isList, isObject, ModuleRef, type Value, type Walk } from '../values/values.ts';
import { bitCount, characterCount } from './sizes.ts';

/** The natives by the cost of a call, in units. Other natives cost 1 unit, except those of `ROWS_NATIVES`. */
const NAMES_BY_COST: Readonly<Record<number, string>> = {
  2: `= != < <= > >= at contains remove reverse sort distinct where with-capability compose-capability identity typeof
    yield resume time parse-time hyperlane-message-id hyperlane-decode-token-message hyperlane-encode-token-message`,
  3: '* / take drop filter fold install-capability add-time log',
  4: 'map zip bind format format-time ^ minutes hours days',
  5: 'hash exp',
  6: 'enforce-one sqrt ln',
  7: 'keyset-ref-guard',
  8: 'enforce-guard enforce-keyset diff-time',
  10: 'read read-msg enforce-verifier',
  12: 'namespace',
  13: 'with-read',
  14: 'with-default-read',
  25: 'define-keyset define-namespace',
  29: 'validate-keypair',
  33: 'decrypt-cc20p1305',
  100: `insert update write describe-keyset describe-module describe-namespace describe-table list-modules
    verify-spv`,
  124: 'poseidon-hash-hack-a-chain hash-poseidon',
  250: 'create-table',
  100000: 'txids txlog keylog',
  // The reference implementation has a table without `list`, and charges a million units for a native that is not in
  // the table.
  1000000: 'list',
};

const COSTS: ReadonlyMap<string, number> = new Map(
  Object.entries(NAMES_BY_COST).flatMap(([cost, names]) =>
    names.split(/\s+/).map((name) => [name, Number(cost)] as const),
  ),
);

/** The natives that visit all rows of a table. Each call costs `rowsCost` of the gas model. */
const ROWS_NATIVES: ReadonlySet<string> = new Set(['keys', 'select', 'fold-db']);

/**
 * @param rowsCost the cost of `keys`, `select` and `fold-db`, in units
 * @returns the cost of a call of any native, in units
 */
export function costOfNative(name: string, rowsCost: number): number {
  return ROWS_NATIVES.has(name) ? rowsCost : (COSTS.get(name) ?? 1);
}

/** Estimated charge for the memory of a module, for each code point of its source, in thousandths of a unit. */
const MODULE_CHARACTER = 145;
/** Estimated charge for the memory of an interface, for each code point of its source, in thousandths of a unit. */
const INTERFACE_CHARACTER = 35;
/**
 * Estimated charge for the memory of a module or an interface, in units, in addition to the charge for each code point.
 */
const MODULE_MEMORY = 60_000;

/**
 * The charge for the memory of a loaded module or interface. The reference implementation charges 0.006 units for each
 * byte of the compiled tree. No other implementation has this tree, so the charge is estimated from the length of the
 * source. For contracts on chain, the estimate changes the whole cost of loading by at most 0.5 percent.
 * @param code the source of the module or interface
 * @returns units
 */
export function moduleMemory(code: string, isInterface: boolean): number {
  const each = isInterface ? INTERFACE_CHARACTER : MODULE_CHARACTER;
  return MODULE_MEMORY + Math.ceil((characterCount(code) * each) / 1000);
}

/** Number of written bytes that cost one unit of gas. */
const BYTES_PER_UNIT = 10;

/** @param bytes size of what is stored, such as a key or a row @returns units, rounded up */
export function costOfWrite(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_UNIT);
}

/**
 * The cost of `sort` and `distinct`; before version 4.5 also of `make-list`, `enumerate` and `str-to-list`, and before
 * version 4.8 of `concat`. It is 1 unit for less than 100 items, and about 470 units for 5,000.
 */
export function costOfLength(items: number): number {
  if (items < 1) return 1;
  // The reference implementation computes with binary32, so each operation must be rounded to binary32 here, too.
  const logarithm = Math.fround(Math.fround(Math.log(items)) / Math.fround(Math.log(100)));
  const square = Math.fround(logarithm * logarithm);
  const fourth = Math.fround(square * square);
  const eighth = Math.fround(fourth * fourth);
  return 1 + Math.floor(Math.fround(eighth * square));
}

/** Magnitude below which an integer operand is free of charge, since version 4.8. */
export const FREE_INTEGERS = 10n ** 80n;
/** Magnitude below which an integer operand is free of charge, before version 4.8. */
export const FREE_INTEGERS_BEFORE_48 = 10n ** 30n;

/**
 * The cost of one operand of an arithmetic operation such as `+`, in units: the square of its number of whole bytes,
 * divided by 100.
 * @param integer the operand, or the mantissa of a decimal
 * @param free the magnitude below which integers are free of charge
 */
export function costOfInteger(integer: bigint, free: bigint): number {
  if (absolute(integer) < free) return 0;
  const bytes = Math.floor(bitCount(integer) / 8);
  return Math.floor((bytes * bytes) / 100);
}

/**
 * The charge for `concat` since version 4.8.
 * @param characters number of code points of all texts together
 * @param texts number of texts
 * @returns thousandths of a unit
 */
export function thousandthsOfConcat(characters: number, texts: number): number {
  return 50_000 + Math.floor((characters * 20) / Math.max(texts, 1)) + 40 * texts;
}

/** Number of reversed items that cost one unit of gas. */
const REVERSED_PER_UNIT = 100;

export function costOfReverse(items: number): number {
  return Math.floor(items / REVERSED_PER_UNIT);
}

/** Number of formatted characters that cost one unit of gas. */
const FORMATTED_PER_UNIT = 10;

/**
 * The charge for `format` since version 4.8, in units.
 * @param walk counts the visited parts of the values
 */
export function costOfFormat(template: string, values: readonly Value[], walk: Walk): number {
  const length = characterCount(template) + estimatedLengths(values, walk);
  return Math.floor(length / FORMATTED_PER_UNIT);
}

/**
 * The charge for `format` in the versions 4.4 to 4.7, in units.
 * @param walk counts the characters of the printed values
 */
export function oldCostOfFormat(template: string, values: readonly Value[], walk: Walk): number {
  return values.reduce((total: number, value) => {
    const text = typeof value === 'string' ? value : printed(value, { dialect: 4, commas: true });
    walk.visitText(text.length);
    return total + characterCount(text);
  }, characterCount(template));
}

/** Length of a step in hashed bytes. A principal costs `PRINCIPAL_STEP` more for each full step. */
const HASHED_PER_STEP = 64;
/** Charge for a principal with fewer hashed bytes than `HASHED_PER_STEP`, in units of gas. */
const PRINCIPAL_STEP = 5;

/** @param bytes number of hashed bytes; 0 for a principal without a hash @returns units */
export function costOfPrincipal(bytes: number): number {
  return PRINCIPAL_STEP * (1 + Math.floor(bytes / HASHED_PER_STEP));
}

/** @param lengths the length of each encoded text, in bytes @returns thousandths of a unit */
export function thousandthsOfKeccak256(lengths: readonly number[]): number {
  return lengths.reduce((total, bytes) => total + 2120 + 146 * Math.ceil(bytes / 100), 0);
}

/* The estimated lengths of printed values, in characters. */

function estimatedLengths(values: readonly Value[], walk: Walk): number {
  return walk.inside(() => values.reduce((total: number, value) => total + 1 + estimatedLength(value, walk), 0));
}

function estimatedLength(value: Value, walk: Walk): number {
  walk.visit(typeof value === 'string' ? 1 + Math.floor(value.length / 64) : 1);
  if (typeof value === 'string') return characterCount(value);
  if (typeof value === 'bigint') return powersOfTenBelow(value);
  if (typeof value === 'boolean') return 5;
  if (value instanceof Decimal) return powersOfTenBelow(value.mantissa);
  if (value instanceof Time) return 100;
  if (isList(value)) return estimatedLengths(value, walk);
  if (isObject(value)) {
    const names = [...value.keys()].reduce((total, name) => total + characterCount(name), 0);
    return names + estimatedLengths([...value.values()], walk);
  }
  if (isGuard(value)) return estimatedGuard(value, walk);
  return value instanceof ModuleRef ? lengthOf(value.name.text) : 0;
}

function estimatedGuard(guard: Guard, walk: Walk): number {
  switch (guard.kind) {
    case 'keyset':
      return estimatedLengths(guard.keys, walk) + lengthOf(guard.predicate);
    case 'keyset-ref':
      return lengthOf(guard.name);
    case 'module':
      return lengthOf(guard.module.text) + characterCount(guard.name);
    case 'defpact':
      return characterCount(guard.pactId) + characterCount(guard.name);
    case 'user':
      return lengthOf(guard.fun.text) + estimatedLengths(guard.args, walk);
    case 'capability': {
      const pactId = characterCount(guard.pactId ?? '');
      return lengthOf(guard.name.text) + estimatedLengths(guard.args, walk) + pactId;
    }
  }
}

/** @returns the number of code points of a name, without the dots */
function lengthOf(name: string): number {
  return characterCount(name.replaceAll('.', ''));
}

/** @returns the logarithm of the integer to base 10, rounded down; 0 for integers below 1 */
function powersOfTenBelow(integer: bigint): number {
  return integer < 1n ? 0 : integer.toString().length - 1;
}

/* Natives of cryptography. Their charges, beside that of the call, are in thousandths of a unit. */

export type CurveGroup = 'g1' | 'g2';

export const POINT_ADD: Readonly<Record<CurveGroup, number>> = { g1: 5_000, g2: 30_000 };
export const SCALAR_MULT: Readonly<Record<CurveGroup, number>> = { g1: 360_000, g2: 1_450_000 };

/** For one pair and more, dialect 5 charges a thousandth of what dialect 4 does, in its sources and on networks. */
export function chargeOfPairings(pairs: number, dialect: Dialect): number {
  if (pairs === 0) return 100_000;
  return (3_760 * pairs + 11_600) * (dialect === 4 ? 1_000 : 1);
}

/** @param inputs the number of hashed integers */
export function chargeOfPoseidon(inputs: number, dialect: Dialect): number {
  const [squared, linear] = dialect === 4 ? [38, 50] : [50, 38];
  return 1_000 * (squared * inputs * inputs + linear * inputs);
}

/** @param bytes in dialect 4, the length of the message's body in base64url; in dialect 5, that of the id */
export function chargeOfMessageId(bytes: number, dialect: Dialect): number {
  return dialect === 4 ? 47 * Math.floor(bytes / 100) : bytes;
}

/** @param characters the length of the message in base64url; in dialect 4, that of the recipient of an encoded one */
export function chargeOfTokenMessage(characters: number, dialect: Dialect): number {
  return dialect === 4 ? 50 * Math.floor(characters / 100) : characters;
}
