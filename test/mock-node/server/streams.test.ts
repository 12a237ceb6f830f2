/** Update streams, with a clock that the test sets. */

import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Block } from '#pickaxe/mock-node/ledger/block-store.js';
import { type StreamTopic, UpdateStreams } from '#pickaxe/mock-node/server/streams.js';

const STREAM_MS = 240_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class FakeResponse extends EventEmitter {
  text = '';
  ended = false;
  writableLength = 0;
  write(text: string): void {
    this.text += text;
  }
  end(): void {
    this.ended = true;
    this.emit('close');
  }
  destroy(): void {
    this.end();
  }
}

function streams(random = 0.5, options: Partial<{ streamLimit: number; cutBurst: number }> = {}) {
  const all = new UpdateStreams({ streamMs: STREAM_MS, streamLimit: 3, cutBurst: 1, ...options }, () => random);
  const open = (topic: StreamTopic) => {
    const response = new FakeResponse();
    all.add(topic, response as unknown as ServerResponse);
    return response;
  };
  return { all, open };
}

it.each([
  [0, 0.9],
  [0.5, 1],
  [0.75, 1.05],
])('a stream ends by itself: with the random number %f after %f of its length', (random, part) => {
  const { all, open } = streams(random);
  const response = open(3);
  vi.advanceTimersByTime(part * STREAM_MS - 1);
  expect(response.ended).toBe(false);
  vi.advanceTimersByTime(2);
  expect(response.ended).toBe(true);
  expect(all.open).toBe(0);
});

it('a New Cut is sent to the streams of its chain only, as often as was set, without a data line', () => {
  const { all, open } = streams(0.5, { cutBurst: 3 });
  const [three, four, threeAgain] = [open(3), open(4), open(3)];
  all.publish('New Cut', 3);
  expect(three.text).toBe('event:New Cut\n\n');
  vi.advanceTimersByTime(1_000);
  for (const { text } of [three, threeAgain]) expect(text).toBe('event:New Cut\n\n'.repeat(3));
  expect(four.text).toBe('');
  all.publish('Refreshed Block', 4);
  expect(four.text).toBe('event:Refreshed Block\n\n');
});

it('the number of streams is limited', () => {
  const { all, open } = streams();
  const [first] = [open(0), open(1), open(1)];
  expect(all.full).toBe(true);
  expect(all.openFor(1)).toBe(2);
  first.end();
  expect(all.full).toBe(false);
  expect(all.open).toBe(2);
});

it('all streams can be ended at once, and nothing is left behind', () => {
  for (const how of ['endAll', 'close'] as const) {
    const { all, open } = streams(0.5, { cutBurst: 5 });
    const responses = [open(0), open(1)];
    all.publish('New Cut', 0);
    all[how]();
    expect(responses.map(({ ended }) => ended)).toEqual([true, true]);
    if (how === 'close') expect(vi.getTimerCount()).toBe(0);
    vi.clearAllTimers();
  }
});

it('a reader that does not read is disconnected, and the others go on', () => {
  const { all, open } = streams();
  const [slow, quick, slowWithBlocks] = [open(3), open(3), open({ of: 'block', dialect: 'chainweb' })];
  for (const response of [slow, slowWithBlocks]) response.writableLength = 1024 * 1024;
  all.publish('New Cut', 3);
  all.publishBlock({} as Block, () => 'a block');
  expect([slow.ended, slowWithBlocks.ended, all.open]).toEqual([false, false, 3]);
  for (const response of [slow, slowWithBlocks]) response.writableLength += 1;
  all.publish('New Cut', 3);
  all.publishBlock({} as Block, () => 'a block');
  expect([slow.ended, slowWithBlocks.ended, quick.ended, all.open]).toEqual([true, true, false, 1]);
  expect([slow.text, quick.text]).toEqual(['event:New Cut\n\n', 'event:New Cut\n\n'.repeat(2)]);
});

it('streams of blocks do not end by themselves, count among all, and each kind of event is made once', () => {
  const { all, open } = streams();
  const headers = [open({ of: 'header', dialect: 'document' }), open({ of: 'header', dialect: 'document' })];
  const blocks = open({ of: 'block', dialect: 'document' });
  expect(all.full).toBe(true);
  const made = vi.fn((_: Block, { of }: { of: string }) => of);
  all.publishBlock({} as Block, made);
  expect([...headers, blocks].map(({ text }) => text)).toEqual(['header', 'header', 'block']);
  expect(made).toHaveBeenCalledTimes(2);
  all.publish('New Cut', 0);
  vi.advanceTimersByTime(10 * STREAM_MS);
  expect([headers[0].text, headers[0].ended, all.open]).toEqual(['header', false, 3]);
  all.endAll();
  expect(all.open).toBe(0);
});
