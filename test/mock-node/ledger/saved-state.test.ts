/** The state that a mock node saves, and goes on from. */

import { describe, expect, it } from 'vitest';
import { MockNode } from '#pickaxe/index.js';
import { alice, arrival, banksOf, bob, coins, commandOf, toBob, toChain } from '../execution/bank.ts';
import type { OtherOptions } from '../node.ts';

const startBank = banksOf('chainweb');
const OPTIONS: OtherOptions = { chains: 4, mineOnSend: true };

/** @returns a node with commands in blocks and one that waits, and a function that starts another with its state */
async function startSaved(options: OtherOptions = OPTIONS) {
  const bank = await startBank(options);
  const again = (more: OtherOptions = {}, state = bank.node.save()) => startBank({ ...options, ...more }, { state });
  return { bank, again };
}

type Bank = Awaited<ReturnType<typeof startBank>>;
const tips = ({ tip }: Bank) => [0, 1, 2, 3].map((chain) => tip(chain).id);

describe('a node that starts with the state of another', () => {
  it('has its blocks, results, coins and proofs, and goes on', async () => {
    const { bank, again } = await startSaved();
    const [paid, left] = [commandOf(0, toBob('2.0')), commandOf(0, toChain(3, '1.5'))];
    for (const command of [paid, left]) await bank.send(0, command);
    const next = await again();
    expect(tips(next)).toEqual(tips(bank));
    expect(await next.poll(0, paid.hash)).toEqual(await bank.poll(0, paid.hash));
    expect(await next.balance(0, bob)).toBe(coins('3.0'));
    expect((await next.send(0, paid)).text).toContain('Transaction already exists on chain');
    const { text } = await next.post(0, 'spv', { requestKey: left.hash, targetChainId: '3' });
    const arriving = commandOf(3, arrival(left.hash, JSON.parse(text)));
    await next.send(3, arriving);
    const last = await again({}, next.node.save());
    expect(tips(last)).toEqual(tips(next));
    expect(await last.balance(3, bob)).toBe(coins('1.5'));
  });

  it('has commands that wait, and those of a block that becomes an orphan', async () => {
    const { bank, again } = await startSaved({ chains: 4 });
    const [mined, waiting] = [commandOf(1, toChain(0, '1.0')), commandOf(0, toBob('1.0'))];
    await bank.run(1, mined);
    await bank.send(0, waiting);
    const next = await again();
    next.node.ledger.reorganise(next.tip(1));
    next.node.ledger.advance(0);
    expect((await next.poll(0, waiting.hash))?.result.status).toBe('success');
    expect((await next.poll(1, mined.hash))?.result.status).toBe('success');
  });

  it('has the branch that has replaced another, also the second time', async () => {
    const { bank, again } = await startSaved();
    await bank.send(0, commandOf(0, toBob('1.0')));
    const orphan = bank.tip(0);
    bank.node.ledger.reorganise(bank.tip(0));
    const next = await again();
    expect(tips(next)).toEqual(tips(bank));
    expect(next.node.ledger.chains.blocksOf(0).get(orphan.id)).toBeUndefined();
    next.node.ledger.reorganise(next.tip(0));
    expect(tips(await again({}, next.node.save()))).toEqual(tips(next));
  });

  it('takes blocks from a clock that was ahead, and has a difficulty of its own', async () => {
    const { bank, again } = await startSaved({ ...OPTIONS, clockSkewMs: 3_600_000, firstBlockAgeMs: 1 });
    bank.node.ledger.advance(0);
    const next = await again({ clockSkewMs: 0, difficulty: 4096 });
    expect([tips(next), next.node.ledger.difficulty]).toEqual([tips(bank), 4096]);
  });

  it('is in the package', async () => {
    const node = new MockNode({ dialect: 'chainweb', ...OPTIONS });
    await node.start();
    node.ledger.advance(0);
    const next = new MockNode({ dialect: 'chainweb', ...OPTIONS }, { state: node.save() });
    await next.start();
    expect(next.ledger.chains.tip(0).id).toBe(node.ledger.chains.tip(0).id);
    await Promise.all([node.close(), next.close()]);
  });
});

describe('a text is refused', () => {
  const code = (text: string) => ({ contracts: [{ name: 'a', text }] });

  it.each<[string, OtherOptions]>([
    ['network', { network: 'testnet04' }],
    ['chains', { chains: 6 }],
    ['reward', { reward: '1.0' }],
    ['retargets', { retargets: true }],
    ['outputEvents', { outputEvents: false }],
    ['accounts', { accounts: [{ account: alice }] }],
    ['contracts', code('2')],
    ['gasStation', { gasStation: true }],
    ['contractDialect', { contractDialect: 4 }],
    ['minGasPrice', { minGasPrice: '0.1' }],
    ['blockGasLimit', { blockGasLimit: 7 }],
  ])('from a node with another option %s', async (name, more) => {
    const { bank } = await startSaved({ ...OPTIONS, ...code('1') });
    const options = {
      ...OPTIONS,
      ...code('1'),
      accounts: [
        { account: alice, balance: '100.0' },
        { account: bob, balance: '1.0', chains: [0] },
      ],
    };
    expect(() => new MockNode({ dialect: 'chainweb', ...options, ...more })).not.toThrow();
    await expect(startBank({ ...options, ...more }, { state: bank.node.save() })).rejects.toThrow(
      `it is the state of a node with another option "${name}"`,
    );
  });

  const CHANGES: [string, (state: string) => string, RegExp][] = [
    ['that breaks off', (state) => state.slice(0, -9), /^it is not a complete state of a mock node \(.*JSON/],
    ['of another program', () => '{"name":"pickaxe"}', /^it is not a complete state of a mock node \(state\.state: /],
    ['of a later version', (state) => state.replace('node 1', 'node 2'), /complete state .*state\.state: .*node 1/],
    [
      'with another first block',
      (state) => state.replace(/"first":\["[^"]*"/, '"first":["AAAA"'),
      /^a first block cannot be read \(/,
    ],
    [
      'without a first block',
      (state) => state.replace(/"first":\["[^"]*",/, '"first":['),
      /^its first block of chain 0 is another one$/,
    ],
    [
      'with a changed header',
      (state) => state.replace(/"header":"(.{30}).{4}/, '"header":"$1AAAA'),
      /^a block cannot be run again \(/,
    ],
    [
      'with a changed result',
      (state) => state.replace(/"coinbase":"(.{40}).{4}/, '"coinbase":"$1AAAA'),
      /^a block cannot be run again \(/,
    ],
    [
      'with a command that is none',
      (state) => state.replace('"waiting":[[', '"waiting":[["{}"'),
      /^a command cannot be read \(/,
    ],
  ];
  it.each(CHANGES)('%s', async (_, change, says) => {
    const { bank, again } = await startSaved();
    await bank.send(0, commandOf(0, toBob('1.0')));
    const state = bank.node.save();
    expect(change(state)).not.toBe(state);
    await expect(again({}, change(state))).rejects.toThrow(says);
  });
});
