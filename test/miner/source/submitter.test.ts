import { expect, test, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { completed } from '#pickaxe/miner/source/complete-source.js';
import type { Verdict } from '#pickaxe/miner/source/source.js';
import { Submitter, type SubmitterOptions } from '#pickaxe/miner/source/submitter.js';
import { prepareJob } from '#pickaxe/protocol/chain/job.js';
import { verify } from '#pickaxe/protocol/chain/verify.js';
import { FakeSource, makeWork, Recorder } from '../../fakes.ts';

/** The number of solutions that are remembered. */
const REMEMBERED = 4_096;

const CPU = { name: 'cpu', isRelay: false };
const running = new AbortController().signal;
/** Work that every nonce solves. */
const work = makeWork(1);
const job = prepareJob(work);
const solutionOf = (nonce: number) => verify(job, BigInt(nonce)).solution!;

function submitterWith({
  isStale = () => false,
  clock = systemClock,
  pending = () => {},
}: Partial<SubmitterOptions> = {}) {
  const source = new FakeSource();
  const events = new Recorder();
  const submitter = new Submitter({ source: completed(source), emit: events.listen, clock, isStale, pending });
  const numbers = () => source.submitted.map(({ nonce }) => Number(nonce));
  return { submitter, source, events, numbers };
}

test('a solution is sent once, and its verdict is emitted with the time that it took', async () => {
  let nowMs = 50;
  const { submitter, source, events, numbers } = submitterWith({ clock: { ...systemClock, monotonicMs: () => nowMs } });
  source.verdict = () => {
    nowMs += 7;
    return { outcome: 'rejected', reason: 'the test says so' };
  };
  submitter.submit(solutionOf(1), CPU, running);
  submitter.submit(solutionOf(1), { name: 'gpu0', isRelay: false }, running);
  await submitter.settled();
  submitter.submit(solutionOf(1), CPU, running);
  await submitter.settled();
  expect(numbers()).toEqual([1]);
  const block = { chain: work.chain, height: work.height, nonce: 1n, isBlock: true, isShare: false, difficulty: 1 };
  const about = { device: 'cpu', isRelay: false, ...block };
  const sent = { header: solutionOf(1).header, source: 'fake source' };
  expect(events.all).toEqual([
    { type: 'solution', ...about, hash: solutionOf(1).powHash },
    { type: 'sent-block', ...about, ...sent },
    { type: 'verdict', ...about, outcome: 'rejected', reason: 'the test says so', answerSeconds: 0.007 },
    { type: 'refused-block', ...about, ...sent, answerSeconds: 0.007 },
  ]);
});

test('a solution whose work is known to be stale is not sent', async () => {
  const { submitter, events, numbers } = submitterWith({ isStale: ({ nonce }) => nonce === 2n });
  for (const number of [1, 2]) submitter.submit(solutionOf(number), CPU, running);
  await submitter.settled();
  expect(numbers()).toEqual([1]);
  const stale = events.of('verdict').filter(({ nonce }) => nonce === 2n);
  expect(stale).toMatchObject([{ outcome: 'stale', reason: expect.stringContaining('not sent') }]);
});

test.each([
  [
    'throws',
    () => {
      throw new Error('wires cut');
    },
    'wires cut',
  ],
  ['rejects', () => Promise.reject(new Error('wires cut')), 'wires cut'],
  ['throws something other than an error', () => Promise.reject('no words'), 'no words'],
])('a source that %s gives the verdict unknown, and other solutions are still sent', async (_, verdict, reason) => {
  const { submitter, source, events } = submitterWith();
  source.verdict = verdict as () => Promise<Verdict>;
  submitter.submit(solutionOf(1), CPU, running);
  await submitter.settled();
  expect(events.of('verdict')).toMatchObject([{ outcome: 'unknown', reason: `the source failed: ${reason}` }]);
  source.verdict = () => ({ outcome: 'accepted', reason: '' });
  submitter.submit(solutionOf(2), CPU, running);
  await submitter.settled();
  expect(events.of('verdict').at(-1)).toMatchObject({ outcome: 'accepted', nonce: 2n });
});

test('settled waits until nothing is pending', async () => {
  const { submitter, source, events } = submitterWith();
  await submitter.settled();
  const answers: (() => void)[] = [];
  source.verdict = () => new Promise((resolve) => answers.push(() => resolve({ outcome: 'accepted', reason: '' })));
  for (const number of [1, 2]) submitter.submit(solutionOf(number), CPU, running);
  const settled = vi.fn();
  const waiting = submitter.settled().then(settled);
  await vi.waitFor(() => expect(answers).toHaveLength(2), { timeout: 60_000 });
  answers[1]();
  await vi.waitFor(() => expect(events.of('verdict')).toHaveLength(1), { timeout: 60_000 });
  await new Promise((resolve) => setImmediate(resolve));
  expect(settled).not.toHaveBeenCalled();
  answers[0]();
  await waiting;
  expect(events.of('verdict').map(({ nonce }) => nonce)).toEqual([2n, 1n]);
});

test('its caller learns the verdict, and of a solution that was submitted before, that it was', async () => {
  const { submitter } = submitterWith();
  expect(await submitter.submit(solutionOf(1), CPU, running)).toEqual({ outcome: 'accepted', reason: '' });
  expect(submitter.submit(solutionOf(1), CPU, running)).toBeUndefined();
});

test('it tells how many submissions are pending', async () => {
  const counts: number[] = [];
  const { submitter } = submitterWith({ pending: (count) => counts.push(count) });
  for (const number of [1, 2]) submitter.submit(solutionOf(number), CPU, running);
  await submitter.settled();
  await vi.waitFor(() => expect(counts).toEqual([1, 2, 1, 0]), { timeout: 60_000 });
});

test('the source gets the signal that asks it to end', async () => {
  const { submitter, source } = submitterWith();
  const submit = vi.spyOn(source, 'submit');
  const stop = new AbortController();
  submitter.submit(solutionOf(1), CPU, stop.signal);
  await submitter.settled();
  expect(submit).toHaveBeenCalledExactlyOnceWith(solutionOf(1), stop.signal);
});

test('only the last solutions are remembered, so that the memory is bounded', async () => {
  const { submitter, numbers } = submitterWith();
  for (let number = 0; number < REMEMBERED; number++) submitter.submit(solutionOf(number), CPU, running);
  submitter.submit(solutionOf(0), CPU, running);
  submitter.submit(solutionOf(REMEMBERED), CPU, running);
  // The oldest is forgotten, the others are not.
  submitter.submit(solutionOf(1), CPU, running);
  submitter.submit(solutionOf(0), CPU, running);
  submitter.submit(solutionOf(REMEMBERED), CPU, running);
  await submitter.settled();
  expect(numbers()).toHaveLength(REMEMBERED + 2);
  expect(numbers().slice(REMEMBERED)).toEqual([REMEMBERED, 0]);
});

test.each([
  ['accepted', 'accepted-block'],
  ['unknown', 'unanswered-block'],
  ['rejected', 'refused-block'],
  ['stale', 'refused-block'],
] as const)('a block whose verdict is %s is told as %s, with its header and its source', async (outcome, type) => {
  const { submitter, source, events } = submitterWith();
  source.verdict = () => ({ outcome, reason: '', by: 'http://two' });
  submitter.submit(solutionOf(100), CPU, running);
  await submitter.settled();
  const { header } = solutionOf(100);
  expect(events.all.slice(-2)).toMatchObject([
    { type: 'verdict', outcome },
    { type, header, source: 'http://two', device: 'cpu', isRelay: false },
  ]);
});

test('nothing more is told of a block that was handed to a process that never answers', async () => {
  const { submitter, source, events } = submitterWith();
  source.verdict = () => ({ outcome: 'delivered', reason: '' });
  submitter.submit(solutionOf(100), CPU, running);
  await submitter.settled();
  expect(events.all.at(-1)).toMatchObject({ type: 'verdict', outcome: 'delivered' });
});

test('a block is told as sent once its source has it, with the source that gave its work, and before the answer', async () => {
  const { submitter, source, events } = submitterWith();
  let answer: (verdict: Verdict) => void = () => {};
  let submittedBefore = false;
  source.verdict = () => {
    submittedBefore = events.of('sent-block').length === 0;
    return new Promise<Verdict>((resolve) => {
      answer = resolve;
    });
  };
  Object.assign(source, { nameOf: () => 'http://two' });
  submitter.submit(solutionOf(100), CPU, running);
  expect(submittedBefore).toBe(true);
  const { header } = solutionOf(100);
  expect(events.all.at(-1)).toMatchObject({ type: 'sent-block', header, source: 'http://two', device: 'cpu' });
  answer({ outcome: 'accepted', reason: '' });
  await submitter.settled();
  expect(events.all.at(-1)).toMatchObject({ type: 'accepted-block', source: 'http://two' });
});

test('a block of stale work is not sent, and not told as sent or refused', async () => {
  const { submitter, events } = submitterWith({ isStale: () => true });
  submitter.submit(solutionOf(100), CPU, running);
  await submitter.settled();
  expect(events.all.map(({ type }) => type)).toEqual(['solution', 'verdict']);
});

test.each([[undefined], [true]] as const)(
  'a block whose work is of another coordinator (%s) says so',
  async (isElsewhere) => {
    const { submitter, events } = submitterWith();
    submitter.submit(solutionOf(100), { ...CPU, ...(isElsewhere && { isElsewhere }) }, running);
    await submitter.settled();
    for (const type of ['sent-block', 'accepted-block'] as const) {
      expect(events.of(type).map((event) => [event.isElsewhere, 'isElsewhere' in event])).toEqual([
        [isElsewhere, isElsewhere === true],
      ]);
    }
  },
);

test('a share that is no block has a verdict, and nothing is told of a block', async () => {
  const { submitter, events } = submitterWith();
  const share = makeWork(1, { blockTarget: new Uint8Array(32) });
  submitter.submit(verify(prepareJob(share), 1n).solution!, CPU, running);
  await submitter.settled();
  expect(events.all.map((event) => [event.type, 'isBlock' in event && event.isBlock])).toEqual([
    ['solution', false],
    ['verdict', false],
  ]);
});
