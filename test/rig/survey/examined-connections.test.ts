/** A node that is examined is left again: no connection stays open. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { askNetwork, examineNode, whyNoWork } from '#pickaxe/rig/survey/examine-node.js';
import { eventually } from '../../miner/source/follow.ts';
import { miner, nodesOf } from '../../miner/source/node/node.ts';

const startNode = nodesOf('chainweb');

const network = 'development';

it.each([
  ['examined', (url: string) => examineNode({ url, network, miner })],
  ['examined without a miner', (url: string) => examineNode({ url })],
  ['asked for its network', (url: string) => askNetwork({ url })],
  ['asked why it gives no work', (url: string) => whyNoWork({ url, network, miner })],
])('a node that was %s has no connection afterwards', async (_, ask) => {
  const { url } = await startNode();
  const opened: Socket[] = [];
  const note = (message: unknown) => void opened.push((message as { socket: Socket }).socket);
  subscribe('net.client.socket', note);
  onTestFinished(() => void unsubscribe('net.client.socket', note));
  await ask(url);
  expect(opened.length).toBeGreaterThan(0);
  await eventually(() => expect(opened.filter(({ destroyed }) => !destroyed)).toEqual([]));
});

it('an examination has what the node has told, and nothing else', async () => {
  const { url } = await startNode();
  const whole = await examineNode({ url, network, miner });
  expect(Object.keys(whole)).toEqual(['findings', 'network', 'work']);
  expect(whole.work?.chain).toBeGreaterThanOrEqual(0);
  expect(Object.keys(await examineNode({ url }))).toEqual(['findings', 'network']);
  const { url: silent } = await startNode({ configServed: false });
  expect(Object.keys(await examineNode({ url: silent, network, miner }))).toEqual(['findings', 'work']);
  expect(Object.keys(await examineNode({ url: silent, network }))).toEqual(['findings']);
  expect(Object.keys(await examineNode({ url: 'http://127.0.0.1:9', network }))).toEqual(['findings']);
});
