import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { check } from '#pickaxe/app/config/check.js';
import { loadConfig } from '#pickaxe/app/config/load.js';
import { configAsJson, configAsToml } from '#pickaxe/app/config/print.js';
import { type Flags, settingsOfFlags } from '#pickaxe/app/config/raw-settings.js';
import { commandOn } from '#pickaxe/app/config/setting-types/rig.js';

/** Checks the settings of a file. */
const inFile = (document: object) => check({ document, where: () => 'a file', at: () => 'a file' });
const byFlags = (flags: Flags) => check(settingsOfFlags(flags));

describe('times', () => {
  it.each([
    [90, 90],
    ['90m', 5_400],
    ['2d', 172_800],
    ['30d', 2_592_000],
    ['1h30m', 5_400],
    ['1m', 60],
  ])('%j in a file is %i seconds', (given, seconds) => {
    expect(inFile({ run: { duration: given } }).values.get('run.duration')?.value).toBe(seconds);
  });
  it.each(['90', '90s', '1.5m'])('%s on the command line is 90 seconds', (given) => {
    expect(byFlags(new Map([['run.duration', given]])).values.get('run.duration')?.value).toBe(90);
  });
  it.each([0, -1, '0h', '366d', '8w', '30m1h', 'soon', true, null, ['90']])('%j in a file is refused', (given) => {
    expect(inFile({ run: { duration: given } }).problems[0]).toContain('90m, 1h30m or 2d');
  });
});

describe('the setting pause.on-activity', () => {
  it.each([
    [true, 60],
    [90, 90],
    ['5m', 300],
    ['none', 'none'],
  ])('reads %j as %j', (given, kept) => {
    expect(inFile({ pause: { 'on-activity': given } }).values.get('pause.on-activity')?.value).toBe(kept);
  });
  it('is a minute where the flag has no value', () => {
    expect(byFlags(new Map([['pause.on-activity', true]])).values.get('pause.on-activity')?.value).toBe(60);
  });
  it.each([false, 9, '9s', '2d', ''])('cannot be %j', (given) => {
    expect(inFile({ pause: { 'on-activity': given } }).problems[0]).toContain('at least 10 seconds');
  });
});

test.each([
  [{ pause: { schedule: 'someday' } }, 'Write it like 22:00-07:00'],
  [{ pause: { schedule: 'someday' } }, 'is "someday": "someday" is not a day: days are sun, mon'],
  [{ pause: { schedule: '22-7' } }, 'is "22-7": "22-7" is not a time. Write it like 22:00-07:00'],
  [{ 'log-file': { size: '1000' } }, '500k, 10M or 1G'],
  [{ 'log-file': { size: '1.00001k' } }, '500k, 10M or 1G'],
  [{ alarm: { 'min-hashrate': ['20'.repeat(40)] } }, 'hashrate above 0'],
  [{ alarm: { 'min-hashrate': ['gpu=1G'] } }, 'gpu0=5G for one device'],
  [{ hooks: { block: 'a\0b' } }, 'a shell command'],
  [{ hooks: { lunch: 'true' } }, 'there is no setting hooks.lunch'],
  [{ webhook: { url: 'https://host/a SECRET' } }, 'https:// or http://'],
  [{ webhook: { events: ['lunch'] } }, 'device-lost'],
  [{ webhook: { token: 'SECRET' } }, 'webhook.url-file or webhook.token-file'],
])('%j is refused', (document, says) => {
  const { problems } = inFile(document);
  expect(problems[0]).toContain(says);
  expect(problems[0]).not.toContain('SECRET');
});

describe('the command of a hook', () => {
  const kept = (given: unknown) => inFile({ hooks: { block: given } }).values.get('hooks.block')?.value;
  it.each([{ given: 'notify "a"' }, { given: ['/opt/a b/notify', '--from', 'rig', ''] }])(
    'may be $given',
    ({ given }) => {
      expect(kept(given)).toEqual(given);
    },
  );
  it.each([[], [''], [' ', 'a'], ['a', 1], ['a\0'], 7].map((given) => ({ given })))('cannot be $given', ({ given }) => {
    const { problems } = inFile({ hooks: { block: given } });
    expect(problems).toEqual(['a file is not valid. Give a shell command, or a list of a program and its arguments.']);
  });

  const onWindows = (given: unknown) => commandOn('win32').schema(z).safeParse(given).success;
  it.each(['C:\\a b\\hook.cmd', 'hook.BAT', 'hook.bat. .'])(
    'cannot name the batch file %s in a list on Windows',
    (file) => {
      expect(onWindows([file, 'x'])).toBe(false);
      expect(onWindows(`"${file}" x`)).toBe(true);
      expect(commandOn('linux').schema(z).safeParse([file]).success).toBe(true);
    },
  );
  it('can name other programs in a list on Windows', () => {
    expect(onWindows(['C:\\Program Files\\PowerShell\\7\\pwsh.exe', '-File', 'C:\\rig\\hook.ps1'])).toBe(true);
  });
});

test('the variables of hooks are not taken for settings, because a hook may run pickaxe', () => {
  const environment = { PICKAXE_EVENT: 'block', PICKAXE_EVENT_DEVICE: 'gpu0' };
  expect(() => loadConfig({ environment, cwd: '/', home: () => '/nonexistent' })).not.toThrow();
  expect(() => loadConfig({ environment: { PICKAXE_EVENTS: 'x' }, cwd: '/', home: () => '/nonexistent' })).toThrow(
    'PICKAXE_EVENTS: there is no such setting',
  );
});

test('the URL of a webhook is not printed', () => {
  const flags = new Map([['webhook.url', 'https://host/SECRET']]);
  const loaded = loadConfig({ flags, environment: {}, cwd: '/', home: () => '/nonexistent' });
  expect(loaded.config.webhook.url).toBe('https://host/SECRET');
  expect(configAsToml(loaded)).toContain('url = "***"  # --webhook');
  expect(configAsToml(loaded) + configAsJson(loaded)).not.toContain('SECRET');
});
