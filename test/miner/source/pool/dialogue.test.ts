/** What ends a connection to a pool, and what is counted of its lines. */

import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Dialogue, type Reply } from '#pickaxe/miner/source/pool/dialogue.js';
import { PoolError, PoolNotices, parseMessage, UnreadableError } from '#pickaxe/miner/source/pool/pool-messages.js';
import { verdictOf } from '#pickaxe/miner/source/pool/pool-shares.js';
import { parseSubscription } from '#pickaxe/miner/source/pool/pool-works.js';
import { FakeClock } from '../../../rig/status/fakes.ts';
import { FakeSocket } from './pool.ts';

function connect(prepare: (socket: FakeSocket) => void = () => {}) {
  const socket = new FakeSocket();
  prepare(socket);
  const clock = new FakeClock();
  const seen: string[] = [];
  let fault: unknown;
  const dialogue = new Dialogue(socket.asSocket, {
    url: 'stratum+tcp://pool.example:3333',
    clock,
    onCall: ({ method, params }) => {
      seen.push(`${method} ${JSON.stringify(params)}`);
      if (fault) throw fault;
    },
    onStray: ({ error }) => void seen.push(`stray ${JSON.stringify(error)}`),
    onSkipped: (what) => void seen.push(what),
    onRead: () => void seen.push('read'),
  });
  const fail = (next: unknown) => {
    fault = next;
  };
  const ask = (limitMs = 60_000) => {
    const replies: Reply[] = [];
    dialogue.ask({ method: 'a', params: [], limitMs }, (reply) => replies.push(reply));
    return replies;
  };
  return { socket, clock, seen, dialogue, fail, ask };
}

const CALL = '{"id":null,"method":"m","params":[1]}';
const WITHOUT_A_WORD =
  'the pool closed the connection without a word. It may have banned this address, be full, or expect TLS (stratum+ssl://).';

describe('a connection', () => {
  it.each<[string, (socket: FakeSocket) => void, string]>([
    [
      'breaks',
      (socket) => socket.emit('error', Object.assign(new Error('x'), { code: 'ECONNRESET' })),
      'broke (ECONNRESET)',
    ],
    ['is ended by the pool', (socket) => socket.emit('end'), WITHOUT_A_WORD],
    ['is closed', (socket) => socket.emit('close'), WITHOUT_A_WORD],
  ])('that %s has ended, once, and nothing is sent or read any more', async (_, act, message) => {
    const { socket, dialogue, seen, ask } = connect();
    const waiting = ask();
    act(socket);
    expect((await dialogue.ended).message).toContain(message);
    expect([dialogue.isOpen, socket.destroyed, waiting]).toEqual([false, true, ['lost']]);
    const why = dialogue.whyEnded;
    dialogue.end(new PoolError('intended', 'again.'));
    socket.emit('close');
    expect(dialogue.whyEnded).toBe(why);
    expect(ask()).toEqual(['lost']);
    dialogue.answer(1, true);
    expect(socket.written).toHaveLength(1);
    socket.receives(CALL);
    expect(seen).toEqual([]);
  });

  it('that was closed before has ended', async () => {
    const { dialogue } = connect((socket) => socket.destroy());
    expect((await dialogue.ended).message).toBe(WITHOUT_A_WORD);
  });

  it('that the pool closes after a message may soon work again', async () => {
    const { socket, dialogue } = connect();
    socket.receives(CALL);
    socket.emit('close');
    expect(await dialogue.ended).toMatchObject({ fault: 'network', message: 'the pool closed the connection.' });
  });

  it('ends when more than 262,144 bytes wait to be sent', async () => {
    const { socket, dialogue, ask } = connect();
    socket.writableLength = 262_144;
    ask();
    expect(dialogue.isOpen).toBe(true);
    socket.writableLength = 262_145;
    const replies = ask();
    expect([dialogue.isOpen, replies]).toEqual([false, ['lost']]);
    expect((await dialogue.ended).message).toBe('the pool no longer reads what it is sent.');
  });

  it('that ends in the midst of a chunk has no further lines, and passes on what is no error of the pool', () => {
    const { socket, dialogue, seen, fail } = connect();
    fail(new PoolError('refused', 'no.'));
    socket.receives(`${CALL}\n${CALL}`);
    expect([seen, dialogue.isOpen]).toEqual([['m [1]'], false]);
    const other = connect();
    other.fail(new TypeError('a fault of pickaxe'));
    expect(() => other.socket.receives(CALL)).toThrow('a fault of pickaxe');
    const third = connect();
    third.fail(new UnreadableError('a job, []'));
    third.socket.receives(CALL);
    expect(third.seen).toEqual(['m [1]', 'the pool sent what cannot be read, which is skipped: a job, [].', 'read']);
  });
});

it('the time of the last line that can be read is at first that of the connection', () => {
  const { socket, clock, dialogue } = connect();
  const times = [dialogue.lastLineMs];
  for (const line of [CALL, '', 'no stratum', '{"id":77,"result":true}']) {
    clock.advance(1_000);
    socket.receives(line);
    times.push(dialogue.lastLineMs);
  }
  const [first] = times;
  expect(first).toBe(clock.monotonicMs() - 4_000);
  expect(times.map((ms) => ms - first)).toEqual([0, 1_000, 1_000, 1_000, 4_000]);
});

describe('what a pool may send', () => {
  const FLOOD = 'the pool sends far more than a pool needs, on average more than 100 lines or 80 kB a second.';

  it.each([
    // With its line feed, each of these lines has 16,384 bytes, which is a 64th of what may be sent at once.
    ['bytes', Array<string>(64).fill(' '.repeat(16_383))],
    ['lines', Array<string>(2_000).fill('')],
    ['calls', Array<string>(2_000).fill(CALL)],
    ['answers to nothing', Array<string>(2_000).fill('{"id":77,"result":true}')],
  ])('is counted to one of the %s', async (_, most) => {
    const { socket, dialogue } = connect();
    socket.receives(...most);
    expect(dialogue.isOpen).toBe(true);
    socket.receives('');
    expect((await dialogue.ended).message).toBe(FLOOD);
  });

  it('does not count the answers to requests', () => {
    const { socket, dialogue, ask } = connect();
    const answered = Array.from({ length: 2_500 }, (_, i) => {
      const replies = ask();
      socket.receives(`{"id":${i + 1},"result":true}`);
      return replies.length;
    });
    expect([dialogue.isOpen, answered.every((count) => count === 1)]).toEqual([true, true]);
  });

  it('has the bytes of a line that is too long, and of what is left out of it', async () => {
    const { socket, dialogue } = connect();
    socket.receives(CALL);
    for (let i = 0; i < 15; i++) socket.emit('data', Buffer.from('x'.repeat(65_536)));
    expect(dialogue.isOpen).toBe(true);
    for (let i = 0; i < 2; i++) socket.emit('data', Buffer.from('x'.repeat(65_536)));
    expect((await dialogue.ended).message).toBe(FLOOD);
  });

  it('grows by a hundred lines or 80,000 bytes a second', () => {
    for (const [first, line, perSecond] of [
      [2_000, '', 100],
      [64, ' '.repeat(16_383), undefined],
    ] as const) {
      const { socket, clock, dialogue } = connect();
      for (let i = 0; i < first; i++) socket.receives(line);
      clock.advance(10_000);
      // After ten seconds it is a thousand lines, or 800,000 bytes.
      if (perSecond !== undefined) for (let i = 0; i < 1_000; i++) socket.receives('');
      else for (let i = 0; i < 80; i++) socket.receives(' '.repeat(9_999));
      expect(dialogue.isOpen).toBe(true);
      socket.receives('');
      expect(dialogue.isOpen).toBe(false);
    }
  });

  it('has ten unreadable lines at once and one more each two seconds, of which three are told, and one more a minute', async () => {
    const { socket, clock, seen, dialogue } = connect();
    socket.receives(CALL);
    seen.length = 0;
    for (let i = 0; i < 10; i++) socket.receives('junk');
    const skipped = () => seen.filter((what) => what !== 'read');
    const SKIPPED = 'the pool sent what cannot be read, which is skipped: “junk”.';
    expect(skipped()).toEqual(Array(3).fill(SKIPPED));
    clock.advance(60_000);
    socket.receives('junk');
    expect(skipped().slice(3)).toEqual([`${SKIPPED} 7 more were skipped before.`]);
    // Ten may come again after a minute, and one has come.
    for (let i = 0; i < 9; i++) socket.receives('junk');
    expect(dialogue.isOpen).toBe(true);
    clock.advance(1_999);
    socket.receives('junk');
    expect((await dialogue.ended).message).toBe(
      'the pool sent what is not stratum: “junk”. Is it a pool of this network, and is it the right port?',
    );
  });

  it('may have lines of 16,384 bytes, and longer ones are skipped', () => {
    const { socket, seen } = connect();
    const line = (length: number) => `{"id":null,"method":"m","params":[]${' '.repeat(length - 36)}}`;
    socket.receives(line(16_384));
    expect(seen.splice(0)).toEqual(['m []', 'read']);
    socket.receives(line(16_385));
    expect(seen).toEqual([
      'the pool sent what cannot be read, which is skipped: a line of more than 16384 bytes.',
      'read',
    ]);
  });
});

describe('an answer', () => {
  it.each([
    ['1', ['answer'], []],
    ['"1"', ['answer'], []],
    ['2', [], ['stray "e"']],
    ['0', [], ['stray "e"']],
    ['-1', [], ['stray "e"']],
    ['"x"', [], ['stray "e"']],
    ['null', [], ['stray "e"']],
    ['{}', [], ['stray "e"']],
    ['true', [], ['stray "e"']],
    ['[1]', [], ['stray "e"']],
  ])('with the id %s is that of the request, or a stray one', (id, answered, strays) => {
    const { socket, seen, ask } = connect();
    const replies = ask();
    socket.receives(`{"id":${id},"result":null,"error":"e"}`);
    expect(replies.map((reply) => (typeof reply === 'string' ? reply : 'answer'))).toEqual(answered);
    expect(seen).toEqual([...strays, 'read']);
  });

  it('that has come, or is awaited no more, leaves nothing at the signal', async () => {
    const { socket, dialogue } = connect();
    const { signal } = new AbortController();
    const reply = dialogue.askUntil(signal, 1_000, { method: 'a', params: [], limitMs: 60_000 });
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    socket.receives('{"id":1,"result":true}');
    expect(await reply).toMatchObject({ result: true, error: undefined });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

it.each([
  ['{"id":1,"result":true,"error":null}', { kind: 'answer', id: 1, result: true, error: undefined }],
  ['{"id":1}', { kind: 'answer', id: 1, result: undefined, error: undefined }],
  ['{"id":"a"}', { kind: 'answer', id: 'a', result: undefined, error: undefined }],
  ['{"result":1}', { kind: 'answer', id: undefined, result: 1, error: undefined }],
  ['{"error":1}', { kind: 'answer', id: undefined, result: undefined, error: 1 }],
  ['{"id":null,"error":[]}', { kind: 'answer', id: null, result: undefined, error: undefined }],
  ['{"id":null}', undefined],
  ['{}', undefined],
  ['[]', undefined],
  ['{"id":null,"method":"m","params":[1]}', { kind: 'call', id: null, method: 'm', params: [1] }],
  ['{"method":"m","params":{"a":1}}', { kind: 'call', id: undefined, method: 'm', params: [] }],
  ['{"id":{},"method":"m"}', { kind: 'call', id: null, method: 'm', params: [] }],
  [`{"method":"${'m'.repeat(128)}"}`, { kind: 'call', id: undefined, method: 'm'.repeat(128), params: [] }],
  [`{"method":"${'m'.repeat(129)}"}`, undefined],
])('the line %s is read', (line, message) => {
  expect(parseMessage(line)).toEqual(message);
});

it.each<[unknown, unknown, string, string]>([
  [true, undefined, 'accepted', ''],
  [{}, undefined, 'accepted', ''],
  [false, undefined, 'stale', 'the pool answered false, which means an outdated job'],
  [null, undefined, 'unknown', 'the pool answered neither yes nor no'],
  [undefined, undefined, 'unknown', 'the pool answered neither yes nor no'],
  [true, 'too late', 'stale', 'too late'],
  [true, 'bad', 'rejected', 'bad'],
  [null, [20], 'rejected', 'error 20, other error'],
  [null, [21], 'rejected', 'error 21, which is “job not found” at some pools and “low difficulty” at others'],
  [null, [22], 'rejected', 'error 22, duplicate share'],
  [null, [26], 'rejected', 'error 26'],
  [null, [], 'rejected', 'the pool gave no reason'],
])('a share that is answered with %j and the error %j has its verdict', (result, error, outcome, reason) => {
  expect(verdictOf({ result, error })).toEqual({ outcome, reason });
});

it.each([
  [undefined, 'it does not say which part'],
  [[null], 'it does not say which part'],
  [[null, '0a'], { value: 10, bytes: 1 }],
  [[null, '0a', 6], { value: 10, bytes: 2 }],
  [[null, '', 8], { value: 0, bytes: 0 }],
  [[null, '0', 8], 'together they must be 8'],
])('a subscription of %j: %j', (result, expected) => {
  const nonce1 = parseSubscription(result);
  if (typeof expected === 'string') expect(nonce1).toContain(expected);
  else expect(nonce1).toEqual(expected);
});

it('ten different messages of a pool are shown, each with 200 characters at most, and no empty ones', () => {
  const shown: string[] = [];
  const notices = new PoolNotices((text) => shown.push(text));
  for (const text of [7, '', '\n', 'a', 'a', 'b', 'a', 'x'.repeat(300)]) notices.show(text);
  expect(shown.slice(0, 3)).toEqual(['the pool says: “a”', 'the pool says: “b”', 'the pool says: “a”']);
  expect(shown[3]).toHaveLength('the pool says: “”'.length + 200);
  for (let i = 0; i < 10; i++) notices.show(`more ${i}`);
  expect(shown).toHaveLength(10);
  expect(shown.at(-1)).toBe('the pool says: “more 5”');
});
