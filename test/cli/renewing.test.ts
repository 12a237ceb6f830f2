import { expect, it, vi } from 'vitest';
import { renewing } from '#pickaxe/cli/companions/renewing.js';
import { companionsOf } from '#pickaxe/cli/companions.js';
import { LiveConfig } from '#pickaxe/cli/live-config.js';
import type { Running } from '#pickaxe/cli/run-miner.js';
import { systemClock } from '#pickaxe/clock.js';
import { type Config, DEFAULTS } from '#pickaxe/config/settings.js';
import { Events } from '#pickaxe/events/events.js';
import { LogTail } from '#pickaxe/report/log-tail.js';
import { Tally } from '#pickaxe/report/tally.js';
import { guarded } from '../guards/fakes.ts';

/** A configuration that a test changes, and a miner that has nothing to do. */
function rig() {
  let config: Config = DEFAULTS;
  const load = async () => ({ config, origins: new Map(), files: [] });
  const live = new LiveConfig({ config, origins: new Map(), files: [] }, load);
  const change = async (changed: Partial<Config>) => {
    config = { ...config, ...changed };
    await live.refresh();
  };
  const events = new Events();
  const { controls, log, said } = guarded();
  const tally = new Tally(systemClock);
  const own = { events, tally, clock: systemClock, log, logTail: new LogTail() };
  const running: Running = { ...own, controls: { ...controls, stop: () => {} } };
  const errors = () => said.filter(({ level }) => level === 'error').map(({ msg }) => msg);
  return { live, change, running, errors };
}

const scheduleOf = ({ pause }: Config) => pause.schedule;
const pauseAt = (schedule?: string) => ({ pause: { onBattery: false, ...(schedule && { schedule }) } });

it('is made anew when its own settings change, one after the other, and ended in the end', async () => {
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
  const end = await (await renewing(live, scheduleOf, make))(running);
  await change(pauseAt('sat'));
  await change({ alarm: { after: 77 } });
  await change(pauseAt('sun'));
  await change(pauseAt());
  await change(pauseAt('mon'));
  await vi.waitFor(() => expect(did.at(-1)).toBe('starts mon'));
  await end();
  await change(pauseAt('tue'));
  expect(did.at(-1)).toBe('ends mon');
  const names = did.filter((text) => text.startsWith('starts')).map((text) => text.slice('starts '.length));
  expect(did).toEqual(names.flatMap((name) => [`starts ${name}`, `ends ${name}`]));
});

it('stays as it is where what it is asked for cannot be had, and says so', async () => {
  const { live, change, running, errors } = rig();
  const ended = vi.fn();
  const make = async (config: Config) => {
    if (scheduleOf(config) === 'sun') throw new Error('not on sundays');
    return async () => ended;
  };
  const end = await (await renewing(live, scheduleOf, make))(running);
  await change(pauseAt('sun'));
  await vi.waitFor(() => expect(errors()).toEqual(['that is not in force: not on sundays']));
  expect(ended).not.toHaveBeenCalled();
  await end();
  expect(ended).toHaveBeenCalledTimes(1);
});

it('hooks that come later are told of what happens from then on, and of the end, but not of the start', async () => {
  const { live, change, running } = rig();
  const told = vi.fn();
  const companions = await companionsOf(live);
  const ends: (() => void | Promise<void>)[] = [];
  for (const start of companions) ends.push(await start(running));
  const hook = (status: number) => ({
    hooks: { start: `exit ${status}`, block: `exit ${status}`, stop: `exit ${status}` },
  });
  const { log } = running;
  vi.spyOn(log, 'warn').mockImplementation(((_: object, message: string) => told(message)) as typeof log.warn);
  await change(hook(3));
  const block = { event: 'verdict', verdict: 'accepted', reason: '', device: 'cpu' } as const;
  await vi.waitFor(() => {
    running.events.emit({ ...block, chain: 1, height: 2n, nonce: 3n, ms: 4 });
    expect(told).toHaveBeenCalledWith('block: exit code 3');
  });
  await change(hook(4));
  for (const end of ends.reverse()) await end();
  expect(told).toHaveBeenCalledWith('stop: exit code 4');
  expect(told.mock.calls.flat().filter((message) => message.startsWith('start'))).toEqual([]);
});
