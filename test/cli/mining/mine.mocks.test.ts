/** What `pickaxe mine` and `pickaxe coordinate` make of their options, and where they note what is wrong with them. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { mine } from '#pickaxe/app/composition/rig.js';
import type { Loaded } from '#pickaxe/app/config/load.js';
import { UsageError } from '#pickaxe/app/process/exit.js';
import { folder, inNewFolders, pickaxe, project } from '../in-folder.ts';

vi.mock('#pickaxe/app/composition/rig.js');

inNewFolders();

/** What was to be mined: the settings, what they are when they are read again, and the options. */
const started: { loaded: Loaded; again: Loaded; options: object }[] = [];

beforeEach(() => {
  started.length = 0;
  vi.mocked(mine)
    .mockReset()
    .mockImplementation(async (loaded, load, options) => {
      started.push({ loaded, again: await load(), options });
      return 7;
    });
  folder.write('pickaxe.toml', project);
});

const NATS = ['--nats', 'nats://127.0.0.1:9'];
const run = (line: string, ...more: string[]) => pickaxe([...line.split(' '), ...more]);

/** Nodes and pools at the same time. */
const CONTRADICTION = [
  '--node',
  'http://127.0.0.1:9',
  '--network',
  'development',
  '--pool',
  'stratum+tcp://127.0.0.1:9',
  '--user',
  'me.rig',
];

describe('mining', () => {
  it.each([
    ['mine', { tries: false, coordinates: false }, ['cpu']],
    ['mine --dry-run', { tries: true, coordinates: false }, ['cpu']],
    ['coordinate --dry-run', { tries: true, coordinates: true }, ['cpu']],
    ['coordinate -d gpu0', { tries: false, coordinates: true }, ['gpu0']],
  ])('gets its options, and its settings whenever it reads them: %s', async (line, options, use) => {
    const more = line.startsWith('coordinate') ? NATS : [];
    expect(await run(line, ...more)).toEqual({ code: 7, stdout: '', stderr: '' });
    const [{ loaded, again, options: given }] = started;
    expect([given, loaded.config.devices.use]).toEqual([options, use]);
    expect(again.config).toEqual(loaded.config);
  });

  it.each([
    ['coordinate', []],
    ['mine', 'all'],
  ])('uses no device of a coordinator unless one is named: %s', async (command, use) => {
    folder.write('pickaxe.toml', project.replace(/\[devices\][^[]*/, ''));
    const more = command === 'coordinate' ? NATS : [];
    await run(command, ...more);
    expect(started[0].loaded.config.devices.use).toEqual(use);
  });
});

describe('--print-config', () => {
  it('prints the settings and their sources, also of contradictory ones, and mines nothing', async () => {
    const { code, stdout, stderr } = await run('mine --print-config', ...CONTRADICTION);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^\[node\]\n/m);
    const { code: same, stdout: text } = await run('mine --print-config --json');
    expect(same).toBe(0);
    expect(JSON.stringify(JSON.parse(text))).toContain('"http://127.0.0.1:9"');
    expect(mine).not.toHaveBeenCalled();
  });

  it('is not needed to refuse them', async () => {
    const { code, stderr } = await run('mine', ...CONTRADICTION);
    expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be mined on at the same time')]);
    expect(mine).not.toHaveBeenCalled();
  });
});

describe('what is wrong', () => {
  const written = (name: string) => {
    try {
      return readFileSync(join(folder.path, name), 'utf8');
    } catch {
      return '';
    }
  };

  it.each([
    ['in the flags', ['--log-file', 'a.log', '--threads', 'x'], {}, /error: .*--threads/],
    [
      'in the flags, of which some are unknown',
      ['--log-file', 'a.log', '--thraeds', '1'],
      {},
      /unknown option '--thraeds'/,
    ],
    ['with a file that only a variable names', ['--threads', 'x'], { PICKAXE_LOG_FILE: 'a.log' }, /--threads/],
    ['in contradictions', ['--log-file', 'a.log', ...CONTRADICTION], {}, /cannot be mined on at the same time/],
  ])('is noted in the log file: %s', async (_, flags, env, message) => {
    const { code, stderr } = await pickaxe(['mine', ...flags], env);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    const [first] = stderr.replace(/^error: /, '').split('\n');
    expect(written('a.log')).toContain(first);
    expect(written('a.log')).not.toMatch(/^\{/);
  });

  it.each([
    [['--log-format', 'json'], {}, true],
    [[], { PICKAXE_LOG_FORMAT: 'json' }, true],
    [['--log-format', 'text'], { PICKAXE_LOG_FORMAT: 'json' }, false],
  ])('is noted in the format of the log: %j, %j', async (flags, env, isJson) => {
    await pickaxe(['mine', '--log-file', 'a.log', '--threads', 'x', ...flags], env);
    expect(written('a.log').startsWith('{')).toBe(isJson);
  });

  it('is noted if it shows later, and only if it is of the user', async () => {
    vi.mocked(mine).mockRejectedValueOnce(new UsageError('no such device')).mockRejectedValueOnce(new Error('a fault'));
    folder.write('other.toml', `${project}[log]\nformat = "json"\n[log-file]\npath = "b.log"\n`);
    expect((await run('mine --config other.toml')).stderr).toBe('error: no such device\n');
    expect(JSON.parse(written('b.log'))).toMatchObject({ level: 'error', message: 'no such device' });
    expect((await run('mine --config other.toml')).stderr).toMatch(
      /^internal error, please report it: Error: a fault\n/,
    );
    expect(written('b.log').trimEnd().split('\n')).toHaveLength(1);
  });

  it('is only printed without a log file', async () => {
    const { code, stderr } = await pickaxe(['mine', '--threads', 'x'], { PICKAXE_LOG_FILE: '' });
    expect([code, stderr]).toEqual([2, expect.stringContaining('--threads')]);
  });
});
