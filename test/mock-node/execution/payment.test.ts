/** The payment of gas if accounts refuse it, and contracts that try to get more than gas from it. */

import { describe, expect, it } from 'vitest';
import type { Capability } from '#pickaxe/protocol/ledger/command/command-payload.js';
import { parseLocalAnswer } from '#pickaxe/protocol/ledger/command/results.js';
import { jsonInteger } from '#pickaxe/protocol/ledger/json.js';
import { ALICE, alice, BOB, banksOf, bob, coins, commandOf, keysetOf, toBob } from './bank.ts';
import { codeOn } from './deployed.ts';

const startBank = banksOf('chainweb');

const GAS = { name: 'coin.GAS', args: [] };
const VANITY = 'vanity';
const PAYER = { account: VANITY, balance: '10.0', keys: [ALICE.publicKey] };
const THIEF = { account: 'thief', balance: '10.0', keys: [BOB.publicKey], pred: 'free.evil.pred' };
const ACCOUNTS = [{ account: alice, balance: '100.0' }, { account: bob, balance: '10.0' }, PAYER, THIEF];

it('tries a command out also where somebody has the account of the miner that nobody is', async () => {
  const { run, local } = await startBank({ accounts: ACCOUNTS });
  const made = await run(
    0,
    codeOn(0, '(coin.create-account "NoMiner" (read-keyset "k"))', { data: { k: keysetOf(BOB) } }),
  );
  expect(made.result.status).toBe('success');
  const { status, json } = await local(0, commandOf(0, toBob('1.0')), '?preflight=true');
  expect(status).toBe(200);
  expect(parseLocalAnswer(json).outcome).toMatchObject({ status: 'failure' });
});

it('gives out work of a miner who changes the guard of the account that is paid', async () => {
  const { node, send, balance } = await startBank({ accounts: ACCOUNTS });
  const rotate = codeOn(0, `(coin.rotate "${VANITY}" (read-keyset "k"))`, {
    data: { k: keysetOf(BOB) },
    meta: { sender: VANITY },
    clist: [GAS, { name: 'coin.ROTATE', args: [VANITY] }],
  });
  expect((await send(0, rotate)).status).toBe(200);
  node.ledger.pickChain = () => 0;
  const miner = { predicate: 'keys-all', publicKeys: [ALICE.publicKey] };
  expect(node.ledger.issueWork(VANITY, miner)).toHaveLength(322);
  expect(await balance(0, VANITY)).toBe(coins('10.0'));
});

it('refuses a payer whose predicate does more than to count keys', async () => {
  const { run, send, balance } = await startBank({ accounts: ACCOUNTS });
  const evil = `(namespace "free")
    (module evil G (defcap G () true)
      (defun pred (count matched) (coin.transfer "${alice}" "${bob}" 5.0) true))`;
  expect((await run(0, codeOn(0, evil))).result.status).toBe('success');
  const before = await balance(0, alice);
  const paid = codeOn(0, '(+ 1 2)', {
    meta: { sender: 'thief' },
    clist: [GAS, { name: 'coin.TRANSFER', args: [alice, bob, { decimal: '5.0' }] }],
  });
  const answer = await send(0, paid);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('Operation disallowed in read-only')]);
  expect(await balance(0, alice)).toBe(before);
});

describe('what runs before a command, which nobody pays for, takes a bounded number of steps', () => {
  const LOOP = '(fold (+) 0 (enumerate 1 100000))';
  const STEPS = 'Code takes more than 50000 steps';
  const refused = async (define: string, accounts: typeof ACCOUNTS, clist: Capability[], sender: string) => {
    const { run, send, local } = await startBank({ accounts });
    expect((await run(0, codeOn(0, `(namespace "free") ${define}`))).result.status).toBe('success');
    const paid = codeOn(0, '(+ 1 2)', { meta: { sender }, clist });
    const { status, text } = await send(0, paid);
    expect([status, text]).toEqual([400, expect.stringContaining(STEPS)]);
    const { json } = await local(0, paid, '?preflight=true');
    expect(parseLocalAnswer(json).outcome).toMatchObject({
      status: 'failure',
      error: { message: expect.stringContaining(STEPS) },
    });
  };

  it('of a gas station', async () => {
    const station = `(module station G (defcap G () true) (implements gas-payer-v1)
      (defcap GAS_PAYER:bool (user:string limit:integer price:decimal) (> ${LOOP} 0))
      (defun create-gas-payer-guard:guard () (create-capability-guard (GAS_PAYER "" 0 0.0))))`;
    const args = ['', { int: jsonInteger(0) }, { decimal: '0.0' }];
    await refused(station, ACCOUNTS, [{ name: 'free.station.GAS_PAYER', args }], alice);
  });

  it('of the predicate of a payer', async () => {
    const predicate = `(module evil G (defcap G () true) (defun pred (count matched) (> ${LOOP} 0)))`;
    await refused(predicate, ACCOUNTS, [GAS], 'thief');
  });
});
