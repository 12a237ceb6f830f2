/** Cuts (document 1, "Cut"). */

import { type Cut, cutFromJson, cutToJson } from '../../../ledger/cut.ts';
import { LedgerFormatError } from '../../../ledger/errors.ts';
import { parseExactJsonBytes } from '../../../ledger/exact-json.ts';
import { blocksAbove, cutOf } from '../../ledger/cut.ts';
import type { Message } from '../answer.ts';
import { naturalFrom } from '../query.ts';
import { type Asked, JSON_TYPE, type Route } from '../route.ts';

export const cutRoutes: readonly Route[] = [
  { endpoint: 'cut', method: 'GET', path: /^\/cut$/, gives: [JSON_TYPE], answer: getCut },
  { endpoint: 'cut', side: 'p2p', method: 'PUT', path: /^\/cut$/, takes: JSON_TYPE, answer: putCut },
];

function getCut({ backend, query, fault }: Asked): Message {
  const { ledger, peers } = backend;
  const maxHeight = naturalFrom(query.get('maxheight') ?? String(2n ** 64n - 1n));
  if (maxHeight === undefined) return { status: 400, text: 'maxheight is an integer >= 0' };
  const below = blocksAbove(ledger.chains, maxHeight);
  const blocksBack = below + (fault?.kind === 'old-cut' ? fault.blocksBack : 0);
  const cut = cutOf(ledger.chains, { origin: peers.own, network: ledger.settings.network, blocksBack });
  return { status: 200, json: cutToJson(cut) };
}

/** Success says only that the cut will be looked at. */
function putCut({ backend: { peers, cuts }, body }: Asked): Message {
  let cut: Cut;
  try {
    cut = cutFromJson(parseExactJsonBytes(body));
  } catch (error) {
    if (error instanceof LedgerFormatError) return { status: 400, text: `Error in $: ${error.message}` };
    throw error;
  }
  if (!cut.origin) return { status: 400, text: 'Cut is missing an origin entry' };
  if (!peers.has('cut', cut.origin)) return { status: 401, text: 'Unknown peer' };
  cuts.take(cut);
  return { status: 204, text: '' };
}
