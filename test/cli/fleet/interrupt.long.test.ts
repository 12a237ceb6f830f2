/** What Ctrl-C does to the members of a fleet while a solution waits for its verdict. */

import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { noServer, TestServer, whyNoServer } from '../../fleet/nats/server.ts';
import { DIALECTS, MockNode } from '../../mock-node/node.ts';
import { PATIENCE } from '../../patience.ts';
import { type Run, start } from '../pickaxe.ts';

/** For how long the node answers no solution. It is long enough for signals that are sent meanwhile. */
const ANSWER_MS = 1_500;

let server: TestServer;

function run(...words: string[]): Run {
  const started = start([...words, '--nats', server.url, '--json']);
  onTestFinished(async () => {
    started.child.kill('SIGKILL');
    await started.code;
  });
  return started;
}

/** @returns the nonces of the solutions that have this event, in order */
function nonces(member: Run, type: 'solution' | 'verdict'): unknown[] {
  return member.events(type).map(({ nonce }) => nonce);
}

/** A coordinator and its rig, as soon as the node has a solution of theirs that it has not answered. */
async function inFlight(dialect: Dialect): Promise<{ coordinator: Run; rig: Run }> {
  const node = new MockNode({ dialect, difficulty: 200_000 });
  const { url } = await node.start();
  onTestFinished(() => node.close());
  node.server.faults = [{ endpoint: 'solved', kind: 'delay', delayMs: ANSWER_MS }];
  const payee = ['--node', url, '--network', 'development', '--public-key', 'a1'.repeat(32)];
  const coordinator = run('coordinate', '--rig-name', 'c1', ...payee);
  const rig = run('mine', '--rig-name', 'rig1', '--devices', 'cpu', '--threads', '1');
  await vi.waitFor(() => {
    expect(coordinator.events('solution').length).toBeGreaterThan(coordinator.events('verdict').length);
  }, PATIENCE);
  return { coordinator, rig };
}

describe.skipIf(noServer)(`Ctrl-C${whyNoServer}`, () => {
  beforeAll(async () => {
    server = await TestServer.start();
  });

  it.each(DIALECTS)(
    'of a rig and its coordinator on a node of the dialect %s at the same time ends both once the last solution has its verdict',
    async (dialect) => {
      const { coordinator, rig } = await inFlight(dialect);
      const sent = nonces(coordinator, 'solution');
      for (const { child } of [coordinator, rig]) child.kill('SIGINT');
      for (const member of [coordinator, rig]) {
        expect(await member.code, member.stderr).toBe(0);
        expect(nonces(member, 'verdict').sort()).toEqual(nonces(member, 'solution').sort());
        expect(member.events('summary')).toHaveLength(1);
      }
      const accepted = rig.events('verdict').filter(({ outcome }) => outcome === 'accepted');
      expect(accepted.map(({ nonce }) => nonce)).toEqual(expect.arrayContaining(sent));
    },
  );

  it('of a rig whose coordinator has been killed ends it, and says that the outcome is not known', async () => {
    const { coordinator, rig } = await inFlight('chainweb');
    coordinator.child.kill('SIGKILL');
    await coordinator.code;
    rig.child.kill('SIGINT');
    expect(await rig.code, rig.stderr).toBe(0);
    expect(nonces(rig, 'verdict').sort()).toEqual(nonces(rig, 'solution').sort());
    const unknown = rig.events('verdict').filter(({ outcome }) => outcome === 'unknown');
    expect(unknown).toContainEqual(rig.events('verdict').at(-1));
    expect(rig.events('summary')).toMatchObject([{ unknown: unknown.length }]);
  });
});
