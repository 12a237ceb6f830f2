import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mockNodeArgs } from '../../mock-node/node.ts';
import { pickaxe, pickaxeIn } from '../in-process.ts';
import { pickaxe as asProgram, isolated } from '../pickaxe.ts';

const KEY = 'a1'.repeat(32);

describe('pickaxe without a command', () => {
  const alone = (env: Record<string, string>) => pickaxeIn(isolated.cwd, [], env);

  it('says what to do first', async () => {
    const { code, stdout } = await alone({});
    expect(code).toBe(0);
    for (const next of [
      'Nothing is configured yet',
      'pickaxe demo',
      'pickaxe init',
      'pickaxe doctor',
      'pickaxe --help',
    ]) {
      expect(stdout).toContain(next);
    }
    expect(stdout.split('\n').length).toBeLessThan(10);
  });

  it('says what to do with the present configuration', async () => {
    const { code, stdout } = await alone({ PICKAXE_NODE: 'http://host:1848', PICKAXE_PUBLIC_KEY: KEY });
    expect(code).toBe(0);
    expect(stdout).toContain('Ready to mine on http://host:1848');
    expect(stdout).toContain('pickaxe mine');
  });

  it('says what to do about a configuration that is wrong', async () => {
    const { code, stdout } = await alone({ PICKAXE_THREADS: 'many' });
    expect(code).toBe(0);
    expect(stdout).toContain('PICKAXE_THREADS');
    expect(stdout).toContain('pickaxe config check');
  });

  it.each(['--version', '-v', 'version'])('prints its version when asked by %s', async (asked) => {
    const { code, stdout } = await asProgram(asked);
    expect(code).toBe(0);
    expect(stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('explains itself, or a command, when asked for help', async () => {
    const [all, one] = await Promise.all([pickaxe('help'), pickaxe('help', 'keygen')]);
    expect([all.code, one.code]).toEqual([0, 0]);
    expect(all.stdout).toContain('Usage: pickaxe');
    expect(one.stdout).toContain('Usage: pickaxe keygen');
  });
});

describe('help', () => {
  it('for pickaxe has the commands in groups, by what people do, and examples with commands that exist', async () => {
    const { stdout } = await pickaxe('--help');
    const [, ...groups] = stdout.split(/^(?=[A-Z][\w ]*:$)/m);
    const names = groups.map((group) => group.split('\n')[0]);
    expect(names).toEqual([
      'Options:',
      'Start:',
      'Watch and earn:',
      'Measure:',
      'More:',
      'For programs and developers:',
      'Examples:',
    ]);
    const commands = groups.slice(1, 5).flatMap((group) => [...group.matchAll(/^ {2}([\w-]+) /gm)]);
    const examples = [...groups[6].matchAll(/^ {2}pickaxe ([\w-]+)/gm)];
    expect(examples.length).toBeGreaterThanOrEqual(3);
    for (const [, name] of examples) expect(commands.map(([, command]) => command)).toContain(name);
  });

  it('for mine has examples with options that the page lists, and fits 60 lines', async () => {
    const { stdout } = await pickaxe('mine', '--help');
    const [help, examples] = stdout.split('\nExamples:\n');
    const options = [...examples.matchAll(/ (--?[a-z][\w-]*)/g)].map(([, option]) => option);
    for (const option of options) expect(help).toMatch(new RegExp(`^ {2}(-\\w, )?${option}[, ]`, 'm'));
    expect([...examples.matchAll(/^ {2}pickaxe mine /gm)].length).toBeGreaterThanOrEqual(3);
    expect(stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
  });

  it.each(['', 'mine', 'worker'])('for pickaxe %s fits 80 columns', async (command) => {
    const { stdout } = await pickaxe(...command.split(' ').filter(Boolean), '--help');
    for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  });

  it('for tx has examples with existing commands and options', async () => {
    const { stdout } = await pickaxe('tx', '--help');
    const [help, examples] = stdout.split('\nExamples:\n');
    const lines = [...examples.matchAll(/^ {2}pickaxe tx ([\w-]+)(.*)$/gm)];
    expect(lines.length).toBeGreaterThanOrEqual(5);
    for (const [, name] of lines) expect(help).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    const named = [...new Set(lines.filter(([, , rest]) => rest.includes(' --')).map(([, name]) => name))];
    const pages = new Map(
      await Promise.all(named.map(async (name) => [name, (await pickaxe('tx', name, '--help')).stdout] as const)),
    );
    for (const [, name, rest] of lines) {
      for (const [option] of rest.matchAll(/--[\w-]+/g)) expect(pages.get(name), name).toContain(option);
    }
  });

  it('says that --threads uses all hardware threads of a small machine', async () => {
    expect((await pickaxe('mine', '--help')).stdout.replace(/\s+/g, ' ')).toContain(
      'default: all hardware threads, or all but one where there are more than two',
    );
  });
});

it('short flags do the same as the long ones', async () => {
  const short = ['-o', 'http://n:1', '-u', `k:${KEY}.rig1`, '-d', '0,1', '-t', '2'];
  const { code, stdout } = await pickaxe('mine', ...short, '--print-config', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    'node.urls': { value: ['http://n:1'], where: '--node' },
    'miner.public-keys': { value: [KEY], where: '--public-key' },
    'rig.name': { value: 'rig1' },
    'devices.use': { value: ['gpu0', 'gpu1'], where: '--devices' },
    'cpu.threads': { value: 2, where: '--threads' },
  });
  const missing = await pickaxe('mine', '-c', 'nowhere.toml');
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('nowhere.toml: there is no such file')]);
});

it.each([
  [[], 'stratum+tcp://pool.example:3333', 'x'],
  [['-a', 'blake2s'], 'stratum+ssl://pool.example:3334', 'd=1000'],
  [['--algo', 'kadena'], 'stratum+tcp://pool.example:3333', 'x'],
])('the line that a pool’s page shows works as it stands: %j -o %s -u … -p %s', async (before, url, password) => {
  const user = `k:${KEY}.rig1`;
  const asked = [...before, '-o', url, '-u', user, '-p', password, '--print-config', '--json'];
  const { code, stdout, stderr } = await pickaxe('mine', ...asked);
  expect([code, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout)).toMatchObject({
    'node.urls': { value: null },
    'miner.public-keys': { value: null },
    'pool.urls': { value: [url], where: '--pool' },
    'pool.user': { value: user, where: '--user' },
    'pool.password': { value: '***', where: '--password' },
  });
  expect(stdout).not.toContain(`"${password}"`);
});

it('pools keep the order in which -o, --url and --pool name them, and are not mixed with nodes', async () => {
  const places = ['-o', 'stratum+tcp://a:1', '--pool', 'stratum+tcp://b:2', '--url', 'ssl://c:3'];
  const { stdout } = await pickaxe('mine', ...places, '-u', 'me', '--pass', 'x', '--print-config', '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    'pool.urls': { value: ['stratum+tcp://a:1', 'stratum+tcp://b:2', 'stratum+ssl://c:3'] },
    'pool.password': { where: '--password' },
  });
  const mixed = await pickaxe('mine', ...places, '-o', 'http://n:1', '-u', 'me');
  expect([mixed.code, mixed.stderr]).toEqual([2, expect.stringContaining('cannot be mined on at the same time')]);
});

it('piped output is text: a line per event with its time and level', async () => {
  const { code, stderr } = await asProgram(...mockNodeArgs('chainweb', ['--duration', '0.1']));
  expect(code).toBe(0);
  for (const line of stderr.trimEnd().split('\n')) {
    expect(line).toMatch(/^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\] INFO: mock {2}\S/);
  }
  const json = await asProgram(...mockNodeArgs('chainweb', ['--duration', '0.1', '--log-format', 'json']));
  expect(JSON.parse(json.stderr.split('\n')[0])).toMatchObject({ level: 'info', tag: 'mock' });
});

it('the error about an invalid key names a command that makes a valid one', async () => {
  const { stderr } = await pickaxe('mine', '--public-key', 'xyz');
  const [, args] = /Make one with: pickaxe (.*)/.exec(stderr)!;
  const file = join(mkdtempSync(join(tmpdir(), 'pickaxe-')), 'folder');
  mkdirSync(file);
  expect((await pickaxeIn(file, args.trim().split(' '))).code).toBe(0);
  rmSync(dirname(file), { recursive: true });
});

it('the mock node ends after a time that is given with a unit', async () => {
  const { code, stderr } = await asProgram(...mockNodeArgs('chainweb', ['--duration', '0.01m']));
  expect([code, stderr]).toEqual([0, expect.stringContaining('0 accepted (0 orphaned), 0 rejected, 0 stale')]);
});

describe('pickaxe keygen', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pickaxe-'));
    file = join(folder, 'key.json');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('writes the secret to a file that only its owner can read, and prints only the public half', async () => {
    const { code, stdout, stderr } = await pickaxe('keygen', file);
    expect(code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { publicKey, secretKey } = JSON.parse(readFileSync(file, 'utf8'));
    expect(publicKey).toMatch(/^[0-9a-f]{64}$/);
    expect(secretKey).toMatch(/^[0-9a-f]{64}$/);
    expect(stdout).toContain(`k:${publicKey}`);
    expect(stdout + stderr).not.toContain(secretKey);
  });

  it('leaves an existing file unchanged', async () => {
    writeFileSync(file, 'mine');
    const { code, stderr } = await pickaxe('keygen', file);
    expect(code).toBe(2);
    expect(stderr).toContain('already exists');
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });
});
