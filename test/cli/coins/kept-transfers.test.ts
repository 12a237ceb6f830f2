/** What `pickaxe tx transfer --resume` prints about what an earlier run has kept, to the last character. */

import { describe, expect, it } from 'vitest';
import { AGAIN, coins, done, failed, GUARD, moved, OTHER, PAYMENT, resumed, stopped } from './kept.ts';

describe('a transfer that has begun', () => {
  it('is shown with each outcome, for people and as JSON', async () => {
    const texts = [];
    for (const [chain, outcome] of [
      [0, done('us', 'work')],
      [1, done('us', null)],
      [0, failed('no\ngas', 'node')],
      [1, null],
      [0, undefined],
    ] as const)
      texts.push(await resumed('transfer', { ...PAYMENT, transfers: [moved(chain, outcome)] }));
    expect(texts.join('\n\n')).toMatchInlineSnapshot(`
      "network    own, chain 0
      from       k:KEY
      to         bob
      only for   OTHER
      amount     1.5
      command    HASH
      gas        0.00001
      result     done
                 proven by the work of its blocks
      > This transfer is finished.
      code 0

      network    own, from chain 1 to chain 0
      from       k:KEY
      to         bob
      only for   OTHER
      amount     1.5
      command    HASH
      gas        0.00001
      result     done
      > This transfer is finished.
      code 0

      network    own, chain 0
      from       k:KEY
      to         bob
      only for   OTHER
      amount     1.5
      command    HASH
      gas        0.00002
      result     failed: no gas
                 by the word of one node
      > This transfer is finished.
      code 1

      network    own, from chain 1 to chain 0
      from       k:KEY
      to         bob
      only for   OTHER
      amount     1.5
      command    HASH
      result     pending
      > Nothing more was sent; the transfer may still arrive: pickaxe tx poll HASH --chain 1 --node http://127.0.0.1:9 --network own
      > Add --yes to do it, and --key-file FILE with the keys of the account.
      code 4

      network    own, chain 0
      from       k:KEY
      to         bob
      only for   OTHER
      amount     1.5
      > Nothing was sent. Add --yes to do it, and --key-file FILE with the keys of the account.
      code 4"
    `);
    const many = { receiver: { account: 'bob', guard: GUARD }, transfers: [moved(0, failed('why', 'nodes'))] };
    expect(await resumed('transfer', many)).toMatchInlineSnapshot(`
      "network    own, chain 0
      from       k:KEY
      to         bob
      only for   keys-any of KEY, OTHER
      amount     1.5
      command    HASH
      gas        0.00002
      result     failed: why
                 by the word of the nodes
      > This transfer is finished.
      code 1"
    `);
    expect(JSON.parse((await resumed('transfer', many, { json: true })).split('\n')[0])).toMatchInlineSnapshot(`
      {
        "amount": "1.5",
        "chain": 0,
        "from": "k:KEY",
        "gasCost": "0.00002",
        "guard": {
          "keys": [
            "KEY",
            "OTHER",
          ],
          "predicate": "keys-any",
        },
        "network": "own",
        "provenBy": "nodes",
        "reason": "why",
        "requestKey": "HASH",
        "sent": false,
        "state": "failed",
        "targetChain": 0,
        "to": "bob",
      }
    `);
    const plain = { receiver: { account: 'bob', guard: null }, transfers: [moved(0)], gasPrice: coins('0.001') };
    expect(await resumed('transfer', plain, { json: true })).toMatchInlineSnapshot(`
      "{"network":"own","from":"k:KEY","to":"bob","amount":"1.5","chain":0,"targetChain":0,"guard":null,"sent":false,"state":"planned","warning":"Gas may cost more coins than are moved. The gas price is 0.001, the usual one 0.00000001."}
      > Nothing was sent. Add --yes to do it, and --key-file FILE with the keys of the account.
      code 4"
    `);
    const own = {
      receiver: { account: `k:${OTHER}`, guard: { keys: [OTHER], pred: 'keys-all' } },
      transfers: [moved(0)],
    };
    expect(await resumed('transfer', own)).toMatchInlineSnapshot(`
      "network    own, chain 0
      from       k:KEY
      to         k:OTHER
      amount     1.5
      > Nothing was sent. Add --yes to do it, and --key-file FILE with the keys of the account.
      code 4"
    `);
  });

  it.each([
    [{ to: 'bob', amount: coins('1.5'), chain: 1, toChain: 0, gasStation: undefined }, true],
    [{ to: 'eve' }, false],
    [{ amount: coins('1.6') }, false],
    [{ chain: 0 }, false],
    [{ toChain: 1 }, false],
    [{ gasStation: 'x' }, false],
    [{ receiverKey: [OTHER] }, false],
  ])('goes on with nothing else: case %#', async (options, isSame) => {
    const shown = await resumed('transfer', { ...PAYMENT, transfers: [moved(1)] }, options);
    const other =
      'UsageError: The transfer that has begun is one of 1.5 to bob on chain 1. Go on with it as it is: pickaxe tx transfer --resume --account k:KEY --node http://127.0.0.1:9 --network own';
    if (isSame) expect(shown).toMatch(/code 4$/);
    else expect(shown).toBe(other);
  });
});

it('a transfer that is stopped at once says how to go on', async () => {
  // A transfer within one chain has no other command to sign.
  for (const [chain, key] of [
    [1, ' --key-file FILE'],
    [0, ''],
  ] as const)
    expect(await stopped('transfer', { ...PAYMENT, transfers: [moved(chain, null)] })).toBe(
      `> Stopped waiting: there is no result yet, and the coins may still move.
> Do not pay again. Go on with: pickaxe tx transfer --resume ${AGAIN}${key}
> Or ask for the result: pickaxe tx poll HASH --chain ${chain} --node http://127.0.0.1:9 --network own
code 4`,
    );
  expect(await stopped('transfer', { ...PAYMENT, transfers: [moved(0)] })).toBe(
    `> Nothing was signed or sent.
> Try again with: pickaxe tx transfer --resume ${AGAIN} --key-file FILE
> Or begin another transfer, which takes the place of this one.
code 4`,
  );
});

it('a transfer that is over has no warning of its price', async () => {
  const dear = { ...PAYMENT, transfers: [moved(0, done('us', 'work'))], gasPrice: coins('0.01') };
  expect(await resumed('transfer', dear)).not.toContain('warning');
});
