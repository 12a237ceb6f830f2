import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { blocksCsv, totalLines } from '#pickaxe/cli/coins/blocks.js';
import { totalsOf } from '#pickaxe/node/blocks/block-index.js';
import { type Line, writeLine } from '#pickaxe/node/blocks/block-lines.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { madeBlock, madeHeader, madeRecord } from '../../node/blocks/pretend.ts';
import { pickaxe } from '../in-process.ts';

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

it.each([
  [{}, []],
  [{ notFollowed: 2 }, ['beside these, 2 accepted blocks came too fast to be followed']],
  [{ unanswered: 1 }, ['beside these, the answer was lost: 1 unanswered, 0 lost']],
  [{ lost: 1 }, ['beside these, the answer was lost: 0 unanswered, 1 lost']],
  [{ paidElsewhere: 1 }, ['won and paid to another account than yours, which earned nothing: 1']],
])('the totals have a line for what there was: %j', (more, lines) => {
  const [first, ...rest] = totalLines({ ...totalsOf([]), ...more });
  expect(first).toBe('0 accepted = 0 won (0 settled) + 0 orphaned + 0 pending');
  expect(rest).toEqual([...lines, 'earned 0.0 coins']);
});

it('rewards that are not proven are not earned yet', () => {
  expect(totalLines({ ...totalsOf([]), unproven: 1 })).toContain(
    'earned 0.0 coins, and 1 rewards that are not proven yet',
  );
});

const winner = 'w'.repeat(43);
/** The lines of blocks of every kind, of one time. */
const LINES: Line[] = (
  [
    [1, { standing: { state: 'settled', depth: 700, nodesDisagree: false } }, '0.9'],
    [2, { standing: { state: 'orphaned', depth: 7, nodesDisagree: false, winner } }],
    [3, { standing: { state: 'won', depth: 7, nodesDisagree: true }, switchSeconds: 0.014 }],
    [
      4,
      { standing: { state: 'won', depth: 9, nodesDisagree: false }, device: 'asic', isRelay: true },
      '0.8',
      'k:thief',
    ],
    [5, { standing: { state: 'pending', depth: 1, nodesDisagree: false }, isAnswered: false }],
    [6, { standing: { state: 'lost', depth: 0, nodesDisagree: false }, isAnswered: false }],
  ] as const
).flatMap(([height, { standing, ...more }, reward, account = 'k:me']): Line[] => {
  const record = madeRecord(madeHeader(3, BigInt(height)), more);
  const { hash } = record;
  const paid = { account, reward: parseDecimal(reward ?? '0.0'), fees: parseDecimal('0.05') };
  return [
    { type: 'found', record },
    { type: 'state', hash, atMs: record.foundMs + 60_000, standing },
    ...(reward === undefined ? [] : [{ type: 'reward', hash, reward: paid } as const]),
    ...(height === 3 ? [{ type: 'reward-fault', hash, fault: 'a wrong root' } as const] : []),
  ];
});

/** @returns what `pickaxe blocks` prints about a log of these lines, with the headers and hashes left out */
async function shown(lines: readonly Line[], ...args: string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'blocks.jsonl'), lines.map(writeLine).join(''));
  const csv = args.includes('--csv') ? [join(folder, 'blocks.csv')] : [];
  const { stdout, stderr } = await pickaxe('blocks', '--block-log-folder', folder, ...args, ...csv);
  const text = csv.length > 0 ? readFileSync(csv[0], 'utf8') : stdout;
  return `${stderr}${text}`.replace(/[\w-]{382}/g, 'HEADER').replace(/(?<![\w-])(?!w{43})[\w-]{43}(?![\w-])/g, 'HASH');
}

it('blocks of every kind are shown, as a table, as JSON and as values', async () => {
  const all: Line[] = [...LINES, { type: 'not-followed', own: 2, relayed: 1, unanswered: 0 }];
  expect(await shown(all)).toMatchInlineSnapshot(`
    "found                chain  height  state     earned  by
    2023-11-14 22:13:20  3      1       settled   0.95    gpu0
    2023-11-14 22:13:20  3      2       orphaned          gpu0  the block wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww has its place
    2023-11-14 22:13:20  3      3       won               gpu0  nodes disagree about it; a wrong root
    2023-11-14 22:13:20  3      4       won               asic  it pays k:thief
    2023-11-14 22:13:20  3      5       pending           gpu0
    2023-11-14 22:13:20  3      6       lost              gpu0  another block has its place, no node that was asked has kept ours, and none has said that it took it

    5 accepted = 3 won (1 settled) + 1 orphaned + 1 pending, orphan rate 25.0 %
    beside these, 3 accepted blocks came too fast to be followed
    beside these, the answer was lost: 0 unanswered, 1 lost
    won and paid to another account than yours, which earned nothing: 1
    earned 0.95 coins, and 1 rewards that are not proven yet
    luck 100 %, median time from a New Cut to new work 14 ms"
  `);
  expect(JSON.parse(await shown(all, '--json'))).toMatchInlineSnapshot(`
    {
      "blocks": [
        {
          "account": "k:me",
          "answerSeconds": 0.02,
          "blockHash": "HASH",
          "chain": 3,
          "depth": 700,
          "device": "gpu0",
          "difficulty": 1000000000000000,
          "expectedBlocks": 1,
          "fault": null,
          "fees": "0.05",
          "foundTimeMillis": 1700000000000,
          "header": "HEADER",
          "height": 1,
          "isAnswered": true,
          "isRelay": false,
          "network": "mainnet01",
          "nodesDisagree": false,
          "paidTo": null,
          "reward": "0.9",
          "source": "http://one",
          "state": "settled",
          "stateTimeMillis": 1700000060000,
          "switchSeconds": null,
        },
        {
          "account": "k:me",
          "answerSeconds": 0.02,
          "blockHash": "HASH",
          "chain": 3,
          "depth": 7,
          "device": "gpu0",
          "difficulty": 1000000000000000,
          "expectedBlocks": 1,
          "fault": null,
          "fees": null,
          "foundTimeMillis": 1700000000000,
          "header": "HEADER",
          "height": 2,
          "isAnswered": true,
          "isRelay": false,
          "network": "mainnet01",
          "nodesDisagree": false,
          "paidTo": null,
          "reward": null,
          "source": "http://one",
          "state": "orphaned",
          "stateTimeMillis": 1700000060000,
          "switchSeconds": null,
        },
        {
          "account": "k:me",
          "answerSeconds": 0.02,
          "blockHash": "HASH",
          "chain": 3,
          "depth": 7,
          "device": "gpu0",
          "difficulty": 1000000000000000,
          "expectedBlocks": 1,
          "fault": "a wrong root",
          "fees": null,
          "foundTimeMillis": 1700000000000,
          "header": "HEADER",
          "height": 3,
          "isAnswered": true,
          "isRelay": false,
          "network": "mainnet01",
          "nodesDisagree": true,
          "paidTo": null,
          "reward": null,
          "source": "http://one",
          "state": "won",
          "stateTimeMillis": 1700000060000,
          "switchSeconds": 0.014,
        },
        {
          "account": "k:me",
          "answerSeconds": 0.02,
          "blockHash": "HASH",
          "chain": 3,
          "depth": 9,
          "device": "asic",
          "difficulty": 1000000000000000,
          "expectedBlocks": 1,
          "fault": null,
          "fees": null,
          "foundTimeMillis": 1700000000000,
          "header": "HEADER",
          "height": 4,
          "isAnswered": true,
          "isRelay": true,
          "network": "mainnet01",
          "nodesDisagree": false,
          "paidTo": "k:thief",
          "reward": null,
          "source": "http://one",
          "state": "won",
          "stateTimeMillis": 1700000060000,
          "switchSeconds": null,
        },
        {
          "account": "k:me",
          "answerSeconds": 0.02,
          "blockHash": "HASH",
          "chain": 3,
          "depth": 1,
          "device": "gpu0",
          "difficulty": 1000000000000000,
          "expectedBlocks": 1,
          "fault": null,
          "fees": null,
          "foundTimeMillis": 1700000000000,
          "header": "HEADER",
          "height": 5,
          "isAnswered": false,
          "isRelay": false,
          "network": "mainnet01",
          "nodesDisagree": false,
          "paidTo": null,
          "reward": null,
          "source": "http://one",
          "state": "pending",
          "stateTimeMillis": 1700000060000,
          "switchSeconds": null,
        },
        {
          "account": "k:me",
          "answerSeconds": 0.02,
          "blockHash": "HASH",
          "chain": 3,
          "depth": 0,
          "device": "gpu0",
          "difficulty": 1000000000000000,
          "expectedBlocks": 1,
          "fault": null,
          "fees": null,
          "foundTimeMillis": 1700000000000,
          "header": "HEADER",
          "height": 6,
          "isAnswered": false,
          "isRelay": false,
          "network": "mainnet01",
          "nodesDisagree": false,
          "paidTo": null,
          "reward": null,
          "source": "http://one",
          "state": "lost",
          "stateTimeMillis": 1700000060000,
          "switchSeconds": null,
        },
      ],
      "totals": {
        "accepted": 5,
        "earned": "0.95",
        "lost": 1,
        "luckRatio": 1,
        "notFollowed": 3,
        "orphaned": 1,
        "orphanedRatio": 0.25,
        "paidElsewhere": 1,
        "pending": 1,
        "settled": 1,
        "switchSeconds": 0.014,
        "unanswered": 0,
        "unproven": 1,
        "won": 3,
      },
    }
  `);
  expect(await shown(all, '--csv')).toMatchInlineSnapshot(`
    "chain,height,blockHash,device,isRelay,state,stateTimeMillis,depth,nodesDisagree,foundTimeMillis,network,source,isAnswered,account,difficulty,expectedBlocks,answerSeconds,switchSeconds,reward,fees,paidTo,fault,header
    3,1,HASH,gpu0,false,settled,1700000060000,700,false,1700000000000,mainnet01,http://one,true,k:me,1000000000000000,1,0.02,,0.9,0.05,,,HEADER
    3,2,HASH,gpu0,false,orphaned,1700000060000,7,false,1700000000000,mainnet01,http://one,true,k:me,1000000000000000,1,0.02,,,,,,HEADER
    3,3,HASH,gpu0,false,won,1700000060000,7,true,1700000000000,mainnet01,http://one,true,k:me,1000000000000000,1,0.02,0.014,,,,a wrong root,HEADER
    3,4,HASH,asic,true,won,1700000060000,9,false,1700000000000,mainnet01,http://one,true,k:me,1000000000000000,1,0.02,,,,k:thief,,HEADER
    3,5,HASH,gpu0,false,pending,1700000060000,1,false,1700000000000,mainnet01,http://one,false,k:me,1000000000000000,1,0.02,,,,,,HEADER
    3,6,HASH,gpu0,false,lost,1700000060000,0,false,1700000000000,mainnet01,http://one,false,k:me,1000000000000000,1,0.02,,,,,,HEADER
    "
  `);
});

it('sums say nothing of what there is not', async () => {
  expect(await shown(LINES.slice(0, 3))).toMatchInlineSnapshot(`
    "found                chain  height  state    earned  by
    2023-11-14 22:13:20  3      1       settled  0.95    gpu0

    1 accepted = 1 won (1 settled) + 0 orphaned + 0 pending, orphan rate 0.0 %
    earned 0.95 coins
    luck 100 %"
  `);
  expect(JSON.parse(await shown(LINES, '--status', 'pending', '--json')).totals).toMatchInlineSnapshot(`
    {
      "accepted": 1,
      "earned": "0.0",
      "lost": 0,
      "luckRatio": 1,
      "notFollowed": 0,
      "orphaned": 0,
      "orphanedRatio": null,
      "paidElsewhere": 0,
      "pending": 1,
      "settled": 0,
      "switchSeconds": null,
      "unanswered": 0,
      "unproven": 0,
      "won": 0,
    }
  `);
});
