import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, test, vi } from 'vitest';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { LogLines } from '#pickaxe/rig/log/log-lines.js';
import { LogLine, LogTail } from '#pickaxe/rig/log/log-tail.js';
import { type LogFormat, makeLog } from '#pickaxe/rig/terminal/log.js';
import { device, hashes, share, verdict } from '../status/fakes.ts';
import { FakeRig } from './rig.ts';

/** @returns the output for one message in the log file, on stderr and on the web page */
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

/** @returns what is written to stderr, which is a terminal with colours meanwhile */
function onTerminal(write: () => void): string[] {
  const isTty = process.stderr.isTTY;
  Object.assign(process.stderr, { isTTY: true });
  for (const [name, value] of Object.entries({ TERM: 'xterm', CI: '', NO_COLOR: '' })) vi.stubEnv(name, value);
  const written: string[] = [];
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(`${text}`) > 0);
  try {
    write();
  } finally {
    stderr.mockRestore();
    vi.unstubAllEnvs();
    Object.assign(process.stderr, { isTTY: isTty });
  }
  return written;
}

describe('on a terminal with colours', () => {
  it.each([
    ['an accepted block', 'info', { tag: 'miner', outcome: 'accepted' }, '\x1b[1m\x1b[32m'],
    ['a warning', 'warn', { tag: 'miner', outcome: 'stale' }, '\x1b[33m'],
    ['an error', 'error', { tag: 'cpu' }, '\x1b[31m'],
    ['what only debug shows', 'debug', { tag: 'work' }, '\x1b[2m'],
    ['anything else', 'info', { tag: 'node' }, ''],
  ] as const)('%s is highlighted, and its fields are not printed', (_, level, fields, colour) => {
    const written = onTerminal(() => makeLog('debug', 'text')[level](fields, 'a message'));
    const [line] = written;
    const message = `${colour}${fields.tag.padEnd(5)} a message`;
    expect(line).toContain(`\x1b[0m${message}`);
    expect(written).toHaveLength(1);
    expect(line.split('\n')).toHaveLength(2);
  });
});

describe('on a terminal of 80 columns', () => {
  /** The longest usual figures: 20 chains, a ledger of five years, a few hundred shares. */
  const block = { chain: 18, height: 5_000_003n };
  const won: Extract<MinerEvent, { type: 'block-state' }> = {
    ...{ type: 'block-state', ...block, blockHash: 'h'.repeat(43), device: 'gpu0', isRelay: false, state: 'won' },
    ...{ previous: 'pending', depth: 1, nodesDisagree: false, settledDepth: 6, settledInSeconds: 150, reason: '' },
  };
  const pool = { ...block, isBlock: false };
  const often: [string, MinerEvent[]][] = [
    ['a block that was accepted', [verdict('gpu0', 'accepted', '', block)]],
    ['a block that was won', [{ ...won, reward: '0.9773645', fees: '0.0' }]],
    ['a share', [share('gpu0', 'accepted', '', pool)]],
    ['a stale share', [share('gpu0', 'stale', '', pool)]],
    ['a block on a pool', [share('gpu0', 'accepted', '', { ...block, isBlock: true })]],
    ['the first job', [{ type: 'work', ...block, difficulty: 2.5e15, shareDifficulty: 1.1e12 }]],
    ['a paused device', [device('gpu0', 'paused', 'outside the schedule until Mon 22:00')]],
    [
      'the end of an alarm',
      [
        {
          type: 'alarm',
          alarm: 'low-hashrate',
          state: 'cleared',
          device: 'gpu0',
          hashesPerSecond: 3e9,
          limitHashesPerSecond: 2e9,
        },
      ],
    ],
  ];

  test.each(often)('the line of %s has room', (_, events) => {
    const rig = new FakeRig();
    const lines = linesOf(rig, (tell) => {
      // The counters have as many digits as they get in days.
      for (let i = 0; i < 300; i++) rig.tell(share('gpu0', 'accepted'));
      for (let i = 0; i < 9; i++) rig.tell(verdict('gpu0', 'accepted'));
      tell(...events);
    });
    expect(lines).toHaveLength(1);
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
  });

  test('the line of many shares has room, and so has the speed line', () => {
    const rig = new FakeRig().connected(1e12);
    const lines = linesOf(rig, (tell, logLines) => {
      tell(...Array.from({ length: 300 }, () => share('gpu0', 'accepted', '', pool)));
      rig.clock.advance(10_000);
      tell(share('gpu0', 'accepted', '', pool));
      tell(device('gpu0', 'ready'), hashes('gpu0', 1e9));
      const telemetry = { temperatureCelsius: 61, powerWatts: 350, fanRatio: 0.45 };
      tell({ type: 'telemetry', device: 'gpu0', telemetry });
      logLines.speed();
    });
    expect(lines.map((line) => line.slice(18, 24))).toEqual(['share ', '300 sh', 'model ', 'speed ']);
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
  });

  test('what is measured is what a terminal shows', () => {
    const [line] = linesOf(new FakeRig(), (tell) => tell(verdict('cpu', 'accepted')));
    expect(line).toMatch(/^\[\d\d:\d\d:\d\d\]: miner accepted \(1\/0\/0\) cpu chain 3 height 42 12 ms$/);
  });

  function linesOf(rig: FakeRig, run: (tell: (...events: MinerEvent[]) => void, logLines: LogLines) => void): string[] {
    const written = onTerminal(() => {
      const logLines = new LogLines(makeLog('info', 'text'), rig.tally);
      const tell = (...events: MinerEvent[]) => {
        for (const event of events) {
          rig.tell(event);
          logLines.listen(event);
        }
      };
      run(tell, logLines);
    });
    return written.map((line) => stripVTControlCharacters(line).trimEnd());
  }
});

describe('a snippet', () => {
  /** @returns the output on stderr */
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
    expect(JSON.parse(snippet('json', true))).toMatchObject({ tag: 'node', message: '    enabled: true' });
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
    expect(JSON.parse(stderr)).toEqual({
      level: 'warn',
      timeMillis: expect.any(Number),
      tag: 'hook',
      message: 'a message',
    });
    expect(LogLine.parse(JSON.parse(stderr))).toEqual(JSON.parse(stderr));
    expect(file).toBe(stderr);
  });
});

it('a line of JSON says with its outcome what became of a block', () => {
  const written: string[] = [];
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const log = makeLog('trace', 'json', { file: { write: (line) => void written.push(line) } });
  for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const)
    log[level]({ tag: 'miner', outcome: 'accepted' }, 'accepted (1/0/0)');
  stderr.mockRestore();
  const lines = written.map((line) => LogLine.strict().parse(JSON.parse(line)));
  expect(lines.map(({ level }) => level)).toEqual(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);
  expect(new Set(lines.map(({ outcome }) => outcome))).toEqual(new Set(['accepted']));
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
