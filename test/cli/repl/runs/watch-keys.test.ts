import { EventEmitter } from 'node:events';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WatchKeys } from '#pickaxe/cli/repl/runs/watch-keys.js';

class Input extends EventEmitter {
  readonly modes: string[] = [];
  setEncoding = () => this;
  resume = () => this;
  pause = () => this;
  setRawMode = (isRaw: boolean) => {
    this.modes.push(isRaw ? 'raw' : 'usual');
    return this;
  };
}

/** Keys of a terminal that is in the foreground unless `isForeground` says otherwise. */
function keysOf(isForeground = () => true) {
  const input = new Input();
  let shown = '';
  const output = { write: (text: string) => (shown += text) };
  const told = { wake: vi.fn(), quit: vi.fn(), suspend: vi.fn() };
  const keys = WatchKeys.of({ input, output } as never, told, isForeground)!;
  onTestFinished(() => keys.close());
  keys.open();
  return { keys, input, told, shown: () => shown, type: (text: string) => input.emit('data', text) };
}

it.each([
  ['a', 'all'],
  ['A', 'all'],
  ['f', 'failed'],
  ['\r', 'again'],
])('the key %j is a wish', (key, wish) => {
  const { keys, told, type } = keysOf();
  expect(keys.hasWish).toBe(false);
  type(key);
  expect(keys.hasWish).toBe(true);
  expect(told.wake).toHaveBeenCalledOnce();
  expect(keys.take()).toBe(wish);
  expect(keys.take()).toBeUndefined();
});

it('the last wish counts, and other keys are none', () => {
  const { keys, type } = keysOf();
  type('x ');
  expect(keys.hasWish).toBe(false);
  type('af');
  expect(keys.take()).toBe('failed');
});

it('p asks for a part of a name, which Backspace shortens', () => {
  const { keys, told, shown, type } = keysOf();
  type('p');
  expect(keys.isTyping).toBe(true);
  type('aqf');
  type('\x7f');
  type('\b');
  type('\tß');
  expect(keys.hasWish).toBe(false);
  expect(told.quit).not.toHaveBeenCalled();
  type('\r');
  expect(keys.isTyping).toBe(false);
  expect(keys.take()).toEqual({ filter: 'aß' });
  expect(shown()).toBe('Tests with this text in their names: aqf\b \b\b \bß\n');
});

it('Backspace shortens no empty text, and Enter takes it', () => {
  const { keys, shown, type } = keysOf();
  type('p\x7f\r');
  expect(keys.take()).toEqual({ filter: '' });
  expect(shown()).toBe('Tests with this text in their names: \n');
});

it('h lists the keys in a line', () => {
  const { shown, type } = keysOf();
  type('h');
  expect(shown()).toBe('Keys: a all tests, f failed files, p tests by name, Enter the same again, q quit\n');
  expect(shown().length).toBeLessThanOrEqual(81);
});

it.each(['q', '\x03'])('%j ends it', (key) => {
  const { told, type } = keysOf();
  type(key);
  expect(told.quit).toHaveBeenCalledOnce();
  expect(told.suspend).not.toHaveBeenCalled();
});

it.skipIf(process.platform === 'win32')(
  'Ctrl-Z stops the process in the usual mode, and keys are read afterwards',
  () => {
    const { input, told, keys, type } = keysOf();
    told.suspend.mockImplementation(() => expect(input.modes.at(-1)).toBe('usual'));
    type('\x1a');
    expect(told.suspend).toHaveBeenCalledOnce();
    expect(input.modes.at(-1)).toBe('raw');
    type('a');
    expect(keys.take()).toBe('all');
  },
);

it('keys are read only in the foreground, also after SIGCONT', () => {
  let isHere = false;
  const { keys, input, type } = keysOf(() => isHere);
  type('a');
  expect(keys.hasWish).toBe(false);
  expect(input.modes).toEqual([]);
  isHere = true;
  process.emit('SIGCONT', 'SIGCONT');
  type('a');
  expect(keys.take()).toBe('all');
  isHere = false;
  process.emit('SIGCONT', 'SIGCONT');
  type('a');
  expect(keys.hasWish).toBe(false);
  // The mode stays that of the program which is in the foreground now.
  expect(input.modes.at(-1)).toBe('raw');
  const before = input.modes.length;
  keys.close();
  expect(input.modes).toHaveLength(before);
});

it('the usual mode comes back at the end', () => {
  const { keys, input } = keysOf();
  keys.close();
  expect(input.modes.at(-1)).toBe('usual');
});

it('there are none without a terminal, or with one that gives no single keys', () => {
  const told = { wake: vi.fn(), quit: vi.fn() };
  expect(WatchKeys.of(undefined, told)).toBeUndefined();
  expect(WatchKeys.of({ input: new EventEmitter(), output: process.stdout } as never, told)).toBeUndefined();
});
