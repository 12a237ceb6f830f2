/** Natives for texts, for encodings and hashes, and for texts that represent other values. */

import { keccak_256 } from '@noble/hashes/sha3.js';
import { encodeBase64url } from '../../protocol/ledger/json.ts';
import type { Dialect } from '../dialect.ts';
import { ContractError } from '../errors.ts';
import { isFunction } from '../evaluator/arguments.ts';
import { costOfFormat5 } from '../gas/natives5.ts';
import { characterCount } from '../gas/sizes.ts';
import { CHARSET_ASCII, CHARSET_LATIN1 } from '../runtime/built-ins.ts';
import { type Call, CapabilityToken, type Evaluator, type Native, nativeFailure, strict } from '../runtime/native.ts';
import { type BeforeShown, shownValue } from '../runtime/shown.ts';
import { characters, SteppedWalk, spendText } from '../runtime/steps.ts';
import { hashedText, hashText } from '../values/hash.ts';
import { printed, typeText } from '../values/printing.ts';
import { checkCharacters, isList, isStorable, isText, ModuleRef, type Value } from '../values/values.ts';
import { bytesOfBase64, bytesOrFault } from './base64.ts';

/**
 * @param native the name of the native, which the message of dialect 5 includes
 * @throws ContractError with the message of the dialect
 */
function fail(native: string, message4: string, message5: string, dialect: Dialect): never {
  throw dialect === 5 ? nativeFailure({ name: native }, message5) : new ContractError('eval', message4);
}

/** @throws ContractError with the message of the dialect */
function failDecoding(message4: string, message5: string, dialect: Dialect): never {
  throw new ContractError('eval', dialect === 5 ? `Decoding error: ${message5}` : message4);
}

const UNDECODABLE_5 = 'invalid b64 encoding';

/* Parts of texts. */

function concat([list, ...more]: readonly Value[], { evaluator }: Call): string | undefined {
  if (list === undefined || !isList(list) || more.length > 0) return undefined;
  let total = 0;
  for (const item of list) {
    if (isText(item)) total += item.length;
    else if (evaluator.dialect === 5) return undefined;
    else {
      const before: BeforeShown = ['expecting list of strings: ', 'expected list of strings, received value of type: '];
      throw new ContractError('eval', `concat: ${shownValue(evaluator, item, before)}`);
    }
  }
  spendText(evaluator, total);
  const joined = list.join('');
  evaluator.gas.concat(characterCount(joined), list.length);
  return joined;
}

/**
 * The native `format`, which replaces each `{}` of a template by the next value. If there are more values than `{}`,
 * the others are ignored.
 */
function format([template, values, ...more]: readonly Value[], { evaluator }: Call): string | undefined {
  if (!isText(template) || values === undefined || !isList(values) || more.length > 0) return undefined;
  const { dialect } = evaluator;
  spendText(evaluator, template.length);
  const [first, ...others] = template.split('{}');
  if (others.length > values.length) {
    const message = 'not enough arguments for template';
    fail('format', `format: ${message}`, message, dialect);
  }
  if (others.length > 0) evaluator.gas.format(template, values, new SteppedWalk(evaluator, { isBounded: false }));
  evaluator.gas.charge5('format', () => costOfFormat5([first, ...others], values, new SteppedWalk(evaluator)));
  let total = template.length;
  const parts = others.map((part, at) => {
    const value = values[at];
    const text = isText(value) ? value : printed(value, { dialect, commas: true });
    evaluator.spend(text.length);
    total += text.length;
    checkCharacters(total);
    return text + part;
  });
  return [first, ...parts].join('');
}

/* Numbers. */

/** Maximum number of code points that the native `str-to-int` reads, in both dialects. */
const MAX_READ = 512;
const HEX_DIGITS = /^[\da-f]+$/i;

function strToInt(values: readonly Value[], { evaluator }: Call): bigint | undefined {
  const { dialect } = evaluator;
  const [base, text] = values.length === 1 ? [10n, values[0]] : values;
  if (values.length > 2 || typeof base !== 'bigint' || text === undefined || !isText(text)) return undefined;
  const isKnown = (base >= 2n && base <= 16n) || base === 64n;
  if (dialect === 5 && !isKnown) failBase(dialect);
  if (text.length > MAX_READ && Array.from(text).length > MAX_READ) {
    const message = 'Invalid input, only up to 512 length supported';
    failDecoding(message, message, dialect);
  }
  if (!isKnown) failBase(dialect);
  return base === 64n ? integerOfBase64(text, evaluator) : integerOfDigits(text, base, dialect);
}

function failBase(dialect: Dialect): never {
  const message = 'Base value must be >= 2 and <= 16, or 64';
  return fail('str-to-int-base', message, message, dialect);
}

function integerOfDigits(text: string, base: bigint, dialect: Dialect): bigint {
  if (text === '') failDecoding('empty text: ', 'empty text: ', dialect);
  if (dialect === 5 && !HEX_DIGITS.test(text)) {
    failDecoding('', 'invalid digit: supported digits are 0-9, A-F', dialect);
  }
  let integer = 0n;
  for (const character of text) {
    const digit = HEX_DIGITS.test(character) ? BigInt(`0x${character}`) : base;
    if (digit >= base) {
      const message = `character '${character}' is out of range for base ${base}: ${text}`;
      failDecoding(message, message, dialect);
    }
    integer = integer * base + digit;
  }
  return integer;
}

/**
 * @returns the integer that the bytes of a base64url text encode, the most significant byte first
 * @throws ContractError for a text that is not base64url
 */
function integerOfBase64(text: string, evaluator: Evaluator): bigint {
  const bytes = bytesOrFault(text, evaluator);
  if (typeof bytes === 'string') return failDecoding(bytes, UNDECODABLE_5, evaluator.dialect);
  return BigInt(`0x0${Buffer.from(bytes).toString('hex')}`);
}

function intToStr([base, integer, ...more]: readonly Value[], { evaluator }: Call): string | undefined {
  if (typeof base !== 'bigint' || typeof integer !== 'bigint' || more.length > 0) return undefined;
  const { dialect } = evaluator;
  const isKnown = (base >= 2n && base <= 16n) || base === 64n;
  if (integer < 0n && (dialect === 5 || isKnown)) {
    const positional = `Numeric.showIntAtBase: applied to negative number ${integer}`;
    const message = base === 64n ? 'Only positive values allowed for base64URL conversion.' : positional;
    fail('int-to-str', message, 'int-to-str error: cannot show negative integer', dialect);
  }
  if (!isKnown) {
    fail('int-to-str', 'Invalid base, must be 2-16 or 64', 'invalid base for base64URL conversion', dialect);
  }
  const digits = integer.toString(base === 64n ? 16 : Number(base));
  evaluator.spend(digits.length);
  return base === 64n ? encodeBase64url(bytesOfHex(digits)) : digits;
}

function bytesOfHex(digits: string): Uint8Array {
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}

/* Characters and encodings. */

function isCharset([charset, text, ...more]: readonly Value[], { evaluator }: Call): boolean | undefined {
  if (typeof charset !== 'bigint' || text === undefined || !isText(text) || more.length > 0) return undefined;
  evaluator.spend(1 + Math.floor(text.length / 64));
  if (charset === CHARSET_ASCII) return /^[\0-\x7f]*$/.test(text);
  if (charset === CHARSET_LATIN1) return /^[\0-\xff]*$/.test(text);
  const message = 'Unsupported character set';
  return fail('is-charset', `${message}: ${charset}`, message, evaluator.dialect);
}

function base64Encode([text, ...more]: readonly Value[], { evaluator }: Call): string | undefined {
  if (text === undefined || !isText(text) || more.length > 0) return undefined;
  // Base64 encodes three bytes in four characters.
  spendText(evaluator, Math.ceil((Buffer.byteLength(text) * 4) / 3));
  return encodeBase64url(Buffer.from(text));
}

function base64Decode([text, ...more]: readonly Value[], { evaluator }: Call): string | undefined {
  if (text === undefined || !isText(text) || more.length > 0) return undefined;
  const { dialect } = evaluator;
  spendText(evaluator, text.length);
  const failed = 'Could not decode string: ';
  const bytes = bytesOrFault(text, evaluator);
  if (typeof bytes === 'string') return failDecoding(failed + bytes, UNDECODABLE_5, dialect);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return failDecoding(`${failed}Base64URL decode failed: invalid unicode`, UNDECODABLE_5, dialect);
  }
}

/* Hashes. */

function hash([value, ...more]: readonly Value[], { evaluator }: Call): string | undefined {
  if (value === undefined || more.length > 0) return undefined;
  if (!isStorable(value)) {
    if (evaluator.dialect === 5) return undefined;
    throw new ContractError('eval', `Only value-level terms permitted: ${evaluator.print(value)}`);
  }
  const text = hashedText(value);
  evaluator.spend(text.length);
  return hashText(text);
}

/**
 * The native `hash-keccak256`.
 * @returns the Keccak-256 hash, in base64url, of the concatenated bytes that the texts encode in base64url
 * @throws ContractError for a text that is not base64url
 */
function hashKeccak256([list, ...more]: readonly Value[], { evaluator }: Call): string | undefined {
  if (list === undefined || !isList(list) || !list.every(isText) || more.length > 0) return undefined;
  evaluator.gas.keccak256(list);
  const hasher = keccak_256.create();
  for (const text of list) {
    evaluator.spend(1 + text.length);
    const bytes = bytesOfBase64(text);
    if (!bytes) throw new ContractError('eval', 'Base64URL decode failed: a text is not base64url without padding');
    hasher.update(bytes);
  }
  return encodeBase64url(hasher.digest());
}

/* Texts that represent other values. */

function typeOf([value, ...more]: readonly Value[], { evaluator: { dialect } }: Call): string | undefined {
  if (value === undefined || more.length > 0) return undefined;
  return dialect === 4 ? typeText(value, dialect) : typeOf5(value);
}

function typeOf5(value: Value): string {
  if (value instanceof CapabilityToken) return 'CAPTOKEN';
  if (isFunction(value)) return '<<closure>>';
  if (value instanceof ModuleRef) return `module{${(value.interfaces ?? []).map(({ text }) => text).join(', ')}}`;
  return typeText(value, 5);
}

function show([value, ...more]: readonly Value[], { evaluator }: Call): string | undefined {
  if (value === undefined || more.length > 0) return undefined;
  const text = printed(value, { dialect: evaluator.dialect, commas: true });
  spendText(evaluator, text.length);
  return text;
}

export const TEXTS: readonly Native[] = [
  strict('base64-decode', 'string:string -> string', base64Decode),
  strict('base64-encode', 'string:string -> string', base64Encode),
  strict('concat', 'str-list:[string] -> string', concat),
  strict('format', 'template:string vars:[*] -> string', format),
  strict('hash', 'value:<a> -> string', hash),
  strict('hash-keccak256', 'bytes:[string] -> string', hashKeccak256),
  strict('int-to-str', 'base:integer val:integer -> string', intToStr),
  strict('is-charset', 'charset:integer input:string -> bool', isCharset),
  { ...strict('show', 'value:<a> -> string', show), dialect: 5 },
  strict('str-to-int', ['str-val:string -> integer', 'base:integer str-val:string -> integer'], strToInt),
  strict('str-to-list', 'str:string -> [string]', ([text, ...more], { evaluator }) => {
    if (text === undefined || !isText(text) || more.length > 0) return undefined;
    const list = characters(evaluator, text);
    evaluator.gas.makeList(list.length, 'str-to-list');
    return list;
  }),
  strict('typeof', 'x:<a> -> string', typeOf),
];
