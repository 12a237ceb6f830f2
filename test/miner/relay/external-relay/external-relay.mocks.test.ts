/** What the relay does with each output and each end of its worker. A test says what the worker prints. */

import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { endWithPickaxe, killGroup, startGroup, withArgument } from '#pickaxe/base/system/process-group.js';
import { ExternalRelay } from '#pickaxe/miner/relay/external-relay.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { prepareJob } from '#pickaxe/protocol/chain/job.js';
import { verify } from '#pickaxe/protocol/chain/verify.js';
import { creationTimeOf, type Work } from '#pickaxe/protocol/chain/work.js';
import { FakeSource, makeWork, Recorder } from '../../../fakes.ts';
import { turns } from '../../../turns.ts';

vi.mock('#pickaxe/base/system/process-group.js');

class Worker extends EventEmitter {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  isKilled = false;
  #header: Uint8Array | undefined;

  /** What the relay has written. */
  get header(): Uint8Array {
    this.#header ??= this.stdin.read() as Uint8Array;
    return this.#header;
  }

  async says(text: string): Promise<void> {
    this.stdout.write(text);
    await turns();
  }

  /** Ends by itself, with the last words that it has printed. */
  async exits(code: number | null, signal: string | null = null, isClosed = true): Promise<void> {
    this.emit('exit', code, signal);
    if (isClosed) this.emit('close');
    await turns();
  }

  /** @returns the line with a nonce that solves the work in the header, which is not one of those before */
  solve(work: Work, after = -1n, claim = ''): string {
    const { header } = this;
    const job = prepareJob(work, creationTimeOf(header));
    expect(toHex(header).slice(0, -16)).toBe(toHex(job.header).slice(0, -16));
    let nonce = after + 1n;
    while (!verify(job, nonce).solution) nonce++;
    return `${nonce.toString(16).padStart(16, '0')}${claim}\n`;
  }
}

let workers: Worker[];
let source: FakeSource;
let recorder: Recorder;
let lines: string[];
let stop: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  workers = [];
  vi.mocked(withArgument).mockImplementation((command, argument) => [...command, argument]);
  vi.mocked(startGroup).mockImplementation(() => {
    workers.push(new Worker());
    return workers.at(-1) as unknown as ChildProcess;
  });
  vi.mocked(killGroup).mockImplementation((child) => {
    const worker = child as unknown as Worker;
    if (worker.isKilled) return;
    worker.isKilled = true;
    worker.emit('exit', null, 'SIGKILL');
    worker.emit('close');
  });
  source = new FakeSource();
  recorder = new Recorder();
  lines = [];
  const log = (level: string) => (line: string) => void lines.push(`${level}: ${line}`);
  const relay = new ExternalRelay({
    command: ['worker'],
    source,
    emit: recorder.listen,
    clock: systemClock,
    log: { debug: log('debug'), info: log('info'), warn: log('warn') },
  });
  stop = new AbortController();
  await relay.open();
  running = relay.run(stop.signal);
});

afterEach(async () => {
  stop.abort();
  await running;
  const timers = vi.getTimerCount();
  vi.useRealTimers();
  vi.resetAllMocks();
  expect(timers).toBe(0);
});

async function give(work: Work): Promise<Work> {
  source.work(work);
  await turns();
  return work;
}

const last = () => workers.at(-1) as Worker;
/** What the relay has told of the worker when its work changed, or regularly. */
const told = () => recorder.of('relay').at(-1)?.workers[0];
/** As `told`, with what has been counted since. */
const counted = () => {
  vi.advanceTimersByTime(5_000);
  return told();
};
const pool = (difficulty = 4) => makeWork(difficulty, { until: 'replaced' });

describe('an external worker', () => {
  it('gets the target as its last argument, and the header on its stdin, which then ends', async () => {
    const { target } = await give(makeWork(4));
    expect(vi.mocked(startGroup).mock.calls).toEqual([[['worker', toHex(target)], { stdio: 'pipe' }]]);
    expect([last().stdin.readableLength, last().stdin.writableEnded]).toEqual([286, true]);
    expect(vi.mocked(endWithPickaxe).mock.calls).toEqual([[last()]]);
  });

  it('may close what it does not need', async () => {
    const work = await give(makeWork(4));
    const line = last().solve(work);
    for (const stream of [last().stdin, last().stdout, last().stderr]) stream.emit('error', new Error('write EPIPE'));
    await last().says(line);
    expect(source.submitted).toMatchObject([{ work }]);
    expect(lines).toEqual([expect.stringMatching(/^debug: found the nonce \d+$/)]);
  });

  it('may print blank lines before its nonce, and the nonce in pieces', async () => {
    const work = await give(makeWork(4));
    const line = last().solve(work, -1n, ' 3 12345');
    await last().says(' \r\n\n');
    await last().says(line.slice(0, 7));
    expect([source.submitted, last().isKilled]).toEqual([[], false]);
    await last().says(line.slice(7));
    expect(source.submitted).toMatchObject([{ work }]);
    expect(last().isKilled).toBe(true);
    expect(lines).toEqual([expect.stringMatching(/^debug: found the nonce \d+; it claims 3 hashes, 12345 a second$/)]);
    expect(counted()).toMatchObject({ accepted: 1, rejected: 0, sessions: 0 });
  });

  it('says what it likes on stderr: lines, but neither blank ones nor ones without end', async () => {
    await give(makeWork(4));
    const long = 'y'.repeat(8_192);
    last().stderr.write(`one\n \n\ntwo \u001b[31m\n${'x'.repeat(8_193)}\n${long}\n`);
    await turns();
    expect(lines).toEqual(['debug: one', expect.stringMatching(/^debug: two/), `debug: ${long}`]);
  });

  it.each<[string, (worker: Worker) => unknown, string]>([
    ['an exit code', (worker) => worker.exits(3), 'ended with exit code 3, without a nonce'],
    ['a signal', (worker) => worker.exits(null, 'SIGSEGV'), 'was ended by SIGSEGV, without a nonce'],
    [
      'a fault at its start',
      (worker) => worker.emit('error', new Error('no such file')),
      'cannot be started: no such file',
    ],
    ['words', (worker) => worker.says('I am\n'), 'printed no nonce but “I am”'],
    [
      'words that it does not end',
      (worker) => worker.says('I').then(() => worker.exits(0)),
      'printed no nonce but “I”',
    ],
    ['many words', (worker) => worker.says(`${'1'.repeat(1_024)}\n`), `printed no nonce but “${'1'.repeat(79)}…”`],
    ['a line without end', (worker) => worker.says('1'.repeat(1_025)), 'printed no nonce but a line that is too long'],
  ])('that fails with %s is named with it once, and started again', async (_, fail, why) => {
    await give(makeWork(4));
    const [first] = workers;
    await fail(first);
    await turns();
    expect(lines).toEqual([`warn: ${why}; it is started again in 1 s`]);
    expect(told()).toMatchObject({ sessions: 0, rejected: 0 });
    await first.exits(1);
    first.emit('error', new Error('once more'));
    vi.advanceTimersByTime(999);
    expect(workers).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(workers).toHaveLength(2);
    expect(lines).toHaveLength(1);
    expect(told()).toMatchObject({ sessions: 1 });
  });

  it('that cannot even be tried is tried again', async () => {
    vi.mocked(startGroup).mockImplementationOnce(() => {
      throw new Error('a name that no program has');
    });
    await give(makeWork(4));
    expect(lines).toEqual(['warn: cannot be started: a name that no program has; it is started again in 1 s']);
    vi.advanceTimersByTime(1_000);
    expect(workers).toHaveLength(1);
  });

  it('rests twice as long after each failure in a row, up to five minutes, and as at first after a nonce', async () => {
    const work = await give(pool());
    const rests: number[] = [];
    for (let failure = 0; failure < 11; failure++) {
      await last().exits(1);
      const [, seconds] = /again in (\d+) s$/.exec(lines.at(-1) ?? '') ?? [];
      rests.push(Number(seconds));
      const before = workers.length;
      vi.advanceTimersByTime(1_000 * Number(seconds) - 1);
      expect(workers).toHaveLength(before);
      vi.advanceTimersByTime(1);
      expect(workers).toHaveLength(before + 1);
      await turns();
    }
    expect(rests).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    await last().says(last().solve(work));
    await last().exits(1);
    expect(lines.at(-1)).toContain('again in 1 s');
  });

  it('that rests is started with the work that is current by then', async () => {
    await give(makeWork(4));
    await last().exits(1);
    await give(makeWork(4));
    const current = await give(makeWork(4));
    expect(workers).toHaveLength(1);
    vi.advanceTimersByTime(1_000);
    await turns();
    await last().says(last().solve(current));
    expect(source.submitted).toMatchObject([{ work: current }]);
    // After the rest, new work starts it at once.
    await give(makeWork(4));
    expect(workers).toHaveLength(3);
  });

  it('that rests is not started when there is no work by then', async () => {
    await give(makeWork(4));
    await last().exits(1);
    source.stale();
    await turns();
    vi.advanceTimersByTime(1_000);
    expect(workers).toHaveLength(1);
    await give(makeWork(4));
    expect(workers).toHaveLength(2);
  });

  it('whose work has ended is not read any more', async () => {
    const work = await give(makeWork(4));
    const [first] = workers;
    const line = first.solve(work);
    source.stale();
    await turns();
    expect([first.isKilled, told()?.sessions]).toEqual([true, 0]);
    expect([first.stdout.destroyed, first.stderr.destroyed]).toEqual([true, true]);
    first.stdout.emit('data', Buffer.from(line));
    first.emit('error', new Error('late'));
    first.emit('close');
    expect([source.submitted, lines]).toEqual([[], []]);
    await give(makeWork(4));
    expect(vi.mocked(killGroup).mock.calls).toEqual([[first]]);
  });

  it('is given 200 ms for its last words, if something keeps its output open', async () => {
    const work = await give(makeWork(4));
    const [first] = workers;
    await first.exits(0, null, false);
    vi.advanceTimersByTime(199);
    await first.says(first.solve(work).trim());
    expect(source.submitted).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(source.submitted).toMatchObject([{ work }]);
    await give(makeWork(4));
    await last().exits(0, null, false);
    vi.advanceTimersByTime(199);
    expect(lines.at(-1)).toMatch(/^debug/);
    vi.advanceTimersByTime(1);
    expect(lines.at(-1)).toContain('ended with exit code 0, without a nonce');
  });

  it('that gives a wrong nonce, or one again, rests, and the wrong ones are counted', async () => {
    const work = pool();
    source.latestUs = () => creationTimeOf(work.header);
    await give(work);
    const line = last().solve(work, -1n, ' 8 9');
    await last().says(line);
    expect(workers).toHaveLength(2);
    await last().says(line);
    const nonce = BigInt(`0x${line.slice(0, 16)}`);
    expect(lines.at(-1)).toBe(`warn: gave the nonce ${nonce} again; it is started again in 1 s`);
    vi.advanceTimersByTime(1_000);
    await turns();
    const job = prepareJob(work, creationTimeOf(last().header));
    let wrong = 0n;
    while (verify(job, wrong).solution) wrong++;
    await last().says(`${wrong.toString(16).padStart(16, '0')} 8 9\n`);
    expect(lines.at(-1)).toBe(
      `warn: gave a wrong nonce, ${wrong} (1 wrong so far); it claims 8 hashes, 9 a second; it is started again in 2 s`,
    );
    expect(source.submitted).toHaveLength(1);
    expect(counted()).toMatchObject({ accepted: 1, rejected: 1, duplicate: 1 });
    stop.abort();
    await running;
    expect(lines.at(-1)).toBe('warn: gave 1 wrong nonces in all');
  });

  it('has the relay wait for its end, also where it was killed before and takes its time', async () => {
    await give(makeWork(4));
    vi.mocked(killGroup).mockImplementation(() => {});
    await give(makeWork(4));
    expect(workers).toHaveLength(2);
    let hasEnded = false;
    void running.then(() => {
      hasEnded = true;
    });
    stop.abort();
    for (const worker of workers) {
      await turns();
      expect(hasEnded).toBe(false);
      await worker.exits(null, 'SIGKILL');
    }
    await turns();
    expect(hasEnded).toBe(true);
  });

  it('that cannot be started has no end for which the relay would wait', async () => {
    await give(makeWork(4));
    vi.mocked(killGroup).mockImplementation(() => {});
    last().emit('error', new Error('no such file'));
    let hasEnded = false;
    void running.then(() => {
      hasEnded = true;
    });
    stop.abort();
    await turns();
    expect(hasEnded).toBe(true);
  });

  it('goes on with the work of a pool after a share, but not with that of a node', async () => {
    const share = await give(pool());
    await last().says(last().solve(share));
    expect(workers).toHaveLength(2);
    const block = await give(makeWork(4));
    await last().says(last().solve(block));
    expect(workers).toHaveLength(3);
    expect(source.submitted.map(({ work }) => work)).toEqual([share, block]);
  });

  it('gets no work of which a part of the nonce is fixed, and that is said once', async () => {
    for (const bytes of [1, 2, 3] as const) await give(makeWork(4, { nonce1: { value: 1, bytes } }));
    expect(workers).toEqual([]);
    expect(lines).toEqual([expect.stringContaining('warn: gets no work: the source has fixed a part of the nonce')]);
    await give(makeWork(4));
    expect(workers).toHaveLength(1);
  });
});

describe('a later creation time', () => {
  /** A worker that searches the second of two works, after it has claimed a rate. */
  async function claiming(hashesPerSecond: number | undefined) {
    const first = await give(makeWork(4));
    const claim = hashesPerSecond === undefined ? '' : ` 1 ${BigInt(hashesPerSecond)}`;
    await last().says(last().solve(first, -1n, claim));
    const work = makeWork(4);
    let latestUs = creationTimeOf(work.header);
    source.latestUs = () => latestUs;
    await give(work);
    expect(workers).toHaveLength(2);
    return {
      work,
      pass: () => {
        latestUs += 60_000_000n;
      },
    };
  }

  it('comes when all nonces are used up at the claimed rate, again and again', async () => {
    const { work, pass } = await claiming(2 ** 64 / 100);
    for (const round of [3, 4]) {
      const { header } = last();
      pass();
      vi.advanceTimersByTime(99_999);
      expect(workers).toHaveLength(round - 1);
      vi.advanceTimersByTime(1);
      expect(workers).toHaveLength(round);
      await turns();
      expect(creationTimeOf(last().header)).toBeGreaterThan(creationTimeOf(header));
    }
    await last().says(last().solve(work));
    expect(source.submitted.at(-1)?.work).toBe(work);
  });

  it('does not come where the source has none: then the worker goes on', async () => {
    await claiming(2 ** 64 / 100);
    vi.advanceTimersByTime(1_000_000);
    expect(workers).toHaveLength(2);
    expect(last().isKilled).toBe(false);
  });

  it.each([
    ['a rate that nothing has', 1e30, 60_000],
    ['no rate', undefined, undefined],
    ['a rate of 0', 0, undefined],
    ['a rate of which no timer lives to see the end', 2 ** 32, undefined],
  ])('comes after a minute at the earliest: %s', async (_, rate, afterMs) => {
    const { pass } = await claiming(rate);
    pass();
    vi.advanceTimersByTime(59_999);
    expect(workers).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(workers).toHaveLength(afterMs === undefined ? 2 : 3);
    if (afterMs !== undefined) return;
    // Only the timer is left with which it tells regularly how it does.
    expect(vi.getTimerCount()).toBe(1);
  });

  it('does not come for a work that has been replaced', async () => {
    const { pass } = await claiming(2 ** 64 / 100);
    vi.advanceTimersByTime(50_000);
    await give(makeWork(4, { rollTime: false }));
    pass();
    expect(workers).toHaveLength(3);
    vi.advanceTimersByTime(99_999);
    expect(workers).toHaveLength(3);
  });
});
