import { describe, expect, it } from 'vitest';
import { NEVER } from '#pickaxe/base/system/abort.js';
import { type BlockReader, findCommand, SEARCH_LIMITS } from '#pickaxe/node/sweep/linked-blocks.js';
import { type SearchRange, SweepFault } from '#pickaxe/node/sweep/sweep-ledger.js';
import { type BlockHeader, blockHash } from '#pickaxe/protocol/ledger/header.js';
import type { PayloadWithOutputs, Proven } from '#pickaxe/protocol/ledger/payload.js';

const KEY = 'A'.repeat(43);
const HEIGHT = 1000n;
/** Creation time of the block of height 0, in seconds since 1970. */
const FIRST_S = 1_700_000_000;
const hashed = new Uint8Array(32);

/** A payload without proof: only the client proves payloads, and there is no client here. */
const payload = {
  transactions: [],
  outputs: [],
  minerData: hashed,
  coinbase: hashed,
  transactionsHash: hashed,
  outputsHash: hashed,
  payloadHash: hashed,
} satisfies PayloadWithOutputs as PayloadWithOutputs as Proven<PayloadWithOutputs>;

/** A chain with a block every 30 seconds, up to `HEIGHT`; the highest comes first. */
const chain: readonly BlockHeader[] = (() => {
  const headers: BlockHeader[] = [];
  let parent: Uint8Array = hashed;
  for (let height = 0n; height <= HEIGHT; height++) {
    const header: BlockHeader = {
      featureFlags: 0n,
      creationTimeUs: (BigInt(FIRST_S) + 30n * height) * 1_000_000n,
      parent,
      adjacents: [],
      target: new Uint8Array(32).fill(255),
      payloadHash: hashed,
      chain: 0,
      weight: height,
      height,
      version: 1,
      epochStartUs: 0n,
      nonce: 0n,
    };
    headers.unshift(header);
    parent = blockHash(header);
  }
  return headers;
})();

const branch = { chain: 0, head: { height: HEIGHT, hash: blockHash(chain[0]) } };

/** A node with this chain, which counts the headers and blocks that it gives. */
function reader() {
  const given = { headers: 0, blocks: 0 };
  async function* headers(count: () => void, range: { minHeight?: number | bigint; maxHeight?: number | bigint }) {
    for (const header of chain) {
      if (header.height > (range.maxHeight ?? HEIGHT) || header.height < (range.minHeight ?? 0)) continue;
      count();
      yield header;
    }
  }
  const api: BlockReader = {
    network: 'development',
    dialect: async () => 'chainweb',
    headerBranch: (_chain, _bounds, range = {}) => headers(() => void given.headers++, range),
    async *blockBranch(_chain, _bounds, range = {}) {
      for await (const header of headers(() => void given.blocks++, range)) yield { header, payload };
    },
  };
  return { api, given };
}

const timeAt = (height: number) => FIRST_S + 30 * height;
const query = (madeAt: number) => ({ what: 'command', key: KEY, madeS: timeAt(madeAt) }) as const;

describe('a search in blocks', () => {
  it('reads the blocks in which a command can be, and the headers above them', async () => {
    const { api, given } = reader();
    const { found, block } = await findCommand(api, branch, query(500), { untilS: timeAt(560) }, NEVER);
    // Two minutes are four blocks, and the block below them shows where they end.
    expect([found, block.height, given]).toEqual([undefined, 560n, { headers: 1000 - 495 + 1, blocks: 560 - 495 + 1 }]);
    expect(block.hash).toEqual(blockHash(chain[Number(HEIGHT - 560n)]));
  });

  it('that finds nothing counts only the work of blocks that are too late to have the command', async () => {
    const { api } = reader();
    const workOf = async (range: SearchRange) => (await findCommand(api, branch, query(500), range, NEVER)).work;
    // The parent of block 540 was made before the command's time was over, those of the 460 blocks above it were not.
    const range = { untilS: timeAt(560), expiresS: timeAt(540) };
    expect(await workOf(range)).toEqual({ hashes: HEIGHT - 540n, blocks: 60n });
    expect(await workOf({ ...range, expiresS: timeAt(540) - 1 })).toMatchObject({ hashes: HEIGHT - 540n });
    expect(await workOf({ ...range, expiresS: timeAt(540) + 1 })).toMatchObject({ hashes: HEIGHT - 541n });
    expect(await workOf({ untilS: timeAt(560) })).toMatchObject({ hashes: HEIGHT - 560n });
  });

  it('of one height reads one block', async () => {
    const { api, given } = reader();
    await findCommand(api, branch, query(500), { height: 990 }, NEVER);
    expect(given).toEqual({ headers: 11, blocks: 1 });
  });

  it.each([499, 400, -1, 1001])(
    'does not look for a command in a block of height %i, which cannot have it',
    async (height) => {
      const { api, given } = reader();
      const old = query(510);
      await expect(findCommand(api, branch, old, { height }, NEVER)).rejects.toThrow(
        `not have the block of height ${height}`,
      );
      expect(given.headers).toBeLessThanOrEqual(1000 - 505 + 1);
    },
  );

  it('believes no headers that do not build on each other, or are not older than the one above', async () => {
    const below = chain[3];
    for (const [wrong, says] of [
      [{ ...below, nonce: 1n }, 'do not build on each other, at height 997'],
      [{ ...below, height: 996n }, 'do not build on each other, at height 997'],
    ] as const) {
      const { api } = reader();
      const forged: BlockReader = {
        ...api,
        async *headerBranch(...asked) {
          for await (const header of api.headerBranch(...asked)) yield header === below ? wrong : header;
        },
      };
      await expect(findCommand(forged, branch, query(500), {}, NEVER)).rejects.toThrow(says);
    }
    // A whole branch that is linked, but whose times do not ascend.
    const top = { ...chain[0], creationTimeUs: chain[1].creationTimeUs };
    const { api } = reader();
    const forged: BlockReader = {
      ...api,
      async *headerBranch(...asked) {
        for await (const header of api.headerBranch(...asked)) yield header === chain[0] ? top : header;
      },
    };
    const head = { height: HEIGHT, hash: blockHash(top) };
    await expect(findCommand(forged, { chain: 0, head }, query(500), {}, NEVER)).rejects.toThrow(
      'gives a block of height 999 that is not older than the one above it',
    );
  });

  it('waits until there are blocks after the command’s time', async () => {
    const { api, given } = reader();
    const search = findCommand(api, branch, query(990), { untilS: timeAt(1001) }, NEVER);
    await expect(search).rejects.toThrow('The node does not have the blocks yet in which a command could be.');
    expect(given).toEqual({ headers: 1, blocks: 0 });
  });

  it('ends at the genesis block for a command that is older, as a wrong clock makes it', async () => {
    const { api, given } = reader();
    const { found } = await findCommand(api, branch, query(-100), { untilS: timeAt(40) }, NEVER);
    expect([found, given]).toEqual([undefined, { headers: 1001, blocks: 41 }]);
  });

  it('follows no more headers than a bound', async () => {
    const { api, given } = reader();
    const limits = { ...SEARCH_LIMITS, headers: 100n };
    for (const range of [{}, { height: 300 }, { untilS: timeAt(350) }]) {
      given.headers = 0;
      const search = findCommand(api, branch, query(300), range, NEVER, limits);
      await expect(search).rejects.toThrow('A command could be in more than 100 blocks');
      expect(given).toEqual({ headers: 101, blocks: 0 });
    }
    expect(SEARCH_LIMITS.headers).toBe(1_000_000n);
  });

  it('searches no more blocks than a bound for a command whose time is over', async () => {
    const { api, given } = reader();
    const limits = { ...SEARCH_LIMITS, searched: 50n };
    const search = findCommand(api, branch, query(500), { untilS: timeAt(560) }, NEVER, limits);
    await expect(search).rejects.toThrow(SweepFault);
    expect(given).toEqual({ headers: 1000 - 510 + 1, blocks: 0 });
    expect(SEARCH_LIMITS.searched).toBe(10_000n);
  });

  it('for somebody else’s step 1 reads the lowest blocks that can have it and the newest, and none between them', async () => {
    const { api, given } = reader();
    const heights: bigint[] = [];
    const noting: BlockReader = {
      ...api,
      async *blockBranch(...asked) {
        for await (const block of api.blockBranch(...asked)) {
          heights.push(block.header.height);
          yield block;
        }
      },
    };
    const limits = { ...SEARCH_LIMITS, searched: 200n };
    const step1 = { ...query(100), what: 'step 1' } as const;
    const { found, block } = await findCommand(noting, branch, step1, {}, NEVER, limits);
    expect([found, block.height]).toEqual([undefined, HEIGHT]);
    expect(given.headers).toBe(1000 - 95 + 1);
    expect(given.blocks).toBeLessThanOrEqual(200);
    const [low, high] = [heights.filter((height) => height < 500n), heights.filter((height) => height >= 500n)];
    expect([low.toSorted(ascending)[0], low.length > 50, high.toSorted(ascending).at(-1), high.length]).toEqual([
      95n,
      true,
      HEIGHT,
      100,
    ]);
    // That no block has a command is an important result, so all blocks are read or none.
    given.blocks = 0;
    await expect(findCommand(api, branch, query(100), {}, NEVER, limits)).rejects.toThrow('in more than 200 blocks');
    expect(given.blocks).toBe(0);
  });
});

const ascending = (one: bigint, other: bigint) => Number(one - other);
