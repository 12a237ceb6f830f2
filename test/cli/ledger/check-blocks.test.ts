import { describe, expect, it } from 'vitest';
import { BlockChecks } from '#pickaxe/cli/ledger/check-blocks.js';
import type { Block } from '#pickaxe/node/client/blocks.js';
import type { NodeInfo } from '#pickaxe/node/client/info.js';
import { NodeError } from '#pickaxe/node/http/node-error.js';
import { cutFromJson } from '#pickaxe/protocol/ledger/cut.js';
import { type Graph, graphAt } from '#pickaxe/protocol/ledger/graphs.js';
import { payloadWithOutputsFromJson, provePayload } from '#pickaxe/protocol/ledger/payload.js';
import { exact, wholeBlocks } from '../../node/client/rows.ts';
import { blockAbove, EASIEST } from './easy-chain.ts';

const genesis = blockAbove(undefined);
const first = blockAbove(genesis.header);
const second = blockAbove(first.header);

/** Two chains that are each other's neighbours, as in no network that pickaxe knows. */
const PAIR: Graph = [[1], [0]];
const inPair = { adjacents: [{ chain: 1, hash: EASIEST }] };
const HARD = { target: new Uint8Array(32).fill(1, 0, 1) };
const ALL = 'proof of work, neighbours, weights, payloads, rewards';

/** A node that reports this graph, from height 0 on, or none. */
const nodeWith = (network: string, graph?: Graph) => ({
  network,
  info: async (): Promise<NodeInfo> => {
    if (!graph) throw new NodeError('not found', 'there is nothing');
    return { network, apiVersion: '0.0', chains: [...graph.keys()], graphs: [{ fromHeight: 0n, graph }] };
  },
});

async function check(blocks: readonly Block[], node = nodeWith('development')) {
  const lines: string[] = [];
  const checks = new BlockChecks(node, (line) => lines.push(line));
  for (const block of blocks) await checks.check(block);
  return { isRight: checks.finish('block'), lines };
}

describe('blocks are verified', () => {
  it('upwards, downwards, with an orphan beside them, and of the live network', async () => {
    const orphan = blockAbove(first.header, { nonce: 8n });
    const four = { isRight: true, lines: [`4 blocks verified: ${ALL}`] };
    expect(await check([genesis, first, second, orphan])).toEqual(four);
    expect(await check([orphan, second, first, genesis])).toEqual(four);
    const real = wholeBlocks.map(({ header, payload }) => ({
      header,
      payload: provePayload(payloadWithOutputsFromJson(exact(payload)), header.payloadHash),
    }));
    const silent = nodeWith('mainnet01');
    expect(await check(real, silent)).toEqual({ isRight: true, lines: [`${real.length} blocks verified: ${ALL}`] });
  });

  it.each([
    ['proof of work', HARD, /: The proof-of-work hash \w{64} is above/],
    ['weights', { weight: 3n }, /: its weight is 3, but must be/],
    ['weights', { height: 5n }, /: its height is 5/],
    ['weights', { creationTimeUs: 30_000_000n }, /: it is not newer than its parent/],
    ['neighbours', inPair, /: The adjacents of chain 0 are on the chains 1, but its neighbours are none/],
    ['rewards', { parent: EASIEST }, /coinbase\.reqKey holds/],
  ] as const)('and their %s is refused, while all else is still verified', async (wrong, changes, why) => {
    const { isRight, lines } = await check([genesis, blockAbove(genesis.header, changes)], nodeWith('own', [[]]));
    const right = ALL.split(', ').filter((each) => each !== wrong);
    expect([isRight, lines]).toEqual([
      false,
      [expect.stringMatching(why), `2 blocks verified: ${right.join(', ')}`, `error: wrong in 1 block: ${wrong}`],
    ]);
    expect(lines[0]).toMatch(/^error: block [\w-]{43} of height \d+: /);
  });

  it('and of many faults only some are told one by one', async () => {
    const wrong = Array.from({ length: 9 }, (_, i) => blockAbove(genesis.header, { ...HARD, nonce: BigInt(i) }));
    const { lines } = await check(wrong);
    expect(lines.filter((line) => line.startsWith('error: block'))).toHaveLength(3);
    expect(lines.at(-1)).toBe('error: wrong in 9 blocks: proof of work');
  });
});

describe('the graph of a network that pickaxe does not know', () => {
  const block = blockAbove(genesis.header, inPair);
  const other = blockAbove(genesis.header, { adjacents: [{ chain: 2, hash: EASIEST }] });

  it('is what the node tells, which is said', async () => {
    expect(await check([block], nodeWith('own', PAIR))).toEqual({
      isRight: true,
      lines: [`1 block verified: ${ALL.replace('neighbours', 'neighbours (by the graph that the node itself tells)')}`],
    });
    const wrong = await check([other], nodeWith('own', PAIR));
    expect([wrong.isRight, wrong.lines[0]]).toEqual([false, expect.stringContaining('but its neighbours are 1')]);
  });

  it('is the one of the height below the block', async () => {
    const history = [
      { fromHeight: 1n, graph: PAIR },
      { fromHeight: 0n, graph: [[2], [], [0]] },
    ];
    const grown = {
      ...nodeWith('own', PAIR),
      info: async () => ({ ...(await nodeWith('own', PAIR).info()), graphs: history }),
    };
    expect((await check([other, blockAbove(block.header, inPair)], grown)).isRight).toBe(true);
    expect((await check([block], grown)).isRight).toBe(false);
  });

  it('is not checked when the node does not tell it either, which is said', async () => {
    expect(await check([block])).toEqual({
      isRight: true,
      lines: [
        `1 block verified: ${ALL.replace('neighbours, ', '')}`,
        expect.stringMatching(/^The neighbours are not verified: pickaxe does not know the graph/),
      ],
    });
  });

  it('is never the node’s word for mainnet01', async () => {
    const late = blockAbove({ ...genesis.header, height: 6_000_000n }, inPair);
    const { lines } = await check([late], nodeWith('mainnet01', PAIR));
    expect(lines[0]).toContain('are on the chains 1, but its neighbours are 5, 10, 15');
  });

  it('does not make a fault of a node that does not answer', async () => {
    const away = { network: 'own', info: () => Promise.reject(new NodeError('unreachable', 'nobody is there')) };
    await expect(check([block], away)).rejects.toThrow('nobody is there');
  });
});

describe('the graph of a cut', () => {
  const cutOf = (chains: number, height: number) =>
    cutFromJson(
      exact({
        origin: null,
        height: chains * height,
        weight: 'A'.repeat(43),
        hashes: Object.fromEntries(Array.from({ length: chains }, (_, i) => [i, { height, hash: 'A'.repeat(43) }])),
      }),
    );
  const graphOf = async (chains: number, node: ReturnType<typeof nodeWith>, height = 1_000_000) => {
    const graphs = await new BlockChecks(node, () => {}).graphs.ofCut(cutOf(chains, height));
    return graphs && graphAt(graphs, BigInt(height))?.length;
  };

  it('is known, told by the node, or not known', async () => {
    expect(await graphOf(3, nodeWith('own'))).toBe(3);
    expect(await graphOf(2, nodeWith('own', PAIR))).toBe(2);
    expect(await graphOf(2, nodeWith('own'))).toBe(undefined);
    expect(await graphOf(10, nodeWith('mainnet01'))).toBe(20);
    expect(await graphOf(10, nodeWith('mainnet01'), 800_000)).toBe(10);
  });
});

it('the first blocks of chains that came later have no proof of work either', async () => {
  const late = blockAbove({ ...genesis.header, height: 852_053n }, { chain: 12, ...HARD });
  expect((await check([late], nodeWith('mainnet01'))).isRight).toBe(true);
  const own = blockAbove({ ...genesis.header, height: 852_053n }, { chain: 9, ...HARD });
  expect((await check([own], nodeWith('mainnet01'))).isRight).toBe(false);
});
