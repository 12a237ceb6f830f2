/** Payloads as nodes answer with them, and as a node tells them that lies about the reward. */

import { decimalOf, ONE } from '../../ledger/decimal.ts';
import { type ExactJson, isExactJsonObject, parseExactJsonBytes, stringifyExactJson } from '../../ledger/exact-json.ts';
import type { PayloadWithOutputs } from '../../ledger/payload.ts';
import { decimalJson } from '../contract/output.ts';
import type { Fault } from './faults.ts';

/** @returns the payload that is told in place of the true one */
export function toldPayload(payload: PayloadWithOutputs, fault: Fault | undefined): PayloadWithOutputs {
  return fault?.kind === 'wrong-reward' ? { ...payload, coinbase: withMore(payload.coinbase) } : payload;
}

/** @returns the coinbase with one coin more; where it tells no amount, with another outcome */
function withMore(coinbase: Uint8Array): Uint8Array {
  const json = parseExactJsonBytes(coinbase);
  if (!isExactJsonObject(json)) return coinbase;
  const { events = [] } = json;
  const told =
    Array.isArray(events) && events.length > 0
      ? { ...json, events: events.map(eventWithMore) }
      : { ...json, result: { status: 'success', data: 'Write succeeded, and more' } };
  return Buffer.from(stringifyExactJson(told));
}

function eventWithMore(event: ExactJson): ExactJson {
  if (!isExactJsonObject(event) || !Array.isArray(event.params)) return event;
  const [sender, receiver, amount] = event.params;
  return { ...event, params: [sender, receiver, decimalJson(decimalOf(amount) + ONE)] };
}
