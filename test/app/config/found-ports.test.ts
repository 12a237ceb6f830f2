/** A P2P port in a file that was only found here belongs to the node of that file, and to no other. */

import { afterEach, beforeEach, expect, it } from 'vitest';
import { Folder } from './folder.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

const PORT = 'http://peer.example:1789';
const NODE = 'http://node.example:1848';
const node = `[node]\nurls = ["${NODE}"]\n`;
const port = `[ledger]\npeer-url = "${PORT}"\n`;

it.each([
  ['the file alone', node + port, {}, PORT],
  ['the file, and no node is named', port, {}, PORT],
  ['the file, while a flag names a node', port, { 'node.urls': [NODE] }, undefined],
  ['the file, while a flag names another node', node + port, { 'node.urls': ['http://own.example:1848'] }, undefined],
  ['a flag, with the node', '', { 'node.urls': [NODE], 'ledger.peer-url': PORT }, PORT],
  ['a flag, while the file has the node', node, { 'ledger.peer-url': PORT }, PORT],
  ['neither', node, {}, undefined],
])('a P2P port from %s', (_, text, flags, expected) => {
  if (text !== '') folder.write('pickaxe.toml', text);
  const { config } = folder.load({ flags: new Map(Object.entries(flags)) });
  expect(config.ledger.peerUrl).toBe(expected);
});
