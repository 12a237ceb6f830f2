/** Natives for messages of Hyperlane, a bridge between ledgers: their encoding and id. Integers are big-endian. */

import { keccak_256 } from '@noble/hashes/sha3.js';
import { encodeBase64url, LedgerFormatError, parseExactJson } from '../../protocol/ledger/json.ts';
import type { Dialect } from '../dialect.ts';
import { ContractError } from '../errors.ts';
import { chargeOfMessageId, chargeOfTokenMessage } from '../gas/costs.ts';
import { characterCount } from '../gas/sizes.ts';
import { type Call, type Evaluator, type Native, strict } from '../runtime/native.ts';
import { Decimal } from '../values/decimal.ts';
import { guardOfJson } from '../values/json.ts';
import { type ContractObject, type Guard, isObject, isText, sortedObject, type Value } from '../values/values.ts';
import { bytesOfBase64 } from './base64.ts';

/** Number of bytes of an address. */
const ADDRESS_BYTES = 32;
const AMOUNT_BYTES = 32;
const CHAIN_BYTES = 2;
/** An amount of a decoded message counts units of 10⁻¹⁸. */
const PLACES = 18;

function fail({ dialect }: Evaluator, message: string): never {
  throw new ContractError('eval', dialect === 4 ? message : `Hyperlane native error: ${message}`);
}

function failToDecode({ dialect }: Evaluator, message: string): never {
  throw new ContractError('eval', dialect === 4 ? message : `Hyperlane decode error: ${message}`);
}

/** The fields of an object that a native reads. */
class Fields {
  readonly #object: ContractObject;
  readonly #evaluator: Evaluator;

  constructor(object: ContractObject, evaluator: Evaluator) {
    this.#object = object;
    this.#evaluator = evaluator;
  }

  text(key: string): string {
    const value = this.#object.get(key);
    return value !== undefined && isText(value) ? value : this.#missing(key);
  }

  decimal(key: string): Decimal {
    const value = this.#object.get(key);
    return value instanceof Decimal ? value : this.#missing(key);
  }

  /** @returns an unsigned integer in this number of bytes */
  integer(key: string, bytes: number): Buffer {
    const value = this.#object.get(key);
    if (typeof value !== 'bigint') return this.#missing(key);
    if (value < 0n || value >= 1n << BigInt(8 * bytes)) fail(this.#evaluator, `Object key ${key} was out of bounds`);
    return bigEndian(value, bytes);
  }

  /** @param length the number of bytes that the field must have; any if it is undefined */
  bytes(key: string, length?: number): Uint8Array {
    const bytes = bytesOfBase64(this.text(key)) ?? fail(this.#evaluator, `Invalid base64 encoding on field ${key}`);
    if (length === undefined || bytes.length === length) return bytes;
    const message = `Incorrect binary data size ${key}. Expected: ${length}, but got ${bytes.length}`;
    return fail(this.#evaluator, message);
  }

  #missing(key: string): never {
    return fail(this.#evaluator, `Failed to find key in object: ${key}`);
  }
}

/** @param value taken modulo 2 to the power of the number of bits */
function bigEndian(value: bigint, bytes: number): Buffer {
  const digits = BigInt.asUintN(8 * bytes, value).toString(16);
  return Buffer.from(digits.padStart(2 * bytes, '0'), 'hex');
}

/** A native that makes a text of an object. */
interface Encoder {
  readonly native: string;
  /** The key of the field whose length decides the charge in dialect 4, and what its messages call this field. */
  readonly charged: readonly [key: string, what: string];
  readonly chargeOf: (length: number, dialect: Dialect) => number;
  readonly encode: (fields: Fields, evaluator: Evaluator) => string;
}

/** Charges in dialect 4 before the work, for the field; in dialect 5 after the work, for the text. */
function encoder({ native, charged: [key, what], chargeOf, encode }: Encoder): Native {
  return strict(native, 'x:object:* -> string', ([object, ...more], { evaluator }) => {
    if (object === undefined || !isObject(object) || more.length > 0) return undefined;
    const { dialect, gas } = evaluator;
    const charge = (length: number) => gas.cryptography(native, chargeOf(length, dialect));
    if (dialect === 4) {
      const value = object.get(key);
      if (value === undefined || !isText(value)) throw new ContractError('eval', `couldn't find ${what}`);
      charge(Buffer.byteLength(value));
    }
    const text = encode(new Fields(object, evaluator), evaluator);
    if (dialect === 5) charge(text.length);
    return text;
  });
}

/** @returns the Keccak-256 hash of the message, in base64url */
function messageId(fields: Fields, evaluator: Evaluator): string {
  const message = Buffer.concat([
    fields.integer('version', 1),
    fields.integer('nonce', 4),
    fields.integer('originDomain', 4),
    fields.bytes('sender', ADDRESS_BYTES),
    fields.integer('destinationDomain', 4),
    fields.bytes('recipient', ADDRESS_BYTES),
    fields.bytes('messageBody'),
  ]);
  evaluator.spend(1 + message.length);
  return encodeBase64url(keccak_256(message));
}

function tokenMessage(fields: Fields, evaluator: Evaluator): string {
  const recipient = fields.bytes('recipient');
  const amount = bigEndian(fields.decimal('amount').round('half-even'), AMOUNT_BYTES);
  // Characters after the digits are ignored, and the number is taken modulo 2^16.
  const [digits] = /^\d+/.exec(fields.text('chainId')) ?? [];
  if (digits === undefined) fail(evaluator, 'Failed to decode chainId: input does not start with a digit');
  const chain = bigEndian(BigInt(digits), CHAIN_BYTES);
  evaluator.spend(1 + recipient.length);
  return encodeBase64url(Buffer.concat([amount, chain, recipient]));
}

function decodeTokenMessage([text, ...more]: readonly Value[], { evaluator }: Call): Value | undefined {
  if (text === undefined || !isText(text) || more.length > 0) return undefined;
  const charge = chargeOfTokenMessage(characterCount(text), evaluator.dialect);
  evaluator.gas.cryptography('hyperlane-decode-token-message', charge);
  evaluator.spend(1 + text.length);
  const bytes = Buffer.from(bytesOfBase64(text) ?? failToDecode(evaluator, 'Failed to base64-decode token message'));
  const [chainAt, recipientAt] = [AMOUNT_BYTES, AMOUNT_BYTES + CHAIN_BYTES];
  if (bytes.length < recipientAt) failToDecode(evaluator, 'Decoding error: binary decoding failed');
  const amount = BigInt(`0x${bytes.subarray(0, chainAt).toString('hex')}`);
  return sortedObject<Value>([
    [
      'recipient',
      guardOf(bytes.subarray(recipientAt), evaluator.dialect) ??
        failToDecode(evaluator, 'Could not parse recipient into a guard'),
    ],
    ['amount', Decimal.parseScientific(`${amount}e-${PLACES}`)!],
    ['chainId', `${bytes.readUInt16BE(chainAt)}`],
  ]);
}

/** @param json the JSON of a guard, in UTF-8 @returns undefined for any other bytes */
function guardOf(json: Uint8Array, dialect: Dialect): Guard | undefined {
  try {
    return guardOfJson(parseExactJson(new TextDecoder('utf-8', { fatal: true }).decode(json)), dialect);
  } catch (fault) {
    if (fault instanceof LedgerFormatError || fault instanceof TypeError) return undefined;
    throw fault;
  }
}

export const HYPERLANE: readonly Native[] = [
  encoder({
    native: 'hyperlane-message-id',
    charged: ['messageBody', 'message body'],
    chargeOf: chargeOfMessageId,
    encode: messageId,
  }),
  strict('hyperlane-decode-token-message', 'x:string -> object:*', decodeTokenMessage),
  encoder({
    native: 'hyperlane-encode-token-message',
    charged: ['recipient', 'recipient'],
    chargeOf: chargeOfTokenMessage,
    encode: tokenMessage,
  }),
];
