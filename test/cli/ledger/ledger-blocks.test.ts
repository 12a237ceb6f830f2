import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { nodesOf } from '../../miner/source/node/node.ts';
import { bare, blockJson, CHAIN } from '../../node/client/rows.ts';
import { CHAINWEB, serve } from '../../node/client/server.ts';
import { pickaxe, pickaxeIn } from '../in-process.ts';
import { cacheHome, isolated } from '../pickaxe.ts';
import { chain, cut, first, hashes, height, id, info, node, page, payloadHash } from './ledger-node.ts';

const startNode = nodesOf('chainweb');

const head = { height: 0, hash: id };
const TWO_CHAINS = { ...cut, hashes: { 0: head, 1: head }, height: 0 };

describe('pickaxe ledger', () => {
  it('prints peers, the configuration and the information of the node', async () => {
    const { ask, seen } = await node();
    expect((await ask('peers', '--chain', '3')).stdout).toBe(`${id}  10.1.2.3  1789`);
    expect(seen.at(-1)!.path).toContain('/chain/3/mempool/peer');
    expect((await ask('config', '--json')).stdout).toBe('{"chainwebVersion":"mainnet01","minGasPrice":1.0e-8}');
    expect((await ask('info')).stdout).toMatch(/^network +mainnet01\nchains +1\n(.*\n)*software +2\.31\ngraph /);
  });

  it('prints a payload and what its miner got', async () => {
    const { ask } = await node();
    const { stdout } = await ask(
      'payload',
      `${chain}`,
      encodeBase64url(payloadHash),
      '--outputs',
      '--height',
      `${height}`,
    );
    expect(stdout).toMatch(new RegExp(`^payload hash +${encodeBase64url(payloadHash)}$`, 'm'));
    expect(stdout).toMatch(/^coinbase +paid, \d+\.\d+ to \S+/m);
    const json = await ask('payload', `${chain}`, encodeBase64url(payloadHash), '--json');
    expect(JSON.parse(json.stdout)).toEqual(bare(first.payload));
  });

  it('says to those who wait how much it has printed so far', async () => {
    const { url } = await node();
    const now = performance.now.bind(performance);
    let aheadMs = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs);
    onTestFinished(() => clock.mockRestore());
    // Two seconds pass with each line that is printed.
    const printed = {
      stderr: '',
      get stdout() {
        return '';
      },
      set stdout(_text: string) {
        aheadMs += 2_000;
      },
    };
    const line = ['ledger', 'hash', `${CHAIN}`, '--limit', '3', '--node', url, '--peer-url', url];
    const { code } = await pickaxeIn(isolated.cwd, line, {}, { printed, showsProgress: true });
    expect([code, printed.stderr.split('\n')]).toEqual([
      0,
      [
        '1 hashes so far',
        '2 hashes so far',
        '3 hashes so far',
        'There are more hashes: --limit says how many are printed.',
        '',
      ],
    ]);
  });

  it('prints hashes and branches up to a limit', async () => {
    const { ask, seen } = await node();
    const some = await ask('hash', `${CHAIN}`, '--limit', '3');
    expect(some.stdout.split('\n')).toEqual(hashes.slice(0, 3));
    expect(some.stderr).toMatch(/There are more hashes/);
    const all = await ask(
      'branch',
      `${CHAIN}`,
      '--upper',
      hashes[0],
      '--upper',
      hashes[1],
      '--lower',
      hashes[2],
      '--json',
    );
    expect(all.stdout.split('\n').map((line) => JSON.parse(line))).toEqual(hashes);
    expect(JSON.parse(seen.at(-1)!.body)).toEqual({ upper: hashes.slice(0, 2), lower: [hashes[2]] });
  });

  it('says what is wrong', async () => {
    const wrong = { ...first, payload: { ...first.payload, minerData: 'e30' } };
    const { ask } = await node([
      [/^\/info$/, { body: { ...info, nodeGraphHistory: [] } }],
      [/\/block/, page([blockJson(wrong, 'chainweb')])],
    ]);
    const changed = await ask('block', `${chain}`);
    expect([changed.code, changed.stdout]).toEqual([1, '']);
    expect(changed.stderr).toMatch(/^error: The answer of .*\/block is not understood: .*transactionsHash/);
    const missing = await ask('cut');
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringMatching(/^error: .*\/cut has nothing there \(404\)/),
    ]);
    const { url } = await serve(() => ({ status: 404 }));
    const peers = await pickaxe('ledger', 'peers', '--node', url, '--network', 'mainnet01');
    expect([peers.code, peers.stderr]).toEqual([1, expect.stringMatching(/its P2P URL is --peer-url\.\n$/)]);
    const file = join(cacheHome, 'no-origin.json');
    writeFileSync(file, JSON.stringify({ ...cut, origin: null }));
    for (const [args, text] of [
      [['put-cut', file], /must name its origin/],
      [['put-cut', join(cacheHome, 'none')], /is not a cut: ENOENT/],
      [['put-peer', '1789'], /is not an address/],
      [['payload', '0', 'short'], /43 characters/],
    ] as const) {
      const { code, stderr } = await ask(...args);
      expect([code, stderr]).toEqual([2, expect.stringMatching(text)]);
    }
  });
});

describe('pickaxe ledger cut --verify', () => {
  /** Only some blocks of these chains are recorded, so no cut can be made of them, and its faults are reported. */
  it.each([
    ['mainnet01', { ...cut, height: cut.height + 1 }, /cut\.height: is \d+, but the heights add up to/],
    ['mainnet01', TWO_CHAINS, /cut\.hashes: has the chains 0, 1, but the network has 10\.\n$/],
    ['own', { ...TWO_CHAINS, height: 1 }, /cut\.height: is 1, but the heights add up to 0/],
    ['own', TWO_CHAINS, /does not have the block of height 0/],
  ])('refuses what does not belong together on %s', async (network, body, why) => {
    const { url } = await serve(
      ({ path }) =>
        path.endsWith('/cut')
          ? { body: { ...body, instance: network } }
          : path.includes('/block')
            ? page([])
            : undefined,
      { headers: CHAINWEB },
    );
    const { code, stderr } = await pickaxe('ledger', 'cut', '--verify', '--node', url, '--network', network);
    expect([code, stderr]).toEqual([1, expect.stringMatching(why)]);
  });
});

describe('pickaxe ledger --verify on a mock node', () => {
  const grown = async (options: { chains: number; difficulty: number }) => {
    const { node, url } = await startNode(options);
    for (const chain of node.ledger.chains.graph.keys()) node.ledger.advance(chain);
    return url;
  };

  it('tells that a graph is only the node’s word', async () => {
    const url = await grown({ chains: 4, difficulty: 1 });
    const { code, stderr } = await pickaxe('ledger', 'cut', '--verify', '--node', url);
    expect([code, stderr]).toEqual([
      0,
      '4 heads verified: heights, proof of work, neighbours (by the graph that the node itself tells), weights, ' +
        'payloads, rewards\n',
    ]);
  });

  it('verifies all else of blocks that nobody has solved', async () => {
    const url = await grown({ chains: 20, difficulty: 1e12 });
    const { code, stdout, stderr } = await pickaxe('ledger', 'cut', '--verify', '--node', url);
    expect(stderr).toMatch(
      /\n20 heads verified: heights, neighbours, weights, payloads, rewards\nerror: wrong in 20 heads: proof of work\n$/,
    );
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^height +\d/m)]);
  });
});
