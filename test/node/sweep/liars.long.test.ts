import { describe, expect, it } from 'vitest';
import { CannotSweep, planSweep, type SweepRequest } from '#pickaxe/node/sweep/plan.js';
import type { Sweep } from '#pickaxe/node/sweep/sweep-state.js';
import { KeyPair } from '#pickaxe/protocol/ledger/command/command.js';
import { headerFromJson, headerToJson } from '#pickaxe/protocol/ledger/header.js';
import { parseExactJson, stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';
import { payloadWithOutputsToJson } from '#pickaxe/protocol/ledger/payload.js';
import { type Answer, type Asked, chainOf, json, lyingNode } from './lying-node.ts';
import { expectAllDone } from './survive.ts';
import { NEVER, PAIR, TARGET, WISHES, World } from './world.ts';

const OTHER = new KeyPair('77'.repeat(32));
const STRANGER = 'e'.repeat(64);

type Lie = (asked: Asked, truth: () => Promise<Answer>) => Promise<Answer | undefined> | Answer | undefined;

/** @returns the ledger of a sweep on a node that lies in this way */
async function deceived(world: World, lie: Lie) {
  return world.ledgerOf([await lyingNode(world.url, lie)]);
}

/** Runs some rounds of a sweep with a node that lies, and then the rest with an honest node. */
async function undeceived(
  world: World,
  lie: Lie,
  rounds = 16,
): Promise<{ before: Sweep; notes: string; after: Sweep }> {
  const runner = world.runner(await world.begin(), { ledger: await deceived(world, lie), trustsNodes: false });
  for (let i = 0; i < rounds; i++) {
    await runner.round(NEVER);
    world.grow();
  }
  const notes = world.notes.join('\n');
  return { before: runner.sweep, notes, after: await world.finish(world.runner(world.store.load()!)) };
}

const result = (reqKey: string, blockHeight: number, result: object) => {
  const more = { gas: 600, txId: null, logs: null, events: [], continuation: null, metaData: { blockHeight } };
  return json({ [reqKey]: { reqKey, result, ...more } });
};

const keysOf = ({ body }: Asked): string[] => JSON.parse(body).requestKeys;

describe('the word of one node ends no transfer', () => {
  it('when it says that a step 1 has succeeded, which it keeps to itself', async () => {
    const world = await World.make();
    const total = world.total();
    const { before, notes, after } = await undeceived(world, (asked) => {
      if (chainOf(asked) !== TARGET) return undefined;
      if (asked.path.includes('/send')) {
        return json({ requestKeys: JSON.parse(asked.body).cmds.map(({ hash }: { hash: string }) => hash) });
      }
      if (!asked.path.includes('/poll')) return undefined;
      const height = Number(world.node.ledger.chains.heightOf(TARGET)) - 5;
      return result(keysOf(asked)[0], height, { status: 'success', data: 'Write succeeded' });
    });
    expect(before.transfers.map(({ outcome }) => outcome)).toEqual([null, null]);
    expect(notes).toMatch(
      /the node says of step 1: success\. But the block of height \d+ does not say so: ask another node/,
    );
    expectAllDone(world, after, total);
  });

  it('when it says that a step 0 has failed', async () => {
    const world = await World.make();
    const total = world.total();
    const failed: Lie = (asked) => {
      const chain = chainOf(asked);
      if (chain === undefined || chain === TARGET || !asked.path.includes('/poll')) return undefined;
      const height = Number(world.node.ledger.chains.heightOf(chain)) - 3;
      return result(keysOf(asked)[0], height, { status: 'failure', error: { message: 'Insufficient funds' } });
    };
    const { before, notes, after } = await undeceived(world, failed);
    expect(before.transfers.map(({ outcome }) => outcome)).toEqual([null, null]);
    expect(notes).toContain('the node says of step 0: failure. But the block of height');
    expectAllDone(world, after, total);
  });

  it.each([-5, 2 ** 40])('when it names a block that there cannot be, of height %i', async (height) => {
    const world = await World.make();
    const total = world.total();
    const { before, after } = await undeceived(world, (asked) => {
      if (chainOf(asked) === TARGET || !asked.path.includes('/poll')) return undefined;
      return result(keysOf(asked)[0], height, { status: 'failure', error: { message: 'no' } });
    });
    expect(before.transfers.map(({ outcome }) => outcome)).toEqual([null, null]);
    expectAllDone(world, after, total);
  });

  it('when it dates its newest block to the future, so that commands would never be over', async () => {
    const world = await World.make();
    const total = world.total();
    const { before, notes, after } = await undeceived(world, async (asked, truth) => {
      if (!asked.path.includes('/local') || asked.path.includes('preflight')) return undefined;
      const answer = JSON.parse((await truth()).body);
      return json({ ...answer, metaData: { ...answer.metaData, blockTime: (Date.now() + 3_700_000) * 1000 } });
    });
    expect(before.transfers.map(({ step0 }) => step0)).toEqual([null, null]);
    expect(notes).toContain(
      'the newest block of the node is more than an hour ahead of this machine: a clock is wrong',
    );
    expectAllDone(world, after, total);
  });

  it('when it refuses a step 0, and passes it on', async () => {
    const world = await World.make();
    const total = world.total();
    const { before, after } = await undeceived(
      world,
      async (asked, truth) => {
        if (!asked.path.includes('/send') || chainOf(asked) === TARGET) return undefined;
        await truth();
        return { status: 400, body: 'One or more transactions were invalid: no gas' };
      },
      1,
    );
    expect(before.transfers.map(({ outcome }) => outcome)).toEqual([null, null]);
    expectAllDone(world, after, total);
  });

  it('when it says that somebody else has finished a transfer', async () => {
    const world = await World.make();
    const total = world.total();
    let blocks = 0;
    const { before, notes, after } = await undeceived(world, async (asked, truth) => {
      if (chainOf(asked) !== TARGET) return undefined;
      if (asked.path.includes('/block/branch')) blocks++;
      if (!asked.path.includes('/local') || !JSON.parse(JSON.parse(asked.body).cmd).payload.cont) return undefined;
      const answer = JSON.parse((await truth()).body);
      const error = { message: 'resumePact: pact completed: xyz', type: 'EvalError', info: '', callStack: [] };
      if (answer.preflightResult) answer.preflightResult.result = { status: 'failure', error };
      else answer.result = { status: 'failure', error };
      return json(answer);
    });
    expect(before.transfers.map(({ outcome }) => outcome)).toEqual([null, null]);
    expect(notes).toContain('no block of the target chain that was read has done so: ask another node');
    // Even if the node repeats its claim, its blocks are searched only three times for each transfer.
    expect(blocks).toBe(2 * 3);
    expectAllDone(world, after, total);
  });

  it('when it hides a step 0, and the block that has it', async () => {
    const world = await World.make();
    const total = world.total();
    const begun = await world.begin();
    await world.runner(begun).round(NEVER);
    world.grow(3);
    world.node.ledger.clockSkewMs += 50 * 60_000;
    world.grow(2);
    const { step0, chain } = world.store.load()!.transfers[0];
    const { chains } = world.node.ledger;
    const height = chains.tip(chain).payload.state.heightOf(step0!.hash)!;
    const [real, empty] = [height, height + 1n].map((each) => chains.blocksOf(chain).canonical(each)!);
    const forged = headerToJson({ ...real.header, payloadHash: empty.payload.payloadHash }, 'chainweb');
    const liar = await deceived(world, async (asked, truth) => {
      if (chainOf(asked) !== chain) return undefined;
      if (asked.path.includes('/poll')) return json({});
      if (!asked.path.includes('/block/branch')) return undefined;
      // The block's header gets the payload of another block; the blocks above it still name its own hash.
      const page = parseExactJson((await truth()).body) as { items: { header: never }[] };
      const items = page.items.map((item) => {
        if (headerFromJson(item.header).height !== height) return item;
        return { header: forged, payloadWithOutputs: payloadWithOutputsToJson(empty.payload) };
      });
      return { status: 200, body: stringifyExactJson({ ...page, items } as never) };
    });
    const runner = world.runner(world.store.load()!, { ledger: liar });
    await runner.round(NEVER);
    expect(runner.sweep.transfers[0].outcome).toBeNull();
    expect(world.notes.join('\n')).toMatch(/^1: The blocks that the node gives do not build on each other, at height/m);
    expectAllDone(world, await world.finish(world.runner(world.store.load()!)), total);
  });

  it('when it leaves out the lowest blocks in which a step 0 could be', async () => {
    const world = await World.make({ firstBlockAgeMs: 3_600_000 });
    const begun = await world.begin();
    await world.runner(begun).round(NEVER);
    world.grow(3);
    world.node.ledger.clockSkewMs += 50 * 60_000;
    world.grow(2);
    const { step0, chain } = world.store.load()!.transfers[0];
    const { ledger } = world.node;
    const height = ledger.chains.tip(chain).payload.state.heightOf(step0!.hash)!;
    const lacking = (path: string): Lie => {
      return async (asked, truth) => {
        if (chainOf(asked) !== chain) return undefined;
        if (asked.path.includes('/poll')) return json({});
        if (!asked.path.includes(path)) return undefined;
        const page = parseExactJson((await truth()).body) as { items: readonly unknown[] };
        const tip = ledger.chains.heightOf(chain);
        const from = Number(new URLSearchParams(asked.path.split('?')[1]).get('maxheight') ?? tip);
        const items = page.items.slice(0, from - Number(height));
        return { status: 200, body: stringifyExactJson({ ...page, items, next: null } as never) };
      };
    };
    for (const path of ['/block/branch', '/header/branch']) {
      const runner = world.runner(world.store.load()!, { ledger: await deceived(world, lacking(path)) });
      await runner.round(NEVER);
      expect(runner.sweep.transfers[0].outcome).toBeNull();
      expect(world.notes.at(-2)).toBe(`1: The node does not have the block of height ${height}: ask another`);
    }
  });
});

describe('a second node', () => {
  it('that has another block at that height keeps a transfer from being finished', async () => {
    const world = await World.make();
    const total = world.total();
    const other = await lyingNode(world.url, async (asked, truth) => {
      if (!asked.path.includes('/hash/branch')) return undefined;
      const page = JSON.parse((await truth()).body);
      return json({ ...page, items: page.items.map(() => 'A'.repeat(43)) });
    });
    const ledger = world.ledgerOf([world.url, other]);
    const runner = world.runner(await world.begin(), { ledger });
    for (let i = 0; i < 12; i++) {
      await runner.round(NEVER);
      world.grow();
    }
    expect(runner.sweep.transfers.map(({ outcome }) => outcome)).toEqual([null, null]);
    expect(world.notes.at(-1)).toMatch(new RegExp(`^2: ${other} has another block at height \\d+ of chain 0 than`));
    expectAllDone(world, await world.finish(world.runner(world.store.load()!)), total);
  });

  /** A node whose chains stay at their present heights. */
  async function behind(world: World): Promise<string> {
    const cut = await (await fetch(`${world.url}/chainweb/0.0/development/cut`)).text();
    return await lyingNode(world.url, ({ path }) => (path.endsWith('/cut') ? { status: 200, body: cut } : undefined));
  }

  it('that is behind is waited for', async () => {
    const world = await World.make();
    const total = world.total();
    const second = await behind(world);
    const runner = world.runner(await world.begin(), { ledger: world.ledgerOf([world.url, second]) });
    for (let i = 0; i < 12; i++) {
      await runner.round(NEVER);
      world.grow();
    }
    expect(runner.sweep.transfers.map(({ outcome }) => outcome)).toEqual([null, null]);
    expect(world.notes.at(-1)).toMatch(
      new RegExp(`^2: ${second} has not reached height \\d+ of chain 0, .*: waits for it`),
    );
    expectAllDone(world, await world.finish(world.runner(world.store.load()!)), total);
  });

  it.each([
    ['is away', () => 'http://127.0.0.1:9'],
    ['has the same blocks', ({ url }: World) => url],
  ])('that %s does not', async (_, second) => {
    const world = await World.make();
    const total = world.total();
    const ledger = world.ledgerOf([world.url, await second(world)]);
    expectAllDone(world, await world.finish(world.runner(await world.begin(), { ledger })), total);
  });
});

describe('the proof of work', () => {
  it.each([
    [1, 'done'],
    [1_000_000, undefined],
  ])('counts on networks that have it: difficulty %i', async (difficulty, state) => {
    // The mock node makes the blocks of others without solving them.
    const world = await World.make({ network: 'mainnet01', difficulty });
    const runner = world.runner(await world.begin());
    for (let i = 0; i < 12; i++) {
      await runner.round(NEVER);
      world.grow();
    }
    expect(runner.sweep.transfers.map(({ outcome }) => outcome?.state)).toEqual([state, state]);
    if (state === undefined) {
      expect(world.notes.at(-1)).toMatch(
        /^2: http:\/\/127\.0\.0\.1:\d+\/?: Block \d+ of chain \d \([\w-]{43}\) has no proof of work, .*--network development/,
      );
    }
  });
});

describe('an account of a name that leaves its guard open', () => {
  const FARM = 'farm';
  const farm = (keys = [PAIR.publicKey], pred = 'keys-all') => {
    return World.make({ gasStation: true, accounts: [{ account: FARM, balance: '50.0', keys, pred, chains: [1, 2] }] });
  };
  const request: SweepRequest = { ...WISHES, account: FARM, gasStation: 'kadena-xchain-gas' };
  /** Reports on all chains that the account exists, with this guard. */
  const guardedBy = (guard: object): Lie => {
    return (asked) => {
      if (!asked.path.includes('/local') || !asked.body.includes(`coin.details \\\\\\"${FARM}`)) return undefined;
      const data = { account: FARM, balance: 50.0, guard };
      const metaData = { blockHeight: 5_000_002, blockTime: Date.now() * 1000 };
      const reqKey = JSON.parse(asked.body).hash;
      return json({
        reqKey,
        result: { status: 'success', data },
        gas: 5,
        txId: null,
        logs: null,
        metaData,
        continuation: null,
      });
    };
  };
  const refusal = async (world: World, guard: object, more: Partial<SweepRequest> = {}) => {
    const sent = world.node.server.stats.requests.send;
    const fault = await planSweep(await deceived(world, guardedBy(guard)), { ...request, ...more }, NEVER).catch(
      (e) => e,
    );
    expect(fault).toBeInstanceOf(CannotSweep);
    expect(world.node.server.stats.requests.send).toBe(sent);
    return (fault as Error).message;
  };

  it('gets no guard with a key that the user has not named', async () => {
    const world = await farm();
    const says = await refusal(world, { keys: [PAIR.publicKey, STRANGER], pred: 'keys-any' });
    expect(says).toContain(`has keys that you have not named: ${STRANGER}. Name with --guard-key`);
    expect(says).not.toContain(PAIR.publicKey);
  });

  it('gets no weaker or other guard than the user knows', async () => {
    const world = await farm([PAIR.publicKey, OTHER.publicKey]);
    const keys = [PAIR.publicKey, OTHER.publicKey];
    const known = { keys, pred: 'keys-all' };
    expect(await refusal(world, { keys, pred: 'keys-any' }, { known })).toContain(
      'has the predicate keys-any, and not keys-all',
    );
    expect(await refusal(world, { keys, pred: 'keys-2' }, { known, held: keys })).toContain('--predicate keys-2');
    const [key] = keys;
    // The ledger takes the keys as a set, which then has too few: the coins could never leave again.
    expect(await refusal(world, { keys: [key, key], pred: 'keys-2' }, { known })).toContain('a key twice');
    expect(await refusal(world, { keys: [key], pred: 'keys-2' }, { known, held: null })).toContain(
      'nobody could satisfy',
    );
    const many = Array.from({ length: 101 }, (_, i) => `${i}`.padStart(64, '0'));
    expect(await refusal(world, { keys: many, pred: 'keys-any' }, { known: null })).toContain(
      'more keys than could ever sign',
    );
    expect(await refusal(world, { keys, pred: 'mine.any' }, { known, held: keys })).toContain('needs signatures');
  });

  it('is swept with a guard that the user knows', async () => {
    const keys = [PAIR.publicKey, OTHER.publicKey];
    const accounts = [{ account: FARM, balance: '50.0', keys, pred: 'keys-any' }];
    const world = await World.make({ accounts });
    const { guard, chains } = await planSweep(
      world.ledger,
      { ...WISHES, account: FARM, known: { keys: keys.toReversed(), pred: 'keys-any' } },
      NEVER,
    );
    expect(guard).toEqual({ keys, pred: 'keys-any' });
    expect(chains.map(({ kind }) => kind)).toEqual(['transfer', 'transfer']);
  });

  it('is not swept when a second node says something else about its guard', async () => {
    const world = await farm();
    const liar = await lyingNode(world.url, guardedBy({ keys: [PAIR.publicKey], pred: 'keys-all' }));
    for (const urls of [[liar, world.url]]) {
      const fault = await planSweep(world.ledgerOf(urls), request, NEVER).catch((e) => e);
      expect(fault).toBeInstanceOf(CannotSweep);
      expect(fault.message).toContain('one says keys-all of');
      expect(fault.message).toContain('and the other that it does not exist');
    }
    const two = [OTHER, PAIR].map(({ publicKey }) => publicKey);
    const other = await lyingNode(world.url, guardedBy({ keys: two, pred: 'keys-any' }));
    const known = { keys: two, pred: 'keys-any' };
    const fault = await planSweep(world.ledgerOf([other, liar]), { ...request, known }, NEVER).catch((e) => e);
    expect(fault.message).toContain(`the other keys-all of ${PAIR.publicKey}`);
  });
});

describe('a node that does not say on which block a failed read has run, as real ones', () => {
  const silent: Lie = async (asked, truth) => {
    if (!asked.path.includes('/local') || asked.path.includes('preflight')) return undefined;
    const answer = JSON.parse((await truth()).body);
    return answer.result.status === 'success' ? undefined : json({ ...answer, metaData: null, logs: null });
  };

  it.each(['auto', 'document', 'headers not served'] as const)('is asked for its newest block: %s', async (how) => {
    const accounts = [{ account: `k:${PAIR.publicKey}`, balance: '10.0', chains: [1] }];
    const world = await World.make({ gasStation: true, accounts }, how === 'document' ? how : 'chainweb');
    const poor: Lie = (asked, truth) => {
      if (how === 'headers not served' && asked.path.includes('/header')) return { status: 404, body: '' };
      return silent(asked, truth);
    };
    const ledger = world.ledgerOf([await lyingNode(world.url, poor)], how === 'document' ? how : 'auto');
    const { header } = world.node.ledger.chains.tip(2);
    expect(await ledger.look(2, `k:${PAIR.publicKey}`, NEVER)).toEqual({
      details: undefined,
      height: Number(header.height),
      timeS: Number(header.creationTimeUs / 1_000_000n),
    });
    const { chains } = await planSweep(ledger, { ...WISHES, gasStation: 'kadena-xchain-gas' }, NEVER);
    expect(chains).toMatchObject([{ kind: 'transfer' }, { kind: 'skip', reason: 'the account does not exist' }]);
  });
});
