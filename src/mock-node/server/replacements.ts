/** The answers that some faults send instead of the true one. */

import { WORK_BYTES } from '../../chain/bytes.ts';
import { decimalOf, ONE } from '../../ledger/decimal.ts';
import { type ExactJson, isExactJsonObject, parseExactJsonBytes, stringifyExactJson } from '../../ledger/json.ts';
import type { PayloadWithOutputs } from '../../ledger/payload.ts';
import { decimalJson } from '../contract/output.ts';
import type { Message } from './answer.ts';
import type { Endpoint, Fault } from './faults.ts';

/** The texts of a busy node. */
const BUSY: Partial<Record<Endpoint, string>> = {
  work: 'Too many work requests',
  updates: 'No more update streams available currently. Retry later.',
};

/** @returns the answer that the fault sends; undefined when it does not replace the answer */
export function replacementOf(fault: Fault, endpoint: Endpoint): Message | undefined {
  switch (fault.kind) {
    case 'unavailable':
      return { status: 503, text: BUSY[endpoint] ?? 'Service Unavailable', headers: retryAfter(fault) };
    case 'status':
      return { status: fault.status, text: fault.text, headers: retryAfter(fault) };
    case 'wrong-length':
      return { status: 200, bytes: new Uint8Array(WORK_BYTES - 1) };
    case 'garbage':
      return { status: 200, text: '<html>\u0000{"not": what was asked for' };
    case 'long-body':
      return { status: 200, text: longJson(fault.bytes), headers: { 'content-type': 'application/json' } };
    case 'captive-portal':
      return {
        status: 200,
        text: '<html><title>Welcome to our network</title>Please log in.</html>',
        headers: { 'content-type': 'text/html' },
        foreign: true,
      };
    default:
      return undefined;
  }
}

function retryAfter({ retryAfterS }: Fault): Record<string, string> {
  return retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) };
}

const OBJECT = '{"a":1},';

/** @returns a list of so many bytes, whose small objects take a parser many times their bytes */
function longJson(bytes: number): string {
  return `[${OBJECT.repeat((bytes - '[{}]'.length) / OBJECT.length)}{}]`.padEnd(bytes);
}

/* The fault `wrong-reward`: a payload whose coinbase pays more than the one that was hashed. */

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
