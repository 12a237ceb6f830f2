import { describe, expect, it, test } from 'vitest';
import { Events } from '#pickaxe/miner/events/events.js';
import { type Notice, sendNotices } from '#pickaxe/rig/notify/notices.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { device, FakeClock, hashes, share, verdict } from '../status/fakes.ts';

function listen() {
  const clock = new FakeClock();
  const events = new Events();
  const tally = new Tally(clock);
  events.on(tally.listen);
  const notices: Notice[] = [];
  const end = sendNotices({ rigName: 'rig-7', events, tally, clock }, (notice) => notices.push(notice));
  const names = () => notices.map(({ type }) => type);
  return { clock, events, notices, names, end };
}

test('the start causes a notice at once', () => {
  expect(listen().notices).toEqual([
    { type: 'start', timeMillis: 1_700_000_000_000, rig: 'rig-7', text: 'pickaxe has started' },
  ]);
});

test('the stop causes a notice with the results, which is the last one', () => {
  const { clock, events, notices, names, end } = listen();
  events.emit(hashes('cpu', 5_000_000));
  events.emit(verdict('cpu', 'stale', 'too late'));
  clock.advance(10_000);
  end();
  expect(notices.at(-1)).toMatchObject({ type: 'stop', accepted: 0, stale: 1, hashes: 5_000_000, uptimeSeconds: 10 });
  events.emit(verdict('cpu', 'accepted'));
  expect(names()).toEqual(['start', 'stop']);
});

test('an accepted block causes a notice, and no other verdict does', () => {
  const { events, notices, names } = listen();
  for (const each of ['rejected', 'stale', 'unknown', 'accepted'] as const) events.emit(verdict('gpu1', each));
  expect(names()).toEqual(['start', 'block']);
  expect(notices[1]).toEqual({
    type: 'block',
    timeMillis: 1_700_000_000_000,
    rig: 'rig-7',
    text: 'block accepted: chain 3 height 42, found by gpu1',
    device: 'gpu1',
    isRelay: false,
    chain: 3,
    height: 42,
    nonce: '9223372036854775808',
    answerSeconds: 0.0123,
  });
});

describe('of a block that is followed', () => {
  const BLOCK = { chain: 3, height: 42n, blockHash: 'h'.repeat(43), device: 'gpu1', isRelay: false };
  const STANDING = { depth: 1, nodesDisagree: false, settledDepth: 6, reason: '' };

  it.each([
    ['pending', undefined],
    ['unanswered', undefined],
    ['contested', 'pending'],
    ['unknown', 'pending'],
    ['won', 'won'],
  ] as const)('there is no notice of %s after %s', (state, previous) => {
    const { events, names } = listen();
    events.emit({ type: 'block-state', ...BLOCK, ...STANDING, state, ...(previous && { previous }) });
    expect(names()).toEqual(['start']);
  });

  it.each(['won', 'settled', 'orphaned', 'never-entered', 'lost'] as const)('there is one when it is %s', (state) => {
    const { events, notices } = listen();
    events.emit({ type: 'block-state', ...BLOCK, ...STANDING, state, previous: 'unanswered' });
    const text = expect.stringMatching(/^block chain 3 height 42 /);
    expect(notices[1]).toMatchObject({ type: 'block-state', state, previous: 'unanswered', height: 42, text });
  });

  it.each([
    ['no amounts', {}],
    ['a reward', { reward: '0.98' }],
    ['a reward and fees', { reward: '0.98', fees: '0.01' }],
    ['another account', { paidTo: 'k:other' }],
  ])('the notice has %s if the event has', (_, amounts) => {
    const { events, notices } = listen();
    events.emit({ type: 'block-state', ...BLOCK, ...STANDING, state: 'won', previous: 'pending', ...amounts });
    const { height: _height, ...block } = BLOCK;
    const { text, timeMillis, rig, ...rest } = notices[1] as Notice & { rig: string };
    expect(rest).toEqual({
      type: 'block-state',
      ...block,
      height: 42,
      state: 'won',
      previous: 'pending',
      depth: 1,
      ...amounts,
    });
    expect(Object.keys(rest).filter((name) => ['reward', 'fees', 'paidTo'].includes(name))).toEqual(
      Object.keys(amounts),
    );
  });

  it('there is one when its reward is proven after it was won, and when a node says something false of it', () => {
    const { events, notices } = listen();
    events.emit({ type: 'block-reward', ...BLOCK, reward: '0.98', fees: '0.0' });
    events.emit({ type: 'block-reward', ...BLOCK, fault: 'http://one: false' });
    const frame = { type: 'block-reward', timeMillis: 1_700_000_000_000, rig: 'rig-7', ...BLOCK, height: 42 };
    const isFalse = 'the reward is not proven, because what a node says of it is false: http://one: false';
    expect(notices.slice(1)).toEqual([
      { ...frame, text: 'block chain 3 height 42 by gpu1: earned 0.98 coins', reward: '0.98', fees: '0.0' },
      { ...frame, text: `block chain 3 height 42 by gpu1: ${isFalse}`, fault: 'http://one: false' },
    ]);
  });
});

test('a share causes no notice, unless it is a block', () => {
  const { events, names, notices, end } = listen();
  for (const each of ['accepted', 'rejected', 'delivered'] as const) events.emit(share('gpu1', each));
  expect(names()).toEqual(['start']);
  events.emit(share('gpu1', 'accepted', '', { isBlock: true }));
  expect(names()).toEqual(['start', 'block']);
  end();
  expect(notices.at(-1)).toMatchObject({
    text: 'pickaxe has stopped after 0.0 s: shares accepted 2, blocks accepted 1, 0 H/s',
    accepted: 1,
    delivered: 0,
    acceptedShares: 2,
    rejectedShares: 1,
  });
});

test('the notice of a block that a relay brought names the relay', () => {
  const { events, notices } = listen();
  events.emit(verdict('stratum', 'accepted', '', { isRelay: true }));
  const text = 'block accepted: chain 3 height 42, brought by the relay stratum';
  expect(notices[1]).toMatchObject({ type: 'block', device: 'stratum', isRelay: true, text });
});

test('a lost device causes one notice, however often it is reopened, and another one when it is parked', () => {
  const { events, notices, names } = listen();
  events.emit(device('gpu0', 'ready'));
  for (let i = 0; i < 5; i++) events.emit(device('gpu0', 'reopening', 'it was lost'));
  expect(names()).toEqual(['start', 'device-lost']);
  events.emit(device('gpu0', 'parked', 'it was lost'));
  expect(notices.at(-1)).toMatchObject({
    type: 'device-lost',
    device: 'gpu0',
    state: 'parked',
    reason: 'it was lost',
  });
  events.emit(device('gpu1', 'reopening', 'a'));
  events.emit(device('gpu1', 'paused', 'b'));
  events.emit(device('gpu1', 'reopening', 'c'));
  expect(names().slice(3)).toEqual(['device-lost', 'device-lost']);
});

test('a low hashrate and its end cause notices with different names', () => {
  const { events, notices } = listen();
  events.emit({
    type: 'alarm',
    alarm: 'low-hashrate',
    state: 'raised',
    hashesPerSecond: 1e9,
    limitHashesPerSecond: 2e9,
  });
  events.emit({
    type: 'alarm',
    alarm: 'low-hashrate',
    state: 'cleared',
    device: 'gpu0',
    hashesPerSecond: 3e9,
    limitHashesPerSecond: 2e9,
  });
  expect(notices[1]).toEqual({
    type: 'low-hashrate',
    timeMillis: 1_700_000_000_000,
    rig: 'rig-7',
    text: 'low hashrate: the rig makes 1.000 GH/s (limit 2.000 GH/s)',
    hashesPerSecond: 1e9,
    limitHashesPerSecond: 2e9,
  });
  expect(notices[2]).toMatchObject({ type: 'hashrate-ok', device: 'gpu0' });
});

describe('a driver’s text', () => {
  it('is put on one line of bounded length', () => {
    const { events, notices } = listen();
    events.emit(device('gpu0', 'parked', `a\0b\r\nc\x1b[31m${'d'.repeat(10_000)}`));
    const { reason, text } = notices[1] as unknown as { reason: string; text: string };
    expect(reason.startsWith('a b c [31mddd')).toBe(true);
    expect(reason).toHaveLength(500);
    expect(text).toHaveLength(500);
  });

  it('has no C1 controls, line separators or changes of direction', () => {
    const { events, notices } = listen();
    events.emit(device('gpu0', 'parked', 'a\x9b31mb\x85c\u2028d\u202ee'));
    expect(notices[1]).toMatchObject({ reason: 'a 31mb c d e' });
  });
});
