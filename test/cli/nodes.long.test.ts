import { X509Certificate } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { NodesReport } from '#pickaxe/cli/nodes.js';
import { peerIdOf } from '#pickaxe/ledger/cut.js';
import { expectShape } from '../expect-shape.ts';
import { selfSigned } from '../node/certificates.ts';
import { TlsFront } from '../node/tls-front.ts';
import { startNode } from '../source/node/node.ts';
import { PATIENCE, pickaxe, type Run, start } from './pickaxe.ts';

const MINER = ['--network', 'development', '--public-key', 'a1'.repeat(32)];
/** Surveys and looks at blocks are 10 to 15 s apart. */
const LONG = { timeout: 240_000 };
vi.setConfig({ testTimeout: 300_000 });
/** These tests wait half a minute for news of nodes, for which a few hashes do. */
const CPU = ['--devices', 'cpu', '--threads', '1', '--cpu-priority', '19'];

/** Starts `pickaxe mine`, which ends with the test. */
function mineOn(...args: string[]): Run {
  const run = start(['mine', ...args, ...MINER, ...CPU, '--json']);
  onTestFinished(async () => {
    run.child.kill('SIGKILL');
    await run.code;
  });
  return run;
}

describe('pickaxe nodes', () => {
  it('prints how the nodes are doing', async () => {
    const { url } = await startNode();
    const { code, stdout } = await pickaxe('nodes', '--node', url, '--node', 'http://127.0.0.1:9', ...MINER);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(
        /^ok {7}http:\/\/127.*: cut height \d+, newest block \d+ s old, software 2\.24\.1, gives work$/,
      ),
      'fault    http://127.0.0.1:9',
      expect.stringMatching(/^ {9}does not answer: /),
    ]);
    expect(code).toBe(0);
  });

  it('discovers peers, and trusts only the certificates with their ids', async () => {
    const { node, url } = await startNode();
    const other = await startNode({ p2p: 'tls' });
    const address = { hostname: '127.0.0.1', port: other.node.p2p!.port };
    node.peers.add('cut', { id: other.node.identity!.peerId, address });
    const run = async () => {
      const { code, stdout, stderr } = await pickaxe('nodes', '--discover', '--json', '--node', url, ...MINER);
      expect([code, stderr]).toEqual([0, '']);
      const report = JSON.parse(stdout);
      expectShape(NodesReport, report);
      return report;
    };
    const { network, nodes } = await run();
    expect(network).toBe('development');
    expect(nodes).toMatchObject([
      { name: url, isDiscovered: false, state: 'ok', problems: [], givesWork: true, blocksBehind: 0 },
      {
        name: `https://127.0.0.1:${address.port}`,
        isDiscovered: true,
        cutHeight: expect.any(Number),
        givesWork: false,
      },
    ]);
    node.peers.add('cut', { id: 'A'.repeat(43), address });
    expect((await run()).nodes[1]).toMatchObject({ state: 'fault', cutHeight: null });
  });

  it('prints null for what nobody knows', async () => {
    const { code, stdout } = await pickaxe('nodes', '--json', '--node', 'http://127.0.0.1:9');
    expect(code).toBe(1);
    const report = JSON.parse(stdout);
    expectShape(NodesReport, report);
    expect(report).toMatchObject({ network: null, nodes: [{ network: null, software: null, givesWork: null }] });
  });

  it('fails when no configured node can be mined on', async () => {
    const { url } = await startNode({ miningEnabled: false });
    const { code, stdout } = await pickaxe('nodes', '--node', url, ...MINER);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^fault .*\n {9}gives no work: /)]);
    expect(await pickaxe('nodes')).toMatchObject({ code: 2, stderr: expect.stringMatching(/No node is configured/) });
  });
});

describe('pickaxe mine --discover-nodes', () => {
  it('mines on a discovered node when the configured one gives no work', async () => {
    const { node, url } = await startNode({ miningEnabled: false });
    const other = await startNode({ difficulty: 1000 });
    const front = await TlsFront.start(selfSigned, other.url);
    const id = peerIdOf(new X509Certificate(selfSigned.cert).raw);
    node.peers.add('cut', { id, address: { hostname: '127.0.0.1', port: front.port } });
    // Only the discovered node can tell what became of the blocks.
    node.server.faults = [{ endpoint: 'cut', kind: 'unavailable' }];
    const run = mineOn('--discover-nodes', '--node', url);
    await vi.waitFor(() => expect(other.node.ledger.stats.accepted).toBeGreaterThan(0), PATIENCE);
    // A few blocks are enough.
    other.node.ledger.difficulty = 1e15;
    await vi.waitFor(() => {
      other.node.ledger.advance();
      expect(run.events('block-state').map(({ state }) => state)).toContain('settled');
    }, LONG);
    expect(run.stderr).toContain(`1 of 1 discovered nodes can be mined on: ${front.url}`);
  });
});

describe('pickaxe mine on several nodes', () => {
  it('leaves one that stands still, and says so', async () => {
    const still = await startNode({ firstBlockAgeMs: 3_600_000, difficulty: 1e15 });
    const other = await startNode({ difficulty: 1000 });
    const run = mineOn('--node', still.url, '--node', other.url);
    await vi.waitFor(() => expect(other.node.ledger.stats.accepted).toBeGreaterThan(0), LONG);
    expect(still.node.ledger.stats.workIssued).toBeGreaterThan(0);
    const news = run.events('source').map(({ source, state, reason }) => `${source} ${state} ${reason}`);
    expect(news.filter((line) => line.includes('unhealthy'))).toEqual([
      expect.stringMatching(/^http.* unhealthy stands still: no chain has grown for 6\d minutes\. It is mined on only/),
      expect.stringMatching(/^http.* info takes over from http.*, which is unhealthy$/),
    ]);
    expect(run.stderr).toMatch(/WARN.*stands still: no chain has grown/);
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);
  });
});

it('pickaxe mine says of its only node that it stands still', async () => {
  const { url } = await startNode({ firstBlockAgeMs: 3_600_000, difficulty: 1e15 });
  const run = mineOn('--node', url);
  await vi.waitFor(() => expect(run.stderr).toMatch(/WARN.*stands still: no chain has grown.*no other node/), LONG);
  const states = run.events('source').filter(({ state }) => state === 'unhealthy');
  expect(states).toHaveLength(1);
  run.child.kill('SIGTERM');
  expect(await run.code).toBe(0);
});
