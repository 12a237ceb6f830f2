import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import { Miner, type MinerOptions } from '#pickaxe/miner/loop/miner.js';
import { COUNTERS, joinNonce, LANES, PAGES, type Range, sizeOf } from '#pickaxe/protocol/chain/nonce.js';
import { meetsTarget, targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { verify } from '#pickaxe/protocol/chain/verify.js';
import { creationTimeOf } from '#pickaxe/protocol/chain/work.js';
import { FakeEngine, FakeSource, makeWork, Recorder } from '../../fakes.ts';
import { turns } from '../../turns.ts';

const NEVER = 2 ** 60;
/** A difficulty at which the fake engine finds a solution within a few steps. */
const SOON = 300;

/** Long enough for a busy machine. */
const eventually = (check: () => void) => vi.waitFor(check, { timeout: 60_000 });

const running: { stop: AbortController; done: Promise<void> }[] = [];

/** Failed devices are reopened soon: after 20, 40 … 320 ms. */
const options = { reopenAfterMs: 20, temperatureLimits: () => ({ stopCelsius: 90, resumeCelsius: 80 }) };

const mine = (...engines: FakeEngine[]) => mineWith({}, ...engines);

/** Like `mine`, at first without the bound on the number of a pool's shares per second. */
const mineShares = (...engines: FakeEngine[]) => mineWith({ firstProofDifficulty: 1 }, ...engines);

function mineWith(more: Partial<MinerOptions>, ...engines: FakeEngine[]) {
  const source = new FakeSource();
  const events = new Recorder();
  const random = (below: number) => Math.floor(Math.random() * below);
  const miner = new Miner({ source, engines, emit: events.listen, clock: systemClock, random, ...options, ...more });
  const stop = new AbortController();
  const done = miner.run(stop.signal);
  running.push({ stop, done });
  return { miner, source, events, stop, done };
}

afterEach(async () => {
  vi.useRealTimers();
  for (const { stop } of running) stop.abort();
  await Promise.all(running.splice(0).map(({ done }) => done));
});

describe('new work', () => {
  it('switches every engine at once', async () => {
    const engines = [new FakeEngine('cpu'), new FakeEngine('gpu0'), new FakeEngine('gpu1')];
    const { source, events } = mine(...engines);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engines.every((engine) => engine.searched.length > 5)).toBe(true));
    const next = source.work(makeWork(NEVER));
    await eventually(() => expect(engines.every((engine) => engine.jobs.at(-1)?.work === next)).toBe(true));
    await eventually(() =>
      expect(engines.every(({ jobs, searched }) => searched.at(-1)!.job === jobs.length)).toBe(true),
    );
    expect(events.of('work')).toHaveLength(2);
  });

  it('that is the current work again changes nothing', async () => {
    const engine = new FakeEngine();
    const { source, events } = mine(engine);
    const work = source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    source.work(work);
    const searched = engine.searched.length;
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(searched + 3));
    expect(engine.jobs).toHaveLength(1);
    expect(events.of('work')).toHaveLength(1);
  });

  it('gives the engines disjoint ranges of one lane', async () => {
    const engines = [
      new FakeEngine('cpu', { counters: 16, pages: 3 }),
      new FakeEngine('gpu0', { counters: 50, pages: 1 }),
    ];
    const { source } = mine(...engines);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engines.every((engine) => engine.searched.length > 40)).toBe(true));
    const ranges = engines.flatMap((engine) => engine.searched.map(({ range }) => range));
    expect(new Set(ranges.map(({ lane }) => lane)).size).toBe(1);
    const nonces = ranges.flatMap(noncesOf);
    expect(new Set(nonces).size).toBe(nonces.length);
  });

  it('begins at a random place for each job, in a lane that is chosen once', async () => {
    const draws: number[] = [];
    const random = (below: number) => {
      draws.push(below);
      return 100 + draws.length;
    };
    const engine = new FakeEngine();
    const { source } = mineWith({ random }, engine);
    for (const jobs of [1, 2, 3]) {
      source.work(makeWork(NEVER, { rollTime: false }));
      await eventually(() => expect(engine.searched.filter(({ job }) => job === jobs).length).toBeGreaterThan(0));
    }
    const columns = COUNTERS / 512;
    expect(draws).toEqual([LANES, PAGES, columns, PAGES, columns, PAGES, columns]);
    const first = [1, 2, 3].map((jobs) => engine.searched.find(({ job }) => job === jobs)!.range);
    // This engine takes rows, which begin with the first counter.
    expect(first.map(({ lane, page, counter }) => [lane, page, counter])).toEqual([
      [101, 102, 0],
      [101, 104, 0],
      [101, 106, 0],
    ]);
  });

  it('keeps the lane and the time that the source assigned', async () => {
    const engine = new FakeEngine();
    const { source } = mine(engine);
    const work = source.work(makeWork(NEVER, { nonce1: { value: 0x1234, bytes: 2 }, rollTime: false }));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    expect(engine.searched.every(({ range }) => range.lane === 0x1234)).toBe(true);
    expect(engine.jobs[0].header).toEqual(work.header);
  });

  it.each([
    [
      { value: 0x4f_0026, bytes: 3 },
      { lane: 0x4f_0026, step: 256 },
    ],
    [
      { value: 0xfeed_beef, bytes: 4 },
      { lane: 0xfeed_beef, step: 65_536 },
    ],
  ] as const)('keeps to a nonce1 of more bytes than a lane usually has: %j', async (nonce1, lane) => {
    const engine = new FakeEngine();
    const { source, events } = mineWith({ lane: 0x5678, firstProofDifficulty: 1 }, engine);
    source.work(makeWork(20, { nonce1, rollTime: false, until: 'replaced' }));
    await eventually(() => expect(events.of('solution').length).toBeGreaterThan(3));
    for (const { range } of engine.searched) expect(range).toMatchObject(lane);
    for (const { nonce } of events.of('solution')) {
      expect(nonce % 256n ** BigInt(nonce1.bytes)).toBe(BigInt(nonce1.value));
    }
    expect(events.of('hardware-error')).toEqual([]);
  });

  it('begins anew, at the same header, when only the length of nonce1 has changed', async () => {
    const engine = new FakeEngine();
    const { source } = mineWith({ lane: 0 }, engine);
    const work = makeWork(NEVER, { nonce1: { value: 5, bytes: 2 }, rollTime: false });
    source.work(work);
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(2));
    source.work({ ...work, nonce1: { value: 5, bytes: 3 } });
    await eventually(() => expect(engine.searched.at(-1)!.range.step).toBe(256));
  });

  it('leaves the lane’s high byte to the miner where nonce1 has one byte', async () => {
    const engine = new FakeEngine();
    const { source } = mineWith({ lane: 0x5678 }, engine);
    source.work(makeWork(NEVER, { nonce1: { value: 0x12, bytes: 1 }, rollTime: false }));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    expect(engine.searched.every(({ range }) => range.lane === 0x5612)).toBe(true);
  });

  it('with the header of the last, such as a new target of a pool, does not search nonces again', async () => {
    const engine = new FakeEngine();
    const { source } = mine(engine);
    const first = source.work(makeWork(NEVER, { until: 'replaced', rollTime: false }));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(5));
    const easier = source.work({ ...first, target: makeWork(2 ** 50).target });
    await eventually(() => expect(engine.searched.filter(({ job }) => job === 2).length).toBeGreaterThan(5));
    // The same after a clean notify, which makes the work before it stale.
    source.stale(first, easier);
    source.work({ ...first });
    await eventually(() => expect(engine.searched.filter(({ job }) => job === 3).length).toBeGreaterThan(5));
    const nonces = engine.searched.flatMap(({ range }) => noncesOf(range));
    expect(new Set(nonces).size).toBe(nonces.length);
  });

  it('is said to have a difficulty for blocks, and one for shares where a pool gave it', async () => {
    const { source, events } = mine(new FakeEngine());
    source.work(makeWork(2 ** 40));
    source.work(makeWork(2 ** 30, { until: 'replaced', blockTarget: makeWork(2 ** 40).target }));
    await eventually(() => expect(events.of('work')).toHaveLength(2));
    const [nodes, pools] = events.of('work');
    expect(nodes).not.toHaveProperty('shareDifficulty');
    expect([nodes.difficulty, pools.difficulty, pools.shareDifficulty]).toEqual([2 ** 40, 2 ** 40, 2 ** 30]);
  });

  it('is not stopped by news that other works are stale', async () => {
    const engine = new FakeEngine();
    const { source, events } = mine(engine);
    const other = makeWork(NEVER);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    source.stale(other);
    await turns();
    const searched = engine.searched.length;
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(searched + 3));
    expect(engine.jobs).toHaveLength(1);
    expect(events.of('new-cut')).toHaveLength(0);
    // The work is stale before it is ever given.
    source.work(other);
    await turns();
    expect(engine.jobs).toHaveLength(1);
  });
});

describe('work that ends', () => {
  it('is told with the reason, once, whatever ends it', async () => {
    const { source, events } = mine(new FakeEngine());
    const cancelled = source.work(makeWork(NEVER));
    await eventually(() => expect(events.of('work')).toHaveLength(1));
    source.stale('cancelled', cancelled);
    await eventually(() => expect(events.of('work-ended')).toHaveLength(1));
    const solved = source.work(makeWork(SOON));
    await eventually(() => expect(events.of('verdict')).toHaveLength(1));
    source.stale('solved', solved);
    await turns();
    expect(events.of('work-ended')).toEqual([
      { type: 'work-ended', chain: cancelled.chain, reason: 'cancelled' },
      { type: 'work-ended', chain: solved.chain, reason: 'solved' },
    ]);
    expect(events.of('new-cut')).toHaveLength(0);
  });
});

describe('solutions', () => {
  it('of a pool are shares, and blocks too where they meet the block’s target', async () => {
    const { source, events } = mineWith({ firstProofDifficulty: 100 }, new FakeEngine());
    source.work(makeWork(50, { until: 'replaced', blockTarget: makeWork(400).target }));
    await eventually(() => expect(events.of('verdict').some(({ isBlock }) => isBlock)).toBe(true));
    const verdicts = events.of('verdict');
    expect(verdicts.some(({ isBlock }) => !isBlock)).toBe(true);
    expect(verdicts.every(({ isShare, isRelay }) => isShare && !isRelay)).toBe(true);
    const hardest = targetForDifficulty(400);
    for (const { isBlock, powHash } of source.submitted) expect(meetsTarget(powHash, hardest)).toBe(isBlock);
  });

  it('that a source does not answer pause the devices, and none is lost', async () => {
    const engine = new FakeEngine();
    const { source, events } = mineShares(engine);
    const answers: (() => void)[] = [];
    source.verdict = () => new Promise((resolve) => answers.push(() => resolve({ outcome: 'accepted', reason: '' })));
    source.work(makeWork(4, { until: 'replaced' }));
    const paused = () => events.of('device').filter(({ state }) => state === 'paused');
    await eventually(() => expect(paused()).toHaveLength(1));
    expect(paused()[0].reason).toMatch(/fake source does not answer: 1024 solutions wait/);
    await turns();
    const searched = engine.searched.length;
    await turns();
    expect(engine.searched).toHaveLength(searched);
    const found = source.submitted.length;
    for (const answer of answers.splice(0, found - 128)) answer();
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(searched));
    source.verdict = () => ({ outcome: 'accepted', reason: '' });
    for (const answer of answers.splice(0)) answer();
    await eventually(() => expect(events.of('verdict').length).toBeGreaterThan(found));
  });

  it('are submitted once, and end the search of a node’s work', async () => {
    const engine = new FakeEngine();
    const { source, events } = mine(engine);
    source.work(makeWork(SOON));
    await eventually(() => expect(events.of('verdict')).toHaveLength(1));
    const searched = engine.searched.length;
    expect(source.submitted).toHaveLength(1);
    expect(events.of('verdict')[0]).toMatchObject({ outcome: 'accepted', device: 'cpu' });
    await turns();
    expect(engine.searched).toHaveLength(searched);
    source.work(makeWork(SOON));
    await eventually(() => expect(events.of('verdict')).toHaveLength(2));
    expect(source.submitted).toHaveLength(2);
  });

  it('come once for a work that is solved or stale, which is not mined again', async () => {
    const engine = new FakeEngine();
    const { source, events } = mine(engine);
    const solved = source.work(makeWork(SOON));
    await eventually(() => expect(events.of('verdict')).toHaveLength(1));
    source.work(solved);
    await turns();
    const stale = source.work(makeWork(NEVER));
    await eventually(() => expect(engine.jobs.at(-1)!.work).toBe(stale));
    source.stale();
    source.work(stale);
    await turns();
    expect(engine.jobs.map(({ work }) => work)).toEqual([solved, stale]);
  });

  it('for a pool’s work are all submitted, each once, and the search goes on', async () => {
    const engine = new FakeEngine();
    const { source, events } = mineWith({ firstProofDifficulty: SOON }, engine);
    source.work(makeWork(SOON, { until: 'replaced' }));
    await eventually(() => expect(events.of('verdict').length).toBeGreaterThan(3));
    const nonces = source.submitted.map(({ nonce }) => nonce);
    expect(new Set(nonces).size).toBe(nonces.length);
    expect(engine.jobs).toHaveLength(1);
  });

  it('that are reported twice are submitted once', async () => {
    const engine = new FakeEngine();
    const { source, events } = mineWith({ firstProofDifficulty: SOON }, engine);
    source.work(makeWork(SOON, { until: 'replaced' }));
    await eventually(() => expect(source.submitted.length).toBeGreaterThan(0));
    engine.wrong = [source.submitted[0].nonce, source.submitted[0].nonce];
    await eventually(() => expect(engine.wrong).toHaveLength(0));
    await eventually(() => expect(source.submitted.length).toBeGreaterThan(2));
    const nonces = source.submitted.map(({ nonce }) => nonce);
    expect(new Set(nonces).size).toBe(nonces.length);
    expect(events.of('hardware-error')).toHaveLength(0);
  });

  it('found after their work went stale are not sent', async () => {
    const engine = new FakeEngine();
    engine.late = true;
    const { source, events } = mine(engine);
    source.work(makeWork(SOON));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(100));
    source.stale();
    await eventually(() => expect(events.of('verdict')).toHaveLength(1));
    expect(events.of('verdict')[0]).toMatchObject({ outcome: 'stale' });
    expect(source.submitted).toHaveLength(0);
  });

  it('found after their work was replaced, but is not stale, are sent', async () => {
    const engine = new FakeEngine();
    engine.late = true;
    const { source, events } = mine(engine);
    const work = source.work(makeWork(SOON));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(100));
    source.work(makeWork(NEVER));
    await eventually(() => expect(events.of('verdict')).toMatchObject([{ outcome: 'accepted' }]));
    expect(source.submitted.map((solution) => solution.work)).toEqual([work]);
  });

  it('do not hold up the search while they are submitted', async () => {
    const engine = new FakeEngine();
    const { source, events } = mineShares(engine);
    const answers: (() => void)[] = [];
    source.verdict = () => new Promise((resolve) => answers.push(() => resolve({ outcome: 'accepted', reason: '' })));
    source.work(makeWork(SOON, { until: 'replaced' }));
    await eventually(() => expect(source.submitted.length).toBeGreaterThan(0));
    const before = engine.searched.length;
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(before + 10));
    expect(events.of('verdict')).toHaveLength(0);
    const next = source.work(makeWork(NEVER));
    await eventually(() => expect(engine.jobs.at(-1)?.work).toBe(next));
    for (const answer of answers) answer();
    await eventually(() => expect(events.of('verdict')).toHaveLength(answers.length));
  });

  it('whose source throws an error are reported as unknown', async () => {
    const { source, events } = mine(new FakeEngine());
    source.verdict = () => Promise.reject(new Error('wires cut'));
    source.work(makeWork(SOON));
    await eventually(() => expect(events.of('verdict')).toHaveLength(1));
    expect(events.of('verdict')[0]).toMatchObject({ outcome: 'unknown', reason: 'the source failed: wires cut' });
  });
});

describe('stale work', () => {
  it('stops the search until new work comes', async () => {
    const engine = new FakeEngine();
    const { source } = mine(engine);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    source.stale();
    await turns();
    const searched = engine.searched.length;
    await turns();
    expect(engine.searched).toHaveLength(searched);
    const next = source.work(makeWork(NEVER));
    await eventually(() => expect(engine.jobs.at(-1)!.work).toBe(next));
  });
});

describe('a rest', () => {
  it('stops the search until there is work again, and what was found still counts', async () => {
    const engine = new FakeEngine();
    engine.late = true;
    const { source, events } = mine(engine);
    const work = source.work(makeWork(SOON));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(100));
    source.rest();
    await eventually(() => expect(events.of('verdict')).toMatchObject([{ outcome: 'accepted' }]));
    expect(source.submitted).toMatchObject([{ work }]);
    expect(events.of('work-ended')).toEqual([{ type: 'work-ended', chain: work.chain, reason: 'cancelled' }]);
    await turns();
    const searched = engine.searched.length;
    await turns();
    expect(engine.searched).toHaveLength(searched);
    const next = source.work(makeWork(NEVER));
    source.rest();
    source.work(next);
    await eventually(() => expect(engine.jobs.at(-1)!.work).toBe(next));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(searched + 3));
  });
});

describe('the creation time', () => {
  it('is moved forward every few seconds as a new job of the same work, never past the latest time', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const engine = new FakeEngine();
    const { source, events } = mine(engine);
    const work = makeWork(NEVER);
    const startUs = creationTimeOf(work.header);
    source.latestUs = () => startUs - 5_000_000n;
    source.work(work);
    await eventually(() => expect(engine.jobs).toHaveLength(1));
    expect(creationTimeOf(engine.jobs[0].header)).toBe(startUs);

    source.latestUs = () => startUs + 10_000_000n;
    vi.advanceTimersByTime(10_000);
    await eventually(() => expect(engine.jobs).toHaveLength(2));
    expect(engine.jobs[1].work).toBe(work);
    const rolledUs = creationTimeOf(engine.jobs[1].header);
    expect(rolledUs).toBeGreaterThan(startUs + 5_000_000n);
    // The time stays 1.5 s behind the time that the node's clock has surely reached.
    expect(rolledUs).toBeLessThanOrEqual(startUs + 8_500_000n);
    expect(events.of('job')).toMatchObject([{ creationTimeMicros: rolledUs }]);

    source.latestUs = () => startUs;
    vi.advanceTimersByTime(10_000);
    source.latestUs = () => startUs + 20_000_000n;
    vi.advanceTimersByTime(10_000);
    await eventually(() => expect(engine.jobs).toHaveLength(3));
    expect(creationTimeOf(engine.jobs[2].header)).toBeGreaterThan(rolledUs);
  });

  describe('when the space is used up', () => {
    /** It needs few ranges for a space, and finds nothing in them. */
    const used = () => {
      const engine = new FakeEngine('cpu', { counters: COUNTERS, pages: 4_096 });
      engine.reported = () => [];
      return engine;
    };
    const lanesOf = ({ searched }: FakeEngine) => new Set(searched.map(({ range }) => range.lane));

    it('is moved forward, in the same lane', async () => {
      const engine = used();
      const { source } = mine(engine);
      const work = makeWork(NEVER);
      let latestUs = creationTimeOf(work.header);
      source.latestUs = () => {
        latestUs += 1_000_000n;
        return latestUs;
      };
      source.work(work);
      const times = () => new Set(engine.jobs.map(({ header }) => creationTimeOf(header)));
      await eventually(() => expect(times().size).toBeGreaterThan(3));
      expect(engine.jobs.every((job) => job.work === work)).toBe(true);
      expect(lanesOf(engine).size).toBe(1);
    });

    it('stays where the latest time is reached, and another lane is taken', async () => {
      const engine = used();
      const { source } = mine(engine);
      const work = makeWork(NEVER);
      source.latestUs = () => creationTimeOf(work.header);
      source.work(work);
      await eventually(() => expect(lanesOf(engine).size).toBeGreaterThan(2));
      expect(engine.jobs.every(({ header }) => creationTimeOf(header) === creationTimeOf(work.header))).toBe(true);
    });
  });

  it('is reported once when it is used up and nothing else may be searched', async () => {
    const engine = new FakeEngine('cpu', { counters: COUNTERS, pages: PAGES });
    const { source, events } = mine(engine);
    Object.assign(source, { kind: 'pool' });
    const terms = { nonce1: { value: 5, bytes: 4 }, rollTime: false, until: 'replaced' } as const;
    source.work(makeWork(NEVER, terms));
    await eventually(() => expect(events.of('source')).toHaveLength(1));
    const reason = expect.stringMatching(/^leaves 2\^32 nonces of a job \(nonce1 has 4 bytes\): all are searched/);
    expect(events.of('source')).toMatchObject([{ source: source.name, kind: 'pool', state: 'info', reason }]);
    expect(engine.searched.reduce((sum, { range }) => sum + sizeOf(range), 0)).toBe(2 ** 32);
    source.work(makeWork(NEVER, terms));
    await eventually(() => expect(engine.jobs).toHaveLength(2));
    await turns();
    expect(events.of('source')).toHaveLength(1);
  });
});

describe('devices', () => {
  it('that report wrong candidates are reopened, and parked when that does not help, while the others go on', async () => {
    const liar = new FakeEngine('gpu0');
    const honest = new FakeEngine('cpu');
    const { source, events } = mine(liar, honest);
    source.work(makeWork(NEVER));
    liar.alwaysWrong = true;
    await eventually(() => expect(events.of('device').at(-1)).toMatchObject({ device: 'gpu0', state: 'parked' }));
    expect(events.of('device').at(-1)).toMatchObject({ fault: 'wrong-hashes' });
    expect(events.of('device').at(-1)!.reason).toMatch(/^3 candidates .* \(5 attempts to reopen it did not help\)$/);
    expect(events.of('device').filter(({ state }) => state === 'reopening')).toHaveLength(5);
    expect(events.of('hardware-error')).toHaveLength(6 * 3);
    await eventually(() => expect(liar.closed).toBe(6));
    const before = honest.searched.length;
    await eventually(() => expect(honest.searched.length).toBeGreaterThan(before));
    expect(source.submitted).toHaveLength(0);
  });

  it('that report wrong candidates now and then are reopened after three within an hour, not after three in a month', async () => {
    let nowMs = 0;
    const clock = { ...systemClock, monotonicMs: () => nowMs };
    const engine = new FakeEngine();
    const { source, events } = mineWith({ clock }, engine);
    source.work(makeWork(NEVER));
    const errAfter = async (minutes: number) => {
      nowMs += 60_000 * minutes;
      const before = events.of('hardware-error').length;
      engine.wrong = [7n];
      await eventually(() => expect(events.of('hardware-error').length).toBe(before + 1));
    };
    for (const minutes of [1, 31, 31, 31, 31]) await errAfter(minutes);
    await turns();
    expect(events.of('device').map(({ state }) => state)).toEqual(['ready']);
    await errAfter(1);
    await eventually(() => expect(events.of('device').at(-1)).toMatchObject({ state: 'ready' }));
    expect(events.of('device').map(({ state }) => state)).toEqual(['ready', 'reopening', 'ready']);
  });

  it('that are lost are reopened and search the current job', async () => {
    const engine = new FakeEngine();
    const { source, events } = mine(engine);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    engine.fault = new DeviceError('lost', 'fell off the bus');
    const lost = expect.objectContaining({ state: 'reopening', fault: 'lost' });
    await eventually(() => expect(events.of('device')).toContainEqual(lost));
    engine.fault = undefined;
    expect(engine.closed).toBeGreaterThan(0);
    const next = source.work(makeWork(NEVER));
    await eventually(() => expect(engine.jobs.at(-1)!.work).toBe(next));
    expect(events.of('device').at(-1)).toMatchObject({ state: 'ready' });
  });

  it('that were in service are reopened when they are missing for a while, as during a driver’s reset', async () => {
    const engine = new FakeEngine();
    const { source, events } = mine(engine);
    const work = source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    engine.openFaults.push(new DeviceError('missing', 'no adapter'));
    engine.fault = new DeviceError('lost', 'reset');
    const missing = expect.objectContaining({ state: 'reopening', fault: 'missing' });
    await eventually(() => expect(events.of('device')).toContainEqual(missing));
    engine.fault = undefined;
    const searched = engine.searched.length;
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(searched));
    expect(engine.jobs.at(-1)!.work).toBe(work);
  });

  it('are out of service after the third wrong candidate: further ones in the same report change nothing', async () => {
    const engine = new FakeEngine();
    const { source, events } = mine(engine);
    engine.wrong = Array.from({ length: 1_000 }, (_, i) => BigInt(i));
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.opened).toBe(2));
    const searched = engine.searched.length;
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(searched + 3));
    expect(events.of('hardware-error')).toHaveLength(3);
  });

  it('that are too hot are paused until they have cooled down, while the others go on', async () => {
    const [hot, cool] = [new FakeEngine('gpu0'), new FakeEngine('gpu1')];
    const { source, events } = mine(hot, cool);
    const work = source.work(makeWork(NEVER));
    await eventually(() => expect(hot.searched.length).toBeGreaterThan(3));
    hot.listener!.telemetry!({ temperatureCelsius: 89 });
    hot.listener!.telemetry!({ temperatureCelsius: 90 });
    expect(events.of('device').at(-1)).toMatchObject({ device: 'gpu0', state: 'paused' });
    expect(events.of('device').at(-1)!.reason).toBe('its temperature is 90 °C; it resumes at 80 °C');
    const [searched, before] = [hot.searched.length, cool.searched.length];
    await eventually(() => expect(cool.searched.length).toBeGreaterThan(before + 10));
    expect(hot.searched.length).toBe(searched);
    expect(hot.closed).toBe(0);

    const next = source.work(makeWork(NEVER));
    await eventually(() => expect(cool.jobs.at(-1)!.work).toBe(next));
    hot.listener!.telemetry!({ temperatureCelsius: 81 });
    expect(hot.jobs.at(-1)!.work).toBe(work);
    hot.listener!.telemetry!({});
    hot.listener!.telemetry!({ temperatureCelsius: 80 });
    expect(events.of('device').at(-1)).toMatchObject({ device: 'gpu0', state: 'ready' });
    await eventually(() => expect(hot.searched.length).toBeGreaterThan(searched + 3));
    expect(hot.jobs.at(-1)!.work).toBe(next);
    expect(events.of('telemetry')).toHaveLength(5);
  });

  it('say so when they go on with another kernel', async () => {
    const engine = new FakeEngine('gpu0');
    const { source, events } = mine(engine);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    engine.listener!.changed!({ model: 'RTX', kernel: 'wgsl', why: 'wgsl 64×8, fastest of 36 variants that run here' });
    expect(events.of('device').at(-1)).toMatchObject({
      device: 'gpu0',
      state: 'ready',
      kernel: 'wgsl',
      description: 'RTX: kernel wgsl 64×8, fastest of 36 variants that run here',
    });
    const { opened, jobs } = engine;
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(6));
    expect([engine.opened, engine.jobs]).toEqual([opened, jobs]);
  });

  it('are judged by the limits for their kind', async () => {
    const [cpu, gpu] = [new FakeEngine('cpu'), new FakeEngine('gpu0')];
    gpu.kind = 'gpu';
    const limits = { cpu: { stopCelsius: 105, resumeCelsius: 95 }, gpu: { stopCelsius: 90, resumeCelsius: 80 } };
    const { source, events } = mineWith({ temperatureLimits: (kind) => limits[kind] }, cpu, gpu);
    source.work(makeWork(NEVER));
    for (const engine of [cpu, gpu]) await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    const paused = () => events.of('device').flatMap(({ device, state }) => (state === 'paused' ? device : []));
    for (const engine of [cpu, gpu]) engine.listener!.telemetry!({ temperatureCelsius: 100 });
    expect(paused()).toEqual(['gpu0']);
    cpu.listener!.telemetry!({ temperatureCelsius: 105 });
    expect(paused()).toEqual(['gpu0', 'cpu']);
    expect(events.of('device').at(-1)!.reason).toBe('its temperature is 105 °C; it resumes at 95 °C');
  });

  it('are judged by limits of their own, where they have some', async () => {
    const [warm, cold] = [new FakeEngine('gpu0'), new FakeEngine('gpu1')];
    const limitOf = (name: string) => (name === 'gpu1' ? 70 : 90);
    const temperatureLimits = (_: string, name: string) => ({ stopCelsius: limitOf(name), resumeCelsius: 60 });
    const { source, events } = mineWith({ temperatureLimits }, warm, cold);
    source.work(makeWork(NEVER));
    for (const engine of [warm, cold]) await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    for (const engine of [warm, cold]) engine.listener!.telemetry!({ temperatureCelsius: 75 });
    const paused = events.of('device').flatMap(({ device, state }) => (state === 'paused' ? device : []));
    expect(paused).toEqual(['gpu1']);
  });

  it('that are lost while they are paused are reopened, and not paused any more', async () => {
    const engine = new FakeEngine('gpu0');
    const { source, events } = mine(engine);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    engine.listener!.telemetry!({ temperatureCelsius: 95 });
    engine.listener!.lost!(new DeviceError('lost', 'fell off the bus'));
    const searched = engine.searched.length;
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(searched + 3));
    expect(events.of('device').map(({ state }) => state)).toEqual(['ready', 'paused', 'reopening', 'ready']);
  });

  it('that leave service do not use up the space for the others', async () => {
    const [failing, other] = [new FakeEngine('gpu0'), new FakeEngine('gpu1')];
    const { source } = mine(failing, other);
    source.work(makeWork(NEVER));
    await eventually(() => expect(failing.searched.length).toBeGreaterThan(3));
    failing.listener!.lost!(new DeviceError('lost', 'fell off the bus'));
    await eventually(() => expect(failing.opened).toBe(2));
    expect(other.jobs).toHaveLength(1);
  });

  it('may be many without a warning of leaking listeners', async () => {
    const warned = vi.fn();
    process.on('warning', warned);
    const engines = Array.from({ length: 13 }, (_, i) => new FakeEngine(`gpu${i}`));
    const { source } = mine(...engines);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engines.every((engine) => engine.searched.length > 3)).toBe(true));
    await turns(1);
    process.off('warning', warned);
    expect(warned).not.toHaveBeenCalled();
  });

  it('have the address of their card in their events', async () => {
    const engine = new FakeEngine('gpu0');
    engine.bus = '0000:65:00.0';
    const { events } = mine(engine, new FakeEngine('cpu'));
    await eventually(() => expect(events.of('device')).toHaveLength(2));
    const ofDevice = (name: string) => events.of('device').find(({ device }) => device === name);
    const facts = { model: 'fake', kernel: 'reference' };
    expect(ofDevice('gpu0')).toMatchObject({ state: 'ready', ...facts, bus: '0000:65:00.0' });
    expect(ofDevice('cpu')).toMatchObject(facts);
    expect(ofDevice('cpu')).not.toHaveProperty('bus');
  });

  it('report progress while they open', async () => {
    const engine = new FakeEngine('gpu0');
    const { events } = mine(engine);
    await eventually(() => expect(engine.listener).toBeDefined());
    engine.listener!.progress!('measuring', 0.5);
    expect(events.of('progress')).toEqual([{ type: 'progress', device: 'gpu0', what: 'measuring', done: 0.5 }]);
  });

  it('that come into service say what they are, also after a pause', async () => {
    const engine = new FakeEngine('cpu');
    const cores = [{ kind: 'efficiency', threads: 4, kernel: 'sse41' }] as const;
    engine.info = { kernel: 'sse41', cores, threads: 4, why: 'asked for', detail: 'in full' };
    const { events } = mine(engine);
    await eventually(() => expect(events.of('device')).toHaveLength(1));
    const ready = {
      state: 'ready',
      description: 'fake: kernel sse41, 4 threads (asked for)',
      kernel: 'sse41',
      cores,
      detail: 'in full',
    };
    expect(events.of('device').at(-1)).toMatchObject(ready);
    engine.listener!.telemetry!({ temperatureCelsius: 95 });
    engine.listener!.telemetry!({ temperatureCelsius: 70 });
    expect(events.of('device').map(({ state }) => state)).toEqual(['ready', 'paused', 'ready']);
    expect(events.of('device').at(-1)).toMatchObject(ready);
    expect(engine.opened).toBe(1);
  });

  it('whose reasons begin with the variant of the kernel do not name the kernel twice', async () => {
    const engine = new FakeEngine('gpu0');
    engine.info = { model: 'card', kernel: 'wgsl', why: 'wgsl 128×16, batches of 8 ms' };
    const { events } = mine(engine);
    await eventually(() => expect(events.of('device')).toHaveLength(1));
    expect(events.of('device')[0]).toMatchObject({ description: 'card: kernel wgsl 128×16, batches of 8 ms' });
  });

  it('that are missing are parked; with none left the run ends', async () => {
    const engine = new FakeEngine();
    engine.openFaults.push(new DeviceError('missing', 'no such device'));
    const { events, done } = mine(engine);
    await done;
    expect(events.of('device')).toMatchObject([{ state: 'parked', fault: 'missing', reason: 'no such device' }]);
  });
});

describe('proofs', () => {
  const easy = { firstProofDifficulty: 8 };

  it('are verified candidates at an easier target, and only those that also solve the work are submitted', async () => {
    const engine = new FakeEngine();
    const { source, events } = mineWith(easy, engine);
    // The first candidate of the second work may already be its solution.
    source.work(makeWork(NEVER));
    await eventually(() => expect(events.of('proof').length).toBeGreaterThan(1));
    source.work(makeWork(SOON));
    await eventually(() => expect(events.of('verdict')).toHaveLength(1));
    const proofs = events.of('proof');
    for (const { device, hashes, difficulty } of proofs) {
      expect({ device, hashes }).toEqual({ device: 'cpu', hashes: 8 });
      expect(difficulty).toBeGreaterThanOrEqual(8);
    }
    expect(events.of('hardware-error')).toEqual([]);
    expect(source.submitted).toHaveLength(1);
  });

  it('that are reported again count once', async () => {
    const engine = new FakeEngine();
    engine.late = true; // The first candidates that the engine reports must be those that this test chooses.
    const { source, events } = mineWith(easy, engine);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    const job = engine.jobs[0];
    const { lane, page } = engine.searched[0].range;
    const nonces = Array.from({ length: 1_000 }, (_, counter) => joinNonce({ lane, step: 1, page, counter }));
    const right = nonces.filter((nonce) => verify(job, nonce).proves).slice(0, 3);
    engine.late = false;
    engine.reported = () => [...right, ...right];
    await eventually(() => expect(events.of('proof').length).toBeGreaterThan(0));
    const searched = engine.searched.length;
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(searched + 3));
    expect(events.of('proof')).toHaveLength(3);
    expect(events.of('hardware-error')).toEqual([]);
  });

  it('that do not meet the easier target are hardware errors', async () => {
    const engine = new FakeEngine();
    const { source, events } = mineWith(easy, engine);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.jobs).toHaveLength(1));
    const wrong = Array.from({ length: 20 }, (_, n) => BigInt(n)).find(
      (nonce) => !verify(engine.jobs[0], nonce).proves,
    )!;
    engine.wrong = [wrong];
    await eventually(() => expect(events.of('hardware-error')).toMatchObject([{ nonce: wrong }]));
  });

  it('use the work’s own target if that is easier', async () => {
    const { source, events } = mineWith({ firstProofDifficulty: NEVER }, new FakeEngine());
    source.work(makeWork(SOON));
    await eventually(() => expect(events.of('proof').length).toBeGreaterThan(0)); // One report can have two proofs.
    expect(events.of('proof')[0].hashes).toBeCloseTo(SOON, 0);
  });
});

describe('controls', () => {
  it('pause all devices, or one, until no reason is left', async () => {
    const [cpu, gpu] = [new FakeEngine('cpu'), new FakeEngine('gpu0')];
    const { miner, source, events } = mine(cpu, gpu);
    source.work(makeWork(NEVER));
    await eventually(() => expect(Math.min(cpu.searched.length, gpu.searched.length)).toBeGreaterThan(3));

    expect(miner.pause('battery', 'it runs on its battery')).toBe(true);
    expect(miner.pause('user', 'you asked for it', 'gpu0')).toBe(true);
    expect(events.of('device').at(-1)).toMatchObject({
      device: 'gpu0',
      state: 'paused',
      reason: 'it runs on its battery; you asked for it',
    });
    expect(miner.resume('battery')).toBe(true);
    const searched = gpu.searched.length;
    const before = cpu.searched.length;
    await eventually(() => expect(cpu.searched.length).toBeGreaterThan(before + 10));
    expect(gpu.searched.length).toBe(searched);
    expect(events.of('device').at(-1)).toMatchObject({ device: 'gpu0', state: 'paused', reason: 'you asked for it' });

    expect(miner.resume('user')).toBe(true);
    await eventually(() => expect(gpu.searched.length).toBeGreaterThan(searched + 3));
    expect([cpu.closed, gpu.closed]).toEqual([0, 0]);
  });

  it('that name an unknown device change nothing and return false', async () => {
    const engine = new FakeEngine('cpu');
    const { miner, source, events } = mine(engine);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    expect(miner.pause('user', 'you asked for it', 'gpu7')).toBe(false);
    expect(miner.resume('user', 'gpu7')).toBe(false);
    expect(events.of('device')).toHaveLength(1);
  });

  it('that pause a device before it opens keep it paused when it opens', async () => {
    const engine = new FakeEngine('cpu');
    let open = () => {};
    engine.opening = new Promise((resolve) => {
      open = resolve;
    });
    const { miner, source, events } = mine(engine);
    source.work(makeWork(NEVER));
    miner.pause('schedule', 'it is night');
    open();
    await eventually(() => expect(events.of('device')).toHaveLength(1));
    expect(events.of('device')[0]).toMatchObject({ state: 'paused', reason: 'it is night' });
    expect(engine.jobs).toEqual([]);
    miner.resume('schedule');
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
  });

  it('stop the miner: its devices are closed, and nothing is searched any more', async () => {
    const engines = [new FakeEngine('cpu'), new FakeEngine('gpu0')];
    const { miner, source, done } = mine(...engines);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engines.every(({ searched }) => searched.length > 3)).toBe(true));
    miner.stop();
    await done;
    expect(engines.map(({ closed }) => closed)).toEqual([1, 1]);
    const searched = engines.map((engine) => engine.searched.length);
    source.work(makeWork(NEVER));
    await turns();
    expect(engines.map((engine) => engine.searched.length)).toEqual(searched);
  });
});

describe('a New Cut', () => {
  it('is followed by one job switch of each device, measured to its first range of the new work', async () => {
    const engines = [new FakeEngine('cpu'), new FakeEngine('gpu0')];
    const { source, events } = mine(...engines);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engines.every(({ searched }) => searched.length > 3)).toBe(true));
    expect(events.of('job-switch')).toEqual([]);
    for (const cuts of [1, 2]) {
      source.stale();
      source.work(makeWork(NEVER));
      await eventually(() => expect(events.of('job-switch')).toHaveLength(2 * cuts));
    }
    const searched = engines[0].searched.length;
    await eventually(() => expect(engines[0].searched.length).toBeGreaterThan(searched + 5));
    const switches = events.of('job-switch');
    expect(switches.map(({ device }) => device).sort()).toEqual(['cpu', 'cpu', 'gpu0', 'gpu0']);
  });

  it('has its switch measured from its arrival to the begin of the first range of the new work', async () => {
    const clock = { ...systemClock, monotonicMs: () => 5_000 };
    const engine = new FakeEngine();
    engine.beganMs = 5_007.5;
    const early = new FakeEngine('gpu0');
    const { source, events } = mineWith({ clock }, engine, early);
    source.work(makeWork(NEVER));
    await eventually(() => expect(Math.min(engine.searched.length, early.searched.length)).toBeGreaterThan(3));
    source.stale();
    source.work(makeWork(NEVER));
    await eventually(() => expect(events.of('job-switch')).toHaveLength(2));
    const byDevice = Object.fromEntries(
      events.of('job-switch').map(({ device, switchSeconds }) => [device, switchSeconds]),
    );
    // The time was read in another process, so it can be a little earlier.
    expect(byDevice).toEqual({ cpu: 0.0075, gpu0: 0 });
  });

  it('has its switch reported once, even if the search of the old work reports last', async () => {
    let nowMs = 1_000;
    const engine = new FakeEngine();
    engine.late = true;
    const { source, events } = mineWith({ clock: { ...systemClock, monotonicMs: () => nowMs } }, engine);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    for (const cuts of [1, 2, 3]) {
      nowMs += 1_000;
      engine.beganMs = nowMs + 5;
      source.stale();
      source.work(makeWork(NEVER));
      await eventually(() => expect(events.of('job-switch')).toHaveLength(cuts));
      // The search of the old work reports once more when it ends, after the first report of the new one.
      await turns();
    }
    const hashes = events.of('hashes').length;
    await eventually(() => expect(events.of('hashes').length).toBeGreaterThan(hashes + 5));
    expect(events.of('job-switch').map(({ switchSeconds }) => switchSeconds)).toEqual([0.005, 0.005, 0.005]);
  });

  it('has no switch on a device that was paused or opened meanwhile', async () => {
    const [engine, resting, late] = [new FakeEngine('cpu'), new FakeEngine('gpu0'), new FakeEngine('gpu1')];
    let open = () => {};
    late.opening = new Promise((resolve) => {
      open = resolve;
    });
    const { miner, source, events } = mine(engine, resting, late);
    source.work(makeWork(NEVER));
    await eventually(() => expect(resting.searched.length).toBeGreaterThan(3));
    miner.pause('user', 'the test says so', 'gpu0');
    source.stale();
    source.work(makeWork(NEVER));
    await eventually(() => expect(events.of('job-switch')).toHaveLength(1));
    const searched = resting.searched.length;
    miner.resume('user', 'gpu0');
    open();
    await eventually(() => expect(resting.searched.length).toBeGreaterThan(searched + 5));
    await eventually(() => expect(late.searched.length).toBeGreaterThan(5));
    expect(events.of('job-switch').map(({ device }) => device)).toEqual(['cpu']);
  });
});

describe('what the interfaces forbid', () => {
  /** A miner whose `run` the test itself awaits. */
  function faulty(more: Partial<MinerOptions> & Pick<MinerOptions, 'source'>, ...engines: FakeEngine[]) {
    const events = new Recorder();
    return { events, miner: new Miner({ engines, emit: events.listen, ...options, ...more }) };
  }

  it('a source whose updates throw ends mining: the engines are closed, and run throws the same', async () => {
    const engine = new FakeEngine();
    const source = new FakeSource();
    const follow = source.follow.bind(source);
    let isBroken = false;
    source.follow = (listener, stop) =>
      follow((update) => {
        if (isBroken) throw new Error('the source is broken');
        listener(update);
      }, stop);
    const { miner } = faulty({ source }, engine);
    const run = miner.run();
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    isBroken = true;
    source.work(makeWork(NEVER));
    await expect(run).rejects.toThrow('the source is broken');
    expect(engine.closed).toBe(1);
  });

  it('a source whose time throws ends mining, also when the time is asked for by a search that needs more nonces', async () => {
    const engine = new FakeEngine('cpu', { counters: COUNTERS, pages: PAGES });
    engine.reported = () => [];
    const source = new FakeSource();
    let asked = 0;
    source.latestUs = () => {
      if (++asked > 1) throw new Error('no time');
      return BigInt(Date.now()) * 1000n;
    };
    const { miner, events } = faulty({ source }, engine);
    const run = miner.run();
    source.work(makeWork(NEVER));
    await expect(run).rejects.toThrow('no time');
    expect(events.of('device').map(({ state }) => state)).toEqual(['ready']);
  });

  it.each(['work', 'hashes', 'proof', 'verdict'])('a listener that throws at a “%s” ends mining', async (type) => {
    const engine = new FakeEngine();
    const source = new FakeSource();
    const emit: MinerOptions['emit'] = (event) => {
      if (event.type === type) throw new Error(`the listener fails at ${type}`);
    };
    const { miner } = faulty({ source, emit }, engine);
    const run = miner.run();
    source.work(makeWork(SOON));
    await expect(run).rejects.toThrow(`the listener fails at ${type}`);
    expect(engine.closed).toBe(1);
  });

  it('an engine whose close ends no search is reopened and parked all the same, by the signal of its searches', async () => {
    const engine = new FakeEngine();
    engine.close = async () => {
      engine.closed++;
    };
    engine.alwaysWrong = true;
    const { source, events } = mine(engine);
    source.work(makeWork(NEVER));
    await eventually(() =>
      expect(events.of('device').at(-1)).toMatchObject({ state: 'parked', fault: 'wrong-hashes' }),
    );
    expect(engine.opened).toBe(6);
  });

  it('an engine whose search does not end at all is parked, and neither its reports nor a second opening follow', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const engine = new FakeEngine();
    let report: () => void = () => {};
    engine.search = async function* (job, ranges) {
      for (;;) {
        const searched = ranges.take(engine.step)!;
        engine.jobs.push(job);
        yield { searched, hashes: 64, beganMs: 0, candidates: engine.jobs.length > 1 ? [] : [7n, 8n, 9n] };
        await new Promise<void>((resolve) => {
          report = resolve;
        });
      }
    };
    const { source, events, stop, done } = mine(engine);
    source.work(makeWork(NEVER));
    await vi.waitUntil(() => engine.closed === 1, { timeout: 60_000 });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(events.of('device').at(-1)).toMatchObject({ state: 'parked', fault: 'wrong-hashes' });
    expect(events.of('device').at(-1)!.reason).toMatch(
      /it did not end within 30 seconds, so it cannot be opened again/,
    );
    const hashes = events.of('hashes').length;
    report();
    await turns();
    expect(events.of('hashes').length).toBe(hashes);
    expect(engine.opened).toBe(1);
    stop.abort();
    await done;
  });

  it.each([
    ['another lane than that of nonce1', 0x1235n],
    ['a nonce below zero', -0x10000n + 0x1234n],
    ['a nonce above 64 bits', 2n ** 64n + 0x1234n],
  ])(
    'an engine that reports true hashes of %s has computed wrongly, and nothing of it is submitted',
    async (_, nonce) => {
      const engine = new FakeEngine();
      let next = nonce;
      engine.reported = () => {
        next += nonce < 0n ? -0x10000n : 0x10000n;
        return [next];
      };
      const { source, events } = mineWith({ reopenAfterMs: 60_000, firstProofDifficulty: 1 }, engine);
      source.work(makeWork(1, { nonce1: { value: 0x1234, bytes: 2 }, until: 'replaced' }));
      await eventually(() => expect(events.of('device').at(-1)).toMatchObject({ fault: 'wrong-hashes' }));
      expect(events.of('hardware-error')).toHaveLength(3);
      expect(source.submitted).toEqual([]);
    },
  );

  it('two engines of one name are refused', () => {
    const engines = [new FakeEngine('cpu'), new FakeEngine('gpu0'), new FakeEngine('cpu')];
    expect(() => faulty({ source: new FakeSource() }, ...engines)).toThrow('two engines have the name “cpu”');
  });
});

describe('stopping', () => {
  it('does not wait for a device that is slow to open', async () => {
    const engine = new FakeEngine();
    engine.opening = new Promise(() => {});
    const { stop, done } = mine(engine);
    await eventually(() => expect(engine.opened).toBe(1));
    stop.abort();
    await done;
    expect(engine.closed).toBe(1);
  });

  it('ends the search, waits for pending submissions and closes the engines', async () => {
    const engine = new FakeEngine();
    const { source, events, stop, done } = mine(engine);
    let answer: () => void = () => {};
    source.verdict = () =>
      new Promise((resolve) => {
        answer = () => resolve({ outcome: 'accepted', reason: '' });
      });
    source.work(makeWork(SOON));
    await eventually(() => expect(source.submitted).toHaveLength(1));
    stop.abort();
    await eventually(() => expect(engine.closed).toBe(1));
    expect(events.of('verdict')).toHaveLength(0);
    answer();
    await done;
    expect(events.of('verdict')).toHaveLength(1);
  });
});

function noncesOf(range: Range): string[] {
  const nonces: string[] = [];
  for (let page = range.page; page < range.page + range.pages; page++) {
    for (let counter = range.counter; counter < range.counter + range.counters; counter++) {
      nonces.push(`${page}:${counter}`);
    }
  }
  return nonces;
}
