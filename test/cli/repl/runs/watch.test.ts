import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { notRun } from '#pickaxe/cli/repl/runs/run-file.js';
import { watchFiles } from '#pickaxe/cli/repl/runs/watch.js';
import { Folder } from '../../../app/config/folder.ts';
import { PATIENCE } from '../../../patience.ts';
import { pretendedIo } from '../../pretended-io.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

/** Watches two files that load a third one, until the test ends. */
function watching(clears = false) {
  const [a, b, lib] = ['a.repl', 'b.repl', 'lib.pact'].map((name) => folder.write(name, '1'));
  const stop = new AbortController();
  const io = pretendedIo({ stop: stop.signal });
  const runs: (readonly string[])[] = [];
  const runner = {
    startThreads: async () => undefined,
    run: async (names: readonly string[]) => {
      runs.push(names);
      return {
        code: 0,
        runs: names.map((name) => ({ ...notRun(name, 'why'), read: [name, lib, `${folder.path}/new.pact`] })),
      };
    },
  };
  const ended = watchFiles([a, b], { runner, io, clears });
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  const waits = (times: number) =>
    vi.waitFor(() => expect(io.stderr.match(/^Waiting for changes of 2 files or/gm)).toHaveLength(times), PATIENCE);
  return { a, b, io, runs, stop, ended, waits };
}

it('a file is run again when it changes, and all that have loaded what has changed', async () => {
  const { a, b, io, runs, stop, ended, waits } = watching();
  await waits(1);
  folder.write('b.repl', '2');
  await waits(2);
  folder.write('lib.pact', '2');
  await waits(3);
  folder.write('new.pact', 'appears');
  await waits(4);
  expect(runs).toEqual([[a, b], [b], [a, b], [a, b]]);
  expect(io.stdout).toBe('');
  stop.abort();
  expect(await ended).toBe(0);
});

it('the screen is cleared before each run', async () => {
  const { io, waits } = watching(true);
  await waits(1);
  expect(io.stdout).toBe('\x1b[H\x1b[2J\x1b[3J');
});

it('an error of the run ends it, but not after the user has', async () => {
  const a = folder.write('a.repl', '1');
  const stop = new AbortController();
  const io = pretendedIo({ stop: stop.signal });
  const closed = vi.fn(async () => {});
  const threads = { run: vi.fn(), close: closed };
  const fail = async () => {
    throw new Error('no more threads');
  };
  const runner = { startThreads: async () => threads, run: fail };
  await expect(watchFiles([a], { runner, io, clears: false })).rejects.toThrow('no more threads');
  expect(closed).toHaveBeenCalled();
  const failLate = () => {
    stop.abort();
    return fail();
  };
  const late = { startThreads: async () => threads, run: failLate };
  expect(await watchFiles([a], { runner: late, io, clears: false })).toBe(0);
});
