/** The answers that some faults send instead of the true one. */

import { WORK_BYTES } from '../../chain/layout.ts';
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
