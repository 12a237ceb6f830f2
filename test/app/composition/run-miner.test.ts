import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemContext } from '#pickaxe/app/composition/context.js';
import { prepare } from '#pickaxe/app/composition/rig.js';
import { type MakeRelay, type RigParts, runMiner, type Sidecar } from '#pickaxe/app/composition/run-miner.js';
import { type Config, DEFAULTS } from '#pickaxe/app/config/settings.js';
import { UsageError } from '#pickaxe/app/process/exit.js';
import { Restart } from '#pickaxe/app/process/restarts.js';
import { aborted } from '#pickaxe/base/system/abort.js';
import type { Clock } from '#pickaxe/base/system/clock.js';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import { Events } from '#pickaxe/miner/events/events.js';
import { RelayRefusal } from '#pickaxe/miner/relay/relay.js';
import { updatesOf } from '#pickaxe/miner/source/following.js';
import type { UpdateListener } from '#pickaxe/miner/source/source.js';
import { LogTail } from '#pickaxe/rig/log/log-tail.js';
import { FakeEngine, FakeSource, makeWork, Recorder } from '../../fakes.ts';
import { PATIENCE } from '../../patience.ts';
import { share, verdict } from '../../rig/status/fakes.ts';

/** The fake engine finds a solution within a few steps. */
const SOON = 300;

const USUAL = { rigName: 'rig-7', context: systemContext };

/** A rig with work for one block, and its log lines. */
function rigWith(...sidecars: Sidecar[]) {
  const source = new FakeSource();
  source.work(makeWork(SOON));
  const logged: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => logged.push(JSON.parse(line).msg) });
  const usual = { ...USUAL, events: new Events(), logTail: new LogTail() };
  const rig = { ...usual, source, engines: [new FakeEngine()], log, sidecars };
  return { rig, logged };
}

const bounds = { blocks: 1 };

const listeners = () => ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => process.listenerCount(signal));
const before = listeners();
afterEach(() => expect(listeners()).toEqual(before));

const silentRelay: MakeRelay = () => ({ name: 'relay', open: async () => {}, run: aborted });

describe('a sidecar', () => {
  it('starts before any device opens; several start in order and end in the reverse order', async () => {
    const order: string[] = [];
    const sidecar = (name: string): Sidecar => {
      return async ({ events }) => {
        order.push(`${name} starts`);
        events.on(({ type }) => type === 'device' && order.push(`${name} sees a device`));
        return () => void order.push(`${name} ends`);
      };
    };
    expect(await runMiner(rigWith(sidecar('a'), sidecar('b')).rig, bounds)).toBe(0);
    expect(order).toEqual(['a starts', 'b starts', 'a sees a device', 'b sees a device', 'b ends', 'a ends']);
  });

  it('may fail when it ends: the others still end, and the exit code and the summary stay the same', async () => {
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
    expect(logged).toContainEqual('an error while stopping: its socket was gone');
    expect(logged.at(-1)).toMatch(/^1 accepted, 0 rejected, 0 stale/);
  });

  it('may take long to end, which the summary does not count as mining', async () => {
    let leapMs = 0;
    const monotonicMs = () => systemContext.clock.monotonicMs() + leapMs;
    const clock: Clock = Object.assign(Object.create(systemContext.clock), { monotonicMs });
    const { rig } = rigWith(async () => () => {
      leapMs = 7_200_000;
    });
    const lines: object[] = [];
    const context = { ...systemContext, clock };
    expect(await runMiner({ ...rig, context, writeJson: (line) => void lines.push(JSON.parse(line)) }, bounds)).toBe(0);
    expect(lines.at(-1)).toMatchObject({ type: 'summary', uptimeSeconds: expect.any(Number) });
    expect((lines.at(-1) as { uptimeSeconds: number }).uptimeSeconds).toBeLessThan(3_600);
  });

  it('may stop the miner like a signal, which does not count as a failure', async () => {
    const { rig } = rigWith(async ({ controls }) => {
      controls.stop();
      return () => {};
    });
    rig.source = new FakeSource(); // It has no work, so without a request to stop the exit code would be 4.
    expect(await runMiner(rig, {})).toBe(0);
  });

  it('is told what the rig mines on before the source has said anything', async () => {
    const kinds: string[] = [];
    const { rig } = rigWith(async ({ tally, controls }) => {
      kinds.push(tally.sourceKind);
      controls.stop();
      return () => {};
    });
    for (const source of [new FakeSource(), Object.assign(new FakeSource(), { kind: 'pool' as const })])
      await runMiner({ ...rig, source }, {});
    expect(kinds).toEqual(['node', 'pool']);
  });

  it('that cannot start ends the other sidecars and the run', async () => {
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

it('a run of so many blocks does not end with as many shares', async () => {
  const { rig, logged } = rigWith(async ({ events }) => {
    events.emit(share('cpu', 'accepted'));
    // After the end of a run, no device is opened.
    events.on(({ type }) => type === 'device' && events.emit(share('cpu', 'accepted', '', { isBlock: true })));
    return () => {};
  });
  rig.source = new FakeSource();
  await runMiner(rig, bounds);
  expect(logged.at(-1)).toMatch(/^shares: 2 accepted, .*; blocks: 1 accepted, /);
});

it('a run is logged, and written as lines of JSON, from its devices to its sums', async () => {
  const { rig, logged } = rigWith();
  const json: Record<string, unknown>[] = [];
  expect(await runMiner({ ...rig, writeJson: (line) => json.push(JSON.parse(line)) }, bounds)).toBe(0);
  expect(logged[0]).toBe('devices: cpu');
  const types = json.map(({ type }) => type);
  expect([types[0], types.at(-2), types.at(-1)]).toEqual(['start', 'hashrate', 'summary']);
  for (const type of ['device', 'work', 'verdict']) expect(types).toContain(type);
  expect(json[0]).toMatchObject({ rig: 'rig-7', configFiles: [] });
});

it.each([
  ['without a status line', undefined, 8],
  ['without a status line for now', () => false, 8],
  ['beside a status line only one of six times', () => true, 2],
])('a rig logs its speed after 2 s and then each ten seconds, %s', async (_, showsStatus, lines) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { rig, logged } = rigWith();
  const json: string[] = [];
  const running = runMiner(
    {
      ...rig,
      source: new FakeSource(),
      engines: [],
      relays: [silentRelay],
      writeJson: (line) => json.push(JSON.parse(line).type),
      ...(showsStatus && { showsStatus }),
    },
    { duration: 75 },
  );
  await vi.advanceTimersByTimeAsync(1_999);
  expect(json).toEqual(['start']);
  await vi.advanceTimersByTimeAsync(1);
  expect(json).toEqual(['start', 'hashrate']);
  await vi.advanceTimersByTimeAsync(73_000);
  await running;
  expect(logged.filter((line) => line === 'workers 0 ~0 H/s')).toHaveLength(lines);
  // Programs that read lines of JSON see no status line.
  expect(json.filter((type) => type === 'hashrate')).toHaveLength(8);
});

describe('the exit code of a rig whose last device is parked', () => {
  const gone = new DeviceError('missing', 'it is not there');

  it('says that there is no device', async () => {
    const { rig } = rigWith();
    rig.engines[0].openFaults.push(gone);
    expect(await runMiner(rig, bounds)).toBe(3);
  });

  it('says that a device computed wrong hashes, if one did', async () => {
    const { rig } = rigWith();
    rig.engines[0].openFaults.push(new DeviceError('wrong-hashes', 'its clocks are too high'), gone);
    expect(await runMiner(rig, bounds)).toBe(6);
  });
});

describe('a device that is too hot', () => {
  /** A rig whose work and whose device's readings come when a test sends them. */
  function hotRig(more: Pick<RigParts, 'log' | 'logTail' | 'temperatureLimits' | 'sidecars'>) {
    const [engine, source, events, recorded] = [new FakeEngine(), new FakeSource(), new Events(), new Recorder()];
    events.on(recorded.listen);
    const mined = runMiner({ ...USUAL, events, source, engines: [engine], ...more }, bounds);
    // The miner must end however the test ends, so its one block comes.
    onTestFinished(async () => {
      engine.listener?.telemetry?.({ temperatureCelsius: 0 });
      source.work(makeWork(SOON));
      await mined;
    });
    const last = () => recorded.of('device').at(-1);
    const isReady = () => vi.waitFor(() => expect(last()?.state).toBe('ready'), PATIENCE);
    const read = (temperatureCelsius: number) => engine.listener?.telemetry?.({ temperatureCelsius });
    return { engine, source, recorded, mined, last, isReady, read };
  }

  it('is paused, and resumes when it has cooled down', async () => {
    const { log, logTail } = rigWith().rig;
    const temperatureLimits = () => ({ stopCelsius: 90, resumeCelsius: 80 });
    const { engine, source, recorded, mined, last, isReady, read } = hotRig({ log, logTail, temperatureLimits });
    await isReady();
    read(95);
    expect(last()).toMatchObject({ state: 'paused', reason: 'its temperature is 95 °C; it resumes at 80 °C' });
    source.work(makeWork(SOON));
    await vi.waitFor(() => expect(recorded.of('work')).toHaveLength(1), PATIENCE);
    expect(engine.jobs).toEqual([]);
    read(80);
    expect(await mined).toBe(0);
  });

  it('is judged by the limits at the time of the reading, which a file can change', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pickaxe-heat-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'pickaxe.toml');
    writeFileSync(file, '');
    const loaded = (cpuTempLimit: number) => {
      const config: Config = {
        ...DEFAULTS,
        devices: { ...DEFAULTS.devices, cpuTempLimit },
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
        // The file is written again and again, because the watcher may not have started yet.
        writeFileSync(file, `# ${changes++}`);
        read(70);
        expect(last()).toMatchObject({ state: 'paused', reason: 'its temperature is 70 °C; it resumes at 60 °C' });
      },
      { ...PATIENCE, interval: 1_000 },
    );
    read(60);
    source.work(makeWork(SOON));
    expect(await mined).toBe(0);
  });
});

/** A relay that lives until it is stopped, and notes what happens to it. */
function fakeRelay(order: string[]): MakeRelay {
  return ({ source }) => ({
    name: 'fake',
    open: async () => void order.push('open'),
    run: async (stop) => {
      order.push('run');
      for await (const { kind } of updatesOf(source, stop)) order.push(kind);
      order.push('end');
    },
  });
}

describe('a relay', () => {
  it('shares the source with the miner, and ends with it', async () => {
    const order: string[] = [];
    const { rig } = rigWith();
    expect(await runMiner({ ...rig, relays: [fakeRelay(order)] }, bounds)).toBe(0);
    expect(order.slice(0, 3)).toEqual(['open', 'run', 'work']);
    expect(order.at(-1)).toBe('end');
    expect(rig.source.ended).toBe(true);
  });

  it('has ended before the source is closed, so that the last verdicts arrive', async () => {
    const order: string[] = [];
    const { rig } = rigWith();
    const relay: MakeRelay = () => ({
      name: 'slow',
      open: async () => {},
      run: async (stop) => {
        await aborted(stop);
        // Once the engine is closed, everything has happened that does not wait for the relay, even on a busy machine.
        while (rig.engines[0].closed === 0) await new Promise(setImmediate);
        for (let turns = 0; turns < 100; turns++) await new Promise(setImmediate);
        order.push('the relay has ended');
      },
    });
    rig.events.on(({ type }) => type === 'verdict' && order.push('a verdict'));
    const source = Object.assign(rig.source, {
      follow: async (listener: UpdateListener, stop: AbortSignal) => {
        listener({ kind: 'work', work: makeWork(SOON) });
        await aborted(stop);
        order.push('the source is closed');
      },
    });
    expect(await runMiner({ ...rig, source, relays: [relay] }, bounds)).toBe(0);
    expect(order).toEqual(['a verdict', 'the relay has ended', 'the source is closed']);
  });

  it('keeps a rig without devices alive, whose blocks count', async () => {
    const order: string[] = [];
    const { rig } = rigWith();
    const bringBlock = () => rig.events.emit({ ...verdict('fake', 'accepted'), isRelay: true });
    rig.events.on(({ type }) => type === 'work' && setImmediate(bringBlock));
    expect(await runMiner({ ...rig, engines: [], relays: [fakeRelay(order)] }, bounds)).toBe(0);
    expect(order).toEqual(['open', 'run', 'work', 'end']);
  });

  it('that cannot do what it was asked for ends pickaxe before anything mines', async () => {
    const { rig } = rigWith();
    const open = async () => {
      throw new Error('port 3333 is in use');
    };
    const relay = () => ({ name: 'fake', open, run: async () => {} });
    await expect(runMiner({ ...rig, relays: [relay] }, bounds)).rejects.toThrow(new UsageError('port 3333 is in use'));
    expect(rig.engines[0].opened).toBe(0);
  });

  it('that fails by a fault of its own takes nothing else down', async () => {
    const { rig, logged } = rigWith();
    const run = async () => {
      throw new Error('spawn ENOTDIR');
    };
    const relay = () => ({ name: 'faulty', open: async () => {}, run });
    const events = new Recorder();
    rig.events.on(events.listen);
    expect(await runMiner({ ...rig, relays: [relay] }, bounds)).toBe(0);
    expect(events.of('verdict')).toMatchObject([{ outcome: 'accepted' }]);
    expect(logged).toContainEqual(expect.stringMatching(/^has failed, please report it: Error: spawn ENOTDIR/));
  });

  it('that may not go on ends the run with what to do', async () => {
    const { rig } = rigWith();
    const run = async () => {
      throw new RelayRefusal('give this one another name');
    };
    const relay = () => ({ name: 'refused', open: async () => {}, run });
    const ended = runMiner({ ...rig, relays: [relay] }, {});
    await expect(ended).rejects.toThrow(new UsageError('give this one another name'));
  });

  it('that was opened is ended when another one cannot be opened', async () => {
    const order: string[] = [];
    const { rig } = rigWith();
    const open = async () => {
      throw new Error('port 3333 is in use');
    };
    const bad = () => ({ name: 'bad', open, run: async () => {} });
    await expect(runMiner({ ...rig, relays: [fakeRelay(order), bad] }, bounds)).rejects.toThrow('port 3333');
    expect(order.at(-1)).toBe('end');
  });
});

describe('a source that throws, which it may not,', () => {
  it('ends the miner and a relay beside it; sidecars end in order, and the run throws the same', async () => {
    const order: string[] = [];
    const { rig } = rigWith(
      async () => () => void order.push('the first sidecar ends'),
      async () => () => void order.push('the second sidecar ends'),
    );
    const relay: MakeRelay = ({ source }) => ({
      name: 'fake',
      open: async () => {},
      run: async (stop) => {
        try {
          for await (const _ of updatesOf(source, stop));
        } finally {
          order.push('the relay ends');
        }
      },
    });
    const fault = rig.source.fail();
    await expect(runMiner({ ...rig, relays: [relay] }, {})).rejects.toBe(fault);
    expect(order).toEqual(['the relay ends', 'the second sidecar ends', 'the first sidecar ends']);
  });

  it('only when it is closed, is a line in the log: the run has its result', async () => {
    const { rig, logged } = rigWith(async () => () => void logged.push('the sidecar ends'));
    const source = Object.assign(rig.source, {
      follow: async (listener: UpdateListener, stop: AbortSignal) => {
        listener({ kind: 'work', work: makeWork(SOON) });
        await aborted(stop);
        throw new Error('its socket was gone');
      },
    });
    expect(await runMiner({ ...rig, source }, bounds)).toBe(0);
    expect(logged.filter((line) => !line.includes('accepted'))).toContainEqual(
      'an error while stopping: its socket was gone',
    );
    expect(logged).toContain('the sidecar ends');
  });
});

describe('a restart', () => {
  it('ends mining, which is known while sidecars end, and how many blocks were accepted afterwards', async () => {
    const restart = new Restart();
    let known: boolean | undefined;
    const sidecar: Sidecar = async ({ events, beginsAgain }) => {
      events.on(({ type }) => type === 'accepted-block' && restart.ask());
      return () => {
        known = beginsAgain?.();
      };
    };
    const { rig } = rigWith(sidecar);
    expect(await runMiner({ ...rig, restart }, {})).toBe(0);
    expect(known).toBe(true);
    expect(restart).toMatchObject({ isDue: true, accepted: 1 });
  });

  it('is not due once mining is stopped for good', async () => {
    const restart = new Restart();
    const sidecar: Sidecar = async ({ events, controls }) => {
      events.on(({ type }) => {
        if (type !== 'accepted-block') return;
        restart.ask();
        controls.stop();
      });
      return () => {};
    };
    const { rig } = rigWith(sidecar);
    expect(await runMiner({ ...rig, restart }, {})).toBe(0);
    expect(restart.isDue).toBe(false);
  });
});
