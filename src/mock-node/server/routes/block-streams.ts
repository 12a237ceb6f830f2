/** Streams of all new blocks. Document 1 knows only their setting, `headerStream`; the rest is what real nodes serve. */

import { toHex } from '../../../chain/bytes.ts';
import { type ExactJsonObject, jsonInteger, stringifyExactJson } from '../../../ledger/exact-json.ts';
import { powHash } from '../../../ledger/header.ts';
import { headerToJson } from '../../../ledger/header-json.ts';
import { payloadWithOutputsToJson } from '../../../ledger/payload.ts';
import type { Block } from '../../ledger/block.ts';
import { NO_MORE_STREAMS, type Route } from '../route.ts';
import type { BlockTopic } from '../streams.ts';

export const blockStreamRoutes: readonly Route[] = (['header', 'block'] as const).map((of) => ({
  endpoint: of,
  side: 'service',
  method: 'GET',
  path: new RegExp(`^/${of}/updates$`),
  when: ({ settings }) => settings.headerStream,
  answer: ({ backend: { streams }, dialect }) => (streams.full ? NO_MORE_STREAMS : { stream: { of, dialect } }),
}));

/** @returns the event that tells of a block */
export function blockEvent({ header, payload }: Block, { of, dialect }: BlockTopic, network: string): string {
  const json: ExactJsonObject = {
    header: headerToJson(header, dialect, network),
    txCount: jsonInteger(payload.transactions.length),
    powHash: bigEndian(powHash(header)),
    target: bigEndian(header.target),
    ...(of === 'block' && { payloadWithOutputs: payloadWithOutputsToJson(payload) }),
  };
  return `event:BlockHeader\ndata:${stringifyExactJson(json)}\n\n`;
}

function bigEndian(bytes: Uint8Array): string {
  return toHex(Uint8Array.from(bytes).reverse());
}
