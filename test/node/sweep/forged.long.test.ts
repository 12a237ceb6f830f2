/** Tests nodes whose false answers agree with each other, for a paid transfer and for one that was never sent. */

import { describe, expect, it } from 'vitest';
import { KnownWork } from '#pickaxe/node/blocks/known-work.js';
import { paymentOf, planPayment } from '#pickaxe/node/sweep/next-step.js';
import type { Sweep } from '#pickaxe/node/sweep/sweep-state.js';
import { lifeOf } from '#pickaxe/node/sweep/transfer-commands.js';
import { integerToTarget, targetToInteger } from '#pickaxe/protocol/chain/target.js';
import { KeyPair } from '#pickaxe/protocol/ledger/command/command.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { type BlockHeader, headerToJson, powHash } from '#pickaxe/protocol/ledger/header.js';
import { stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';
import { type Forgery, forger } from './forger.ts';
import { lyingNode } from './lying-node.ts';
import { expectAllDone } from './survive.ts';
import { ACCOUNT, clockAt, NEVER, PAIR, TARGET, World, withSend } from './world.ts';

const RECEIVER = `k:${new KeyPair('77'.repeat(32)).publicKey}`;
const AMOUNT = parseDecimal('10.0');
const MINUTE = 60_000;
/** Time after which every command has ended, and the margin is over. */
const PAST_MS = 55 * MINUTE;

/** Blocks of the mock node take one hash here, so the table must not require more of an honest node. */
const knowing = (least: bigint) => new KnownWork({ table: () => least });

async function payment(world: World, chain = 0): Promise<Sweep> {
  const request = { account: ACCOUNT, chain, targetChain: chain, receiver: RECEIVER, receiverGuard: null };
  const more = { amount: AMOUNT, gasPrice: 10_000n, gasStation: null, held: [PAIR.publicKey] };
  const payment = paymentOf(await planPayment(world.ledger, { ...request, ...more }, NEVER), world.network, 1);
  world.store.begin(payment);
  return payment;
}

/** A node whose chains stay at their present heights. */
async function behind(world: World): Promise<string> {
  const cut = await (await fetch(`${world.url}/chainweb/0.0/${world.network}/cut`)).text();
  return await lyingNode(world.url, ({ path }) => (path.endsWith('/cut') ? { status: 200, body: cut } : undefined));
}

/** The honest nodes beside the forger, and the number of blocks that it forges. */
const CONFIGURATIONS = {
  'the only node': { blocks: 12, beside: async () => [] },
  'beside an honest node that has passed the forged height': { blocks: 4, beside: async (world: World) => [world.url] },
  'beside an honest node below the forged height': { blocks: 60, at: 50, beside: async (world: World) => [world.url] },
  'beside an honest node that is behind': { blocks: 60, at: 50, beside: async (world: World) => [await behind(world)] },
  'beside an honest node that is dead': { blocks: 12, beside: async () => ['http://127.0.0.1:9'] },
} as const;

/** The forged results. If the forger waits long enough, the command is over by this machine's clock, too. */
const LIES = {
  'that no block has it': { lie: 'no block', untilMs: PAST_MS, clockMs: 0 },
  'that no block has it, after its time': { lie: 'no block', untilMs: PAST_MS, clockMs: PAST_MS },
  'that it is done': { lie: 'done', untilMs: 0, clockMs: 0 },
  'that it has failed': { lie: 'failure', untilMs: 0, clockMs: 0 },
} as const;

const CASES = Object.keys(LIES).flatMap((lie) =>
  Object.keys(CONFIGURATIONS).map((where) => [lie, where] as [keyof typeof LIES, keyof typeof CONFIGURATIONS]),
);

interface Told {
  readonly world: World;
  readonly after: Sweep;
  readonly lies: number;
}

/** Runs some rounds of the sweep with a forger and the other nodes. */
async function told(
  world: World,
  begun: Sweep,
  forgery: Forgery,
  { beside, known, clockMs = 0 }: { beside: readonly string[]; known?: KnownWork; clockMs?: number },
): Promise<Told> {
  const { url, done } = await forger(world, forgery);
  const ledger = world.ledgerOf([url, ...beside], 'auto', known);
  let isSent = false;
  const clock = clockAt(() => Date.now() + (isSent ? clockMs : 0));
  const runner = world.runner(begun, { ledger, clock, trustsNodes: false });
  for (let i = 0; i < 5; i++) {
    await runner.round(NEVER);
    isSent = true;
    world.grow();
  }
  return { world, after: runner.sweep, lies: done.lies };
}

describe('a payment', () => {
  it.each(CASES)('is not believed %s: %s', async (lie, where) => {
    const world = await World.make({ network: 'mainnet01', difficulty: 1 });
    const begun = await payment(world);
    const { clockMs, ...forgery } = LIES[lie];
    const { beside, ...forged } = CONFIGURATIONS[where];
    const others = await beside(world);
    const { after, lies } = await told(world, begun, { chain: 0, ...forged, ...forgery }, { beside: others, clockMs });
    expect([lies > 3, after.transfers[0].outcome]).toEqual([true, null]);
    expect(world.notes.at(-1)).toMatch(
      /not proven|has not reached height|has another block|waits until 20|clock are \d+ minutes apart/,
    );
    // The same command is sent again to an honest node: it is paid, and only once.
    const honest = world.ledgerOf([world.url], 'auto', knowing(1n));
    const { transfers } = await world.finish(world.runner(world.store.load()!, { ledger: honest, trustsNodes: false }));
    expect([transfers[0].outcome, world.balance(0, RECEIVER)]).toEqual([
      { state: 'done', by: 'us', gasCost: expect.any(BigInt), provenBy: 'work' },
      AMOUNT,
    ]);
  });
});

describe('a sweep', () => {
  const some = CASES.filter(([, where]) => /only node|below the forged/.test(where));
  it.each(some.map(([lie, where]) => [lie, where, lie === 'that it is done' ? TARGET : 1] as const))(
    'is not believed %s: %s',
    async (lie, where, chain) => {
      const world = await World.make({ network: 'mainnet01', difficulty: 1 });
      const total = world.total();
      const begun = await world.begin();
      const { clockMs, ...forgery } = LIES[lie];
      const { beside, ...forged } = CONFIGURATIONS[where];
      const { after } = await told(
        world,
        begun,
        { chain, ...forged, ...forgery },
        { beside: await beside(world), clockMs },
      );
      expect(after.transfers[0].outcome).toBeNull();
      const honest = world.ledgerOf([world.url], 'auto', knowing(1n));
      const sweep = await world.finish(world.runner(world.store.load()!, { ledger: honest, trustsNodes: false }));
      expectAllDone(world, sweep, total);
    },
  );
});

/** A header like the newest one, with the work that a target demands. */
function proven(world: World, target: Uint8Array): BlockHeader {
  const { header } = world.node.ledger.chains.tip(0);
  for (let nonce = 0n; ; nonce++) {
    const tried = { ...header, target, nonce };
    if (targetToInteger(powHash(tried)) <= targetToInteger(target)) return tried;
  }
}

describe('work', () => {
  const bits = (n: bigint) => integerToTarget(2n ** (256n - n) - 1n);
  const LEAST = 16n;

  it.each([
    ['less than the network’s blocks take', 3n, false],
    ['as much as the network’s blocks take', 5n, true],
  ] as const)('is what a forged branch costs: %s', async (_, difficulty, isBelieved) => {
    const world = await World.make({ network: 'mainnet01', difficulty: 1 });
    const begun = await payment(world);
    const forgery = { lie: 'done', chain: 0, blocks: 7, untilMs: 0, target: bits(difficulty) } as const;
    const { after } = await told(world, begun, forgery, { beside: [], known: knowing(LEAST) });
    expect(after.transfers[0].outcome?.provenBy).toBe(isBelieved ? 'work' : undefined);
    if (!isBelieved) expect(world.notes.at(-1)).toContain(`took 56 hashes, and at least ${LEAST * 7n} are needed`);
  });

  it('for an absence is that of all blocks of the time, however few are shown', async () => {
    const world = await World.make({ network: 'mainnet01', difficulty: 1 });
    const begun = await payment(world);
    const forgery = { lie: 'no block', chain: 0, blocks: 12, untilMs: PAST_MS, target: bits(5n) } as const;
    const { after } = await told(world, begun, forgery, { beside: [], known: knowing(LEAST), clockMs: PAST_MS });
    expect(after.transfers[0].outcome).toBeNull();
    // Half an hour and ten minutes, with a block every 30 seconds.
    expect(world.notes.at(-1)).toMatch(new RegExp(`took \\d+ hashes, and at least ${LEAST * 80n} are needed`));
  });

  it('that weights claim and targets do not show is refused', async () => {
    const world = await World.make({ network: 'mainnet01', difficulty: 1 });
    const begun = await payment(world);
    const forgery = { lie: 'done', chain: 0, blocks: 7, untilMs: 0, target: bits(5n), isWeighed: false } as const;
    const { after } = await told(world, begun, forgery, { beside: [], known: knowing(1n) });
    expect([after.transfers[0].outcome, world.notes.at(-1)]).toEqual([
      null,
      expect.stringMatching(/gives a block of height \d+ whose weight does not follow from its parent$/),
    ]);
  });

  it('of blocks that were seen before is asked for, as far as a sixteenth', async () => {
    const world = await World.make({ network: 'mainnet01', difficulty: 1 });
    const begun = await payment(world);
    const known = knowing(1n);
    // The known work may come from blocks that another node has shown before, or that this rig has found.
    known.see('mainnet01', proven(world, bits(9n)));
    expect(known.leastWork('mainnet01')).toBe(2n ** 9n / 16n);
    const forgery = { lie: 'done', chain: 0, blocks: 7, untilMs: 0, target: bits(3n) } as const;
    const { after } = await told(world, begun, forgery, { beside: [], known });
    expect(after.transfers[0].outcome).toBeNull();
    expect(world.notes.at(-1)).toContain(`took 56 hashes, and at least ${32 * 7} are needed`);
  });

  it('is asked of the newest block before anything is sent', async () => {
    const world = await World.make({ network: 'mainnet01', difficulty: 1 });
    const begun = await payment(world);
    const known = knowing(1n);
    const wrong = await lyingNode(world.url, async ({ path }, truth) => {
      if (!path.includes('/header/branch')) return undefined;
      const page = JSON.parse((await truth()).body);
      const [tip] = [world.node.ledger.chains.tip(0).header];
      const header = headerToJson({ ...tip, target: bits(250n) }, 'chainweb');
      const body = stringifyExactJson({ ...page, items: [header] });
      return { status: 200, body, type: 'application/json;blockheader-encoding=object' };
    });
    const runner = world.runner(begun, { ledger: world.ledgerOf([wrong], 'auto', known), trustsNodes: false });
    await runner.round(NEVER);
    expect(world.notes.at(-1)).toMatch(/do not build on each other|has no proof of work/);
    expect(world.node.server.stats.requests.send).toBe(0);
    const honest = world.runner(runner.sweep, { ledger: world.ledgerOf([world.url], 'auto', known) });
    await honest.round(NEVER);
    expect(world.node.server.stats.requests.send).toBe(1);
    // A block that took one hash is below a sixteenth of every block that was seen.
    expect(known.leastWork('mainnet01')).toBe(1n);
  });
});

it('a block is only as deep as the second node has it', async () => {
  const world = await World.make();
  const runner = world.runner(await payment(world));
  await runner.round(NEVER);
  world.grow();
  const second = await behind(world);
  world.grow(5);
  const { step0 } = runner.sweep.transfers[0];
  const query = { what: 'command', key: step0!.hash, madeS: lifeOf(step0!).madeS } as const;
  const depthOf = async (urls: string[]) => {
    const { found, evidence } = await world.ledgerOf(urls).search(0, query, {}, NEVER);
    return [found?.depth, evidence.nodes];
  };
  expect(await depthOf([world.url])).toEqual([5, 1]);
  expect(await depthOf([world.url, second])).toEqual([0, 2]);
  expect(await depthOf([world.url, second, world.url])).toEqual([0, 2]);
});

describe('where blocks take no work', () => {
  it.each([
    ['the only node', 1, { done: 'node', failure: undefined }],
    ['two nodes', 2, { done: 'nodes', failure: 'nodes' }],
  ] as const)('%s can only give its word, and the outcome says so', async (_, nodes, expected) => {
    for (const lie of ['done', 'failure'] as const) {
      const world = await World.make();
      const begun = await payment(world);
      const { url } = await forger(world, { lie, chain: 0, blocks: 12, untilMs: 0 });
      const ledger = world.ledgerOf([url, url].slice(0, nodes));
      const runner = world.runner(begun, { ledger, trustsNodes: false });
      for (let i = 0; i < 5; i++) await runner.round(NEVER);
      const [{ outcome }] = runner.sweep.transfers;
      expect(outcome?.provenBy).toBe(expected[lie]);
      if (outcome) continue;
      expect(world.notes.at(-1)).toBe(
        '0: by the word of one node it has failed (Insufficient funds), but that is not proven: ' +
          'blocks of development take no work. If it is your own, add --trust-nodes',
      );
      const own = world.runner(runner.sweep, { ledger, trustsNodes: true });
      await own.round(NEVER);
      expect(own.sweep.transfers[0].outcome).toMatchObject({ state: 'failed', provenBy: 'node' });
    }
  });
});

describe('this machine’s clock', () => {
  /** A step 0 that no node has taken, and a node whose chain is past its end. */
  async function unsent(clockMs: { signing: number; later: number }) {
    const world = await World.make({ firstBlockAgeMs: 3_600_000 });
    let nowMs = () => Date.now() + clockMs.signing;
    // The command is lost on its way, although the node reports that it was taken.
    const ledger = withSend(world.ledger, async () => ({ kind: 'taken' }));
    const runner = world.runner(await payment(world), { ledger, clock: clockAt(() => nowMs()) });
    await runner.round(NEVER);
    world.node.ledger.clockSkewMs += PAST_MS;
    world.grow(3);
    nowMs = () => Date.now() + clockMs.later;
    await runner.round(NEVER);
    return { outcome: runner.sweep.transfers[0].outcome?.state, note: world.notes.at(-1) };
  }

  it('and the chain’s must both be past the end', async () => {
    expect(await unsent({ signing: 0, later: PAST_MS })).toMatchObject({ outcome: 'failed' });
    const early = await unsent({ signing: 0, later: 0 });
    expect(early.outcome).toBeUndefined();
    expect(early.note).toMatch(
      /by the node's clock its time to live has ended, and by this machine's it has not: waits until 20[-:\dT]+Z$/,
    );
  });

  it('ends nothing when it is far from the chain’s, and the words say so', async () => {
    const { outcome, note } = await unsent({ signing: 0, later: PAST_MS + 61 * MINUTE });
    expect(outcome).toBeUndefined();
    expect(note).toMatch(/this machine's clock are 6\d minutes apart: set the clock right/);
  });

  it('that is ahead counts from the signing', async () => {
    // The clock is 50 minutes ahead all the time, so the command's end is over at once.
    const { outcome, note } = await unsent({ signing: 50 * MINUTE, later: 50 * MINUTE });
    expect(outcome).toBeUndefined();
    expect(note).toContain("by this machine's it has not");
    expect(await unsent({ signing: 50 * MINUTE, later: 50 * MINUTE + 41 * MINUTE })).toMatchObject({
      outcome: 'failed',
    });
  });
});
