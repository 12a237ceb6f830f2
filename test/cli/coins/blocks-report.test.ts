import { expect, it } from 'vitest';
import { blocksCsv, totalLines } from '#pickaxe/cli/coins/blocks.js';
import { totalsOf } from '#pickaxe/node/blocks/block-index.js';
import { madeBlock, madeHeader } from '../../node/blocks/pretend.ts';

/** @returns the cells of a column */
function column(csv: string, name: string): string[] {
  const [names, ...rows] = csv
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  return rows.map((row) => row[names.indexOf(name)]);
}

it.each(['=1+1', '+1', '-1+cmd|/C calc!A0', '@SUM(1)', '\t=1'])(
  'no spreadsheet runs %j, the name of a worker',
  (name) => {
    const csv = blocksCsv([madeBlock(madeHeader(1, 1n), { device: name })]);
    expect(column(csv, 'device')).toEqual([`'${name}`]);
  },
);

it('hashes stay as they are, also those that begin like a formula', () => {
  const blocks = Array.from({ length: 200 }, (_, nonce) => madeBlock(madeHeader(1, 1n, BigInt(nonce))));
  const hashes = blocks.map(({ hash }) => hash);
  expect(hashes.some((hash) => hash.startsWith('-'))).toBe(true);
  expect(column(blocksCsv(blocks), 'blockHash')).toEqual(hashes);
});

it('latency is told also before luck is known', () => {
  const block = madeBlock(madeHeader(1, 1n), { expectedBlocks: 0.1, switchSeconds: 0.014 });
  expect(totalLines(totalsOf([block])).at(-1)).toBe('median time from a New Cut to new work 14 ms');
  expect(totalLines(totalsOf([block], 1)).at(-1)).toMatch(/^luck 91 %, median time from a New Cut to new work 14 ms$/);
});
