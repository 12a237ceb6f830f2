import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { COUNTERS, LANES, PAGES, type Range, sizeOf } from '#pickaxe/protocol/chain/nonce.js';
import { meetsTarget, targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { creationTimeOf } from '#pickaxe/protocol/chain/work.js';
import { FakeEngine, makeWork } from '../../fakes.ts';
import { turns } from '../../turns.ts';
import { eventually, mine, mineShares, mineWith, SOON } from './mining.ts';
import { NEVER } from './stepped-engine.ts';

afterEach(() => void vi.useRealTimers());

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
