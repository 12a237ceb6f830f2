import { describe, expect, it } from 'vitest';
import { NodesReport } from '#pickaxe/cli/ledger/nodes.js';
import { expectShape } from '../../expect-shape.ts';
import { nodesOf } from '../../miner/source/node/node.ts';
import { pickaxe } from '../in-process.ts';

const startNode = nodesOf('chainweb');
const MINER = ['--network', 'development', '--public-key', 'a1'.repeat(32)];

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

  it('prints null for what nobody knows', async () => {
    const { code, stdout } = await pickaxe('nodes', '--json', '--node', 'http://127.0.0.1:9');
    expect(code).toBe(1);
    const report = JSON.parse(stdout);
    expectShape(NodesReport, report);
    expect(report).toMatchObject({ network: null, nodes: [{ network: null, software: null, givesWork: null }] });
  });

  it('fails when no node can be mined on', async () => {
    const { url } = await startNode({ miningEnabled: false });
    const { code, stdout } = await pickaxe('nodes', '--node', url, ...MINER);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^fault .*\n {9}gives no work: /)]);
    expect(await pickaxe('nodes')).toMatchObject({ code: 2, stderr: expect.stringMatching(/No node is configured/) });
  });
});
