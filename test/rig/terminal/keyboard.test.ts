/** The keys of a terminal, whether they may be read, and what is written to a terminal that is not read. */

import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { inColours, isForeground, Keyboard, keysOf, Screen, writeLine } from '#pickaxe/rig/terminal/screen.js';

class Stdin extends EventEmitter {
  readonly calls: string[] = [];
  setEncoding = (name: string) => this.#call(name);
  resume = () => this.#call('resume');
  pause = () => this.#call('pause');
  setRawMode = (isRaw: boolean) => this.#call(isRaw ? 'raw' : 'not raw');

  #call(name: string): this {
    this.calls.push(name);
    return this;
  }
}

function keyboard() {
  const stdin = new Stdin();
  const typed: string[] = [];
  const it = new Keyboard(stdin as never, (key) => typed.push('typed' in key ? key.typed : key.control));
  return { it, stdin, typed, type: (text: string) => stdin.emit('data', text) };
}

describe('a keyboard', () => {
  it('gives each key once while it is open, however often it was opened', () => {
    const { it, stdin, typed, type } = keyboard();
    type('a');
    it.open();
    expect(stdin.calls).toEqual(['utf8', 'resume', 'not raw', 'raw']);
    it.open();
    type('bC');
    type('\x03');
    expect(typed).toEqual(['b', 'c', 'interrupt']);
    it.close();
    type('d');
    expect(typed).toHaveLength(3);
    expect(stdin.calls.slice(-2)).toEqual(['pause', 'not raw']);
  });

  it('leaves the mode of the terminal to a program that uses it now', () => {
    const { it, stdin, typed, type } = keyboard();
    it.open();
    it.release();
    type('a');
    expect(typed).toEqual([]);
    expect(stdin.calls.at(-1)).toBe('pause');
  });

  it('whose terminal was closed gives nothing more', () => {
    const { it, stdin, typed, type } = keyboard();
    it.open();
    stdin.emit('error', new Error('read EIO'));
    type('q');
    expect(typed).toEqual([]);
  });

  it('takes eight keys at once, and more as a pasted text', () => {
    expect(keysOf('abcdefgh')).toHaveLength(8);
    expect(keysOf('abcdefghi')).toEqual([]);
    expect(keysOf('\x03\x1a')).toEqual([{ control: 'interrupt' }, { control: 'suspend' }]);
  });
});

describe('the foreground of a terminal', () => {
  const stat = (group: number, terminalGroup: number) => `42 (a ) (b) S 1 ${group} 5 34816 ${terminalGroup} 4194304 0`;

  it.each([
    ['the process’s own group', stat(77, 77), true],
    ['another group', stat(77, 78), false],
    ['no group', stat(77, -1), true],
    ['nothing', stat(77, 0), true],
  ])('of Linux is %s', (_, text, expected) => {
    const ps = () => expect.fail('no program is started');
    expect(isForeground({ platform: 'linux', stat: () => text, ps })).toBe(expected);
  });

  it.each([
    ['the process’s own group', '  77    77\n', true],
    ['another group', '  77    78\n', false],
    ['nothing', '  77     0\n', true],
    ['not known', '', true],
  ])('of macOS is %s', (_, text, expected) => {
    const stat = () => expect.fail('there is no such file');
    expect(isForeground({ platform: 'darwin', stat, ps: () => text })).toBe(expected);
  });

  it('of Windows is no matter', () => {
    const none = () => expect.fail('there is nothing to ask');
    expect(isForeground({ platform: 'win32', stat: none, ps: none })).toBe(true);
  });

  it('is found out on this machine', () => {
    expect(isForeground()).toBeTypeOf('boolean');
  });
});

it.each([
  [16 * 1024 * 1024 - 1, ['a line\n']],
  [16 * 1024 * 1024, []],
])('of lines for a reader that stands still, %i bytes are kept at most', (writableLength, written) => {
  const lines: string[] = [];
  writeLine({ writableLength, write: (line: string) => lines.push(line) } as never, 'a line\n');
  expect(lines).toEqual(written);
});

it('colours end where they began', () => {
  const all = (['bold', 'dim', 'red', 'green', 'yellow'] as const).map((style) => inColours(style, 'x'));
  const intense = ['\x1b[1mx\x1b[22m', '\x1b[2mx\x1b[22m'];
  expect(all).toEqual([...intense, '\x1b[31mx\x1b[39m', '\x1b[32mx\x1b[39m', '\x1b[33mx\x1b[39m']);
});

it('a terminal has 24 rows unless it says otherwise, and a status line until it is removed', () => {
  const rows = (rows?: number) => new Screen({ write: () => {}, ...(rows !== undefined && { rows }) }).rows;
  expect([rows(), rows(0), rows(50)]).toEqual([24, 24, 50]);
  const screen = new Screen({ write: () => {} });
  const shows = ['', 'status', ''].map((line) => {
    screen.show(line);
    return screen.showsLine;
  });
  expect(shows).toEqual([false, true, false]);
});
