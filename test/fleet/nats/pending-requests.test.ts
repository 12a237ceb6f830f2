import { getEventListeners } from 'node:events';
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import type { LinkError } from '#pickaxe/fleet/nats/link.js';
import { PendingRequests } from '#pickaxe/fleet/nats/pending-requests.js';

const DATA = Uint8Array.of(1, 2, 3);
const INBOX = 'pickaxe.inbox.member';

/** A request, and the subject for its answer. */
function begin(requests: PendingRequests, stop: AbortSignal, subject = 'q', timeoutMs = 1_000) {
  let reply = '';
  const outcome = requests
    .start(subject, timeoutMs, stop, (to) => {
      reply = to;
    })
    .then(
      (data) => data,
      (fault: LinkError) => fault.fault ?? fault,
    );
  return { reply, outcome };
}

function withFakeTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

const ENDS: Record<string, { end: (requests: PendingRequests, reply: string) => void; outcome: unknown }> = {
  'an answer': { end: (requests, reply) => requests.onAnswer(reply, DATA, false), outcome: DATA },
  'nobody there': { end: (requests, reply) => requests.onAnswer(reply, DATA, true), outcome: 'no-responders' },
  'a denial': { end: (requests) => requests.deny('q'), outcome: 'denied' },
  'the end of the connection': { end: (requests) => requests.end('timeout', 'it ended'), outcome: 'timeout' },
  'its time limit': { end: () => vi.advanceTimersByTime(1_000), outcome: 'timeout' },
};

it.each(Object.entries(ENDS))(
  'a request that ends by %s leaves no timer, and no listener at its signal',
  async (_, { end, outcome }) => {
    withFakeTimers();
    const requests = new PendingRequests(INBOX, systemClock);
    const { signal } = new AbortController();
    for (const round of [1, 2]) {
      const asked = begin(requests, signal);
      expect([round, vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([round, 1, 1]);
      end(requests, asked.reply);
      expect(await asked.outcome).toEqual(outcome);
      expect([round, vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([round, 0, 0]);
    }
  },
);

it.each(Object.entries(ENDS))(
  'whatever comes after %s changes nothing, not even for the next request',
  async (_, first) => {
    withFakeTimers();
    const requests = new PendingRequests(INBOX, systemClock);
    const { signal } = new AbortController();
    const asked = begin(requests, signal);
    first.end(requests, asked.reply);
    const next = begin(requests, signal, 'other');
    requests.onAnswer(asked.reply, Uint8Array.of(9), false);
    requests.onAnswer(asked.reply, Uint8Array.of(9), true);
    requests.deny('q');
    expect(await asked.outcome).toEqual(first.outcome);
    requests.onAnswer(next.reply, DATA, false);
    expect(await next.outcome).toBe(DATA);
  },
);

it('a request that cannot be sent, or is stopped, leaves nothing either', async () => {
  withFakeTimers();
  const requests = new PendingRequests(INBOX, systemClock);
  const stop = new AbortController();
  const { signal } = stop;
  const unsent = requests.start('q', 1_000, signal, () => {
    throw new Error('no such subject');
  });
  await expect(unsent).rejects.toThrow('no such subject');
  expect([vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([0, 0]);
  const both = [begin(requests, signal), begin(requests, signal)];
  stop.abort('enough');
  expect(await Promise.all(both.map(({ outcome }) => outcome))).toEqual(['enough', 'enough']);
  expect([vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([0, 0]);
  let isSent = false;
  const late = requests.start('q', 1_000, signal, () => {
    isSent = true;
  });
  await expect(late).rejects.toBe('enough');
  expect([isSent, vi.getTimerCount()]).toEqual([false, 0]);
});

it('a denial ends the oldest request to its subject, and then the next one', async () => {
  const requests = new PendingRequests(INBOX, systemClock);
  const { signal } = new AbortController();
  const [other, first, second] = ['a', 'b', 'b'].map((subject) => begin(requests, signal, subject, 60_000));
  requests.deny('c');
  requests.deny('b');
  expect(await first.outcome).toBe('denied');
  requests.onAnswer(second.reply, DATA, false);
  expect(await second.outcome).toBe(DATA);
  requests.deny('a');
  expect(await other.outcome).toBe('denied');
});

it('a request says how long it waited in vain', async () => {
  withFakeTimers();
  const requests = new PendingRequests(INBOX, systemClock);
  const asked = requests.start('q', 2_500, new AbortController().signal, () => {});
  vi.advanceTimersByTime(2_499);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(1);
  await expect(asked).rejects.toThrow('there was no answer within 2.5 seconds');
});

it('a request may wait longer than any timer of Node.js can', async () => {
  withFakeTimers();
  const requests = new PendingRequests(INBOX, systemClock);
  const asked = begin(requests, new AbortController().signal, 'q', 2 ** 40);
  vi.advanceTimersByTime(1_000_000);
  requests.onAnswer(asked.reply, DATA, false);
  expect(await asked.outcome).toBe(DATA);
});

it('two connections of one member get only their own answers', async () => {
  const [one, other] = [new PendingRequests(INBOX, systemClock), new PendingRequests(INBOX, systemClock)];
  const asked = begin(one, new AbortController().signal, 'q', 60_000);
  const beginning = one.answers.slice(0, -1);
  expect(one.answers).toBe(`${beginning}*`);
  expect(asked.reply.startsWith(beginning)).toBe(true);
  expect(asked.reply.startsWith(other.answers.slice(0, -1))).toBe(false);
  other.onAnswer(asked.reply, Uint8Array.of(9), false);
  one.onAnswer(asked.reply, DATA, false);
  expect(await asked.outcome).toBe(DATA);
});
