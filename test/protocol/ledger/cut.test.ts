import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkCut,
  cutFromJson,
  cutToJson,
  peerFromJson,
  peerIdOf,
  peerToJson,
  sumOfHeights,
} from '#pickaxe/protocol/ledger/cut.js';
import {
  checkAdjacents,
  diameter,
  distance,
  graphOf,
  graphOfHeader,
  graphsOfNetwork,
  knownGraph,
  onlyGraph,
} from '#pickaxe/protocol/ledger/graphs.js';
import { mayBeOf, networkOf, versionCodeOf } from '#pickaxe/protocol/ledger/header.js';
import { parseExactJson, stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';
import { selfSigned } from '../../node/client/certificates.ts';
import { almost } from './arbitraries.ts';
import { refusalOf } from './damage.ts';
import { cuts, graphs, header, headers } from './vectors.ts';

const exact = (json: unknown) => parseExactJson(JSON.stringify(json));
const twenty = knownGraph(20)!;
const PEER = {
  id: 'hqzYS21Zju_WD1XMOMvLfnd1aYnJshPshK0N_I2Ckp8',
  address: { hostname: 'node.example.org', port: 1789 },
};

describe.each(cuts.map((cut) => [cut.height, cut] as const))('the real cut at %i', (height, json) => {
  const cut = cutFromJson(exact(json));

  it('has the sum of its heads’ heights, and fits the graph of 20 chains', () => {
    expect(sumOfHeights(cut)).toBe(BigInt(height));
    expect(() => checkCut(cut, graphsOfNetwork('mainnet01'))).not.toThrow();
    expect([...cut.heads.keys()]).toEqual(Array.from({ length: 20 }, (_, chain) => chain));
    expect(cut).toMatchObject({ network: 'mainnet01', id: json.id, origin: null });
  });

  it('comes back from JSON', () => {
    expect(JSON.parse(stringifyExactJson(cutToJson(cut)))).toEqual(json);
  });
});

describe('a cut', () => {
  const [json] = cuts;
  const heads = json.hashes;
  const heightOf = (chain: string, height: number) => ({ ...heads, [chain]: { ...heads[chain], height } });

  it('has its peer, when a node publishes it', () => {
    const cut = cutFromJson(exact({ ...json, origin: PEER, instance: undefined, id: undefined }));
    expect(cut.origin).toEqual(PEER);
    expect(cut).not.toHaveProperty('network');
    expect(cut).not.toHaveProperty('id');
    expect(cutFromJson(cutToJson(cut))).toEqual(cut);
  });

  it('names the field that is wrong', () => {
    const faults: [object, string][] = [
      [{ height: -1 }, 'cut.height: must be from 0'],
      [{ height: '1' }, 'cut.height: must be an integer'],
      [{ weight: 'AA' }, 'cut.weight: "AA" stands for 1 bytes'],
      [{ hashes: {} }, 'cut.hashes: names no chain'],
      [{ hashes: { '-1': heads[0] } }, 'cut.hashes.-1'],
      [{ hashes: { 4294967296: heads[0] } }, 'cut.hashes: must be from 0 to 4294967295'],
      [{ hashes: { 0: { height: 1 } } }, 'cut.hashes.0.hash: '],
      [{ origin: {} }, 'cut.origin.id: '],
      [{ id: 'short' }, 'cut.id: must be 43 characters of base64url'],
    ];
    expect(() => cutFromJson(exact({}))).toThrow('cut.height: is missing');
    for (const [fields, message] of faults) {
      expect(() => cutFromJson(exact({ ...json, ...fields }))).toThrow(message);
    }
  });

  it('is refused when it cannot be one', () => {
    const nine = cutFromJson(exact({ ...json, hashes: heightOf('9', 1_800_014) }));
    expect(() => checkCut(nine, onlyGraph(twenty))).toThrow(
      /^cut\.hashes: chain \d+ is at height 180001\d, and its neighbour 9 at 1800014/,
    );
    const wrong = cutFromJson(exact({ ...json, height: json.height + 1 }));
    expect(() => checkCut(wrong, onlyGraph(twenty))).toThrow(
      `cut.height: is ${json.height + 1}, but the heights add up to ${json.height}`,
    );
    expect(() => checkCut(wrong, onlyGraph(knownGraph(10)!))).toThrow(
      /^cut\.hashes: has the chains 0, 1.* but the network has 10$/,
    );
  });

  it('has no more chains than a header can count', () => {
    const hashes = Object.fromEntries(Array.from({ length: 65_536 }, (_, chain) => [chain, heads[0]]));
    expect(() => cutFromJson(exact({ ...json, hashes }))).toThrow('cut.hashes: has 65536 chains');
  });

  it('that is junk has no answer but a LedgerFormatError', () => {
    fc.assert(fc.property(almost(json), (text) => void refusalOf(() => cutFromJson(parseExactJson(text)))));
  });
});

/**
 * mainnet01 has 20 chains from height 852,054 on. Chains 0 and 2 are neighbours only in the graph of 10, chains 0 and 5
 * in both graphs.
 */
describe('a cut while the graph changes', () => {
  const [{ hashes }] = cuts;
  const check = (chains: number, height: number, others: Readonly<Record<number, number>> = {}) => {
    const heights = Array.from({ length: chains }, (_, chain) => others[chain] ?? height);
    const heads = new Map(heights.map((each, chain) => [chain, { height: BigInt(each), hash: new Uint8Array(32) }]));
    const sum = BigInt(heights.reduce((a, b) => a + b));
    const cut = { ...cutFromJson(exact({ ...cuts[0], hashes })), heads, height: sum };
    checkCut(cut, graphsOfNetwork('mainnet01'));
  };

  it('has the chains of the graph at its lowest head', () => {
    check(10, 852_053);
    check(10, 852_054, { 3: 852_053 });
    check(20, 852_054);
    expect(() => check(10, 852_054)).toThrow('but the network has 20');
    expect(() => check(20, 852_054, { 3: 852_053 })).toThrow('but the network has 10');
  });

  it('may have heads far apart on chains that were neighbours only before', () => {
    expect(() => check(10, 852_054, { 0: 852_055, 2: 852_053 })).not.toThrow();
    expect(() => check(20, 852_055, { 0: 852_057, 2: 852_054, 5: 852_056, 10: 852_056, 15: 852_056 })).not.toThrow();
  });

  it.each([
    [
      'above the change, by the new graph',
      10,
      852_054,
      { 6: 852_055, 8: 852_053 },
      /chain 8 is at height 852053.* 6 at 852055/,
    ],
    [
      'of the last blocks of the old graph',
      10,
      852_053,
      { 0: 852_054, 2: 852_052 },
      /chain 2 is at height 852052.* 0 at 852054/,
    ],
    [
      'of old neighbours, from above the change',
      10,
      852_054,
      { 0: 852_055, 2: 852_052 },
      /chain 2 is at height 852052.* 0 at 852055/,
    ],
    ['below the change', 10, 852_000, { 0: 852_002 }, /chain 2 is at height 852000.* 0 at 852002/],
    ['above the change', 20, 852_060, { 0: 852_062 }, /chain 5 is at height 852060.* 0 at 852062/],
  ])('is refused when a head needs a block that is not there: %s', (_, chains, height, others, message) => {
    expect(() => check(chains, height, others)).toThrow(message);
  });

  it('is refused below the first graph', () => {
    const cut = cutFromJson(exact(cuts[0]));
    const late = [{ fromHeight: 2n ** 40n, graph: twenty }];
    expect(() => checkCut(cut, late)).toThrow(/^cut\.hashes: the network has no chains at height 1\d+$/);
  });
});

describe('chain graphs', () => {
  it.each(['10', '20'] as const)('of %s chains are those of real headers', (chains) => {
    const graph = knownGraph(Number(chains))!;
    expect(Object.fromEntries(graph.entries())).toEqual(graphs[chains]);
  });

  it.each([1, 3, 10, 20])('of %i chains have only mutual neighbours', (chains) => {
    const graph = knownGraph(chains)!;
    expect(graphOf(graph)).toEqual(graph);
  });

  it('have a diameter', () => {
    expect([1, 3, 10, 20].map((chains) => diameter(knownGraph(chains)!))).toEqual([0, 1, 2, 3]);
    expect(knownGraph(4)).toBeUndefined();
  });

  it('have distances: a proof from chain 19 to chain 0 takes two blocks', () => {
    expect(distance(twenty, 19, 0)).toBe(2);
    expect(distance(twenty, 7, 7)).toBe(0);
    expect(distance(twenty, 5, 0)).toBe(1);
    expect(() => distance(twenty, 0, 20)).toThrow(RangeError);
    expect(() => distance(twenty, 20, 0)).toThrow(RangeError);
  });

  it('are read from lists in any order', () => {
    expect(graphOf([[2, 1], [0], [0]])).toEqual([[1, 2], [0], [0]]);
  });

  it.each([
    ['no chain', [], 'A graph has at least one chain'],
    ['a chain beside itself', [[0]], 'Chain 0 cannot be a neighbour of chain 0'],
    ['a neighbour that does not know it', [[1], []], 'Chain 1 cannot be a neighbour of chain 0'],
    ['a neighbour that is not there', [[1]], 'Chain 1 cannot be a neighbour of chain 0'],
    ['a neighbour twice', [[1, 1], [0]], 'Chain 1 cannot be a neighbour of chain 0'],
    ['two parts', [[1], [0], [3], [2]], 'No path leads from chain 0 to chain 2'],
  ])('are refused with %s', (_, neighbours, message) => {
    expect(() => graphOf(neighbours)).toThrow(message);
  });

  it('are found by a header', () => {
    const of = (height: number, chain: number) =>
      graphOfHeader(header(headers.find((it) => it.height === height && it.chain === chain)!.binary))?.length;
    expect(of(1_000_000, 0)).toBe(20);
    expect(of(600_000, 0)).toBe(10);
    expect(of(852_054, 19)).toBe(20);
  });

  it('say which adjacents a header must have', () => {
    const block = header(headers[0].binary);
    expect(() => checkAdjacents(block, twenty)).not.toThrow();
    expect(() => checkAdjacents(block, knownGraph(10))).toThrow(
      'The adjacents of chain 0 are on the chains 5, 10, 15, but its neighbours are 2, 3, 5',
    );
    expect(() => checkAdjacents({ ...block, chain: 1 })).toThrow('but its neighbours differ on all known networks');
    expect(() => checkAdjacents({ ...block, chain: 1, adjacents: [] })).toThrow('are on the chains none');
    expect(() => checkAdjacents({ ...block, chain: 20 }, twenty)).toThrow('but its neighbours are none');
    const alone = { ...block, adjacents: [] };
    expect(() => checkAdjacents(alone, knownGraph(1))).not.toThrow();
  });
});

describe('a peer', () => {
  it.each(['node.example.org', '203.0.113.7', '2001:db8::1', 'localhost', 'a_b.example'])(
    'may be at %s',
    (hostname) => {
      const peer = { ...PEER, address: { ...PEER.address, hostname } };
      expect(peerFromJson(exact(peer))).toEqual(peer);
      expect(JSON.parse(stringifyExactJson(peerToJson(peer)))).toEqual(peer);
    },
  );

  it('is known by the SHA-256 of its certificate, or by none', () => {
    const der = Buffer.from(selfSigned.cert.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
    expect(peerIdOf(der)).toBe(PEER.id);
    expect(peerFromJson(exact({ ...PEER, id: null })).id).toBeNull();
  });

  it.each(['', 'a b', 'host/path', 'user@host', 'host:80', '[::1]', '-x', 'x'.repeat(254)])(
    'is not at %j',
    (hostname) => {
      const peer = { ...PEER, address: { ...PEER.address, hostname } };
      expect(() => peerFromJson(exact(peer))).toThrow('peer.address.hostname: must be a domain name or an IP address');
    },
  );

  it.each([0, 65_536, -1, 1.5, '80', null])('has no port %j', (port) => {
    expect(() => peerFromJson(exact({ ...PEER, address: { ...PEER.address, port } }))).toThrow('peer.address.port: ');
  });

  it.each([{ id: 'short' }, { id: undefined }, { address: undefined }])('is refused with %j', (fields) => {
    expect(() => peerFromJson(exact({ ...PEER, ...fields }))).toThrow(/^peer\.(id|address): /);
  });
});

describe('numbers of networks', () => {
  it('have names, and those that are not known have their number', () => {
    for (const code of [1, 2, 5, 7, 2_147_483_662]) expect(versionCodeOf(networkOf(code))).toBe(code);
    expect(networkOf(5)).toBe('mainnet01');
    expect(networkOf(2_147_483_662)).toBe('code 2147483662');
  });

  it.each(['testnet06', '', 'code', 'code -1', 'code 4294967296', 'code 1.5'])('are not known of %j', (network) => {
    expect(versionCodeOf(network)).toBeUndefined();
  });

  it.each([
    ['mainnet01', 5, true],
    ['mainnet01', 7, false],
    ['development', 2, true],
    ['recap-development', 1, true],
    ['development', 5, false],
    ['code 9', 9, true],
    ['code 9', 8, false],
    ['of nobody', 8, true],
  ])('%s may have the number %i: %s', (network, code, may) => {
    expect(mayBeOf(network, code)).toBe(may);
  });
});
