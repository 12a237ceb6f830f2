/** What the lines of the block log, looks at blocks and nodes that change their minds make of blocks. */

import { describe, expect, it } from 'vitest';
import { NEVER } from '#pickaxe/base/system/abort.js';
import { wallMs } from '#pickaxe/base/system/clock.js';
import { type Random, seededRandom } from '#pickaxe/mock-node/random.js';
import { BlockIndex, blockOf, isHidden, type TrackedBlock, totalsOf } from '#pickaxe/node/blocks/block-index.js';
import { type Line, readLine, writeLine } from '#pickaxe/node/blocks/block-lines.js';
import { MemoryStore } from '#pickaxe/node/blocks/block-log.js';
import {
  type Agreement,
  type BlockLook,
  describeStanding,
  isNews,
  isUrgent,
  isWatched,
  JUST_FOUND,
  judge,
  UNANSWERED,
} from '#pickaxe/node/blocks/confirmations.js';
import { type Change, Follower } from '#pickaxe/node/blocks/follower.js';
import { lookAtBlocks } from '#pickaxe/node/blocks/observation.js';
import type { BlockRecord } from '#pickaxe/node/blocks/record.js';
import { encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { parseMiner, payloadWithOutputsFromJson } from '#pickaxe/protocol/ledger/payload.js';
import { type Recorded, recordIn, written } from '../../recorded.ts';
import { SteppedClock } from '../../stepped-clock.ts';
import { turns } from '../../turns.ts';
import { changed, drawer, typosIn } from '../../variants.ts';
import { exact, wholeBlocks } from '../client/rows.ts';
import { madeHeader, madeRecord, PretendNode } from './pretend.ts';

const LINES = 40;
const LOOKS = 240;
const VIEWS = 25;
const WORLDS = 14;
const EVENTS = 30;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The times that pass after an event, in milliseconds, in pieces. */
const PASSING = [[500, 500], [5_000, 5_000, 5_000], [15_000, 15_000], [15_000, 15_000], [120_000], [HOUR_MS]];

const expectRecorded = recordIn(new URL('recorded.json', import.meta.url));

describe('lines of the block log have the recorded effect:', () => {
  const record = madeRecord(madeHeader(3, 42n), { isAnswered: false, expectedBlocks: 0.5 });
  const { hash } = record;
  const keyset = { predicate: 'keys-all', publicKeys: ['a', 'b'] };
  const other = madeRecord(madeHeader(3, 43n), { keyset, switchSeconds: 0.01, isRelay: true });
  const paid = { account: 'k:me', reward: 5n, fees: 7n };
  const standing = { state: 'orphaned', depth: 3, nodesDisagree: true, winner: 'w'.repeat(43) } as const;
  const lines: Readonly<Record<string, Line>> = {
    found: { type: 'found', record: other },
    answer: { type: 'answer', hash, outcome: 'accepted', answerSeconds: 0.25 },
    refusal: { type: 'answer', hash, outcome: 'refused', answerSeconds: 0.25 },
    'no answer': { type: 'answer', hash, outcome: 'unanswered', answerSeconds: 0.25 },
    state: { type: 'state', hash, atMs: 1_700_000_009_000, standing },
    reward: { type: 'reward', hash, reward: { ...paid, hasOtherKeys: true } },
    'reward of another': { type: 'reward', hash, reward: { ...paid, account: 'k:other', reward: undefined } },
    'reward fault': { type: 'reward-fault', hash, fault: 'http://one: false' },
    searched: { type: 'searched', expectedBlocks: 0.75 },
    'not followed': { type: 'not-followed', own: 1, relayed: 2, unanswered: 3 },
  };

  function effectOf(text: string): string {
    const line = readLine(text);
    if (!line) return 'nothing';
    const index = new BlockIndex();
    for (const each of [{ type: 'found', record }, line, lines.searched] as const) index.apply(each);
    const { blocks, hiddenBlocks, searchedExpectedBlocks, notFollowed } = index;
    return written([line, writeLine(line), blocks, hiddenBlocks, searchedExpectedBlocks, notFollowed]);
  }

  it.each(Object.entries(lines))('%s', (name, line) => {
    const random = seededRandom(name.length);
    const right = writeLine(line).trimEnd();
    const variants = Array.from({ length: LINES }, () => JSON.stringify(changed(JSON.parse(right), random)));
    const inputs = [...new Set([right, ...variants, ...typosIn(right, LINES / 4)])];
    expectRecorded(
      `line: ${name}`,
      inputs.map((input) => ({ input, outcome: effectOf(input) })),
    );
  });
});

it.each([1, 6, 120])('looks decide what is recorded, with %i blocks to settle one', (settledDepth) => {
  const random = seededRandom(settledDepth);
  const one = drawer(random);
  const look = (): BlockLook => {
    const node = one('one', 'two');
    const depth = one(0, 1, 1, 2, 5, 6, 119, 120, 121);
    const winner = one('w', 'x').repeat(43);
    return one<BlockLook>(
      { node, chainHas: 'not-yet' },
      { node, chainHas: 'ours', depth },
      { node, chainHas: 'another', depth, winner },
      { node, chainHas: 'another', depth, winner, keepsOurs: one(true, false) },
    );
  };
  let [standing, agreement]: [typeof JUST_FOUND, Agreement | undefined] = [JUST_FOUND, undefined];
  let looks: readonly BlockLook[] = [];
  let nowMs = 0;
  const outcomes = Array.from({ length: LOOKS }, (_, i): Recorded => {
    if (i % 16 === 0) {
      standing = i % 32 === 0 ? JUST_FOUND : UNANSWERED;
      agreement = undefined;
    }
    if (random() < 0.5) looks = Array.from({ length: one(0, 1, 1, 1, 2, 3) }, look);
    nowMs += one(0, 1, 4_999, 9_999, 10_000, 10_001);
    const ageMs = one(0, 3_599_999, 3_600_000);
    const before = standing;
    const after = judge(before, agreement, looks, { nowMs, ageMs }, { settledDepth, apartMs: 10_000 });
    [standing, agreement] = [after.standing, after.agreement];
    const input = written([before, looks, nowMs, ageMs]);
    const is = [isNews(before, standing), isWatched(standing), isUrgent(standing, ageMs)];
    return { input, outcome: written([after, is, describeStanding(standing, before, one(true, false))]) };
  });
  expectRecorded(`looks: ${settledDepth}`, outcomes);
});

it('a node is asked what is recorded, and its answers are taken as recorded', async () => {
  const random = seededRandom(3);
  const one = drawer(random);
  const outcomes: Recorded[] = [];
  for (let i = 0; i < VIEWS; i++) {
    const node = new PretendNode();
    const head = one(1_000n, 1_001n);
    for (const chain of one([1], [1, 2])) node.headIs(chain, head);
    const blocks = Array.from({ length: one(1, 2, 5) }, (_, nonce): TrackedBlock => {
      const height = head - BigInt(one(-1, 0, 1, 2, 498, 499, 500, 501, 999));
      const state = one('pending', 'orphaned', 'won', 'unanswered');
      const header = madeHeader(one(1, 1, 2), height, BigInt(nonce));
      const block = { ...blockOf(madeRecord(header)), standing: { ...JUST_FOUND, state } } as TrackedBlock;
      if (random() < 0.5 && height !== head) node.has(block.chain, height, block.hash);
      if (random() < 0.5) node.keeps(block.chain, height, block.hash);
      return block;
    });
    const { ancestors, keptHashes } = node;
    const fails = one('nothing', 'nothing', 'nothing', 'heads', 'ancestors', 'low ancestors', 'kept', 'a gap');
    if (fails === 'heads') node.fault = new Error('refused');
    node.ancestors = async (chain, upper, from, to) => {
      const hashes = new Map(await ancestors.call(node, chain, upper, from, to));
      if (fails === 'ancestors' && chain === 1) throw new Error('no ancestors');
      if (fails === 'low ancestors' && from < 500n) throw new Error('too old');
      if (fails === 'a gap') hashes.delete(from);
      return hashes;
    };
    node.keptHashes = async (...asked) => {
      if (fails === 'kept') throw new Error('busy');
      return await keptHashes.call(node, ...asked);
    };
    const input = `${i}: ${fails}`;
    const { looks, fault } = await lookAtBlocks(node, blocks, NEVER);
    outcomes.push({ input, outcome: written([looks, fault, node.asked]) });
  }
  expectRecorded('views', outcomes);
});

/** Blocks whose rewards can be proven, as their miner records them or as one who wanted another account does. */
const REAL = wholeBlocks.slice(0, 3).map(({ binary, payload }) => {
  const header = Buffer.from(binary, 'base64url').subarray(0, 286);
  const read = payloadWithOutputsFromJson(exact(payload));
  const { account, ...keyset } = parseMiner(read.minerData);
  return { header, payload: read, account, keyset };
});

/** Nodes, blocks and a follower, all of which the seed determines. */
class World {
  readonly clock = new SteppedClock();
  readonly store = new MemoryStore();
  readonly nodes = ['http://one', 'http://two', 'http://three'].map((name) => new PretendNode(name, this.clock));
  readonly #random: Random;
  readonly #one: ReturnType<typeof drawer>;
  readonly #news: string[] = [];
  readonly #records: BlockRecord[] = [];
  readonly #stop = new AbortController();
  readonly #follower: Follower;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.#one = drawer(this.#random);
    this.nodes[2].network = 'other';
    this.#follower = new Follower({
      views: this.nodes,
      store: this.store,
      settledDepth: 6,
      clock: this.clock,
      changed: (change) => this.#news.push(changeText(change)),
      nodeNews: (node, fault) => this.#news.push(`${node}: ${fault}`),
    });
    for (const each of this.nodes) for (const chain of [0, 1, 2]) each.headIs(chain, 98n);
    for (let i = this.#one(0, 1, 2); i > 0; i--) this.#find();
  }

  /** Adds a block to the store. @returns the block */
  #find(): TrackedBlock {
    const one = this.#one;
    const real = one(undefined, ...REAL);
    const header = real?.header ?? madeHeader(one(0, 1), 100n, BigInt(this.#records.length));
    const otherKeys = { predicate: 'keys-all', publicKeys: ['x'] };
    const mine =
      real &&
      one(
        { account: real.account, keyset: real.keyset },
        { account: real.account },
        { account: real.account, keyset: otherKeys },
        { keyset: otherKeys },
        {},
      );
    const record = madeRecord(header, {
      ...mine,
      network: real ? 'mainnet01' : one('mainnet01', 'mainnet01', 'other', 'a third'),
      node: one('http://one', 'http://two'),
      foundMs: wallMs(this.clock) - one(0, 0, 1_000, 3_600_000),
      isAnswered: one(true, true, false),
    });
    this.store.add({ type: 'found', record });
    this.#records.push(record);
    if (!record.isAnswered && one(true, false)) {
      const outcome = one('accepted', 'refused', 'refused', 'unanswered');
      this.store.add({ type: 'answer', hash: record.hash, outcome, answerSeconds: 0.5 });
    }
    return this.store.block(record.hash)!;
  }

  /** Something happens to the blocks or the nodes. @returns what */
  #event(): string {
    const one = this.#one;
    const node = one(...this.nodes);
    const block = this.#records.at(-one(1, 1, 2));
    const kind = one('find', 'send', 'fault', 'payload', 'payload', ...Array.from({ length: 6 }, () => 'chain'));
    if (kind === 'find' || !block) {
      const found = this.#find();
      this.#follower.add(found);
      return `found ${found.height} of ${found.network}`;
    }
    if (kind === 'send') {
      const sent = this.#find();
      this.#follower.expect(sent);
      return `sent ${sent.height}`;
    }
    if (kind === 'fault') {
      node.fault = node.fault ? undefined : new Error('refused');
      return `${node.node} ${node.fault ? 'fails' : 'answers'}`;
    }
    if (kind === 'payload') {
      const kinds = one(['right'], ['right'], ['wrong', 'busy', 'right']);
      for (const { payload } of REAL) {
        const kind = one(...kinds);
        const given = { right: payload, wrong: one(...REAL).payload, busy: new Error('busy') }[kind]!;
        node.payloads.set(encodeBase64url(payload.payloadHash), given);
      }
      return `${node.node} has payloads: ${kinds}`;
    }
    const { chain, height, hash } = block;
    const above = BigInt(one(-1, 0, 1, 1, 2, 6, 7, 120, 125));
    const nodes = one([node], this.nodes, this.nodes);
    const has = one('ours', 'ours', 'ours', 'another', 'a kept one');
    for (const each of nodes) {
      each.has(chain, height, has === 'ours' ? hash : 'o'.repeat(43));
      if (has === 'a kept one') each.keeps(chain, height, hash);
      each.headIs(chain, height + above);
    }
    return `${nodes.length} nodes have ${has} at ${height} and ${above} above`;
  }

  async #pass(ms: number): Promise<void> {
    const leaps = ms >= HOUR_MS;
    if (leaps) this.clock.advance(ms - 1);
    let isOver = false;
    this.clock.setTimeout(() => (isOver = true), leaps ? 1 : ms);
    do {
      await turns(1);
      this.clock.step();
    } while (!isOver);
    await turns(1);
  }

  async run(): Promise<Recorded[]> {
    const outcomes: Recorded[] = [];
    const isWhole = this.#one(true, true, false);
    let ends = 0;
    const follow = async () => {
      if (isWhole) await this.#follower.run(this.#stop.signal);
      else await this.#follower.decide(this.#stop.signal);
      ends++;
    };
    let following = follow();
    await turns(1);
    for (let i = 0; i < EVENTS; i++) {
      const what = this.#event();
      const pieces = this.#one(...PASSING, ...PASSING, [DAY_MS * this.#one(1, 7)]);
      for (const ms of pieces) {
        await this.#pass(ms);
      }
      const asked = this.nodes.map((node) => node.asked.splice(0));
      const { blocks, hiddenBlocks } = this.store;
      const standings = [...blocks, ...hiddenBlocks].map(({ hash, standing, sinceMs, ...block }) => [
        ...[hash.slice(0, 6), standing, sinceMs, isHidden({ standing, ...block })],
        ...[block.reward, block.paidElsewhere, block.rewardFault],
      ]);
      const outcome = written([this.#news.splice(0), asked, standings, this.#follower.size, ends]);
      outcomes.push({ input: `${i}: ${what}, ${pieces}`, outcome });
      if (!isWhole && ends > 0) {
        ends = 0;
        following = follow();
        await turns(1);
      }
    }
    this.#stop.abort();
    await following;
    return [...outcomes, { input: 'totals', outcome: written(totalsOf(this.store.blocks, 1)) }];
  }
}

function changeText(change: Change): string {
  const { block, ...rest } = change;
  return written([rest, block.hash.slice(0, 6), block.standing.state]);
}

it.each(Array.from({ length: WORLDS }, (_, i) => i))('blocks have the recorded fate in world %i', async (seed) => {
  expect(REAL).toHaveLength(3);
  expectRecorded(`world ${seed}`, await new World(seed).run());
});
