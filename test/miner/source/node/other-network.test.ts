/** A node whose work is of another network than the configured one. */

import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FailoverSource } from '#pickaxe/miner/source/failover.js';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import { examineNode } from '#pickaxe/rig/survey/examine-node.js';
import { eventually, Follower } from '../follow.ts';
import { followNode, miner, nodesOf } from './node.ts';

const startNode = nodesOf('chainweb');

/** A gateway that serves a node's network under another name, and whose work can be exchanged. */
async function renamed(nodeUrl: string, from: string, to: string) {
  const gateway = { code: undefined as number | undefined, requests: 0, url: '' };
  const server = createServer((incoming, outgoing) => {
    const isWork = incoming.url!.endsWith('/mining/work');
    if (isWork) gateway.requests += 1;
    const { method, headers } = incoming;
    const passed = request(nodeUrl + incoming.url!.replace(from, to), { method, headers }, (answer) => {
      if (isWork && answer.statusCode === 200 && gateway.code !== undefined) void answerWith(gateway.code, answer);
      else answer.pipe(outgoing.writeHead(answer.statusCode!, answer.headers));
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
    const answerWith = async (code: number, answer: IncomingMessage) => {
      const body = Buffer.concat(await answer.toArray());
      body.writeUInt32LE(code, 36 + 266);
      outgoing.writeHead(answer.statusCode!, answer.headers).end(body);
    };
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  gateway.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return gateway;
}

const MAINNET = 5;

it.each([
  [
    'mainnet01',
    'testnet04',
    /another network \(testnet04\) than mainnet01, and nothing is mined for it: check the node/,
  ],
  ['testnet04', 'mainnet01', /another network \(mainnet01\) than testnet04/],
  ['development', 'mainnet01', /another network \(mainnet01\) than development/],
  ['mainnet01', 'test-singleton', /another network \(code 9\) than mainnet01/],
] as const)('a miner on %s gets no work of a node of %s', async (network, served, says) => {
  const { node, url } = await startNode({ network: served, ...(served === 'test-singleton' && { chains: 20 }) });
  const gateway = await renamed(url, `/${network}/`, `/${served}/`);
  const { follower } = followNode(gateway.url, { refusedPauses: { firstMs: 20, mostMs: 50 } }, { network });
  await eventually(() => expect(gateway.requests).toBeGreaterThan(3));
  expect(node.ledger.stats.workIssued).toBeGreaterThan(0);
  expect(follower.received).toEqual([]);
  expect(follower.of('lost')).toEqual([{ kind: 'lost', reason: expect.stringMatching(says) }]);
  const { findings } = await examineNode({ url: gateway.url, network, miner });
  expect(findings.find(({ about }) => about === 'work')).toMatchObject({
    state: 'fault',
    what: expect.stringMatching(says),
  });
});

describe('a node that begins to give work of another network', () => {
  it('is left for the next one, and mined on again when its work is right', async () => {
    const [first, second] = [await startNode(), await startNode({ seed: 8 })];
    const gateway = await renamed(first.url, 'development', 'development');
    gateway.code = MAINNET;
    const limits = { refusedPauses: { firstMs: 20, mostMs: 50 } };
    const sources = [gateway, second].map(
      ({ url }) => new NodeSource({ url, network: 'development', miner }, { limits }),
    );
    const source = new FailoverSource({ sources, patienceMs: 100, readyPatienceMs: 100 });
    const follower = new Follower(source);
    onTestFinished(() => follower.end());
    expect(source.nameOf(await follower.work())).toBe(second.url);
    gateway.code = undefined;
    await eventually(async () => expect(source.nameOf(await follower.work())).toBe(gateway.url));
  });
});

it.each([1, 2])('work of the network development may have the number %i', async (code) => {
  const { url } = await startNode();
  const gateway = await renamed(url, 'development', 'development');
  gateway.code = code;
  await followNode(gateway.url).follower.work();
});
