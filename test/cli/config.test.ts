import { once } from 'node:events';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DryRunPlan } from '#pickaxe/app/dry-run.js';
import { PrintedConfig } from '#pickaxe/config/printed-config.js';
import { MockNode } from '#pickaxe/mock-node/mock-node.js';
import { Folder } from '../config/folder.ts';
import { expectShape } from '../expect-shape.ts';
import { start } from './pickaxe.ts';

const KEY = 'ab'.repeat(32);

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

/** Runs a command to its end in the folder, which is also where the user's files are. */
async function pickaxe(args: string[], env: Record<string, string> = {}) {
  const run = start(args, { XDG_CONFIG_HOME: folder.path, ...env }, undefined, folder.path);
  const code = await run.code;
  return { code, stdout: run.lines.join('\n'), stderr: run.stderr, run };
}

const project = `[node]
urls = ["http://127.0.0.1:9"]
network = "development"

[miner]
public-keys = ["${KEY}"]

[devices]
use = ["cpu"]
`;

describe('pickaxe mine --print-config', () => {
  it('shows all four layers and the defaults', async () => {
    folder.write('pickaxe/config.json', '{ "cpu": { "threads": 3,\n"kernel": "wasm" } }');
    folder.write('pickaxe.toml', `${project}[cpu]\nthreads = 2\npriority = 5\n`);
    const env = { PICKAXE_CPU_PRIORITY: '6', PICKAXE_TEMP_LIMIT: '80' };
    const { code, stdout } = await pickaxe(['mine', '--print-config', '--temp-limit', 'none', '--json'], env);
    expect(code).toBe(0);
    const printed = JSON.parse(stdout);
    expectShape(PrintedConfig, printed);
    expect(printed).toMatchObject({
      'cpu.threads': { value: 2, origin: 'project', where: 'pickaxe.toml:11' },
      'cpu.kernel': { value: 'wasm', origin: 'user', where: join(folder.path, 'pickaxe/config.json:2') },
      'cpu.priority': { value: 6, origin: 'environment', where: 'PICKAXE_CPU_PRIORITY' },
      'devices.temp-limit': { value: 'none', origin: 'flag', where: '--temp-limit' },
      'run.json': { value: true, origin: 'flag', where: '--json' },
      'log.level': { value: 'info', origin: 'default' },
    });
  });

  it('prints TOML, also of a switch that a flag turns off', async () => {
    folder.write('rig.toml', 'gpu.software = true');
    const { code, stdout } = await pickaxe(['mine', '--print-config', '--config', 'rig.toml', '--no-software-gpu']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^software = false {2}# --software-gpu$/m);
  });
});

describe('pickaxe mine --dry-run', () => {
  it('opens the devices and says what would be mined with, asking the node nothing', async () => {
    let connections = 0;
    const node = createServer(() => connections++).listen(0, '127.0.0.1');
    await once(node, 'listening');
    const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
    folder.write('pickaxe.toml', project);
    const { code, stdout } = await pickaxe(['mine', '--dry-run', '--node', url, '--threads', '1', '--kernel', 'js']);
    node.close();
    expect(code).toBe(0);
    expect(connections).toBe(0);
    expect(stdout).toContain(`${url}/ledger/0.0/development (not asked)`);
    expect(stdout).toContain(`k:${KEY}, keys-all`);
    expect(stdout).toMatch(/^cpu +\S.*: kernel js: asked for; 1 thread: asked for/m);
    expect(stdout).toMatch(/^heat +pause at 90 °C, resume at 80 °C$/m);
  });

  it('tells a wrapper as JSON', async () => {
    folder.write('pickaxe.toml', `${project}[run]\njson = true`);
    const { code, stdout } = await pickaxe(['mine', '--dry-run', '--devices', 'cpu,gpu77', '--threads', '1']);
    expect(code).toBe(0);
    const plan = JSON.parse(stdout);
    expectShape(DryRunPlan, plan);
    expect(plan).toMatchObject({
      account: `k:${KEY}`,
      temperatureLimits: { stopCelsius: 90, resumeCelsius: 80 },
      devices: [
        { name: 'cpu', usable: true, threads: 1 },
        { name: 'gpu77', usable: false, fault: 'missing' },
      ],
    });
  });

  it.each([
    [['--devices', 'gpu77'], 3, ''],
    [['--node', 'ftp://host'], 2, '--node is "ftp://host"'],
    [['--temp-resume', '95'], 2, '--temp-resume (95) must be below --temp-limit (90)'],
    [['--cpu-affinity', '1023'], 2, 'cannot be pinned'],
    [['--public-key', 'cd'.repeat(32), '--public-key', KEY], 2, '--account'],
  ])('ends with %j as mining would', async (args, exit, says) => {
    folder.write('pickaxe.toml', project);
    const { code, stderr } = await pickaxe(['mine', '--dry-run', ...args]);
    expect(code).toBe(exit);
    expect(stderr).toContain(says);
  });
});

describe('settings in files', () => {
  it('are what pickaxe mines with', async () => {
    const mock = new MockNode({ difficulty: 100_000 });
    const { url } = await mock.start();
    folder.write('pickaxe.toml', `${project.replace('http://127.0.0.1:9', url)}[cpu]\nthreads = 1\nkernel = "wasm"\n`);
    folder.write('pickaxe/config.toml', '[run]\njson = true\nblocks = 2\nduration = 60\n[log]\nformat = "json"');
    const { code, run } = await pickaxe(['mine']);
    await mock.close();
    expect(code).toBe(0);
    expect(mock.ledger.stats.accepted).toBeGreaterThanOrEqual(2);
    expect(run.events('device')[0]).toMatchObject({ device: 'cpu', description: expect.stringMatching(/wasm/) });
  });

  it('are what pickaxe bench measures, and devices shows', async () => {
    folder.write('pickaxe.toml', `${project}[cpu]\nthreads = 1\nkernel = "js"\n`);
    const bench = await pickaxe(['bench', '--seconds', '0.2', '--count', '65536', '--json']);
    expect(bench.code).toBe(0);
    expect(JSON.parse(bench.stdout).devices).toMatchObject([{ name: 'cpu', kernel: 'js', threads: 1 }]);
    const devices = await pickaxe(['devices', '--json']);
    expect(devices.code).toBe(0);
    const { cpu } = JSON.parse(devices.stdout);
    expect(cpu).toMatchObject({ kernel: 'js', threads: 1 });
    expect(cpu.kernels.find(({ name }: { name: string }) => name === 'js').why).toMatch(/^chosen: asked for, /);
  });

  it.each([['mine'], ['demo'], ['bench'], ['devices'], ['mock-node']])(
    'that are wrong end pickaxe %s',
    async (command) => {
      folder.write('pickaxe.toml', '[cpu]\nthreads = 0\nkernl = "js"');
      const { code, stdout, stderr } = await pickaxe([command]);
      expect(code).toBe(2);
      expect(stdout).toBe('');
      expect(stderr).toBe(`error: 2 errors in the configuration:
  pickaxe.toml:2: cpu.threads is 0. Give a whole number from 1 to 1024.
  pickaxe.toml:3: there is no setting cpu.kernl. Did you mean kernel?
`);
    },
  );

  it.each([
    ['verify', 'abcd'],
    ['config', 'example'],
    ['config', 'schema'],
  ])('are nothing to pickaxe %s %s', async (...args) => {
    folder.write('pickaxe.toml', 'nonsense');
    const { stderr } = await pickaxe(args);
    expect(stderr).not.toContain('pickaxe.toml');
  });
});

describe('pickaxe config', () => {
  it('prints an example that it finds in order', async () => {
    folder.write('pickaxe.toml', (await pickaxe(['config', 'example'])).stdout);
    const { code, stdout } = await pickaxe(['config', 'check', 'pickaxe.toml']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${join(folder.path, 'pickaxe.toml')}: OK` });
  });

  it('checks all that holds here when no file is named', async () => {
    expect(await pickaxe(['config', 'check'])).toMatchObject({
      code: 0,
      stdout: 'no configuration file, only defaults: OK',
    });
    folder.write('pickaxe.toml', project);
    folder.write('pickaxe/config.toml', '');
    const { code, stdout } = await pickaxe(['config', 'check']);
    const files = ['pickaxe.toml', 'pickaxe/config.toml'].map((file) => join(folder.path, file));
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${files.join(', ')}: OK` });
    expect(await pickaxe(['config', 'check'], { PICKAXE_THREADS: '0' })).toMatchObject({ code: 2 });
  });

  it('tells what contradicts itself in a file', async () => {
    folder.write('hot.toml', '[devices]\ntemp-limit = 70\ntemp-resume = 75');
    const { code, stderr } = await pickaxe(['config', 'check', 'hot.toml']);
    expect(code).toBe(2);
    expect(stderr).toContain('must be below --temp-limit (70)');
  });

  const [keyA, keyB] = ['aa', 'bb'].map((byte) => byte.repeat(32));
  it.each([
    [`miner.public-keys = ["${keyA}", "${keyB}"]`, 'With several keys there is no default account'],
    ['node.urls = ["http://host:1848"]', 'No network is configured'],
    ['http.control = true', 'need --http'],
    ['http.listen = "0.0.0.0:8080"', 'can be reached by other machines'],
    ['devices.temp-limit = "none"\ndevices.temp-resume = 60', 'needs a --temp-limit'],
    ['alarm.min-hashrate = ["20G", "gpu0=5G", "10G"]', 'given twice for the rig'],
    ['alarm.min-hashrate = ["gpu0=6G", "gpu0=5G"]', 'given twice for gpu0'],
  ])('tells of %j what mining would refuse', async (toml, says) => {
    folder.write('pickaxe.toml', toml);
    for (const args of [
      ['config', 'check'],
      ['config', 'check', 'pickaxe.toml'],
    ]) {
      expect(await pickaxe(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(says) });
    }
    const node = ['mine', '--node', 'http://127.0.0.1:1', '--network', 'n', '--public-key', keyA];
    const mine = await pickaxe(toml.startsWith('miner') || toml.startsWith('node') ? ['mine', '--dry-run'] : node);
    expect(mine.code).toBe(2);
  });

  it.each([
    ['webhook.token-file = "token"', 'needs a --webhook'],
    ['webhook.url = "http://a/"\nwebhook.url-file = "url"', 'not both'],
  ])('tells of %j in a file that is named what mining would refuse', async (toml, says) => {
    folder.write('rig.toml', toml);
    for (const args of [
      ['config', 'check', 'rig.toml'],
      ['mine', '--config', 'rig.toml', '--node', 'http://127.0.0.1:1', '--network', 'n', '--public-key', keyA],
    ]) {
      expect(await pickaxe(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(says) });
    }
  });

  it('tells all that contradicts itself at once', async () => {
    folder.write('pickaxe.toml', 'http.control = true\ndevices.temp-resume = 95');
    const { code, stderr } = await pickaxe(['demo']);
    expect(code).toBe(2);
    expect(stderr).toContain('must be below --temp-limit (90)');
    expect(stderr).toContain('need --http');
  });

  it('tells what is wrong with a place where a file should be', async () => {
    symlinkSync('nowhere', join(folder.path, 'pickaxe.toml'));
    const { code, stderr } = await pickaxe(['config', 'check']);
    expect(code).toBe(2);
    expect(stderr).toBe('error: pickaxe.toml: it is a link to a file that does not exist.\n');
  });

  it('prints the schema', async () => {
    const { code, stdout } = await pickaxe(['config', 'schema']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ title: 'pickaxe configuration', additionalProperties: false });
  });

  it('leaves the file as it is', async () => {
    const text = `${project}# mine`;
    const file = folder.write('pickaxe.toml', text);
    await pickaxe(['mine', '--print-config']);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});

// pickaxe doctor measures every kernel.
describe('a project file that nobody named', { timeout: 120_000 }, () => {
  const hook = `hooks.start = "touch ran"\n`;
  const mining = ['mine', '--node', 'http://127.0.0.1:9', '--duration', '1', '--threads', '1', '--devices', 'cpu'];

  it('runs nothing, and mine, config check and doctor say so alike', async () => {
    folder.write('pickaxe.toml', `${hook}${project}`);
    const says =
      /pickaxe\.toml:1: hooks\.start cannot be set by a file that was only found here\. Give .*--config pickaxe\.toml/;
    for (const args of [mining, ['config', 'check'], ['demo'], ['mine', '--print-config']]) {
      expect(await pickaxe(args)).toMatchObject({ code: 2, stderr: expect.stringMatching(says) });
    }
    const { code, stdout } = await pickaxe(['doctor', '--json', '--threads', '1', '--kernel', 'js']);
    expect(code).toBe(1);
    const { findings } = JSON.parse(stdout) as { findings: { about: string; what: string }[] };
    expect(findings.find(({ about }) => about === 'configuration')?.what).toMatch(says);
    expect((await pickaxe([])).stdout).toMatch(says);
    expect(existsSync(join(folder.path, 'ran'))).toBe(false);
  });

  it('runs what it says once it is named', async () => {
    folder.write('pickaxe.toml', `${hook}${project}`);
    expect(await pickaxe(['config', 'check', 'pickaxe.toml'])).toMatchObject({ code: 0 });
    await pickaxe([...mining, '--config', 'pickaxe.toml']);
    expect(existsSync(join(folder.path, 'ran'))).toBe(true);
  });
});

describe('certificates that are not checked', () => {
  it('are a warning at the start of mining', async () => {
    const mine = ['mine', '--dry-run', '--network', 'n', '--public-key', KEY, '--threads', '1', '--kernel', 'js'];
    const warned = async (...more: string[]) => {
      const { stderr } = await pickaxe([...mine, '--devices', 'cpu', '--log-format', 'text', ...more]);
      return stderr.split('\n').filter((line) => line.includes('--insecure-tls'));
    };
    const lines = await warned('--node', 'https://127.0.0.1:9', '--insecure-tls');
    expect(lines).toEqual([expect.stringMatching(/node +--insecure-tls accepts .*https:\/\/127.*--node-fingerprint/)]);
    expect(await warned('--node', 'https://127.0.0.1:9')).toEqual([]);
    expect(await warned('--node', 'http://127.0.0.1:9', '--insecure-tls')).toEqual([]);
  });
});

describe('a file that changes while pickaxe mines', () => {
  const mining = (more = '') =>
    `[devices]\nuse = ["cpu"]\n${more}[cpu]\nthreads = 1\nkernel = "js"\n[log]\nlevel = "info"\n`;

  it('is taken at once where that can be, told of where it cannot, and refused as a whole where it is wrong', async () => {
    folder.write('pickaxe.toml', mining());
    const run = start(['demo', '--log-format', 'text'], {}, undefined, folder.path);
    const says = (text: string | RegExp) => vi.waitFor(() => expect(run.stderr).toMatch(text), { timeout: 60_000 });
    await says('speed');

    folder.write('pickaxe.toml', mining('temp-limit = 70\n').replace('threads = 1', 'threads = 2'));
    await says('devices.temp-limit 90 → 70, from now on');
    await says('cpu.threads 1 → 2: takes effect at the next start');

    // Closed for the next twelve hours: all devices rest, and go on when the schedule is taken back.
    const hour = (new Date().getHours() + 12) % 24;
    const schedule = `[pause]\nschedule = "${hour}:00-${hour}:30"\n`;
    folder.write('pickaxe.toml', `${mining()}\n${schedule}`);
    await says(/paused: outside the schedule until/);
    folder.write('pickaxe.toml', mining());
    await says(/paused: outside.*pause.schedule .* → unset, from now on.*accepted/s);

    folder.write('pickaxe.toml', mining('temp-limit = 60\ntemp-resume = 65\n'));
    await says(/the configuration stays as it was: .*temp-resume \(65\) must be below/);
    folder.write('pickaxe.toml', 'what = is this');
    await says(/the configuration stays as it was: pickaxe\.toml/);
    folder.write('pickaxe.toml', `${mining()}[hooks]\nblock = "touch ran"\n`);
    await says(/the configuration stays as it was: pickaxe\.toml:9: hooks\.block cannot be set/);

    folder.write('pickaxe.toml', mining().replace('"info"', '"error"'));
    await says('log.level "info" → "error"');
    const before = run.stderr.length;
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);
    expect(run.stderr.slice(before)).not.toContain('accepted');
  }, 90_000);
});
