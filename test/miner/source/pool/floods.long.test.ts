/** How much a pool may send. */

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FailoverSource } from '#pickaxe/miner/source/failover.js';
import { Dialogue } from '#pickaxe/miner/source/pool/dialogue.js';
import { MOST_SENT } from '#pickaxe/miner/source/pool/pool-limits.js';
import type { PoolError } from '#pickaxe/miner/source/pool/pool-messages.js';
import { Recorder } from '../../../fakes.ts';
import { FakeClock } from '../../../rig/status/fakes.ts';
import { eventually, Follower } from '../follow.ts';
import { MockPool } from './mock-pool.ts';
import { FakeSocket, GREETING, jobLine, makeHeader, poolSource, targetLine } from './pool.ts';

const FLOODS = `the pool sends far more than a pool needs, on average more than 100 lines or 80 kB a second.`;

/** The pool's side of a transcript's line, as bytes. */
const bytesOf = (line: string) => Buffer.from(`${line.replace(/^< /, '')}\n`);
const JOB = bytesOf(jobLine('1a2b3c4d5e6f', makeHeader(), 'true'));

class Pool {
  readonly clock = new FakeClock();
  readonly dialogue: Dialogue;
  ended: PoolError | undefined;
  calls = 0;
  readonly #socket = new FakeSocket();

  constructor() {
    const count = () => {
      this.calls++;
    };
    const options = {
      url: '',
      clock: this.clock,
      onCall: count,
      onStray: count,
      onSkipped: () => {},
      onRead: () => {},
    };
    this.dialogue = new Dialogue(this.#socket.asSocket, options);
    void this.dialogue.ended.then((why) => {
      this.ended = why;
    });
  }

  sends(bytes: Buffer): void {
    this.#socket.receives(bytes);
  }
}

describe('a pool is not left', () => {
  it('for a job each 10 ms, ten times as often as one that sends a job each 100 ms', () => {
    const pool = new Pool();
    for (let i = 0; i < 20_000; i++) {
      pool.sends(JOB);
      pool.clock.advance(10);
    }
    expect([pool.dialogue.isOpen, pool.calls]).toEqual([true, 20_000]);
  });

  it('for all that it sends at once after the line was down for a minute', () => {
    const pool = new Pool();
    for (let i = 0; i < 60 * 20; i++) pool.sends(JOB);
    expect([pool.dialogue.isOpen, pool.calls]).toEqual([true, 1_200]);
  });

  it('for answers to shares, however many there are', () => {
    const pool = new Pool();
    let answers = 0;
    for (let id = 1; id <= 50_000; id++) {
      pool.dialogue.ask({ method: 'mining.submit', params: [], limitMs: 60_000 }, () => answers++);
      pool.sends(bytesOf(`{"id":${id},"result":true,"error":null}`));
    }
    expect([pool.dialogue.isOpen, answers, pool.calls]).toEqual([true, 50_000, 0]);
  });

  it('for answers to shares that all come at once when their time has run out, once for each', async () => {
    const pool = new Pool();
    const count = MOST_SENT.lines + 1_000;
    let late = 0;
    for (let id = 1; id <= count; id++) {
      pool.dialogue.ask({ method: 'mining.submit', params: [], limitMs: 1 }, () => late++);
    }
    await eventually(() => expect(late).toBe(count));
    const answers = Array.from({ length: count }, (_, i) => bytesOf(`{"id":${i + 1},"result":true,"error":null}`));
    pool.sends(Buffer.concat(answers));
    expect(pool.dialogue.isOpen).toBe(true);
    pool.sends(Buffer.concat(answers));
    expect(pool.dialogue.isOpen).toBe(false);
  });
});

it.each([
  ['empty lines', '\n'.repeat(65_536)],
  ['blanks', `${' '.repeat(16_000)}\n`.repeat(4)],
  ['answers to nothing', '{"id":null,"result":true,"error":null}\n'.repeat(100)],
  ['the same answer again and again', '{"id":1,"result":true,"error":null}\n'.repeat(100)],
  ['unknown methods', '{"id":null,"method":"mining.dance","params":[]}\n'.repeat(100)],
  ['targets', `${bytesOf(targetLine(7))}`.repeat(100)],
  ['nonce1', '{"id":null,"method":"mining.set_extranonce","params":["a0",7]}\n'.repeat(100)],
  ['jobs', `${JOB}`.repeat(10)],
  ['long messages', `{"id":null,"method":"client.show_message","params":["${'y'.repeat(16_000)}"]}\n`.repeat(4)],
])('a pool that floods pickaxe with %s is left, after a bounded number of lines', async (_, text) => {
  const pool = new Pool();
  pool.dialogue.ask({ method: 'mining.submit', params: [], limitMs: 60_000 }, () => {});
  const chunk = Buffer.from(text);
  let sent = 0;
  while (pool.dialogue.isOpen) {
    pool.sends(chunk);
    sent += chunk.length;
    // A tenth of a second later: as fast as 40 kB allow, and far faster than a pool may be on average.
    pool.clock.advance(Math.min(100, chunk.length / 1_000));
    expect(sent).toBeLessThan(4 * MOST_SENT.bytes);
  }
  await pool.dialogue.ended;
  expect(pool.ended).toMatchObject({ fault: 'refused', message: FLOODS });
  expect(pool.calls).toBeLessThanOrEqual(MOST_SENT.lines + 100 * MOST_SENT.linesPerSecond);
});

it('the next pool takes over from one that floods pickaxe, and a single warning says why', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write(Buffer.concat([...GREETING.slice(2), jobLine('1', makeHeader(), 'true')].map(bytesOf)));
    const flood = () => {
      while (!socket.destroyed && socket.write('\n'.repeat(65_536)));
    };
    socket.on('drain', flood);
    socket.once('data', flood);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const next = await MockPool.start([...GREETING, jobLine('1', makeHeader({ parent: 2 }), 'true')]);
  const recorder = new Recorder();
  const emit = recorder.listen;
  const limits = { refusedPauses: { firstMs: 60_000, mostMs: 60_000 } };
  const urls = [`stratum+tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, next.url];
  const sources = urls.map((url) => poolSource(url, limits, {}, { emit }));
  const follower = new Follower(new FailoverSource({ sources, emit, patienceMs: 50, readyPatienceMs: 50 }));
  onTestFinished(() => follower.end());
  await eventually(() => expect(follower.received.at(-1)?.header).toEqual(makeHeader({ parent: 2 })));
  expect(recorder.of('source').flatMap(({ state, reason }) => (state === 'lost' ? [reason] : []))).toEqual([FLOODS]);
});
