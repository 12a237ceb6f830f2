/** Transfers on one chain: movements, gas, payments to the miner, and failures. */

import { describe, expect, it } from 'vitest';
import { gasCapability } from '#pickaxe/protocol/ledger/command/coin.js';
import type { Capability, Signer } from '#pickaxe/protocol/ledger/command/command-payload.js';
import { formatDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { provenReward } from '../../protocol/ledger/proven-reward.ts';
import {
  ALICE,
  alice,
  arrival,
  BOB,
  banksOf,
  bob,
  coins,
  commandOf,
  feeOf,
  GAS_OF_TRANSFER,
  toBob,
  toChain,
  toNewBob,
} from './bank.ts';

const startBank = banksOf('document');

describe('a transfer', () => {
  it('moves coins, and pays the miner of its block', async () => {
    const { run, balance, tip, node } = await startBank();
    const result = await run(0, commandOf(0, toBob('2.5')));
    expect(result).toMatchObject({ result: { status: 'success', data: 'Write succeeded' }, gas: GAS_OF_TRANSFER });
    expect(formatDecimal(await balance(0, bob))).toBe('3.5');
    expect(await balance(0, alice)).toBe(coins('97.5') - feeOf(result));
    const { header, payload, id } = tip(0);
    const { fees, reward, account } = provenReward(header, payload);
    expect(fees).toBe(feeOf(result));
    expect(await balance(0, account)).toBe(fees + reward!);
    expect(result.events.map(({ name }) => name)).toEqual(['TRANSFER', 'TRANSFER']);
    expect(result.metaData).toMatchObject({ blockHash: id, blockHeight: Number(header.height) });
    expect(node.ledger.stats.rivalBlocks).toBe(1);
  });

  it('can make the account of its receiver, which then has its guard', async () => {
    const { run, details } = await startBank();
    expect(await details(1, bob)).toBeUndefined();
    await run(1, commandOf(1, toNewBob('2.0')));
    expect(await details(1, bob)).toMatchObject({ balance: coins('2.0'), keyset: { keys: [BOB.publicKey] } });
  });

  it('in a miner’s block is in its work from the moment it is sent', async () => {
    const { send, poll, node, balance } = await startBank();
    const command = commandOf(0, toBob('1.0'));
    node.ledger.pickChain = () => 0;
    const before = node.ledger.issueWork(alice);
    await send(0, command);
    const after = node.ledger.issueWork(alice);
    expect(node.ledger.submit(before.slice(36))).toMatchObject({ outcome: 'accepted' });
    expect(await poll(0, command.hash)).toBeUndefined();
    expect(after).not.toEqual(before);
    const { outcome } = node.ledger.submit(node.ledger.issueWork(alice).slice(36));
    expect(outcome).toBe('accepted');
    expect(await poll(0, command.hash)).toMatchObject({ gas: GAS_OF_TRANSFER });
    expect(await balance(0, bob)).toBe(coins('2.0'));
  });

  it('waits while another miner, who cannot be paid, finds blocks', async () => {
    const rival = { account: `k:${'1'.repeat(64)}`, balance: '1.0', keys: [BOB.publicKey] };
    const { send, poll, node, tip } = await startBank({ accounts: [{ account: alice, balance: '9.0' }, rival] });
    const command = commandOf(0, toNewBob('1.0'));
    await send(0, command);
    node.ledger.advance(0);
    const { header, payload } = tip(0);
    expect([provenReward(header, payload).reward, payload.transactions]).toEqual([0n, []]);
    node.ledger.pickChain = () => 0;
    expect(node.ledger.submit(node.ledger.issueWork(alice).slice(36)).outcome).toBe('accepted');
    expect(await poll(0, command.hash)).toMatchObject({ result: { status: 'success' } });
  });

  it.each<[string, Parameters<typeof commandOf>[1], RegExp]>([
    ['to nobody', toBob('1.0'), /^No value found in table coin_coin-table for key: k:\w{8}\.\.\.$/],
    ['of more than there is', toNewBob('101.0'), /^Insufficient funds$/],
    ['of more than is left for gas', toNewBob('99.9999'), /^Insufficient funds$/],
    ['to the same chain', toChain(1, '1.0'), /^cannot run cross-chain transfers to the same chain$/],
    ['to a chain that is not there', toChain(20, '1.0'), /^target chain is not a valid chainweb chain id$/],
    [
      'that nobody knows',
      { message: { exec: { code: '(coin.burn "alice" 1.0)', data: {} } }, capabilities: [] },
      /^Unbound variable coin\.burn$/,
    ],
    ['with a wrong proof', arrival('A'.repeat(43), 'AAAA'), /^Continuation error: verifyCont: /],
  ])('%s fails, and costs all the gas that it may use', async (_, call, message) => {
    const { run, balance } = await startBank();
    const result = await run(1, commandOf(1, call));
    expect(result.result).toMatchObject({ status: 'failure', error: { message: expect.stringMatching(message) } });
    expect([result.gas, result.events.length]).toEqual([1_000, 1]);
    expect(await balance(1, alice)).toBe(coins('99.999'));
  });

  it('needs a capability for its receiver and its amount, of its sender', async () => {
    const { run, balance } = await startBank();
    const code = `(coin.transfer "${alice}" "${bob}" (read-decimal "amount"))`;
    const message = { exec: { code, data: { amount: { decimal: '5.0' } } } };
    const gas = gasCapability('coin');
    const messageOf = async (clist: readonly Capability[], others: readonly Signer[] = []) => {
      const signers = [{ pubKey: ALICE.publicKey, clist: [gas, ...clist] }, ...others];
      const { result } = await run(0, commandOf(0, { message, capabilities: [] }, { signers }));
      return result.status === 'failure' ? result.error.message : '';
    };
    const [enough] = toBob('5.0').capabilities;
    const elsewhere = { ...enough, args: [alice, alice, { decimal: '5.0' }] };
    expect(await messageOf([])).toMatch(/^Managed capability coin\.TRANSFER was not installed\. Check the sigs field/);
    expect(await messageOf([elsewhere])).toMatch(/^Managed capability coin\.TRANSFER was not installed\./);
    expect(await messageOf(toBob('4.9').capabilities)).toBe('TRANSFER exceeded for balance 4.9');
    expect(await messageOf([], [{ pubKey: BOB.publicKey, clist: [enough] }])).toMatch(/^Keyset failure/);
    expect(await balance(0, bob)).toBe(coins('1.0'));
    expect(await messageOf([enough])).toBe('');
    expect(await balance(0, bob)).toBe(coins('6.0'));
  });
});
