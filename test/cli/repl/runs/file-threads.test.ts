/** Files in threads give the same as in this thread. */

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { replWith } from '#pickaxe/cli/repl/repl.js';
import { type FileThreads, startFileThreads } from '#pickaxe/cli/repl/runs/file-threads.js';
import { Session } from '#pickaxe/contract/repl/repl-session.js';
import { Folder } from '../../../app/config/folder.ts';
import { pretendedIo } from '../../pretended-io.ts';

const folder = new Folder();
const first = folder.write('first.repl', '(print "hello")\n(expect "one" 1 1)\n');
const second = folder.write('second.repl', '(expect "two" 2 (foo))\n');
const reported = new Int32Array(new SharedArrayBuffer(4));

let threads: FileThreads;
beforeAll(() => {
  const options = { dialect: 4, trace: false } as const;
  threads = startFileThreads(2, { options, allowed: [], stdin: '3', code: undefined, end: undefined, reported });
});
afterAll(async () => {
  await threads.close();
  folder.remove();
});

describe('a thread', () => {
  it('runs files, and returns what they print', async () => {
    const [one, two, input] = await Promise.all([first, second, '<stdin>'].map((name) => threads.run(name)));
    expect(one).toMatchObject({ printed: ['hello'], failures: [], isLate: false, read: [first] });
    expect(one.result.expectations).toMatchObject([{ passed: true }]);
    expect(two.failures).toEqual([
      `${second}:1:17:Error: Cannot resolve foo`,
      '  1 | (expect "two" 2 (foo))',
      expect.any(String),
    ]);
    expect(input.value).toBe('3');
  });

  it('counts only tests with a text in their names, if it is asked to', async () => {
    const counts = async (filter?: string) => (await threads.run(first, filter)).result.expectations.length;
    expect([await counts('ONE'), await counts('two'), await counts()]).toEqual([1, 0, 1]);
  });

  it('says which files it has read, and which could not be found', async () => {
    folder.write('other/lib.pact', '1');
    const loads = (path: string) => threads.run(folder.write('loads.repl', `(load "${path}")`));
    const itself = join(folder.path, 'loads.repl');
    expect((await loads('gone.pact')).read).toEqual([itself, join(folder.path, 'gone.pact')]);
    // What must not be read is not looked for, and not watched.
    expect((await loads('..')).read).toEqual([itself]);
    expect((await loads('other')).read).toEqual([itself]);
  });

  it('says that a file is not there any more', async () => {
    const { result } = await threads.run('gone.repl');
    expect(result.error?.message).toMatch(/^The file was not run: gone\.repl cannot be read: there is no such file/);
  });

  it('counts the characters of results together with the others', async () => {
    expect(Atomics.load(reported, 0)).toBeGreaterThan(0);
    Atomics.store(reported, 0, 2 ** 24);
    const { result } = await threads.run(first);
    expect(result.error?.message).toBe('The run has ended: the results have more than 16777216 characters');
    Atomics.store(reported, 0, 0);
  });
});

it('files that are left after a while run in threads, and are reported in their order', async () => {
  const started: number[] = [];
  let time = 0;
  const io = pretendedIo();
  const code = await replWith([first, second, first], { dialect: '4', trace: false, json: false }, io, {
    isTerminal: false,
    makeSession: (options) => new Session(options),
    clock: () => {
      time += 300;
      return time;
    },
    startThreads: async (files) => {
      started.push(files);
      return {
        run: (name, filter) => threads.run(name, filter),
        close: async () => void started.push(-files),
      };
    },
  });
  expect(code).toBe(1);
  // The first clock reading is that of the whole run, and the second that of its first file. The threads are ended.
  expect(started).toEqual([3, -3]);
  expect(io.stdout).toBe(`hello
${first}: Load successful
${second}:1:17:Error: Cannot resolve foo
  1 | (expect "two" 2 (foo))
    |                  ^
${second}: Load failed
hello
${first}: Load successful
3 files, 2 expectations: all passed; 1 file ended with an error; dialect 4
`);
});

it.each([
  ['a file is the only one', [first], 300],
  ['a file is the last one', [first, first], 200],
  ['files are done at once', [first, first, first], 0],
])('no threads are started when %s', async (_, names, stepMs) => {
  const startThreads = vi.fn();
  let time = 0;
  const code = await replWith(names, { dialect: '4', trace: false, json: false }, pretendedIo(), {
    isTerminal: false,
    makeSession: (options) => new Session(options),
    clock: () => {
      time += stepMs;
      return time;
    },
    startThreads,
  });
  expect(code).toBe(0);
  expect(startThreads).not.toHaveBeenCalled();
});
