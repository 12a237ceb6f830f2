/** Files that are run and loaded: places, traces, notes, and what belongs to which file. */

import { expect, it } from 'vitest';
import { MAX_LOAD_DEPTH, Session, type SessionOptions } from '#pickaxe/contract/repl/repl-session.js';
import { Kept } from '#pickaxe/contract/runtime/kept.js';

function sessionOf(files: Readonly<Record<string, string>>, options: Partial<SessionOptions> = {}): Session {
  return new Session({ dialect: 4, readFile: (path) => files[path], resolvePath: (_, path) => path, ...options });
}

it('as many files as the maximum may load each other in a chain', () => {
  const chain = (length: number) =>
    Object.fromEntries(
      Array.from({ length }, (_, at) => [`${at}.repl`, at < length - 1 ? `(load "${at + 1}.repl")` : '1']),
    );
  expect(sessionOf(chain(MAX_LOAD_DEPTH)).runFile('0.repl').error).toBeUndefined();
  expect(sessionOf(chain(MAX_LOAD_DEPTH + 1)).runFile('0.repl').error?.message).toBe(
    `More than ${MAX_LOAD_DEPTH} files load each other`,
  );
});

it.each([4, 5] as const)(
  'values are traced with their places, and texts without quotation marks, in dialect %i',
  (dialect) => {
    const traced: unknown[] = [];
    const onTrace: SessionOptions['onTrace'] = ({ file, position: { line, column } }, text) =>
      traced.push([file, line, column, text]);
    const files = { 'a.repl': '"text" 1\n  ["text"]\n(load "b.repl")', 'b.repl': 'true' };
    expect(sessionOf(files, { dialect, onTrace }).runFile('a.repl').error).toBeUndefined();
    expect(traced).toEqual([
      ['a.repl', 1, 0, 'text'],
      ['a.repl', 1, 7, '1'],
      ['a.repl', 2, 2, '["text"]'],
      ['b.repl', 1, 0, 'true'],
      ['a.repl', 3, 0, dialect === 4 ? 'Loading b.repl...' : '()'],
    ]);
  },
);

it('a failure has the place and the calls through which it came', () => {
  const files = {
    'a.repl':
      '(module m G (defcap G () true)\n  (defun f (x) (enforce x "no"))\n  (defun g (x) (f x)))\n\n (m.g false)',
  };
  expect(sessionOf(files).runFile('a.repl').error).toMatchObject({
    message: 'no',
    place: { file: 'a.repl', position: { line: 2, column: 15 } },
    frames: ['a.repl:3:15: (m.f false)', 'a.repl:5:1: (m.g false)'],
  });
});

it('a result has the expectations of its own run, and the notes of the session, each once', () => {
  const session = sessionOf({
    'a.repl': '(expect "a" 1 1) (typecheck "m") (typecheck "m")',
    'b.repl': '(expect "b" 1 1) (typecheck "n") (verify "n")',
  });
  const first = session.runFile('a.repl');
  expect(first.expectations.map(({ text }) => text)).toEqual(['Expect: success: a']);
  expect(first.notes).toHaveLength(1);
  const second = session.runFile('b.repl');
  expect(second.expectations.map(({ text }) => text)).toEqual(['Expect: success: b']);
  expect(second.notes).toHaveLength(3);
  expect(session.runText('(expect "c" 1 1)').expectations.map(({ text }) => text)).toEqual(['Expect: success: c']);
});

it('a note that is there already takes no more of the memory for results', () => {
  const run = (code: string) => sessionOf({}, { reported: new Kept(120, 'the results have') }).runText(code).error;
  expect(run('(typecheck "m") (typecheck "m") (typecheck "m")')).toBeUndefined();
  expect(run('(typecheck "m") (typecheck "n")')?.message).toMatch(/^The run has ended: the results have more/);
});

it('a form that fails changes no environment in dialect 4', () => {
  const after = (dialect: 4 | 5) => {
    const session = sessionOf({}, { dialect });
    session.runText('(env-data {"a": 1})');
    session.runText('[(env-data {"a": 2}) (env-keys ["k"]) (enforce false "no")]');
    return session.runText('(read-msg "a") (sig-keyset)').values;
  };
  expect(after(4)).toEqual(['1', 'KeySet {keys: [],pred: keys-all}']);
  expect(after(5)).toEqual(['2', 'KeySet {keys: [k],pred: keys-all}']);
});

it('an expectation has the place of its call', () => {
  const session = sessionOf({ 'a.repl': '1\n (expect "a" 1 1)' });
  const places = [...session.runFile('a.repl').expectations, ...session.runText(' (expect "b" 1 1)').expectations];
  expect(places.map(({ place: { file, position } }) => [file, position.line, position.column])).toEqual([
    ['a.repl', 2, 1],
    ['<interactive>', 1, 1],
  ]);
});
