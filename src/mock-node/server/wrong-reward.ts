/** The fault `wrong-reward`: a payload whose coinbase pays more than the one that was hashed. */

import { decimalOf, ONE } from '../../ledger/decimal.ts';
import { type ExactJson, isExactJsonObject, parseExactJsonBytes, stringifyExactJson } from '../../ledger/exact-json.ts';
import type { PayloadWithOutputs } from '../../ledger/payload.ts';
import { decimalJson } from '../contract/output.ts';
import type { Fault } from './faults.ts';

/** @returns the payload of the answer: the true one unless there is this fault */
export function answeredPayload(payload: PayloadWithOutputs, fault: Fault | undefined): PayloadWithOutputs {
  return fault?.kind === 'wrong-reward' ? { ...payload, coinbase: withMore(payload.coinbase) } : payload;
}

/** @returns the coinbase with one coin more; where it names no amount, with another outcome */
function withMore(coinbase: Uint8Array): Uint8Array {
  const json = parseExactJsonBytes(coinbase);
  if (!isExactJsonObject(json)) return coinbase;
  const { events = [] } = json;
  const wrong =
    Array.isArray(events) && events.length > 0
      ? { ...json, events: events.map(eventWithMore) }
      : { ...json, result: { status: 'success', data: 'Write succeeded, and more' } };
  return Buffer.from(stringifyExactJson(wrong));
}

function eventWithMore(event: ExactJson): ExactJson {
  if (!isExactJsonObject(event) || !Array.isArray(event.params)) return event;
  const [sender, receiver, amount] = event.params;
  return { ...event, params: [sender, receiver, decimalJson(decimalOf(amount) + ONE)] };
}
