import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { UsageError } from '#pickaxe/app/exit-codes.js';
import { prepare } from '#pickaxe/app/prepare.js';
import { type Rig, runMiner, type Sidecar } from '#pickaxe/app/run-miner.js';
import { type Config, DEFAULTS } from '#pickaxe/config/settings.js';
import { DeviceError } from '#pickaxe/engine/engine.js';
import { Events } from '#pickaxe/events/events.js';
import { LogTail } from '#pickaxe/report/log-tail.js';
import { FakeEngine, FakeSource, makeWork, Recorder } from '../fakes.ts';

/** Found within a few of the fake engine's steps. */
const SOON = 300;

/** A rig that has work for one block, and what it logs. */
function rigWith(...sidecars: Sidecar[]) {
  const source = new FakeSource();
  source.work(makeWork(SOON));
  const logged: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => logged.push(JSON.parse(line).msg) });
  const rig = { events: new Events(), source, engines: [new FakeEngine()], log, logTail: new LogTail(), sidecars };
  return { rig, logged };
}

const bounds = { blocks: 1, json: false };

const listeners = () => ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => process.listenerCount(signal));
const before = listeners();
afterEach(() => expect(listeners()).toEqual(before));

describe('what runs beside a miner', () => {
  it('is started in order before any device opens, and ended the other way round', async () => {
    const order: string[] = [];
    const sidecar = (name: string): Sidecar => {
      return async ({ events }) => {
        order.push(`${name} starts`);
        events.on(({ event }) => event === 'device' && order.push(`${name} sees a device`));
        return () => void order.push(`${name} ends`);
      };
    };
    expect(await runMiner(rigWith(sidecar('a'), sidecar('b')).rig, bounds)).toBe(0);
    expect(order).toEqual(['a starts', 'b starts', 'a sees a device', 'b sees a device', 'b ends', 'a ends']);
  });

  it('may end badly: the others are ended, and the miner’s exit code and summary stay what they are', async () => {
    const end = vi.fn();
    const bad: Sidecar = async () => async () => {
      throw new Error('its socket was gone');
    };
    const { rig, logged } = rigWith(
      async () => end,
      bad,
      async () => end,
    );
    expect(await runMiner(rig, bounds)).toBe(0);
    expect(end).toHaveBeenCalledTimes(2);
    expect(logged).toContainEqual('a part of pickaxe did not end properly: its socket was gone');
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
    const impossible: Sidecar = async () => {
      throw new UsageError('that port is taken');
    };
    const { rig } = rigWith(async () => end, impossible);
    await expect(runMiner(rig, bounds)).rejects.toThrow('that port is taken');
    expect(end).toHaveBeenCalledTimes(1);
    expect(rig.engines[0].opened).toBe(0);
  });
});

describe('the exit code of a rig without a device in the end', () => {
  const gone = new DeviceError('missing', 'it is not there');

  it('says so', async () => {
    const { rig } = rigWith();
    rig.engines[0].openFaults.push(gone);
    expect(await runMiner(rig, bounds)).toBe(3);
  });

  it('says that it computed wrong hashes, where it did so before', async () => {
    const { rig } = rigWith();
    rig.engines[0].openFaults.push(new DeviceError('wrong hashes', 'its clocks are too high'), gone);
    expect(await runMiner(rig, bounds)).toBe(6);
  });
});

describe('a device that is too hot', () => {
  /** A rig that gets its work when a test says so, and one reading of its device after the other. */
  function hotRig(more: Pick<Rig, 'log' | 'logTail' | 'temperatureLimits' | 'sidecars'>) {
    const [engine, source, events, heard] = [new FakeEngine(), new FakeSource(), new Events(), new Recorder()];
    events.on(heard.listen);
    const mined = runMiner({ events, source, engines: [engine], ...more }, bounds);
    // However the test ends, the miner does: its one block comes.
    onTestFinished(async () => {
      engine.listener?.telemetry?.({ temperatureC: 0 });
      source.work(makeWork(SOON));
      await mined;
    });
    const last = () => heard.of('device').at(-1);
    const isReady = () => vi.waitFor(() => expect(last()?.state).toBe('ready'), { timeout: 60_000 });
    const read = (temperatureC: number) => engine.listener?.telemetry?.({ temperatureC });
    return { engine, source, heard, mined, last, isReady, read };
  }

  it('rests, and goes on once it has cooled down', async () => {
    const { log, logTail } = rigWith().rig;
    const temperatureLimits = () => ({ stopC: 90, resumeC: 80 });
    const { engine, source, heard, mined, last, isReady, read } = hotRig({ log, logTail, temperatureLimits });
    await isReady();
    read(95);
    expect(last()).toMatchObject({ state: 'paused', reason: 'it is at 95 °C and rests until it is at 80 °C' });
    source.work(makeWork(SOON));
    await vi.waitFor(() => expect(heard.of('work')).toHaveLength(1), { timeout: 60_000 });
    expect(engine.jobs).toEqual([]);
    read(80);
    expect(await mined).toBe(0);
  });

  it('is so by the limits that hold at a reading: a file of them may change', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pickaxe-heat-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'pickaxe.toml');
    writeFileSync(file, '');
    const loaded = (tempLimit: number) => {
      const config: Config = {
        ...DEFAULTS,
        devices: { ...DEFAULTS.devices, tempLimit },
        log: { level: 'silent', format: 'json' },
      };
      return { config, origins: new Map(), files: [file] };
    };
    const { close, ...prepared } = await prepare(loaded(90), async () => loaded(70));
    onTestFinished(close);
    const { source, mined, last, isReady, read } = hotRig(prepared);
    await isReady();
    read(89);
    expect(last()?.state).toBe('ready');
    let changes = 0;
    await vi.waitFor(
      () => {
        // Again and again, until its watch is there to see it.
        writeFileSync(file, `# ${changes++}`);
        read(70);
        expect(last()).toMatchObject({ state: 'paused', reason: 'it is at 70 °C and rests until it is at 60 °C' });
      },
      { timeout: 60_000, interval: 1_000 },
    );
    read(60);
    source.work(makeWork(SOON));
    expect(await mined).toBe(0);
  });
});
