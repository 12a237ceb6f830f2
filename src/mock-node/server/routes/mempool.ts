/**
 * The commands that wait on each chain, as nodes send them to each other. Document 1 knows only the peers of these networks; the
 * rest is what real nodes serve.
 */

import { z } from 'zod';
import { jsonInteger } from '../../../ledger/exact-json.ts';
import { opaqueId } from '../../../ledger/fields.ts';
import type { Message } from '../answer.ts';
import { parsedBody } from '../query.ts';
import { type Asked, CHAIN, JSON_TYPE, type Route } from '../route.ts';

const Keys = z.array(opaqueId);
const Commands = z.array(z.string());
const KEYS = 'a list of request keys';

export const mempoolRoutes: readonly Route[] = [
  routeAt('POST', 'getPending', getPending),
  { ...routeAt('POST', 'member', member), takes: JSON_TYPE },
  { ...routeAt('POST', 'lookup', lookup), takes: JSON_TYPE },
  { ...routeAt('PUT', 'insert', insert), takes: JSON_TYPE },
];

function routeAt(method: Route['method'], name: string, answer: Route['answer']): Route {
  const path = new RegExp(`^${CHAIN}/mempool/${name}$`);
  return { endpoint: 'mempool', side: 'p2p', method, path, gives: [JSON_TYPE], answer };
}

/** Who names the high-water mark of an earlier answer gets only what has come since. */
function getPending({ backend: { commands }, chain, query }: Asked): Message {
  const nonce = integerFrom(query.get('nonce'));
  const since = integerFrom(query.get('since'));
  if (nonce === 'wrong' || since === 'wrong') return { status: 400, text: 'nonce and since are integers' };
  const mark = nonce !== undefined && since !== undefined ? { nonce, next: since } : undefined;
  const { requestKeys, mark: newMark } = commands.pending(chain, mark);
  const highwaterMark = [newMark.nonce, newMark.next].map(jsonInteger);
  return { status: 200, json: { hashes: requestKeys, highwaterMark } };
}

function member({ backend: { commands }, chain, body }: Asked): Message {
  const read = parsedBody(Keys, body, KEYS);
  if ('status' in read) return read;
  return { status: 200, json: read.value.map((key) => commands.lookUp(chain, key) !== undefined) };
}

function lookup({ backend: { commands }, chain, body }: Asked): Message {
  const read = parsedBody(Keys, body, KEYS);
  if ('status' in read) return read;
  const found = read.value.map((key) => commands.lookUp(chain, key));
  const json = found.map((text) => (text === undefined ? { tag: 'Missing' } : { tag: 'Pending', contents: text }));
  return { status: 200, json };
}

/** Commands that are refused are left out silently: only what is no command is an error. */
function insert({ backend: { commands }, chain, body }: Asked): Message {
  const read = parsedBody(Commands, body, 'a list of commands, each a text');
  if ('status' in read) return read;
  const fault = commands.insert(chain, read.value);
  return fault === undefined
    ? { status: 200, text: '' }
    : { status: 400, text: `DecodeException ${JSON.stringify(fault)}` };
}

function integerFrom(text: string | null): number | undefined | 'wrong' {
  if (text === null) return undefined;
  return /^-?\d{1,19}$/.test(text) ? Number(text) : 'wrong';
}
