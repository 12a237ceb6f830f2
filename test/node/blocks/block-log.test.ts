import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { openPrivate } from '#pickaxe/base/system/files.js';
import { readLine, writeLine } from '#pickaxe/node/blocks/block-lines.js';
import { BlockStore, type StoreFile, type StoreOptions } from '#pickaxe/node/blocks/block-log.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { PATIENCE } from '../../patience.ts';
import { madeHeader, madeRecord } from './pretend.ts';

let folder: string;
let path: string;
const warnings: string[] = [];
const stores: BlockStore[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pickaxe-'));
  path = join(folder, 'blocks.jsonl');
});
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  warnings.length = 0;
  rmSync(folder, { recursive: true, force: true });
});

function open(options: Partial<StoreOptions> = {}): BlockStore {
  const store = new BlockStore({ folder, warn: (line) => warnings.push(line), ...options });
  stores.push(store);
  return store;
}

const recordAt = (height: number) => madeRecord(madeHeader(3, BigInt(height)));
const found = (height: number) => ({ type: 'found', record: recordAt(height) }) as const;
const WON = { state: 'won', depth: 2, nodesDisagree: false } as const;

/** Reads the file as another process would. */
async function reread(): Promise<BlockStore> {
  const store = open();
  await store.refresh();
  return store;
}

describe('the block log', () => {
  it('keeps all that is known of a block', async () => {
    const store = open();
    const record = madeRecord(madeHeader(3, 42n), { switchSeconds: 0.004 });
    const { hash } = record;
    store.add({ type: 'found', record });
    store.add({ type: 'state', hash, atMs: 1_700_000_060_000, standing: WON });
    store.add({ type: 'reward-fault', hash, fault: 'http://one: false' });
    const reward = { account: 'k:me', reward: parseDecimal('0.98123'), fees: parseDecimal('1e-12') };
    store.add({ type: 'reward', hash, reward });
    store.add({ type: 'searched', expectedBlocks: 0.25 });
    await store.close();
    const again = await reread();
    const known = { ...record, standing: WON, sinceMs: 1_700_000_060_000, reward, rewardFault: 'http://one: false' };
    expect([...again.blocks]).toEqual([known]);
    expect(again.searchedExpectedBlocks).toBe(0.25);
    expect(warnings).toEqual([]);
  });

  it('keeps the beginning of texts of any length that come from nodes', async () => {
    const store = open();
    const { hash } = recordAt(1);
    store.add(found(1));
    store.add({ type: 'reward-fault', hash, fault: 'f'.repeat(2_000) });
    const account = 'a'.repeat(2_000);
    store.add({ type: 'reward', hash, reward: { account, reward: parseDecimal('1'), fees: 0n } });
    await store.close();
    const [block] = (await reread()).blocks;
    expect(block).toMatchObject({ rewardFault: 'f'.repeat(300), paidElsewhere: { account: 'a'.repeat(1_000) } });
    expect(warnings).toEqual([]);
  });

  it.skipIf(process.platform === 'win32')(
    'is a file that only its owner can read, in a folder of the same kind',
    async () => {
      const inner = join(folder, 'made', 'when needed');
      const store = open({ folder: inner });
      await store.refresh();
      expect(() => statSync(inner)).toThrow();
      store.add(found(1));
      await store.close();
      expect(statSync(join(inner, 'blocks.jsonl')).mode & 0o777).toBe(0o600);
      expect(statSync(inner).mode & 0o777).toBe(0o700);
    },
  );

  it('keeps that the answer to a block was lost, and takes blocks of older lines for accepted ones', async () => {
    const record = madeRecord(madeHeader(3, 42n), { isAnswered: false });
    const { isAnswered: _, ...older } = JSON.parse(writeLine(found(1)));
    writeFileSync(path, `${writeLine({ type: 'found', record })}${JSON.stringify(older)}\n`);
    expect([...(await reread()).blocks]).toMatchObject([
      { isAnswered: false, standing: { state: 'unanswered' } },
      { isAnswered: true, standing: { state: 'pending' } },
    ]);
  });

  it('knows since when a block is in its state, however often that is written', async () => {
    const store = open();
    store.add(found(1));
    const { hash } = recordAt(1);
    for (const [atMs, depth] of [
      [5, 1],
      [9, 120],
    ]) {
      store.add({ type: 'state', hash, atMs, standing: { ...WON, depth } });
    }
    expect(store.block(hash)).toMatchObject({ sinceMs: 5, standing: { depth: 120 } });
  });

  it('skips a torn line and says so once, and what is written next begins a line of its own', async () => {
    const store = open();
    for (const height of [1, 2]) store.add(found(height));
    await store.close();
    truncateSync(path, statSync(path).size - 20);
    const again = await reread();
    expect([...again.blocks]).toMatchObject([{ height: 1n }]);
    expect(warnings).toEqual([]);
    again.add(found(3));
    await again.refresh();
    await again.refresh();
    expect([...again.blocks]).toMatchObject([{ height: 1n }, { height: 3n }]);
    expect(warnings).toEqual([expect.stringMatching(/^1 line of .* cannot be read, perhaps torn by a crash/)]);
    expect([...(await reread()).blocks]).toHaveLength(2);
  });

  it('skips what it does not understand', async () => {
    const store = open();
    store.add(found(1));
    await store.close();
    const line = writeLine(found(2));
    const wrong = [
      '{"type":"weather","sunny":true}',
      '{"type":"toString"}',
      '[]',
      'null',
      '7',
      '',
      '{"type":"found"}',
      line.trim().replace('"chain":3', '"chain":-3'),
      line.trim().replace(/"header":"...."?/, '"header":"'),
      line.trim().replace('"timeMillis"', '"time"'),
      '{"type":"state","hash":"x","timeMillis":1,"state":"won","depth":1,"nodesDisagree":false}',
    ];
    appendFileSync(path, `${wrong.join('\n')}\n${writeLine(found(4))}`);
    expect([...(await reread()).blocks]).toMatchObject([{ height: 1n }, { height: 4n }]);
    expect(warnings).toEqual([expect.stringMatching(/^10 lines of /)]);
    expect(readLine(line)).toEqual(found(2));
  });

  it('reads on where it has ended, also when lines are longer than what is read at once', async () => {
    const store = open();
    const reader = open();
    for (let height = 1; height <= 2_000; height++) store.add(found(height));
    await store.close();
    expect(statSync(path).size).toBeGreaterThan(1024 ** 2);
    await reader.refresh();
    expect(reader.size).toBe(2_000);
    writeFileSync(path, writeLine(found(9_999)));
    await reader.refresh();
    expect(reader.size).toBe(2_001);
  });

  it('counts sums once, also when a shorter file takes its place', async () => {
    const searched = writeLine({ type: 'searched', expectedBlocks: 0.25 });
    const notFollowed = writeLine({ type: 'not-followed', own: 1, relayed: 2, unanswered: 3 });
    writeFileSync(path, writeLine(found(1)) + searched + notFollowed);
    const reader = await reread();
    writeFileSync(path, searched + notFollowed);
    await reader.refresh();
    expect(reader.searchedExpectedBlocks).toBe(0.25);
    expect(reader.notFollowed).toEqual({ own: 1, relayed: 2, unanswered: 3 });
  });

  it('says once that it cannot be read', async () => {
    const store = open({ folder: join(path, 'inner') });
    writeFileSync(path, 'a file where a folder should be');
    await store.refresh();
    await store.refresh();
    expect(warnings).toEqual([expect.stringContaining('cannot be read')]);
  });
});

/** A file on a disk that is full until the test empties it. It accepts half of a write before the error. */
function fullDisk() {
  const disk = { isFull: true, writes: 0 };
  const openFile = async (file: string): Promise<StoreFile> => {
    const real = await openPrivate(file, true);
    return {
      stat: real.stat.bind(real) as StoreFile['stat'],
      read: real.read.bind(real) as StoreFile['read'],
      datasync: () => real.datasync(),
      close: () => real.close(),
      appendFile: async (text) => {
        disk.writes++;
        if (!disk.isFull) return await real.appendFile(text);
        await real.appendFile(`${text}`.slice(0, 100));
        throw new Error('ENOSPC: no space left on device');
      },
    };
  };
  return { disk, openFile };
}

test('a full disk is said once and stops nothing; the lines are written once there is room', async () => {
  const { disk, openFile } = fullDisk();
  const store = open({ openFile, againMs: 5 });
  store.add(found(1));
  await vi.waitFor(() => expect(warnings).toHaveLength(1), PATIENCE);
  store.add(found(2));
  // The second write ends the line that the first one has torn.
  await vi.waitFor(() => expect(disk.writes).toBeGreaterThan(2), PATIENCE);
  await store.refresh();
  const said = [expect.stringMatching(/cannot be written \(ENOSPC.*mining goes on/), expect.anything()];
  await vi.waitFor(() => expect(warnings).toEqual(said), PATIENCE);
  expect(store.size).toBe(2);
  disk.isFull = false;
  await vi.waitFor(() => expect(warnings.at(-1)).toBe('the block log can be written again'), PATIENCE);
  await store.close();
  expect([...(await reread()).blocks]).toMatchObject([{ height: 1n }, { height: 2n }]);
});

test('what is written is on the disk before the file is closed, once for each writing', async () => {
  const calls: string[] = [];
  const openFile = async (file: string): Promise<StoreFile> => {
    const real = await openPrivate(file, true);
    return {
      stat: real.stat.bind(real) as StoreFile['stat'],
      read: real.read.bind(real) as StoreFile['read'],
      appendFile: async (text) => {
        calls.push('append');
        await real.appendFile(text);
      },
      datasync: async () => {
        calls.push('sync');
        await real.datasync();
      },
      close: async () => {
        calls.push('close');
        await real.close();
      },
    };
  };
  const store = open({ openFile });
  for (const height of [1, 2]) {
    store.add(found(height));
    await store.refresh();
  }
  expect(calls).toEqual(['append', 'sync', 'close', 'append', 'sync', 'close']);
});

test('a disk that refuses for long is warned of once, and only so many lines wait in memory', async () => {
  const openFile = async (): Promise<StoreFile> => {
    throw new Error('EIO: the disk is gone');
  };
  const store = open({ openFile, againMs: 1 });
  const line = { ...found(1), type: 'reward-fault', hash: recordAt(1).hash, fault: 'false' } as const;
  for (let i = 0; i < 40_000; i++) store.add(line);
  // Several attempts fail meanwhile.
  for (let i = 0; i < 5; i++) {
    await store.refresh();
    store.add(line);
  }
  await store.close();
  expect(warnings).toEqual([
    expect.stringMatching(/cannot be written \(EIO/),
    expect.stringMatching(/^\d{5} lines of the block log were not written$/),
    expect.stringMatching(/^\d+ lines of the block log were dropped, because too many waited for the disk$/),
  ]);
  const [waiting, dropped] = warnings.slice(1).map((text) => Number.parseInt(text, 10));
  expect(waiting).toBeLessThan(40_000);
  expect(waiting + dropped).toBe(40_005);
});

test('lines that a full disk has not taken to the end are said to be lost', async () => {
  const { openFile } = fullDisk();
  const store = open({ openFile });
  for (const height of [1, 2]) store.add(found(height));
  await store.close();
  expect(warnings.at(-1)).toBe('2 lines of the block log were not written');
});
