/** Mining on pools with the built command line: failover and return, no lost share, and the messages before. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { fingerprintOf } from '#pickaxe/base/net/certificate.js';
import { MockPool } from '../../../bench/lib/mock-pool.mjs';
import { selfSigned } from '../../node/client/certificates.ts';
import { PATIENCE } from '../../patience.ts';
import { pickaxe, type Run, start } from '../pickaxe.ts';

const RIG = ['--user', 'k:abc.rig1', '--devices', 'cpu', '--threads', '1', '--kernel', 'wasm'];

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-pools-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function pool(options: object = {}): Promise<{ pool: MockPool; url: string }> {
  const pool = new MockPool({ difficulty: 2e7, shareDifficulty: 1e5, refreshMs: 500, ...options });
  onTestFinished(() => pool.close());
  return { pool, url: await pool.start() };
}

function mine(...args: string[]): Run {
  const run = start(['mine', '--json', ...RIG, ...args]);
  onTestFinished(async () => {
    run.child.kill('SIGKILL');
    await run.code;
  });
  return run;
}

describe('pickaxe mine', () => {
  it('mines with the line that a pool’s page shows', async () => {
    const { pool: it, url } = await pool();
    const run = start([
      'mine',
      '-a',
      'blake2s',
      '-o',
      url,
      '-u',
      'k:abc.rig1',
      '-p',
      'd=5',
      '-t',
      '1',
      '-d',
      'cpu',
      '--json',
    ]);
    onTestFinished(async () => {
      run.child.kill('SIGKILL');
      await run.code;
    });
    await vi.waitFor(() => expect(it.stats.accepted).toBeGreaterThan(0), PATIENCE);
    expect([[...it.users], [...it.passwords]]).toEqual([['k:abc.rig1'], ['d=5']]);
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);
  });

  it.each([0, 3, 4])('mines on a pool that fixes %i bytes of the nonce, on several kernels', async (nonce1Bytes) => {
    const { pool: it, url } = await pool({ nonce1Bytes });
    for (const kernel of ['wasm', 'wasm-simdx2']) {
      const before = it.stats.accepted;
      const run = mine('--pool', url, '--kernel', kernel);
      await vi.waitFor(() => expect(it.stats.accepted).toBeGreaterThan(before + 3), PATIENCE);
      run.child.kill('SIGTERM');
      expect(await run.code).toBe(0);
    }
    expect(it.stats).toMatchObject({ wrong: 0, low: 0, duplicate: 0 });
  });

  it('changes to the next pool when the first is gone, and back when it returns; every share has its verdict', async () => {
    const [a, b] = [await pool(), await pool()];
    const run = mine('--pool', a.url, '--pool', b.url);
    await vi.waitFor(() => expect(a.pool.stats.accepted).toBeGreaterThan(5), PATIENCE);
    expect(b.pool.stats.connections).toBe(0);

    await a.pool.goAway();
    const before = a.pool.stats.accepted;
    await vi.waitFor(() => expect(b.pool.stats.accepted).toBeGreaterThan(5), PATIENCE);
    await a.pool.start();
    await vi.waitFor(() => expect(a.pool.stats.accepted).toBeGreaterThan(before + 5), PATIENCE);
    await vi.waitFor(() => expect(b.pool.open).toBe(0), PATIENCE);
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);

    const verdicts = run.events('verdict');
    const count = (wanted: string) => verdicts.filter(({ outcome }) => outcome === wanted).length;
    const found = run.events('solution');
    expect(verdicts.map(({ nonce }) => nonce).sort()).toEqual(found.map(({ nonce }) => nonce).sort());
    expect(count('rejected')).toBe(0);
    expect(count('accepted') + count('stale') + count('unknown')).toBe(found.length);
    // The pools have taken all shares that the miner counts as accepted, and perhaps some whose answer was lost.
    const taken = a.pool.stats.accepted + b.pool.stats.accepted;
    expect(taken).toBeGreaterThanOrEqual(count('accepted'));
    expect(taken).toBeLessThanOrEqual(count('accepted') + count('unknown'));
    for (const { stats } of [a.pool, b.pool]) expect(stats).toMatchObject({ wrong: 0, low: 0, duplicate: 0 });
    expect(verdicts.every(({ isShare }) => isShare)).toBe(true);
  });

  it('mines with TLS on the pool that has its fingerprint, and with a password from a file', async () => {
    const { pool: mock, url } = await pool({ identity: selfSigned });
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, 'd=1000\n', { mode: 0o600 });
    const { X509Certificate } = await import('node:crypto');
    const fingerprint = fingerprintOf(new X509Certificate(selfSigned.cert).raw);
    mine('--pool', url, '--pool-fingerprint', fingerprint, '--password-file', passwordFile);
    await vi.waitFor(() => expect(mock.stats.accepted).toBeGreaterThan(0), PATIENCE);
    expect([...mock.passwords]).toEqual(['d=1000']);
  });

  it('says in one sentence what is missing or too much', async () => {
    const url = 'stratum+tcp://127.0.0.1:9';
    const run = async (...args: string[]) => pickaxe('mine', '--devices', 'cpu', ...args);
    expect(await run('--pool', url)).toMatchObject({ code: 2, stderr: expect.stringContaining('--user NAME.WORKER') });
    expect(await run('--pool', url, '--user', 'a.b', '--node', 'http://127.0.0.1:1')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be mined on at the same time'),
    });
    expect(await run('--pool', 'http://127.0.0.1:1', '--user', 'a.b')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Write a pool URL like stratum+tcp://'),
    });
    expect(await run('--pool', url, '--user', 'a.b', '--password-file', join(folder, 'none'))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--password-file: .*none cannot be read/),
    });
  });

  it('shows the pool and the user in a dry run', async () => {
    const url = 'stratum+tcp://127.0.0.1:9';
    const { stdout, code } = await pickaxe('mine', '--dry-run', '--json', '--pool', url, ...RIG);
    const plan = JSON.parse(stdout);
    expect({ code, plan }).toMatchObject({ code: 0, plan: { pool: url, user: 'k:abc.rig1' } });
    expect(plan).not.toHaveProperty('node');
  });
});

describe('pickaxe doctor', () => {
  const findings = async (...args: string[]) => {
    const { stdout } = await pickaxe('doctor', '--json', '--devices', 'cpu', '--threads', '1', ...args);
    const { findings } = JSON.parse(stdout) as { findings: { about: string; state: string; what: string }[] };
    expect(findings.filter(({ about }) => about === 'node' || about === 'miner')).toEqual([]);
    return findings.filter(({ about }) => about === 'pool');
  };

  it('says in how many ms a pool answers, and what it sends', async () => {
    const { url } = await pool();
    const found = await findings('--pool', url, '--user', 'a.b');
    expect(found.map(({ state, what }) => `${state} ${what.replace(/\d+ ms/g, 'N ms')}`)).toEqual([
      `ok ${url} connection: can be reached, in N ms`,
      `ok ${url} user: answers mining.subscribe in N ms and mining.authorize in N ms`,
      expect.stringMatching(
        /^ok \S+ work: sends a job \(chain \d+, height \d+\) in N ms, and a target: 100\.0 k hashes for a share, 20\.00 M for a block; nonce1 has 2 bytes$/,
      ),
    ]);
  });

  it('says what is wrong with one', async () => {
    const url = 'stratum+tcp://127.0.0.1:9';
    expect(await findings('--pool', url, '--user', 'a.b')).toEqual([
      expect.objectContaining({ state: 'fault', what: expect.stringContaining(`${url} connection: cannot reach`) }),
    ]);
  });
});
