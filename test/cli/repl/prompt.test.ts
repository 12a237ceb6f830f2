/** The prompt on a pretended terminal. */

import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Conversation } from '#pickaxe/cli/repl/conversation.js';
import { talk } from '#pickaxe/cli/repl/prompt.js';
import { inPlain } from '#pickaxe/rig/terminal/screen.js';
import { PATIENCE } from '../../patience.ts';
import { FakeSession } from './fake-session.ts';

const CTRL_C = '\x03';
const CTRL_D = '\x04';
const UP = '\x1b[A';

let input: PassThrough;
// Node.js edits no lines on a terminal that is called dumb.
beforeEach(() => {
  vi.stubEnv('TERM', 'xterm');
});
afterEach(() => {
  input.end();
  vi.unstubAllEnvs();
});

function open(newestFirst: readonly string[] = [], throws?: Error) {
  input = new PassThrough();
  const output = new PassThrough();
  const typed: string[] = [];
  let shown = '';
  output.on('data', (chunk) => {
    shown += chunk;
  });
  const session = new FakeSession(
    { readFile: () => '', resolvePath: (_, path) => path },
    throws && { bad: { throws } },
  );
  const history = { newestFirst, add: (line: string) => typed.push(line), close: async () => {} };
  const ended = talk({
    conversation: new Conversation(session, () => {}, { read: () => '', paint: inPlain, columns: 80 }),
    history,
    input,
    output,
    isTerminal: true,
    paint: inPlain,
    greeting: 'hello',
  });
  const plain = () => stripVTControlCharacters(shown);
  const sees = (text: string) => vi.waitFor(() => expect(plain()).toContain(text), PATIENCE);
  return { session, typed, ended, sees, plain };
}

it('runs lines, shows that an input goes on, and ends with Ctrl-D', async () => {
  const { ended, sees, plain } = open();
  await sees('contract> ');
  input.write('(+ 1\r');
  await sees('...> ');
  input.write('2)\r');
  await sees('value of (+ 1\n2)');
  input.write(CTRL_D);
  await ended;
  expect(plain()).toMatch(/^hello\n/);
  expect(plain()).toMatch(/contract> \n$/);
});

it('drops the input at Ctrl-C: the line and those before it', async () => {
  const { session, ended, sees } = open();
  input.write('(+ 1\r');
  input.write(`(+ 5${CTRL_C}`);
  await sees('^C');
  input.write('x\r:quit\r');
  await ended;
  expect(session.inputs).toEqual(['x']);
});

it('brings back what was typed before', async () => {
  const { session, typed, ended } = open(['(new)', '(old)']);
  input.write(`${UP}${UP}\r:quit\r`);
  await ended;
  expect(session.inputs).toEqual(['(old)']);
  expect(typed).toEqual(['(old)', ':quit']);
});

it('completes names', async () => {
  const { session, ended, sees } = open();
  input.write('coin.t');
  // A tab among other characters was pasted, and completes nothing.
  input.write('\t');
  await sees('coin.transfer');
  input.write('\r:quit\r');
  await ended;
  expect(session.inputs).toEqual(['coin.transfer']);
});

it('reports a fault of the interpreter', async () => {
  const { ended } = open([], new Error('it is broken'));
  input.write('bad\r');
  await expect(ended).rejects.toThrow('it is broken');
});

it('ends when there is no more input', async () => {
  const { ended } = open();
  input.end('x\n');
  await ended;
});
