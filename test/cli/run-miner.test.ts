import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { UsageError } from '#pickaxe/cli/exit-codes.js';
import { type Companion, runMiner } from '#pickaxe/cli/run-miner.js';
import { Events } from '#pickaxe/events/events.js';
import { LogTail } from '#pickaxe/report/log-tail.js';
import { FakeEngine, FakeSource, makeWork } from '../fakes.ts';

/** Found within a few of the fake engine's steps. */
const SOON = 300;

/** A rig that has work for one block, and what it logs. */
function rigWith(...companions: Companion[]) {
  const source = new FakeSource();
  source.work(makeWork(SOON));
  const logged: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => logged.push(JSON.parse(line).msg) });
  const rig = { events: new Events(), source, engines: [new FakeEngine()], log, logTail: new LogTail(), companions };
  return { rig, logged };
}

const bounds = { blocks: 1, json: false };

const listeners = () => ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => process.listenerCount(signal));
const before = listeners();
afterEach(() => expect(listeners()).toEqual(before));

describe('what runs beside a miner', () => {
  it('is started in order before any device opens, and ended the other way round', async () => {
    const order: string[] = [];
    const companion = (name: string): Companion => {
      return async ({ events }) => {
        order.push(`${name} starts`);
        events.on(({ event }) => event === 'device' && order.push(`${name} sees a device`));
        return () => void order.push(`${name} ends`);
      };
    };
    expect(await runMiner(rigWith(companion('a'), companion('b')).rig, bounds)).toBe(0);
    expect(order).toEqual(['a starts', 'b starts', 'a sees a device', 'b sees a device', 'b ends', 'a ends']);
  });

  it('may end badly: the others are ended, and the miner’s exit code and summary stay what they are', async () => {
    const end = vi.fn();
    const bad: Companion = async () => async () => {
      throw new Error('its socket was gone');
    };
    const { rig, logged } = rigWith(
      async () => end,
      bad,
      async () => end,
    );
    expect(await runMiner(rig, bounds)).toBe(0);
    expect(end).toHaveBeenCalledTimes(2);
    expect(logged).toContainEqual('what ran beside it did not end well: its socket was gone');
    expect(logged.at(-1)).toMatch(/^1 accepted, 0 rejected, 0 stale/);
  });

  it('may end the miner as a signal does: what there was before does not make that a fault', async () => {
    const { rig } = rigWith(async ({ controls }) => {
      controls.stop();
      return () => {};
    });
    rig.source = new FakeSource(); // which has no work: exit code 4, where nobody asks it to stop
    expect(await runMiner(rig, { json: false })).toBe(0);
  });

  it('ends all of it where it cannot start', async () => {
    const end = vi.fn();
    const impossible: Companion = async () => {
      throw new UsageError('that port is taken');
    };
    const { rig } = rigWith(async () => end, impossible);
    await expect(runMiner(rig, bounds)).rejects.toThrow('that port is taken');
    expect(end).toHaveBeenCalledTimes(1);
    expect(rig.engines[0].opened).toBe(0);
  });
});
