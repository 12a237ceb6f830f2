/** A fleet of processes: nats-server, a coordinator on a mock node, two rigs, and an operator. */

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FleetControlAnswer } from '#pickaxe/fleet/operator/fleet-answers.js';
import { FleetStatus } from '#pickaxe/fleet/operator/fleet-status.js';
import { expectShape } from '../../expect-shape.ts';
import { noServer, TestServer, whyNoServer } from '../../fleet/nats/server.ts';
import { MockNode } from '../../mock-node/node.ts';
import { PATIENCE } from '../../patience.ts';
import { type Run, start } from '../pickaxe.ts';

const KEY = 'a1'.repeat(32);

describe.skipIf(noServer)(`a fleet of processes${whyNoServer}`, () => {
  // Coordinators that send more than 20 states a second are ignored, and each solved block brings one.
  const node = new MockNode({ dialect: 'chainweb', difficulty: 60_000_000 });
  const runs: Run[] = [];
  let servers: string[] = [];
  let [willing, unwilling]: Run[] = [];

  const run = (...words: string[]) => {
    const started = start(words);
    runs.push(started);
    return started;
  };
  const operator = async (...words: string[]) => {
    const asked = run('fleet', ...words, ...servers, '--rig-name', 'op', '--json');
    const code = await asked.code;
    return { code, answer: JSON.parse(asked.lines.join('')) };
  };

  beforeAll(async () => {
    const [{ url }, nats] = await Promise.all([node.start(), TestServer.start()]);
    servers = ['--nats', nats.url];
    const payee = ['--network', 'development', '--public-key', KEY];
    run('coordinate', ...servers, '--rig-name', 'c1', '--node', url, ...payee);
    const rig = (name: string, ...more: string[]) =>
      run('mine', ...servers, '--rig-name', name, '--devices', 'cpu', '--threads', '1', '--json', ...more);
    willing = rig('rig1', '--fleet-control', '--fleet-group', 'hall-a');
    unwilling = rig('rig2');
    for (const each of [willing, unwilling]) {
      await vi.waitFor(() => expect(each.events('verdict')).not.toEqual([]), PATIENCE);
    }
  });

  afterAll(async () => {
    for (const { child } of runs) child.kill('SIGKILL');
    await Promise.all(runs.map(({ code }) => code));
    await node.close();
  });

  it('is seen by an operator, with every solution accounted for', async () => {
    const { code, answer } = await operator('--once');
    expect(code).toBe(0);
    expectShape(FleetStatus, answer);
    const { found, accepted, rejected, stale, unknown, pending } = answer;
    expect(found).toBe(accepted + rejected + stale + unknown + pending);
    expect(accepted).toBeGreaterThan(0);
    expect(answer).toMatchObject({
      disconnected: null,
      rigsMining: 2,
      rigsFaulty: 0,
      ignored: { malformed: 0, tooFast: 0, tooManyMembers: 0 },
      coordinators: [{ name: 'c1', lost: null, rigs: 2 }],
      rigs: [
        { name: 'rig1', group: 'hall-a', control: true, coordinator: 'c1', duplicate: false },
        { name: 'rig2', group: null, control: false, coordinator: 'c1', duplicate: false },
      ],
    });
    // Between a solved block and the next work, the coordinator has no work whose repeats could be told.
    await vi.waitFor(async () => {
      const { answer: later } = await operator('--once', '--wait', '12');
      expect(later.repeats).toMatchObject({ rigs: 2, jobSeconds: 3, nonces: 2 ** 64 });
    }, PATIENCE);
  });

  it('is found by pickaxe doctor', async () => {
    const ask = run('doctor', ...servers, '--rig-name', 'rig3', '--devices', 'cpu', '--json');
    expect(await ask.code).toBe(0);
    const { findings } = JSON.parse(ask.lines.join(''));
    const [, url] = servers;
    expect(findings).toContainEqual({ about: 'fleet', state: 'ok', what: `${url} connection: can be reached` });
    expect(findings).toContainEqual({ about: 'fleet', state: 'ok', what: `${url} coordinators: found c1` });
    const away = run('doctor', '--nats', 'nats://127.0.0.1:9', '--devices', 'cpu', '--json');
    expect(await away.code).toBe(1);
    expect(JSON.parse(away.lines.join('')).findings).toContainEqual({
      about: 'fleet',
      state: 'fault',
      what: expect.stringContaining('nats://127.0.0.1:9 connection: nats://127.0.0.1:9 cannot be reached'),
      why: 'the fleet’s work comes by way of it',
    });
  });

  it('pauses and resumes where the owner allows it', async () => {
    const paused = await operator('pause', 'rig1', 'rig2');
    expect(paused.code).toBe(1);
    expectShape(FleetControlAnswer, paused.answer);
    expect(paused.answer).toMatchObject({
      done: 1,
      failed: 1,
      rigs: [
        { name: 'rig1', done: true },
        { name: 'rig2', message: 'the owner of this rig does not allow control: --fleet-control' },
      ],
    });
    const states = (each: Run) => each.events('device').map(({ state }) => state);
    await vi.waitFor(() => expect(states(willing).at(-1)).toBe('paused'), PATIENCE);
    expect(states(unwilling)).not.toContain('paused');
    expect((await operator('resume', 'rig1')).code).toBe(0);
    await vi.waitFor(() => expect(states(willing).at(-1)).toBe('ready'), PATIENCE);
    expect(willing.stderr).toContain('an operator of the fleet, op, asked for pause');
  });

  it('is served over HTTP', async () => {
    const page = run('fleet', ...servers, '--rig-name', 'op', '--http', '127.0.0.1:0');
    const url = await vi.waitFor(() => {
      const [, found] = /listening at (http:\S+), read-only/.exec(page.stderr) ?? [];
      expect(found).toBeDefined();
      return found;
    }, PATIENCE);
    const status = await vi.waitFor(async () => {
      const answer = await (await fetch(`${url}/api/v1/fleet`)).json();
      expect(answer).toMatchObject({ rigs: expect.arrayContaining([expect.objectContaining({ name: 'rig2' })]) });
      return answer;
    }, PATIENCE);
    expectShape(FleetStatus, status);
    page.child.kill('SIGTERM');
    expect(await page.code).toBe(0);
  });

  it('restarts a rig in its process, which then mines on', async () => {
    // A rig restarts on request only after a minute, which this one would take from other tests.
    unwilling.child.kill('SIGTERM');
    const asked = await vi.waitFor(
      async () => {
        const { answer } = await operator('restart', 'rig1');
        expect(answer).toMatchObject({ done: 1 });
        return answer;
      },
      { timeout: 120_000, interval: 5_000 },
    );
    expect(asked.rigs[0].message).toMatch(/^it restarts in /);
    await vi.waitFor(() => expect(willing.events('start')).toHaveLength(2), PATIENCE);
    const solved = willing.events('verdict').length;
    await vi.waitFor(() => expect(willing.events('verdict').length).toBeGreaterThan(solved), PATIENCE);
    willing.child.kill('SIGTERM');
    expect(await willing.code).toBe(0);
    expect(willing.events('summary')).toHaveLength(2);
  });
});
