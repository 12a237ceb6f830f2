/** The commands of the README at a URL without a path, on nodes that serve the paths of one dialect alone. */

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { CoordinatorState, readMessage } from '#pickaxe/fleet/messages.js';
import { FleetSubjects } from '#pickaxe/fleet/subjects.js';
import { connect } from '../../fleet/nats/links.ts';
import { noServer, TestServer, whyNoServer } from '../../fleet/nats/server.ts';
import { nodesOf } from '../../miner/source/node/node.ts';
import { DIALECTS } from '../../mock-node/node.ts';
import { PATIENCE } from '../../patience.ts';
import { pickaxe as inProcess } from '../in-process.ts';
import { pickaxe, start } from '../pickaxe.ts';

const KEY = 'a1'.repeat(32);
const CPU = ['--devices', 'cpu', '--threads', '1'];

describe.each(DIALECTS)('on a node of the dialect %s', (dialect) => {
  const begin = async () => {
    const { node, url } = await nodesOf(dialect)({ network: 'mainnet01' });
    return { node, on: ['--node', url, '--network', 'mainnet01', '--public-key', KEY] };
  };

  it('pickaxe mine wins blocks', async () => {
    const { node, on } = await begin();
    const { code, stderr } = await pickaxe('mine', ...on, ...CPU, '--json', '--blocks', '3', '--duration', '60');
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('no mining API')]);
    expect(node.ledger.stats.accepted).toBeGreaterThanOrEqual(3);
  });

  it('pickaxe doctor finds no fault', async () => {
    const { on } = await begin();
    const { code, stdout } = await inProcess('doctor', '--json', ...on, ...CPU);
    expect([code, JSON.parse(stdout).faults]).toEqual([0, 0]);
  });

  it('pickaxe nodes reads everything', async () => {
    const { on } = await begin();
    const { code, stdout } = await inProcess('nodes', ...on);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^ok .*cut height \d+.*gives work$/)]);
  });

  it.skipIf(noServer)(`pickaxe coordinate publishes work${whyNoServer}`, async () => {
    const { on } = await begin();
    const server = await TestServer.start();
    const run = start(['coordinate', ...on, '--nats', server.url, '--rig-name', 'c1', '--duration', '100']);
    onTestFinished(async () => {
      run.child.kill('SIGKILL');
      await run.code;
    });
    const { link } = await connect([server.url], 'rig');
    const states: (CoordinatorState | undefined)[] = [];
    link.subscribe(new FleetSubjects('pickaxe').allWork, ({ data }) => {
      states.push(readMessage(CoordinatorState, data));
    });
    await vi.waitFor(() => expect(states.some((state) => state?.given)).toBe(true), PATIENCE);
  });
});
