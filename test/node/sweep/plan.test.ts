import { describe, expect, it } from 'vitest';
import {
  CannotSweep,
  gasWarning,
  mostGasCost,
  planSweep,
  type SweepRequest,
  sweepOf,
  totalOf,
} from '#pickaxe/node/sweep/plan.js';
import { SweepFault } from '#pickaxe/node/sweep/sweep-ledger.js';
import { signersOf } from '#pickaxe/node/sweep/transfer-commands.js';
import { KeyPair } from '#pickaxe/protocol/ledger/command/command.js';
import { ONE, parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { ACCOUNT, changed, NEVER, PAIR, WISHES, World } from './world.ts';

const OTHER = new KeyPair('77'.repeat(32));
const plan = (world: World, request: Partial<SweepRequest> = {}) =>
  planSweep(world.ledger, { ...WISHES, ...request }, NEVER);

describe('a plan', () => {
  it('says for each chain what leaves it, or why nothing does', async () => {
    const accounts = [
      { account: ACCOUNT, balance: '2.0', chains: [0, 1] },
      { account: ACCOUNT, balance: '0.0105', chains: [2] },
      { account: ACCOUNT, balance: '0.0', chains: [3] },
      { account: ACCOUNT, balance: '3.0', keys: [OTHER.publicKey], chains: [4] },
    ];
    const world = await World.make({ chains: 10, accounts });
    const { chains } = await plan(world);
    expect(chains.map((it) => [it.chain, it.kind, 'reason' in it ? it.reason : it.amount])).toEqual([
      [1, 'transfer', parseDecimal('1.99899737')],
      [2, 'skip', 'less than 0.01 could leave'],
      [3, 'skip', 'has no coins'],
      [4, 'skip', 'the account has other keys here'],
      ...[5, 6, 7, 8, 9].map((chain) => [chain, 'skip', 'the account does not exist']),
    ]);
  });

  it('adds up', async () => {
    const world = await World.make();
    const it = await plan(world, { keep: ONE });
    expect(totalOf(it)).toBe(2n * parseDecimal('90.49999737'));
    // 263 units of gas for step 0, and at most 2500 for step 1, for each of two.
    const sweep = sweepOf(it, 'development', 5);
    expect(mostGasCost(sweep)).toBe(2n * 2763n * 10_000n);
    expect(mostGasCost({ ...sweep, gasStation: 'x' })).toBe(2n * 263n * 10_000n);
    // Within one chain there is no step 1.
    expect(mostGasCost({ ...sweep, targetChain: 1 })).toBe((263n + 2763n) * 10_000n);
    expect(sweep).toMatchObject({ network: 'development', startedMs: 5, targetChain: 0 });
    expect(gasWarning(sweep)).toBeUndefined();
    expect(gasWarning({ ...sweep, gasPrice: ONE })).toMatch(
      /^Gas may cost more coins than are moved\. The gas price is 1\.0,/,
    );
    expect(gasWarning({ ...sweep, gasPrice: parseDecimal('0.00002') })).toMatch(/is it mistyped\?$/);
    const dear = { ...sweep, gasPrice: parseDecimal('0.00001') };
    expect(gasWarning(dear)).toBeUndefined();
    expect(gasWarning({ ...dear, gasPrice: dear.gasPrice + 1n })).toMatch(/is it mistyped\?$/);
    // One transfer that moves as many coins as its gas may cost, and one that moves less.
    const [transfer] = sweep.transfers;
    const moving = (amount: bigint) => ({ ...sweep, transfers: [{ ...transfer, amount }] });
    const cost = mostGasCost(moving(0n));
    expect(gasWarning(moving(cost))).toBeUndefined();
    expect(gasWarning(moving(cost - 1n))).toMatch(/^Gas may cost more coins than are moved/);
    expect(gasWarning({ ...sweep, transfers: [] })).toBeUndefined();
  });

  it('signs nothing: nobody could send what the node is asked to try out', async () => {
    const world = await World.make();
    const tried: number[] = [];
    const ledger = changed(world.ledger, {
      tryOut: (chain, command, stop) => {
        tried.push(command.sigs.length);
        return world.ledger.tryOut(chain, command, stop);
      },
    });
    await planSweep(ledger, { ...WISHES, held: null }, NEVER);
    expect(tried).toEqual([0, 0]);
  });

  it('goes on when one chain does not answer', async () => {
    const world = await World.make();
    const ledger = changed(world.ledger, {
      look: (chain, ...rest) => {
        if (chain === 1) throw new SweepFault('away');
        return world.ledger.look(chain, ...rest);
      },
    });
    const { chains } = await planSweep(ledger, WISHES, NEVER);
    expect(chains[0]).toEqual({ kind: 'fault', chain: 1, reason: 'away' });
    expect(chains[1].kind).toBe('transfer');
  });
});

describe('a sweep is refused', () => {
  const refusal = async (world: World, request: Partial<SweepRequest>) => {
    const fault = await plan(world, request).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(CannotSweep);
    return (fault as Error).message;
  };

  it('to a chain that does not exist', async () => {
    expect(await refusal(await World.make(), { targetChain: 3 })).toContain('no chain 3');
  });

  it('without the keys of the account', async () => {
    expect(await refusal(await World.make(), { held: [OTHER.publicKey] })).toContain(PAIR.publicKey);
  });

  it('where nobody can pay for the arrival', async () => {
    const accounts = [{ account: ACCOUNT, balance: '2.0', chains: [1, 2] }];
    const world = await World.make({ accounts });
    expect(await refusal(world, {})).toContain('cannot pay for the arrival: it has 0.0');
    expect(await refusal(world, { gasStation: 'kadena-xchain-gas' })).toContain('kadena-xchain-gas cannot pay');
  });

  it('where what pays for the arrival lacks the smallest part of a coin', async () => {
    const world = await World.make();
    const needed = 2_500n * WISHES.gasPrice;
    const withBalance = (balance: bigint) =>
      changed(world.ledger, {
        look: async (chain, account, stop) => {
          const look = await world.ledger.look(chain, account, stop);
          return { ...look, details: { ...look.details!, balance } };
        },
      });
    expect((await planSweep(withBalance(needed), WISHES, NEVER)).targetBalance).toBe(needed);
    await expect(planSweep(withBalance(needed - 1n), WISHES, NEVER)).rejects.toThrow(
      'The account cannot pay for the arrival: it has 0.000024999999 on chain 0, and 0.000025 is needed.',
    );
  });

  it('to an account that anybody could take on the target chain', async () => {
    const accounts = [{ account: 'mine', balance: '2.0', keys: [PAIR.publicKey], chains: [1, 2] }];
    expect(await refusal(await World.make({ accounts }), { account: 'mine' })).toContain('anybody could take its name');
  });

  it.each([
    ['has keys of another kind', 'mine', ['WEBAUTHN-a4010103'], 'something else than Ed25519 keys'],
    [
      'has more keys than a command has signatures',
      'mine',
      Array(101).fill(PAIR.publicKey),
      'more keys than could ever',
    ],
    ['has one key of another kind', 'mine', [PAIR.publicKey, 'WEBAUTHN-a4010103'], 'something else than Ed25519 keys'],
    ['has no keys', 'mine', [], 'something else than Ed25519 keys'],
    ['does not have the key of its name', ACCOUNT, [OTHER.publicKey], 'does not have the key of its name'],
  ])('to an account that %s', async (_, account, keys, says) => {
    const world = await World.make();
    const keyset = { keys, pred: 'keys-all' };
    const details = { account, balance: ONE, guard: keyset, keyset };
    const ledger = changed(world.ledger, { look: async () => ({ details, height: 5, timeS: 1_700_000_000 }) });
    const planned = planSweep(ledger, { ...WISHES, account, held: null }, NEVER);
    await expect(planned).rejects.toThrow(CannotSweep);
    await expect(planned).rejects.toThrow(says);
  });

  it('from an account of the same name that has other keys', async () => {
    const keys = [OTHER.publicKey];
    const accounts = [
      { account: 'mine', balance: '2.0', keys: [PAIR.publicKey], chains: [1, 2] },
      { account: 'mine', balance: '2.0', keys, chains: [0] },
    ];
    const world = await World.make({ accounts });
    expect(await refusal(world, { account: 'mine' })).toContain(OTHER.publicKey);
    const { chains } = await plan(world, { account: 'mine', held: null, known: null });
    expect(chains.map(({ kind }) => kind)).toEqual(['skip', 'skip']);
  });
});

it('as many keys sign as the account needs', () => {
  const keys = ['a', 'b', 'c'];
  expect(signersOf({ keys, pred: 'keys-all' }, ['c', 'a', 'b', 'x'])).toEqual(keys);
  expect(signersOf({ keys, pred: 'keys-all' }, ['a', 'b'])).toBeUndefined();
  expect(signersOf({ keys, pred: 'keys-2' }, ['c', 'x', 'b', 'a'])).toEqual(['a', 'b']);
  expect(signersOf({ keys, pred: 'keys-any' }, ['b'])).toEqual(['b']);
  for (const pred of ['mine.some-keys', 'toString', 'constructor', '__proto__']) {
    expect(signersOf({ keys, pred }, keys)).toBeUndefined();
  }
});
