/** What a 404 to a request for many payloads means: a second request, for one of them, shows it. */

import { describe, expect, it } from 'vitest';
import { encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { bare, wholeBlocks } from './rows.ts';
import { type Answer, apiWith, type Behaviour, errorOf, type Seen } from './server.ts';

const [first] = wholeBlocks;
const { chain } = first.header;
const places = wholeBlocks.map(({ header: { payloadHash, height } }) => ({ payloadHash, height }));
const hashes = places.map(({ payloadHash }) => encodeBase64url(payloadHash));
const unknown: Answer = { status: 404, body: { key: hashes[0], reason: 'key not found' } };
const unserved: Answer = { status: 404, body: 'no batches here' };

const isBatch = ({ path }: Seen) => path.endsWith('/payload/batch');
const apiThat = (batch: Behaviour, single: Behaviour) => apiWith((request) => (isBatch(request) ? batch : single));

describe('after a 404 to a request for many payloads', () => {
  it.each<[what: string, second: Answer, kind: string, text: string]>([
    ['the payload', { body: bare(first.payload) }, 'not found', 'no batches here'],
    ['a 404 without a key', { status: 404, body: 'nothing' }, 'not found', 'no batches here'],
    ['a 404 of another form', { status: 404, body: { reason: 'away' } }, 'not found', 'no batches here'],
    ['a failure', { status: 500, body: 'disk full' }, 'failed', 'disk full'],
    ['a refusal', { status: 403, body: 'not you' }, 'refused', 'not you'],
    ['a question for a password', { status: 401, body: 'who?' }, 'unauthorized', 'who?'],
    ['a bad request', { status: 400, body: 'what?' }, 'bad request', 'what?'],
    ['a limit', { status: 429, body: 'too often' }, 'too many requests', 'too often'],
    ['another format', { status: 406, body: 'no' }, 'not acceptable', 'no'],
  ])('%s as the answer about one of them is a fault: the one that says more', async (_, second, kind, text) => {
    const { api } = await apiThat(unserved, second);
    expect(await errorOf(api.payloads(chain, places))).toMatchObject({ kind, text });
  });

  it('a broken connection is the fault, and not the 404', async () => {
    const { api } = await apiThat(unserved, 'break');
    expect(await errorOf(api.payloads(chain, places))).toMatchObject({ kind: 'broken' });
  });

  it('a 404 that names a key means that the node has none of them', async () => {
    const { api, seen } = await apiThat(unserved, unknown);
    expect(await api.payloads(chain, places)).toEqual(places.map(() => undefined));
    const [{ height }] = places;
    const single = expect.stringMatching(new RegExp(`/payload/${hashes[0]}\\?height=${height}$`));
    expect(seen.map(({ path }) => path)).toEqual([expect.stringMatching(/batch$/), single]);
  });

  it('what the node gave before is kept', async () => {
    const { api } = await apiWith((request, before) => {
      if (!isBatch(request)) return unknown;
      return before === 0 ? { body: [bare(first.payload)] } : unserved;
    });
    const found = await api.payloads(chain, places);
    expect(found.map((payload) => payload && encodeBase64url(payload.payloadHash))).toEqual(
      hashes.map((hash) => (hash === hashes[0] ? hash : undefined)),
    );
  });
});

it('another fault of a request for many payloads is not asked about', async () => {
  const { api, seen } = await apiThat({ status: 403, body: 'not you' }, unknown);
  expect(await errorOf(api.payloads(chain, places))).toMatchObject({ kind: 'refused', text: 'not you' });
  expect(seen).toHaveLength(1);
});
