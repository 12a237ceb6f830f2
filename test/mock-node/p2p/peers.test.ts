import { describe, expect, it } from 'vitest';
import { type PeerClient, PeerError, Peers, whyNotAdded } from '#pickaxe/mock-node/p2p/peers.js';
import type { Peer } from '#pickaxe/protocol/ledger/cut.js';

const peer = (port: number, hostname = '127.0.0.1', id: string | null = null): Peer => ({
  id,
  address: { hostname, port },
});

it('a thousand peers of each network are known, the newest', () => {
  const peers = new Peers();
  const isKnown = (port: number) => peers.has('cut', peer(port));
  for (let port = 1; port <= 1_200; port++) peers.add('cut', peer(port));
  expect([peers.of('cut').length, isKnown(200), isKnown(201)]).toEqual([1_000, false, true]);
  peers.add('cut', peer(201));
  expect([peers.of('cut').length, isKnown(202)]).toEqual([1_000, true]);
  expect(peers.of(0)).toEqual([]);
});

it('a peer is known by its host and its port, and the newest id of it counts', () => {
  const peers = new Peers();
  peers.own = peer(7);
  peers.add(3, peer(1));
  peers.add(3, peer(1, 'localhost'));
  peers.add(3, peer(1, '127.0.0.1', 'id'));
  expect(peers.of(3)).toEqual([peer(1, 'localhost'), peer(1, '127.0.0.1', 'id')]);
  expect([peers.has(3, peer(2)), peers.has('cut', peer(1))]).toEqual([false, false]);
  expect([peer(7), peer(7, 'localhost'), peer(8)].map((each) => peers.isOwn(each))).toEqual([true, false, false]);
  expect(new Peers().isOwn(peer(7))).toBe(false);
});

describe('a new peer is added', () => {
  const asked: unknown[] = [];
  const answering = (answer: object | Error) =>
    ({
      ask: async (...request: unknown[]) => {
        asked.push(request);
        if (answer instanceof Error) throw answer;
        return { headers: answer };
      },
    }) as unknown as PeerClient;

  it.each([
    ['if it is a node', { 'x-chainweb-node-version': '1' }, undefined],
    ['if it is a node of the other dialect', { 'x-ledger-node-version': '1' }, undefined],
    ['unless it is no node', {}, 'IsNotReachable "missing x-chainweb-node-version header"'],
    ['unless it cannot be asked', new PeerError('it "refuses"'), 'IsNotReachable "it \\"refuses\\""'],
  ])('%s', async (_, answer, why) => {
    asked.length = 0;
    expect(await whyNotAdded('cut', peer(1, 'localhost', 'id'), new Peers(), answering(answer))).toBe(why);
    expect(asked).toEqual([[peer(1, 'localhost'), { path: '/cut/peer' }]]);
    await whyNotAdded(5, peer(1), new Peers(), answering(answer));
    expect(asked[1]).toEqual([peer(1), { path: '/chain/5/mempool/peer' }]);
  });

  it('without a question if it is known, and never if it is the node itself', async () => {
    const peers = new Peers();
    peers.own = peer(7);
    peers.add('cut', peer(1));
    const refusing = answering(new Error('asked'));
    expect(await whyNotAdded('cut', peer(1), peers, refusing)).toBeUndefined();
    expect(await whyNotAdded('cut', peer(7), peers, refusing)).toBe('IsLocalPeerAddress');
    await expect(whyNotAdded(0, peer(1), peers, refusing)).rejects.toThrow('asked');
  });
});
