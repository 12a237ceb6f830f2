import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type HttpAddress, parseHttpAddress } from '#pickaxe/base/text/addresses.js';
import { MockPool } from '../../../bench/lib/mock-pool.mjs';
import { nodesOf } from '../../miner/source/node/node.ts';
import { mockNodeArgs } from '../../mock-node/node.ts';
import { PATIENCE } from '../../patience.ts';
import { asker } from '../../rig/http/serving.ts';
import { pickaxe, type Run, start } from '../pickaxe.ts';
import { TOKEN, tokenFile } from '../token-file.ts';

const startNode = nodesOf('chainweb');

/** Number of equal statuses in a row, half a second apart, that show a steady status. */
const SAME_TIMES = 4;
const runs: Run[] = [];
afterEach(async () => {
  for (const { child } of runs) child.kill('SIGKILL');
  await Promise.all(runs.splice(0).map(({ code }) => code));
});

const demo = (...args: string[]) => served('demo', ...args);

async function served(...command: string[]) {
  const run = start([...command, '--devices', 'cpu', '--threads', '1', '--json', '--http', '0']);
  runs.push(run);
  const port = await vi.waitFor(() => {
    const [, found] = /listening at http:\/\/127\.0\.0\.1:(\d+)/.exec(run.stderr) ?? [];
    expect(found, run.stderr).toBeDefined();
    return Number(found);
  }, PATIENCE);
  return { run, port, ask: asker(port) };
}

/** Waits for a steady status: a device is paused before it has reported all that it had searched. */
async function settled<T extends { hashes: number }>(status: () => Promise<T>): Promise<T> {
  const seen: T[] = [];
  await vi.waitFor(
    async () => {
      seen.push(await status());
      const last = seen.slice(-SAME_TIMES).map(({ hashes }) => hashes);
      expect(last).toHaveLength(SAME_TIMES);
      expect(new Set(last).size).toBe(1);
    },
    { ...PATIENCE, interval: 500 },
  );
  return seen.at(-1)!;
}

it.each<[string, HttpAddress]>([
  ['8080', { host: '127.0.0.1', port: 8080 }],
  ['0', { host: '127.0.0.1', port: 0 }],
  ['127.0.0.1:1', { host: '127.0.0.1', port: 1 }],
  ['0.0.0.0:65535', { host: '0.0.0.0', port: 65_535 }],
  ['rig.lan:80', { host: 'rig.lan', port: 80 }],
  ['[::1]:80', { host: '::1', port: 80 }],
])('--http %s is parsed', (text, address) => {
  expect(parseHttpAddress(text)).toEqual(address);
});

describe('wrong usage ends with exit code 2 and says what to do', () => {
  it('about a port that is in use', async () => {
    const { port } = await demo();
    const { code, stderr } = await pickaxe('demo', '--devices', 'cpu', '--http', String(port));
    expect(code).toBe(2);
    expect(stderr).toContain(`cannot listen on --http 127.0.0.1:${port}: port ${port} is in use`);
    expect(stderr).not.toContain('EADDRINUSE');
    expect(stderr.match(/in use/g)).toHaveLength(1);
    const mockNode = await pickaxe(...mockNodeArgs('chainweb', ['--port', String(port)]));
    expect(mockNode.code).toBe(2);
    expect(mockNode.stderr).toContain(`The mock node cannot listen: port ${port} is in use`);
    expect(mockNode.stderr).not.toContain('EADDRINUSE');
  });
});

describe('pickaxe demo --http', () => {
  it('is read-only, shows what is mined, and ends with the miner in spite of an open stream', async () => {
    const { run, port, ask } = await demo();
    await vi.waitFor(async () => expect((await ask('/api/v1/status')).json.accepted).toBeGreaterThan(0), PATIENCE);
    const { json } = await ask('/api/v1/status');
    expect(json).toMatchObject({ ready: true, control: false, rejected: 0, hardwareErrors: 0 });
    expect(json.devices.cpu).toMatchObject({ state: 'ready', kind: 'cpu' });
    expect((await ask('/metrics')).text).toMatch(/^pickaxe_hashes_total\{device="cpu"\} [1-9]/m);
    expect((await ask('/api/v1/log')).json.lines.length).toBeGreaterThan(3);
    const balance = await ask('/api/v1/balance');
    expect([balance.status, balance.json.account]).toEqual([200, `k:${'0'.repeat(64)}`]);
    expect(balance.json.total).toMatch(/^\d+\.\d+$/);
    expect((await ask('/api/v1/stop', { method: 'POST' })).status).toBe(403);
    expect((await fetch(`http://127.0.0.1:${port}/api/v1/events`)).status).toBe(200);
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);
    expect(run.events().at(-1)).toMatchObject({ type: 'summary' });
  });

  it('pauses, resumes and stops where that is allowed, and the summary equals the last status', async () => {
    const { run, ask } = await demo('--http-control', '--http-token-file', tokenFile(`${TOKEN}\n`));
    const headers = { authorization: `Bearer ${TOKEN}` };
    const post = (what: string) => ask(`/api/v1/${what}`, { method: 'POST', headers });
    const status = async () => (await ask('/api/v1/status', { headers })).json;
    expect((await ask('/api/v1/status')).status).toBe(401);
    await vi.waitFor(async () => expect((await status()).accepted).toBeGreaterThan(0), PATIENCE);
    expect((await post('pause')).status).toBe(204);
    await vi.waitFor(async () => expect(await status()).toMatchObject({ paused: true, ready: false }), PATIENCE);
    expect((await status()).devices.cpu.reason).toContain('HTTP');
    const before = (await settled(status)).hashes;
    expect((await post('resume')).status).toBe(204);
    await vi.waitFor(async () => expect((await status()).hashes).toBeGreaterThan(before), PATIENCE);
    await post('pause');
    await vi.waitFor(async () => expect((await status()).paused).toBe(true), PATIENCE);
    const { hashes, accepted, rejected, stale, bestDifficulty, expectedBlocks } = await settled(status);
    expect((await post('stop')).status).toBe(204);
    expect(await run.code).toBe(0);
    const last = { hashes, accepted, rejected, stale, bestDifficulty, expectedBlocks };
    expect(run.events('summary')).toMatchObject([last]);
    expect(run.stderr).not.toContain(TOKEN);
  });

  it.skipIf(process.platform === 'win32')('refuses a token file that others can read or write', async () => {
    for (const mode of [0o604, 0o602]) {
      const { code, stderr } = await pickaxe('demo', '--http', '0', '--http-token-file', tokenFile(TOKEN, mode));
      expect(code).toBe(2);
      expect(stderr).toMatch(/^error: --http-token-file: \S+ cannot be used: .*chmod go-rwx /);
      expect(stderr).not.toContain(TOKEN);
    }
  });

  it('serves other machines if told to, but only under the addresses of this machine', async () => {
    const args = ['--http', '0.0.0.0:0', '--http-token-file', tokenFile(TOKEN)];
    const run = start(['demo', '--devices', 'cpu', '--threads', '1', ...args]);
    runs.push(run);
    const port = await vi.waitFor(
      () => Number(/listening at http:\/\/0\.0\.0\.0:(\d+)/.exec(run.stderr)?.[1] ?? expect.fail(run.stderr)),
      PATIENCE,
    );
    const ask = asker(port);
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect((await ask('/metrics', { headers: { ...headers, host: '192.0.2.1:80' } })).status).toBe(200);
    expect((await ask('/metrics', { headers: { ...headers, host: 'evil.example' } })).status).toBe(403);
  });
});

describe('pickaxe mine --http', () => {
  it('asks its node for the balance when a client asks', async () => {
    const key = 'a1'.repeat(32);
    const { url } = await startNode({ difficulty: 1e15, accounts: [{ account: `k:${key}`, balance: '0.25' }] });
    const { ask } = await served('mine', '--node', url, '--network', 'development', '--public-key', key);
    const { status, json } = await ask('/api/v1/balance');
    expect([status, json]).toMatchObject([200, { account: `k:${key}`, total: '5.0' }]);
    expect(json.node).toBe(url);
  });

  it('has no node to ask for a balance on a pool', async () => {
    const pool = new MockPool({ difficulty: 1e15, shareDifficulty: 1e12 });
    onTestFinished(() => pool.close());
    const { ask } = await served('mine', '--pool', await pool.start(), '--user', 'me.rig');
    const { status, json } = await ask('/api/v1/balance');
    expect([status, json.error.code]).toEqual([404, 'no-node']);
  });
});
