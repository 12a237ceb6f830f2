import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { EXIT, UsageError } from '#pickaxe/app/process/exit.js';
import { MAX_FILE_BYTES } from '#pickaxe/cli/included-files.js';
import { replWith } from '#pickaxe/cli/repl/repl.js';
import { ReplReport } from '#pickaxe/cli/repl/report.js';
import { resolvePath } from '#pickaxe/cli/repl/source-files.js';
import { Folder } from '../../app/config/folder.ts';
import { expectShape } from '../../expect-shape.ts';
import { type Pretended, pretendedIo } from '../pretended-io.ts';
import { expectation, FakeSession } from './fake-session.ts';

const folder = new Folder();
afterAll(() => folder.remove());
const file = (name: string, text: string | Uint8Array) => folder.write(name, text);
const passes = file('passes.repl', 'passes');
const fails = file('fails.repl', 'fails');
const stops = file('stops.repl', 'stops');
const empty = file('empty.repl', 'empty');
const talks = file('talks.repl', 'talks');

const failure = expectation('FAILURE: b: expected 1:integer,\nreceived 2:integer', 4);
const place = { file: 'lib.pact', position: { line: 2, column: 0, offset: 9 } };
/** Commands to a terminal, and a mark that changes the direction of a line. */
const HOSTILE = 'a\x1b[2J\x9b\u202eb';
const scripts = {
  passes: { expectations: [expectation('Expect: success: a'), expectation('Expect: success: b')], notes: ['n', 'n'] },
  fails: { expectations: [expectation('Expect: success: a'), failure] },
  stops: {
    expectations: [failure],
    error: { place, message: 'Cannot resolve\n x', frames: ['lib.pact:2:4: (m.f)'] },
  },
  hostile: {
    expectations: [expectation(`FAILURE: ${HOSTILE}`, 1, HOSTILE)],
    error: { place: undefined, message: HOSTILE, frames: [HOSTILE] },
    notes: [HOSTILE],
  },
  talks: { prints: 'one\ntwo\x1b[2J', traces: 'a value' },
};

let io: Pretended;
beforeEach(() => {
  io = pretendedIo();
});

const made: FakeSession[] = [];
/** In milliseconds. */
let time = 0;
interface Options {
  dialect?: '4' | '5';
  trace?: boolean;
  json?: boolean;
  junit?: string;
  maxSteps?: number;
  timeout?: number;
}
function repl(paths: string[], options: Options = {}) {
  const surroundings = {
    isTerminal: false,
    makeSession: (given: FakeSession['options']) => {
      made.push(new FakeSession(given, scripts));
      return made.at(-1)!;
    },
    clock: () => time,
  };
  return replWith(paths, { dialect: '4', trace: false, json: false, ...options }, io, surroundings);
}

describe('a run of files', () => {
  it('says that all is well, and what was not checked', async () => {
    expect(await repl([passes])).toBe(EXIT.done);
    expect(io.stdout).toBe(`${passes}: n\nLoad successful\n1 file, 2 expectations: all passed; dialect 4\n`);
  });

  it('has the steps that --max-steps allows, and names it where they are used up', async () => {
    await repl([passes]);
    await repl([passes], { maxSteps: 100 });
    const advice = { stepsAdvice: '--max-steps N allows more' };
    expect(made.slice(-2).map(({ options }) => options)).toMatchObject([
      { ...advice, maxSteps: undefined },
      { ...advice, maxSteps: 100 },
    ]);
  });

  it('leaves standard input alone if it is not named', async () => {
    io.read = () => Promise.reject(new Error('standard input was read'));
    expect(await repl([passes])).toBe(EXIT.done);
  });

  it('lists failed expectations, one line for each', async () => {
    expect(await repl([fails])).toBe(EXIT.failed);
    expect(io.stdout).toBe(`a.repl:4:2:ExecError: FAILURE: b: expected 1:integer, received 2:integer
Load failed
1 file, 2 expectations: 1 passed, 1 failed; dialect 4
`);
  });

  it('shows the form that ended it with its calls, before failed expectations', async () => {
    expect(await repl([stops])).toBe(EXIT.failed);
    expect(io.stdout).toBe(`lib.pact:2:0:Error: Cannot resolve x
 at lib.pact:2:4: (m.f)
a.repl:4:2:ExecError: FAILURE: b: expected 1:integer, received 2:integer
Load failed
1 file, 1 expectation: 0 passed, 1 failed; 1 file ended with an error; dialect 4
`);
  });

  it('gives each file a session, and names it', async () => {
    made.length = 0;
    expect(await repl([passes, empty, fails], { dialect: '5' })).toBe(EXIT.failed);
    expect(made.map(({ options }) => options.dialect)).toEqual([5, 5, 5]);
    expect(io.stdout.match(/^.*: Load .*$/gm)).toEqual([
      `${passes}: Load successful`,
      `${empty}: Load successful`,
      `${fails}: Load failed`,
    ]);
    expect(io.stdout).toContain(
      `\n3 files, 4 expectations: 3 passed, 1 failed; no expectation in ${empty}; dialect 5\n`,
    );
  });

  it('names each of two', async () => {
    await repl([passes, passes]);
    expect(io.stdout.match(/^.*Load .*$/gm)).toEqual([`${passes}: Load successful`, `${passes}: Load successful`]);
  });

  it('without expectations passes, and says so', async () => {
    expect(await repl([empty])).toBe(EXIT.done);
    expect(io.stdout).toBe('Load successful\n1 file, 0 expectations; dialect 4\n');
  });

  it('names some of the files without expectations, but not those that failed anyway', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => file(`${name}.repl`, 'empty'));
    await repl([...names, passes, stops]);
    const four = names.slice(0, 4).join(', ');
    expect(io.stdout).toContain(`; 1 file ended with an error; no expectation in ${four} and 2 others; dialect 4\n`);
    io.stdout = '';
    await repl([empty, stops, empty]);
    expect(io.stdout).toContain(
      `1 failed; 1 file ended with an error; no expectation in ${empty}, ${empty}; dialect 4\n`,
    );
  });

  it('prints what the code prints, and values only with --trace', async () => {
    await repl([talks]);
    expect(io.stdout).toMatch(/^one\ntwo \[2J\nLoad/);
    io.stdout = '';
    await repl([talks], { trace: true });
    expect(io.stdout).toContain(`\n${talks}:7:0:Trace: a value\n`);
  });
});

describe('--timeout', () => {
  const other = file('other.repl', 'passes');
  /** The first file takes a second, and its session asks whether the run must end. */
  const slow = (paths: string[], options: Options) => {
    time = 0;
    const surroundings = {
      isTerminal: false,
      clock: () => time,
      makeSession: (given: FakeSession['options']) => {
        const session = new FakeSession(given, scripts);
        return {
          runText: session.runText.bind(session),
          names: () => [],
          runFile: (path: string) => {
            time += 1000;
            const why = given.whyEnd?.();
            const result = session.runFile(path);
            return why === undefined ? result : { ...result, error: { place: undefined, message: why, frames: [] } };
          },
        };
      },
    };
    return replWith(paths, { dialect: '4', trace: false, json: false, ...options }, io, surroundings);
  };

  it('ends the run, keeps the results so far, and says of the other files that they were not run', async () => {
    const junit = join(folder.path, 'ended.xml');
    expect(await slow([fails, passes, other], { timeout: 2, junit })).toBe(EXIT.noWork);
    expect(io.stdout).toContain('a.repl:4:2:ExecError: FAILURE: b');
    expect(io.stdout).toContain(`${passes}:Error: the time of --timeout (2 s) is over\n`);
    expect(io.stdout).toContain(`${other}:Error: The file was not run: the time of --timeout (2 s) is over\n`);
    expect(io.stdout).toMatch(
      /\n3 files, 4 expectations: 3 passed, 1 failed; 2 files ended with an error; dialect 4\n$/,
    );
    const xml = readFileSync(junit, 'utf8');
    expect(xml).toContain(`<testsuite name="${fails}" tests="2" failures="1"`);
    expect(xml).toContain(`<testsuite name="${other}" tests="1" failures="0" errors="1"`);
  });

  it('also ends a run of a single file, which was run', async () => {
    expect(await slow([passes], { timeout: 1 })).toBe(EXIT.noWork);
    expect(io.stdout).toContain(`${passes}:Error: the time of --timeout (1 s) is over\n`);
  });

  it('says so in JSON, too', async () => {
    expect(await slow([passes, other], { timeout: 1, json: true })).toBe(EXIT.noWork);
    const [first, second] = io.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ReplReport);
    expectShape(ReplReport, second);
    expect(first.error?.message).toBe('the time of --timeout (1 s) is over');
    expect(second.error?.message).toBe('The file was not run: the time of --timeout (1 s) is over');
  });

  it('changes nothing for a run that is over in time, even if the time ends right behind it', async () => {
    expect(await slow([passes, other], { timeout: 3 })).toBe(EXIT.done);
    expect(await slow([fails], { timeout: 3 })).toBe(EXIT.failed);
  });

  it('counts the time of all files, of which a terminal shows that of each, too', async () => {
    io = pretendedIo({ columns: 300 });
    await slow([passes, other], { timeout: 3 });
    const lines = io.stdout.trim().split('\n');
    expect(lines.flatMap((line) => / ([\d.]+ m?s)$/.exec(line)?.[1] ?? [])).toEqual(['1.00 s', '1.00 s', '2.00 s']);
  });
});

describe('--json', () => {
  it('prints an object for each file, and what the code prints to stderr', async () => {
    expect(await repl([fails, stops, talks], { json: true, trace: true })).toBe(EXIT.failed);
    const reports = io.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ReplReport);
    for (const report of reports) expectShape(ReplReport, report);
    const inFile = { file: 'a.repl', line: 4, column: 2, text: failure.text };
    expect(reports).toEqual([
      { file: fails, dialect: 4, expectations: 2, passed: 1, failures: [inFile], error: null, notes: [] },
      {
        file: stops,
        dialect: 4,
        expectations: 1,
        passed: 0,
        failures: [inFile],
        error: {
          file: 'lib.pact',
          line: 2,
          column: 0,
          message: 'Cannot resolve\n x',
          frames: scripts.stops.error.frames,
        },
        notes: [],
      },
      { file: talks, dialect: 4, expectations: 0, passed: 0, failures: [], error: null, notes: [] },
    ]);
    expect(io.stderr).toBe(`one\ntwo [2J\n${talks}:7:0:Trace: a value\n`);
  });
});

it('JSON has no characters that change the direction of a line or could be commands', async () => {
  expect(await repl([file('hostile.repl', 'hostile')], { json: true })).toBe(EXIT.failed);
  expect(io.stdout).not.toMatch(/[^\P{C}\n]/u);
  expect(JSON.parse(io.stdout)).toMatchObject({
    notes: ['a [2J  b'],
    error: { message: 'a [2J  b', frames: ['a [2J  b'] },
  });
});

describe('--junit', () => {
  it('writes the results of all files', async () => {
    const junit = join(folder.path, 'results.xml');
    expect(await repl([passes, fails], { junit })).toBe(EXIT.failed);
    const xml = readFileSync(junit, 'utf8');
    expect(xml).toContain(`<testsuite name="${passes}" tests="2" failures="0"`);
    expect(xml).toContain(`<testsuite name="${fails}" tests="2" failures="1"`);
  });

  it('that cannot be written is said so, after the results', async () => {
    await expect(repl([passes], { junit: join(folder.path, 'none', 'results.xml') })).rejects.toThrow(
      /results\.xml cannot be written: .* Give --junit another file\./,
    );
    expect(io.stdout).toContain('all passed');
  });
});

describe('standard input', () => {
  it.each([[[]], [['-']]])('is run with the arguments %j', async (paths) => {
    io = pretendedIo({ stdin: 'fails' });
    expect(await repl(paths, { json: true })).toBe(EXIT.failed);
    expect(JSON.parse(io.stdout)).toMatchObject({ file: '<stdin>', expectations: 2 });
  });

  it('loads files of the current folder', () => {
    expect(resolvePath('<stdin>', 'a.pact')).toBe('a.pact');
    expect(resolvePath(join('contracts', 'a.repl'), join('..', 'a.pact'))).toBe('a.pact');
    expect(resolvePath(join('contracts', 'a.repl'), join('lib', 'a.pact'))).toBe(join('contracts', 'lib', 'a.pact'));
    expect(resolvePath('a.repl', folder.path)).toBe(folder.path);
  });

  it('that is no text is refused', async () => {
    io = { ...pretendedIo(), read: async () => Uint8Array.of(0xff) };
    await expect(repl([])).rejects.toThrow(new UsageError('Standard input cannot be read: it is not UTF-8 text.'));
  });
});

describe('files that cannot be run are refused before any other is run', () => {
  it.each([
    ['none', 'gone.repl', 'gone.repl cannot be read: there is no such file. Give the path of a file of contract code.'],
    ['a folder', '.', '. cannot be read: it is a directory. Give the path of a file of contract code.'],
    ['bytes', file('bytes.repl', Uint8Array.of(0x28, 0xff)), 'it is not UTF-8 text. Give'],
    [
      'too large',
      file('large.repl', Buffer.alloc(MAX_FILE_BYTES + 1, 32)),
      `it has more than ${MAX_FILE_BYTES} bytes. Give`,
    ],
  ])('%s', async (_, path, says) => {
    const refused = repl([talks, path]);
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(says);
    expect(io.stdout).toBe('');
  });
});

it.each([
  [{ json: true }, '--json is for files: give some'],
  [{ junit: 'a.xml' }, '--junit is for files: give some'],
  [{ timeout: 5 }, '--timeout is for files: give some'],
])('the prompt refuses %j', async (given, says) => {
  const surroundings = {
    isTerminal: true,
    makeSession: () => new FakeSession({ readFile: () => '', resolvePath }),
    clock: () => 0,
  };
  const options = { dialect: '4' as const, trace: false, json: false, ...given };
  await expect(replWith([], options, io, surroundings)).rejects.toThrow(says);
});
