/** Two GPUs mine and one of them fails: the other goes on, the failed one returns, and each nonce counts once. */

import { afterEach, expect, test } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import type { DeviceError, SearchReport } from '#pickaxe/miner/engine/engine.js';
import type { GpuEngine } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { Miner } from '#pickaxe/miner/loop/miner.js';
import type { Space } from '#pickaxe/miner/loop/space.js';
import { COUNTERS, PAGES, type Range, sizeOf } from '#pickaxe/protocol/chain/nonce.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { FakeSource, makeWork, Recorder } from '../../../fakes.ts';
import type { TestOptions } from './adapter.ts';
import type { Fault } from './faulty.ts';
import { openersOf } from './pretend-driver.ts';
import { CARDS, describeTwoGpus, moreOf, rig, SILENCE_MS, signal, until, type Watched, watched } from './two-gpus.ts';

const NEVER = 2 ** 60;
const LANE = 0x1234;

const READY = { state: 'ready' };

/**
 * The failures of the first GPU, injected or caused in the middle of a search, and the reasons in the device's events.
 */
interface Failure {
  /** A clause for the test's title: `it …`. */
  readonly when: string;
  readonly options?: TestOptions;
  readonly strike?: (engine: GpuEngine) => void;
  readonly fault?: DeviceError['fault'];
  readonly reasons: readonly RegExp[];
  readonly hardwareErrors?: number;
}

const FAILURES: readonly Failure[] = [
  { when: 'is killed', strike: signal('SIGKILL'), reasons: [/ended with SIGKILL/] },
  {
    when: 'is killed, and gets no device when it is opened again',
    strike: signal('SIGKILL'),
    options: { faults: [undefined, 'no device'] },
    reasons: [/ended with SIGKILL/, /refuses to open the GPU/],
  },
  { when: 'crashes', options: { faults: ['crash'] }, reasons: [/ended with SIGKILL/] },
  {
    when: 'stands still',
    strike: signal('SIGSTOP'),
    options: { silenceMs: SILENCE_MS },
    reasons: [/process hangs|driver hangs/],
  },
  {
    when: 'hangs in its driver',
    options: { faults: ['hang'], silenceMs: SILENCE_MS },
    reasons: [/it reported nothing: its driver hangs/],
  },
  { when: 'loses its device', options: { faults: ['device loss'] }, reasons: [/a dispatch failed/] },
  { when: 'talks garbage', options: { faults: ['garbage'] }, reasons: [/that this version does not understand/] },
  {
    when: 'reports on what it was not given',
    options: { faults: ['wrong range'] },
    reasons: [/that it was not given/],
  },
  {
    when: 'reports wrong candidates',
    options: { faults: ['wrong nonces'] },
    fault: 'wrong-hashes',
    reasons: [/^3 candidates that it reported are wrong/],
    hardwareErrors: 3,
  },
  {
    when: 'computes wrong hashes after a while',
    options: { faults: ['wrong hashes later'], checkEveryMs: 100 },
    fault: 'wrong-hashes',
    reasons: [/a range of known hits/],
  },
  { when: 'gets no device at first', options: { faults: ['no device'] }, reasons: [/refuses to open the GPU/] },
];

const running: { stop: AbortController; done: Promise<void> }[] = [];
afterEach(async () => {
  for (const { stop } of running) stop.abort();
  await Promise.all(running.splice(0).map(({ done }) => done));
});

/** Two GPUs on one endless job. */
function mine(options: TestOptions = {}) {
  const [failing, steady] = [watched(0, options), watched(1)];
  const source = new FakeSource();
  const events = new Recorder();
  const tally = new Tally(systemClock);
  const miner = new Miner({
    source,
    engines: [failing.engine, steady.engine],
    emit: (event) => {
      tally.listen(event);
      events.listen(event);
    },
    clock: systemClock,
    random: () => 0,
    reopenAfterMs: 20,
  });
  source.work(makeWork(NEVER, { nonce1: { value: LANE, bytes: 2 }, until: 'replaced', rollTime: false }));
  const stop = new AbortController();
  const done = miner.run(stop.signal);
  running.push({ stop, done });
  const states = ({ engine }: Watched) => events.of('device').filter(({ device }) => device === engine.name);
  return { failing, steady, events, tally, stop, done, states };
}

/** Makes a GPU reopen only after the other one has gone on searching. */
function openAgainAfter(steady: Watched, { engine }: Watched): void {
  const open = engine.open.bind(engine);
  let first = true;
  engine.open = async (listener) => {
    if (!first) await moreOf(steady);
    first = false;
    return open(listener);
  };
}

const total = (reports: readonly SearchReport[]) => reports.reduce((sum, { searched }) => sum + sizeOf(searched), 0);

/** Every nonce of the one space is in exactly one report or not taken yet, and the stats agree. */
function expectEveryNonceOnce({ failing, steady, events, tally }: ReturnType<typeof mine>): void {
  const gpus = [failing, steady];
  const [space, ...others] = new Set(gpus.flatMap(({ searches }) => searches.map(([, ranges]) => ranges as Space)));
  expect(others).toEqual([]);
  const reports = gpus.flatMap((gpu) => gpu.reports);
  expectDisjoint(reports.map(({ searched }) => searched));
  expect(total(reports) + space.left).toBe(COUNTERS * PAGES);
  for (const { engine, reports } of gpus) {
    const hashes = events.of('hashes').filter(({ device }) => device === engine.name);
    expect(hashes.reduce((sum, event) => sum + event.hashes, 0)).toBe(total(reports));
    expect(tally.summary().devices[engine.name]?.hashes ?? 0).toBe(total(reports));
  }
  expect(tally.summary().hashes).toBe(total(reports));
}

/** GPUs' ranges are on one page each. */
function expectDisjoint(ranges: readonly Range[]): void {
  const sorted = ranges.toSorted((a, b) => a.page - b.page || a.counter - b.counter);
  for (const [i, { lane, page, pages, counter }] of sorted.entries()) {
    expect({ lane, pages }).toEqual({ lane: LANE, pages: 1 });
    const before = sorted[i - 1];
    if (before?.page === page) expect(before.counter + before.counters).toBeLessThanOrEqual(counter);
  }
}

describeTwoGpus('one of two GPUs that mine', () => {
  for (const { when, options, strike, fault = 'lost', reasons, hardwareErrors = 0 } of FAILURES) {
    test(`is reopened when it ${when}, while the other goes on`, async () => {
      const run = mine(options);
      const { failing, steady, events, tally, stop, done, states } = run;
      openAgainAfter(steady, failing);
      if (strike) {
        await Promise.all([moreOf(failing), moreOf(steady)]);
        strike(failing.engine);
      }
      await until(() => expect(states(failing).slice(-2)).toMatchObject([{ state: 'reopening' }, READY]));
      await Promise.all([moreOf(failing), moreOf(steady)]);
      if (rig) {
        expect(openersOf(CARDS[0].driver, rig)).toContain(failing.engine.pid);
        expect(openersOf(CARDS[1].driver, rig)).toContain(steady.engine.pid);
      }
      stop.abort();
      await done;

      const worked = states(failing)[0].state === 'ready';
      const reopens = reasons.map((reason) => ({ state: 'reopening', fault, reason: expect.stringMatching(reason) }));
      expect(states(failing)).toMatchObject([...(worked ? [READY] : []), ...reopens, READY]);
      expect(states(steady)).toMatchObject([READY]);
      expectEveryNonceOnce(run);
      const { gpu0, gpu1 } = tally.summary().devices;
      // A device that was never in service has no stats.
      expect(gpu0).toMatchObject({ reopens: worked ? reopens.length : 0, hardwareErrors });
      expect(gpu1).toMatchObject({ reopens: 0, hardwareErrors: 0 });
      expect(events.of('hardware-error')).toHaveLength(hardwareErrors);
    });
  }

  for (const [when, faults, strike] of [
    ['from the start', Array<Fault>(6).fill('no device'), false],
    ['after it was killed', [undefined, ...Array<Fault>(5).fill('no device')], true],
  ] as const) {
    test(`is parked when it gets no device ${when}, while the other goes on`, async () => {
      const run = mine({ faults });
      const { failing, steady, tally, stop, done, states } = run;
      if (strike) {
        await Promise.all([moreOf(failing), moreOf(steady)]);
        signal('SIGKILL')(failing.engine);
      }
      await until(() => expect(states(failing).at(-1)).toMatchObject({ state: 'parked' }));
      expect(states(failing).filter(({ state }) => state === 'reopening')).toHaveLength(5);
      expect(states(failing).at(-1)!.reason).toMatch(
        /refuses to open the GPU.*\(5 attempts to reopen it did not help\)$/,
      );
      expect(failing.engine.pid).toBeUndefined();
      await moreOf(steady, 5);
      stop.abort();
      await done;
      expect(states(steady)).toMatchObject([READY]);
      expectEveryNonceOnce(run);
      expect(tally.summary().devices.gpu0?.reopens).toBe(strike ? 5 : undefined);
    });
  }
});
