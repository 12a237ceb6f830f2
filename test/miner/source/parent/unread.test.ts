/** A parent that does not read is not read either, and its streams end once. */

import { Writable } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { ParentConnection } from '#pickaxe/miner/source/parent/connection.js';
import { answerLine } from '#pickaxe/protocol/wire/worker.js';
import { turns } from '../../../turns.ts';
import { ParentInput } from './parent.ts';

const clock = { ...systemClock, nowUs: () => 0n, monotonicMs: () => 0 };

function connect() {
  const input = new ParentInput();
  const held: (() => void)[] = [];
  const output = new Writable({ write: (_chunk, _encoding, done) => void held.push(done) });
  const told: string[] = [];
  const hooks = {
    request: ({ type }: { type: string }) => void told.push(type),
    flooded: () => void told.push('flooded'),
    inputEnded: () => void told.push('input ended'),
    closed: () => void told.push('closed'),
  };
  const connection = new ParentConnection({ input: input.asReadable, output, end: () => {} }, hooks, clock);
  connection.listen();
  /** The parent reads all that was written. */
  const read = async () => {
    while (held.length > 0) {
      held.shift()?.();
      await turns(1);
    }
  };
  return { input, output, told, connection, read };
}

it('a parent with more than a megabyte to read is read again once it has read that', async () => {
  const { input, output, connection, read } = connect();
  const send = () => connection.send({ type: 'paused', reason: 'r'.repeat(100_000) });
  const sent = Array.from({ length: 10 }, send);
  expect([input.isPaused, connection.isBehind]).toEqual([false, false]);
  for (let i = 0; i < 2; i++) {
    while (!input.isPaused) sent.push(send());
    expect(connection.isBehind).toBe(true);
    for (let more = 0; more < 20; more++) sent.push(send());
    expect(output.listenerCount('drain')).toBe(1);
    await read();
    expect([input.isPaused, connection.isBehind]).toEqual([false, false]);
  }
  expect(new Set(await Promise.all(sent))).toEqual(new Set([true]));
});

it('a parent is behind with one byte more than a megabyte', () => {
  const { input, connection } = connect();
  const paused = (length: number) => connection.send({ type: 'paused', reason: 'r'.repeat(length) });
  const least = answerLine({ type: 'paused', reason: '' }).length;
  void paused(1024 * 1024 - 2 * least);
  void paused(0);
  expect([connection.isBehind, input.isPaused]).toEqual([false, false]);
  const { connection: other, input: otherInput } = connect();
  void other.send({ type: 'paused', reason: 'r'.repeat(1024 * 1024 - least + 1) });
  expect([other.isBehind, otherInput.isPaused]).toEqual([true, true]);
});

it.each([['error'], ['end'], ['close']])('a side that ends with the event “%s” ends once', (name) => {
  const { input, told } = connect();
  input.emit('data', Buffer.from('{"type":"ping"}'));
  input.emit(name, new Error('away'));
  expect(told).toEqual(['ping', 'input ended']);
  for (const each of ['error', 'end', 'close']) input.emit(each, new Error('away'));
  expect(told).toEqual(['ping', 'input ended']);
});

it('an answer to a parent that has gone is not written, and those before it are lost', async () => {
  const { output, told, connection } = connect();
  const before = [1, 2].map(() => connection.send({ type: 'pong' }));
  output.destroy(new Error('away'));
  expect(await Promise.all(before)).toEqual([false, false]);
  expect(told).toEqual(['closed']);
  const write = vi.spyOn(output, 'write');
  expect(await connection.send({ type: 'pong' })).toBe(false);
  expect(write).not.toHaveBeenCalled();
  expect(told).toEqual(['closed']);
});
