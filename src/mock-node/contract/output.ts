/** The JSON of outputs, of commands and of payments to miners (document 2, "Command result"). */

import { createHash } from 'node:crypto';
import { numberText, scientificOfDecimal } from '../../ledger/command/tool-json.ts';
import { type Decimal, formatDecimal } from '../../ledger/decimal.ts';
import { type ExactJson, type ExactJsonObject, encodeBase64url, JsonNumber, jsonInteger } from '../../ledger/json.ts';
import { COIN } from '../../ledger/payload.ts';
import type { FailureKind } from './contract-error.ts';

/** The hash of the coin module is arbitrary: no client can know it. */
export const MODULE_HASH = hashOf('the coin contract of the mock node');

export interface Event {
  readonly module: string;
  readonly name: string;
  readonly params: readonly ExactJson[];
}

export interface Failure {
  readonly kind: FailureKind;
  readonly message: string;
}

type Outcome = { readonly data: ExactJson } | { readonly error: Failure };

export interface Output {
  readonly requestKey: string;
  readonly outcome: Outcome;
  readonly gas: number;
  /** Undefined in blocks of the old form, which have no events. */
  readonly events: readonly Event[] | undefined;
  readonly continuation: ExactJson;
  /** Null if the command failed or has no effect. */
  readonly txId: number | null;
  /** Whether the command has a log of reads and writes. */
  readonly hasLogs: boolean;
}

/** @param metaData added by a node in its answer; null in a block */
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

/** @returns a JSON number if the digits fit in 2^53, otherwise `{"decimal": "…"}` */
export function decimalJson(decimal: Decimal): ExactJson {
  const scientific = scientificOfDecimal(decimal);
  const isSafe = Number.isSafeInteger(Number(scientific.coefficient));
  return isSafe ? new JsonNumber(numberText(scientific)) : { decimal: formatDecimal(decimal) };
}

/**
 * @param sender empty for new coins and for coins from another chain
 * @param receiver empty for coins to another chain
 */
export function transferEvent(sender: string, receiver: string, amount: Decimal): Event {
  return { module: COIN, name: 'TRANSFER', params: [sender, receiver, decimalJson(amount)] };
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

function eventJson({ module, name, params }: Event): ExactJsonObject {
  return { params, name, module: { namespace: null, name: module }, moduleHash: MODULE_HASH };
}
