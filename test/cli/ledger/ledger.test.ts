import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Block } from '#pickaxe/node/client/blocks.js';
import { integerToTarget } from '#pickaxe/protocol/chain/target.js';
import { blockHash, type Dialect, headerToJson } from '#pickaxe/protocol/ledger/header.js';
import { encodeBase64url, stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';
import { payloadWithOutputsToJson } from '#pickaxe/protocol/ledger/payload.js';
import { DIALECTS, MockNode } from '../../mock-node/node.ts';
import { blockJson } from '../../node/client/rows.ts';
import { serve } from '../../node/client/server.ts';
import { pickaxe } from '../in-process.ts';
import { cacheHome } from '../pickaxe.ts';
import { blockAbove } from './easy-chain.ts';
import { ANSWERS, chain, cut, first, height, id, node, page, peer } from './ledger-node.ts';

describe('pickaxe ledger', () => {
  it('prints a cut, after the node has said which network it serves', async () => {
    const { ask, seen } = await node();
    const { code, stdout } = await ask('cut');
    expect(code).toBe(0);
    const { hash, height } = (cut.hashes as Record<string, { hash: string; height: number }>)[7];
    expect(stdout).toMatch(new RegExp(`^ +7 +${height} +${hash}$`, 'm'));
    expect(stdout).toMatch(new RegExp(`^height +${cut.height}$`, 'm'));
    expect(seen.map(({ path }) => path)).toContain('/info');
    const json = await ask('cut', '--json', '--network', 'mainnet01');
    const { height: sum, hashes, weight } = cut;
    expect(JSON.parse(json.stdout)).toMatchObject({ height: sum, hashes, weight });
  });

  it('prints blocks, and proves them', async () => {
    const { ask } = await node();
    const { stdout, stderr, code } = await ask('block', `${chain}`, '--min-height', `${height}`, '--verify');
    expect(stdout).toMatch(
      new RegExp(`^${height}  ${encodeBase64url(blockHash(first.header))}  20.*Z +\\d+ tx  \\S+$`),
    );
    expect([code, stderr]).toEqual([
      0,
      '1 block verified: links, proof of work, neighbours, weights, payloads, rewards\n',
    ]);
    const json = await ask('block', `${chain}`, '--json');
    expect(JSON.parse(json.stdout)).toEqual(JSON.parse(blockJson(first, 'chainweb')));
  });

  it('publishes cuts and peers with a warning', async () => {
    const { ask, seen } = await node();
    const file = join(cacheHome, 'cut.json');
    writeFileSync(file, JSON.stringify({ ...cut, origin: peer }));
    const published = await ask('put-cut', file);
    expect(published.stderr).toMatch(/^Warning: .*\nThe node has taken the cut/);
    expect(published.code).toBe(0);
    expect(JSON.parse(seen.at(-1)!.body)).toMatchObject({ origin: peer, hashes: cut.hashes });
    const added = await ask('put-peer', '10.1.2.3:1789', '--id', id);
    expect(added.stderr).toMatch(/^Warning: .*\nThe node has reached the peer/);
    expect(seen.at(-1)).toMatchObject({
      method: 'PUT',
      path: expect.stringMatching(/\/cut\/peer$/),
      body: JSON.stringify(peer),
    });
  });
});

it('pickaxe ledger peers leaves out those that are not understood, and says how many', async () => {
  const pages = (...items: string[]) => node([[/\/peer\?/, page(items)], ...ANSWERS]);
  const { ask } = await pages('{}', JSON.stringify(peer), '7');
  const { code, stdout, stderr } = await ask('peers', '--network', 'mainnet01');
  expect([code, stdout]).toEqual([0, `${id}  10.1.2.3  1789`]);
  expect(stderr).toMatch(/^warning: http:.* names 2 peers that are not understood, as this one: peer\..*\n$/);
  const none = await (await pages('{}')).ask('peers', '--network', 'mainnet01');
  expect(none.stderr).toMatch(/^warning: http:.* names a peer that is not understood: peer\..*\n$/);
});

describe('pickaxe ledger block --last', () => {
  /** @returns rows and notes of a command about a mock node's chain 1, which has a block beside each of its newest */
  async function rowsOn(dialect: Dialect, blocks: number, ...args: string[]) {
    const mock = new MockNode({ dialect, chains: 3, network: 'development', seed: 5, firstHeight: 0 });
    const { url } = await mock.start();
    onTestFinished(() => mock.close());
    const { ledger } = mock;
    for (let i = 0; i < blocks; i++) {
      for (const each of [0, 1, 2]) ledger.advance(each);
      if (i % 3 === 0) ledger.reorganise(ledger.chains.tip(1));
    }
    const store = ledger.chains.blocksOf(1);
    const words = args.map((word) => (word === 'TIP' ? store.tip.id : word));
    const { code, stdout, stderr } = await pickaxe('ledger', ...words, '--node', url);
    const branch = [...store.ancestry(store.tip)].map(({ id }) => id);
    return { code, stderr, branch, lines: stdout === '' ? [] : stdout.split('\n') };
  }

  const rows = (blocks: number, ...args: string[]) => rowsOn('chainweb', blocks, ...args);

  it('prints the newest blocks of the branch of the cut, the newest first, without orphans', async () => {
    const all = await rows(12, 'hash', '1');
    expect(all.lines.length).toBeGreaterThan(all.branch.length);
    const { code, stderr, branch, lines } = await rows(12, 'block', '1', '--last', '5');
    expect([code, stderr]).toEqual([0, '']);
    expect(lines.map((line) => /[\w-]{43}/.exec(line)?.[0])).toEqual(branch.slice(0, 5));
    const hashes = await rows(12, 'hash', '1', '--last', '5');
    expect(hashes.lines).toEqual(hashes.branch.slice(0, 5));
  });

  it('goes on over pages, to the first block of the chain, and in either dialect', async () => {
    for (const dialect of DIALECTS) {
      const { branch, lines } = await rowsOn(dialect, 70, 'block', '1', '--last', '60', '--dialect', dialect, '--json');
      expect(lines.map((line) => JSON.parse(line).header.hash)).toEqual(branch.slice(0, 60));
    }
    const { branch, lines, stderr } = await rows(3, 'hash', '1', '--last', '200');
    expect([lines, stderr]).toEqual([branch, '']);
    const most = `${branch.length - 1}`;
    const above = await rows(3, 'hash', '1', '--last', most);
    expect([above.lines, above.stderr]).toEqual([above.branch.slice(0, -1), '']);
  });

  it('is like a branch, which has hashes, or whole blocks if that or a proof is asked for', async () => {
    const hashes = await rows(4, 'branch', '1', '--upper', 'TIP');
    expect([hashes.lines, hashes.stderr]).toEqual([hashes.branch, '']);
    const below = ['--max-height', '2'];
    for (const whole of [['--blocks'], ['--verify'], ['--blocks', ...below], ['--verify', ...below]]) {
      const { stderr, branch, lines } = await rows(4, 'branch', '1', '--upper', 'TIP', ...whole);
      const own = whole.length > 2 ? branch.slice(-3) : branch;
      expect(lines.map((line) => /[\w-]{43}/.exec(line)?.[0])).toEqual(own);
      expect(lines.every((line) => line.length > 43)).toBe(true);
      expect(stderr).not.toContain('it is neither an upper bound');
      expect(stderr.includes('It is not shown that these are ancestors')).toBe(
        whole.join(' ') === '--verify --max-height 2',
      );
    }
  });

  it('refuses what contradicts it, and a chain that is none', async () => {
    for (const other of ['--min-height', '--max-height', '--limit'])
      expect(await rows(0, 'block', '1', '--last', '5', other, '3'), other).toMatchObject({ code: 2 });
    const none = await rows(0, 'block', '9', '--last', '5');
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('The network has no chain 9: it has 3.')]);
  });
});

it('what only few people need is not in the help, and works', async () => {
  const { stdout } = await pickaxe('ledger', '--help');
  expect(stdout).toMatch(/^ {2}cut /m);
  expect(stdout).not.toMatch(/put-cut|put-peer/);
  expect((await pickaxe('ledger', 'put-cut', '--help')).stdout).toContain('publish a cut');
  expect((await pickaxe('tx', '--help')).stdout).not.toMatch(/^ {2}(private|listen)/m);
  expect((await pickaxe('tx', 'listen', '--help')).stdout).toContain('wait until they are in blocks');
});

describe('pickaxe ledger cut --verify', () => {
  const genesis = blockAbove(undefined).header;
  const wanted = blockAbove(genesis);
  const weight = encodeBase64url(integerToTarget(wanted.header.weight));
  const hashes = { 0: { height: 1, hash: encodeBase64url(blockHash(wanted.header)) } };
  const verify = async (...blocks: readonly Block[]) => {
    const texts = blocks.map(({ header, payload }) =>
      stringifyExactJson({
        header: headerToJson(header, 'chainweb'),
        payloadWithOutputs: payloadWithOutputsToJson(payload),
      }),
    );
    const { url } = await serve(({ path }) =>
      path.endsWith('/cut') ? { body: { origin: null, height: 1, weight, hashes } } : page(texts),
    );
    const { code, stderr } = await pickaxe('ledger', 'cut', '--verify', '--node', url, '--network', 'development');
    return [code, stderr];
  };

  it('proves each block of the cut', async () => {
    expect(await verify(wanted)).toEqual([
      0,
      '1 head verified: heights, proof of work, neighbours, weights, payloads, rewards\n',
    ]);
  });

  it('refuses another block than that of the cut, and more than one', async () => {
    const another = blockAbove(genesis, { nonce: 8n });
    const refused = [
      1,
      expect.stringMatching(/^error: cut\.hashes\.0: the node answers with the block [\w-]{43}\.\n$/),
    ];
    expect(await verify(another)).toEqual(refused);
    expect(await verify(wanted, another)).toEqual(refused);
    const twice = [1, expect.stringMatching(/the node answers with the block more than once\.\n$/)];
    expect(await verify(wanted, wanted)).toEqual(twice);
  });
});
