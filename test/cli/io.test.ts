/** The input and output of a process: its standard streams, its terminal, and the signals that end it. */

import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { gpusOf, isEndOfQuestion, processIo } from '#pickaxe/cli/io.js';

interface Tty {
  readonly columns?: number;
  readonly rows?: number;
}

/** Replaces the standard streams. @param ttys those that are terminals, with what they know of themselves */
function streams(ttys: { readonly stdin?: Tty; readonly stdout?: Tty; readonly stderr?: Tty } = {}) {
  const made = (['stdin', 'stdout', 'stderr'] as const).map((name) => {
    const stream = Object.assign(new PassThrough(), ttys[name] && { isTTY: true, setRawMode: () => {}, ...ttys[name] });
    const spy = vi.spyOn(process, name, 'get').mockReturnValue(stream as never);
    onTestFinished(() => spy.mockRestore());
    return stream;
  });
  return { stdin: made[0], stdout: made[1], stderr: made[2] };
}

describe('the streams', () => {
  it('get results as they are, and messages as lines of another stream', () => {
    const { stdout, stderr } = streams();
    const io = processIo();
    io.out('a result');
    io.say('a message');
    expect([`${stdout.read()}`, `${stderr.read()}`]).toEqual(['a result', 'a message\n']);
  });

  it('give as many bytes as a command takes, and are refused with one more', async () => {
    const read = async (pieces: readonly string[], most: number) => {
      const { stdin } = streams();
      const bytes = processIo().read(most);
      for (const piece of pieces) stdin.write(piece);
      stdin.end();
      return Buffer.from(await bytes).toString();
    };
    expect(await read(['abc', 'de'], 5)).toBe('abcde');
    await expect(read(['abc', 'def'], 5)).rejects.toThrow('standard input has more than 5 bytes.');
  });
});

describe('the terminal', () => {
  it.each([
    [{ stdin: {}, stdout: {} }, true],
    [{ stdin: {}, stderr: {} }, false],
    [{ stdout: {}, stderr: {} }, false],
  ])('is one on which the command can be answered: %j', (ttys, isThere) => {
    const { stdin, stdout } = streams(ttys);
    expect(processIo().terminal).toEqual(isThere ? { input: stdin, output: stdout } : undefined);
  });

  it.each([
    [{ stdout: { columns: 100, rows: 50 } }, 100, 50],
    [{ stdout: { columns: 0, rows: 0 } }, undefined, undefined],
    [{ stdin: { columns: 100, rows: 50 } }, undefined, undefined],
  ])('has a size if it knows it: %j', (ttys, columns, rows) => {
    streams(ttys);
    const io = processIo();
    expect([io.columns, io.rows]).toEqual([columns, rows]);
  });

  it('of a pipe has no size, whatever that says', () => {
    const { stdout } = streams();
    Object.assign(stdout, { columns: 100, rows: 50 });
    const io = processIo();
    expect([io.columns, io.rows]).toEqual([undefined, undefined]);
  });

  it.each([
    [{ stderr: {} }, true],
    [{}, false],
    [{ stdout: {}, stderr: {} }, false],
    [{ stdout: {} }, false],
  ])('shows progress beside a result that goes elsewhere: %j', (ttys, expected) => {
    streams(ttys);
    expect(processIo().showsProgress).toBe(expected);
  });
});

describe('a question', () => {
  const asked = (stop?: AbortSignal) => {
    const { stdin, stderr } = streams({ stdin: {}, stderr: {} });
    const answer = processIo().confirm('Send it?', stop);
    return { answer, type: (keys: string) => stdin.write(keys), shown: once(stderr, 'data') };
  };

  it.each([{ stdin: {} }, { stderr: {} }, { stdout: {} }])(
    'is asked of nobody without a terminal: %j',
    async (ttys) => {
      streams(ttys);
      expect(await processIo().confirm('Send it?')).toBeUndefined();
    },
  );

  it.each([
    ['y\r', true],
    ['n\r', false],
    ['\r', false],
  ])('is answered by %j', async (keys, expected) => {
    const { answer, type, shown } = asked();
    expect(`${await shown}`).toContain('Send it?');
    type(keys);
    expect(await answer).toBe(expected);
  });

  it('ends with Ctrl-C, and when the command ends', async () => {
    const typed = asked();
    await typed.shown;
    typed.type('\u0003');
    const stopped = asked(AbortSignal.abort());
    for (const { answer } of [typed, stopped]) {
      const fault = await answer.catch((error: unknown) => error);
      expect(isEndOfQuestion(fault)).toBe(true);
    }
    expect([isEndOfQuestion(new Error('no')), isEndOfQuestion({ name: 'ExitPromptError' })]).toEqual([false, false]);
  });
});

it('a command that reads whether it shall end is ended by the first signal, and its process by the second', () => {
  const NAMES = ['SIGINT', 'SIGTERM', 'SIGBREAK', 'SIGHUP'] as const;
  const before = NAMES.map((name) => process.listeners(name));
  onTestFinished(() => {
    for (const [i, name] of NAMES.entries())
      for (const listener of process.listeners(name)) if (!before[i].includes(listener)) process.off(name, listener);
  });
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  onTestFinished(() => exit.mockRestore());
  const count = () => process.listenerCount('SIGTERM');
  const none = count();
  const io = processIo();
  expect(count()).toBe(none);
  const { stop } = io;
  expect([stop.aborted, io.stop === stop, count()]).toEqual([false, true, none + 1]);
  process.emit('SIGTERM');
  expect([io.stop.aborted, exit.mock.calls]).toEqual([true, []]);
  process.emit('SIGTERM');
  expect(exit.mock.calls).toEqual([[130]]);
});

it('the time is that of the wall', () => {
  expect(Math.abs(processIo().now() - Date.now())).toBeLessThan(60_000);
});

it('GPUs are listed by the program that runs the command, if it can', async () => {
  const asked: unknown[] = [];
  const listGpus = async (options: unknown) => {
    asked.push(options);
    return [];
  };
  expect(await gpusOf({ listGpus } as never)).toEqual([]);
  expect(await gpusOf({ listGpus } as never, { softwareGpu: true })).toEqual([]);
  expect(asked).toEqual([{}, { softwareGpu: true }]);
});
