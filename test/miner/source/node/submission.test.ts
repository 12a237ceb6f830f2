import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { type SubmissionOptions, submitSolution } from '#pickaxe/miner/source/node/submission.js';
import type { StatusAnswer } from '#pickaxe/node/http/exchange.js';
import { NodeError } from '#pickaxe/node/http/node-error.js';

const TAKEN: StatusAnswer = { status: 200, text: '' };
const UNKNOWN_WORK: StatusAnswer = { status: 404, text: 'No associated Payload' };
/** A 503, of the node itself or of a gateway. */
const busy = ({ byNode = false, ...more }: { byNode?: boolean; retryAfterMs?: number } = {}) =>
  new NodeError('failed', 'it is busy.', { status: 503, mayHaveBeenTaken: !byNode, ...more });

/** Gives these answers in order. The last one is repeated. */
function attempts(
  answers: (StatusAnswer | Error)[],
  more: Partial<SubmissionOptions> = {},
  stop: AbortSignal = new AbortController().signal,
) {
  const pauses: number[] = [];
  let posts = 0;
  let sent = 0;
  const options: SubmissionOptions = {
    clock: systemClock,
    post: async () => {
      const answer = answers[Math.min(posts++, answers.length - 1)];
      if (answer instanceof Error) throw answer;
      return answer;
    },
    isOutdated: () => false,
    earlyMs: () => 0,
    onSent: () => {
      sent++;
    },
    pause: async (ms) => {
      pauses.push(ms);
    },
    lifeMs: 60_000,
    random: () => 1,
    limits: { solvedAfterMs: 60_000, submitAfterStopMs: 60_000, submitPauses: { firstMs: 100, mostMs: 800 } },
    ...more,
  };
  const verdict = submitSolution(options, stop);
  return { verdict, pauses, posts: () => posts, sent: () => sent };
}

describe('a solution', () => {
  it('is tried again after growing pauses until it has an answer', async () => {
    const { verdict, pauses, sent } = attempts([...Array(6).fill(new NodeError('unreachable', 'away.')), TAKEN]);
    expect((await verdict).outcome).toBe('accepted');
    expect(pauses).toEqual([100, 200, 400, 800, 800, 800]);
    expect(sent()).toBe(1);
  });

  it('waits as long as the node asks for, but at most five seconds', async () => {
    const { verdict, pauses } = attempts([busy({ retryAfterMs: 2_000 }), busy({ retryAfterMs: 60_000 }), TAKEN]);
    await verdict;
    expect(pauses).toEqual([2_000, 5_000]);
  });

  it('counts as sent when the first attempt takes long, once', async () => {
    let answer: (taken: StatusAnswer) => void = () => {};
    let told: () => void = () => {};
    let times = 0;
    const isTold = new Promise<void>((resolve) => {
      told = resolve;
    });
    const limits = { solvedAfterMs: 1, submitAfterStopMs: 60_000, submitPauses: { firstMs: 1, mostMs: 1 } };
    const { verdict } = attempts([], {
      post: () => new Promise((resolve) => (answer = resolve)),
      onSent: () => {
        times++;
        told();
      },
      limits,
    });
    await isTold;
    answer(TAKEN);
    expect((await verdict).outcome).toBe('accepted');
    expect(times).toBe(1);
  });

  it('is given up when the node has forgotten its work', async () => {
    const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 5));
    const { verdict } = attempts([busy({ byNode: true })], { lifeMs: 50, pause });
    expect(await verdict).toMatchObject({
      outcome: 'unknown',
      reason: expect.stringMatching(/^gave up after (one|\d+) attempts?/),
    });
  });
});

describe('a solution whose creation time the clock of its node has not reached', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([1_100, 12_000, 15_000])('is sent when the clock has reached it, after %i ms', async (waitMs) => {
    const { verdict, posts, sent } = attempts([TAKEN], { earlyMs: () => waitMs });
    await vi.advanceTimersByTimeAsync(waitMs - 1);
    expect(posts()).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(await verdict).toEqual({ outcome: 'accepted', reason: '' });
    expect([posts(), sent()]).toEqual([1, 1]);
  });

  it.each([
    ['it may have reached it by now', 1_099],
    ['that would take more than 15 s', 15_001],
  ])('is sent at once if %s', async (_, waitMs) => {
    const { verdict } = attempts([TAKEN], { earlyMs: () => waitMs });
    await vi.advanceTimersByTimeAsync(0);
    expect((await verdict).outcome).toBe('accepted');
  });

  it('is not sent if a newer block comes meanwhile', async () => {
    const { verdict, posts } = attempts([TAKEN], { earlyMs: () => 2_000, isOutdated: () => true });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await verdict).toEqual({
      outcome: 'stale',
      reason: 'a New Cut came before the clock of the node had reached its creation time; not sent',
    });
    expect(posts()).toBe(0);
  });

  it('counts as sent soon, so that the miner gets other work', async () => {
    const limits = { solvedAfterMs: 1_000, submitAfterStopMs: 60_000, submitPauses: { firstMs: 1, mostMs: 1 } };
    const { sent } = attempts([TAKEN], { earlyMs: () => 12_000, limits });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sent()).toBe(1);
  });
});

describe('a miner that is told to stop', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A node that says nothing. */
  const post = (stop: AbortSignal) =>
    new Promise<never>((_, reject) => stop.addEventListener('abort', () => reject(new Error('aborted'))));
  const limits = { solvedAfterMs: 60_000, submitAfterStopMs: 5_000, submitPauses: { firstMs: 1, mostMs: 1 } };

  it.each(['before', 'after'])('%s a solution is sent gives it a limited time', async (when) => {
    const stop = new AbortController();
    if (when === 'before') stop.abort();
    const { verdict } = attempts([], { post, limits }, stop.signal);
    let settled = false;
    verdict.then(() => (settled = true));
    await vi.advanceTimersByTimeAsync(when === 'before' ? 0 : 30_000);
    stop.abort();
    await vi.advanceTimersByTimeAsync(limits.submitAfterStopMs - 1);
    expect(settled).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(settled).toBe(true);
    expect((await verdict).outcome).toBe('unknown');
  });

  it('does not wait for a solution that has its verdict', async () => {
    const stop = new AbortController();
    let answer: (taken: StatusAnswer) => void = () => {};
    const { verdict } = attempts([], { post: () => new Promise((resolve) => (answer = resolve)) }, stop.signal);
    stop.abort();
    answer(TAKEN);
    expect((await verdict).outcome).toBe('accepted');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('keeps nothing of earlier solutions', async () => {
    const { signal } = new AbortController();
    for (let i = 0; i < 3; i++) await attempts([TAKEN], {}, signal).verdict;
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it.each([400, 403, 410, 413])('%i is a refusal', async (status) => {
  const { verdict, posts } = attempts([{ status, text: 'no' }]);
  expect(await verdict).toEqual({ outcome: 'rejected', reason: 'no' });
  expect(posts()).toBe(1);
});

it.each([
  [199, 'rejected'],
  [200, 'accepted'],
  [204, 'accepted'],
  [299, 'accepted'],
  [300, 'rejected'],
  [404, 'stale'],
])('the status %i without a text is %s', async (status, outcome) => {
  const { verdict } = attempts([{ status, text: '' }]);
  const reason = outcome === 'accepted' ? '' : `the node answered ${status}`;
  expect(await verdict).toEqual({ outcome, reason });
});

it('a fault of the client itself counts as an answer that did not come', async () => {
  const { verdict } = attempts([new TypeError('no such method'), UNKNOWN_WORK]);
  expect(await verdict).toMatchObject({ outcome: 'unknown' });
});

describe('404', () => {
  it('is stale if no earlier attempt can have been accepted', async () => {
    const { verdict } = attempts([new NodeError('unreachable', 'away.'), busy({ byNode: true }), UNKNOWN_WORK]);
    expect((await verdict).outcome).toBe('stale');
  });

  it.each([
    ['a gateway that says 503 may have passed the first one on', busy({ byNode: false })],
    ['a gateway that fails may have', new NodeError('failed', '502.')],
    ['a connection that broke may have', new NodeError('broken', 'broke.')],
    ['an answer that did not come may have', new NodeError('timed out', 'late.')],
  ])('is unknown: %s', async (_, first) => {
    expect((await attempts([first, UNKNOWN_WORK]).verdict).outcome).toBe('unknown');
    // Whatever comes after it.
    const unreachable = new NodeError('unreachable', 'away.');
    expect((await attempts([first, unreachable, UNKNOWN_WORK]).verdict).outcome).toBe('unknown');
  });
});

it.each([400, 403, 410])('a %i after an answer that was lost tells nothing of the first attempt', async (status) => {
  const { verdict } = attempts([new NodeError('timed out', 'late.'), { status, text: 'no' }]);
  expect(await verdict).toEqual({
    outcome: 'unknown',
    reason: 'the answer was lost, and the next attempt was answered with: no',
  });
});

describe('a New Cut while a solution is tried again', () => {
  it('makes it stale if no attempt can have been accepted', async () => {
    const { verdict, posts } = attempts([busy({ byNode: true })], { isOutdated: () => true });
    expect((await verdict).outcome).toBe('stale');
    expect(posts()).toBe(1);
  });

  it('may come from its own block: after a gateway’s 503 the node is asked', async () => {
    const { verdict } = attempts([busy({ byNode: false }), TAKEN], { isOutdated: () => true });
    expect((await verdict).outcome).toBe('accepted');
  });
});
