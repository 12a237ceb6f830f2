/** When the share ledger writes, and how much waits for its disk, with the limits that it really has. */

import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Ledger } from '#pickaxe/miner/relay/stratum/share-log.js';

/** A ledger on a clock that the test moves, whose file takes what the test allows. */
function written() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const disk = { isFull: false, bytes: 0, writes: 0, lines: [] as string[] };
  const warnings: string[] = [];
  const write = async (bytes: Buffer) => {
    disk.writes++;
    if (disk.isFull) throw new Error('ENOSPC');
    disk.bytes += bytes.length;
    disk.lines.push(...bytes.toString().split('\n').slice(0, -1));
    return bytes.length;
  };
  const close = async () => {};
  const clock = { ...systemClock, nowUs: () => 1_000_000n };
  const ledger = new Ledger({ write, close }, { clock, warn: (line) => void warnings.push(line) });
  /** Adds a line of so many bytes, of which no more than 200 are needed. */
  const record = (bytes: number) => {
    const entry = { type: 'left-out', worker: '', lines: 1, accepted: 0, blocks: 0, acceptedHashes: 0 } as const;
    const least = JSON.stringify({ ...entry, timeMillis: 1_000 }).length + 1;
    ledger.record({ ...entry, worker: 'x'.repeat(bytes - least) });
  };
  const types = () => disk.lines.map((line) => JSON.parse(line).type);
  return { ledger, disk, warnings, record, types };
}

it('the lines of 200 ms are written together', async () => {
  const { disk, record } = written();
  for (const round of [1, 2]) {
    record(200);
    await vi.advanceTimersByTimeAsync(199);
    record(200);
    expect([round, disk.writes]).toEqual([round, round - 1]);
    await vi.advanceTimersByTimeAsync(1);
    expect([disk.writes, disk.lines.length]).toEqual([round, 2 * round]);
  }
});

it('lines that a full disk has not taken are written again each five seconds, and that is said once', async () => {
  const { disk, warnings, record } = written();
  disk.isFull = true;
  record(200);
  await vi.advanceTimersByTimeAsync(200);
  for (const writes of [1, 2, 3]) {
    expect(disk.writes).toBe(writes);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(disk.writes).toBe(writes);
    await vi.advanceTimersByTimeAsync(1);
  }
  const fails = 'the share ledger cannot be written (ENOSPC); lines are kept as far as memory allows';
  expect(warnings).toEqual([fails]);
  disk.isFull = false;
  await vi.advanceTimersByTimeAsync(5_000);
  expect([disk.lines.length, warnings]).toEqual([1, [fails, 'the share ledger can be written again']]);
  disk.isFull = true;
  record(200);
  await vi.advanceTimersByTimeAsync(200);
  expect(warnings.slice(2)).toEqual([fails]);
});

it.each([
  { what: 'one byte less', last: 2 ** 20 - 1, lost: false },
  { what: 'all of them', last: 2 ** 20, lost: true },
])('8 MiB of lines may wait for the disk: $what', async ({ last, lost }) => {
  const { ledger, disk, record, types } = written();
  for (let count = 1; count <= 7; count++) record(2 ** 20);
  record(last);
  record(200);
  await ledger.close();
  expect(disk.bytes).toBeGreaterThan(8 * 2 ** 20 - 2);
  expect(types()).toEqual([...Array(8).fill('left-out'), lost ? 'lost' : 'left-out']);
});
