/** What `pickaxe sweep --resume` prints about what an earlier run has kept, to the last character. */

import { describe, expect, it } from 'vitest';
import { ACCOUNT, PAIR } from '../../node/sweep/world.ts';
import { AGAIN, coins, done, failed, moved, OTHER, resumed, stopped } from './kept.ts';

const ENDED = [
  moved(1, done('us', 'work')),
  moved(2, done('somebody else', 'nodes'), '20.25'),
  moved(3, failed('no\ngas', 'node')),
  moved(4, failed('too late', null)),
  moved(5, done('us', null)),
];

describe('a sweep that has begun', () => {
  it('is shown with each outcome, for people and as JSON', async () => {
    expect(await resumed('sweep', { transfers: ENDED })).toMatchInlineSnapshot(`
      "k:KEY on own, to chain 0:

      chain  state   amount
          1  done       1.5  gas 0.00001, proven by the work of its blocks
          2  done     20.25  gas 0.00001, finished by somebody else, by the word of the nodes
          3  failed     1.5  gas 0.00002, request key HASH: no gas, by the word of one node
          4  failed     1.5  gas 0.00002, request key HASH: too late
          5  done       1.5  gas 0.00001
             total    26.25
      The coins arrive for keys-any of
        KEY
        OTHER
      > This sweep is finished.
      code 1"
    `);
    const json = await resumed('sweep', { transfers: ENDED }, { json: true });
    expect(JSON.parse(json.split('\n')[0])).toMatchInlineSnapshot(`
      {
        "account": "k:KEY",
        "chains": [
          {
            "amount": "1.5",
            "by": "us",
            "chain": 1,
            "gasCost": "0.00001",
            "provenBy": "work",
            "requestKey": "HASH",
            "state": "done",
          },
          {
            "amount": "20.25",
            "by": "somebody-else",
            "chain": 2,
            "gasCost": "0.00001",
            "provenBy": "nodes",
            "requestKey": "HASH",
            "state": "done",
          },
          {
            "amount": "1.5",
            "chain": 3,
            "gasCost": "0.00002",
            "provenBy": "node",
            "reason": "no gas",
            "requestKey": "HASH",
            "state": "failed",
          },
          {
            "amount": "1.5",
            "chain": 4,
            "gasCost": "0.00002",
            "reason": "too late",
            "requestKey": "HASH",
            "state": "failed",
          },
          {
            "amount": "1.5",
            "by": "us",
            "chain": 5,
            "gasCost": "0.00001",
            "requestKey": "HASH",
            "state": "done",
          },
        ],
        "guard": {
          "keys": [
            "KEY",
            "OTHER",
          ],
          "predicate": "keys-any",
        },
        "network": "own",
        "sent": false,
        "targetChain": 0,
        "total": "26.25",
      }
    `);
    const right = { transfers: [moved(1, done('us', 'work'))], guard: { keys: [PAIR.publicKey], pred: 'keys-all' } };
    expect(await resumed('sweep', right)).toMatchInlineSnapshot(`
      "k:KEY on own, to chain 0:

      chain  state  amount
          1  done      1.5  gas 0.00001, proven by the work of its blocks
             total     1.5
      The coins arrive for keys-all of
        KEY
      > This sweep is finished.
      code 0"
    `);
  });

  it('is shown while it is unfinished, and says how to go on', async () => {
    const transfers = [moved(1, done('us', 'work')), moved(2, null), moved(3)];
    expect(await resumed('sweep', { transfers })).toMatchInlineSnapshot(`
      "k:KEY on own, to chain 0:

      chain  state    amount
          1  done        1.5  gas 0.00001, proven by the work of its blocks
          2  pending     1.5  request key HASH
          3  planned     1.5
             total       4.5
      The coins arrive for keys-any of
        KEY
        OTHER
      > Nothing more was sent; what was sent before may still arrive.
      > Add --yes to do it, and --key-file FILE with the keys of the account.
      code 4"
    `);
    expect(JSON.parse((await resumed('sweep', { transfers }, { json: true })).split('\n')[0])).toMatchInlineSnapshot(`
      {
        "account": "k:KEY",
        "chains": [
          {
            "amount": "1.5",
            "by": "us",
            "chain": 1,
            "gasCost": "0.00001",
            "provenBy": "work",
            "requestKey": "HASH",
            "state": "done",
          },
          {
            "amount": "1.5",
            "chain": 2,
            "requestKey": "HASH",
            "state": "pending",
          },
          {
            "amount": "1.5",
            "chain": 3,
            "state": "planned",
          },
        ],
        "guard": {
          "keys": [
            "KEY",
            "OTHER",
          ],
          "predicate": "keys-any",
        },
        "network": "own",
        "sent": false,
        "targetChain": 0,
        "total": "4.5",
      }
    `);
    expect(await resumed('sweep', { transfers: [moved(2)] })).toMatchInlineSnapshot(`
      "k:KEY on own, to chain 0:

      chain  state    amount
          2  planned     1.5
             total       1.5
      The coins arrive for keys-any of
        KEY
        OTHER
      > Nothing was sent. Add --yes to do it, and --key-file FILE with the keys of the account.
      code 4"
    `);
    const dear = { transfers: [moved(2)], gasPrice: coins('0.001') };
    expect(await resumed('sweep', dear)).toMatchInlineSnapshot(`
      "k:KEY on own, to chain 0:

      chain  state    amount
          2  planned     1.5
             total       1.5
      Warning: Gas may cost more coins than are moved. The gas price is 0.001, the usual one 0.00000001.
      The coins arrive for keys-any of
        KEY
        OTHER
      > Nothing was sent. Add --yes to do it, and --key-file FILE with the keys of the account.
      code 4"
    `);
  });

  const RESUME = 'pickaxe sweep --resume --account k:KEY --node http://127.0.0.1:9 --network own';

  it.each([
    [{ toChain: 1 }, {}, `This sweep goes to chain 0. Finish it first: ${RESUME}`],
    [{ gasStation: 'x' }, {}, `In this sweep, the account itself pays for the arrival. Finish it first: ${RESUME}`],
    [{ gasStation: 'y' }, { gasStation: 'x' }, `In this sweep, x pays for the arrival. Finish it first: ${RESUME}`],
    [{ yes: true }, {}, 'Name the key files of the account with --key-file: KEY, OTHER.'],
  ])('goes on with nothing else: case %#', async (options, changes, text) => {
    const transfers = [{ ...moved(2, null) }];
    const needed = 'yes' in options ? [moved(2)] : transfers;
    expect(await resumed('sweep', { transfers: needed, ...changes }, options)).toBe(`UsageError: ${text}`);
  });

  it.each([[{ toChain: 0 }], [{ gasStation: 'x' }]])('goes on as it was begun, said again: %j', async (options) => {
    expect(await resumed('sweep', { transfers: [moved(2)], gasStation: 'x' }, options)).toMatch(/code 4$/);
  });

  const gasPrice = coins('0.0000002');
  const guardKey = [OTHER];
  const sent = { transfers: [moved(2, null)] };
  it.each([
    ['the price of the gas, which a run with --resume can change', sent, { gasPrice }, ' --gas-price 0.0000002'],
    ['no price of another sweep', sent, { gasPrice, resume: false }, ''],
    ['the keys of the guard, where something must still be signed', sent, { guardKey }, ' --guard-key OTHER'],
    ['no keys, where a gas station pays for the rest', { ...sent, gasStation: 'x' }, { guardKey }, ''],
  ])('says again %s', async (_, sweep, options, end) => {
    const text = await resumed('sweep', sweep, { toChain: 1, ...options });
    expect(text.split('Finish it first: ')[1]).toBe(`${RESUME}${end}`);
  });

  /** The user names one of the guard's two keys. */
  const named = { 'miner.account': 'farm', 'miner.public-keys': [PAIR.publicKey], 'miner.predicate': 'keys-any' };
  const unsigned = { account: 'farm', transfers: [moved(2)] };
  it.each([
    ['where something must still be signed', unsigned, named, {}, true],
    ['where one of two must still be signed', { ...unsigned, transfers: [moved(1, null), moved(2)] }, named, {}, true],
    ['where all is signed', { ...unsigned, transfers: [moved(2, null)] }, named, {}, false],
    [
      'where what is not signed is over',
      { ...unsigned, transfers: [{ ...moved(2), outcome: failed('no', 'work') }] },
      named,
      {},
      false,
    ],
    ['unless the user names no key', unsigned, { 'miner.account': 'farm' }, {}, false],
    ['unless the user names the other one, too', unsigned, named, { guardKey }, false],
    [
      'unless the account has a guard in its name',
      { ...unsigned, account: ACCOUNT },
      { ...named, 'miner.account': ACCOUNT },
      {},
      false,
    ],
  ])('signs for no guard that has another key: %s', async (_, sweep, settings, options, isRefused) => {
    const text = await resumed('sweep', sweep, options, settings);
    const refusal = 'UsageError: The guard of this sweep has keys that you have not named: OTHER.';
    expect(text).toMatch(isRefused ? new RegExp(`^${refusal}`) : /\ncode \d$/);
  });

  it('names the account again unless the settings do', async () => {
    const transfers = [moved(2, null)];
    const guard = { keys: [PAIR.publicKey], pred: 'keys-all' };
    const refused = (named: object) => resumed('sweep', { transfers, guard }, { toChain: 1 }, named);
    const node = '--node http://127.0.0.1:9 --network own';
    const first = 'UsageError: This sweep goes to chain 0. Finish it first: pickaxe sweep --resume';
    expect(await refused({ 'miner.public-keys': [PAIR.publicKey] })).toBe(`${first} ${node} --public-key KEY`);
    expect(await refused({ 'miner.account': ACCOUNT })).toBe(`${first} --account k:KEY ${node}`);
  });
});

it('a sweep that is stopped at once says how to go on', async () => {
  expect(await stopped('sweep', { transfers: [moved(1, null)] })).toBe(
    `> Coins that are on their way are safe: anybody can finish a transfer with its request key.
> Go on with: pickaxe sweep --resume ${AGAIN} --key-file FILE
code 4`,
  );
  expect(await stopped('sweep', { transfers: [moved(1)] })).toBe(
    `> Nothing was signed or sent.
> Try again with: pickaxe sweep --resume ${AGAIN} --key-file FILE
> Or begin another sweep, which takes the place of this one.
code 4`,
  );
});

it('a sweep that is over has no warning of its price', async () => {
  const dear = { transfers: [moved(1, done('us', 'work'))], gasPrice: coins('0.01') };
  expect(await resumed('sweep', dear)).not.toContain('Warning');
});
