import { describe, expect, it, vi } from 'vitest';
import { LogTail } from '#pickaxe/report/log-tail.js';
import { type LogFormat, makeLog } from '#pickaxe/terminal/log.js';

/** What the log file, stderr and the web page get for one message. */
function logged(format: LogFormat, message: string) {
  const written: string[] = [];
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(`${text}`) > 0);
  const file: string[] = [];
  const tail = new LogTail();
  const log = makeLog('info', format, { file: { write: (line) => void file.push(line) }, tail });
  log.warn({ tag: 'hook' }, message);
  stderr.mockRestore();
  return { file: file.join(''), stderr: written.join(''), page: tail.after(0).map(({ message }) => message) };
}

const FORGED = 'it said: a\x1b[31m\n[12:00:00.000] INFO: miner forged\x9b31m\r\n';
const SHOWN = 'it said: a [31m [12:00:00.000] INFO: miner forged 31m';

describe('on a terminal with colours', () => {
  it.each([
    ['an accepted block', 'info', { tag: 'miner', outcome: 'accepted' }, '\x1b[1m\x1b[32m'],
    ['a warning', 'warn', { tag: 'miner', outcome: 'stale' }, '\x1b[33m'],
    ['an error', 'error', { tag: 'cpu' }, '\x1b[31m'],
    ['a new job', 'info', { tag: 'work' }, '\x1b[2m'],
    ['anything else', 'info', { tag: 'node' }, ''],
  ] as const)('%s is highlighted, and its fields are not printed', (_, level, fields, colour) => {
    const isTty = process.stderr.isTTY;
    Object.assign(process.stderr, { isTTY: true });
    for (const [name, value] of Object.entries({ TERM: 'xterm', CI: '', NO_COLOR: '' })) vi.stubEnv(name, value);
    const written: string[] = [];
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(`${text}`) > 0);
    try {
      makeLog('info', 'text')[level](fields, 'a message');
    } finally {
      stderr.mockRestore();
      vi.unstubAllEnvs();
      Object.assign(process.stderr, { isTTY: isTty });
    }
    const [line] = written;
    const message = `${colour}${fields.tag.padEnd(5)} a message`;
    expect(line).toContain(`\x1b[0m${message}`);
    expect(written).toHaveLength(1);
    expect(line.split('\n')).toHaveLength(2);
  });
});

describe('a snippet', () => {
  /** What stderr gets. */
  function snippet(format: LogFormat, isTTY: boolean) {
    const before = process.stderr.isTTY;
    Object.assign(process.stderr, { isTTY });
    for (const [name, value] of Object.entries({ TERM: 'xterm', CI: '', NO_COLOR: '' })) vi.stubEnv(name, value);
    const written: string[] = [];
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(`${text}`) > 0);
    try {
      makeLog('info', format).warn({ tag: 'node', isSnippet: true }, '    enabled: true');
    } finally {
      stderr.mockRestore();
      vi.unstubAllEnvs();
      Object.assign(process.stderr, { isTTY: before });
    }
    return written.join('');
  }

  it('can be copied from a terminal as it is', () => {
    expect(snippet('text', true).replaceAll('\r\x1b[K', '')).toBe('    enabled: true\n');
  });

  it('is indented, after the time and the tag, elsewhere', () => {
    expect(snippet('text', false)).toMatch(/^\[.*\] WARN: node {6}enabled: true\n$/);
    expect(JSON.parse(snippet('json', true))).toMatchObject({ tag: 'node', msg: '    enabled: true' });
  });
});

describe('where stderr is not a terminal', () => {
  it('text has the time, the level and the tag, and no colours, in the log file, too', () => {
    vi.stubEnv('FORCE_COLOR', '1');
    const { file, stderr } = logged('text', 'a message');
    vi.unstubAllEnvs();
    expect(stderr).toMatch(/^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\] WARN: hook {2}a message\n$/);
    expect(file).toBe(stderr);
  });

  it('JSON is one object per line', () => {
    const { file, stderr } = logged('json', 'a message');
    expect(JSON.parse(stderr)).toEqual({ level: 40, time: expect.any(Number), tag: 'hook', msg: 'a message' });
    expect(file).toBe(stderr);
  });
});

describe('a message that quotes others is one line without escape codes', () => {
  it.each(['text', 'json'] as const)('as %s', (format) => {
    const { file, stderr, page } = logged(format, FORGED);
    for (const text of [file, stderr]) {
      expect(text.split('\n')).toHaveLength(2);
      expect(text).toContain(SHOWN);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      expect(text.trimEnd()).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
    }
    expect(page).toEqual([SHOWN]);
  });
});
