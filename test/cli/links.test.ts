/** Lists of blocks in which a node changes the order, repeats blocks or leaves some out. */

import { describe, expect, it } from 'vitest';
import { BlockChecks, BranchLinks, type Links, UpwardLinks } from '#pickaxe/cli/ledger/check-blocks.js';
import type { Block } from '#pickaxe/node/client/blocks.js';
import { blockHash } from '#pickaxe/protocol/ledger/header.js';
import { blockAbove } from './ledger/easy-chain.ts';

const chain = [blockAbove(undefined)];
for (let height = 1; height < 6; height++) chain.push(blockAbove(chain[height - 1].header));
const orphan = blockAbove(chain[2].header, { nonce: 8n });
const hashOf = ({ header }: Block) => blockHash(header);

async function check(blocks: readonly Block[], links: Links) {
  const lines: string[] = [];
  const api = { network: 'development', info: () => Promise.reject(new Error('is not asked')) };
  const checks = new BlockChecks(api, (line) => lines.push(line), links);
  for (const block of blocks) await checks.check(block);
  return { isRight: checks.finish('block'), lines };
}

const right = (count: number) => ({
  isRight: true,
  lines: [`${count} blocks verified: links, proof of work, neighbours, weights, payloads, rewards`],
});
const wrong = (why: RegExp, blocks = '1 block') => ({
  isRight: false,
  lines: expect.arrayContaining([expect.stringMatching(why), `error: wrong in ${blocks}: links`]),
});

describe('blocks of a stretch of heights', () => {
  const upwards = (...blocks: Block[]) => check(blocks, new UpwardLinks());

  it('are right when they ascend without holes, orphans beside them, from any height on', async () => {
    expect(await upwards(...chain.slice(0, 4), orphan, ...chain.slice(4))).toEqual(right(7));
    expect(await upwards(orphan, ...chain.slice(3))).toEqual(right(4));
  });

  it.each([
    ['reversed', chain.toReversed(), /it follows a block of height 5/, '5 blocks'],
    ['doubled', chain.flatMap((each) => [each, each]), /it is there twice/, '6 blocks'],
    [
      'with a hole',
      chain.filter((each) => each !== chain[3]),
      /of height 4: it follows a block of height 2/,
      '1 block',
    ],
    ['repeated from the start', [...chain, ...chain], /of height 0: it follows a block of height 5/, '1 block'],
    [
      'of which one is replaced by its sibling',
      chain.map((each, i) => (i === 3 ? orphan : each)),
      /of height 4: its parent is not among the blocks/,
      '1 block',
    ],
  ] as const)('are wrong when they are %s', async (_, blocks, why, many) => {
    expect(await upwards(...blocks)).toEqual(wrong(why, many));
  });
});

describe('a branch', () => {
  const upper = [hashOf(chain[5])];
  const downwards = chain.toReversed();
  const branch = (blocks: readonly Block[], bounds = upper, maxHeight?: bigint) =>
    check(blocks, new BranchLinks(bounds, maxHeight));

  it('is right when it begins with the upper bound and goes on with each parent', async () => {
    expect(await branch(downwards)).toEqual(right(6));
    const both = [chain[4], chain[3], orphan, ...downwards.slice(3)];
    expect(await branch(both, [hashOf(chain[4]), hashOf(orphan)])).toEqual(right(6));
  });

  it.each([
    ['begins below the upper bound', downwards.slice(1)],
    ['has a hole', downwards.filter((each) => each !== chain[2])],
    ['has a block that is on another branch', downwards.toSpliced(2, 1, orphan)],
    ['has a block twice', downwards.flatMap((each, i) => (i === 2 ? [each, each] : [each]))],
  ])('is wrong when it %s', async (_, blocks) => {
    expect((await branch(blocks)).lines.join('\n')).toMatch(
      /neither an upper bound nor the parent of a block before it/,
    );
    expect((await branch(blocks)).isRight).toBe(false);
  });

  it('is wrong when it goes upwards', async () => {
    expect(await branch(chain)).toEqual(wrong(/it is neither an upper bound|it follows a block/, '6 blocks'));
  });

  it('that is cut off above is right, and it is said that it is not shown to belong to the upper bound', async () => {
    const cut = await branch(downwards.slice(2), upper, 3n);
    expect(cut).toEqual({
      isRight: true,
      lines: [
        right(4).lines[0],
        expect.stringMatching(/^It is not shown that these are ancestors of --upper: .*--max-height/),
      ],
    });
    expect((await branch(downwards.slice(3), upper, 3n)).isRight).toBe(false);
  });
});
