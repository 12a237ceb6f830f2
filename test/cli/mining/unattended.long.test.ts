/** A rig that nobody watches: pauses, hooks, webhook, alarm and log file, end to end. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect, it, onTestFinished, test, vi } from 'vitest';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { DIALECTS, MockNode } from '../../mock-node/node.ts';
import { PATIENCE } from '../../patience.ts';
import { pickaxe, type Run, start } from '../pickaxe.ts';

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const KEY = 'a1'.repeat(32);

const root = mkdtempSync(join(tmpdir(), 'pickaxe-unattended-'));
let files = 0;
const newFile = () => join(root, `file${files++}`);
const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
const linesOf = (path: string) => read(path).split('\n').filter(Boolean);

const nodes: MockNode[] = [];
const runs: Run[] = [];
const closing: (() => void)[] = [];

async function node(difficulty = 200_000, dialect: Dialect = 'chainweb') {
  const mock = new MockNode({ dialect, difficulty });
  nodes.push(mock);
  return { mock, ...(await mock.start()) };
}

function mine(url: string, args: string[], env: Record<string, string> = {}): Run {
  const fixed = ['mine', '--node', url, '--network', 'development', '--public-key', KEY];
  const run = start([...fixed, '--devices', 'cpu', '--threads', '1', '--json', ...args], env);
  runs.push(run);
  return run;
}

/** A server that accepts notices. */
async function service() {
  const got: Record<string, unknown>[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    got.push({ ...JSON.parse(body), token: request.headers.authorization });
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/SECRET` };
}

afterEach(async () => {
  for (const { child } of runs) child.kill('SIGKILL');
  await Promise.all(runs.splice(0).map(({ code }) => code));
  await Promise.all(nodes.splice(0).map((mock) => mock.close()));
  for (const close of closing.splice(0)) close();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('the reason why pickaxe does not start', () => {
  const named = [
    ['a flag', (file: string) => [['--log-file', file], {}] as const],
    ['a variable', (file: string) => [[], { PICKAXE_LOG_FILE: file }] as const],
  ] as const;

  async function refused(flags: readonly string[], env: Record<string, string>): Promise<void> {
    expect(await mine('http://127.0.0.1:9', ['--public-key', 'k:no-key', ...flags], env).code).toBe(2);
  }

  test.each(named)('is written to the log file that %s names', async (_, by) => {
    const file = newFile();
    const [flags, env] = by(file);
    await refused(flags, env);
    expect(read(file)).toMatch(/^\[\d{4}-[\d :.-]+\] ERROR: start .*64 hex.*\n$/);
  });

  test.each(named)('is written as JSON to the log file that %s names, if the log is JSON', async (_, by) => {
    const file = newFile();
    const [flags, env] = by(file);
    await refused([...flags, '--log-format', 'json'], env);
    const lines = linesOf(file).map((line) => JSON.parse(line));
    expect(lines).toEqual([
      {
        level: 'error',
        timeMillis: expect.any(Number),
        tag: 'start',
        message: expect.stringContaining('64 hex'),
      },
    ]);
  });

  test('is written to the log file that a flag names, for flags that do not exist, too', async () => {
    const file = newFile();
    const run = mine('http://127.0.0.1:9', ['--log-file', file, '--thread', '1']);
    expect(await run.code).toBe(2);
    expect(linesOf(file)[0]).toMatch(/ ERROR: start unknown option '--thread'$/);
    expect(linesOf(file)[1]).toMatch(/ ERROR: start \(Did you mean --threads\?\)$/);
  });

  test('stands in the log file that a configuration file names, if that file can be read', async () => {
    const [file, config] = [newFile(), `${newFile()}.toml`];
    writeFileSync(config, `[log]\nformat = "json"\n[log-file]\npath = "${file}"\n`, { mode: 0o600 });
    const run = start(['mine', '--config', config]);
    runs.push(run);
    expect(await run.code).toBe(2);
    expect(JSON.parse(linesOf(file)[0])).toMatchObject({ level: 'error', message: expect.stringContaining('No node') });
  });
});

describe('hooks', () => {
  it.each(DIALECTS)(
    'run at the start, at each block that a node of the dialect %s accepts and at the end, which waits for them',
    async (dialect) => {
      const { mock, url } = await node(undefined, dialect);
      const file = newFile();
      const say = `read -r line; echo "$line" >> ${file}`;
      const slowly = `sleep 0.5; ${say}`;
      const run = mine(url, [
        '--blocks',
        '2',
        '--on-start',
        say,
        '--on-block',
        say,
        '--on-stop',
        slowly,
        '--rig-name',
        'attic',
      ]);
      expect(await run.code).toBe(0);
      const notices = linesOf(file).map((line) => JSON.parse(line));
      expect(notices[0]).toMatchObject({ type: 'start', rig: 'attic', text: 'pickaxe has started' });
      const blocks = notices.filter(({ type }) => type === 'block');
      expect(blocks).toHaveLength(mock.ledger.stats.accepted);
      expect(blocks[0]).toMatchObject({ device: 'cpu', nonce: expect.stringMatching(/^\d+$/) });
      expect(notices.at(-1)).toMatchObject({ type: 'stop', accepted: mock.ledger.stats.accepted });
    },
  );

  it('do not run for the blocks of a demo if they come from files, only if they are flags', async () => {
    const [ofFile, ofFlag] = [newFile(), newFile()];
    const folder = mkdtempSync(join(root, 'demo-'));
    const { got, url } = await service();
    const settings = [`hooks.block = "echo file >> ${ofFile}"`, `hooks.start = "echo >> ${ofFile}"`];
    writeFileSync(join(folder, 'rig.toml'), [...settings, `webhook.url = "${url}"`].join('\n'), { mode: 0o600 });
    const args = [
      'demo',
      '--config',
      'rig.toml',
      '--devices',
      'cpu',
      '--threads',
      '1',
      '--blocks',
      '2',
      '--on-block',
      `echo flag >> ${ofFlag}`,
    ];
    const run = start(args, {}, MAIN, folder);
    runs.push(run);
    expect(await run.code).toBe(0);
    expect(linesOf(ofFlag).slice(0, 2)).toEqual(['flag', 'flag']);
    expect([read(ofFile), got]).toEqual(['', []]);
  });

  it('run when a device is lost, and a hook that fails is logged', async () => {
    const { url } = await node(1e15);
    const file = newFile();
    const args = [
      '--on-device-lost',
      `echo "$PICKAXE_EVENT_DEVICE $PICKAXE_EVENT_STATE $PICKAXE_EVENT_FAULT" > ${file}; exit 9`,
    ];
    const run = mine(url, ['--devices', 'gpu77', ...args]);
    await vi.waitFor(() => expect(read(file)).toBe('gpu77 parked missing\n'), PATIENCE);
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);
    expect(run.stderr).toContain('device-lost: its command failed (exit code 9)');
  });

  it.skipIf(process.platform === 'win32')(
    'end pickaxe once a device is parked, as docs/unattended.md says',
    async () => {
      const page = readFileSync(new URL('../../../docs/unattended.md', import.meta.url), 'utf8');
      const [, command] = /--on-device-lost '(\[ .*kill \$PPID)'/.exec(page)!;
      const { url } = await node(1e15);
      const run = mine(url, ['--devices', 'gpu77', '--on-device-lost', command]);
      expect(await run.code).toBe(0);
      expect(run.events('device')).toContainEqual(expect.objectContaining({ device: 'gpu77', state: 'parked' }));
      expect(run.events().at(-1)).toMatchObject({ type: 'summary' });
    },
  );

  it('are ended by the second signal, however long they take', async () => {
    const { url } = await node(1e15);
    const file = newFile();
    const run = mine(url, ['--on-stop', `echo $$ > ${file}; exec sleep 1000`]);
    await vi.waitFor(() => expect(run.events('work').length).toBeGreaterThan(0), PATIENCE);
    run.child.kill('SIGTERM');
    await vi.waitFor(() => expect(read(file)).toMatch(/^\d+\n$/), PATIENCE);
    const pid = Number(read(file));
    onTestFinished(() => void process.kill(pid, 'SIGKILL'));
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(130);
  });
});

describe('the webhook', () => {
  it('receives every notice, with the token from a file, and neither the URL nor the token is logged', async () => {
    const { mock, url } = await node();
    const { got, url: hook } = await service();
    const tokenFile = newFile();
    writeFileSync(tokenFile, 'TOKEN123\n', { mode: 0o600 });
    const run = mine(url, [
      '--blocks',
      '1',
      '--webhook',
      hook,
      '--webhook-token-file',
      tokenFile,
      '--log-level',
      'trace',
    ]);
    expect(await run.code).toBe(0);
    expect(got.map(({ type }) => type)).toEqual(['start', ...Array(mock.ledger.stats.accepted).fill('block'), 'stop']);
    expect(got.every(({ token }) => token === 'Bearer TOKEN123')).toBe(true);
    expect(run.stderr + run.lines.join()).not.toMatch(/SECRET|TOKEN123/);
  });

  it('that cannot be reached causes a warning, and delays the end only a little', async () => {
    const { url } = await node();
    const run = mine(url, ['--blocks', '1', '--webhook', 'http://127.0.0.1:1/SECRET']);
    expect(await run.code).toBe(0);
    expect(run.stderr).toContain('http://127.0.0.1:1 did not get the event');
    expect(run.stderr).not.toContain('SECRET');
  });
});

describe('the low-hashrate alarm', () => {
  it('is an event, a log line, a hook and a notice', async () => {
    const { url } = await node(1e15);
    const { got, url: hook } = await service();
    const file = newFile();
    const command = `echo "$PICKAXE_EVENT_LIMIT_HASHES_PER_SECOND" > ${file}`;
    const limits = ['--min-hashrate', '900T', '--min-hashrate', 'cpu=1', '--min-hashrate-after', '1s'];
    const run = mine(url, [...limits, '--on-low-hashrate', command, '--webhook', hook]);
    await vi.waitFor(() => expect(got.map(({ type }) => type)).toContain('low-hashrate'), PATIENCE);
    await vi.waitFor(() => expect(read(file)).toBe('900000000000000\n'), PATIENCE);
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);
    expect(run.events('alarm')).toHaveLength(1);
    expect(run.events('alarm')[0]).toMatchObject({
      alarm: 'low-hashrate',
      state: 'raised',
      limitHashesPerSecond: 9e14,
    });
    expect(run.events('alarm')[0].hashesPerSecond).toBeGreaterThan(0);
    expect(run.stderr).toContain('(limit 900.0 TH/s)');
  });
});

describe('a rig that pauses by itself', () => {
  const utc = { TZ: 'UTC' };
  const clockTime = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);

  it('searches nothing outside the schedule, and says until when', async () => {
    const { url } = await node();
    const run = mine(url, ['--duration', '3', '--schedule', `${clockTime(2)}-${clockTime(3)}`], utc);
    expect(await run.code).toBe(0);
    expect(run.events('device')[0]).toMatchObject({ state: 'paused' });
    expect(run.events('device')[0].reason).toMatch(/^outside the schedule until (\w{3} )?\d\d:\d\d$/);
    expect(run.events('summary')[0]).toMatchObject({ hashes: 0, accepted: 0 });
  });

  it('mines within the schedule', async () => {
    const { url } = await node();
    const run = mine(url, ['--blocks', '1', '--schedule', `${clockTime(-2)}-${clockTime(2)}`], utc);
    expect(await run.code).toBe(0);
  });

  it('says what it watches for activity', async () => {
    const { url } = await node();
    const run = mine(url, ['--duration', '2', '--pause-on-battery', '--pause-on-activity']);
    expect(await run.code).toBe(0);
    if (process.platform === 'linux') expect(run.stderr).toMatch(/activity on this machine: watching .*terminals/);
  });
});

describe('the log file', () => {
  it('has everything that stderr has, as JSON with --log-format json, including the last lines', async () => {
    const { url } = await node();
    const file = newFile();
    const run = mine(url, ['--blocks', '1', '--log-file', file, '--log-format', 'json']);
    expect(await run.code).toBe(0);
    expect(read(file)).toBe(run.stderr);
    expect(JSON.parse(linesOf(file).at(-1)!).message).toContain('accepted');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('has the last lines of a run that failed', async () => {
    const { mock, url } = await node();
    mock.server.faults = [{ endpoint: 'work', kind: 'unavailable' }];
    const file = newFile();
    const run = mine(url, ['--duration', '1', '--log-file', file]);
    expect(await run.code).toBe(4);
    expect(read(file)).toBe(run.stderr);
  });

  it('has the last lines of a run that a second signal ended', async () => {
    const { mock, url } = await node();
    mock.server.faults = [{ endpoint: 'solved', kind: 'hang' }];
    const file = newFile();
    const run = mine(url, ['--log-file', file]);
    await vi.waitFor(() => expect(run.events('solution').length).toBeGreaterThan(0), PATIENCE);
    run.child.kill('SIGINT');
    await vi.waitFor(() => expect(run.stderr).toContain('repeat to exit'), PATIENCE);
    run.child.kill('SIGINT');
    expect(await run.code).toBe(130);
    expect(read(file)).toBe(run.stderr);
  });

  it('is plain text, like the output to a pipe: one line per event with its time and level, without colours', async () => {
    const { url } = await node();
    const file = newFile();
    const run = mine(url, ['--blocks', '1', '--log-file', file]);
    expect(await run.code).toBe(0);
    for (const line of linesOf(file)) expect(line).toMatch(/^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\] [A-Z]+: /);
    expect(read(file)).not.toContain('\x1b');
    expect(run.stderr).toBe(read(file));
  });

  it('is rotated while mining', async () => {
    const { url } = await node();
    const file = newFile();
    const args = ['--log-file', file, '--log-file-size', '1k', '--log-file-keep', '3', '--log-level', 'trace'];
    const run = mine(url, ['--blocks', '30', ...args]);
    expect(await run.code).toBe(0);
    const rotated = [3, 2, 1].map((i) => `${file}.${i}`);
    expect(rotated.map(existsSync)).toEqual([true, true, true]);
    expect(existsSync(`${file}.4`)).toBe(false);
    // A log file is rotated when the next line does not fit, so each file was full to within a line.
    const longest = Math.max(...run.stderr.split('\n').map((line) => Buffer.byteLength(`${line}\n`)));
    for (const { size } of rotated.map((name) => statSync(name))) {
      expect(size).toBeGreaterThanOrEqual(1_024);
      expect(size).toBeLessThan(1_024 + longest);
    }
    const kept = [...rotated, file].map(read).join('');
    expect(kept).toBe(run.stderr.slice(-kept.length));
    expect(kept.length).toBeLessThan(run.stderr.length);
  });

  it.skipIf(process.platform === 'win32')('that cannot grow causes a line on stderr, and mining goes on', async () => {
    const { mock, url } = await node();
    const file = newFile();
    // No file of this process may become larger than 4 KiB.
    const limited = `ulimit -f 4 && exec "$@"`;
    const args = ['mine', '--node', url, '--network', 'development', '--public-key', KEY, '--devices', 'cpu'];
    const more = ['--threads', '1', '--blocks', '40', '--log-file', file, '--log-level', 'trace'];
    // The user's own configuration must not affect the test.
    const home = mkdtempSync(join(root, 'home-'));
    const unset = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PICKAXE_')));
    const child = spawn('bash', ['-c', limited, 'bash', process.execPath, MAIN, ...args, ...more], {
      cwd: home,
      env: { ...unset, XDG_CACHE_HOME: home, XDG_CONFIG_HOME: home },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const [code] = await once(child, 'close');
    expect(code).toBe(0);
    expect(mock.ledger.stats.accepted).toBeGreaterThanOrEqual(40);
    expect(stderr.match(/the log file cannot be written, mining goes on: EFBIG/g)).toHaveLength(1);
    expect(statSync(file).size).toBeLessThanOrEqual(4_096);
  });
});

describe('wrong usage ends with exit code 2 and says what to do', () => {
  const hook = ['--webhook', 'http://127.0.0.1:1/'];
  const badToken = newFile();
  writeFileSync(badToken, 'two words\n', { mode: 0o600 });
  it.each([
    [['--duration', '8w'], '90m, 1h30m or 2d'],
    [['--duration', '366d'], 'up to 365 days'],
    [['--schedule', '22-7'], 'Write it like 22:00-07:00'],
    [['--pause-on-activity', '5'], 'at least 10 seconds'],
    [['--pause-on-activity', 'always'], 'or none'],
    [['--min-hashrate', 'fast'], '800M, 20G or 20 GH/s'],
    [['--min-hashrate', '0'], 'above 0'],
    [['--min-hashrate', '1G,2G'], 'twice for the rig'],
    [['--min-hashrate', 'gpu0=1G', '--min-hashrate', 'gpu0=2G'], 'twice for gpu0'],
    [['--log-file', '/nonexistent/pickaxe.log'], 'there is no directory /nonexistent'],
    [['--log-file', '/dev/null'], 'not a regular file'],
    [['--log-file-size', '10'], '500k, 10M or 1G'],
    [['--log-file-keep', '0'], '1 to 100'],
    [['--on-block', ' '], 'a shell command'],
    [['--webhook', 'ftp://host/'], 'https:// or http://'],
    [[...hook, '--webhook-events', 'block,lunch'], 'start, stop, block'],
    [[...hook, '--webhook-token-file', '/nonexistent'], 'cannot be read: there is no such file'],
    [[...hook, '--webhook-token-file', badToken], 'one token of visible ASCII'],
    [[...hook, '--webhook-file', badToken], 'not both'],
    [['--webhook-file', badToken], 'https:// or http://'],
    [['--webhook-token-file', badToken], 'needs a --webhook'],
  ])('as in %j', async (args, message) => {
    const { code, stdout, stderr } = await pickaxe('demo', ...args);
    expect(stderr).toContain(message);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  it('and never repeats the password of a webhook', async () => {
    const { code, stderr } = await pickaxe('demo', '--webhook', 'https://me:SECRET@host/');
    expect(code).toBe(2);
    expect(stderr).toContain('without user and password');
    expect(stderr).not.toContain('SECRET');
  });
});
