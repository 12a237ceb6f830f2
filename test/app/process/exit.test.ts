/** How a command ends: with everything written, or because nobody reads it any more. */

import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { exit, orUsageError, refuse, UsageError, whyNotListening } from '#pickaxe/app/process/exit.js';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const fault = (code: string, message = code) => Object.assign(new Error(message), { code });

describe('the end of a process', () => {
  type Written = (fault?: Error) => void;

  /** A process whose outputs are read only when the test says so. */
  function pretended() {
    vi.useFakeTimers();
    const before = process.exitCode;
    const waiting: Written[] = [];
    const said: string[] = [];
    for (const stream of [process.stderr, process.stdout]) {
      vi.spyOn(stream, 'write').mockImplementation((text: unknown, then?: unknown) => {
        if (typeof then === 'function') waiting.push(then as Written);
        else said.push(String(text));
        return true;
      });
    }
    const ended: unknown[] = [];
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      ended.push(code);
      throw new Error('nothing comes after the end');
    });
    /** Does what may end the process. */
    const until = (act: () => void) => {
      try {
        act();
      } catch (error) {
        expect(error).toMatchObject({ message: 'nothing comes after the end' });
      }
    };
    onTestFinished(() => {
      process.exitCode = before;
    });
    return { waiting, said, ended, until };
  }

  it('comes when both outputs have written everything', () => {
    const { waiting, ended, until } = pretended();
    exit(3);
    expect([process.exitCode, waiting.length, ended]).toEqual([3, 1, []]);
    waiting[0]();
    expect([waiting.length, ended]).toEqual([2, []]);
    until(() => waiting[1]());
    expect(ended).toEqual([3]);
  });

  it('comes after two seconds if nobody reads them', () => {
    const { ended, until } = pretended();
    exit(4);
    vi.advanceTimersByTime(1_999);
    expect(ended).toEqual([]);
    until(() => vi.advanceTimersByTime(1));
    expect(ended).toEqual([4]);
  });

  it.each([
    ['is a success if the reader has gone', 'EPIPE', 0, []],
    ['is a success if the reader has gone, on Windows', 'EOF', 0, []],
    ['is a failure if the disk is full', 'ENOSPC', 1, ['error: what is printed cannot be written: ENOSPC\n']],
  ])('%s', (_, code, expected, says) => {
    const { waiting, said, ended, until } = pretended();
    exit(3);
    waiting[0]();
    until(() => waiting[1](fault(code)));
    expect([ended, said]).toEqual([[expected], says]);
  });
});

it.each([
  ['EADDRINUSE', 80, 'port 80 is in use, perhaps by another pickaxe. Stop that program, or give another port'],
  ['EACCES', 80, 'this user may not use port 80. Give a port above 1023'],
  ['EADDRNOTAVAIL', 80, 'this machine has no such address. Give one of its own, or 0.0.0.0 for all of them'],
  ['EOTHER', 80, 'something else'],
])('why nothing can be listened to: %s', (code, port, why) => {
  expect(whyNotListening(fault(code, 'something else'), port)).toBe(why);
});

describe('an error of usage', () => {
  it('takes the place of another one, in the words of the caller', () => {
    const fails = (error: Error) => () => {
      throw error;
    };
    expect(orUsageError(() => 7)).toBe(7);
    expect(() => orUsageError(fails(new RangeError('too big')))).toThrow(new UsageError('too big'));
    expect(() => orUsageError(fails(new Error('x')), (why) => `because of ${why}`)).toThrow(
      new UsageError('because of x'),
    );
    const own = new UsageError('as it is');
    expect(() => orUsageError(fails(own), () => 'changed')).toThrow(own);
  });

  it('lists all contradictions, each in its line, and is none without any', () => {
    refuse([]);
    expect(() => refuse(['one', 'two'])).toThrow(new UsageError('one\ntwo'));
  });
});
