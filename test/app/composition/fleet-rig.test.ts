/** What a member of a fleet sends to operators, and what it does at their requests. */

import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemContext } from '#pickaxe/app/composition/context.js';
import { fleetSidecar, fleetSource } from '#pickaxe/app/composition/fleet-rig.js';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { UsageError } from '#pickaxe/app/process/exit.js';
import { Restart } from '#pickaxe/app/process/restarts.js';
import { ControlAnswer, type ControlRequest, messageBytes, readMessage } from '#pickaxe/fleet/messages.js';
import { RigReport } from '#pickaxe/fleet/rig-report.js';
import { FleetSubjects } from '#pickaxe/fleet/subjects.js';
import { Events } from '#pickaxe/miner/events/events.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { FakeNats } from '../../fleet/nats/fake-nats.ts';
import { device } from '../../rig/status/fakes.ts';
import { idleMiner } from './sidecars/fakes.ts';

const SUBJECTS = new FleetSubjects('pickaxe');
const NEVER = new AbortController().signal;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

async function member({ control = true, isCoordinator = false, group = 'hall', reload = async () => {} } = {}) {
  const nats = new FakeNats();
  const link = nats.link('rig', SUBJECTS.inbox('rig'));
  const operator = nats.link('op', SUBJECTS.operatorInbox('op'));
  const reports: RigReport[] = [];
  operator.subscribe(SUBJECTS.reports, ({ data }) => reports.push(readMessage(RigReport, data)!));
  const restart = new Restart();
  const { sidecar, temperatureLimits } = fleetSidecar(
    { link, subjects: SUBJECTS, name: 'rig', instance: '0'.repeat(16) },
    {
      settings: { control, group },
      temperatureLimits: () => ({ stopCelsius: 80, resumeCelsius: 70 }),
      restart,
      reload,
      sourceName: 'nats://fake:4222',
      isCoordinator,
      context: { random: () => 0.5 },
    },
  );
  const { running, said, rests } = idleMiner();
  const tally = new Tally(running.clock, [{ name: 'gpu0', kind: 'gpu' }]);
  tally.listen(device('gpu0', 'ready'));
  const end = await sidecar({ ...running, tally });
  let isEnded = false;
  const leave = async () => {
    if (!isEnded) await end();
    isEnded = true;
  };
  onTestFinished(leave);
  const ask = async (request: ControlRequest) =>
    readMessage(
      ControlAnswer,
      await operator.request(SUBJECTS.control('rig', 'op'), messageBytes(request), 1_000, NEVER),
    );
  return { reports, restart, said, rests, leave, ask, temperatureLimits, running };
}

describe('a member of a fleet', () => {
  it('reports after a random part of ten seconds, and then each ten seconds, until its end', async () => {
    const { reports, leave } = await member();
    await pass(4_999);
    expect(reports).toEqual([]);
    await pass(1);
    expect(reports).toMatchObject([{ group: 'hall', control: true, coordinator: null, devices: [{ name: 'gpu0' }] }]);
    await pass(9_999);
    expect(reports).toHaveLength(1);
    await pass(1);
    expect(reports).toHaveLength(2);
    await leave();
    await pass(60_000);
    expect([reports.length, vi.getTimerCount()]).toEqual([2, 0]);
  });

  it('that is a coordinator names itself as the one whose work it mines', async () => {
    const { reports } = await member({ isCoordinator: true });
    await pass(5_000);
    expect(reports).toMatchObject([{ coordinator: 'rig' }]);
  });

  it.each([
    [true, ['operators of the fleet may pause, resume and restart this rig, and limit temperatures']],
    [false, []],
  ])('says at its start whether operators may control it: %s', async (control, lines) => {
    const { said } = await member({ control });
    expect(said.map(({ msg }) => msg)).toEqual(lines);
  });

  it('does what operators ask for, and logs it', async () => {
    const { ask, rests, said, temperatureLimits } = await member();
    expect(await ask({ command: 'pause' })).toMatchObject({ done: true });
    expect([...rests]).toEqual([['fleet', 'by the fleet’s operator op']]);
    expect(await ask({ command: 'limits', gpuCelsius: 60 })).toMatchObject({ done: true });
    expect(temperatureLimits('gpu', 'gpu0')).toEqual({ stopCelsius: 60, resumeCelsius: 50 });
    expect(temperatureLimits('cpu', 'cpu')).toEqual({ stopCelsius: 80, resumeCelsius: 70 });
    expect(said.slice(1).map(({ level, msg }) => [level, msg.split(':')[0]])).toEqual([
      ['info', 'an operator of the fleet, op, asked for pause'],
      ['info', 'an operator of the fleet, op, asked for limits'],
    ]);
  });

  it('does nothing for them if its owner does not allow it, or after its end', async () => {
    const closed = await member({ control: false });
    expect(await closed.ask({ command: 'pause' })).toMatchObject({ done: false });
    const ended = await member();
    await ended.leave();
    await expect(ended.ask({ command: 'pause' })).rejects.toMatchObject({ fault: 'no-responders' });
    expect([closed.rests.size, ended.rests.size]).toEqual([0, 0]);
  });

  it('restarts for them after it has read its configuration', async () => {
    const reload = vi.fn(async () => {});
    const { ask, restart } = await member({ reload });
    await pass(60_000);
    expect(await ask({ command: 'restart' })).toMatchObject({ done: true });
    expect([reload.mock.calls.length, restart.isDue]).toEqual([1, false]);
    await pass(5_000);
    expect(restart.isDue).toBe(true);
  });

  it('does not restart for them with a configuration that cannot be used', async () => {
    const reload = () => Promise.reject(new UsageError('line 3'));
    const { ask, restart } = await member({ reload });
    await pass(60_000);
    expect(await ask({ command: 'restart' })).toEqual({ done: false, message: 'it does not restart: line 3' });
    await pass(60_000);
    expect(restart.isDue).toBe(false);
  });
});

it('the source of a rig has the names of its servers, and needs one', () => {
  const nats = { ...DEFAULTS.nats, urls: ['nats://a:1', 'nats://b:2'] };
  const link = new FakeNats().link('rig');
  const joined = { link, subjects: SUBJECTS, name: 'rig', instance: '0'.repeat(16) };
  const source = fleetSource({ nats, node: DEFAULTS.node }, joined, new Events(), systemContext);
  expect([source.name, source.kind]).toEqual(['nats://a:1, nats://b:2', 'fleet']);
  expect(() => fleetSource(DEFAULTS, undefined, new Events(), systemContext)).toThrow(
    new UsageError('No NATS server is configured. Give one with --nats nats://HOST:4222.'),
  );
});
