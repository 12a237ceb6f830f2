import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { LiveConfig, restartOnChange } from '#pickaxe/app/composition/reload.js';
import { sidecarsOf } from '#pickaxe/app/composition/rig.js';
import { type Config, DEFAULTS } from '#pickaxe/app/config/settings.js';
import { formatWindows, parseWindows } from '#pickaxe/base/text/schedule-windows.js';
import { findWatches } from '#pickaxe/rig/pauses/idle.js';
import { powerReader } from '#pickaxe/rig/pauses/power.js';
import { PATIENCE } from '../../patience.ts';
import { device, verdict } from '../../rig/status/fakes.ts';
import { Folder } from '../config/folder.ts';
import { idleMiner, startAll } from './sidecars/fakes.ts';

vi.mock('#pickaxe/rig/pauses/idle.js');
vi.mock('#pickaxe/rig/pauses/power.js');

/** A configuration that a test changes, and a miner that has nothing to do. */
function rig() {
  let config: Config = DEFAULTS;
  const load = async () => ({ config, origins: new Map(), files: [] });
  const live = new LiveConfig({ config, origins: new Map(), files: [] }, load);
  const change = async (changed: Partial<Config>) => {
    config = { ...config, ...changed };
    await live.refresh();
  };
  const { said, ...miner } = idleMiner();
  const errors = () => said.filter(({ level }) => level === 'error').map(({ msg }) => msg);
  return { live, change, errors, said, ...miner };
}

const scheduleOf = ({ pause }: Config) => pause.schedule && formatWindows(pause.schedule);
const pauseAt = (schedule?: string) => ({
  pause: { onBattery: false, ...(schedule && { schedule: parseWindows(schedule) }) },
});

it('a sidecar is restarted when its own settings change, one restart at a time, and ended at the end', async () => {
  const { live, change, running } = rig();
  const did: string[] = [];
  const make = async (config: Config) => {
    const schedule = scheduleOf(config);
    if (schedule === undefined) return undefined;
    return async () => {
      did.push(`starts ${schedule}`);
      return async () => void did.push(`ends ${schedule}`);
    };
  };
  const end = await (await restartOnChange(live, scheduleOf, make))(running);
  await change(pauseAt('sat'));
  await change({ alarm: { after: 77 } });
  await change(pauseAt('sun'));
  await change(pauseAt());
  await change(pauseAt('mon'));
  await vi.waitFor(() => expect(did.at(-1)).toBe('starts mon'), PATIENCE);
  await end();
  await change(pauseAt('tue'));
  expect(did.at(-1)).toBe('ends mon');
  const names = did.filter((text) => text.startsWith('starts')).map((text) => text.slice('starts '.length));
  expect(did).toEqual(names.flatMap((name) => [`starts ${name}`, `ends ${name}`]));
});

it('a sidecar is restarted for settings that changed while it started', async () => {
  const { live, change, running } = rig();
  const did: string[] = [];
  const make = async (config: Config) => {
    const schedule = scheduleOf(config) ?? 'none';
    return async () => {
      if (schedule === 'none') await change(pauseAt('sat'));
      did.push(`starts ${schedule}`);
      return () => void did.push(`ends ${schedule}`);
    };
  };
  const end = await (await restartOnChange(live, scheduleOf, make))(running);
  await vi.waitFor(() => expect(did).toEqual(['starts none', 'ends none', 'starts sat']), PATIENCE);
  await end();
});

it('a sidecar keeps running when it cannot do what new settings ask for, and the log says so', async () => {
  const { live, change, running, errors } = rig();
  const ended = vi.fn();
  const make = async (config: Config) => {
    if (scheduleOf(config) === 'sun') throw new Error('not on sundays');
    return async () => ended;
  };
  const end = await (await restartOnChange(live, scheduleOf, make))(running);
  await change(pauseAt('sun'));
  await vi.waitFor(() => expect(errors()).toEqual(['the change does not take effect: not on sundays']), PATIENCE);
  expect(ended).not.toHaveBeenCalled();
  await end();
  expect(ended).toHaveBeenCalledTimes(1);
});

it('hooks that are added later get later notices and the stop, but not the start', async () => {
  const { live, change, running } = rig();
  const told = vi.fn();
  const end = await startAll(await sidecarsOf(live), running);
  const hook = (status: number) => ({
    hooks: { start: `exit ${status}`, block: `exit ${status}`, stop: `exit ${status}` },
  });
  const { log } = running;
  vi.spyOn(log, 'warn').mockImplementation(((_: object, message: string) => told(message)) as typeof log.warn);
  await change(hook(3));
  await vi.waitFor(() => {
    running.events.emit(verdict('cpu', 'accepted'));
    expect(told).toHaveBeenCalledWith('block: its command failed (exit code 3)');
  }, PATIENCE);
  await change(hook(4));
  await end();
  expect(told).toHaveBeenCalledWith('stop: its command failed (exit code 4)');
  expect(told.mock.calls.flat().filter((message) => message.startsWith('start'))).toEqual([]);
});

it.each([
  ['http://hooks.example', true],
  ['http://192.0.2.1:8080', true],
  ['https://hooks.example', false],
  ['http://127.0.0.1:8080', false],
  ['http://[::1]:8080', false],
  ['http://localhost:8080', false],
])('a token for a webhook at %s causes a warning: %s', async (origin, warned) => {
  const folder = new Folder();
  onTestFinished(() => folder.remove());
  const tokenFile = folder.write('token', 'TOKEN');
  const { live, change, running, said } = rig();
  // There is no event that could cause a notice.
  const webhook = { url: `${origin}/SECRET`, tokenFile, events: ['device-lost'] as const };
  await change({ webhook });
  const end = await startAll(await sidecarsOf(live), running);
  const warning = { level: 'warn', msg: `${origin} does not use https: others can read the token on its way` };
  expect(said).toEqual(warned ? [warning] : []);
  await end();
});

it('a webhook that is added later gets later notices, and a removed one gets no more', async () => {
  const got: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    got.push(`${request.url} ${JSON.parse(body).type}`);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const { live, change, running } = rig();
  const end = await startAll(await sidecarsOf(live), running);
  const isTold = (what: string) =>
    vi.waitFor(() => {
      running.events.emit(verdict('cpu', 'accepted'));
      expect(got.at(-1)).toBe(what);
    }, PATIENCE);
  await change({ webhook: { url: `http://127.0.0.1:${port}/first` } });
  await isTold('/first block');
  await change({ webhook: { url: `http://127.0.0.1:${port}/second` } });
  await isTold('/second block');
  await end();
  expect(got.filter((what) => !what.endsWith('block'))).toEqual(['/second stop']);
});

describe('guards and alarms follow changed settings', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /**
   * Starts all sidecars, changes the settings, and waits until they have taken effect and the alarm has had its time.
   */
  async function sidecars() {
    const { live, change, running, rests, recorded } = rig();
    const end = await startAll(await sidecarsOf(live), running);
    onTestFinished(end);
    const changeTo = async (changed: Partial<Config>) => {
      await change(changed);
      await vi.advanceTimersByTimeAsync(60_000);
    };
    return { running, rests, recorded, changeTo };
  }

  it('pausing on battery can be switched on and off', async () => {
    vi.mocked(powerReader).mockReturnValue(async () => 'battery');
    const { rests, changeTo } = await sidecars();
    expect([...rests.keys()]).toEqual([]);
    await changeTo({ pause: { onBattery: true } });
    expect([...rests.keys()]).toEqual(['battery']);
    await changeTo({ pause: { onBattery: false } });
    expect([...rests.keys()]).toEqual([]);
  });

  it('the time without activity can change', async () => {
    vi.mocked(findWatches).mockResolvedValue([{ name: 'a desk', idleMs: async () => 90_000 }]);
    const { rests, changeTo } = await sidecars();
    const pause = (onActivity: Config['pause']['onActivity'] & {}) => ({ pause: { onBattery: false, onActivity } });
    expect([...rests.keys()]).toEqual([]);
    await changeTo(pause(120));
    expect([...rests.keys()]).toEqual(['activity']);
    await changeTo(pause(60));
    expect([...rests.keys()]).toEqual([]);
    await changeTo(pause(120));
    expect([...rests.keys()]).toEqual(['activity']);
    await changeTo(pause('none'));
    expect([...rests.keys()]).toEqual([]);
  });

  it('the schedule windows can change', async () => {
    vi.setSystemTime(new Date(2026, 5, 3, 12)); // a Wednesday
    const { rests, changeTo } = await sidecars();
    await changeTo(pauseAt('sat'));
    expect([...rests.keys()]).toEqual(['schedule']);
    await changeTo(pauseAt('wed'));
    expect([...rests.keys()]).toEqual([]);
    await changeTo(pauseAt('sun'));
    expect([...rests.keys()]).toEqual(['schedule']);
    await changeTo(pauseAt());
    expect([...rests.keys()]).toEqual([]);
  });

  it('the limits of the low-hashrate alarm can change', async () => {
    const { running, recorded, changeTo } = await sidecars();
    running.events.emit({ type: 'source', source: 'a node', kind: 'node', state: 'connected', reason: '' });
    running.events.emit({ type: 'work', chain: 1, height: 2n, difficulty: 1e9 });
    running.events.emit(device('cpu', 'ready'));
    const limits = () => recorded.of('alarm').map(({ limitHashesPerSecond }) => limitHashesPerSecond);
    await changeTo({ alarm: { minHashrate: [{ limit: 100 }], after: 300 } });
    expect(limits()).toEqual([]);
    await changeTo({ alarm: { minHashrate: [{ limit: 100 }], after: 20 } });
    expect(limits()).toEqual([100]);
    await changeTo({ alarm: { minHashrate: [{ limit: 200 }], after: 20 } });
    expect(limits()).toEqual([100, 200]);
  });
});
