/** The JSON form of outputs (document 2, "Command result"), and of the events and failures in them. */

import { createHash } from 'node:crypto';
import type { Dialect } from '../../contract/dialect.ts';
import type { ContractError, ErrorKind } from '../../contract/errors.ts';
import type { ModuleName } from '../../contract/names.ts';
import type { DefpactState } from '../../contract/runtime/defpact-state.ts';
import type { Event } from '../../contract/runtime/state.ts';
import { jsonOf } from '../../contract/values/json.ts';
import { isStorable, type Value } from '../../contract/values/values.ts';
import { numberText, scientificOfDecimal } from '../../protocol/ledger/command/tool-json.ts';
import { type Decimal, formatDecimal } from '../../protocol/ledger/decimal.ts';
import {
  type ExactJson,
  type ExactJsonObject,
  encodeBase64url,
  JsonNumber,
  jsonInteger,
} from '../../protocol/ledger/json.ts';

/** The name of a failure's kind in a command's result. */
type FailureKind =
  | 'TxFailure'
  | 'EvalError'
  | 'GasError'
  | 'ArgsError'
  | 'DbError'
  | 'SyntaxError'
  | 'ContinuationError';

export interface Failure {
  readonly kind: FailureKind;
  readonly message: string;
}

const KINDS: Readonly<Record<ErrorKind, FailureKind>> = {
  'tx-failure': 'TxFailure',
  eval: 'EvalError',
  gas: 'GasError',
  args: 'ArgsError',
  db: 'DbError',
  syntax: 'SyntaxError',
  continuation: 'ContinuationError',
};

/**
 * Maximum length of a failure's message in dialect 5, in characters. Messages are short because blocks contain them.
 */
export const MAX_MESSAGE = 256;

/**
 * @returns the failure that a result contains. In dialect 5, there are only the kinds `TxFailure`, `SyntaxError` and
 *   `EvalError`, and messages are shortened
 */
export function failureOf({ kind, message, stored = message }: ContractError, dialect: Dialect): Failure {
  if (dialect === 4) return { kind: KINDS[kind], message };
  const kind5 = kind === 'tx-failure' || kind === 'syntax' ? KINDS[kind] : 'EvalError';
  return { kind: kind5, message: stored.slice(0, MAX_MESSAGE) };
}

type Outcome = { readonly data: ExactJson } | { readonly error: Failure };

export interface Output {
  readonly requestKey: string;
  readonly outcome: Outcome;
  readonly gas: number;
  /** Undefined for an output of the old form, which has no list of events. */
  readonly events: readonly Event[] | undefined;
  readonly continuation: ExactJson;
  /** The transaction's number; null if the command failed, or ran without changing the ledger. */
  readonly txId: number | null;
  /** Whether the output has the hash of a log of reads and writes. */
  readonly hasLogs: boolean;
}

/** @param metaData the metadata that a node adds to its answer; null in a block */
export function outputJson(output: Output, metaData: ExactJson = null): ExactJsonObject {
  const { requestKey, outcome, gas, events, continuation, txId, hasLogs } = output;
  return {
    gas: jsonInteger(gas),
    result: outcomeJson(outcome),
    reqKey: requestKey,
    logs: hasLogs ? hashOf(`${requestKey} ${txId}`) : null,
    ...(events && { events: events.map(eventJson) }),
    metaData,
    continuation,
    txId: txId === null ? null : jsonInteger(txId),
  };
}

/** @returns a JSON number if the digits, read as an integer, are a safe integer; otherwise `{"decimal": "…"}` */
export function decimalJson(decimal: Decimal): ExactJson {
  const scientific = scientificOfDecimal(decimal);
  const isSafe = Number.isSafeInteger(Number(scientific.coefficient));
  return isSafe ? new JsonNumber(numberText(scientific)) : { decimal: formatDecimal(decimal) };
}

export function failureJson({ kind, message }: Failure): ExactJsonObject {
  return { callStack: [], type: kind, message, info: '' };
}

function hashOf(text: string): string {
  return encodeBase64url(createHash('sha256').update(text).digest());
}

function outcomeJson(outcome: Outcome): ExactJsonObject {
  if ('data' in outcome) return { status: 'success', data: outcome.data };
  return { status: 'failure', error: failureJson(outcome.error) };
}

export function eventJson({ name, args, moduleHash }: Event): ExactJsonObject {
  return { params: args.map(jsonOfValue), name: name.member, module: moduleNameJson(name.module), moduleHash };
}

function moduleNameJson({ namespace, name }: ModuleName): ExactJsonObject {
  return { namespace: namespace ?? null, name };
}

/** @returns the continuation in a result, for the defpact that the command has begun or continued */
export function continuationJson(defpact: DefpactState): ExactJsonObject {
  return { ...nestedJson(defpact), stepHasRollback: defpact.hasRollback };
}

/** Leaves out the field `nested` if there are no nested defpacts. */
function nestedJson({ id, step, stepCount, isExecuted, yielded, continuation, nested }: DefpactState): ExactJsonObject {
  const inner = [...nested]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, defpact]) => [key, nestedJson(defpact)] as const);
  return {
    ...(inner.length > 0 && { nested: Object.fromEntries(inner) }),
    executed: isExecuted ?? null,
    pactId: id,
    step: jsonInteger(step),
    yield: yielded ? yieldJson(yielded) : null,
    continuation: { args: continuation.args.map(jsonOfValue), def: continuation.name.text },
    stepCount: jsonInteger(stepCount),
  };
}

function yieldJson({ data, sourceChain, provenance }: NonNullable<DefpactState['yielded']>): ExactJsonObject {
  return {
    data: jsonOf(data),
    source: sourceChain ?? null,
    provenance: provenance ? { targetChainId: provenance.targetChain, moduleHash: provenance.moduleHash } : null,
  };
}

/** All values in events and defpacts are storable, and so have a JSON form. */
function jsonOfValue(value: Value): ExactJson {
  return isStorable(value) ? jsonOf(value) : null;
}
