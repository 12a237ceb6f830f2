/** Payments of programs, on the mock node. */

import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { PayError, type PayOptions, pay } from '#pickaxe/index.js';
import { ALICE, alice, banksOf, bob, coins, SECRET_OF_ALICE } from '../../mock-node/execution/bank.ts';
import { Folder } from '../config/folder.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const startBank = banksOf('chainweb');
let states = 0;

/** @returns a node, and a function that pays one coin from Alice to Bob, with the state in a folder of its own */
async function start(options: Parameters<typeof startBank>[0] = { rivalMs: 5 }) {
  const bank = await startBank({ chains: 4, ...options });
  states += 1;
  const usual = {
    node: bank.url,
    network: 'development',
    secretKey: SECRET_OF_ALICE,
    to: bob,
    amount: '1.0',
    chain: 0,
  };
  const wait = { pauseMs: 5, stateDirectory: join(folder.path, `state-${states}`) };
  return { bank, paying: (more: Partial<PayOptions> = {}) => pay({ ...usual, ...wait, ...more }) };
}

/** Takes the secret key out. */
const NO_SECRET = { secretKey: undefined } as object;
const DONE = { state: 'done', provenBy: 'node', requestKey: expect.stringMatching(/^[\w-]{43}$/) };

describe('pay', () => {
  it('pays, and waits until it is proven', async () => {
    const { bank, paying } = await start();
    const notes: string[] = [];
    const paid = await paying({ notify: (note) => notes.push(note) });
    expect(paid).toEqual({ ...DONE, gasCost: expect.stringMatching(/^0\.0000\d+$/) });
    expect(notes[0]).toBe('the transfer is sent');
    expect(await bank.balance(0, bob)).toBe(coins('2.0'));
    expect((await bank.poll(0, paid.requestKey!))?.result.status).toBe('success');
    expect(await paying({ amount: '0.5' })).toMatchObject(DONE);
    expect(await bank.balance(0, bob)).toBe(coins('2.5'));
  });

  it('pays on another chain, with a key file', async () => {
    const { bank, paying } = await start();
    const keyFile = folder.write('alice.yaml', `public: ${ALICE.publicKey}\nsecret: ${SECRET_OF_ALICE}\n`);
    const paid = await paying({ ...NO_SECRET, keyFile, toChain: 3 });
    expect(paid).toMatchObject(DONE);
    expect(await bank.balance(3, bob)).toBe(coins('1.0'));
  });

  it('is pending when it must not wait any longer, and is resumed as the same command', async () => {
    const { bank, paying } = await start({});
    const stop = new AbortController();
    const paid = await paying({ stop: stop.signal, notify: () => stop.abort() });
    expect(paid).toEqual({ state: 'pending', requestKey: expect.any(String), reason: 'the transfer is sent' });
    const { requestKey } = paid;
    for (const more of [
      {},
      { resume: true, amount: '2.0' },
      { resume: true, toChain: 1 },
      { resume: true, to: 'bob' },
    ]) {
      await expect(paying(more)).rejects.toThrow(
        new PayError(
          `An earlier payment of this account is unfinished (1.0 to ${bob}): call pay with the same receiver, amount and chains, and resume: true.`,
        ),
      );
    }
    for (let i = 0; i < 8; i++) bank.node.ledger.advance(0);
    expect(await paying({ resume: true })).toMatchObject({ ...DONE, requestKey });
    expect(await bank.balance(0, bob)).toBe(coins('2.0'));
  });

  it.each<[string, Partial<PayOptions>, RegExp]>([
    ['oneself', { to: alice }, /^The account would pay itself/],
    ['nothing', { amount: '0' }, /^The amount must be above 0\.$/],
    ['more than there is', { amount: '1000.0' }, /100/],
    ['no number', { amount: 'all' }, /all/],
    ['a key that nobody has', { to: `k:${'01'.repeat(31)}02` }, /^Nobody can sign with the key/],
    ['from an account that is not there', { secretKey: 'c4'.repeat(32) }, /does not exist on chain 0/],
    ['on another network', { network: 'testnet04' }, /./],
    ['without a key', NO_SECRET, /^Give the key of the account that pays/],
    ['with a wrong key', { secretKey: 'a1' }, /^a secret key is 64 hex digits$/],
    ['with two keys', { keyFile: 'a' }, /^Give the key of the account that pays/],
    ['a name without its keys', { to: 'carol' }, /carol/],
    ['through a node that is not there', { node: 'http://127.0.0.1:9' }, /cannot reach/],
  ])('does not pay %s', async (_, more, says) => {
    const { bank, paying } = await start({});
    const error = await paying(more).catch((thrown) => thrown);
    expect([error.name, error.message]).toEqual(['PayError', expect.stringMatching(says)]);
    expect(bank.node.commands.pending(0).requestKeys).toEqual([]);
  });
});
