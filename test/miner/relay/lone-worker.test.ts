import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { LoneWorker } from '#pickaxe/miner/relay/accounts.js';
import type { Solution } from '#pickaxe/protocol/chain/verify.js';
import { makeWork, Recorder } from '../../fakes.ts';

let nowMs: number;
let recorder: Recorder;
beforeEach(() => {
  vi.useFakeTimers();
  nowMs = 0;
  recorder = new Recorder();
});
afterEach(() => vi.useRealTimers());

function worker({ hashes = true } = {}): LoneWorker {
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  return new LoneWorker({ relay: 'external-worker', worker: 'theirs', emit: recorder.listen, clock, hashes });
}

/** A solution that took a million hashes on average. */
const solution = (isBlock: boolean) => ({ work: makeWork(1e6), isBlock }) as Solution;
const told = () => recorder.of('relay').at(-1)!.workers[0];

it('counts what became of each solution: only an accepted one can be a block, and has a time', () => {
  const lone = worker();
  nowMs = 1_000;
  for (const outcome of ['rejected', 'stale', 'unknown'] as const) lone.brought(solution(true), outcome);
  lone.wasWrong('rejected');
  lone.wasWrong('duplicate');
  vi.advanceTimersByTime(5_000);
  expect(told()).toMatchObject({ accepted: 0, rejected: 3, stale: 1, duplicate: 1, blocks: 0, hashesPerSecond: 0 });
  expect(told()).not.toHaveProperty('lastShareSeconds');
  lone.brought(solution(true), 'accepted');
  lone.brought(solution(false), 'accepted');
  nowMs = 11_000;
  vi.advanceTimersByTime(5_000);
  expect(told()).toMatchObject({ accepted: 2, blocks: 1, lastShareSeconds: 10 });
  lone.end();
});

it('has the hashrate that its accepted solutions of the last ten minutes stand for', () => {
  const lone = worker();
  nowMs = 100_000;
  for (let i = 0; i < 5; i++) lone.brought(solution(true), 'accepted');
  vi.advanceTimersByTime(5_000);
  expect(told().hashesPerSecond).toBeCloseTo(50_000, -1);
  nowMs = 690_000;
  lone.brought(solution(true), 'accepted');
  vi.advanceTimersByTime(5_000);
  expect(told().hashesPerSecond).toBeCloseTo(6e6 / 600, -1);
  nowMs = 710_000;
  vi.advanceTimersByTime(5_000);
  expect(told().hashesPerSecond).toBeCloseTo(1e6 / 600, -1);
  lone.end();
});

it('counts a solution for ten minutes, to the millisecond', () => {
  const lone = worker();
  nowMs = 100_000;
  lone.brought(solution(true), 'accepted');
  const rateAt = (ms: number) => {
    nowMs = ms;
    vi.advanceTimersByTime(5_000);
    return told().hashesPerSecond;
  };
  expect(rateAt(699_999)).toBeCloseTo(1e6 / 600, -1);
  expect(rateAt(700_000)).toBe(0);
  lone.end();
});

it('has none where its solutions stand for no hashes', () => {
  const lone = worker({ hashes: false });
  nowMs = 100_000;
  lone.brought(solution(true), 'accepted');
  vi.advanceTimersByTime(5_000);
  expect(told()).toMatchObject({ accepted: 1, hashesPerSecond: 0 });
  lone.end();
});

it('tells at once when it gets work and when it has none left, with the difficulty of its work', () => {
  const lone = worker();
  lone.works(makeWork(1e6).target);
  expect(recorder.of('relay').at(-1)).toMatchObject({ sessions: 1, workers: [{ sessions: 1 }] });
  expect(told().difficulty).toBeCloseTo(1e6, -1);
  lone.works(undefined);
  expect(recorder.of('relay').at(-1)).toMatchObject({ sessions: 0, workers: [{ sessions: 0 }] });
  expect(told()).not.toHaveProperty('difficulty');
  lone.end();
});

it('tells at once that it has no work, how it does every five seconds, and at its end what it has done', () => {
  nowMs = 100_000;
  const lone = worker();
  const events = () => recorder.of('relay');
  expect(events()).toEqual([
    expect.objectContaining({ relay: 'external-worker', sessions: 0, hashesPerSecond: 0, workers: [told()] }),
  ]);
  expect(told()).toMatchObject({ name: 'theirs', accepted: 0, hashesPerSecond: 0 });
  lone.works(makeWork(1e6).target);
  lone.works(makeWork(1e6).target);
  expect(events()).toHaveLength(2);
  vi.advanceTimersByTime(4_999);
  expect(events()).toHaveLength(2);
  vi.advanceTimersByTime(1);
  expect(events()).toHaveLength(3);
  nowMs = 110_000;
  lone.brought(solution(true), 'accepted');
  lone.end();
  expect(events().at(-1)).toMatchObject({ sessions: 0, workers: [{ accepted: 1, sessions: 0 }] });
  expect(told().hashesPerSecond).toBeCloseTo(1e5, -1);
  const idle = worker();
  idle.brought(solution(true), 'stale');
  idle.end();
  expect(told()).toMatchObject({ stale: 1 });
  expect(vi.getTimerCount()).toBe(0);
});
