import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  CoordinatorState,
  messageBytes,
  readMessage,
  SolutionAnswer,
  type SolutionRequest,
  workOfGiven,
} from '#pickaxe/fleet/messages.js';
import { FleetSubjects, senderOf } from '#pickaxe/fleet/subjects.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { prepareJob } from '#pickaxe/protocol/chain/job.js';
import { verify } from '#pickaxe/protocol/chain/verify.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { connect } from '../../fleet/nats/links.ts';
import { noServer, TestServer, whyNoServer } from '../../fleet/nats/server.ts';
import { DIALECTS, MockNode } from '../../mock-node/node.ts';
import { PATIENCE } from '../../patience.ts';
import { pickaxe, type Run, start } from '../pickaxe.ts';

const KEY = 'a1'.repeat(32);
const subjects = new FleetSubjects('pickaxe');
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function mockNode(dialect: Dialect) {
  const node = new MockNode({ dialect, difficulty: 500, seed: 1 });
  const { url } = await node.start();
  ends.push(() => node.close());
  return { node, options: ['--node', url, '--network', 'development', '--public-key', KEY] };
}

function coordinate(args: string[]): Run {
  const run = start(['coordinate', ...args]);
  ends.push(async () => {
    run.child.kill('SIGKILL');
    await run.code;
  });
  return run;
}

/** A rig that receives the states of all coordinators. */
async function rigOn({ url }: TestServer) {
  const { link } = await connect([url], 'rig');
  const states = new Map<string, CoordinatorState>();
  for (const every of [subjects.allWork, subjects.allBeats]) {
    link.subscribe(every, ({ subject, data }) => {
      const sender = senderOf(subject);
      const state = readMessage(CoordinatorState, data);
      if (state && sender !== undefined) states.set(sender, state);
    });
  }
  const ask = async (subject: string, request: unknown) =>
    await link.request(subject, messageBytes(request), PATIENCE.timeout, new AbortController().signal);
  const hello = async (name: string) =>
    await vi.waitFor(async () => {
      const state = readMessage(CoordinatorState, await ask(subjects.hello(name, 'rig'), {}));
      expect(state?.given).toBeDefined();
      return { ...state!, given: state!.given! };
    }, PATIENCE);
  const send = async (subject: string, request: SolutionRequest) =>
    SolutionAnswer.parse(readMessage(SolutionAnswer, await ask(subject, request)));
  return { states, hello, send };
}

type Given = NonNullable<CoordinatorState['given']>;

function solve(coordinator: string, given: Given): SolutionRequest {
  const job = prepareJob(workOfGiven(given));
  for (let nonce = 0n; ; nonce++) {
    const { solution } = verify(job, nonce);
    if (solution) return { coordinator, work: given.name, header: toHex(solution.header) };
  }
}

describe.skipIf(noServer)(`pickaxe coordinate${whyNoServer}`, () => {
  it.each(DIALECTS)(
    'gives the work of a node of the dialect %s to rigs, submits what they find, and lets another one stand in',
    async (dialect) => {
      const server = await TestServer.start();
      const { node, options } = await mockNode(dialect);
      const rig = await rigOn(server);
      const settings = [...options, '--nats', server.url, '--json'];
      const first = coordinate([...settings, '--rig-name', 'c1', '--blocks', '3', '--duration', '100']);
      const second = coordinate([...settings, '--rig-name', 'c2', '--duration', '100']);

      // The block is submitted twice: the second request gets the same verdict.
      const { given } = await rig.hello('c1');
      const request = solve('c1', given);
      const accepted = { state: 'verdict', outcome: 'accepted', reason: '', by: expect.stringContaining('127.0.0.1') };
      expect(await rig.send(subjects.solution('c1', 'rig'), request)).toEqual(accepted);
      expect(await rig.send(subjects.solution('c1', 'rig'), request)).toEqual(accepted);
      expect(node.ledger.stats).toMatchObject({ accepted: 1, duplicates: 0, rejected: 0 });
      await vi.waitFor(
        () => expect(rig.states.get('c1')?.ended).toContainEqual({ name: given.name, reason: 'solved' }),
        PATIENCE,
      );

      // The second coordinator stands in for one that was killed: it knows the work and asks the same node. It knows
      // the work only once the first one has published it; a reply to a rig may come earlier.
      await rig.hello('c2');
      const orphan = await vi.waitFor(() => {
        const published = rig.states.get('c1')?.given;
        expect(published).toBeDefined();
        expect(published!.name).not.toBe(given.name);
        return published!;
      }, PATIENCE);
      first.child.kill('SIGKILL');
      await first.code;
      expect(first.events('verdict')).toHaveLength(1);
      expect(first.events('verdict')[0]).toMatchObject({ device: 'fleet', isRelay: true, outcome: 'accepted' });
      expect(await rig.send(subjects.fallback('rig'), solve('c1', orphan))).toEqual(accepted);
      expect(node.ledger.stats).toMatchObject({ accepted: 2, rejected: 0 });
      await vi.waitFor(
        () => expect(second.events('verdict')).toMatchObject([{ device: 'fleet', outcome: 'accepted' }]),
        PATIENCE,
      );

      // The second coordinator has no devices of its own, publishes again after the server’s restart, and announces its
      // end.
      expect(second.events('device')).toEqual([]);
      const { instance, number } = rig.states.get('c2')!;
      await server.kill();
      await vi.waitFor(() => expect(second.stderr).toContain('reaches no rigs'), PATIENCE);
      await server.restart();
      await vi.waitFor(() => expect(rig.states.get('c2')!.number).toBeGreaterThan(number + 1), PATIENCE);
      expect(rig.states.get('c2')).toMatchObject({ instance, lost: null });
      second.child.kill('SIGTERM');
      expect(await second.code).toBe(0);
      expect(rig.states.get('c2')).toMatchObject({ lost: 'this coordinator is stopping' });
      expect(second.events('summary')[0]).toMatchObject({ relays: { fleet: { accepted: 1 } } });
    },
  );

  it('is refused without a NATS server’s URL, and under the name of a running one', async () => {
    const server = await TestServer.start();
    const { options } = await mockNode('chainweb');
    expect(await pickaxe('coordinate', ...options)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('A coordinator needs the NATS server of its fleet'),
    });
    const settings = [...options, '--nats', server.url, '--rig-name', 'c1'];
    const run = coordinate(settings);
    await vi.waitFor(() => expect(run.stderr).toContain('publishes work as pickaxe.work.c1'), PATIENCE);
    expect(await pickaxe('coordinate', ...settings)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('another coordinator named c1 is running'),
    });
  });

  it('of two with one name that start before the NATS server, one is refused and the other goes on', async () => {
    const server = await TestServer.start();
    await server.kill();
    const { options } = await mockNode('chainweb');
    const settings = [...options, '--nats', server.url, '--rig-name', 'c1'];
    const both = [coordinate(settings), coordinate(settings)];
    for (const run of both) await vi.waitFor(() => expect(run.stderr).toContain('reaches no rigs'), PATIENCE);
    await server.restart();
    const ends = both.map(async (run) => ({ run, code: await run.code }));
    const { run: refused, code } = await Promise.race(ends);
    expect(code).toBe(2);
    expect(refused.stderr).toContain('another coordinator named c1 is running: give this one another name');
    const left = both.find((run) => run !== refused)!;
    left.child.kill('SIGTERM');
    expect(await left.code).toBe(0);
    expect(left.stderr).not.toContain('another coordinator named c1 is running');
  });
});
