/** What becomes of a solution whose receiver gives no verdict. */

import { expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { deliver, type NoVerdict } from '#pickaxe/miner/source/delivery.js';
import type { Verdict } from '#pickaxe/miner/source/source.js';

const away = (more: Partial<NoVerdict> = {}): NoVerdict => ({
  message: 'it is away',
  mayHaveBeenTaken: false,
  ...more,
});

/** Makes attempts with these answers, and stops while it waits after the last one. */
function delivery(answers: (NoVerdict | Verdict)[], untaken: 'stale' | 'unknown' = 'stale', whyOutdated = () => '') {
  const stopping = new AbortController();
  const asked: number[] = [];
  let attempts = 0;
  let sent = 0;
  const verdict = deliver(
    {
      attempt: async () => answers[attempts++],
      whyOutdated: () => whyOutdated() || undefined,
      onSent: () => void sent++,
      nextPauseMs: (retryAfterMs) => {
        asked.push(retryAfterMs);
        return retryAfterMs;
      },
      pause: async (_ms, stop) => {
        if (attempts < answers.length) return;
        const aborted = new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }));
        stopping.abort();
        await aborted;
      },
      lifeMs: 600_000,
      untaken,
      limits: { solvedAfterMs: 600_000, submitAfterStopMs: 1 },
      clock: systemClock,
    },
    stopping.signal,
  );
  return { verdict, asked, attempts: () => attempts, sent: () => sent };
}

it.each<[string, NoVerdict[], 'stale' | 'unknown', Verdict]>([
  ['one attempt', [away()], 'stale', { outcome: 'stale', reason: 'gave up after one attempt: it is away' }],
  ['one attempt', [away()], 'unknown', { outcome: 'unknown', reason: 'gave up after one attempt: it is away' }],
  ['two attempts', [away(), away()], 'stale', { outcome: 'stale', reason: 'gave up after 2 attempts: it is away' }],
  [
    'a lost answer',
    [away({ mayHaveBeenTaken: true }), away()],
    'stale',
    { outcome: 'unknown', reason: 'gave up after 2 attempts: it is away' },
  ],
])('a solution that is given up after %s (%j, untaken: %s) says so', async (_, answers, untaken, expected) => {
  const { verdict, attempts, sent } = delivery(answers, untaken);
  expect(await verdict).toEqual(expected);
  expect([attempts(), sent()]).toEqual([answers.length, 1]);
});

it('a receiver may ask for a pause of five seconds at most, and for none', async () => {
  const { verdict, asked } = delivery(
    [undefined, 0, 4_999, 5_000, 5_001].map((retryAfterMs) => away({ retryAfterMs })),
  );
  await verdict;
  expect(asked).toEqual([0, 0, 4_999, 5_000, 5_000]);
});

it('a solution that is outdated is stale, except if an attempt may have been taken', async () => {
  const outdated = () => 'its work is old';
  const { verdict, attempts } = delivery([away(), away()], 'unknown', outdated);
  expect(await verdict).toEqual({ outcome: 'stale', reason: 'its work is old: it is away' });
  expect(attempts()).toBe(1);
  const accepted: Verdict = { outcome: 'accepted', reason: '' };
  expect(await delivery([away({ mayHaveBeenTaken: true }), away(), accepted], 'stale', outdated).verdict).toBe(
    accepted,
  );
});
