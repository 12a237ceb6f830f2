/** What is done next with a transfer: a table of the states of its two commands, and what proves its end. */

import { describe, expect, it } from 'vitest';
import {
  type CommandState,
  next,
  type PaymentRequest,
  planPayment,
  provenOutcome,
  type Seen,
} from '#pickaxe/node/sweep/next-step.js';
import type { AccountLook, Evidence } from '#pickaxe/node/sweep/sweep-ledger.js';
import { plannedTransfer, type Sweep, stateOf } from '#pickaxe/node/sweep/sweep-state.js';
import { formatDecimal, ONE } from '#pickaxe/protocol/ledger/decimal.js';
import { PAYMENT, RECEIVER, RECEIVER_KEY } from './payments.ts';
import { changed, NEVER, PAIR, World } from './world.ts';

const CONFIRMATIONS = 5;
const inBlock = (depth: number, gasCost: bigint) => ({ height: 90, depth, gasCost });
const none: CommandState = { status: 'none', isOver: false };
const over: CommandState = { status: 'none', isOver: true };
const doubtful: CommandState = { status: 'none', isOver: false, doubt: 'the clocks differ' };
const success = (depth: number, gasCost = 7n): CommandState => ({ status: 'success', ...inBlock(depth, gasCost) });
const failure = (depth: number): CommandState => ({ status: 'failure', reason: 'no coins', ...inBlock(depth, 7n) });

const sweep = (more: Partial<Sweep> = {}) =>
  ({ targetChain: 0, gasStation: null, transfers: [plannedTransfer(1, ONE, 700)], ...more }) as Sweep;
const WITHIN = { transfers: [plannedTransfer(0, ONE, 700)] };
const step = (seen: Partial<Seen>, more: Partial<Sweep> = {}) =>
  next({ step0: none, step1: null, earlierGasCost: 0n, ...seen }, sweep(more), CONFIRMATIONS);

const bring = { do: 'bring' };
const wait = (why: string) => ({ do: 'wait', why });
const done = (gasCost: bigint) => ({ do: 'finish', outcome: { state: 'done', by: 'us', gasCost } });
const failed = { do: 'finish', outcome: { state: 'failed', reason: 'no coins', gasCost: 7n } };

describe('a transfer to another chain', () => {
  it.each<[step0: string, state: CommandState, expected: object]>([
    ['in no block', none, { do: 'send step 0' }],
    ['in no block when its time is over', over, { do: 'search' }],
    ['in doubt', doubtful, wait('the clocks differ')],
    ['in the newest block', success(0), bring],
    ['in a block that is deep', success(9), bring],
    ['a failure that is not deep', failure(3), wait('step 0 has failed; waits for 2 more blocks: no coins')],
    ['a failure one block too high', failure(4), wait('step 0 has failed; waits for 1 more blocks: no coins')],
    ['a failure that is deep enough', failure(5), failed],
  ])('whose step 0 is %s', (_, step0, expected) => {
    expect(step({ step0 })).toEqual(expected);
    // A step 1 that has not succeeded changes nothing.
    for (const step1 of [none, over, failure(9)]) expect(step({ step0, step1 })).toEqual(expected);
  });

  it.each([
    ['step 0 is known', success(9)],
    ['the result of step 0 is deleted', over],
  ])('ends when its step 1 is deep enough, and %s', (_, step0) => {
    const cost = step0.status === 'success' ? 7n : 0n;
    expect(step({ step0, step1: success(0, 2n) })).toEqual(wait('has arrived; waits for 5 more blocks'));
    expect(step({ step0, step1: success(4, 2n) })).toEqual(wait('has arrived; waits for 1 more blocks'));
    expect(step({ step0, step1: success(5, 2n), earlierGasCost: 30n })).toEqual(done(cost + 32n));
    // Somebody else has paid for the arrival.
    const seen = { step0, step1: success(5, 2n), earlierGasCost: 30n };
    expect(step(seen, { gasStation: 'station' })).toEqual(done(cost));
  });
});

it.each<[string, CommandState, object]>([
  ['in no block', none, { do: 'send step 0' }],
  ['in no block when its time is over', over, { do: 'search' }],
  ['in a block', success(3), wait('the transfer is in the block of height 90; waits for 2 more blocks')],
  ['in a block that is deep enough', success(5), done(7n)],
  ['a failure that is not deep', failure(3), wait('the transfer has failed; waits for 2 more blocks: no coins')],
  ['a failure that is deep enough', failure(5), failed],
])('a transfer within one chain that is %s', (_, step0, expected) => {
  expect(step({ step0 }, WITHIN)).toEqual(expected);
});

describe('an end is', () => {
  const ends = {
    done: { state: 'done', by: 'us', gasCost: 1n },
    failed: { state: 'failed', reason: 'no coins', gasCost: 1n },
  } as const;
  const cases = (['done', 'failed'] as const).flatMap((state) =>
    (['enough', 'too little', 'none'] as const).flatMap((work) =>
      ([1, 2] as const).flatMap((nodes) => [true, false].map((trusts) => ({ state, work, nodes, trusts }))),
    ),
  );

  it.each(cases)('$state by $nodes nodes with work: $work, trusted: $trusts', ({ state, work, nodes, trusts }) => {
    const evidence: Evidence = { work, nodes, why: work === 'enough' ? '' : 'too few hashes' };
    const proven = provenOutcome(ends[state], evidence, trusts);
    const byWord = { ...ends[state], provenBy: nodes === 2 ? 'nodes' : 'node' };
    if (work === 'enough') expect(proven).toEqual({ ...ends[state], provenBy: 'work' });
    else if (trusts || (work === 'none' && (state === 'done' || nodes === 2))) expect(proven).toEqual(byWord);
    else {
      const what = state === 'done' ? 'is done' : 'has failed (no coins)';
      const [whose, whom] = nodes === 2 ? ['the word of the nodes', 'they are'] : ['the word of one node', 'it is'];
      const advice = `If ${whom} your own, add --trust-nodes`;
      expect(proven).toBe(`by ${whose} it ${what}, but that is not proven: too few hashes. ${advice}`);
    }
  });
});

it('a transfer without an outcome is pending', () => {
  const planned = plannedTransfer(1, ONE, 700);
  expect(stateOf(planned)).toBe('pending');
  const outcome = { state: 'failed', reason: 'no coins', gasCost: 1n, provenBy: null } as const;
  expect(stateOf({ ...planned, outcome })).toBe('failed');
});

describe('a receiver', () => {
  const [named, foreign] = [RECEIVER_KEY, PAIR.publicKey].map((key) => ({ keys: [key], pred: 'keys-all' }));

  /** Plans a payment to an account that has this keyset, or no account, by the word of one node and of another. */
  async function plan(
    request: Partial<PaymentRequest>,
    here: typeof named | 'no account' | 'no keyset',
    elsewhere: typeof here | 'no other node' = here,
  ) {
    const world = await World.make();
    const receiver = request.receiver!;
    const look = (it: typeof here): AccountLook => ({
      details:
        it === 'no account'
          ? undefined
          : { account: receiver, balance: 1n, guard: {}, ...(it !== 'no keyset' && { keyset: it }) },
      height: 1,
      timeS: Math.floor(Date.now() / 1000),
    });
    const asked: string[] = [];
    const ledger = changed(world.ledger, {
      look: async (chain, account, stop) =>
        account === receiver ? look(here) : await world.ledger.look(chain, account, stop),
      lookElsewhere: async (_, account) => {
        asked.push(account);
        return elsewhere === 'no other node' ? undefined : look(elsewhere);
      },
      tryOut: async () => ({ outcome: { status: 'success', data: true }, gas: 500 }),
    });
    const { receiver: to, isNew, reportedGuard } = await planPayment(ledger, { ...PAYMENT, ...request }, NEVER);
    return { guard: to.guard, isNew, reportedGuard, asked };
  }

  it.each([
    ['with a key in its name is made', { receiver: RECEIVER }, 'no account', { guard: named, isNew: true }],
    [
      'with a key in its name is made on another chain',
      { receiver: RECEIVER, targetChain: 2 },
      'no account',
      { guard: named, isNew: true },
    ],
    ['with a key in its name is there', { receiver: RECEIVER }, named, { guard: named, isNew: false, asked: [] }],
    [
      'with another name is made with the keys that are named',
      { receiver: 'bob', receiverGuard: named },
      'no account',
      { guard: named, isNew: true },
    ],
    [
      'with another name and the keys that are named is there, by two nodes',
      { receiver: 'bob', receiverGuard: named, targetChain: 2 },
      named,
      { guard: named, isNew: false, asked: ['bob'] },
    ],
    [
      'with another name is found by the ledger itself within a chain, and shown by two nodes',
      { receiver: 'bob' },
      named,
      { guard: null, isNew: false, reportedGuard: named, asked: ['bob'] },
    ],
    [
      'that no keys guard is shown so',
      { receiver: 'bob' },
      'no keyset',
      { guard: null, isNew: false, reportedGuard: null, asked: ['bob'] },
    ],
  ] as const)('%s', async (_, request, here, expected) => {
    expect(await plan(request, here)).toMatchObject(expected);
  });

  it.each([
    ['that is not there', { receiver: 'bob' }, 'no account', /does not exist on chain 1\. If the name is right/],
    ['that is a key', { receiver: RECEIVER_KEY }, 'no account', /For the account of this key, write k:/],
    [
      'that is not there, on another chain',
      { receiver: 'bob', receiverGuard: named, targetChain: 2 },
      'no account',
      /Anybody could take its name before the coins arrive/,
    ],
    ['whose name has another key', { receiver: RECEIVER }, foreign, /has the keys .*, and not the key of its name/],
    [
      'with other keys than those that are named',
      { receiver: 'bob', receiverGuard: named },
      foreign,
      /has the keys .*, and not those that you have named/,
    ],
    [
      'that no keys guard, although some are named',
      { receiver: 'bob', receiverGuard: named },
      'no keyset',
      /is guarded by something else than keys, and not those that you have named/,
    ],
    [
      'on another chain whose keys only a node names',
      { receiver: 'bob', targetChain: 2 },
      named,
      /a node must not decide that: name its keys with --receiver-key/,
    ],
  ] as const)('%s gets nothing', async (_, request, here, message) => {
    await expect(plan(request, here)).rejects.toThrow(message);
  });

  it.each([
    [{ receiver: 'bob' }, foreign],
    [{ receiver: 'bob' }, 'no keyset'],
    [{ receiver: 'bob' }, 'no account'],
    [{ receiver: 'bob', receiverGuard: named }, 'no account'],
  ] as const)('%j about whom two nodes disagree gets nothing', async (request, elsewhere) => {
    await expect(plan(request, named, elsewhere)).rejects.toThrow('Two nodes disagree about the account');
    expect(await plan(request, named, 'no other node')).toMatchObject({ isNew: false });
  });
});

describe('the gas of a payment', () => {
  const { amount, gasPrice, account } = PAYMENT;

  /** @returns the gas limit with which the payment is tried out by an account of this balance, or why it is not */
  async function trialOf(balance: bigint | undefined, more: Partial<PaymentRequest> = {}) {
    const world = await World.make();
    const gasLimits: unknown[] = [];
    const ledger = changed(world.ledger, {
      look: async (chain, name, stop) => {
        const look = await world.ledger.look(chain, name, stop);
        if (name !== account) return look;
        return { ...look, details: balance === undefined ? undefined : { ...look.details!, balance } };
      },
      tryOut: async (_, { cmd }) => {
        gasLimits.push(JSON.parse(cmd).meta.gasLimit);
        return { outcome: { status: 'success', data: true }, gas: 1 };
      },
    });
    await planPayment(ledger, { ...PAYMENT, ...more }, NEVER);
    return gasLimits;
  }

  it('is tried out with all that the balance can pay for, up to a limit', async () => {
    expect(await trialOf(amount + 2_501n * gasPrice)).toEqual([2_500]);
    expect(await trialOf(amount + 2_499n * gasPrice)).toEqual([2_499]);
    expect(await trialOf(amount + 2n * gasPrice - 1n)).toEqual([1]);
  });

  it('that the balance cannot pay for is said, with what is missing', async () => {
    await expect(trialOf(amount + gasPrice - 1n)).rejects.toThrow(
      `too little for ${formatDecimal(amount)} and the gas, which can cost ${formatDecimal(2_500n * gasPrice)} ` +
        `at a gas price of ${formatDecimal(gasPrice)}: up to ${formatDecimal(2_499n * gasPrice + 1n)} is missing.`,
    );
    await expect(trialOf(amount - 1n)).rejects.toThrow('coins on chain 1, too little for');
    await expect(trialOf(undefined)).rejects.toThrow('does not exist on chain 1. pickaxe balance shows');
  });
});
