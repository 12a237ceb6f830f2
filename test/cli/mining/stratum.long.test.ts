import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LedgerLine } from '#pickaxe/miner/relay/stratum/share-log.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { Folder } from '../../app/config/folder.ts';
import { Asic } from '../../miner/relay/stratum/asic.ts';
import { DIALECTS, MockNode } from '../../mock-node/node.ts';
import { selfSigned } from '../../node/client/certificates.ts';
import { PATIENCE } from '../../patience.ts';
import { type ExitCode, pickaxe, type Run, start } from '../pickaxe.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function ownFolder(): Folder {
  const folder = new Folder();
  ends.push(() => folder.remove());
  return folder;
}

async function mockNode(dialect: Dialect) {
  const node = new MockNode({ dialect, difficulty: 2_000, seed: 1 });
  const { url } = await node.start();
  ends.push(() => node.close());
  return { node, options: ['--node', url, '--network', 'development', '--public-key', 'a1'.repeat(32)] };
}

function mine(args: string[]): Run {
  const run = start(['mine', ...args]);
  ends.push(async () => {
    run.child.kill('SIGKILL');
    await run.code;
  });
  return run;
}

/** The port that the log names. */
async function portOf(run: Run): Promise<number> {
  return vi.waitFor(() => {
    const [, port] = /listening at stratum\+\w+:\/\/127\.0\.0\.1:(\d+)/.exec(run.stderr) ?? [];
    expect(port, run.stderr).toBeDefined();
    return Number(port);
  }, PATIENCE);
}

/** An ASIC that mines until the run has ended. */
async function mineUntilEnd(run: Run, asic: Asic): Promise<ExitCode> {
  ends.push(() => asic.end());
  asic.login('farm.1');
  const timer = setInterval(() => asic.mine(2_000), 2);
  try {
    return await run.code;
  } finally {
    clearInterval(timer);
  }
}

describe('pickaxe mine --stratum-listen', () => {
  it.each(DIALECTS)(
    'mines with ASICs alone until a node of the dialect %s has accepted enough blocks, and keeps a ledger of their shares',
    async (dialect) => {
      const folder = ownFolder();
      const { node, options } = await mockNode(dialect);
      const ledger = join(folder.path, 'shares.jsonl');
      const limits = ['--devices', 'none', '--blocks', '3', '--duration', '60', '--json'];
      const run = mine([...options, ...limits, '--stratum-listen', '0', '--stratum-ledger', ledger]);
      expect(await mineUntilEnd(run, new Asic(await portOf(run)))).toBe(0);
      expect(node.ledger.stats).toMatchObject({ rejected: 0 });
      const summary = run.events('summary')[0] as { accepted: number };
      expect(summary.accepted).toBeGreaterThanOrEqual(3);
      expect(run.events('verdict')[0]).toMatchObject({ device: 'stratum', isRelay: true, outcome: 'accepted' });
      const lines = readFileSync(ledger, 'utf8').split('\n').slice(0, -1);
      const [begin, ...shares] = lines.map((line) => LedgerLine.parse(JSON.parse(line)));
      expect(begin).toMatchObject({ type: 'session', worker: 'farm.1', agent: 'asic/1', address: '127.0.0.1' });
      const blocks = shares.filter((line) => line.type === 'share' && line.isBlock && line.result === 'accepted');
      expect(blocks.length).toBeGreaterThanOrEqual(3);
      if (process.platform !== 'win32') expect(statSync(ledger).mode & 0o777).toBe(0o600);
      expect(run.stderr).toContain('first share of farm.1');
    },
  );

  it.each(DIALECTS)(
    'mines beside the CPU, on a lane of its own, and with TLS, on a node of the dialect %s',
    async (dialect) => {
      const folder = ownFolder();
      const [cert, key] = [folder.write('a.crt', selfSigned.cert), folder.write('a.key', selfSigned.key)];
      const { options } = await mockNode(dialect);
      const cpu = ['--devices', 'cpu', '--threads', '1', '--kernel', 'wasm', '--json', '--duration', '60'];
      const stratum = ['--stratum-listen', '127.0.0.1:0', '--stratum-tls-cert', cert, '--stratum-tls-key', key];
      const run = mine([...options, ...cpu, ...stratum]);
      const port = await portOf(run);
      expect(run.stderr).toContain('stratum+ssl://');
      const asic = new Asic(port, { tls: { ca: selfSigned.cert, checkServerIdentity: () => undefined } });
      const ended = mineUntilEnd(run, asic);
      const lanes = (isRelay: boolean) => {
        const found = run.events('solution').filter((solution) => solution.isRelay === isRelay);
        return new Set(found.map(({ nonce }) => Number(BigInt(nonce as string) & 0xffffn)));
      };
      await vi.waitFor(() => {
        expect(lanes(false).size).toBe(1);
        expect(lanes(true)).toEqual(new Set([asic.nonce1]));
      }, PATIENCE);
      expect(lanes(false)).not.toContain(asic.nonce1);
      run.child.kill('SIGTERM');
      expect(await ended).toBe(0);
    },
  );

  it.skipIf(process.platform === 'win32')(
    'keeps open files for the HTTP API and nodes, however many connect',
    async () => {
      const { node, options } = await mockNode('chainweb');
      const args = ['mine', ...options, '--devices', 'none', '--stratum-listen', '0', '--http', '0'];
      const run = start(args, {}, undefined, undefined, 700);
      ends.push(async () => {
        run.child.kill('SIGKILL');
        await run.code;
      });
      const port = await portOf(run);
      const most = await vi.waitFor(() => {
        const [, count] = /at most (\d+) connections: this process may have 700 files open/.exec(run.stderr) ?? [];
        expect(count, run.stderr).toBeDefined();
        return Number(count);
      }, PATIENCE);
      expect(most).toBeLessThanOrEqual(700 - 256);
      const asics = Array.from({ length: most + 50 }, () => new Asic(port));
      ends.push(() => {
        for (const asic of asics) asic.end();
      });
      for (const asic of asics) asic.login();
      const open = () => asics.filter(({ socket }) => !socket.destroyed);
      await vi.waitFor(() => expect(open()).toHaveLength(most), PATIENCE);
      await vi.waitFor(() => expect(open().every(({ job }) => job !== undefined)).toBe(true), PATIENCE);
      const [, url] = /listening at (http:\S+?),? /.exec(run.stderr) as RegExpExecArray;
      await vi.waitFor(async () => {
        const metrics = await (await fetch(new URL('/metrics', url))).text();
        expect(metrics).toContain('pickaxe_relay_refused_total{relay="stratum",reason="full"} 50\n');
      }, PATIENCE);
      const clean = () => open()[0].received.filter(({ params }) => params?.[2] === true).length;
      const before = clean();
      await vi.waitFor(() => {
        node.ledger.advance();
        expect(clean()).toBeGreaterThan(before);
      }, PATIENCE);
      expect(run.stderr).not.toContain('EMFILE');
    },
  );

  it('is refused without devices and without a server, and when the port is taken', async () => {
    const { options } = await mockNode('chainweb');
    expect(await pickaxe('mine', ...options, '--devices', 'none')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--devices none leaves nothing that hashes'),
    });
    const run = mine([...options, '--devices', 'none', '--stratum-listen', '0']);
    const port = await portOf(run);
    expect(await pickaxe('mine', ...options, '--devices', 'none', '--stratum-listen', `${port}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`cannot listen on --stratum-listen 127.0.0.1:${port}: port ${port} is in use`),
    });
  });

  it('says what is wrong with a certificate, a key or a ledger', async () => {
    const folder = ownFolder();
    const { options } = await mockNode('chainweb');
    const [cert, key] = [folder.write('a.crt', selfSigned.cert), folder.write('a.key', 'no key')];
    const server = [...options, '--devices', 'none', '--stratum-listen', '0'];
    expect((await pickaxe('mine', ...server, '--stratum-tls-cert', cert, '--stratum-tls-key', key)).stderr).toContain(
      'cannot be used: ',
    );
    const { code, stderr } = await pickaxe('mine', ...server, '--stratum-ledger', folder.path);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('cannot be written: it exists and is not a regular file'),
    ]);
  });

  it('is shown by a dry run, which does not listen', async () => {
    const { options } = await mockNode('chainweb');
    const args = ['mine', ...options, '--dry-run', '--devices', 'none', '--stratum-listen', '0.0.0.0:1917'];
    const { code, stdout } = await pickaxe(...args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/\nstratum 0\.0\.0\.0:1917, a share each 10 s$/);
    const plan = JSON.parse((await pickaxe(...args, '--json')).stdout);
    expect(plan).toMatchObject({ devices: [], stratum: { listen: '0.0.0.0:1917', shareSeconds: 10, tls: false } });
  });
});
