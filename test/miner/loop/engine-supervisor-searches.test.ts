import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { makeWork } from '../../fakes.ts';
import { turns } from '../../turns.ts';
import { assignmentOf, NEVER, SteppedEngine, supervise } from './stepped-engine.ts';

/** A supervised engine that has been opened, and has no work yet. */
async function supervised(engine = new SteppedEngine(), options: Parameters<typeof supervise>[1] = {}) {
  const supervision = supervise(engine, options);
  await turns();
  return { engine, ...supervision };
}

describe('an assignment', () => {
  it('is searched at once by a device in service, with a job of its own search target', async () => {
    const { engine, supervisor } = await supervised();
    const [first, second] = [assignmentOf(), assignmentOf()];
    supervisor.assign(first);
    supervisor.assign(second);
    first.end();
    expect(engine.searches.map(({ job, ranges }) => [job.work, ranges])).toEqual([
      [first.job.work, first.space],
      [second.job.work, second.space],
    ]);
    expect(engine.running).toEqual([engine.latest]);
  });

  it('that came while the device was opening is searched once it is open; none is searched when there is none', async () => {
    const engine = new SteppedEngine();
    const { supervisor } = supervise(engine);
    supervisor.assign(assignmentOf());
    const second = assignmentOf();
    supervisor.assign(second);
    expect(engine.searches).toEqual([]);
    await turns();
    expect(engine.searches.map(({ ranges }) => ranges)).toEqual([second.space]);
    supervisor.assign(undefined);
    supervisor.pause('user', 'you asked for it');
    supervisor.resume('user');
    expect(engine.searches).toHaveLength(1);
  });

  it('that has ended is not searched again when its device resumes', async () => {
    const { engine, supervisor } = await supervised();
    const assignment = assignmentOf();
    supervisor.assign(assignment);
    supervisor.pause('user', 'you asked for it');
    assignment.end();
    supervisor.resume('user');
    expect(engine.searches).toHaveLength(1);
  });

  it('is used up once its search ends by itself, and not when the search was told to end', async () => {
    const { engine, supervisor, exhausted, stop, done } = await supervised();
    const [first, second, third] = [assignmentOf(), assignmentOf(), assignmentOf()];
    supervisor.assign(first);
    engine.latest.end();
    await turns();
    expect(exhausted).toEqual([first]);
    supervisor.assign(second);
    supervisor.pause('user', 'you asked for it');
    await turns();
    supervisor.resume('user');
    supervisor.assign(third);
    second.end();
    await turns();
    stop.abort();
    await done;
    expect(engine.searches.every(({ isOver }) => isOver)).toBe(true);
    expect(exhausted).toEqual([first]);
  });

  it('keeps no listener of the searches that have ended', async () => {
    const { engine, supervisor } = await supervised();
    const assignment = assignmentOf();
    supervisor.assign(assignment);
    for (let pauses = 0; pauses < 3; pauses++) {
      supervisor.pause('user', 'you asked for it');
      await turns();
      supervisor.resume('user');
    }
    expect(engine.searches).toHaveLength(4);
    expect(getEventListeners(assignment.stop, 'abort')).toHaveLength(1);
    engine.latest.end();
    await turns();
    expect(getEventListeners(assignment.stop, 'abort')).toEqual([]);
  });

  it('is not searched after mining has ended', async () => {
    const { engine, supervisor, stop, done } = await supervised();
    stop.abort();
    await done;
    supervisor.assign(assignmentOf());
    supervisor.adjustProofs();
    expect(engine.searches).toEqual([]);
    expect(engine.closed).toBe(1);
  });
});

describe('a pause', () => {
  const said = ({ events }: Pick<Awaited<ReturnType<typeof supervised>>, 'events'>) =>
    events.of('device').map(({ state, reason }) => (reason === undefined ? state : `${state}: ${reason}`));

  it('is told once for each reason, and again only with other words', async () => {
    const { supervisor, events } = await supervised();
    supervisor.pause('schedule', 'it is night');
    supervisor.pause('schedule', 'it is night');
    expect(said({ events })).toEqual(['ready', 'paused: it is night']);
    supervisor.pause('schedule', 'it is still night');
    supervisor.pause('user', 'you asked for it');
    expect(said({ events }).slice(2)).toEqual([
      'paused: it is still night',
      'paused: it is still night; you asked for it',
    ]);
  });

  it('ends when its last reason does; reasons that do not hold change nothing', async () => {
    const { engine, supervisor, events } = await supervised();
    supervisor.assign(assignmentOf());
    supervisor.resume('user');
    expect(said({ events })).toEqual(['ready']);
    expect(engine.searches).toHaveLength(1);
    supervisor.pause('user', 'you asked for it');
    supervisor.pause('battery', 'it runs on its battery');
    expect(engine.running).toEqual([]);
    supervisor.resume('user');
    supervisor.resume('user');
    expect(engine.searches).toHaveLength(1);
    supervisor.resume('battery');
    supervisor.resume('battery');
    expect(said({ events }).slice(3)).toEqual(['paused: it runs on its battery', 'ready']);
    expect(engine.searches).toHaveLength(2);
    expect(engine.running).toEqual([engine.latest]);
  });

  it('of a device that is not open is told when it is, and one that has ended by then is not', async () => {
    const engine = new SteppedEngine();
    const { supervisor, events } = supervise(engine);
    supervisor.assign(assignmentOf());
    supervisor.pause('user', 'you asked for it');
    supervisor.pause('battery', 'it runs on its battery');
    supervisor.resume('user');
    expect(events.all).toEqual([]);
    await turns();
    expect(said({ events })).toEqual(['paused: it runs on its battery']);
    expect(engine.searches).toEqual([]);
    supervisor.resume('battery');
    expect(engine.running).toHaveLength(1);
  });

  it('of a device that is out of service changes nothing that is told', async () => {
    const { supervisor, events, stop, done } = await supervised();
    stop.abort();
    await done;
    supervisor.pause('user', 'you asked for it');
    supervisor.resume('user');
    expect(said({ events })).toEqual(['ready']);
  });
});

describe('the difficulty of proofs', () => {
  /** Mines with a device that has measured a rate at which proofs must be harder. */
  async function fastDevice() {
    const supervision = await supervised(new SteppedEngine(), { firstProofDifficulty: 1_000 });
    const { engine, supervisor, clock } = supervision;
    const assignment = assignmentOf();
    supervisor.assign(assignment);
    /** Reports hashes for a second with proofs of this difficulty, four a second. */
    const hashAt = async (difficulty: number) => {
      clock.advance(1_000);
      engine.latest.report({ hashes: 4 * difficulty });
      await turns();
    };
    return { ...supervision, assignment, hashAt };
  }
  const isOnly = (engine: SteppedEngine, searches: number) => {
    expect(engine.searches).toHaveLength(searches);
    expect(engine.running).toEqual([engine.latest]);
  };

  it('restarts the search when it has changed, each time, and does not when it has not', async () => {
    const { engine, supervisor, hashAt, exhausted } = await fastDevice();
    supervisor.adjustProofs();
    isOnly(engine, 1);
    await hashAt(1_000);
    supervisor.adjustProofs();
    isOnly(engine, 1);
    for (const [times, difficulty] of [2_000, 4_000, 2_000].entries()) {
      await hashAt(difficulty);
      supervisor.adjustProofs();
      isOnly(engine, 2 + times);
      supervisor.adjustProofs();
      isOnly(engine, 2 + times);
    }
    const targets = engine.searches.map(({ job }) => job.searchTarget);
    expect(targets[1]).toEqual(targets[3]);
    expect(new Set(targets.map((target) => target.join())).size).toBe(3);
    await turns();
    expect(exhausted).toEqual([]);
  });

  it('restarts only the search that goes on, while an earlier one takes its time to end', async () => {
    const { engine, supervisor, hashAt } = await fastDevice();
    engine.lingers = true;
    supervisor.pause('user', 'you asked for it');
    supervisor.resume('user');
    await hashAt(2_000);
    supervisor.adjustProofs();
    isOnly(engine, 3);
    supervisor.adjustProofs();
    isOnly(engine, 3);
    await hashAt(4_000);
    supervisor.pause('user', 'you asked for it');
    supervisor.adjustProofs();
    expect(engine.searches).toHaveLength(3);
    expect(engine.running).toEqual([]);
  });

  it('restarts no search that has used up its space', async () => {
    const { engine, supervisor, hashAt, exhausted } = await fastDevice();
    await hashAt(2_000);
    engine.latest.end();
    await turns();
    supervisor.adjustProofs();
    expect(engine.searches).toHaveLength(1);
    expect(exhausted).toHaveLength(1);
  });

  it('gives a restarted search no second job switch', async () => {
    const { engine, supervisor, events, hashAt } = await fastDevice();
    const cut = assignmentOf(makeWork(NEVER), 500);
    supervisor.assign(cut);
    await hashAt(2_000);
    supervisor.adjustProofs();
    await hashAt(2_000);
    expect(engine.searches).toHaveLength(3);
    expect(events.of('job-switch')).toHaveLength(1);
  });
});

describe('reports', () => {
  it('count their hashes, with the difficulty of a block, also those that come after the end of the search', async () => {
    const engine = new SteppedEngine('gpu0');
    engine.lingers = true;
    const { supervisor, events } = await supervised(engine);
    const assignment = assignmentOf(makeWork(2 ** 30, { until: 'replaced', blockTarget: makeWork(2 ** 40).target }));
    supervisor.assign(assignment);
    engine.latest.report({ hashes: 10 });
    supervisor.assign(undefined);
    assignment.end();
    engine.latest.report({ hashes: 20 });
    await turns();
    const about = { type: 'hashes', device: 'gpu0', difficulty: 2 ** 40 };
    expect(events.of('hashes')).toEqual([
      { ...about, hashes: 10 },
      { ...about, hashes: 20 },
    ]);
  });

  it('prove each candidate of an assignment once, whichever search and report it is in', async () => {
    const { engine, supervisor, events, solved } = await supervised(undefined, { firstProofDifficulty: 1 });
    const work = makeWork(1, { until: 'replaced' });
    supervisor.assign(assignmentOf(work));
    engine.latest.report({ candidates: [1n, 2n, 1n] });
    engine.latest.report({ candidates: [2n, 3n] });
    await turns();
    supervisor.pause('user', 'you asked for it');
    await turns();
    supervisor.resume('user');
    engine.latest.report({ candidates: [3n, 4n] });
    await turns();
    expect(solved.map(({ nonce, work }) => [nonce, work])).toEqual([1n, 2n, 3n, 4n].map((nonce) => [nonce, work]));
    expect(events.of('proof').map(({ device, hashes }) => [device, hashes])).toEqual(Array(4).fill(['cpu', 1]));
    supervisor.assign(assignmentOf(work));
    engine.latest.report({ candidates: [1n] });
    await turns();
    expect(events.of('proof')).toHaveLength(5);
    expect(events.of('hardware-error')).toEqual([]);
  });
});

describe('the facts of a device', () => {
  it('are what it has told last, also if it has told them while it was opening', async () => {
    const engine = new SteppedEngine('gpu0');
    const { events } = supervise(engine);
    engine.listener.changed!({ model: 'early', kernel: 'wgsl', why: 'wgsl 64' });
    engine.info = { model: 'card', kernel: 'wgsl', why: 'wgsl 128', bus: '0000:65:00.0', detail: 'in full' };
    await turns();
    engine.listener.changed!({ model: 'card', kernel: 'wgsl', why: 'wgsl 256', threads: 1 });
    const [ready, changed, ...more] = events.of('device');
    expect(more).toEqual([]);
    const about = { type: 'device', device: 'gpu0', kind: 'cpu', state: 'ready', model: 'card', kernel: 'wgsl' };
    expect(ready).toStrictEqual({
      ...about,
      description: 'card: kernel wgsl 128',
      bus: '0000:65:00.0',
      detail: 'in full',
    });
    expect(changed).toStrictEqual({ ...about, description: 'card: kernel wgsl 256' });
  });

  it.each([
    [undefined, 'chip: kernel avx2 (asked for)'],
    [1, 'chip: kernel avx2, 1 thread (asked for)'],
    [2, 'chip: kernel avx2, 2 threads (asked for)'],
  ])('name the number of its threads if it has one: %s', async (threads, description) => {
    const engine = new SteppedEngine();
    engine.info = { model: 'chip', kernel: 'avx2', why: 'asked for', ...(threads !== undefined && { threads }) };
    const { events } = await supervised(engine);
    expect(events.of('device')).toMatchObject([{ description }]);
  });
});
