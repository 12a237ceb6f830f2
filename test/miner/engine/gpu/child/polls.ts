import { onTestFinished, vi } from 'vitest';
import { calmPolling } from '#pickaxe/miner/engine/gpu/child/shader-scanner.js';

/**
 * Lets timers poll instead of Dawn until the test ends.
 * @returns a function that requests a poll, as Dawn does, and returns the ms until this poll
 */
export function watchPolls(): () => Promise<number | undefined> {
  const own = globalThis.setImmediate;
  onTestFinished(() => {
    globalThis.setImmediate = own;
  });
  calmPolling();
  const poll = globalThis.setImmediate;
  globalThis.setImmediate = own;
  return async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout').mockReturnValue(undefined as never);
    poll(() => {});
    await new Promise((resolve) => own(resolve));
    const [[, ms]] = timers.mock.calls;
    timers.mockRestore();
    return ms;
  };
}
