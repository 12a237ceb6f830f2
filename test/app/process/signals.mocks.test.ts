/** What signals do to a command, with a terminal and without one. */

import { isatty } from 'node:tty';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';

vi.mock('node:tty', async (original) => ({ ...(await original<object>()), isatty: vi.fn() }));

afterEach(() => {
  vi.restoreAllMocks();
});

/** @param terminal the descriptors that are terminals @returns the module as it is in such a process */
async function inProcessWith(...terminal: number[]) {
  vi.resetModules();
  vi.mocked(isatty).mockImplementation((descriptor) => terminal.includes(descriptor));
  return await import('#pickaxe/app/process/signals.js');
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGBREAK', 'SIGHUP'] as const;
const handlers = () => SIGNALS.map((signal) => process.listenerCount(signal));

describe('a command', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGBREAK'] as const)('stops at %s, and ends at once at the second', async (signal) => {
    const { onSignals } = await inProcessWith();
    const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
    const stop = vi.fn();
    const before = handlers();
    const release = onSignals(stop);
    process.emit(signal, signal);
    expect([stop.mock.calls.length, exit.mock.calls]).toEqual([1, []]);
    process.emit('SIGINT', 'SIGINT');
    expect(exit.mock.calls).toEqual([[130]]);
    release();
    expect(handlers()).toEqual(before);
  });

  // On Windows the signal always means that the terminal was closed.
  const onWindows = process.platform === 'win32';

  it.each([0, 1, 2])(
    'stops when its terminal is closed, and not at once at the second signal of that: %i',
    async (fd) => {
      const { onSignals, onHangup } = await inProcessWith(fd);
      const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
      const [stop, act] = [vi.fn(), vi.fn()];
      const before = handlers();
      const releases = [onSignals(stop), onHangup(act)];
      for (let time = 0; time < 3; time++) process.emit('SIGHUP', 'SIGHUP');
      expect([stop.mock.calls.length, exit.mock.calls, act.mock.calls]).toEqual([1, [], []]);
      process.emit('SIGTERM', 'SIGTERM');
      expect(exit).toHaveBeenCalledOnce();
      for (const release of releases) release();
      expect(handlers()).toEqual(before);
    },
  );

  it.skipIf(onWindows)('goes on at SIGHUP without a terminal, and can do something then', async () => {
    const { onSignals, onHangup, surviveHangups } = await inProcessWith();
    const [stop, act] = [vi.fn(), vi.fn()];
    const before = handlers();
    const others = process.rawListeners('SIGHUP');
    surviveHangups();
    onTestFinished(() => {
      for (const each of process.rawListeners('SIGHUP')) {
        if (!others.includes(each)) process.off('SIGHUP', each as () => void);
      }
    });
    expect(process.listenerCount('SIGHUP')).toBe(before[3] + 1);
    const releases = [onSignals(stop), onHangup(act)];
    process.emit('SIGHUP', 'SIGHUP');
    process.emit('SIGHUP', 'SIGHUP');
    expect([stop.mock.calls.length, act.mock.calls.length]).toEqual([0, 2]);
    for (const release of releases) release();
    process.emit('SIGHUP', 'SIGHUP');
    expect(act).toHaveBeenCalledTimes(2);
  });
});
