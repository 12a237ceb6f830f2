import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { nodesOf } from '../../miner/source/node/node.ts';
import { PATIENCE } from '../../patience.ts';
import { asProgram, folder, inNewFolders, KEY, pickaxe, project } from '../in-folder.ts';
import { start } from '../pickaxe.ts';

inNewFolders();

describe('settings in files', () => {
  it('apply to pickaxe bench and pickaxe devices', async () => {
    folder.write('pickaxe.toml', `${project}[cpu]\nthreads = 1\nkernel = "wasm"\n`);
    const bench = await asProgram(['bench', '--seconds', '0.2', '--count', '65536', '--json']);
    expect(bench.code).toBe(0);
    expect(JSON.parse(bench.stdout).devices).toMatchObject([{ name: 'cpu', kernel: 'wasm', threads: 1 }]);
    const devices = await pickaxe(['devices', '--json']);
    expect(devices.code).toBe(0);
    const { cpu } = JSON.parse(devices.stdout);
    expect(cpu).toMatchObject({ kernel: 'wasm', threads: 1 });
    expect(cpu.kernels.find(({ name }: { name: string }) => name === 'wasm').why).toMatch(/^chosen: asked for, /);
  });
});

describe('pickaxe config', () => {
  const [keyA, keyB] = ['aa', 'bb'].map((byte) => byte.repeat(32));
  it.each([
    [`miner.public-keys = ["${keyA}", "${keyB}"]`, 'With several keys there is no default account'],
    ['node.urls = ["http://host:1848"]', 'No network is configured'],
    ['devices.temp-limit = "none"\ndevices.temp-resume = 60', 'needs a --temp-limit'],
    ['alarm.min-hashrate = ["20G", "gpu0=5G", "10G"]', 'given twice for the rig'],
    ['alarm.min-hashrate = ["gpu0=6G", "gpu0=5G"]', 'given twice for gpu0'],
  ])('reports for %j what mining would refuse', async (toml, message) => {
    folder.write('pickaxe.toml', toml);
    for (const args of [
      ['config', 'check'],
      ['config', 'check', 'pickaxe.toml'],
    ]) {
      expect(await pickaxe(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
    }
    const node = ['mine', '--node', 'http://127.0.0.1:1', '--network', 'n', '--public-key', keyA];
    const mine = await pickaxe(toml.startsWith('miner') || toml.startsWith('node') ? ['mine', '--dry-run'] : node);
    expect(mine.code).toBe(2);
  });

  it.each([
    ['webhook.token-file = "token"', 'needs a --webhook'],
    ['http.control = true', 'need --http'],
    ['http.listen = "0.0.0.0:8080"', 'can be reached by other machines'],
    ['webhook.url = "http://a/"\nwebhook.url-file = "url"', 'not both'],
  ])('reports for %j in a named file what mining would refuse', async (toml, message) => {
    folder.write('rig.toml', toml);
    for (const args of [
      ['config', 'check', 'rig.toml'],
      ['mine', '--config', 'rig.toml', '--node', 'http://127.0.0.1:1', '--network', 'n', '--public-key', keyA],
    ]) {
      expect(await pickaxe(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
    }
  });
});

// The time limit is for pickaxe doctor, which measures every kernel.
describe('a project file that nobody named', () => {
  const hook = `hooks.start = "touch ran"\n`;
  const mining = ['mine', '--node', 'http://127.0.0.1:9', '--duration', '1', '--threads', '1', '--devices', 'cpu'];

  it('runs no commands, and mine, config check and doctor give the same reason', async () => {
    folder.write('pickaxe.toml', `${hook}${project}`);
    const message =
      /pickaxe\.toml:1:\d+: hooks\.start cannot be set by a file that was only found here\. Give .*--config pickaxe\.toml/;
    for (const args of [mining, ['config', 'check'], ['demo'], ['mine', '--print-config']]) {
      expect(await pickaxe(args)).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
    }
    const { code, stdout } = await pickaxe(['doctor', '--json', '--threads', '1', '--kernel', 'wasm']);
    expect(code).toBe(1);
    const { findings } = JSON.parse(stdout) as { findings: { about: string; what: string }[] };
    expect(findings.find(({ about }) => about === 'configuration')?.what).toMatch(message);
    expect((await pickaxe([])).stdout).toMatch(message);
    expect(existsSync(join(folder.path, 'ran'))).toBe(false);
  });

  it('gets no secret: a pool of its own is neither asked nor told the user’s password', async () => {
    const received: string[] = [];
    const pool = createServer((client) => {
      received.push('connected');
      client.on('data', (bytes) => received.push(`${bytes}`)).on('error', () => {});
    });
    await new Promise<void>((listening) => pool.listen(0, '127.0.0.1', listening));
    try {
      const { port } = pool.address() as AddressInfo;
      const evil = `pool.urls = ["stratum+tcp://127.0.0.1:${port}"]\n`;
      const token = folder.write('.vault-token', 'hvs.SECRET-OF-THE-USER\n');
      const doctor = ['doctor', '--json', '--threads', '1', '--kernel', 'wasm', '--devices', 'cpu'];
      const mine = ['mine', '--devices', 'cpu', '--threads', '1', '--kernel', 'wasm', '--duration', '1'];

      folder.write('pickaxe.toml', `${evil}pool.user = "x"\npool.password-file = "${token}"\n`);
      expect(await pickaxe(mine)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('pool.password-file cannot'),
      });
      expect(await pickaxe(doctor)).toMatchObject({
        code: 1,
        stdout: expect.stringContaining('pool.password-file cannot'),
      });

      folder.write('pickaxe/config.toml', 'pool.user = "me"\npool.password-file = "../.vault-token"\n');
      folder.write('pickaxe.toml', evil);
      expect(await pickaxe(mine)).toMatchObject({ code: 2, stderr: expect.stringContaining('pool.urls cannot') });
      expect(await pickaxe(doctor)).toMatchObject({ code: 1, stdout: expect.stringContaining('pool.urls cannot') });
      expect(received).toEqual([]);
    } finally {
      pool.close();
    }
  });

  it('may name who is paid, which is logged whatever its log level is', async () => {
    folder.write('pickaxe.toml', `${project}[log]\nlevel = "silent"\n`);
    const { stderr } = await asProgram(['mine', '--duration', '0.2', '--threads', '1', '--kernel', 'wasm']);
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/settings are from pickaxe\.toml, which was found .* \(node\.urls, miner\.public-keys\)$/),
    ]);
    const named = await asProgram(['mine', '--config', 'pickaxe.toml', '--duration', '0.2', '--threads', '1']);
    expect(named.stderr).toBe('');
  });

  it('runs its commands once it is named', async () => {
    folder.write('pickaxe.toml', `${hook}${project}`);
    expect(await pickaxe(['config', 'check', 'pickaxe.toml'])).toMatchObject({ code: 0 });
    await asProgram([...mining, '--config', 'pickaxe.toml']);
    expect(existsSync(join(folder.path, 'ran'))).toBe(true);
  });
});

describe('an option that turns off certificate checks', () => {
  it('causes a warning when mining starts', async () => {
    const mine = ['mine', '--dry-run', '--network', 'n', '--public-key', KEY, '--threads', '1', '--kernel', 'wasm'];
    const warned = async (...more: string[]) => {
      const { stderr } = await asProgram([...mine, '--devices', 'cpu', '--log-format', 'text', ...more]);
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
    `[devices]\nuse = ["cpu"]\n${more}[cpu]\nthreads = 1\nkernel = "wasm"\n[log]\nlevel = "info"\n`;

  it('takes effect at once where possible, is reported where that needs a restart, and is refused as a whole if it is wrong', async () => {
    folder.write('pickaxe.toml', mining());
    const run = start(['demo', '--log-format', 'text'], {}, undefined, folder.path);
    const message = (text: string | RegExp) => vi.waitFor(() => expect(run.stderr).toMatch(text), PATIENCE);
    await message('speed');

    folder.write('pickaxe.toml', mining('temp-limit = 70\n').replace('threads = 1', 'threads = 2'));
    await message('devices.temp-limit 90 → 70, from now on');
    await message('cpu.threads 1 → 2: takes effect at the next start');

    // The schedule is closed for the next twelve hours: all devices pause, and resume when the schedule is removed.
    const hour = (new Date().getHours() + 12) % 24;
    const schedule = `[pause]\nschedule = "${hour}:00-${hour}:30"\n`;
    folder.write('pickaxe.toml', `${mining()}\n${schedule}`);
    await message(/paused: outside the schedule until/);
    folder.write('pickaxe.toml', mining());
    await message(/paused: outside.*pause.schedule .* → unset, from now on.*accepted/s);

    folder.write('pickaxe.toml', mining('temp-limit = 60\ntemp-resume = 65\n'));
    await message(/the configuration stays as it was: .*temp-resume \(65\) must be below/);
    folder.write('pickaxe.toml', 'what = is this');
    await message(/the configuration stays as it was: pickaxe\.toml/);
    folder.write('pickaxe.toml', `${mining()}[hooks]\nblock = "touch ran"\n`);
    await message(/the configuration stays as it was: pickaxe\.toml:9:\d+: hooks\.block cannot be set/);

    folder.write('pickaxe.toml', mining().replace('"info"', '"error"'));
    await message('log.level "info" → "error"');
    const before = run.stderr.length;
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);
    expect(run.stderr.slice(before)).not.toContain('accepted');
  }, 90_000);

  it('adds, removes and reorders nodes, and every solution has its verdict', async () => {
    const started = await Promise.all(
      (['document', 'chainweb', 'document'] as const).map((dialect) => nodesOf(dialect)({ difficulty: 3_000_000 })),
    );
    const [a, b, c] = started.map(({ url }) => url);
    const accepted = () => started.map(({ node }) => node.ledger.stats.accepted);
    const write = (...urls: string[]) =>
      folder.write(
        'rig.toml',
        `${mining()}[node]\nurls = ${JSON.stringify(urls)}\nnetwork = "development"\n[miner]\npublic-keys = ["${KEY}"]\n`,
      );
    write(a);
    const run = start(['mine', '--config', 'rig.toml', '--log-format', 'text', '--json'], {}, undefined, folder.path);
    const until = (check: () => void) => vi.waitFor(check, { ...PATIENCE, interval: 100 });
    await until(() => expect(accepted()[0]).toBeGreaterThan(2));
    write(b, a);
    await until(() => expect(run.stderr).toContain('from now on'));
    await until(() => expect(accepted()[1]).toBeGreaterThan(2));
    expect(run.stderr).toMatch(/takes over again from .*/);
    write(c);
    await until(() => expect(run.stderr).toMatch(/takes over from .*, which is no longer configured/));
    await until(() => expect(accepted()[2]).toBeGreaterThan(2));
    write();
    await until(() =>
      expect(run.stderr).toMatch(/No node is configured|takes effect at the next start|stays as it was/),
    );
    const before = accepted();
    await until(() => expect(accepted()[2]).toBeGreaterThan(before[2] + 2));
    expect(accepted().slice(0, 2)).toEqual(before.slice(0, 2));
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);
    const [summary] = run.events('summary');
    expect(summary).toMatchObject({ type: 'summary', rejected: 0, unknown: 0 });
    expect(summary.accepted).toBe(accepted().reduce((sum, count) => sum + count, 0));
  }, 240_000);
});
