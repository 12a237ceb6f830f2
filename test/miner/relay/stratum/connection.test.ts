/** What a connection makes of the bytes of its client, and how it ends, on a socket that is the test itself. */

import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { SharedLines } from '#pickaxe/miner/relay/stratum/connection-limiter.js';
import { Connection } from '#pickaxe/miner/relay/stratum/socket.js';
import { type StratumLimits, stratumLimits } from '#pickaxe/miner/relay/stratum/stratum-limits.js';

/** A socket without a network. */
class FakeSocket extends EventEmitter {
  readonly calls: string[] = [];
  readonly written: string[] = [];
  writableLength = 0;
  readonly #note = (call: string) => () => void this.calls.push(call);
  /** How often it is corked at present. */
  corks = 0;
  readonly cork = () => void this.corks++;
  readonly uncork = () => void this.corks--;
  readonly pause = this.#note('pause');
  readonly resume = this.#note('resume');
  readonly end = this.#note('end');
  readonly destroy = this.#note('destroy');

  write(lines: string | Buffer): void {
    this.written.push(lines.toString());
  }

  gets(bytes: string | Buffer): void {
    this.emit('data', Buffer.from(bytes));
  }
}

let nowMs: number;
beforeEach(() => {
  nowMs = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
});

/** @param isGood whether a line is a valid share */
function connected(more: Partial<StratumLimits> = {}, isGood: (line: string) => boolean = () => true) {
  const limits = { ...stratumLimits, ...more };
  const socket = new FakeSocket();
  const sharedLines = new SharedLines(limits, nowMs);
  const lines: string[] = [];
  const ends: unknown[][] = [];
  let waits = 0;
  let heldUpMs = Number.NEGATIVE_INFINITY;
  const connection = new Connection({
    stream: socket as unknown as Socket,
    address: '192.0.2.1',
    clock: { ...systemClock, monotonicMs: () => nowMs },
    limits,
    sharedLines,
    heldUpMs: () => heldUpMs,
    ended: (...end) => ends.push(end),
  });
  connection.start({
    receive: (line) => {
      lines.push(line);
      return isGood(line);
    },
    waits: () => void waits++,
  });
  const holdUp = (untilMs: number) => {
    heldUpMs = untilMs;
  };
  return { socket, connection, lines, ends, sharedLines, holdUp, waits: () => waits };
}

describe('the lines of a client', () => {
  it('are taken as they come: several in a chunk, blank ones, and one in pieces', () => {
    const { socket, lines, ends } = connected();
    for (const chunk of ['a\n\n\nb\r\n', 'c', 'd', 'e\nf', '\n']) socket.gets(chunk);
    expect([lines, ends]).toEqual([['a', '', '', 'b', 'cde', 'f'], []]);
  });

  it('have at most 4,096 bytes', () => {
    const { socket, lines, ends } = connected();
    socket.gets(`${'x'.repeat(4_096)}\n`);
    expect([lines.length, ends]).toEqual([1, []]);
    socket.gets(`${'x'.repeat(4_097)}\n`);
    expect([lines.length, ends]).toEqual([1, [['a line is longer than 4096 bytes', expect.anything(), 'flood']]]);
    vi.advanceTimersByTime(60_000);
  });

  it('are no more after the end, whatever ends it first', () => {
    for (const how of ['close', 'too long', 'peer'] as const) {
      const { socket, connection, lines, ends } = connected({ lineBytes: 10 });
      socket.gets('a\n');
      if (how === 'close') connection.close('junk', 10, 'junk');
      else if (how === 'peer') socket.emit('close');
      else socket.gets('12345678901\nb\n');
      expect([how, ends]).toEqual([
        how,
        [
          {
            close: ['junk', 10, 'junk'],
            peer: ['it has closed the connection', 0, undefined],
            'too long': ['a line is longer than 10 bytes', 10, 'flood'],
          }[how],
        ],
      ]);
      socket.gets('c\n');
      socket.emit('close');
      socket.emit('error', new Error('late'));
      connection.close('again', 1);
      connection.send('late\n');
      expect([how, lines, ends.length, socket.written]).toEqual([how, ['a'], 1, []]);
      expect([how, socket.calls]).toEqual([how, how === 'peer' ? [] : ['end']]);
      expect(vi.getTimerCount()).toBe(how === 'peer' ? 0 : 1);
      vi.advanceTimersByTime(1_000);
    }
  });

  it('may end the connection, and then those after it in the same chunk are not taken', () => {
    const world = connected({}, (line) => {
      if (line === 'b') world.connection.close('junk', 10, 'junk');
      return true;
    });
    world.socket.gets('a\nb\nc\n');
    expect([world.lines, world.ends]).toEqual([['a', 'b'], [['junk', 10, 'junk']]]);
  });

  it('are answered together where they come together', () => {
    const corks: number[] = [];
    const world = connected({}, () => corks.push(world.socket.corks) > 0);
    world.socket.gets('a\nb\n');
    expect([corks, world.socket.corks]).toEqual([[1, 1], 0]);
  });

  it('of a flood are no more after it has ended the connection, however long that was ago', () => {
    const { socket, lines, ends } = connected({ lineBurst: 2, linesPerSecond: 1 });
    socket.gets('1\n2\n3\n');
    expect([lines, ends]).toEqual([['1', '2'], [['flood', 0, 'flood']]]);
    nowMs += 60_000;
    socket.gets('4\n');
    expect(lines).toEqual(['1', '2']);
  });

  it('are none where TLS begins, but only at the beginning', () => {
    const hello = Buffer.from([0x16, 0x03, 0x01, 0x0a]);
    const { socket, lines, ends } = connected();
    socket.gets(hello);
    expect([lines, ends]).toEqual([[], [['it begins TLS, which this port has not', 0, 'handshake']]]);
    const later = connected();
    later.socket.gets('a\n');
    later.socket.gets(hello);
    expect([later.lines, later.ends]).toEqual([['a', '\u0016\u0003\u0001'], []]);
  });
});

describe('too many lines', () => {
  const FLOOD = ['flood', 0, 'flood'];
  const PENALTY = ['flood', 10, 'flood'];
  /** Nothing but the client's own bucket matters. */
  const OWN = { lineBurst: 20, linesPerSecond: 2, reservedLineBurst: 1e9 };

  it.each([
    ['good ones: 20 at once, and two a second', () => true, 20, 2, FLOOD],
    ['others: ten at once, and one a second', () => false, 10, 1, PENALTY],
  ])('end the connection: %s', (_, isGood, burst, more, end) => {
    const one = connected(OWN, isGood);
    one.socket.gets('\n'.repeat(burst));
    expect(one.ends).toEqual([]);
    nowMs += 1_000;
    one.socket.gets('\n'.repeat(more));
    expect([one.lines.length, one.ends]).toEqual([burst + more, []]);
    one.socket.gets('\n');
    expect(one.ends).toEqual([end]);
    const other = connected(OWN, isGood);
    other.socket.gets('\n'.repeat(burst + 1));
    expect(other.ends).toEqual([end]);
  });

  it('make a client wait where its address has no more, and what it sends meanwhile is kept', () => {
    const { socket, lines, ends, sharedLines, waits } = connected({
      reservedLineBurst: 1,
      reservedLinesPerSecond: 0,
      addressLineBurst: 2,
      addressLinesPerSecond: 1,
    });
    socket.gets('1\n2\n3\n4\n5\n');
    expect([lines, socket.calls]).toEqual([['1', '2', '3'], ['pause']]);
    socket.gets('6\n');
    socket.gets('7\n');
    sharedLines.serve();
    expect([lines.length, waits()]).toEqual([3, 1]);
    nowMs += 2_000;
    sharedLines.serve();
    expect([lines, waits()]).toEqual([['1', '2', '3', '4', '5'], 2]);
    nowMs += 2_000;
    sharedLines.serve();
    expect([lines.slice(5), waits()]).toEqual([['6', '7'], 2]);
    expect([socket.calls, ends]).toEqual([['pause', 'resume'], []]);
  });

  it.each([
    { afterMs: 59_999, calls: ['pause'], end: [] },
    { afterMs: 60_000, calls: ['end'], end: [FLOOD] },
  ])('end nothing for a minute after the server was held up: $afterMs ms', ({ afterMs, calls, end }) => {
    const { socket, lines, ends, sharedLines, holdUp } = connected({ lineBurst: 4, linesPerSecond: 1 });
    holdUp(1_000);
    nowMs = 1_000 + afterMs;
    socket.gets('\n'.repeat(6));
    expect([lines.length, socket.calls, ends]).toEqual([4, calls, end]);
    if (end.length > 0) return;
    nowMs += 2_000;
    sharedLines.serve();
    expect([lines.length, socket.calls]).toEqual([6, ['pause', 'resume']]);
  });

  it.each([
    { afterMs: 59_999, calls: ['pause', 'resume', 'pause'], end: [] },
    { afterMs: 60_000, calls: ['pause', 'resume', 'end'], end: [FLOOD] },
  ])('end nothing for a minute after the client had to wait: $afterMs ms', ({ afterMs, calls, end }) => {
    const { socket, lines, ends, sharedLines } = connected({
      lineBurst: 4,
      linesPerSecond: 1,
      reservedLineBurst: 1,
      reservedLinesPerSecond: 0,
      addressLineBurst: 2,
      addressLinesPerSecond: 1e6,
    });
    socket.gets('\n'.repeat(4));
    nowMs = 1_000;
    sharedLines.serve();
    expect([lines.length, socket.calls]).toEqual([4, ['pause', 'resume']]);
    // Its address has two more each millisecond, but the client itself has four.
    for (const [beforeMs, count] of [
      [2, 2],
      [1, 2],
      [0, 1],
    ]) {
      expect(ends).toEqual([]);
      nowMs = 1_000 + afterMs - beforeMs;
      socket.gets('\n'.repeat(count));
    }
    expect([lines.length, socket.calls, ends]).toEqual([8, calls, end]);
  });

  it('wait no longer once the connection has ended', () => {
    const { socket, lines, ends, sharedLines } = connected({
      reservedLineBurst: 1,
      addressLineBurst: 1,
      addressLinesPerSecond: 1,
    });
    socket.gets('1\n2\n3\n');
    expect([lines, socket.calls]).toEqual([['1', '2'], ['pause']]);
    socket.emit('close');
    nowMs += 10_000;
    sharedLines.serve();
    expect([lines, socket.calls, ends.length]).toEqual([['1', '2'], ['pause'], 1]);
    // Others of its address do not wait for it.
    expect(sharedLines.take(false, nowMs)).toBe(true);
  });
});

describe('a connection that is closed', () => {
  it('gives its client one second for the last words', () => {
    const { socket, connection } = connected();
    connection.send('bye\n');
    connection.close('junk', 10, 'junk');
    expect([socket.written, socket.calls]).toEqual([['bye\n'], ['end']]);
    vi.advanceTimersByTime(999);
    expect(socket.calls).toEqual(['end']);
    vi.advanceTimersByTime(1);
    expect(socket.calls).toEqual(['end', 'destroy']);
  });
});

it('a client that does not read is cut off at once where more waits for it than the limit', () => {
  const { socket, connection, ends } = connected({ pendingBytes: 100 });
  socket.writableLength = 100;
  connection.send('a\n');
  expect([ends, socket.calls]).toEqual([[], []]);
  socket.writableLength = 101;
  connection.send('b\n');
  connection.send('c\n');
  expect([ends, socket.calls]).toEqual([[['it does not read', 0, 'unread']], ['destroy']]);
  expect(socket.written).toEqual(['a\n', 'b\n']);
});
