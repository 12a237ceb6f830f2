import { describe, expect, it } from 'vitest';
import { JobTable, numberAfter, rollMs, type SharedJob, SharedJobs } from '#pickaxe/miner/relay/stratum/jobs.js';
import { type Job, prepareJob } from '#pickaxe/protocol/chain/job.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { creationTimeOf, type Work } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../../fakes.ts';

it.each([
  [undefined, 500],
  [0, 30_000],
  [1e9, 30_000],
  [10e12, 7_037],
  [140e12, 503],
  [5e15, 100],
])('a miner of %d H/s gets a job after %d ms at the latest', (rate, ms) => {
  expect(Math.round(rollMs(rate))).toBe(ms);
});

it.each([
  [0, 1],
  [1, 2],
  [2 ** 32 - 2, 2 ** 32 - 1],
  [2 ** 32 - 1, 1],
])('after the job %d comes the job %d: an id has 8 hex digits, and is never 0', (last, next) => {
  expect(numberAfter(last)).toBe(next);
});

describe('jobs of a work', () => {
  /** Jobs for sessions at a source whose creation time can always be moved, until the test says otherwise. */
  function sharing() {
    const world = { canMove: true };
    const work = makeWork(4);
    let moved = 0n;
    const jobOf = (of: Work, earlier?: Job) =>
      earlier && !world.canMove ? undefined : prepareJob(of, creationTimeOf(of.header) + moved++);
    return { world, work, jobs: new SharedJobs({ jobOf }, 100) };
  }

  it('are the same for all sessions that need one within 100 ms, again and again', () => {
    const { work, jobs } = sharing();
    const ids = [0, 99, 100, 199, 200, 299, 500].map((nowMs) => jobs.later(work, undefined, nowMs)?.number);
    expect(ids).toEqual([1, 1, 2, 2, 3, 3, 4]);
  });

  it('are another one for a session that has had the last one, which others get, too', () => {
    const { work, jobs } = sharing();
    const first = jobs.later(work, undefined, 0);
    const second = jobs.later(work, first, 50);
    expect([first?.number, second?.number]).toEqual([1, 2]);
    expect([jobs.later(work, undefined, 149), jobs.later(work, first, 149)]).toEqual([second, second]);
    expect(jobs.later(work, first, 150)?.number).toBe(3);
  });

  it('where the creation time cannot be moved are the last one, and none for those that have had it', () => {
    const { world, work, jobs } = sharing();
    const first = jobs.later(work, undefined, 0);
    world.canMove = false;
    expect([jobs.later(work, undefined, 500), jobs.later(work, first, 500)]).toEqual([first, undefined]);
    const again = jobs.again(first!);
    expect(again).toMatchObject({ number: 2, id: '00000002', header: first!.header });
    expect(jobs.later({ ...work }, first, 500)?.number).toBe(3);
  });
});

describe('the jobs of a session', () => {
  const terms = { target: targetForDifficulty(4), difficulty: 4 };
  const shared = (number: number): SharedJob => ({ ...job, number, header: `${number}` });
  const jobs = new SharedJobs({ jobOf: (work) => prepareJob(work) }, 100);
  const job = jobs.later(makeWork(4), undefined, 0)!;

  it('are its last 32, and of those before it is known that it may have had them', () => {
    const table = new JobTable();
    expect([table.get(5), table.hasHad(5), table.works()]).toEqual([undefined, false, []]);
    for (let number = 5; number < 5 + 33; number++) table.add(shared(number), terms);
    expect([4, 5, 6, 37, 38].map((number) => table.get(number) !== undefined)).toEqual([
      false,
      false,
      true,
      true,
      false,
    ]);
    expect([4, 5, 6, 37, 38].map((number) => table.hasHad(number))).toEqual([false, true, false, false, false]);
    expect(table.works()).toHaveLength(32);
  });

  it('share what they know of a header that is given again', () => {
    const table = new JobTable();
    const harder = { target: targetForDifficulty(8), difficulty: 8 };
    table.add({ ...shared(1), header: 'same' }, terms);
    table.add({ ...shared(2), header: 'same' }, harder, { ...terms, untilMs: 7 });
    table.add({ ...shared(3), header: 'other' }, harder);
    const [one, two, three] = [1, 2, 3].map((number) => table.get(number)!);
    expect(two.header).toBe(one.header);
    expect([two.header.first, three.header.first]).toEqual([terms, harder]);
    expect([two.terms, two.former?.untilMs, three.former]).toEqual([harder, 7, undefined]);
  });
});
