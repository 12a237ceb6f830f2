/**
 * Natives that read the environment of a transaction (its data, its hash, and the state of the chain at its block), and
 * `verify-spv`.
 */

import { type ExactJson, JsonNumber } from '../../protocol/ledger/json.ts';
import type { Dialect } from '../dialect.ts';
import { ContractError } from '../errors.ts';
import { costOfConversion, costOfLookUp } from '../gas/natives5.ts';
import { characterCount } from '../gas/sizes.ts';
import { type Call, type Evaluator, type Native, strict } from '../runtime/native.ts';
import {
  fieldsOf,
  messageField,
  readDecimal,
  readInteger,
  readKeyset,
  readMessage,
  readString,
} from '../values/json.ts';
import {
  isList,
  isObject,
  isText,
  type KeysetGuard,
  type Storable,
  sortedObject,
  type Value,
} from '../values/values.ts';
import { isNumber, spendOn } from './operators.ts';

type Read<Result extends Storable> = (json: ExactJson, dialect: Dialect) => Result;

/**
 * @returns the value of one key of the data
 * @throws ContractError if the data lacks the key, or if its value cannot be read
 */
function readField<Result extends Storable>(
  evaluator: Evaluator,
  key: string,
  native: string,
  read: Read<Result>,
): Result {
  const { environment, dialect } = evaluator;
  // The kind of the failure for a missing key. Since version 4.7, contract code can catch this failure.
  const kind = environment.flags.has('DisablePact47') ? 'eval' : 'tx-failure';
  const fields = fieldsOf(environment.data, dialect);
  if (fields) evaluator.gas.charge5(native, () => costOfLookUp(key, Object.keys(fields).length));
  const json = messageField(fields, key, native, dialect, kind);
  spendOnJson(evaluator, json);
  chargeForReading(evaluator, native, json);
  return read(json, dialect);
}

/** Charges in dialect 5 for converting what was read. Keysets are read in advance. */
function chargeForReading({ gas }: Evaluator, native: string, json: ExactJson): void {
  if (typeof json === 'string' && (native === 'read-integer' || native === 'read-decimal')) {
    gas.charge5(native, () => costOfConversion(characterCount(json)));
  }
}

/** @returns a native that reads the value of one key of the data */
function reader(name: string, type: string, read: Read<Storable>): Native {
  return strict(name, `key:string -> ${type}`, ([key, ...more], { evaluator }) =>
    isText(key) && more.length === 0 ? counted(evaluator, readField(evaluator, key, name, read)) : undefined,
  );
}

/**
 * Number of steps counted for each part of the data. Reading a part takes some microseconds, and the time of a step is
 * half a microsecond.
 */
const PART_STEPS = 8;

/**
 * Counts steps for every part of the JSON, each time that the JSON is read. Keys that occur several times in a keyset
 * are counted each time.
 */
function spendOnJson(evaluator: Evaluator, json: ExactJson): void {
  evaluator.spend(PART_STEPS);
  if (typeof json !== 'object' || json === null || json instanceof JsonNumber) return;
  for (const each of Object.values(json)) spendOnJson(evaluator, each);
}

/** Counts steps for the large numbers in a value, in proportion to their lengths. @returns the value */
function counted<Result extends Storable>(evaluator: Evaluator, value: Result): Result {
  spendOnNumbers(evaluator, value);
  return value;
}

function spendOnNumbers(evaluator: Evaluator, value: Value): void {
  if (isNumber(value)) spendOn([value], evaluator);
  else if (isList(value)) for (const each of value) spendOnNumbers(evaluator, each);
  else if (isObject(value)) for (const each of value.values()) spendOnNumbers(evaluator, each);
}

/* Keysets. */

/** A public key of Ed25519: 32 bytes as lower-case hex digits. */
const ED25519 = /^[\da-f]{64}$/;
/**
 * A public key of a WebAuthn device: a prefix, and at least one byte as lower-case hex digits. The meaning of the
 * bytes is not checked.
 */
const WEBAUTHN = /^WEBAUTHN-(?:[\da-f]{2})+$/;

/**
 * Reads a keyset from the data, for the natives `read-keyset` and `define-keyset`.
 * @param native the name of the native for messages of dialect 5. Messages of dialect 4 name `read-keyset` or no native
 * @throws ContractError if the data lacks the key, if its value is not a keyset or, with the flag `EnforceKeyFormats`,
 *   if a key of the keyset has a wrong format
 */
export function readKeysetField(evaluator: Evaluator, key: string, native: string): KeysetGuard {
  const { dialect, environment } = evaluator;
  const keyset = readField(evaluator, key, dialect === 4 ? 'read-keyset' : native, readKeyset);
  if (environment.flags.has('EnforceKeyFormats') && !keyset.keys.every((each) => isKey(each, evaluator))) {
    const message = dialect === 4 ? 'Invalid keyset' : `Invalid keyset format: ${evaluator.print(keyset)}`;
    throw new ContractError('eval', message);
  }
  return keyset;
}

function isKey(text: string, { environment }: Evaluator): boolean {
  return ED25519.test(text) || (!environment.flags.has('DisablePact410') && WEBAUTHN.test(text));
}

/* The state of the chain, and proofs of what happened on another chain. */

function chainData({ environment }: Evaluator): Storable {
  const { chainId, blockHeight, blockTime, previousBlockHash, sender, gasLimit, gasPrice } = environment.chain;
  return sortedObject<Storable>([
    ['block-height', blockHeight],
    ['block-time', blockTime],
    ['chain-id', chainId],
    ['gas-limit', gasLimit],
    ['gas-price', gasPrice],
    ['prev-block-hash', previousBlockHash],
    ['sender', sender],
  ]);
}

/** The native `verify-spv`. @returns the content of the proof @throws ContractError for a proof that is not valid */
function verifyProof([type, payload, ...more]: readonly Value[], { evaluator }: Call): Value | undefined {
  if (!isText(type) || payload === undefined || !isObject(payload) || more.length > 0) return undefined;
  const { environment, dialect } = evaluator;
  const shown = environment.proofs(type, payload);
  if (shown !== undefined) return shown;
  const failed = dialect === 4 ? 'SPV verify failed' : 'SPV verification failure';
  throw new ContractError('eval', `${failed}: SPV verification failure`);
}

export const MESSAGES: readonly Native[] = [
  strict('read-msg', [' -> <a>', 'key:string -> <a>'], ([key, ...more], { evaluator }) => {
    const { environment, dialect } = evaluator;
    if (key === undefined) return counted(evaluator, readMessage(environment.data, dialect));
    if (!isText(key) || more.length > 0) return undefined;
    return counted(evaluator, readField(evaluator, key, 'read-msg', readMessage));
  }),
  reader('read-string', 'string', readString),
  reader('read-integer', 'integer', readInteger),
  reader('read-decimal', 'decimal', readDecimal),
  strict('read-keyset', 'key:string -> keyset', ([key, ...more], { evaluator }) =>
    isText(key) && more.length === 0 ? readKeysetField(evaluator, key, 'read-keyset') : undefined,
  ),
  strict('chain-data', ' -> object:{public-chain-data}', (args, { evaluator }) =>
    args.length === 0 ? chainData(evaluator) : undefined,
  ),
  strict('verify-spv', 'type:string payload:object:<in> -> object:<out>', verifyProof),
  strict('tx-hash', ' -> string', (args, { evaluator }) =>
    args.length === 0 ? evaluator.environment.hash : undefined,
  ),
];
