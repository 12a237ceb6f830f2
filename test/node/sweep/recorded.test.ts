/** What sweeps and payments make of what nodes say, drawn at random: plans, steps, state files and guards. */

import { describe, it } from 'vitest';
import { NEVER } from '#pickaxe/base/system/abort.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import {
  afterSearch,
  type CommandState,
  next,
  type PaymentRequest,
  paymentOf,
  planPayment,
  provenOutcome,
  provenText,
} from '#pickaxe/node/sweep/next-step.js';
import { gasWarning, mostGasCost, planSweep, type SweepRequest, sweepOf, totalOf } from '#pickaxe/node/sweep/plan.js';
import { needsKeys, SweepRunner } from '#pickaxe/node/sweep/runner.js';
import { parseSweep, plannedTransfer, type Sweep, sweepToJson } from '#pickaxe/node/sweep/sweep-state.js';
import {
  gasLimitFor,
  guardFault,
  impossibleGuard,
  rootOfProof,
  signed,
  signersOf,
  step0Of,
  step1Of,
} from '#pickaxe/node/sweep/transfer-commands.js';
import type { Keyset } from '#pickaxe/protocol/ledger/command/coin.js';
import { ONE } from '#pickaxe/protocol/ledger/decimal.js';
import { proofs } from '../../protocol/ledger/vectors.ts';
import { type Recorded, recordIn, written } from '../../recorded.ts';
import { changed, drawer } from '../../variants.ts';
import { DrawnLedger, KEYSETS, NOW_S, OTHER } from './drawn-ledger.ts';
import { PAYMENT, RECEIVER, RECEIVER_KEY } from './payments.ts';
import { ACCOUNT, clockAt, PAIR, WISHES } from './world.ts';

const REQUESTS = 70;
const STATES = 150;
const FILES = 40;
const SWEEPS = 20;
const ROUNDS = 12;

const THIRD = 'c'.repeat(64);
const ACCOUNTS = [ACCOUNT, ACCOUNT, ACCOUNT, ACCOUNT, ACCOUNT, 'alice', 'alice', `k:${OTHER}`];

const expectRecorded = recordIn(new URL('recorded.json', import.meta.url));

async function outcomeOf(act: () => unknown): Promise<string> {
  try {
    return written(await act());
  } catch (fault) {
    return `${(fault as Error).name}: ${(fault as Error).message}`;
  }
}

it('sweeps are planned as recorded', async () => {
  const random = seededRandom(1);
  const one = drawer(random);
  const outcomes: Recorded[] = [];
  for (let i = 0; i < REQUESTS; i++) {
    const ledger = new DrawnLedger(random);
    const request: SweepRequest = {
      ...WISHES,
      account: one(...ACCOUNTS),
      targetChain: one(0, 0, 0, 1, 7),
      keep: one(0n, ONE / 1_000n, ONE),
      min: one(1n, ONE / 100n),
      gasPrice: one(10_000n, 10_000n, 20_000_000n),
      gasStation: one(null, null, 'station'),
      held: one([PAIR.publicKey], [PAIR.publicKey, OTHER], [OTHER], null),
      known: one<Keyset | null>(null, ...KEYSETS.slice(0, 3)),
    };
    const outcome = await outcomeOf(async () => {
      const plan = await planSweep(ledger, request, NEVER);
      const sweep = sweepOf(plan, 'development', 5);
      return [plan.chains, totalOf(plan), sweep, mostGasCost(sweep), gasWarning(sweep), needsKeys(sweep)];
    });
    outcomes.push({ input: `${i} ${written(request)}`, outcome: `${outcome}\n${ledger.asked.toSorted().join('\n')}` });
  }
  expectRecorded('sweeps', outcomes);
});

it('payments are planned as recorded', async () => {
  const random = seededRandom(2);
  const one = drawer(random);
  const outcomes: Recorded[] = [];
  for (let i = 0; i < 2 * REQUESTS; i++) {
    const ledger = new DrawnLedger(random);
    const request: PaymentRequest = {
      ...PAYMENT,
      account: one(...ACCOUNTS),
      chain: one(0, 1, 1, 1, 7),
      targetChain: one(0, 0, 1, 1, 3),
      receiver: one(RECEIVER, RECEIVER, RECEIVER, ACCOUNT, 'bob', 'bob', 'bob', RECEIVER_KEY, 'k:bob'),
      receiverGuard: one(null, null, null, null, KEYSETS[0], ...KEYSETS, { keys: [THIRD, THIRD], pred: 'keys-all' }),
      amount: one(ONE / 2n, ONE / 2n, ONE / 2n, ONE, ONE, ONE - 500n * 10_000n, ONE - 9_999n, 1n, 0n),
      gasPrice: one(10_000n, 10_000n, 0n),
      gasStation: one(null, null, 'station'),
      held: one([PAIR.publicKey], [PAIR.publicKey], [PAIR.publicKey, OTHER], [OTHER], null, null),
    };
    const outcome = await outcomeOf(async () => {
      const plan = await planPayment(ledger, request, NEVER);
      return [plan, paymentOf(plan, 'development', 5)];
    });
    outcomes.push({ input: `${i} ${written(request)}`, outcome: `${outcome}\n${ledger.asked.join('\n')}` });
  }
  expectRecorded('payments', outcomes);
});

const SWEEP: Sweep = {
  network: 'development',
  account: ACCOUNT,
  guard: KEYSETS[0],
  receiver: null,
  targetChain: 0,
  gasPrice: 10_000n,
  gasStation: null,
  startedMs: 1_000 * NOW_S,
  transfers: [plannedTransfer(1, ONE, 700), plannedTransfer(2, 2n * ONE, 705)],
};
const WITHIN: Sweep = {
  ...SWEEP,
  receiver: { account: 'bob', guard: null },
  transfers: [plannedTransfer(0, ONE, 700)],
};
const MAKER = { signers: [PAIR.publicKey], timeS: NOW_S, nonce: 'n' };
const STEP0 = signed(step0Of(SWEEP, SWEEP.transfers[0], MAKER), [PAIR]);
const STEP1 = signed(step1Of(SWEEP, STEP0.hash, 'abc', 600, MAKER), [PAIR]);

it('states of commands lead to the recorded steps', async () => {
  const one = drawer(seededRandom(3));
  const state = (): CommandState => {
    const inBlock = { height: 90, depth: one(0, 4, 5, 6), gasCost: one(0n, 7n) };
    const none = { status: 'none', isOver: one(true, false) } as const;
    const doubtful = { ...none, doubt: 'the clocks differ' };
    const failure = { status: 'failure', reason: 'no coins', ...inBlock } as const;
    return one<CommandState>({ status: 'success', ...inBlock }, failure, none, doubtful);
  };
  const outcomes = Array.from({ length: STATES }, (): Recorded => {
    const seen = { step0: state(), step1: one(null, state()), earlierGasCost: one(0n, 3n) };
    const sweep = { ...one(SWEEP, WITHIN), gasStation: one(null, 'station') };
    const step = next(seen, sweep, 5);
    const found = afterSearch(one(undefined, 90), sweep);
    const evidence = { work: one('enough', 'too little', 'none'), nodes: one(1, 2), why: 'few hashes' } as const;
    const proofsOf = [step, found].map((each) => {
      const outcome = each.do === 'finish' ? provenOutcome(each.outcome, evidence, one(true, false)) : each;
      return typeof outcome === 'object' && 'provenBy' in outcome ? [outcome, provenText(outcome)] : outcome;
    });
    return { input: written([seen, sweep.gasStation, evidence]), outcome: written([step, found, proofsOf]) };
  });
  expectRecorded('steps', outcomes);
});

describe('files of sweeps are read as recorded:', () => {
  const outcome = { state: 'done', by: 'somebody else', gasCost: 7n, provenBy: 'work' } as const;
  const failed = { state: 'failed', reason: 'no coins', gasCost: 7n, provenBy: null } as const;
  const [first, second] = SWEEP.transfers;
  const earlierStep1 = [{ requestKey: 'r', gasPrice: 10_000n }];
  const begun = { ...first, step0: STEP0, step1: STEP1, leftAt: 9, proof: 'abc', earlierStep1, signedMs: 8, outcome };
  it.each<[string, Sweep]>([
    ['sweep', { ...SWEEP, transfers: [begun, { ...second, outcome: failed }] }],
    ['payment', { ...WITHIN, gasStation: 'station' }],
  ])('%s', async (name, sweep) => {
    const right = sweepToJson(sweep);
    const random = seededRandom(name.length);
    const variants = Array.from({ length: FILES }, () => JSON.stringify(changed(JSON.parse(right), random)));
    const outcomes: Recorded[] = [];
    for (const input of new Set([right, right.slice(0, -3), ...variants])) {
      outcomes.push({ input, outcome: await outcomeOf(() => sweepToJson(parseSweep(input))) });
    }
    expectRecorded(`file: ${name}`, outcomes);
  });
});

it('guards, gas limits and proofs are judged as recorded', async () => {
  const guards = [
    ...KEYSETS,
    { keys: [THIRD, THIRD], pred: 'keys-any' },
    { keys: [THIRD, OTHER, 'x'], pred: 'keys-2' },
  ];
  const outcomes = guards.flatMap((guard) =>
    guards.map((known) => {
      const faults = [guardFault(guard, known), impossibleGuard(guard), signersOf(guard, known.keys)];
      return { input: written([guard, known]), outcome: written(faults) };
    }),
  );
  const limits = [0, 1, 5, 6, 2_083, 2_084, 5_000].map((gas) => gasLimitFor(gas, 2_500));
  outcomes.push({ input: 'limits', outcome: written(limits) });
  for (const { proof, subjectReqKey, targetChain } of proofs) {
    for (const [key, target] of [
      [subjectReqKey, targetChain],
      [subjectReqKey, 3],
      ['x', targetChain],
    ] as const) {
      const outcome = await outcomeOf(() => rootOfProof(proof, key, target));
      outcomes.push({ input: `${subjectReqKey} ${key} ${target}`, outcome });
    }
  }
  expectRecorded('guards', outcomes);
});

/** Runs rounds of a sweep on a ledger whose answers are drawn. @returns what each round has done */
async function roundsOf(seed: number): Promise<Recorded[]> {
  const random = seededRandom(seed);
  const one = drawer(random);
  const ledger = new DrawnLedger(random);
  const proof = one(null, 'abc', 'abc', 'abc');
  const planned = { ...one(SWEEP, SWEEP, WITHIN), gasStation: one(null, null, 'station') };
  const sweep = { ...planned, transfers: planned.transfers.map((each) => ({ ...each, proof })) };
  let nowS = NOW_S;
  let nonces = 0;
  const [saved, notes]: string[][] = [[], []];
  const runner = new SweepRunner(sweep, {
    ledger,
    pairs: [PAIR],
    confirmations: 2,
    trustsNodes: one(true, false),
    clock: clockAt(() => 1_000 * nowS),
    nonce: () => `${nonces++}`,
    save: (it) => saved.push(sweepToJson(it)),
    notify: ({ chain }, note) => notes.push(`${chain}: ${note}`),
  });
  const outcomes: Recorded[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const passed = one(0, 30, 30, 30, 30, 30, 1_800, 2_400);
    const ahead = one(0, 0, 0, 0, 0, 0, 3_600, 3_601, -3_600, -3_601);
    nowS += passed;
    ledger.timeS = nowS + ahead;
    ledger.height += one(0, 1, 2, -1);
    const end = await outcomeOf(() => runner.round(NEVER));
    const lines = [end, ...notes.splice(0), ...saved.splice(0), ...ledger.asked.splice(0)];
    outcomes.push({ input: `${round}: ${passed} ${ahead}`, outcome: lines.join('\n') });
    if (end !== 'true') break;
  }
  return outcomes;
}

it.each(Array.from({ length: SWEEPS }, (_, i) => i))('sweep %i goes as recorded', async (seed) => {
  expectRecorded(`sweep ${seed}`, await roundsOf(seed));
});
