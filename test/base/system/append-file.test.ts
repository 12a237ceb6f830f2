import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AppendFile, type AppendFileOptions } from '#pickaxe/base/system/append-file.js';
import { VirtualTime } from '../../simulation/virtual-time.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A disk that accepts each write as a whole, in part, or not at all. */
class Disk {
  text = '';
  pieces: string[] = [];
  tries = 0;
  news: (string | undefined)[] = [];
  takes: number | Error | 'hangs' = Number.POSITIVE_INFINITY;

  readonly append = async (piece: Buffer): Promise<number> => {
    this.tries++;
    if (this.takes instanceof Error) throw this.takes;
    if (this.takes === 'hangs') return new Promise(() => {});
    const taken = piece.subarray(0, this.takes).toString();
    this.text += taken;
    this.pieces.push(taken);
    return taken.length;
  };

  file(more: Partial<AppendFileOptions> = {}): AppendFile {
    const changed = (why: string | undefined) => this.news.push(why);
    return new AppendFile({ append: this.append, changed, waitingBytes: 20, againMs: 1_000, ...more });
  }
}

it('lines are collected and written together, up to the length of a piece', async () => {
  const disk = new Disk();
  const file = disk.file({ collectMs: 200, pieceBytes: 6 });
  for (const line of ['a\n', 'b\n', 'c\n', 'longer than a piece\n', 'd\n']) file.add(line);
  await pass(199);
  expect(disk.pieces).toEqual([]);
  await pass(1);
  expect(disk.pieces).toEqual(['a\nb\nc\n', 'longer than a piece\n']);
  expect([file.waiting, file.hasRoom]).toEqual([0, true]);
});

it('lines wait while a disk is full, as far as there is room, and a line that was begun is ended', async () => {
  const disk = new Disk();
  const file = disk.file();
  disk.takes = new Error('ENOSPC');
  expect(['0123456789\n', '0123456789\n', 'too much\n'].map((line) => file.add(line))).toEqual([true, true, false]);
  await pass(3_000);
  expect([disk.news, disk.text, file.waiting]).toEqual([['ENOSPC'], '', 2]);
  disk.takes = 3;
  await pass(1_000);
  expect([disk.news, disk.text]).toEqual([['ENOSPC', undefined], '0123456789\n0123456789\n']);
  expect(file.add('again\n')).toBe(true);
});

it('the end writes what waits, and waits for no disk that hangs', async () => {
  const disk = new Disk();
  const file = disk.file({ collectMs: 60_000 });
  file.add('last\n');
  await file.close(5_000);
  expect(disk.text).toBe('last\n');
  const other = disk.file();
  disk.takes = 'hangs';
  other.add('never\n');
  const closing = other.close(5_000);
  await pass(5_000);
  await closing;
  expect([disk.text, vi.getTimerCount()]).toEqual(['last\n', 0]);
});

it('a disk that refuses the last lines is not tried again after the end', async () => {
  const disk = new Disk();
  disk.takes = new Error('ENOSPC');
  const file = disk.file();
  file.add('lost\n');
  await pass(0);
  expect([disk.tries, vi.getTimerCount()]).toEqual([1, 1]);
  await file.close(5_000);
  expect([disk.tries, vi.getTimerCount(), file.add('late\n')]).toEqual([2, 0, false]);
  await pass(60_000);
  expect([disk.tries, file.waiting]).toEqual([2, 1]);
});

it('the times of a file come from its clock', async () => {
  vi.useRealTimers();
  const time = new VirtualTime();
  const { clock } = time.start('writer');
  const disk = new Disk();
  const file = disk.file({ collectMs: 200, clock });
  file.add('a\n');
  disk.takes = new Error('ENOSPC');
  await time.runUntil(199);
  expect(disk.news).toEqual([]);
  await time.runUntil(200);
  expect(disk.news).toEqual(['ENOSPC']);
  disk.takes = Number.POSITIVE_INFINITY;
  await time.runUntil(1_200);
  expect([disk.news, disk.text]).toEqual([['ENOSPC', undefined], 'a\n']);
});
