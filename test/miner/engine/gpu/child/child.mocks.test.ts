/** What a GPU's child process does with the messages of its parent, in this process and without Dawn. */

import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import { CHILD_PARTS, startChild } from '#pickaxe/miner/engine/gpu/child/child.js';
import { isSoftware, listAdapters, openAdapter } from '#pickaxe/miner/engine/gpu/child/gpu-device.js';
import type { Searcher, SearcherOptions } from '#pickaxe/miner/engine/gpu/child/searcher.js';
import type { Scanner } from '#pickaxe/miner/engine/gpu/child/shader-scanner.js';
import { tunedScanner } from '#pickaxe/miner/engine/gpu/child/tuned-scanner.js';
import type { OpenMessage, ToParent } from '#pickaxe/miner/engine/gpu/protocol.js';
import { TUNING_LIMITS } from '#pickaxe/miner/engine/gpu/tuning.js';
import { jobOf, nothingSolves, someHeaderHex } from '../../../../interfaces/jobs.ts';
import { turns } from '../../../../turns.ts';
import { tuningOf } from '../fake-child.ts';
import { FakeDevice } from './fake-device.ts';

vi.mock('#pickaxe/miner/engine/gpu/child/gpu-device.js', async (load) => ({
  ...(await load<object>()),
  loadDawn: async () => {},
  openAdapter: vi.fn(),
  listAdapters: vi.fn(),
  isSoftware: vi.fn(),
}));

vi.mock('#pickaxe/miner/engine/gpu/child/tuned-scanner.js', () => ({ tunedScanner: vi.fn() }));

vi.mock('#pickaxe/miner/engine/gpu/gpu-sensors.js', () => ({
  openSensors: async () => ({ what: 'pretended sensors', read: async () => ({ temperatureCelsius: 61 }) }),
}));

vi.mock('node:timers/promises', async (load) => ({
  ...(await load<object>()),
  setTimeout: vi.fn(() => new Promise(() => {})),
}));

/** A child whose process is pretended. */
function start() {
  const handlers = new Map<string | symbol, (...all: unknown[]) => void>();
  const on = vi.spyOn(process, 'on').mockImplementation((event, handler) => {
    handlers.set(event, handler);
    return process;
  });
  const exit = vi.spyOn(process, 'exit').mockImplementation((() => {}) as never);
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => true);
  const sent: ToParent[] = [];
  const device = Object.assign(new FakeDevice(), { lost: new Promise(() => {}), destroy: vi.fn() });
  const before = { destroy: vi.fn() };
  const searcher = {
    begin: vi.fn(),
    add: vi.fn(),
    stop: vi.fn(),
    interrupt: vi.fn((action: () => Promise<unknown>) => action()),
    replace: vi.fn(() => before),
  };
  let lose = (_: string) => {};
  let options = {} as SearcherOptions;
  const [selfTest, spotCheck] = [1, 2].map(() => vi.fn(async (_: Scanner['scan'], __?: number) => {}));
  const parts: typeof CHILD_PARTS = {
    openDevice: async (_, onLost) => {
      lose = onLost;
      return device.asDevice;
    },
    selfTest,
    spotCheck,
    createSearcher: (given) => {
      options = given;
      return searcher as unknown as Searcher;
    },
    send: (message, done) => {
      sent.push(message);
      done?.();
    },
  };
  startChild(parts);
  on.mockRestore();
  onTestFinished(() => {
    exit.mockRestore();
    kill.mockRestore();
  });
  const receive = async (event: string, ...all: unknown[]) => {
    handlers.get(event)!(...all);
    await turns();
  };
  return {
    receive,
    sent,
    exit,
    kill,
    device,
    before,
    searcher,
    handlers,
    lose: (why: string) => lose(why),
    selfTest,
    spotCheck,
    options: () => options,
    hooks: () => options.hooks,
  };
}

const OPEN: OpenMessage = {
  type: 'open',
  softwareGpu: false,
  tuneAgain: false,
  minesAtOnce: false,
  hurried: false,
  tuningLimits: TUNING_LIMITS,
  skip: [],
  card: {},
  pulseMs: 1_000,
};

const TUNING = tuningOf(1e9);
const { variant } = TUNING;

const NAMELESS = { description: 'driver 1', device: '', architecture: '', vendor: '' };

beforeEach(() => {
  // An answer that a failing test did not ask for must not be given to the next one.
  vi.mocked(listAdapters).mockReset();
  vi.mocked(sleep)
    .mockReset()
    .mockReturnValue(new Promise(() => {}) as never);
  vi.mocked(openAdapter).mockResolvedValue({ dawn: {}, adapter: { info: NAMELESS } } as never);
  vi.mocked(isSoftware).mockReturnValue(false);
  vi.mocked(tunedScanner).mockResolvedValue({ scanner: 'a scanner', tuning: TUNING, why: 'pretended' } as never);
});

/** @returns an open child, whose pulse ends with the test */
async function open(wishes: Partial<OpenMessage> = {}) {
  const timers = vi.spyOn(globalThis, 'setInterval').mockReturnValue(undefined as never);
  onTestFinished(() => timers.mockRestore());
  const child = start();
  await child.receive('message', { ...OPEN, ...wishes });
  await vi.waitFor(() => expect(child.sent.map(({ type }) => type)).toContain('opened'), { timeout: 60_000 });
  const [opened] = child.sent.splice(
    child.sent.findIndex(({ type }) => type === 'opened'),
    1,
  );
  expect(opened).toMatchObject({
    model: wishes.adapter ?? 'driver 1',
    driver: 'driver 1',
    tuning: TUNING,
    why: 'pretended',
    sensors: 'pretended sensors',
  });
  const [[beat, everyMs]] = timers.mock.calls;
  return { ...child, everyMs, beat };
}

describe('a child process', () => {
  test('ignores the signals of a terminal, because its parent closes it', async () => {
    const { receive, handlers, exit, kill } = start();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK']) {
      expect(handlers.has(signal)).toBe(true);
      await receive(signal);
    }
    expect([exit.mock.calls, kill.mock.calls]).toEqual([[], []]);
  });

  test('lists the adapters', async () => {
    const { receive, sent } = start();
    vi.mocked(listAdapters).mockResolvedValueOnce([{ model: 'RTX', backend: 'vulkan' }]);
    await receive('message', { type: 'list' });
    expect(sent).toEqual([{ type: 'listed', adapters: [{ model: 'RTX', backend: 'vulkan' }] }]);
  });

  test.each([
    [new DeviceError('missing', 'no GPU'), 'missing', 'no GPU'],
    [new DeviceError('wrong-hashes', 'wrong'), 'wrong-hashes', 'wrong'],
    [new TypeError('a fault of our own'), 'lost', 'a fault of our own'],
    ['a text', 'lost', 'a text'],
  ])('that fails with %s reports it, and ends', async (error, fault, message) => {
    const { receive, sent, exit } = start();
    vi.mocked(listAdapters).mockRejectedValueOnce(error);
    await receive('message', { type: 'list' });
    await receive('uncaughtException', error);
    expect(sent).toEqual([1, 2].map(() => ({ type: 'failed', fault, message })));
    expect(exit.mock.calls).toEqual([[1], [1]]);
  });

  test('refuses software unless it was asked for', async () => {
    const { receive, sent } = start();
    vi.mocked(isSoftware).mockReturnValue(true);
    await receive('message', { ...OPEN, adapter: 'llvmpipe' });
    const message = expect.stringMatching(/runs on the CPU \(llvmpipe\).*--software-gpu/);
    expect(sent).toEqual([{ type: 'failed', fault: 'missing', message }]);
  });

  test('whose parent disconnects frees its device, and ends whatever its sensors do', async () => {
    const { receive, device, kill } = await open();
    await receive('disconnect');
    expect(device.destroy).toHaveBeenCalledTimes(1);
    expect(kill.mock.calls).toEqual([[process.pid, 'SIGKILL']]);
    // Without a device it ends, too.
    const other = start();
    await other.receive('disconnect');
    expect(other.kill).toHaveBeenLastCalledWith(process.pid, 'SIGKILL');
  });

  test('that is open passes searches on, and ends of searches back', async () => {
    const { receive, searcher, sent, hooks } = await open();
    const { midstate, tail, target } = jobOf(someHeaderHex, nothingSolves);
    const range = { lane: 3, step: 1, page: 9, pages: 1, counter: 0, counters: 512 };
    await receive('message', { type: 'search', search: 4, midstate, tail, target });
    await receive('message', { type: 'range', search: 4, range });
    await receive('message', { type: 'stop', search: 4 });
    expect(searcher.begin.mock.calls).toEqual([[4, expect.objectContaining({ midstate, tail, target })]]);
    expect(searcher.add.mock.calls).toEqual([[4, range]]);
    expect(searcher.stop.mock.calls).toEqual([[4]]);

    const at = (counter: number) => ({ ...range, counter });
    // The first report of a search is sent at once. The next ones wait, and are sent before the end.
    for (const counter of [0, 512, 1_024]) {
      hooks().report({ search: 4, searched: at(counter), beganMs: counter, candidates: [] });
    }
    expect(sent.map(({ type }) => type)).toEqual(['report']);
    hooks().ended(4);
    const rest = { ...range, counter: 512, counters: 1_024 };
    expect(sent.slice(1)).toEqual([
      { type: 'report', search: 4, searched: rest, beganMs: 512, candidates: [] },
      { type: 'ended', search: 4 },
    ]);
    for (const counter of [2_048, 4_096]) {
      hooks().report({ search: 4, searched: at(counter), beganMs: 0, candidates: [] });
    }
    hooks().idle();
    expect(sent.slice(3).map((message) => message.type === 'report' && message.searched.counter)).toEqual([
      2_048, 4_096,
    ]);
  });

  test('uses software if it was asked for', async () => {
    vi.mocked(isSoftware).mockReturnValue(true);
    await open({ softwareGpu: true });
  });

  test.each([
    [undefined, TUNING.batchMs],
    [5, 5],
  ])('whose user asks for batches of %s ms has batches of %i ms, and is checked once a minute', async (batchMs, ms) => {
    const { options } = await open({ batchMs });
    expect(options()).toMatchObject({ scanner: 'a scanner', batchMs: ms, checkEveryMs: 60_000 });
  });

  test('checks a scanner with the self-test and the known hits before it mines, and with the hits while it mines', async () => {
    const { selfTest, spotCheck, hooks } = await open();
    const scan = vi.fn(async () => 'overflow' as const);
    const scanner = { scan, unit: 512 } as unknown as Scanner;
    const scans = async (check: typeof selfTest) => {
      scan.mockClear();
      await check.mock.lastCall![0]('a puzzle' as never, 'a range' as never);
      return scan.mock.calls;
    };
    await vi.mocked(tunedScanner).mock.lastCall![1].check(scanner);
    expect(selfTest.mock.calls.map(([, unit]) => unit)).toEqual([512]);
    expect(spotCheck).toHaveBeenCalledTimes(1);
    for (const check of [selfTest, spotCheck]) expect(await scans(check)).toEqual([['a puzzle', 'a range']]);
    await hooks().check(scanner);
    expect([selfTest.mock.calls.length, spotCheck.mock.calls.length]).toEqual([1, 2]);
    expect(await scans(spotCheck)).toEqual([['a puzzle', 'a range']]);
  });

  test('sends its pulse, with a reading of the sensors once it has one', async () => {
    const { sent, beat, everyMs } = await open();
    expect(everyMs).toBe(OPEN.pulseMs);
    for (let i = 0; i < 3; i++) {
      beat();
      await turns();
    }
    expect(sent).toStrictEqual([
      { type: 'pulse' },
      { type: 'pulse', telemetry: { temperatureCelsius: 61 } },
      { type: 'pulse' },
    ]);
  });

  test('that loses its device reports why', async () => {
    const { lose, sent } = await open();
    lose('the driver was reset');
    expect(sent).toEqual([{ type: 'failed', fault: 'lost', message: 'the driver was reset' }]);
  });

  test.each([
    [new DeviceError('wrong-hashes', 'known hits are missing'), 'wrong-hashes', 'known hits are missing'],
    [new Error('mapAsync'), 'lost', 'a dispatch failed: mapAsync'],
    [new Error(''), 'lost', 'a dispatch failed: no reason given'],
  ])(
    'whose batch fails with %s reports it, after the reason of the driver if there is one',
    async (error, fault, message) => {
      const { hooks, sent, device } = await open();
      Object.assign(device, { lost: Promise.resolve() });
      hooks().lost(error);
      await turns();
      expect(sent).toEqual([{ type: 'failed', fault, message }]);
    },
  );

  test('whose batch fails waits for the reason of the driver, but only for a second', async () => {
    const { hooks, sent } = await open();
    let end = () => {};
    const second = new Promise<void>((resolve) => {
      end = resolve;
    });
    vi.mocked(sleep).mockReturnValueOnce(second as never);
    hooks().lost(new Error('mapAsync'));
    await turns();
    expect(sent).toEqual([]);
    expect(vi.mocked(sleep).mock.lastCall).toEqual([1_000]);
    end();
    await turns();
    expect(sent).toEqual([{ type: 'failed', fault: 'lost', message: 'a dispatch failed: mapAsync' }]);
  });

  test('sends to its parent, and goes on when the parent has ended', async () => {
    const own = Object.getOwnPropertyDescriptor(process, 'send');
    onTestFinished(() => void Object.defineProperty(process, 'send', own ?? { value: undefined, configurable: true }));
    const send = vi.fn((_: unknown, __: unknown, ___: unknown, done: () => void) => done());
    Object.defineProperty(process, 'send', { value: send, configurable: true });
    const sent = vi.fn();
    CHILD_PARTS.send({ type: 'pulse' }, sent);
    CHILD_PARTS.send({ type: 'pulse' });
    expect(send.mock.calls.map(([message]) => message)).toEqual([{ type: 'pulse' }, { type: 'pulse' }]);
    expect(sent).toHaveBeenCalledTimes(1);
    Object.defineProperty(process, 'send', { value: undefined, configurable: true });
    CHILD_PARTS.send({ type: 'pulse' }, sent);
  });

  test('is started by its script', async () => {
    const on = vi.spyOn(process, 'on').mockReturnValue(process);
    onTestFinished(() => on.mockRestore());
    vi.resetModules();
    await import('#pickaxe/miner/engine/gpu/child/child-main.js');
    expect(on.mock.calls.map(([event]) => event)).toEqual(expect.arrayContaining(['message', 'disconnect']));
  });

  describe('that mines while its variants are measured', () => {
    const better = { ...TUNING, batchMs: 16, hashesPerSecond: 2e9 };
    const result = { scanner: 'a better one', tuning: better, why: 'it is faster' };
    const mining = (measure: () => Promise<unknown>) =>
      vi.mocked(tunedScanner).mockResolvedValue({ tuning: TUNING, why: 'pretended', measure } as never);

    test.each([
      [undefined, 16, 32_000_000],
      [5, 5, 10_000_000],
    ])('changes to the best one, with batches of %s ms as asked for: %i ms', async (batchMs, ms, firstCounters) => {
      mining(async () => result);
      const { sent, searcher, before } = await open({ batchMs, adapter: 'RTX' });
      expect(searcher.replace.mock.calls).toEqual([['a better one', ms, firstCounters]]);
      expect(before.destroy).toHaveBeenCalledTimes(1);
      expect(sent).toContainEqual({ type: 'tuned', tuning: better, why: 'it is faster' });
    });

    test('ends if that fails, with the reason', async () => {
      mining(async () => {
        throw new DeviceError('wrong-hashes', 'all are wrong');
      });
      const { sent, searcher } = await open();
      expect(sent).toContainEqual({ type: 'failed', fault: 'wrong-hashes', message: 'all are wrong' });
      expect(searcher.replace).not.toHaveBeenCalled();
    });
  });

  test.each([
    [false, undefined, undefined],
    [true, undefined, { shader: 'wgsl-multiplied-adds', workgroupSize: 128, trips: 16 }],
    [true, variant, variant],
    [false, variant, undefined],
  ])('that mines at once: %s, with the likely variant %j, begins with %j', async (minesAtOnce, likely, expected) => {
    const adapter = { info: { ...NAMELESS, vendor: 'nvidia', architecture: 'ada' } };
    vi.mocked(openAdapter).mockResolvedValue({ dawn: {}, adapter } as never);
    await open({ minesAtOnce, likely });
    expect(vi.mocked(tunedScanner).mock.lastCall![1].likely).toEqual(expected);
  });

  test('reports which variant it tries, and how far it is', async () => {
    const { sent } = await open();
    const { trying, progress } = vi.mocked(tunedScanner).mock.lastCall![1];
    trying(variant);
    trying(undefined);
    progress('measuring', 0.5);
    expect(sent).toEqual([
      { type: 'trying', variant: 'wgsl 64×16' },
      { type: 'trying' },
      { type: 'progress', what: 'measuring', done: 0.5 },
    ]);
  });
});
