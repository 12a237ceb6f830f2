/** `pickaxe mine --simulate` against a mock node that does not check the proof of work. */

import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { MockNode, type OtherOptions } from '../../mock-node/node.ts';
import { PATIENCE } from '../../patience.ts';
import { inNewFolders, KEY, asProgram as pickaxe } from '../in-folder.ts';
import { type Run, start } from '../pickaxe.ts';

inNewFolders();

const nodes: MockNode[] = [];
const runs: Run[] = [];
afterEach(async () => {
  for (const { child } of runs) child.kill('SIGKILL');
  await Promise.all(runs.splice(0).map(({ code }) => code));
  await Promise.all(nodes.splice(0).map((mock) => mock.close()));
});

async function mockNode(dialect: Dialect, options: OtherOptions = {}) {
  const mock = new MockNode({ dialect, checksProofOfWork: false, difficulty: 1e9, ...options });
  nodes.push(mock);
  const { url } = await mock.start();
  return { mock, url };
}

function simulate(url: string, how: string, ...more: string[]): Run {
  const node = ['--node', url, '--network', 'development', '--public-key', KEY, '--devices', 'none'];
  const run = start(['mine', ...node, '--simulate', how, '--json', '--duration', '60', ...more]);
  runs.push(run);
  return run;
}

describe('mine --simulate', () => {
  it.each([
    ['hashrate=100G', 'document'],
    ['delay=1s', 'chainweb'],
  ] as const)('%s makes blocks of a node of the dialect %s without hashing', async (how, dialect) => {
    const { mock, url } = await mockNode(dialect);
    const run = simulate(url, how, '--blocks', '3');
    expect(await run.code, run.stderr).toBe(0);
    expect(mock.ledger.stats).toMatchObject({ rejected: 0 });
    expect(mock.ledger.stats.accepted).toBeGreaterThanOrEqual(3);
    expect(run.events('summary')).toMatchObject([{ hashes: 0 }]);
    expect(run.stderr).toContain('Its blocks have no proof of work');
  });

  it('makes blocks on demand', async () => {
    const { mock, url } = await mockNode('chainweb');
    const run = simulate(url, 'on-demand=0');
    const [, at] = await vi.waitFor(() => /POST (http:\S+)\. /.exec(run.stderr) ?? expect.fail(run.stderr), PATIENCE);
    await vi.waitFor(() => expect(run.stderr).toContain('its configuration allows mining'), PATIENCE);
    expect(mock.ledger.stats.accepted).toBe(0);
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(at, { method: 'POST', headers, body: '{"2": 1, "4": 1}' })).status).toBe(200);
    await vi.waitFor(async () => expect(await (await fetch(at)).json()).toEqual({ open: {} }), PATIENCE);
    expect(mock.ledger.stats.accepted).toBeGreaterThanOrEqual(2);
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);
  });

  it('rests where the node checks the proof of work after all', async () => {
    const { mock, url } = await mockNode('chainweb', { checksProofOfWork: true });
    const run = simulate(url, 'delay=0.02s');
    await vi.waitFor(() => expect(mock.ledger.stats.rejected).toBeGreaterThan(1), PATIENCE);
    expect(run.stderr).toContain('Invalid POW hash');
  });
});

describe('the main network is refused', () => {
  const refused = async (...args: string[]) => {
    const { code, stderr } = await pickaxe([
      'mine',
      '--public-key',
      KEY,
      '--devices',
      'none',
      ...args,
      '--simulate',
      'delay=1s',
    ]);
    expect(code).toBe(2);
    return stderr;
  };

  it.each([
    [['--node', 'http://127.0.0.1:9', '--network', 'mainnet01']],
    [['--node', 'http://127.0.0.1:9/chainweb/0.0/mainnet01']],
    [['--node', 'http://127.0.0.1:9/ledger/0.0/mainnet01', '--network', 'development']],
    [['--node', 'http://127.0.0.1:9', '--node', 'http://127.0.0.1:8/x/MAINNET01/', '--network', 'development']],
    [['--node', 'http://127.0.0.1:9', '--network', 'mainnet01', '--dry-run']],
  ])('by the settings: %j', async (args) => {
    expect(await refused(...args)).toContain('--simulate submits blocks without proof of work');
  });

  it('by what its node says', async () => {
    const { mock, url } = await mockNode('chainweb', { network: 'mainnet01' });
    expect(await refused('--node', url, '--network', 'development')).toContain('says that it serves mainnet01');
    expect(mock.ledger.stats).toMatchObject({ accepted: 0, rejected: 0, stale: 0 });
  });

  it('and so is a node that does not answer', async () => {
    expect(await refused('--node', 'http://127.0.0.1:9', '--network', 'development')).toContain(
      '--simulate needs to know which network',
    );
  });

  it.each(['speed=1', 'hashrate=0', 'delay=0', 'delay=2d', 'on-demand=0.0.0.0:80', 'on-demand=x'])(
    '%s is no way to simulate',
    async (how) => {
      const { code, stderr } = await pickaxe(['mine', '--simulate', how]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/Write hashrate=100M|no address of this machine/);
    },
  );
});
