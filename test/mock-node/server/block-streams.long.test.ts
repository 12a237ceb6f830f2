/** Tests the streams of all new blocks. */

import { EventSource } from 'eventsource';
import { expect, it, onTestFinished } from 'vitest';
import { headerToJson, powHash } from '#pickaxe/protocol/ledger/header.js';
import { type ExactJson, encodeBase64url, parseExactJson, stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';
import { payloadWithOutputsToJson } from '#pickaxe/protocol/ledger/payload.js';
import { eventually } from '../../miner/source/follow.ts';
import { at, mocksOf } from '../ask.ts';
import { banksOf, commandOf, toBob } from '../execution/bank.ts';
import { share } from '../ledger/nodes.ts';
import { DIALECTS } from '../node.ts';

const startMock = mocksOf('chainweb');

/** Reads a stream until the test ends. @returns the list of its events, once the stream is open */
async function follow(url: string): Promise<ExactJson[]> {
  const events: ExactJson[] = [];
  const source = new EventSource(url);
  onTestFinished(() => source.close());
  source.addEventListener('BlockHeader', ({ data }) => void events.push(parseExactJson(data)));
  await eventually(() => expect(source.readyState).toBe(EventSource.OPEN));
  return events;
}

const hashesIn = (events: readonly ExactJson[]) => events.map((event) => at(event, 'header', 'hash'));

it('are there only if they are asked for, as of real nodes, and the configuration says so', async () => {
  for (const [headerStream, status] of [
    [false, 404],
    [true, 405],
  ] as const) {
    const { ask, askUrl, url } = await startMock({ headerStream });
    for (const path of ['/header/updates', '/block/updates']) {
      expect((await ask(path, { method: 'POST', body: {} })).status).toBe(status);
    }
    expect((await askUrl(`${url}/config`)).plain).toMatchObject({ headerStream });
  }
  const { p2p } = await startMock({ headerStream: true, p2p: 'plain' });
  expect((await p2p('/header/updates')).status).toBe(404);
});

it.each(DIALECTS)(
  'tell of each new block with its header in the words of %s, and with its payload if that is asked for',
  async (dialect) => {
    const { node, baseUrl, send, grow } = await banksOf(dialect)({ headerStream: true });
    grow(1);
    const headers = await follow(`${baseUrl}/header/updates`);
    const blocks = await follow(`${baseUrl}/block/updates`);
    await send(0, commandOf(0, toBob('1.5')));
    node.ledger.advance(0);
    await eventually(() => expect([headers.length, blocks.length]).toEqual([1, 1]));
    const { header, payload, hash } = node.ledger.chains.tip(0);
    const facts = {
      txCount: 1,
      powHash: Buffer.from(powHash(header)).reverse().toString('hex'),
      target: Buffer.from(header.target).reverse().toString('hex'),
    };
    const plain = (json: ExactJson) => JSON.parse(stringifyExactJson(json));
    const words = plain(headerToJson(header, dialect, 'development'));
    expect(plain(headers[0])).toEqual({ header: words, ...facts });
    expect(plain(blocks[0])).toEqual({
      header: words,
      ...facts,
      payloadWithOutputs: plain(payloadWithOutputsToJson(payload)),
    });
    expect(hashesIn(blocks)).toEqual([encodeBase64url(hash)]);
  },
);

it('tell of the blocks of miners, of other nodes, and of those that replace others, each after its parent', async () => {
  const same = { headerStream: true, firstBlockTimeMs: Date.now() - 30_000, chains: 10 };
  const [{ node: theirs, grow: growTheirs }, { node, baseUrl, tip }] = [await startMock(same), await startMock(same)];
  const events = await follow(`${baseUrl}/header/updates`);
  node.ledger.pickChain = () => 3;
  node.ledger.submit(node.ledger.issueWork(`k:${'a'.repeat(64)}`).slice(36));
  const own = tip(3).id;
  growTheirs(3);
  node.ledger.join(share(theirs.ledger.chains, node.ledger.chains, node.ledger.nowUs()));
  node.ledger.reorganise(tip(0));
  await eventually(() => expect(hashesIn(events)).toContain(tip(0).id));
  await eventually(() => expect(events.length).toBeGreaterThanOrEqual(1 + 3 * 10 + 1));
  const hashes = hashesIn(events);
  expect([hashes[0], new Set(hashes).size]).toEqual([own, hashes.length]);
  const { chains } = theirs.ledger;
  for (const chain of chains.graph.keys()) {
    const line = [...chains.blocksOf(chain).ancestry(chains.tip(chain))].slice(0, 3).map(({ id }) => id);
    expect(hashes.filter((hash) => line.includes(String(hash)))).toEqual(line.toReversed());
  }
});

it('are refused when too many are open', async () => {
  const { ask, baseUrl } = await startMock({ headerStream: true, streamLimit: 1 });
  await follow(`${baseUrl}/header/updates`);
  expect(await ask('/block/updates')).toMatchObject({
    status: 503,
    text: 'No more update streams available currently. Retry later.',
  });
});

it('end when a proxy that holds all events back would have to keep too many', async () => {
  const { node, baseUrl } = await startMock({ headerStream: true });
  node.server.faults = [{ endpoint: 'any', kind: 'buffered-stream' }];
  const body = fetch(`${baseUrl}/block/updates`).then((response) => response.text());
  const ended = expect(body).rejects.toThrow();
  await eventually(() => expect(node.server.streams.open).toBe(1));
  // Far more than the bound of a stream takes.
  for (let blocks = 0; blocks < 10_000 && node.server.streams.open > 0; blocks++) {
    node.ledger.advance(blocks % 10);
    if (blocks % 100 === 0) await new Promise(setImmediate);
  }
  await ended;
  expect(node.server.streams.open).toBe(0);
});
