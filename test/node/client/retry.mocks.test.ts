import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { NodeError } from '#pickaxe/node/http/node-error.js';
import { withRetries } from '#pickaxe/node/http/request.js';

const POLICY = {
  attempts: 2,
  pauses: { firstMs: 1, mostMs: 1 },
  clock: systemClock,
  random: () => 0,
  mayPass: () => true,
};

it('a node that answers 503 with retry-after is asked again when the node has asked for it, not sooner', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const attempt = async () => {
    if (asked++ === 0) throw new NodeError('failed', 'busy', { status: 503, retryAfterMs: 1_000, retryable: true });
  };
  const done = withRetries(attempt, POLICY, new AbortController().signal);
  await vi.advanceTimersByTimeAsync(999);
  expect(asked).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  await done;
  expect(asked).toBe(2);
});

it('the last error says that an earlier attempt may have been taken, and one that other requests share stays as it is', async () => {
  const shared = new NodeError('unreachable', 'away');
  const errors = [new NodeError('broken', 'broke', { retryable: true }), shared];
  const attempt = () => Promise.reject(errors.shift());
  const failed = withRetries(attempt, POLICY, new AbortController().signal);
  await expect(failed).rejects.toMatchObject({ kind: 'unreachable', message: 'away', mayHaveBeenTaken: true });
  expect(shared.mayHaveBeenTaken).toBe(false);
});
