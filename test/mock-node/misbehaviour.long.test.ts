/** Tests the mock node's faults that the tests of the node source do not cover. */

import { connect } from 'node:net';
import { Agent, request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FaultInput } from '#pickaxe/mock-node/server/faults.js';
import { parseWork, type Work } from '#pickaxe/protocol/chain/work.js';
import { eventually, mine } from '../miner/source/follow.ts';
import { MockNode, type OtherOptions } from './node.ts';

const KEY = 'ab'.repeat(32);
const MINER = JSON.stringify({ account: `k:${KEY}`, predicate: 'keys-all', 'public-keys': [KEY] });
const CUT = 'event:New Cut\n\n';

async function start(options: OtherOptions = {}) {
  const node = new MockNode({ dialect: 'document', difficulty: 100, seed: 1, cutBurst: 1, ...options });
  const dispatcher = new Agent();
  onTestFinished(async () => {
    await dispatcher.destroy();
    await node.close();
  });
  const { baseUrl } = await node.start();
  const askWork = () =>
    request(`${baseUrl}/mining/work`, {
      method: 'GET',
      body: MINER,
      headers: { 'content-type': 'application/json' },
      dispatcher,
    });
  const work = async (): Promise<Work> => parseWork(new Uint8Array(await (await askWork()).body.arrayBuffer()));
  const submit = (header: Uint8Array) =>
    request(`${baseUrl}/mining/solved`, {
      method: 'POST',
      body: header,
      headers: { 'content-type': 'application/octet-stream' },
      dispatcher,
    });
  /** Opens a stream and collects its events. */
  const follow = async (chain: number) => {
    const body = Uint8Array.of(chain, 0, 0, 0);
    const response = await request(`${baseUrl}/mining/updates`, { method: 'GET', body, dispatcher });
    const stream = { text: '', ended: false };
    response.body.on('data', (chunk) => {
      stream.text += chunk;
    });
    response.body.on('end', () => {
      stream.ended = true;
    });
    response.body.on('error', () => {});
    return stream;
  };
  return { node, askWork, work, submit, follow };
}

const onUpdates = (kind: FaultInput['kind'], more: Partial<FaultInput> = {}): FaultInput[] => [
  { endpoint: 'updates', kind, ...more },
];

describe('an answer whose body', () => {
  it('breaks: its head arrives, and the request is carried out', async () => {
    const { node, work, submit } = await start();
    const { header } = mine(await work());
    node.server.faults = [{ endpoint: 'solved', kind: 'broken-body' }];
    const { statusCode, body } = await submit(header);
    expect(statusCode).toBe(200);
    await expect(body.text()).rejects.toThrow();
    expect(node.ledger.stats.accepted).toBe(1);
  });

  it('never ends: half of it arrives, and nothing more', async () => {
    const { node, askWork, work } = await start();
    node.server.faults = [{ endpoint: 'work', kind: 'endless-body', times: 1 }];
    const { statusCode, body } = await askWork();
    const chunks: Buffer[] = [];
    let over = false;
    body.on('data', (chunk) => chunks.push(chunk));
    body.on('error', () => {});
    body.on('end', () => {
      over = true;
    });
    expect(statusCode).toBe(200);
    await eventually(() => expect(Buffer.concat(chunks)).toHaveLength(161));
    await work();
    expect(over).toBe(false);
    body.destroy();
  });
});

it.each([16, 20, 1_001])('a long body is JSON of %i bytes', async (bytes) => {
  const { node, askWork } = await start();
  node.server.faults = [{ endpoint: 'work', kind: 'long-body', bytes }];
  const { statusCode, headers, body } = await askWork();
  expect(statusCode).toBe(200);
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-server-timestamp': expect.any(String) });
  const text = await body.text();
  expect(text).toHaveLength(bytes);
  expect(JSON.parse(text)).toContainEqual({ a: 1 });
});

describe('an update stream that', () => {
  it('is buffered sends everything at its end', async () => {
    const { node, follow } = await start();
    node.server.faults = onUpdates('buffered-stream', { times: 1 });
    const buffered = await follow(3);
    const well = await follow(3);
    node.ledger.advance(3);
    node.ledger.advance(3);
    await eventually(() => expect(well.text).toBe(CUT + CUT));
    expect(buffered.text).toBe('');
    node.server.streams.endAll();
    await eventually(() => expect(buffered).toEqual({ text: CUT + CUT, ended: true }));
  });

  it('is silent sends nothing, by the script or from a moment on, and ends', async () => {
    const { node, follow } = await start();
    const silenced = await follow(3);
    node.ledger.advance(3);
    await eventually(() => expect(silenced.text).toBe(CUT));
    node.server.streams.silenceAll();
    node.server.faults = onUpdates('silent-stream', { times: 1 });
    const silent = await follow(3);
    const well = await follow(3);
    node.ledger.advance(3);
    await eventually(() => expect(well.text).toBe(CUT));
    node.server.streams.endAll();
    await eventually(() => expect(silent.ended && silenced.ended).toBe(true));
    expect([silent.text, silenced.text]).toEqual(['', CUT]);
  });

  it('is lost does not end, and is not counted any more', async () => {
    const { node, follow } = await start({ streamMs: 1_500 });
    const lost = await follow(3);
    node.server.streams.loseAll();
    expect(node.server.streams.open).toBe(0);
    const well = await follow(3);
    expect(node.server.streams.open).toBe(1);
    node.ledger.advance(3);
    await eventually(() => expect(well).toEqual({ text: CUT, ended: true }));
    const later = await follow(3);
    await eventually(() => expect(later.ended).toBe(true));
    expect(lost).toEqual({ text: '', ended: false });
  });

  it('is noisy sends noise at the given rate, with complete events in between', async () => {
    const { node, follow } = await start();
    node.server.faults = onUpdates('noisy-stream', { noise: 'retry: 1\n:\n', noiseBytesPerS: 5_000 });
    const noisy = await follow(3);
    await eventually(() => expect(noisy.text.length).toBeGreaterThan(100));
    node.ledger.advance(3);
    await eventually(() => expect(noisy.text).toContain(CUT));
    expect(noisy.text.replace(CUT, '').replaceAll('retry: 1\n:\n', '')).toBe('');
  });
});

it.each([
  ['early-hints', 'HTTP/1.1 103 Early Hints\r\nlink: </noise>\r\n\r\nHTTP/1.1 103 Early Hints\r\n'],
  ['chunk-extension', '\r\n\r\n1;noise;noise;'],
] as const)('noise below the body comes in place of an answer: %s', async (kind, part) => {
  const { node } = await start();
  node.server.faults = [{ endpoint: 'config', kind, noiseBytesPerS: 50_000 }];
  const socket = connect(node.server.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes;
  });
  socket.write('GET /config HTTP/1.1\r\nhost: node\r\n\r\n');
  await eventually(() => expect(text).toContain(part));
  const { length } = text;
  await eventually(() => expect(text.length).toBeGreaterThan(length + 10_000));
});

describe('a node that', () => {
  it('is away refuses connections, and comes back on the same port', async () => {
    const { node, work, submit, follow } = await start();
    const given = await work();
    const stream = await follow(3);
    await node.goAway();
    await expect(work()).rejects.toThrow(/ECONNREFUSED/);
    expect(stream.ended).toBe(false);
    expect(node.server.streams.open).toBe(0);
    node.ledger.advance((given.chain + 1) % 20);
    await node.comeBack();
    expect((await submit(mine(given).header)).statusCode).toBe(200);
  });

  it('sends New Cuts early still gives out the old work', async () => {
    const { node, work, follow } = await start({ cutLeadMs: 3_000 });
    node.ledger.pickChain = () => 3;
    const before = await work();
    const stream = await follow(3);
    node.ledger.advance(3);
    await eventually(() => expect(stream.text).toBe(CUT));
    expect((await work()).height).toBe(before.height);
    await eventually(async () => expect((await work()).height).toBe(before.height + 1n));
    expect(stream.text).toBe(CUT);
  });
});
