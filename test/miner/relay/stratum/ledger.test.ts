import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Ledger, type LedgerEntry, type LedgerFile, LedgerLine } from '#pickaxe/miner/relay/stratum/share-log.js';
import { eventually } from '../../source/follow.ts';

/** A file that can be slow or full. */
class FakeFile implements LedgerFile {
  text = '';
  /** How many bytes it still takes; none at all is an error. */
  room = Number.POSITIVE_INFINITY;
  /** What each write waits for. */
  slow: Promise<void> | undefined;
  writes = 0;
  closed = 0;
  /** What closing waits for. */
  closing: Promise<void> | undefined;

  async write(bytes: Buffer): Promise<number> {
    this.writes++;
    await this.slow;
    if (this.room === 0) throw new Error('ENOSPC: no space left on device');
    const taken = Math.min(bytes.length, this.room);
    this.room -= taken;
    this.text += bytes.subarray(0, taken).toString();
    return taken;
  }

  async close(): Promise<void> {
    this.closed++;
    await this.closing;
  }

  get lines() {
    return this.text
      .split('\n')
      .slice(0, -1)
      .map((line) => LedgerLine.parse(JSON.parse(line)));
  }
}

function ledger(options: { waitingBytes?: number } = {}) {
  const file = new FakeFile();
  const warnings: string[] = [];
  const warn = (line: string) => void warnings.push(line);
  return { file, warnings, ledger: new Ledger(file, { clock: systemClock, warn, againMs: 20, ...options }) };
}

const share = (session: number): LedgerEntry => {
  return {
    type: 'share',
    session,
    worker: 'w',
    result: 'accepted',
    job: '00000001',
    isBlock: false,
    difficulty: 2 ** 40,
  };
};
const numbers = ({ lines }: FakeFile) => lines.flatMap((line) => ('session' in line ? [line.session] : []));

describe('the share ledger', () => {
  it('has the lines in order, several in one write, with the time', async () => {
    const { file, ledger: book } = ledger();
    book.record({ type: 'session', session: 1, nonce1: '0a0b', worker: 'w', agent: '', address: '::1' });
    for (let number = 1; number <= 1_000; number++) book.record(share(number));
    await eventually(() => expect(numbers(file)).toHaveLength(1_001));
    expect(numbers(file)).toEqual([1, ...Array.from({ length: 1_000 }, (_, i) => i + 1)]);
    expect(file.writes).toBeLessThan(10);
    expect(file.lines[0]).toMatchObject({ type: 'session', nonce1: '0a0b', timeMillis: expect.any(Number) });
    await book.close();
    expect(file.closed).toBe(1);
  });

  it('is complete when it is closed', async () => {
    const { file, ledger: book } = ledger();
    book.record(share(1));
    book.record(share(2));
    await book.close();
    expect(numbers(file)).toEqual([1, 2]);
  });

  it('goes on after a full disk without a broken line, and says so once', async () => {
    const { file, warnings, ledger: book } = ledger();
    file.room = 200;
    for (let number = 1; number <= 5; number++) book.record(share(number));
    await eventually(() => expect(file.writes).toBeGreaterThan(4));
    expect(warnings).toEqual([
      'the share ledger cannot be written (ENOSPC: no space left on device); lines are kept as far as memory allows',
    ]);
    file.room = Number.POSITIVE_INFINITY;
    book.record(share(6));
    await eventually(() => expect(numbers(file)).toEqual([1, 2, 3, 4, 5, 6]));
    expect(warnings.slice(1)).toEqual(['the share ledger can be written again']);
    await book.close();
  });

  it('bounds what waits for a slow disk, and tells how many lines are missing, where they are missing', async () => {
    const { file, ledger: book } = ledger({ waitingBytes: 1_000 });
    let go = () => {};
    file.slow = new Promise((resolve) => {
      go = resolve;
    });
    for (let number = 1; number <= 100; number++) book.record(share(number));
    await eventually(() => expect(file.writes).toBe(1));
    go();
    await eventually(() => expect(numbers(file).length).toBeGreaterThan(3));
    const kept = numbers(file).length;
    book.record(share(101));
    await eventually(() => expect(numbers(file)).toHaveLength(kept + 1));
    const { lines } = file;
    expect(lines.at(-2)).toMatchObject({ type: 'lost', lines: 100 - kept });
    expect(lines.at(-1)).toMatchObject({ type: 'share', session: 101 });
    await book.close();
  });

  it('tells of each loss its own number', async () => {
    const { file, ledger: book } = ledger({ waitingBytes: 1_000 });
    const lostLines = () => file.lines.flatMap((line) => (line.type === 'lost' ? [line.lines] : []));
    const lost: number[] = [];
    for (const count of [100, 50]) {
      const before = numbers(file).length;
      for (let number = 1; number <= count; number++) book.record(share(number));
      await eventually(() => expect(numbers(file).length).toBeGreaterThan(before + 3));
      lost.push(count - (numbers(file).length - before));
      book.record(share(1_000));
      await eventually(() => expect(lostLines()).toEqual(lost));
      await eventually(() => expect(numbers(file).at(-1)).toBe(1_000));
    }
    await book.close();
    expect(lostLines()).toEqual(lost);
  });

  it('tells at its end how many lines are missing, also when none came after them', async () => {
    const { file, ledger: book } = ledger({ waitingBytes: 1_000 });
    for (let number = 1; number <= 100; number++) book.record(share(number));
    await book.close();
    const kept = numbers(file).length;
    expect(kept).toBeLessThan(100);
    expect(file.lines.at(-1)).toMatchObject({ type: 'lost', lines: 100 - kept });
  });

  it('does not keep the end waiting for a file that does not close', async () => {
    vi.useFakeTimers();
    const { file, warnings, ledger: book } = ledger();
    file.closing = new Promise(() => {});
    book.record(share(1));
    let hasEnded = false;
    void book.close().then(() => {
      hasEnded = true;
    });
    await vi.advanceTimersByTimeAsync(4_999);
    expect(hasEnded).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    vi.useRealTimers();
    expect(hasEnded).toBe(true);
    expect(numbers(file)).toEqual([1]);
    expect(warnings).toEqual([]);
  });

  it('does not keep the end waiting for a disk that takes nothing', async () => {
    vi.useFakeTimers();
    const { file, warnings, ledger: book } = ledger();
    file.slow = new Promise(() => {});
    book.record(share(1));
    const closed = book.close();
    await vi.advanceTimersByTimeAsync(5_000);
    await closed;
    vi.useRealTimers();
    expect(file.closed).toBe(1);
    expect(warnings).toEqual(['the last lines of the share ledger could not be written']);
  });
});

it.each([
  ['job', 'share', 16],
  ['worker', 'share', 128],
  ['agent', 'session', 63],
] as const)('the %s in a line of a %s has up to %i characters', (field, type, most) => {
  const line = {
    share: { timeMillis: 1, ...share(1) },
    session: { type, timeMillis: 1, session: 1, nonce1: '0a0b', worker: 'w', agent: '', address: '::1' },
  }[type];
  const isValid = (length: number) => LedgerLine.safeParse({ ...line, [field]: 'x'.repeat(length) }).success;
  expect([0, most, most + 1].map(isValid)).toEqual([true, true, false]);
});
