import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { BlocksReport } from '#pickaxe/cli/coins/blocks.js';
import { type Line, writeLine } from '#pickaxe/node/blocks/block-lines.js';
import type { BlockState } from '#pickaxe/node/blocks/fate.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { encodeHeader } from '#pickaxe/protocol/ledger/header.js';
import { expectShape } from '../../expect-shape.ts';
import { fastClock } from '../../fast-clock.ts';
import { MockNode } from '../../mock-node/node.ts';
import { madeHeader, madeRecord } from '../../node/blocks/pretend.ts';
import { PATIENCE } from '../../patience.ts';
import { pickaxe, pickaxeIn } from '../in-process.ts';
import type { Given } from '../pretended-io.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pickaxe-'));
  file = join(folder, 'blocks.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const DAY_MS = 86_400_000;

function linesOf(height: number, state: BlockState, ageDays: number, more: readonly Line[] = []): Line[] {
  const record = madeRecord(madeHeader(3, BigInt(height)), {
    foundMs: Date.now() - ageDays * DAY_MS,
    node: 'http://1',
  });
  const { hash } = record;
  const winner = state === 'orphaned' ? { winner: 'w'.repeat(43) } : {};
  const standing = { state, depth: 7, nodesDisagree: false, ...winner };
  const reward = { account: 'k:me', reward: parseDecimal('0.9'), fees: parseDecimal('0.05') };
  return [
    { type: 'found', record },
    { type: 'state', hash, atMs: record.foundMs + 60_000, standing },
    ...(state === 'settled' ? ([{ type: 'reward', hash, reward }] as const) : []),
    ...more,
  ];
}

const write = (...lines: Line[]) => writeFileSync(file, lines.map(writeLine).join(''), { flag: 'a' });

function writeThree(): void {
  write(...linesOf(1, 'settled', 20.0001), ...linesOf(2, 'orphaned', 5), ...linesOf(3, 'pending', 1));
  write({ type: 'searched', expectedBlocks: 1 });
}

const run = (...args: string[]) => pickaxe('blocks', '--block-log-folder', folder, ...args);

const hashOf = (height: number) => madeRecord(madeHeader(3, BigInt(height))).hash;

/** Runs `pickaxe blocks --watch`, whose lines `line` waits for. */
function watch(...args: string[]) {
  const stop = new AbortController();
  const printed = { stdout: '', stderr: '' };
  const given: Given = { clock: fastClock(), stop: stop.signal, printed };
  const ended = pickaxeIn(folder, ['blocks', '--block-log-folder', folder, '--watch', ...args], {}, given);
  const end = () => {
    stop.abort();
    return ended;
  };
  onTestFinished(async () => void (await end()));
  return {
    end,
    line: (index: number) =>
      vi.waitFor(() => {
        const lines = printed.stdout.split('\n').slice(0, -1);
        expect(lines.length).toBeGreaterThan(index);
        return lines[index];
      }, PATIENCE),
  };
}

describe('pickaxe blocks', () => {
  it('prints a table and what it adds up to', async () => {
    writeThree();
    const { code, stdout } = await run();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^found +chain +height +state +earned +by$/m);
    expect(stdout).toMatch(/ 3 +1 +settled +0\.95 +gpu0$/m);
    expect(stdout).toMatch(/ 3 +2 +orphaned +gpu0 +the block w{43} has its place$/m);
    expect(stdout).toContain('3 accepted = 1 won (1 settled) + 1 orphaned + 1 pending, orphan rate 50.0 %');
    expect(stdout).toContain('earned 0.95 coins');
    expect(stdout).toContain('luck 75 %');
  });

  it('counts blocks whose answer was lost beside the others', async () => {
    writeThree();
    write(...linesOf(4, 'lost', 1), ...linesOf(5, 'unanswered', 1));
    const { stdout } = await run();
    expect(stdout).toContain('3 accepted = 1 won (1 settled) + 1 orphaned + 1 pending, orphan rate 50.0 %');
    expect(stdout).toContain('beside these, the answer was lost: 1 unanswered, 1 lost');
    const { totals } = JSON.parse((await run('--json', '--status', 'lost,unanswered')).stdout);
    expect(totals).toMatchObject({ accepted: 0, unanswered: 1, lost: 1, orphanedRatio: null, luckRatio: 0 });
  });

  it('counts what went to another account apart from what was earned, also in a log of an older version', async () => {
    writeThree();
    const [found, state] = linesOf(6, 'settled', 1);
    const { hash } = (found as Extract<Line, { type: 'found' }>).record;
    const reward = { account: 'k:thief', reward: parseDecimal('7.0'), fees: parseDecimal('0.0') };
    write(found, state, { type: 'reward', hash, reward }, { type: 'not-followed', own: 5, relayed: 1, unanswered: 0 });
    const { stdout } = await run();
    expect(stdout).toMatch(/ 3 +6 +settled +gpu0 +it pays k:thief$/m);
    expect(stdout).toContain('4 accepted = 2 won (2 settled)');
    expect(stdout).toContain('beside these, 6 accepted blocks came too fast to be followed');
    expect(stdout).toContain('won and paid to another account than yours, which earned nothing: 1');
    expect(stdout).toContain('earned 0.95 coins\n');
    const { blocks, totals } = JSON.parse((await run('--json')).stdout);
    expect(totals).toMatchObject({ earned: '0.95', paidElsewhere: 1, notFollowed: 6, unproven: 0 });
    expect(blocks.at(-1)).toMatchObject({ paidTo: 'k:thief', account: 'k:me', reward: null, fees: null });
  });

  it('says where it has looked when there is no block', async () => {
    expect(await run()).toMatchObject({ code: 0, stdout: `There is no block in ${file} yet.` });
  });

  it('prints JSON of a documented shape, of the blocks that are asked for', async () => {
    writeThree();
    const all = JSON.parse((await run('--json')).stdout);
    expectShape(BlocksReport, all);
    expect(all.totals).toMatchObject({ accepted: 3, won: 1, orphaned: 1, pending: 1, earned: '0.95', luckRatio: 0.75 });
    const heights = (text: string) => JSON.parse(text).blocks.map(({ height }: { height: number }) => height);
    expect(heights((await run('--json', '--since', '7d')).stdout)).toEqual([2, 3]);
    expect(heights((await run('--json', '--since', '7d', '--status', 'pending,settled')).stdout)).toEqual([3]);
    // The first one is nine seconds older than 20 days.
    expect(heights((await run('--json', '--since', '20d')).stdout)).toEqual([2, 3]);
  });

  it('adds up coins of one network only', async () => {
    writeThree();
    const elsewhere = madeRecord(madeHeader(3, 9n), { network: 'testnet04' });
    const reward = { account: 'k:me', reward: parseDecimal('7.0'), fees: parseDecimal('0.0') };
    const standing = { state: 'won', depth: 1, nodesDisagree: false } as const;
    const { hash } = elsewhere;
    write({ type: 'found', record: elsewhere }, { type: 'state', hash, atMs: 1, standing });
    write({ type: 'reward', hash, reward });
    expect((await run('--network', 'mainnet01')).stdout).toContain('3 accepted = 1 won (1 settled)');
    expect((await run('--network', 'mainnet01')).stdout).toContain('earned 0.95 coins');
    expect((await run('--network', 'testnet04')).stdout).toContain('earned 7.0 coins');
    const { stdout, stderr } = await run();
    expect(stdout).toContain('4 accepted');
    expect(stderr).toContain('warning: these blocks are of several networks (mainnet01, testnet04)');
    write({ type: 'searched', expectedBlocks: 1 });
    expect((await run('--network', 'mainnet01')).stderr).toBe('');
  });

  it('writes a file for spreadsheets, with quotes where they are needed', async () => {
    writeThree();
    const csv = join(folder, 'blocks.csv');
    expect((await run('--csv', csv)).code).toBe(0);
    const [names, ...rows] = readFileSync(csv, 'utf8').trim().split('\n');
    expect(names.split(',')).toEqual(expect.arrayContaining(['height', 'state', 'reward', 'fees', 'blockHash']));
    expect(rows).toHaveLength(3);
    expect(rows[0]).toContain(',settled,');
  });

  it('prints what changes while it watches, until it is interrupted', async () => {
    writeThree();
    const watching = watch('--json');
    expect(await watching.line(0)).toContain('"accepted":3');
    write(...linesOf(4, 'settled', 0));
    expect(JSON.parse(await watching.line(1))).toMatchObject({ height: 4, state: 'settled', reward: '0.9' });
    const [, , proven] = linesOf(3, 'settled', 1);
    const { hash, reward } = proven as Extract<Line, { type: 'reward' }>;
    write({ type: 'reward', hash, reward: { ...reward, account: 'k:thief' } });
    expect(JSON.parse(await watching.line(2))).toMatchObject({ height: 3, state: 'pending', paidTo: 'k:thief' });
    expect(await watching.end()).toMatchObject({ code: 0, stderr: '' });
  });

  it('prints each change as a line while it watches, of the blocks that are asked for', async () => {
    writeThree();
    const watching = watch('--status', 'settled,won,lost', '--since', '7d');
    expect(await watching.line(3)).toMatch(/^earned 0\.0 coins/);
    write(...linesOf(7, 'pending', 1), ...linesOf(8, 'settled', 8), ...linesOf(4, 'settled', 1));
    expect(await watching.line(4)).toMatch(/^\S+ \S+ {2}3 {2}4 {2}settled {2}0\.95 {2}gpu0$/);
    const [, state] = linesOf(7, 'won', 1);
    write({ ...state, hash: hashOf(7) } as Line);
    expect(await watching.line(5)).toMatch(/ {2}3 {2}7 {2}won {2}gpu0$/);
    write({ ...state, hash: hashOf(7), standing: { state: 'won', depth: 9, nodesDisagree: true } } as Line);
    expect(await watching.line(6)).toMatch(/ {2}3 {2}7 {2}won {2}gpu0 {2}.*disagree/);
    write({ type: 'reward-fault', hash: hashOf(7), fault: 'a wrong root' } as never);
    const { stdout } = await watching.end();
    expect(stdout.split('\n').filter((line) => / 3 {2}8 /.test(line))).toEqual([]);
  });

  it('asks the nodes twice before it prints, if it is told to refresh', async () => {
    const node = new MockNode({ dialect: 'chainweb', chains: 4 });
    onTestFinished(() => node.close());
    const { url } = await node.start();
    const headers: Uint8Array[] = [];
    node.ledger.followBlocks(({ header }) => headers.push(encodeHeader(header)));
    for (let round = 0; round < 3; round++) for (const chain of [0, 1, 2, 3]) node.ledger.advance(chain);
    const record = madeRecord(headers[0], { network: 'development', foundMs: Date.now() });
    write({ type: 'found', record });
    const onNode = ['blocks', '--block-log-folder', folder, '--refresh', '--json', '--node', url];
    const refresh = (...args: string[]) => pickaxeIn(folder, [...onNode, ...args], {}, { clock: fastClock() });
    const { code, stdout, stderr } = await refresh('--network', 'development');
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout).blocks).toMatchObject([{ state: 'won', depth: 2, paidTo: expect.any(String) }]);
    // The log has the state, and the network is asked for where it is not given.
    expect(JSON.parse((await refresh()).stdout).blocks).toMatchObject([{ state: 'won', depth: 2 }]);
    await node.close();
    const later = await refresh('--network', 'development');
    expect([later.code, later.stderr]).toEqual([0, expect.stringContaining(`warning: ${url} cannot be asked: `)]);
  });

  it.each([
    [['--status', 'gone'], 'Give some of: pending, contested'],
    [['--refresh'], 'No node is configured'],
    [['--csv', '/nowhere/blocks.csv'], '--csv /nowhere/blocks.csv cannot be written'],
  ])('refuses %s', async (args, message) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
