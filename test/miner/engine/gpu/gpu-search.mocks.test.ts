import { afterEach, describe, expect, test, vi } from 'vitest';
import type { EngineInfo, SearchReport } from '#pickaxe/miner/engine/engine.js';
import { GpuEngine, type GpuOptions } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { COUNTERS, PAGES, type Range, sizeOf } from '#pickaxe/protocol/chain/nonce.js';
import { jobOf, nothingSolves, someHeaderHex } from '../../../interfaces/jobs.ts';
import { Rectangle } from '../../../interfaces/rectangle.ts';
import { turns } from '../../../turns.ts';
import { FakeChild, openedWith, tuningOf } from './fake-child.ts';

vi.mock('node:child_process', async (load) => {
  const fake = await import('./fake-child.ts');
  return { ...(await load<object>()), fork: (...all: readonly unknown[]) => fake.FakeChild.fork(...all) };
});

const job = jobOf(someHeaderHex, nothingSolves);
const PLANE: Range = { lane: 3, step: 1, page: 0, pages: PAGES, counter: 0, counters: COUNTERS };
/** With this rate a chunk has the least number of nonces. */
const SLOW = 1_000;
const CHUNK = 65_536;

const engines: GpuEngine[] = [];
afterEach(async () => {
  // Its searches have ended by now.
  for (const engine of engines.splice(0)) await engine.close();
});

async function open(options: Partial<GpuOptions> = {}, listener = {}) {
  const engine = new GpuEngine({ name: 'gpu0', ...options });
  engines.push(engine);
  const opening = engine.open(listener);
  const child = FakeChild.started.at(-1)!;
  child.says(openedWith(SLOW));
  return { engine, child, info: await opening };
}

/** A search whose reports a test makes. */
async function search(whole = PLANE) {
  const { engine, child } = await open();
  const ranges = new Rectangle(whole);
  const stop = new AbortController();
  const reading = engine.search(job, ranges, stop.signal);
  const reports: SearchReport[] = [];
  /** Asks for the next report. */
  const next = async () => {
    const { value } = await reading.next();
    if (value) reports.push(value);
    return value;
  };
  /** The ranges that the child was given. */
  const given = () => child.sentOf('range').map(({ range }) => range);
  const report = (searched: Range, candidates: bigint[] = []) =>
    child.says({ type: 'report', search: 0, searched, beganMs: 5, candidates });
  const ended = () => child.says({ type: 'ended', search: 0 });
  const stops = () => child.sentOf('stop').length;
  return { engine, child, ranges, stop, reading, reports, next, given, report, ended, stops };
}

describe('a search on a GPU', () => {
  test('keeps two chunks on the GPU, and passes on what it reports', async () => {
    const { ranges, next, given, report, reports, stop, ended, reading, stops } = await search();
    const first = next();
    await turns();
    expect(given().map(({ counters }) => counters)).toEqual([CHUNK, CHUNK]);
    report(given()[0], [7n]);
    expect(await first).toEqual({ searched: given()[0], hashes: CHUNK, beganMs: 5, candidates: [7n] });
    const second = next();
    await turns();
    expect(given()).toHaveLength(3);
    report(given()[1]);
    await second;
    const third = next();
    await turns();
    stop.abort();
    expect(stops()).toBe(1);
    // What the GPU has finished since then counts.
    report(given()[2]);
    await third;
    expect(given()).toHaveLength(4);
    const end = reading.next();
    ended();
    expect(await end).toEqual({ done: true, value: undefined });
    expect(stops()).toBe(1);
    ranges.expectBalanced(reports);
  });

  test('ends when no ranges are left, after the reports of all', async () => {
    const whole = { ...PLANE, pages: 1, counters: 3 * CHUNK - 100 };
    const { ranges, next, given, report, reports, ended, reading, stops, stop } = await search(whole);
    for (let i = 0; i < 3; i++) {
      const due = next();
      await turns();
      expect(stops()).toBe(0);
      report(given()[i]);
      await due;
    }
    const end = reading.next();
    await turns();
    expect(stops()).toBe(1);
    ended();
    expect((await end).done).toBe(true);
    ranges.expectUsedUp();
    ranges.expectBalanced(reports);
    stop.abort();
    expect(stops()).toBe(1);
  });

  test.each(['before', 'after'])('that its reader leaves %s it was stopped gives everything back', async (when) => {
    const { ranges, next, given, report, reports, stop, ended, reading, stops } = await search();
    const due = next();
    await turns();
    report(given()[0]);
    await due;
    if (when === 'after') stop.abort();
    let isOver = false;
    const leaving = reading.return().then(() => {
      isOver = true;
    });
    await turns();
    expect(stops()).toBe(1);
    // The GPU finishes what was in flight. Nobody reads that.
    report(given()[1]);
    await turns();
    expect(isOver).toBe(false);
    ended();
    await leaving;
    expect(stops()).toBe(1);
    ranges.expectBalanced(reports);
    stop.abort();
    expect(stops()).toBe(1);
  });

  test('that is stopped before it begins searches nothing', async () => {
    const { ranges, next, given, stop, ended, stops } = await search();
    stop.abort();
    const due = next();
    await turns();
    expect([given(), stops()]).toEqual([[], 1]);
    ended();
    expect(await due).toBeUndefined();
    ranges.expectBalanced([]);
  });

  test.each(['while it is read', 'after its reader has left'])(
    'gives everything back when the GPU is lost %s',
    async (when) => {
      const { child, ranges, next, given, report, reports, reading } = await search();
      const due = next();
      await turns();
      report(given()[0]);
      await due;
      const over = when === 'while it is read' ? reading.next() : reading.return();
      const outcome = over.then(
        () => 'over',
        (error) => error.message,
      );
      await turns();
      child.says({ type: 'failed', fault: 'lost', message: 'the cable is out' });
      expect(await outcome).toBe(when === 'while it is read' ? 'the GPU was lost: the cable is out' : 'over');
      ranges.expectBalanced(reports);
    },
  );

  test('that reports what it was not given is lost, and is stopped', async () => {
    const { ranges, next, given, report, ended, stops } = await search();
    const due = next().catch((error) => error.message);
    await turns();
    report({ ...given()[0], page: 9 });
    await turns();
    expect(stops()).toBe(1);
    ended();
    expect(await due).toContain('reported a range that it was not given');
    ranges.expectBalanced([]);
  });
});

test('searches have numbers of their own, so that a new job may begin before the old one has ended', async () => {
  const { engine, child } = await open();
  const never = new AbortController().signal;
  const searches = [0, 1].map(() => engine.search(job, new Rectangle(PLANE), never));
  const due = searches.map((each) => each.next());
  await turns();
  expect(child.sentOf('search').map(({ search }) => search)).toEqual([0, 1]);
  const [range] = child.sentOf('range').filter(({ search }) => search === 1);
  child.says({ type: 'report', search: 1, searched: range.range, beganMs: 0, candidates: [] });
  expect((await due[1]).value).toMatchObject({ searched: range.range });
  for (const search of [0, 1]) child.says({ type: 'ended', search });
  await Promise.all(searches.map((each) => each.return()));
});

describe('what is known of a GPU', () => {
  test.each([
    [{}, { batchMs: 8 }, undefined],
    [{ batchMs: 20, card: { vendor: 'amd', bus: '0000:03:00.0' } }, { batchMs: 20 }, '0000:03:00.0'],
  ] as const)('with the options %j is its tuning and the card', async (options, gpu, bus) => {
    const { info } = await open(options);
    expect(info).toMatchObject({ model: 'a card', kernel: 'wgsl', why: 'pretended', sensors: 'none' });
    expect(info.gpu).toEqual({
      driver: 'a driver',
      variant: 'wgsl 64×16',
      workgroupSize: 64,
      noncesPerInvocation: 16,
      ...gpu,
    });
    expect('bus' in info ? info.bus : undefined).toBe(bus);
  });

  test('changes when the variants were measured, and chunks are then as long as before', async () => {
    const infos: EngineInfo[] = [];
    const { engine, child, info } = await open({}, { changed: (now: EngineInfo) => infos.push(now) });
    child.says({ type: 'tuned', tuning: { ...tuningOf(1e9), batchMs: 16 }, why: 'it is faster' });
    expect(infos).toEqual([
      { ...info, why: 'it is faster', tuning: { ...tuningOf(1e9), batchMs: 16 }, gpu: { ...info.gpu, batchMs: 16 } },
    ]);
    const reading = engine.search(job, new Rectangle(PLANE), new AbortController().signal);
    const due = reading.next();
    await turns();
    // 300 ms of a GPU with 1 GH/s.
    expect(child.sentOf('range').map(({ range }) => sizeOf(range))).toEqual([3e8, 3e8]);
    child.says({ type: 'ended', search: 0 });
    await due;
  });

  test('is passed on: progress, readings, and its loss', async () => {
    const recorded: unknown[][] = [];
    const record =
      (what: string) =>
      (...all: unknown[]) =>
        void recorded.push([what, ...all]);
    const names = ['progress', 'telemetry', 'lost', 'changed'];
    const listener = Object.fromEntries(names.map((name) => [name, record(name)]));
    const { child } = await open({}, listener);
    child.says(
      { type: 'progress', what: 'measuring', done: 0.5 },
      { type: 'pulse', telemetry: { fanRatio: 1 } },
      { type: 'failed', fault: 'lost', message: 'the cable is out' },
    );
    expect(recorded).toEqual([
      ['progress', 'measuring', 0.5],
      ['telemetry', { fanRatio: 1 }],
      ['lost', expect.objectContaining({ message: 'the GPU was lost: the cable is out' })],
    ]);
  });
});

describe('a variant with which the GPU was lost', () => {
  /** Opens again after an opening with this fault while a variant was tried. @returns what is skipped */
  async function skippedAfter(fault: 'lost' | 'wrong-hashes' | 'missing', wasOpen: boolean, tries: string | undefined) {
    const engine = new GpuEngine({ name: 'gpu0' });
    engines.push(engine);
    const opening = engine.open();
    const child = FakeChild.started.at(-1)!;
    if (wasOpen) {
      child.says(openedWith(SLOW));
      await opening;
    }
    child.says({ type: 'trying', variant: 'wgsl 64×16' });
    child.says({ type: 'trying', variant: tries });
    child.says({ type: 'failed', fault, message: 'no' });
    if (wasOpen) await engine.close();
    else await expect(opening).rejects.toMatchObject({ fault });
    const again = engine.open();
    const next = FakeChild.started.at(-1)!;
    next.says(openedWith(SLOW));
    await again;
    return next.sentOf('open')[0].skip;
  }

  test.each([
    ['lost', false, 'wgsl 128×16', ['wgsl 128×16']],
    ['lost', true, 'wgsl 128×16', ['wgsl 128×16']],
    ['lost', false, undefined, []],
    ['lost', true, undefined, []],
    ['wrong-hashes', false, 'wgsl 128×16', []],
    ['wrong-hashes', true, 'wgsl 128×16', []],
    ['missing', false, 'wgsl 128×16', []],
  ] as const)('by the fault %s, open: %s, while it tried %s: later openings skip %j', async (...row) => {
    const [fault, wasOpen, tries, skipped] = row;
    expect(await skippedAfter(fault, wasOpen, tries)).toEqual(skipped);
  });
});

test('a GPU is opened once at a time, and can be opened again when it was closed or failed', async () => {
  const { engine, child } = await open();
  expect(engine).toMatchObject({ name: 'gpu0', kind: 'gpu' });
  await expect(engine.open()).rejects.toThrow('gpu0 is open already');
  expect(engine.pid).toBe(child.pid);
  await engine.close();
  expect(engine.pid).toBeUndefined();
  const failing = engine.open();
  FakeChild.started.at(-1)!.says({ type: 'failed', fault: 'lost', message: 'no' });
  await expect(failing).rejects.toMatchObject({ fault: 'lost' });
  expect(engine.pid).toBeUndefined();
  const again = engine.open();
  FakeChild.started.at(-1)!.says(openedWith(SLOW));
  expect((await again).model).toBe('a card');
});
