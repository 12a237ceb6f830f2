import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { Terminal } from '#pickaxe/cli/io.js';
import { notRun } from '#pickaxe/cli/repl/runs/run-file.js';
import { watchFiles } from '#pickaxe/cli/repl/runs/watch.js';
import { WatchKeys } from '#pickaxe/cli/repl/runs/watch-keys.js';
import { Folder } from '../../../app/config/folder.ts';
import { PATIENCE } from '../../../patience.ts';
import { pretendedIo } from '../../pretended-io.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

/** A terminal in the foreground, on which the test types. */
function typing() {
  const input = Object.assign(new EventEmitter(), {
    setEncoding: () => input,
    resume: () => input,
    pause: () => input,
    setRawMode: () => input,
  });
  const terminal = { input, output: { write: () => true } } as unknown as Terminal;
  return { terminal, type: (text: string) => input.emit('data', text) };
}

/** Watches two files that load a third one, until the test ends. */
function watching({
  clears = false,
  terminal,
  filter,
}: {
  clears?: boolean;
  terminal?: Terminal;
  filter?: string;
} = {}) {
  const [a, b, lib] = ['a.repl', 'b.repl', 'lib.pact'].map((name) => folder.write(name, '1'));
  const stop = new AbortController();
  const io = pretendedIo({ stop: stop.signal, ...(terminal && { terminal }) });
  const runs: (readonly string[])[] = [];
  const filters: (string | undefined)[] = [];
  const passing = new Set<string>();
  const runner = {
    startThreads: async () => undefined,
    run: async (names: readonly string[], _: unknown, filtered?: string) => {
      runs.push(names);
      filters.push(filtered);
      return {
        code: 0,
        runs: names.map((name) => {
          const run = notRun(name, 'why');
          const result = passing.has(name) ? { ...run.result, error: undefined } : run.result;
          return { ...run, result, read: [name, lib, `${folder.path}/new.pact`] };
        }),
      };
    },
  };
  const ended = watchFiles([a, b], { runner, io, clears, filter });
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  const waits = (times: number) =>
    vi.waitFor(() => expect(io.stderr.match(/^Waiting for changes of 2 files or/gm)).toHaveLength(times), PATIENCE);
  return { a, b, io, runs, filters, passing, stop, ended, waits };
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
  const { io, waits } = watching({ clears: true });
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

it('keys choose what is run', async () => {
  const { terminal, type } = typing();
  const { a, b, io, runs, filters, passing, ended, waits } = watching({ terminal, filter: 'first' });
  await waits(1);
  expect(io.stderr).toContain('or of what is loaded. h lists keys.');
  passing.add(a);
  type('a');
  await waits(2);
  type('f');
  await waits(3);
  type('pname\r');
  await waits(4);
  type('f');
  await waits(5);
  type('\r');
  await waits(6);
  type('p\r');
  await waits(7);
  expect(runs).toEqual([[a, b], [a, b], [b], [a, b], [b], [b], [a, b]]);
  expect(filters).toEqual(['first', undefined, undefined, 'name', 'name', 'name', undefined]);
  passing.add(b);
  type('a');
  await waits(8);
  type('f');
  await vi.waitFor(() => expect(io.stderr).toMatch(/No file has failed\.\n$/), PATIENCE);
  type('q');
  expect(await ended).toBe(0);
  expect(runs).toHaveLength(8);
});

it('a key also runs what has changed meanwhile', async () => {
  const { terminal, type } = typing();
  const { a, b, runs, passing, waits } = watching({ terminal });
  const asked = vi.spyOn(WatchKeys.prototype, 'isTyping', 'get');
  onTestFinished(() => asked.mockRestore());
  passing.add(a);
  await waits(1);
  // The change is noticed while it must wait, and the key comes with it.
  asked.mockReturnValue(true);
  folder.write('a.repl', '2');
  await vi.waitFor(() => expect(asked).toHaveReturnedWith(true), PATIENCE);
  type('f');
  await waits(2);
  expect(runs[1]).toEqual([a, b]);
});

it('changes wait while the user types, and what is chosen then runs them', async () => {
  const { terminal, type } = typing();
  const { a, b, runs, passing, waits } = watching({ terminal });
  passing.add(a);
  await waits(1);
  const asked = vi.spyOn(WatchKeys.prototype, 'isTyping', 'get');
  onTestFinished(() => asked.mockRestore());
  type('p');
  folder.write('a.repl', '2');
  await vi.waitFor(() => expect(asked).toHaveReturnedWith(true), PATIENCE);
  expect(runs).toHaveLength(1);
  type('x\r');
  await waits(2);
  expect(runs[1]).toEqual([a, b]);
});
