import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { rootsOf } from '#pickaxe/mock-node/ledger/block-store.js';
import { type TrackedBlock, totalsOf } from '#pickaxe/node/blocks/block-index.js';
import { BlockStore } from '#pickaxe/node/blocks/block-log.js';
import { payeeInPlaceOf, proveReward } from '#pickaxe/node/blocks/block-reward.js';
import { isWatched, WATCHED_DEPTH } from '#pickaxe/node/blocks/confirmations.js';
import { type Change, Follower, type FollowerOptions } from '#pickaxe/node/blocks/follower.js';
import { formatDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { parseHeader } from '#pickaxe/protocol/ledger/header.js';
import { decodeBase64url, encodeBase64url, LedgerFormatError, parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import { payloadWithOutputsFromJson, provePayload } from '#pickaxe/protocol/ledger/payload.js';
import { PATIENCE } from '../../patience.ts';
import { payloads } from '../../protocol/ledger/vectors.ts';
import { turns } from '../../turns.ts';
import { branches, FakeClock, headerOf, madeBlock, madeHeader, madeRecord, PretendNode } from './pretend.ts';

/** Longer than the minimum time between deciding looks. */
const ROUND_MS = 15_000;
const DAY_MS = 86_400_000;
const running = new AbortController().signal;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pickaxe-'));
});
const stores: BlockStore[] = [];
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  rmSync(folder, { recursive: true, force: true });
});

class Watch {
  readonly clock = new FakeClock();
  readonly nodes: PretendNode[];
  readonly store: BlockStore;
  follower: Follower;
  readonly changes: Change[] = [];
  readonly nodeNews: string[] = [];

  constructor(...nodes: PretendNode[]) {
    this.nodes = nodes;
    this.store = new BlockStore({ folder, warn: (line) => expect.fail(line) });
    stores.push(this.store);
    this.follower = this.#follow({});
  }

  /** Makes the store drop finished blocks, as in a process that runs for years. */
  forgetting(): this {
    this.follower = this.#follow({ dropsFinished: true });
    return this;
  }

  #follow(more: Partial<FollowerOptions>): Follower {
    return new Follower({
      views: this.nodes,
      store: this.store,
      settledDepth: 6,
      clock: this.clock,
      changed: (change) => this.changes.push(change),
      nodeNews: (node, fault) => this.nodeNews.push(`${node}: ${fault ?? 'answers'}`),
      ...more,
    });
  }

  found(header: Uint8Array, more: Parameters<typeof madeRecord>[1] = {}): string {
    const record = madeRecord(header, { foundMs: Number(this.clock.nowUs() / 1000n), ...more });
    this.store.add({ type: 'found', record });
    this.follower.add(this.store.block(record.hash)!);
    return record.hash;
  }

  async rounds(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.clock.advance(ROUND_MS);
      await this.follower.round(running);
    }
  }

  state(hash: string): string {
    return this.block(hash).standing.state;
  }

  block(hash: string): TrackedBlock {
    return this.store.block(hash)!;
  }

  /** The states that a block went through. */
  path(hash: string): string[] {
    return this.changes.flatMap((change) =>
      change.what === 'state' && change.block.hash === hash ? [change.block.standing.state] : [],
    );
  }
}

describe('all blocks of two real chains over 47 heights', () => {
  it.each(Object.keys(branches).map(Number))(
    'of chain %i get the state that the last cut gives them',
    async (chain) => {
      const blocks = branches[chain];
      const node = new PretendNode();
      const watch = new Watch(node);
      for (const block of blocks) {
        expect(watch.found(headerOf(block))).toBe(block.hash);
        node.keeps(chain, BigInt(block.height), block.hash);
      }
      const heights = [...new Set(blocks.map(({ height }) => height))].sort((a, b) => a - b);
      for (const height of heights) {
        const siblings = blocks.filter((block) => block.height === height);
        // An orphan that was once the head of a cut is so again here, for longer than looks must be apart.
        for (const orphan of siblings.filter(({ canonical, everHeadOfACut }) => !canonical && everHeadOfACut)) {
          node.has(chain, BigInt(height), orphan.hash);
          node.headIs(chain, BigInt(height));
          await watch.rounds(3);
          expect(watch.state(orphan.hash)).toBe('pending');
        }
        node.has(chain, BigInt(height), siblings.find(({ canonical }) => canonical)!.hash);
        node.headIs(chain, BigInt(height));
        await watch.rounds(2);
      }
      const last = heights.at(-1)!;
      for (const { hash, height, canonical } of blocks) {
        const depth = last - height;
        const onChain = depth === 0 ? 'pending' : depth < 6 ? 'won' : 'settled';
        expect([height, watch.state(hash)]).toEqual([height, canonical ? onChain : 'orphaned']);
        // No block was ever reported as won that is an orphan, nor the reverse.
        const wrong = canonical ? ['orphaned', 'never-entered'] : ['won', 'settled'];
        expect(watch.path(hash).filter((state) => wrong.includes(state))).toEqual([]);
      }
      const totals = totalsOf(watch.store.blocks);
      expect(totals).toMatchObject({ accepted: blocks.length, orphaned: 2, pending: 1 });
      expect(totals.won + totals.orphaned + totals.pending).toBe(totals.accepted);
    },
  );
});

describe('the follower', () => {
  it('asks for the cut once, and once for all blocks of a chain', async () => {
    const node = new PretendNode();
    const watch = new Watch(node);
    for (const [chain, height] of [
      [1, 100n],
      [1, 104n],
      [1, 90n],
      [2, 100n],
    ] as const) {
      watch.found(madeHeader(chain, height));
    }
    for (const chain of [1, 2]) node.headIs(chain, 104n);
    await watch.rounds(1);
    // None of these blocks is on the chain. The node is not asked for the block at the head, which is not decided yet.
    expect(node.asked).toEqual([
      'heads',
      'ancestors 1 90 104',
      'kept 1 90 100',
      'ancestors 2 100 100',
      'kept 2 100 100',
    ]);
  });

  it('asks no more often when others have the places of thousands of blocks', async () => {
    const node = new PretendNode();
    const watch = new Watch(node);
    for (let i = 0; i < 2_000; i++) watch.found(madeHeader(1, 100n + BigInt(i % 4), BigInt(i)));
    node.headIs(1, 104n);
    await watch.rounds(1);
    expect(node.asked).toEqual(['heads', 'ancestors 1 100 103', 'kept 1 100 103']);
  });

  it('asks nothing while there is nothing to watch, and nothing about other networks', async () => {
    const node = new PretendNode();
    const watch = new Watch(node);
    await watch.rounds(2);
    const hash = watch.found(madeHeader(1, 100n), { network: 'testnet04' });
    watch.clock.advance(DAY_MS);
    await watch.rounds(2);
    expect(node.asked).toEqual([]);
    expect(watch.state(hash)).toBe('pending');
  });

  it('decides after three months of silence, by the second look, and asks no more then', async () => {
    const node = new PretendNode();
    const watch = new Watch(node);
    const mine = watch.found(madeHeader(1, 1_000n));
    const lost = watch.found(madeHeader(1, 1_003n));
    const early = watch.found(madeHeader(1, 90_000n, 7n));
    node.headIs(1, 999n);
    await watch.rounds(1);
    node.fault = new Error('connection refused');
    await watch.rounds(1);
    watch.clock.advance(90 * DAY_MS);
    await watch.rounds(1);
    expect([mine, lost].map((hash) => watch.state(hash))).toEqual(['unknown', 'unknown']);
    node.fault = undefined;
    node.asked.length = 0;
    node.has(1, 1_000n, mine);
    node.keeps(1, 1_003n, lost);
    node.has(1, 90_000n, early);
    node.headIs(1, 260_000n);
    await watch.rounds(1);
    // Stretches that are far apart have requests of their own: one request would fetch 89,000 hashes.
    expect(node.asked).toContain('ancestors 1 1000 1003');
    expect(node.asked).toContain('ancestors 1 90000 90000');
    expect(watch.state(mine)).toBe('unknown');
    await watch.rounds(1);
    expect([mine, lost, early].map((hash) => watch.state(hash))).toEqual(['settled', 'orphaned', 'settled']);
    expect([mine, lost, early].map((hash) => isWatched(watch.block(hash).standing))).toEqual([false, false, false]);
    node.asked.length = 0;
    watch.clock.advance(8 * DAY_MS);
    await watch.rounds(1);
    expect(node.asked).toEqual([]);
  });

  it('goes on where the process before it has ended, but not with its looks', async () => {
    const node = new PretendNode();
    const before = new Watch(node);
    const hash = before.found(madeHeader(1, 100n));
    node.has(1, 100n, hash);
    node.headIs(1, 101n);
    await before.rounds(1);
    await before.store.close();
    const after = new Watch(node);
    await after.rounds(1);
    expect(after.state(hash)).toBe('pending');
    await after.rounds(1);
    expect(after.state(hash)).toBe('won');
    expect(after.changes).toMatchObject([{ what: 'state', isEarlier: true }]);
    await after.store.close();
    const third = new Watch(node);
    await third.store.refresh();
    expect(third.block(hash).standing).toEqual({ state: 'won', depth: 1, nodesDisagree: false });
  });

  it('tells of its own blocks, whichever process decides, and leaves those that another one finds to that one', async () => {
    const node = new PretendNode();
    const [one, two] = [new Watch(node), new Watch(node)];
    await two.rounds(1);
    const hash = one.found(madeHeader(1, 100n));
    await one.store.refresh();
    const third = new Watch(node);
    node.has(1, 100n, hash);
    node.headIs(1, 102n);
    // The third process has read the block while it was undecided, and decides first.
    await third.rounds(2);
    await third.store.refresh();
    await Promise.all([one.rounds(1), two.rounds(3)]);
    expect([one, two, third].map((watch) => watch.path(hash))).toEqual([['won'], [], ['won']]);
    expect(two.state(hash)).toBe('won');
  });

  it('says that nodes disagree, and decides by both once they agree', async () => {
    const [one, two] = [new PretendNode('http://one'), new PretendNode('http://two')];
    const watch = new Watch(one, two);
    const hash = watch.found(madeHeader(1, 100n));
    one.has(1, 100n, hash);
    for (const node of [one, two]) node.headIs(1, 103n);
    await watch.rounds(2);
    expect(watch.block(hash).standing).toMatchObject({ state: 'contested', nodesDisagree: true });
    one.has(1, 100n, 'o'.repeat(43));
    one.keeps(1, 100n, hash);
    one.headIs(1, 104n);
    await watch.rounds(2);
    expect(watch.block(hash).standing).toMatchObject({
      state: 'orphaned',
      nodesDisagree: false,
      winner: 'o'.repeat(43),
    });
    expect(watch.path(hash)).toEqual(['contested', 'orphaned']);
  });

  it('goes by the nodes that answer, and tells once of one that does not', async () => {
    const [one, two] = [new PretendNode('http://one'), new PretendNode('http://two')];
    const watch = new Watch(one, two);
    const hash = watch.found(madeHeader(1, 100n));
    one.has(1, 100n, hash);
    one.headIs(1, 101n);
    two.fault = new Error('connection refused');
    await watch.rounds(3);
    expect(watch.state(hash)).toBe('won');
    two.fault = undefined;
    await watch.rounds(1);
    expect(watch.nodeNews).toEqual(['http://two: connection refused', 'http://two: answers']);
  });

  it('is not stopped on other chains by a chain that cannot be asked', async () => {
    const node = new PretendNode();
    const watch = new Watch(node);
    const [one, two] = [watch.found(madeHeader(1, 100n)), watch.found(madeHeader(2, 100n))];
    node.has(2, 100n, two);
    node.headIs(1, 105n);
    node.headIs(2, 105n);
    // The head of chain 1 is not in the node's own database yet.
    node.has(1, 105n, 'x'.repeat(43));
    const { ancestors } = node;
    node.ancestors = async (chain, ...rest) => {
      if (chain === 1) throw new Error('key not found');
      return await ancestors.call(node, chain, ...rest);
    };
    await watch.rounds(2);
    expect([watch.state(one), watch.state(two)]).toEqual(['pending', 'won']);
    expect(watch.nodeNews).toEqual(['http://one: chain 1: key not found']);
  });

  it('is not stopped on new blocks by an old one whose place the node no longer has', async () => {
    const node = new PretendNode();
    const watch = new Watch(node);
    const [old, young] = [watch.found(madeHeader(1, 10n)), watch.found(madeHeader(1, 90_000n))];
    node.has(1, 90_000n, young);
    node.headIs(1, 90_002n);
    const { ancestors } = node;
    node.ancestors = async (chain, upper, from, to) => {
      if (from < 1_000n) throw new Error('gave 0 ancestors');
      return await ancestors.call(node, chain, upper, from, to);
    };
    await watch.rounds(2);
    expect([watch.state(old), watch.state(young)]).toEqual(['pending', 'won']);
    expect(watch.nodeNews).toEqual(['http://one: chain 1: gave 0 ancestors']);
  });

  it('forgets what is finished, if it is to, also of what an earlier process has left', async () => {
    const node = new PretendNode();
    const before = new Watch(node);
    const done = before.found(madeHeader(1, 100n));
    node.headIs(1, 300n);
    await before.rounds(2);
    expect(isWatched(before.block(done).standing)).toBe(false);
    await before.store.close();
    const after = new Watch(node).forgetting();
    const [lost, open] = [after.found(madeHeader(1, 101n)), after.found(madeHeader(1, 299n))];
    await after.rounds(3);
    expect(after.path(lost)).toEqual(['never-entered']);
    expect([...after.store.blocks].map(({ hash }) => hash)).toEqual([open]);
    await before.store.refresh();
    expect([...before.store.blocks].map(({ hash }) => hash)).toEqual([done, lost, open]);
  });

  it('reports the reorganisation of a settled block, with what it was', async () => {
    const node = new PretendNode();
    const watch = new Watch(node);
    const hash = watch.found(madeHeader(1, 100n));
    node.has(1, 100n, hash);
    node.headIs(1, 107n);
    await watch.rounds(2);
    node.headIs(1, 99n);
    await watch.rounds(3);
    expect(watch.state(hash)).toBe('settled');
    node.has(1, 100n, 'o'.repeat(43));
    node.headIs(1, 101n);
    await watch.rounds(2);
    const last = watch.changes.at(-1)!;
    expect(last).toMatchObject({
      what: 'state',
      isEarlier: false,
      before: { state: 'settled' },
      block: { standing: { state: 'orphaned' } },
    });
  });

  it('takes a block that was sent when it began, and was answered later, for one of this run', async () => {
    const node = new PretendNode();
    const watch = new Watch(node);
    const record = madeRecord(madeHeader(1, 100n), { isAnswered: false });
    const { hash } = record;
    watch.store.add({ type: 'found', record });
    watch.follower.expect(record);
    node.has(1, 100n, hash);
    node.headIs(1, 102n);
    await watch.rounds(3);
    expect(watch.changes).toEqual([]);
    watch.store.add({ type: 'answer', hash, outcome: 'accepted', answerSeconds: 0.02 });
    watch.follower.add(watch.block(hash));
    await watch.rounds(2);
    expect(watch.changes).toMatchObject([{ what: 'state', isEarlier: false, block: { standing: { state: 'won' } } }]);
  });

  /** A block that its node has refused, according to its answer. */
  function refused(watch: Watch, header = madeHeader(1, 100n), more: Parameters<typeof madeRecord>[1] = {}): string {
    const record = madeRecord(header, { isAnswered: false, foundMs: Number(watch.clock.nowUs() / 1000n), ...more });
    const { hash } = record;
    watch.store.add({ type: 'found', record });
    watch.store.add({ type: 'answer', hash, outcome: 'refused', answerSeconds: 0.02 });
    watch.follower.add(watch.block(hash));
    return hash;
  }

  it('tells nothing of a refused block while no chain has it, and asks no more once another has its place', async () => {
    const node = new PretendNode();
    const watch = new Watch(node);
    const hash = refused(watch);
    node.headIs(1, 102n);
    await watch.rounds(3);
    expect([watch.changes, watch.follower.size, watch.state(hash)]).toEqual([[], 0, 'lost']);
    expect([watch.store.blocks, watch.store.size]).toEqual([[], 0]);
  });

  it('follows a refused block for an hour at most', async () => {
    const node = new PretendNode();
    const watch = new Watch(node);
    refused(watch);
    await watch.rounds(1);
    // The last round in the hour is a moment before its end, and the next one at the end.
    watch.clock.advance(3_600_000 - 2 * ROUND_MS - 1);
    await watch.rounds(1);
    expect(watch.follower.size).toBe(1);
    const asked = node.asked.length;
    watch.clock.advance(1 - ROUND_MS);
    await watch.rounds(1);
    expect([watch.changes, watch.follower.size]).toEqual([[], 0]);
    expect(node.asked).toHaveLength(asked);
  });

  it.each(['the same process', 'the next process'])(
    'counts a refused block that is on the chain in %s',
    async (where) => {
      const node = new PretendNode();
      const before = new Watch(node);
      const hash = refused(before);
      if (where === 'the next process') await before.store.close();
      const watch = where === 'the same process' ? before : new Watch(node);
      watch.clock.advance(0);
      node.has(1, 100n, hash);
      node.headIs(1, 102n);
      await watch.rounds(3);
      expect(watch.changes).toMatchObject([
        { what: 'state', before: undefined, block: { standing: { state: 'won' } } },
      ]);
      expect(totalsOf(watch.store.blocks)).toMatchObject({ accepted: 1, won: 1, lost: 0, unanswered: 0 });
    },
  );

  it('follows no block that its store does not have any more', async () => {
    const watch = new Watch(new PretendNode());
    const hash = watch.found(madeHeader(1, 100n));
    const other = watch.found(madeHeader(1, 101n));
    await watch.rounds(1);
    const { block } = watch.store;
    const gone = new Set([hash]);
    watch.store.block = (wanted) => (gone.has(wanted) ? undefined : block.call(watch.store, wanted));
    await watch.rounds(1);
    expect(watch.follower.size).toBe(1);
    // The block may also be dropped while nodes are asked.
    watch.nodes[0].heads = async () => {
      gone.add(other);
      return new Map();
    };
    await watch.rounds(2);
    expect(watch.follower.size).toBe(0);
  });

  it('judges a block anew that its store has again', async () => {
    const node = new PretendNode();
    const before = new Watch(node);
    const hash = before.found(madeHeader(1, 100n));
    await before.store.close();
    const watch = new Watch(node);
    const { block } = watch.store;
    let isGone = false;
    watch.store.block = (wanted) => (isGone ? undefined : block.call(watch.store, wanted));
    const comesAgain = async () => {
      isGone = true;
      await watch.rounds(1);
      isGone = false;
      watch.follower.add(watch.block(hash));
    };
    const say = async (isOurs: boolean) => {
      node.has(1, 100n, isOurs ? hash : 'o'.repeat(43));
      node.headIs(1, 102n);
      await watch.rounds(2);
    };
    node.has(1, 100n, hash);
    node.headIs(1, 102n);
    // One look decides nothing, and neither does another one after the block was away.
    await watch.rounds(1);
    await comesAgain();
    await watch.rounds(1);
    expect(watch.path(hash)).toEqual([]);
    await watch.rounds(1);
    expect(watch.changes).toMatchObject([{ what: 'state', block: { standing: { state: 'won' } }, isEarlier: false }]);
    // Its payload is asked for after 15 s and 30 s, and would be after 60 s.
    await watch.rounds(3);
    const payloads = () => node.asked.filter((what) => what === 'payload').length;
    expect(payloads()).toBe(3);
    await comesAgain();
    await watch.rounds(1);
    expect(payloads()).toBe(4);
    for (const changes of [20, 40]) {
      for (let i = 0; i < 30; i++) await say(watch.state(hash) !== 'won');
      expect(watch.path(hash)).toHaveLength(1 + changes);
      await comesAgain();
    }
  });

  it('writes at most twenty changes of a block at once and one more an hour, whatever a node says', async () => {
    const node = new PretendNode();
    const watch = new Watch(node);
    const hash = watch.found(madeHeader(1, 100n));
    const say = async (isOurs: boolean) => {
      node.has(1, 100n, isOurs ? hash : 'o'.repeat(43));
      node.headIs(1, 102n);
      await watch.rounds(2);
    };
    for (let i = 0; i < 40; i++) await say(i % 2 === 0);
    expect(watch.path(hash)).toHaveLength(20);
    watch.clock.advance(3_600_000);
    for (let i = 0; i < 10; i++) await say(watch.state(hash) !== 'won');
    expect(watch.path(hash)).toHaveLength(21);
  });

  it('counts no round that was interrupted', async () => {
    const node = new PretendNode();
    const watch = new Watch(node);
    const hash = watch.found(madeHeader(1, 100n));
    node.has(1, 100n, hash);
    node.headIs(1, 102n);
    const interrupted = new AbortController();
    const { heads } = node;
    node.heads = async () => {
      interrupted.abort();
      return await heads.call(node);
    };
    await watch.follower.round(interrupted.signal);
    watch.clock.advance(ROUND_MS);
    await watch.follower.round(running);
    // If the first look counted, this would be the second one.
    expect(watch.state(hash)).toBe('pending');
    await watch.rounds(1);
    expect(watch.state(hash)).toBe('won');
  });

  it('watches a settled block to its last depth, and does not announce that', async () => {
    const node = new PretendNode();
    const watch = new Watch(node);
    const hash = watch.found(madeHeader(1, 100n));
    node.has(1, 100n, hash);
    for (let height = 101; height <= 100 + WATCHED_DEPTH; height += 7) {
      node.headIs(1, BigInt(height));
      await watch.rounds(1);
    }
    node.headIs(1, 100n + BigInt(WATCHED_DEPTH));
    await watch.rounds(2);
    expect(isWatched(watch.block(hash).standing)).toBe(false);
    expect(watch.path(hash)).toEqual(['won', 'settled']);
  });
});

describe('the reward of a won block', () => {
  const vector = payloads.find(({ header }) => header)!;
  const header = decodeBase64url(vector.header!).subarray(0, 286);
  const { chain, height, payloadHash } = parseHeader(header);
  const payload = payloadWithOutputsFromJson(parseExactJson(JSON.stringify(vector.payloadWithOutputs)));
  const key = encodeBase64url(payloadHash);

  /** A block that is won by the next round. */
  async function won(...nodes: PretendNode[]) {
    const watch = new Watch(...nodes);
    const hash = watch.found(header, { account: vector.expect.rewardTo! });
    for (const node of nodes) {
      node.has(chain, height, hash);
      node.headIs(chain, height + 2n);
    }
    await watch.rounds(1);
    return { watch, hash };
  }

  it('is proven before it is told that the block is won', async () => {
    const node = new PretendNode();
    node.payloads.set(key, payload);
    const { watch, hash } = await won(node);
    await watch.rounds(1);
    expect(watch.changes).toHaveLength(1);
    const { reward } = watch.changes[0].block;
    expect(reward?.account).toBe(vector.expect.rewardTo);
    expect(Number(formatDecimal(reward!.reward!))).toBe(vector.expect.reward);
    expect(totalsOf(watch.store.blocks)).toMatchObject({ earned: reward!.reward! + reward!.fees, unproven: 0 });
    await watch.store.close();
    const again = new Watch(node);
    await again.store.refresh();
    expect(again.block(hash).reward).toEqual(reward);
  });

  const wrong = {
    ...payload,
    coinbase: Buffer.from(Buffer.from(payload.coinbase).toString().replace('"gas":0', '"gas":1')),
  };
  it.each([
    ['has other bytes than its roots', wrong, /outputsHash/],
    ['has roots of its own', { ...wrong, ...rootsOf(wrong) }, /payloadHash is .*, but the block's header has/],
  ])('is not believed when the payload %s: that is named once', async (_, given, named) => {
    const node = new PretendNode();
    node.payloads.set(key, given);
    const { watch, hash } = await won(node);
    await watch.rounds(10);
    expect(watch.state(hash)).toBe('won');
    expect(watch.block(hash).reward).toBeUndefined();
    const faults = watch.changes.flatMap((change) => (change.what === 'reward-fault' ? [change.fault] : []));
    expect(faults).toEqual([expect.stringMatching(named)]);
    expect(faults[0]).toMatch(/^http:\/\/one: the payload is not the one in our header: /);
    expect(watch.block(hash).rewardFault).toBe(faults[0]);
    expect(totalsOf(watch.store.blocks)).toMatchObject({ earned: 0n, unproven: 1 });
  });

  it('is taken from the next node when one gives false bytes, does not have them, or does not answer', async () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name) => new PretendNode(`http://${name}`));
    nodes[0].payloads.set(key, wrong);
    nodes[2].payloads.set(key, new Error('connection refused'));
    nodes[3].payloads.set(key, payload);
    const { watch, hash } = await won(...nodes);
    await watch.rounds(1);
    expect(watch.block(hash).reward).toBeDefined();
  });

  it('is asked for first where a node has just answered: one that is away would hold up all others', async () => {
    const [away, there] = [new PretendNode('http://away'), new PretendNode('http://there')];
    away.fault = new Error('no answer within 30 s');
    there.payloads.set(key, payload);
    const { watch, hash } = await won(away, there);
    await watch.rounds(1);
    expect(watch.block(hash).reward).toBeDefined();
    expect(away.asked).not.toContain('payload');
  });

  it('is asked for again, ever less often, until a node has the payload', async () => {
    const node = new PretendNode();
    const { watch, hash } = await won(node);
    await watch.rounds(40);
    const asked = node.asked.filter((what) => what === 'payload').length;
    expect(asked).toBeGreaterThan(2);
    expect(asked).toBeLessThan(10);
    expect(watch.block(hash).reward).toBeUndefined();
    node.payloads.set(key, payload);
    watch.clock.advance(3_600_000);
    await watch.rounds(1);
    expect(watch.changes.at(-1)).toMatchObject({
      what: 'reward',
      block: { hash, reward: { fees: expect.anything() } },
    });
  });

  it('that went to another account is no reward of ours, and is told before the block is won', async () => {
    const [other, node] = [new PretendNode('http://other'), new PretendNode()];
    for (const { payloads } of [other, node]) payloads.set(key, payload);
    const watch = new Watch(other, node);
    const stop = new AbortController();
    const running = watch.follower.run(stop.signal);
    const hash = watch.found(header, { account: 'k:me' });
    await vi.waitFor(() => expect(watch.changes).toHaveLength(1), PATIENCE);
    stop.abort();
    await running;
    const payee = vector.expect.rewardTo;
    expect(watch.changes).toMatchObject([{ what: 'paid-elsewhere', payee, isEarlier: false }]);
    expect(watch.block(hash)).toMatchObject({ standing: { state: 'pending' }, paidElsewhere: { account: payee } });
    node.has(chain, height, hash);
    node.headIs(chain, height + 2n);
    await watch.rounds(40);
    expect(watch.state(hash)).toBe('won');
    expect(watch.changes.map(({ what }) => what)).toEqual(['paid-elsewhere', 'state']);
    // The node that has taken the block is asked first.
    expect([other, node].map(({ asked }) => asked.filter((what) => what === 'payload').length)).toEqual([0, 1]);
    expect(totalsOf(watch.store.blocks)).toMatchObject({ won: 1, earned: 0n, unproven: 0, paidElsewhere: 1 });
  });

  it('is still being asked for at the end, which waits for the answer', async () => {
    const node = new PretendNode();
    const watch = new Watch(node);
    const stop = new AbortController();
    let isRunning = true;
    const running = watch.follower.run(stop.signal).then(() => {
      isRunning = false;
    });
    const answers: (() => void)[] = [];
    node.payloadWithOutputs = () => new Promise((resolve) => answers.push(() => resolve(undefined)));
    watch.found(header, { account: 'k:me' });
    await vi.waitFor(() => expect(answers).toHaveLength(1), PATIENCE);
    stop.abort();
    watch.clock.advance(3_600_000);
    await turns();
    expect(isRunning).toBe(true);
    for (const answer of answers) answer();
    await running;
  });

  it('is asked for at once although a refused block of the same node is being looked at', async () => {
    const node = new PretendNode();
    node.payloads.set(key, payload);
    const watch = new Watch(node);
    const stop = new AbortController();
    const running = watch.follower.run(stop.signal);
    // The node never has the payload of this block.
    watch.follower.lookAtPayee(node.node, true, () => madeBlock(madeHeader(1, 5n)));
    watch.found(header, { account: 'k:me' });
    await vi.waitFor(() => expect(watch.changes).toMatchObject([{ what: 'paid-elsewhere' }]), PATIENCE);
    stop.abort();
    await running;
  });

  it('is compared with the account of its own run, and one of an earlier run accuses no node of this one', async () => {
    const node = new PretendNode();
    const before = new Watch(node);
    const hash = before.found(header, { account: 'k:formerly' });
    await before.store.close();
    node.payloads.set(key, payload);
    node.has(chain, height, hash);
    node.headIs(chain, height + 2n);
    const after = new Watch(node);
    await after.rounds(2);
    expect(after.changes.map((change) => [change.what, 'isEarlier' in change && change.isEarlier])).toEqual([
      ['state', true],
      ['paid-elsewhere', true],
    ]);
    await after.store.close();
    const again = new Watch(node);
    await again.rounds(2);
    expect(again.changes).toEqual([]);
    const former = madeRecord(header, { account: vector.expect.rewardTo! });
    const reward = proveReward(former, provePayload(payload, parseHeader(former.header).payloadHash));
    expect([payeeInPlaceOf(former, reward), payeeInPlaceOf({ account: 'k:now' }, reward)]).toEqual([
      undefined,
      former.account,
    ]);
  });

  test('a fault of the client is named as one of the reward', async () => {
    const node = new PretendNode();
    node.payloads.set(key, new Error('not understood', { cause: new LedgerFormatError('its root is wrong') }));
    const { watch } = await won(node);
    await watch.rounds(1);
    expect(watch.changes.at(-1)).toMatchObject({
      what: 'reward-fault',
      fault: 'http://one: the payload is not the one in our header: its root is wrong',
    });
  });
});
