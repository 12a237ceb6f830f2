import { describe, expect, it } from 'vitest';
import { keysOf, Screen, terminalKind } from '#pickaxe/rig/terminal/screen.js';

describe('the abilities of a terminal', () => {
  it.each([
    [false, {}, false, false],
    [true, { TERM: 'xterm' }, true, true],
    [true, {}, true, true],
    [true, { TERM: 'dumb' }, false, false],
    [true, { CI: 'true' }, false, false],
    [true, { CI: '1' }, false, false],
    [true, { CI: 'false' }, true, true],
    [true, { CI: '' }, true, true],
    [true, { NO_COLOR: '1' }, true, false],
    [true, { NO_COLOR: '' }, true, true],
  ])('with TTY %s and %j are: escape codes %s, colours %s', (isTty, environment, escapes, colours) => {
    expect(terminalKind(isTty, environment)).toEqual({ escapes, colours });
  });
});

describe('keys', () => {
  const typed = (text: string) => keysOf(text).map((key) => ('typed' in key ? key.typed : key.control));

  it.each([
    ['h', ['h']],
    ['hs', ['h', 's']],
    ['Q', ['q']],
    ['\x1b[A', []],
    ['\x1b[15~', []],
    ['\x1bOP', []],
    ['\x1bh', []],
    ['\x1b', []],
    ['h\x1b[Bs', ['h', 's']],
    ['\x1b[A\x1b[B\x1b[15~h', ['h']],
    ['\x03', ['interrupt']],
    ['\x1c', ['interrupt']],
    ['\x1a', ['suspend']],
    ['a pasted text with a q in it', []],
    ['a pasted text with Ctrl-C in it\x03', ['interrupt']],
    ['é', ['é']],
  ])('in the input %j are %j', (text, keys) => {
    expect(typed(text)).toEqual(keys);
  });
});

describe('the screen', () => {
  function screen(columns?: number) {
    const written: string[] = [];
    const output = { write: (text: string) => written.push(text), ...(columns !== undefined && { columns }) };
    return { screen: new Screen(output), written };
  }

  it('writes lines unchanged while there is no status line', () => {
    const { screen: it, written } = screen();
    it.write('one\n');
    it.show('');
    expect(written).toEqual(['one\n']);
  });

  it('writes each line above the status line, in one piece', () => {
    const { screen: it, written } = screen();
    it.show('status');
    it.write('one\n');
    it.show('');
    it.write('two\n');
    const status = '\x1b[?7lstatus\x1b[?7h\r';
    expect(written).toEqual([`\r\x1b[J${status}`, `\r\x1b[Jone\n${status}`, '\r\x1b[J', 'two\n']);
  });

  it('holds what is written while a text covers it, and keeps no copy of that text', () => {
    const { screen: it, written } = screen();
    it.show('status');
    it.cover('secret');
    expect([it.isCovered, written.at(-1)]).toEqual([true, '\x1b[?1049h\x1b[H\x1b[2Jsecret']);
    const before = written.length;
    it.write('one\n');
    it.show('later');
    it.write('two\n');
    expect(written).toHaveLength(before);
    it.uncover();
    expect(written.slice(before)).toEqual(['\x1b[H\x1b[2J\x1b[?1049l\r\x1b[Jone\ntwo\n\x1b[?7llater\x1b[?7h\r']);
    it.uncover();
    expect([it.isCovered, written.length]).toEqual([false, before + 1]);
  });

  it('assumes 80 columns for a terminal that does not know its width', () => {
    expect(screen(123).screen.columns).toBe(123);
    expect(screen(0).screen.columns).toBe(80);
    expect(screen().screen.columns).toBe(80);
  });
});
