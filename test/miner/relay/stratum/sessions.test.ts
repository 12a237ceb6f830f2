/** What the sessions of a server do together, with sessions that are as the test says. */

import { afterEach, describe, expect, it } from 'vitest';
import { type Session, Sessions } from '#pickaxe/miner/relay/stratum/session.js';
import { makeWork, Recorder } from '../../../fakes.ts';
import { SessionBench } from './session-bench.ts';

interface Fake {
  jobs: { isLearning: boolean; hashesPerSecond: number } | undefined;
  isIdle: boolean;
  closed: unknown[];
  ticks: number[];
}

function added(sessions: Sessions, count: number, more: Partial<Fake> = {}): Fake[] {
  return Array.from({ length: count }, () => {
    const fake: Fake = { jobs: { isLearning: true, hashesPerSecond: 1 }, isIdle: true, closed: [], ticks: [], ...more };
    fake.closed = [];
    fake.ticks = [];
    const session = {
      get jobs() {
        return fake.jobs;
      },
      isIdle: () => fake.isIdle,
      close: (...why: unknown[]) => fake.closed.push(why),
      tick: (ms: number) => fake.ticks.push(ms),
    };
    sessions.add(session as unknown as Session);
    return fake;
  });
}

const benches: SessionBench[] = [];
afterEach(async () => {
  for (const bench of benches.splice(0)) await bench.end();
});

describe('sessions that learn', () => {
  it('have a share each 0.15 s, or 1,000 a second all together, counted once a second', () => {
    const sessions = new Sessions();
    added(sessions, 150);
    added(sessions, 10, { jobs: { isLearning: true, hashesPerSecond: 0 } });
    added(sessions, 10, { jobs: { isLearning: false, hashesPerSecond: 1 } });
    added(sessions, 10, { jobs: undefined });
    const secondsAt = (ms: number) => {
      sessions.tick(ms);
      return sessions.learningSeconds();
    };
    expect([sessions.learningSeconds(), secondsAt(1_000)]).toEqual([0.15, 0.15]);
    const more = added(sessions, 50);
    expect([secondsAt(1_999), secondsAt(2_000)]).toEqual([0.15, 0.2]);
    for (const each of more) each.jobs = { isLearning: false, hashesPerSecond: 1 };
    expect([secondsAt(2_999), secondsAt(3_000)]).toEqual([0.2, 0.15]);
    expect(more[0].ticks).toEqual([1_999, 2_000, 2_999, 3_000]);
  });
});

it('as many idle sessions as wanted make room, the oldest first', () => {
  const sessions = new Sessions();
  const [busy, ...idle] = [...added(sessions, 1, { isIdle: false }), ...added(sessions, 3)];
  sessions.makeRoom(0, 0);
  expect(idle.flatMap(({ closed }) => closed)).toEqual([]);
  sessions.makeRoom(2, 0);
  const why = ['it brings nothing, and the server is full', 'idle'];
  expect([busy, ...idle].map(({ closed }) => closed)).toEqual([[], [why], [why], []]);
});

it('all sessions are told when the server ends', () => {
  const sessions = new Sessions();
  const all = added(sessions, 3, { isIdle: false });
  sessions.closeAll();
  expect(all.map(({ closed }) => closed)).toEqual(Array(3).fill([['the server ends']]));
});

it('what a server says of itself has the sessions with a worker, their rates and the refusals so far', () => {
  const sessions = new Sessions();
  added(sessions, 2, { jobs: { isLearning: true, hashesPerSecond: 5 } });
  added(sessions, 1, { jobs: { isLearning: false, hashesPerSecond: 7 } });
  added(sessions, 4, { jobs: undefined });
  const recorded = new Recorder();
  const bench = new SessionBench();
  benches.push(bench);
  const refused = { flood: 3 } as Parameters<typeof sessions.report>[3];
  sessions.report('stratum', recorded.listen, bench.world, refused, 5_000);
  (refused as { flood: number }).flood = 4;
  const rest = { sessions: 3, hashesPerSecond: 17, workers: [] };
  expect(recorded.all).toEqual([{ type: 'relay', relay: 'stratum', ...rest, refused: { flood: 3 } }]);
});

it('a session is idle from an age on while its shares prove less than a rate', async () => {
  const bench = new SessionBench();
  benches.push(bench);
  await bench.give(makeWork(2 ** 60));
  const [client, silent] = [bench.client(), bench.client()];
  client.login('rig', 'd=0.01');
  bench.nowMs += 10_000;
  for (let share = 0; share < 3; share++) {
    bench.nowMs += 1_000;
    client.session.jobs?.share(2 ** 32 / 100, bench.nowMs);
  }
  const rate = client.session.jobs!.hashesPerSecond;
  expect(rate).toBeGreaterThan(0);
  const idle = (ms: number, least: number) =>
    [client, silent].map(({ session }) => session.isIdle(ms, least, bench.nowMs));
  expect(idle(13_000, rate)).toEqual([false, true]);
  expect(idle(13_000, rate * 1.001)).toEqual([true, true]);
  expect(idle(13_001, rate * 1.001)).toEqual([false, false]);
  expect(idle(0, 0)).toEqual([false, false]);
});
