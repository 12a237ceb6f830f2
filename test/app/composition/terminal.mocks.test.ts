/** What a person at a terminal sees below the log, and what each key does. */

import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { terminal } from '#pickaxe/app/composition/terminal.js';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { connection, hashrates, health, help, results, type ServedPage, workers } from '#pickaxe/rig/terminal/pages.js';
import * as terminals from '#pickaxe/rig/terminal/screen.js';
import { verdict } from '../../rig/status/fakes.ts';
import { idleMiner } from './sidecars/fakes.ts';

const pretended = vi.hoisted(() => ({
  /** What was written to the terminal. */
  written: [] as string[],
  /** What was done with the keyboard. */
  keyboard: [] as string[],
  press: (_: terminals.Key) => {},
}));

vi.mock('#pickaxe/rig/terminal/screen.js', async (original) => {
  const real = await original<typeof terminals>();
  return {
    ...real,
    isForeground: vi.fn(),
    terminalKind: vi.fn(),
    screen: new real.Screen({ columns: 200, rows: 100, write: (text) => pretended.written.push(text) }),
    Keyboard: class {
      constructor(_: unknown, onKey: (key: terminals.Key) => void) {
        pretended.press = onKey;
      }
      open = () => pretended.keyboard.push('open');
      close = () => pretended.keyboard.push('close');
      release = () => pretended.keyboard.push('release');
    },
  };
});

const { screen } = terminals;
const SETTINGS = { log: DEFAULTS.log, run: { ...DEFAULTS.run, status: true } };
const GREETING = '  keys h p r s c w e l ? q (? explains them)\n';
const LINE = 'effort';

beforeEach(() => {
  vi.useFakeTimers();
  vi.mocked(terminals.isForeground).mockReturnValue(true);
  vi.mocked(terminals.terminalKind).mockReturnValue({ escapes: true, colours: false });
  isTerminal(process.stdin, true);
  isTerminal(process.stdout, false);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function isTerminal(stream: { isTTY: boolean }, is: boolean) {
  const before = Object.getOwnPropertyDescriptor(stream, 'isTTY');
  Object.defineProperty(stream, 'isTTY', { value: is, configurable: true, writable: true });
  onTestFinished(() => {
    if (before) Object.defineProperty(stream, 'isTTY', before);
    else delete (stream as { isTTY?: boolean }).isTTY;
  });
}

interface Given {
  readonly settings?: Parameters<typeof terminal>[0];
  readonly page?: ServedPage;
  readonly usesStdin?: boolean;
}

/** What listens to the process and the terminal now. */
function listeners() {
  const all = (of: NodeJS.EventEmitter, name: string) => ({ of, name, all: of.listeners(name) });
  return [all(process, 'SIGCONT'), all(process, 'exit'), all(process.stderr, 'resize')];
}

/** A person at the terminal of a miner. */
async function at({ settings = SETTINGS, page, usesStdin = false }: Given = {}) {
  const { running } = idleMiner();
  const did: string[] = [];
  const controls = {
    ...running.controls,
    pause: (...how: unknown[]) => did.push(`pause ${how.join(', ')}`) > 0,
    resume: (...how: unknown[]) => did.push(`resume ${how.join(', ')}`) > 0,
  };
  const interrupted = () => did.push('SIGINT');
  process.on('SIGINT', interrupted);
  const listening = listeners();
  onTestFinished(() => {
    process.off('SIGINT', interrupted);
    for (const [at, { of, name, all }] of listeners().entries()) {
      for (const each of all) if (!listening[at].all.includes(each)) of.off(name, each as () => void);
    }
  });
  vi.spyOn(process, 'kill').mockImplementation((...how) => {
    did.push(`kill ${how.join(' ')}`);
    return true;
  });
  /** What has been written since the last call. */
  const seen = () => pretended.written.splice(0).join('');
  seen();
  pretended.keyboard.length = 0;
  const end = await terminal(settings, usesStdin, () => page)!({ ...running, controls });
  let isEnded = false;
  const leave = async () => {
    if (!isEnded) await end();
    isEnded = true;
  };
  onTestFinished(leave);
  const type = (typed: string) => {
    pretended.press({ typed });
    return seen();
  };
  return { ...running, did, seen, leave, type, keyboard: () => pretended.keyboard.splice(0) };
}

describe('there is no status line', () => {
  const json = { ...SETTINGS, log: { ...DEFAULTS.log, format: 'json' as const } };
  const printsJson = { ...SETTINGS, run: { ...DEFAULTS.run, json: true } };
  it.each([
    ['on what is no terminal', SETTINGS, false, true, undefined],
    ['below a log of JSON', json, true, false, undefined],
    ['between lines of JSON', printsJson, true, true, undefined],
    ['but there is one where lines of JSON go elsewhere', printsJson, true, false, expect.any(Function)],
    ['but there is one on a terminal', SETTINGS, true, true, expect.any(Function)],
  ])('%s', (_, settings, escapes, stdoutIsTerminal, expected) => {
    vi.mocked(terminals.terminalKind).mockReturnValue({ escapes, colours: false });
    isTerminal(process.stdout, stdoutIsTerminal);
    expect(terminal(settings)).toEqual(expected);
  });
});

describe('the status line', () => {
  it('comes with a line that names the keys, and again each second, at each verdict and at a new size', async () => {
    const { seen, events } = await at();
    const first = seen();
    expect([first.startsWith(GREETING), first.includes(LINE)]).toEqual([true, true]);
    await vi.advanceTimersByTimeAsync(999);
    expect(seen()).toBe('');
    await vi.advanceTimersByTimeAsync(1);
    expect(seen()).toContain(LINE);
    events.emit(verdict('cpu', 'accepted'));
    expect(seen()).toContain('accepted 1');
    events.emit({ type: 'hardware-error', device: 'cpu', nonce: 1n });
    expect(seen()).toBe('');
    process.stderr.emit('resize');
    expect(seen()).toContain(LINE);
  });

  it.each([true, false])('has colours only where they are wanted: %s', async (colours) => {
    vi.mocked(terminals.terminalKind).mockReturnValue({ escapes: true, colours });
    const { seen, events } = await at();
    events.emit(verdict('cpu', 'rejected'));
    // ECMA-48, SGR
    expect(seen().includes('\x1b[3')).toBe(colours);
  });

  it('can be turned off, which leaves the keys', async () => {
    const { seen, events, type } = await at({ settings: { ...SETTINGS, run: { ...DEFAULTS.run, status: false } } });
    events.emit(verdict('cpu', 'accepted'));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(seen()).toBe(GREETING);
    expect(type('?')).toContain('pause all devices');
  });

  it.each([
    ['another part reads what is typed', { usesStdin: true }, true],
    ['nothing can be typed', {}, false],
  ])('has no keys where %s', async (_, given, isTyped) => {
    isTerminal(process.stdin, isTyped);
    const { seen, keyboard } = await at(given);
    expect(seen()).not.toContain('keys');
    expect(keyboard()).toEqual([]);
  });

  it('is not there in the background, comes with the foreground, and names the keys once', async () => {
    vi.mocked(terminals.isForeground).mockReturnValue(false);
    const { seen, events, keyboard } = await at();
    events.emit(verdict('cpu', 'accepted'));
    await vi.advanceTimersByTimeAsync(10_000);
    expect([seen(), keyboard()]).toEqual(['', []]);
    vi.mocked(terminals.isForeground).mockReturnValue(true);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(seen()).toContain(GREETING);
    expect(keyboard()).toEqual(['open']);
    for (const is of [false, true]) {
      vi.mocked(terminals.isForeground).mockReturnValue(is);
      process.emit('SIGCONT', 'SIGCONT');
      expect(seen().includes(LINE)).toBe(is);
    }
    expect(keyboard()).toEqual(['release', 'release', 'open']);
    expect(seen()).not.toContain('keys');
  });

  it('is gone at the end, with everything that was waited for', async () => {
    const counts = () =>
      ['SIGCONT', 'exit'].map((name) => process.listenerCount(name)).concat(process.stderr.listenerCount('resize'));
    const before = counts();
    const { seen, leave, keyboard, events } = await at();
    expect(counts()).toEqual(before.map((count) => count + 1));
    seen();
    await leave();
    expect([counts(), keyboard(), vi.getTimerCount()]).toEqual([before, ['open', 'close'], 0]);
    expect([seen().includes(LINE), screen.showsLine]).toEqual([false, false]);
    events.emit(verdict('cpu', 'accepted'));
    expect(seen()).toBe('');
  });

  it('is gone also if the process ends by itself', async () => {
    const { keyboard } = await at();
    for (const listener of process.listeners('exit').slice(-1)) (listener as () => void)();
    expect([keyboard(), screen.showsLine]).toEqual([['open', 'close'], false]);
  });
});

describe('the key', () => {
  it.each([
    ['h', hashrates],
    ['s', results],
    ['c', connection],
    ['w', workers],
    ['e', health],
    ['?', help],
  ] as const)('%s shows its page above the status line', async (key, page) => {
    const { tally, seen, type } = await at();
    seen();
    const lines = page(tally.status()).map((line) => `  ${line}\n`);
    expect(lines).not.toEqual([]);
    expect(type(key)).toContain(lines.join(''));
  });

  it('p pauses and r resumes, as the user', async () => {
    const { did, seen, type } = await at();
    seen();
    expect(type('p')).toContain('  pausing all devices; r resumes\n');
    expect(type('r')).toContain('  resuming\n');
    expect(did).toEqual(['pause user, by the key p', 'resume user']);
  });

  it('q and Ctrl-C end the miner, and no other key does', async () => {
    const { did, seen, type } = await at();
    seen();
    expect([type('x'), type('1')]).toEqual(['', '']);
    expect(did).toEqual([]);
    type('q');
    pretended.press({ control: 'interrupt' });
    expect(did).toEqual(['SIGINT', 'SIGINT']);
  });

  it.skipIf(process.platform === 'win32')(
    'Ctrl-Z gives the terminal to another program, and takes it back',
    async () => {
      const { did, seen, keyboard } = await at();
      seen();
      keyboard();
      pretended.press({ control: 'suspend' });
      expect([did, keyboard()]).toEqual([['kill 0 SIGTSTP'], ['close', 'open']]);
      expect(seen()).toContain(LINE);
    },
  );
});

describe('the key l', () => {
  const page = { url: 'http://127.0.0.1:8080' };
  const secret = { ...page, token: 'a token' };

  it('says what to do without a web page, and shows the link of one without a token', async () => {
    for (const [given, text] of [
      [{}, 'there is no web page: start pickaxe with --http 8080'],
      [{ page }, page.url],
    ] as const) {
      const { seen, type, leave } = await at(given);
      seen();
      expect(type('l')).toContain(text);
      expect(screen.isCovered).toBe(false);
      await leave();
    }
  });

  it('shows a link with a token until the next key, which does nothing else', async () => {
    const { did, seen, type } = await at({ page: secret });
    seen();
    const shown = type('l');
    expect(shown).toContain('http://127.0.0.1:8080/#token=a%20token\n');
    expect(shown).toContain('Press any key to go back. After a minute this goes away by itself.');
    expect(screen.isCovered).toBe(true);
    expect(type('p')).not.toContain('pausing');
    expect([screen.isCovered, did]).toEqual([false, []]);
    type('p');
    expect(did).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(screen.isCovered).toBe(false);
  });

  it('shows it for a minute, each time', async () => {
    const { type } = await at({ page: secret });
    type('l');
    await vi.advanceTimersByTimeAsync(50_000);
    type('x');
    type('l');
    await vi.advanceTimersByTimeAsync(59_999);
    expect(screen.isCovered).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(screen.isCovered).toBe(false);
  });

  it('lets Ctrl-C end the miner all the same, and the link is gone at the end', async () => {
    const { did, type, leave } = await at({ page: secret });
    type('l');
    pretended.press({ control: 'interrupt' });
    expect([did, screen.isCovered]).toEqual([['SIGINT'], false]);
    type('l');
    await leave();
    expect([screen.isCovered, vi.getTimerCount()]).toEqual([false, 0]);
  });
});
