/** The contracts and accounts of a mock node before its first block, and the library's mock node. */

import { expect, it } from 'vitest';
import { GenesisError, MockNode } from '#pickaxe/index.js';
import { alice, banksOf } from './bank.ts';
import { codeOn } from './deployed.ts';

const startBank = banksOf('chainweb');

const COUNTER = `(module counter GOVERNANCE
  (defcap GOVERNANCE () (enforce false "nobody changes this"))
  (defschema number value:integer)
  (deftable numbers:{number})
  (defun count () (update numbers "one" { "value": (+ 1 (value)) }))
  (defun value () (at "value" (read numbers "one"))))
(create-table numbers)
(insert numbers "one" { "value": (str-to-int (at "chain-id" (chain-data))) })
`;

const named = (text: string, name = 'counter.pact') => ({ contracts: [{ name, text }] });

it('contracts are on every chain before the first block, and commands change what they have written', async () => {
  const { run, readOutcome, node, tip } = await startBank(named(COUNTER));
  const value = async (chain: number) => {
    return readOutcome(chain, { exec: { code: '(format "{}" [(counter.value)])', data: {} } });
  };
  for (const chain of [0, 7]) expect(await value(chain)).toEqual({ status: 'success', data: `${chain}` });
  const command = codeOn(7, '(counter.count)');
  await run(7, command);
  expect(await value(7)).toEqual({ status: 'success', data: '8' });
  node.commands.badlist(command.hash);
  node.ledger.reorganise(tip(7));
  expect(await value(7)).toEqual({ status: 'success', data: '7' });
});

it.each([
  ['(+ 1 2)\n  (+ 1 "a")', /^a\.pact:2:2: /],
  ['(module m G (defcap G () true))\n(create-table nothing)', /^a\.pact:2:/],
  ['(+ 1', /^a\.pact:1:\d+: /],
  ['(enforce false "this is wrong")', /^a\.pact:1:0: this is wrong$/],
  ['(fold (lambda (a b) (length (enumerate 1 1000))) 0 (enumerate 1 100000))', /^a\.pact:1:.* more than \d+ steps$/],
])('a contract that fails names its place: %s', async (text, message) => {
  const start = () => new MockNode({ dialect: 'chainweb', chains: 4, ...named(text, 'a.pact') }).start();
  await expect(start()).rejects.toThrow(GenesisError);
  await expect(start()).rejects.toThrow(message);
});

it.each([
  ['its name is too short', [{ account: 'x', keys: [] }], /^account x: .*length/],
  ['it is there twice', [{ account: alice }, { account: alice }], /^account k:[0-9a-f]{64}: .*already/],
])('an account that cannot be is named: %s', async (_, accounts, message) => {
  const node = new MockNode({ dialect: 'chainweb', accounts });
  await expect(node.start()).rejects.toThrow(GenesisError);
  await expect(node.start()).rejects.toThrow(message);
});

it('the library has a mock node whose properties are there once it has started', async () => {
  const node = new MockNode({ dialect: 'chainweb', chains: 4, accounts: [{ account: alice, balance: '1.0' }] });
  expect(() => new MockNode({ dialect: 'chainweb', chains: 2 })).toThrow(/number of chains/);
  expect(() => node.ledger).toThrow('the mock node has not started yet');
  node.faults = [{ endpoint: 'cut', kind: 'status', status: 418 }];
  const { baseUrl } = await node.start();
  try {
    expect((await fetch(`${baseUrl}/cut`)).status).toBe(418);
    node.faults = [];
    expect((await fetch(`${baseUrl}/cut`)).status).toBe(200);
    expect(node.ledger.chains.tip(0).payload.state.account(alice)?.balance).toBe(1_000_000_000_000n);
    expect([node.p2p, node.identity]).toEqual([undefined, undefined]);
    expect(node.server.port).toBeGreaterThan(0);
    node.commands.badlist('A'.repeat(43));
    await node.goAway();
    await expect(fetch(`${baseUrl}/cut`)).rejects.toThrow();
    await node.comeBack();
    expect((await fetch(`${baseUrl}/cut`)).status).toBe(200);
  } finally {
    await node.close();
  }
  await expect(node.start()).rejects.toThrow('the mock node was closed');
});
