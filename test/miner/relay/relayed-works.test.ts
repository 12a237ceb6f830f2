import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { RelayedWorks } from '#pickaxe/miner/relay/relay.js';
import { withSearchTarget } from '#pickaxe/protocol/chain/job.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { creationTimeOf, type Work } from '#pickaxe/protocol/chain/work.js';
import { FakeSource, makeWork, Recorder } from '../../fakes.ts';
import { turns } from '../../turns.ts';
import { eventually, mine } from '../source/follow.ts';

function relay() {
  const source = new FakeSource();
  const events = new Recorder();
  const changes: (Work | undefined)[] = [];
  const ending = new AbortController();
  const works = new RelayedWorks({
    name: 'stratum',
    source,
    emit: events.listen,
    clock: systemClock,
    changed: (work) => changes.push(work),
  });
  const following = works.follow(ending.signal);
  const end = async () => {
    ending.abort();
    await following;
  };
  return { source, events, works, changes, following, end };
}

describe('the works of a relay', () => {
  it('end with what the source throws, once submissions have settled', async () => {
    const { source, works, events, following } = relay();
    const work = source.work(makeWork(100));
    await eventually(() => expect(works.current).toBe(work));
    let answer = () => {};
    source.verdict = () =>
      new Promise((resolve) => {
        answer = () => resolve({ outcome: 'accepted', reason: '' });
      });
    works.submit(mine(work));
    const ended = following.then(
      () => undefined,
      (thrown: unknown) => [thrown, events.of('verdict').length],
    );
    const fault = source.fail();
    await new Promise((resolve) => setImmediate(resolve));
    answer();
    expect(await ended).toEqual([fault, 1]);
  });

  it('change with the source’s, and a work that was merely replaced still counts', async () => {
    const { source, works, changes, end } = relay();
    const first = source.work(makeWork(100));
    await eventually(() => expect(works.current).toBe(first));
    const second = source.work(makeWork(100));
    await eventually(() => expect(works.current).toBe(second));
    expect(works.isStale(first)).toBe(false);
    source.stale(first, second);
    await eventually(() => expect(works.current).toBeUndefined());
    expect(works.isStale(first)).toBe(true);
    expect(changes).toEqual([first, second, undefined]);
    await end();
  });

  it('are told of after each update, also of those that change nothing of the current work', async () => {
    const source = new FakeSource();
    const recorded: string[] = [];
    const works = new RelayedWorks({
      name: 'fleet',
      source,
      changed: (work) => recorded.push(work ? 'new work' : 'no work'),
      updated: ({ kind }) => recorded.push(kind),
    });
    const ending = new AbortController();
    const following = works.follow(ending.signal);
    for (const act of [() => source.work(makeWork(100)), () => source.lost(), () => source.stale(makeWork(100))]) {
      const count = recorded.length;
      act();
      await eventually(() => expect(recorded.length).toBeGreaterThan(count));
    }
    source.stale();
    await eventually(() => expect(recorded).toEqual(['new work', 'work', 'lost', 'stale', 'no work', 'stale']));
    ending.abort();
    await following;
  });

  it('still count when the source rests', async () => {
    const { source, works, changes, end } = relay();
    const work = source.work(makeWork(100));
    await eventually(() => expect(works.current).toBe(work));
    source.rest();
    await eventually(() => expect(works.current).toBeUndefined());
    expect(works.isStale(work)).toBe(false);
    source.work(work);
    await eventually(() => expect(changes).toEqual([work, undefined, work]));
    await end();
  });

  it('are not taken up when they are stale, and other works that become stale change nothing', async () => {
    const { source, works, changes, end } = relay();
    const [old, current] = [makeWork(100), source.work(makeWork(100))];
    await eventually(() => expect(works.current).toBe(current));
    source.stale(old);
    source.work(old);
    source.lost();
    await eventually(() => expect(works.isStale(old)).toBe(true));
    const next = source.work(makeWork(100));
    await eventually(() => expect(works.current).toBe(next));
    expect(changes).toEqual([current, next]);
    await end();
  });

  it('are not begun again where the source repeats them', async () => {
    const { source, works, changes, end } = relay();
    const work = source.work(makeWork(100));
    source.work(work);
    const next = source.work(makeWork(100));
    source.work(next);
    source.work(next);
    source.lost();
    const last = source.work(makeWork(100));
    await eventually(() => expect(works.current).toBe(last));
    expect(changes).toEqual([work, next, last]);
    await end();
  });

  it('that come with the same bytes as one that was solved are not over because their solution was sent before', async () => {
    const { source, works, end } = relay();
    const work = source.work(makeWork(100, { rollTime: false }));
    await eventually(() => expect(works.current).toBe(work));
    const { nonce } = mine(work);
    await works.judge(works.jobOf(work)!, nonce).verdict;
    const again = source.work({ ...work });
    await eventually(() => expect(works.current).toBe(again));
    expect(works.judge(works.jobOf(again)!, nonce).verdict).toBeUndefined();
    expect(works.current).toBe(again);
    await end();
  });

  it('have their solutions sent until the end, which asks for the last verdicts soon', async () => {
    const { source, works, end } = relay();
    const work = source.work(makeWork(100, { rollTime: false, until: 'replaced' }));
    await eventually(() => expect(works.current).toBe(work));
    const warnings: Error[] = [];
    const warn = (warning: Error) => void warnings.push(warning);
    process.on('warning', warn);
    onTestFinished(() => void process.off('warning', warn));
    const stops: AbortSignal[] = [];
    source.submit = async (_: unknown, stop?: AbortSignal) => {
      stops.push(stop as AbortSignal);
      stop?.addEventListener('abort', () => {});
      return { outcome: 'accepted', reason: '' };
    };
    for (let lane = 0; lane < 12; lane++) works.judge(works.jobOf(work)!, mine(work, lane).nonce);
    expect(stops.map(({ aborted }) => aborted)).toEqual(Array(12).fill(false));
    // Each submission may listen to the signal, and Node.js does not warn of many.
    await turns();
    expect(warnings).toEqual([]);
    await end();
    expect(stops.every(({ aborted }) => aborted)).toBe(true);
  });

  it('have jobs at the latest creation time, and a new one only at a later time', async () => {
    const { source, works, end } = relay();
    const work = makeWork(100);
    const startUs = creationTimeOf(work.header);
    source.latestUs = () => startUs + 5_000_000n;
    const job = works.jobOf(work)!;
    expect(creationTimeOf(job.header)).toBe(startUs + 3_500_000n);
    expect(works.jobOf(work, job)).toBeUndefined();
    source.latestUs = () => startUs + 6_000_000n;
    expect(creationTimeOf(works.jobOf(work, job)!.header)).toBe(startUs + 4_500_000n);
    const fixed = makeWork(100, { rollTime: false });
    expect(works.jobOf(fixed)!.header).toEqual(fixed.header);
    await end();
  });

  it('are solved by nonces from outside, each submitted once and told as the relay’s', async () => {
    const { source, events, works, end } = relay();
    const work = source.work(makeWork(100, { rollTime: false }));
    await eventually(() => expect(works.current).toBe(work));
    const { nonce } = mine(work);
    const job = works.jobOf(work)!;
    const judgement = works.judge(job, nonce);
    expect(judgement.proves).toBe(true);
    expect(await judgement.verdict).toEqual({ outcome: 'accepted', reason: '' });
    expect(works.judge(job, nonce).verdict).toBeUndefined();
    expect(source.submitted).toHaveLength(1);
    expect(events.of('verdict')).toMatchObject([{ device: 'stratum', isRelay: true, isBlock: true, isShare: false }]);
    await end();
  });

  it('of a node have one solution each: further ones are not submitted, and the work is over', async () => {
    const { source, events, works, changes, end } = relay();
    const work = source.work(makeWork(100, { rollTime: false }));
    await eventually(() => expect(works.current).toBe(work));
    const job = works.jobOf(work)!;
    const [first, second] = [mine(work), mine(work, 1)];
    expect(works.judge(job, first.nonce).verdict).toBeDefined();
    expect(changes).toEqual([work, undefined]);
    expect(works.isStale(work)).toBe(false);
    expect(works.judge(job, second.nonce)).toMatchObject({
      proves: true,
      solution: { isBlock: true },
      verdict: undefined,
    });
    // The source is within reach again, and then gives new work.
    source.lost();
    source.work(work);
    const next = source.work(makeWork(100));
    await eventually(() => expect(works.current).toBe(next));
    expect(changes).toEqual([work, undefined, next]);
    expect(source.submitted).toHaveLength(1);
    expect(events.of('solution')).toHaveLength(1);
    await end();
  });

  it('of a pool have many', async () => {
    const { source, works, changes, end } = relay();
    const work = source.work(makeWork(100, { rollTime: false, until: 'replaced' }));
    await eventually(() => expect(works.current).toBe(work));
    const job = works.jobOf(work)!;
    for (const lane of [0, 1]) expect(works.judge(job, mine(work, lane).nonce).verdict).toBeDefined();
    expect(source.submitted).toHaveLength(2);
    expect(changes).toEqual([work]);
    await end();
  });

  it('have shares that are no solutions, and wrong nonces that are neither', async () => {
    const { source, works, end } = relay();
    const work = makeWork(2 ** 60, { rollTime: false });
    const easy = withSearchTarget(works.jobOf(work)!, targetForDifficulty(100));
    const { nonce } = mine({ ...work, target: easy.searchTarget });
    expect(works.judge(easy, nonce)).toMatchObject({ proves: true, solution: undefined, verdict: undefined });
    expect(works.judge(works.jobOf(work)!, nonce)).toMatchObject({ proves: false, solution: undefined });
    expect(source.submitted).toHaveLength(0);
    await end();
  });

  it('that are stale by now are told so, and not sent', async () => {
    const { source, works, end } = relay();
    const work = source.work(makeWork(100, { rollTime: false }));
    await eventually(() => expect(works.current).toBe(work));
    source.stale(work);
    await eventually(() => expect(works.current).toBeUndefined());
    const { verdict } = works.judge(works.jobOf(work)!, mine(work).nonce);
    expect(await verdict).toMatchObject({ outcome: 'stale' });
    expect(source.submitted).toHaveLength(0);
    await end();
  });
});
