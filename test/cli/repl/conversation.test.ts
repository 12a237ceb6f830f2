import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { Conversation, HELP } from '#pickaxe/cli/repl/conversation.js';
import { resolvePath, SourceFiles } from '#pickaxe/cli/repl/source-files.js';
import { expectation, FakeSession } from './fake-session.ts';

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-repl-'));
afterAll(() => rmSync(folder, { recursive: true }));

const place = { file: '<input>', position: { line: 1, column: 4, offset: 4 } };
const error = { place, message: 'no such thing', frames: ['a.repl:1:0: (f)'] };

let session: FakeSession;
let conversation: Conversation;

beforeEach(() => {
  const files = new SourceFiles();
  files.nameWorkingFolder();
  session = new FakeSession(
    { readFile: files.read, resolvePath },
    {
      fails: { error },
      'fails late': { values: ['1', '2'], error: { ...error, place: undefined, frames: [] } },
      'fails a test': { values: ['"FAILURE: a: no"'], expectations: [expectation('FAILURE: a: no')] },
      'fails a test inside': { values: ['5'], expectations: [expectation('FAILURE: a: no')] },
      passes: { expectations: [expectation('Expect: success: a')] },
      escapes: { values: ['\x1b[2Jred\r\nnext\u202e'] },
    },
  );
  conversation = new Conversation(session, (path) => files.name(path), {
    read: files.read,
    paint: (style, text) => `<${style}>${text}</>`,
    columns: 80,
  });
});

describe('a line of code', () => {
  it('is run, and its values are printed', () => {
    expect(conversation.take('(+ 1 2)')).toEqual(['value of (+ 1 2)']);
  });

  it('that is blank does nothing', () => {
    expect(conversation.take('  ')).toEqual([]);
    expect(session.inputs).toEqual([]);
  });

  it('goes on until its brackets are closed, also over blank lines and those with a colon in front', () => {
    expect(conversation.take('(+ 1')).toEqual([]);
    expect(conversation.goesOn).toBe(true);
    expect(conversation.take('')).toEqual([]);
    expect(conversation.take(':quit')).toEqual([]);
    expect(conversation.take('2)')).toEqual(['value of (+ 1\n\n:quit\n2)']);
    expect(conversation.goesOn).toBe(false);
  });

  it('that was dropped is forgotten', () => {
    conversation.take('(+ 1');
    conversation.drop();
    expect(conversation.goesOn).toBe(false);
    expect(conversation.take('x')).toEqual(['value of x']);
  });

  it('that is too long in all is dropped, and says what to do', () => {
    conversation.take(`(${'x'.repeat(131_071)}`);
    expect(conversation.goesOn).toBe(true);
    expect(conversation.take('')).toEqual([
      '<red>The input was dropped: it has more than 131072 characters. Put it into a file, and :load it.</>',
    ]);
    expect(conversation.goesOn).toBe(false);
    expect(session.inputs).toEqual([]);
  });

  it('that fails is followed by the values before it, the error and its calls', () => {
    expect(conversation.take('fails')).toEqual([
      'value of fails',
      '<red><input>:1:4:Error: no such thing</>',
      '<dim> at a.repl:1:0: (f)</>',
    ]);
    expect(conversation.take('fails late')).toEqual(['1', '2', '<red><prompt>:Error: no such thing</>']);
  });

  it('shows failed tests in red, once, whether they are values or inside of a form', () => {
    expect(conversation.take('fails a test')).toEqual(['<red>"FAILURE: a: no"</>']);
    expect(conversation.take('fails a test inside')).toEqual(['5', '<red>FAILURE: a: no</>']);
  });

  it.each(['help', ' exit', 'quit', '?', '(exit)'])('%s that means nothing is answered with the commands', (word) => {
    session.runText = () => ({ values: [], expectations: [], error });
    expect(conversation.take(word)).toEqual(['Do you mean :help or :quit?']);
  });

  it('help that means something is run', () => {
    expect(conversation.take('help')).toEqual(['value of help']);
  });

  it('cannot send commands to the terminal', () => {
    expect(conversation.take('escapes')).toEqual([' [2Jred\nnext ']);
  });
});

describe('a command of the prompt', () => {
  it(':help explains the prompt', () => {
    expect(conversation.take(' :help ')).toEqual(HELP);
    expect(conversation.take(':help load')).toEqual(HELP);
  });

  it(':quit ends the conversation', () => {
    expect(conversation.take(':quit')).toEqual([]);
    expect(conversation.hasEnded).toBe(true);
  });

  it('that does not exist is said so', () => {
    expect(conversation.take(':exit')).toEqual(['There is no :exit. :help lists what there is.']);
  });

  it(':load runs a file in the session of the prompt', () => {
    const file = join(folder, 'some tests.repl');
    writeFileSync(file, 'passes\n');
    expect(conversation.take(`:load ${file}`)).toEqual(['Load successful', '1 file, 1 expectation: passed']);
    writeFileSync(file, 'fails a test\n');
    expect(conversation.take(`:load ${file}`)).toEqual([
      '<red>a.repl:1:2:ExecError: FAILURE: a: no</>',
      '<red>Load failed</>',
      '<red>1 file, 1 expectation: 0 passed, 1 failed</>',
    ]);
  });

  it(':load without a file, or with one that is not there, says what is wrong', () => {
    expect(conversation.take(':load')).toEqual([':load needs the path of a file.']);
    const [said] = conversation.take(`:load ${join(folder, 'gone')}`);
    expect(said).toContain('gone cannot be read: there is no such file.');
  });
});

describe('completion', () => {
  it.each([
    ['(expe', ['expect', 'expect-that'], 'expe'],
    ['(let ((x coin.', ['coin.transfer'], 'coin.'],
    ['(nothing', [], 'nothing'],
    ['(', [], ''],
    [':', [':help', ':load', ':quit'], ':'],
    ['(x :', [], ':'],
  ])('of %s', (line, hits, word) => {
    expect(conversation.complete(line)).toEqual([hits, word]);
  });

  it('offers no commands of the prompt while an input goes on', () => {
    conversation.take('(+ 1');
    expect(conversation.complete(':h')).toEqual([[], ':h']);
  });
});
