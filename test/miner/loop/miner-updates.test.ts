import { describe, expect, it } from 'vitest';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import type { FakeSource } from '../../fakes.ts';
import { makeWork } from '../../fakes.ts';
import { turns } from '../../turns.ts';
import { mineStepped, NEVER, SteppedEngine } from './stepped-engine.ts';

/** The one-line form of the events that updates cause, and of what the device then does. */
function said(event: MinerEvent): string[] {
  switch (event.type) {
    case 'work':
      return [`work ${event.chain}`];
    case 'work-ended':
      return [`${event.reason} ${event.chain}`];
    case 'new-cut':
      return [`cut ${event.chain}`];
    case 'job-switch':
      return [`switch ${event.switchSeconds}`];
    default:
      return [];
  }
}

const A = 3;
const B = 7;

/** A work of a chain, which every nonce solves. */
function workOf(chain: number): Work {
  return { ...makeWork(1), chain };
}

async function world() {
  const engine = new SteppedEngine();
  const { source, events, clock, miner } = mineStepped([engine], { firstProofDifficulty: 1 });
  await turns();
  const a = workOf(A);
  /** Acts, and returns what was said about it; the device reports that it has searched, 2 s later. */
  const after = async (act: (source: FakeSource) => unknown): Promise<string[]> => {
    const before = events.all.length;
    act(source);
    await turns();
    clock.advance(2_000);
    for (const search of engine.running) search.report({ beganMs: clock.monotonicMs() });
    await turns();
    const searching = engine.running.map(({ job }) => `searches ${job.work.chain}`);
    return [...events.all.slice(before).flatMap(said), ...searching];
  };
  return { engine, source, events, miner, a, after, solve: () => engine.latest.report({ candidates: [1n] }) };
}
type World = Awaited<ReturnType<typeof world>>;

const STATES = {
  'no work yet': async () => {},
  'a work': async ({ a, after }: World) => after((source) => source.work(a)),
  'a rest': async ({ a, after }: World) => {
    await after((source) => source.work(a));
    await after((source) => source.rest());
  },
  'a New Cut': async ({ a, after }: World) => {
    await after((source) => source.work(a));
    await after((source) => source.stale(a));
  },
  'a cancelled work': async ({ a, after }: World) => {
    await after((source) => source.work(a));
    await after((source) => source.stale('cancelled', a));
  },
  'a solution': async ({ a, after, solve }: World) => {
    await after((source) => source.work(a));
    await after(solve);
  },
} satisfies Record<string, (world: World) => Promise<unknown>>;

const UPDATES = {
  'that work': (source: FakeSource, a: Work) => source.work(a),
  'another work': (source: FakeSource) => source.work(workOf(B)),
  'a rest': (source: FakeSource) => source.rest(),
  'a New Cut': (source: FakeSource, a: Work) => source.stale(a),
  'a cancellation': (source: FakeSource, a: Work) => source.stale('cancelled', a),
  'the end of its time': (source: FakeSource, a: Work) => source.stale('expired', a),
  'a New Cut of other works': (source: FakeSource) => source.stale(makeWork(NEVER), makeWork(NEVER)),
  'a lost source': (source: FakeSource) => source.lost(),
} satisfies Record<string, (source: FakeSource, a: Work) => unknown>;

type Update = keyof typeof UPDATES;

const GOES_ON = [`searches ${A}`];
const BEGINS_A = [`work ${A}`, `searches ${A}`];
const BEGINS_B = [`work ${B}`, `searches ${B}`];
/** What a New Cut leads to once there is new work: it came 2 s before the work, and the device began 2 s after that. */
const SWITCHES_TO_B = [`work ${B}`, 'switch 4', `searches ${B}`];

/** What is said and done after each update, in the order of `UPDATES`. */
const TABLE: Record<keyof typeof STATES, Record<Update, string[]>> = {
  'no work yet': row(BEGINS_A, BEGINS_B, [], [], [], [], [], []),
  'a work': row(
    GOES_ON,
    BEGINS_B,
    [`cancelled ${A}`],
    [`cut ${A}`],
    [`cancelled ${A}`],
    [`expired ${A}`],
    GOES_ON,
    GOES_ON,
  ),
  'a rest': row(BEGINS_A, BEGINS_B, [], [], [], [], [], []),
  'a New Cut': row([], SWITCHES_TO_B, [], [], [], [], [], []),
  'a cancelled work': row([], BEGINS_B, [], [], [], [], [], []),
  'a solution': row([], BEGINS_B, [], [], [], [], [], []),
};

function row(...cells: string[][]): Record<Update, string[]> {
  return Object.fromEntries(Object.keys(UPDATES).map((update, i) => [update, cells[i]])) as Record<Update, string[]>;
}

/** The updates that make the work stale. It is not searched again, even if the source gives it again. */
const ENDINGS: readonly Update[] = ['a New Cut', 'a cancellation', 'the end of its time'];

describe.each(Object.entries(TABLE))('after %s', (state, cells) => {
  it.each(Object.entries(cells))('%s has its due, once', async (name, expected) => {
    const here = await world();
    await STATES[state as keyof typeof STATES](here);
    const update = name as Update;
    expect(await here.after((source) => UPDATES[update](source, here.a))).toEqual(expected);

    // The second time nothing ends again: what is searched goes on.
    const searching = expected.filter((line) => line.startsWith('searches'));
    if (update !== 'another work')
      expect(await here.after((source) => UPDATES[update](source, here.a))).toEqual(searching);

    const isOver = ENDINGS.includes(update) || ['a New Cut', 'a cancelled work', 'a solution'].includes(state);
    const again = await here.after((source) => source.work(here.a));
    if (isOver) expect(again).toEqual(searching);
    else if (searching.includes(`searches ${A}`)) expect(again).toEqual(GOES_ON);
    else expect(again).toEqual(BEGINS_A);

    const next = workOf(B + 1);
    const last = await here.after((source) => source.work(next));
    expect(last.filter((line) => !line.startsWith('switch'))).toEqual([`work ${B + 1}`, `searches ${B + 1}`]);
    expect(here.engine.running.map(({ job }) => job.work)).toEqual([next]);
  });
});

describe('a New Cut', () => {
  it('gives a switch only to the search of the next work, not of works after it', async () => {
    const { after, a, source, events, engine, miner } = await world();
    await after(() => source.work(a));
    miner.pause('user', 'you asked for it');
    await after(() => source.stale(a));
    await after(() => source.work(workOf(B)));
    miner.resume('user');
    await after(() => source.work(workOf(A)));
    expect(engine.running).toHaveLength(1);
    expect(events.of('job-switch')).toEqual([]);
  });
});

describe('a solution', () => {
  it('of a node’s work ends that work only: a late one of an earlier work changes nothing', async () => {
    const { after, a, source, engine, events } = await world();
    engine.lingers = true;
    await after(() => source.work(a));
    const b = workOf(B);
    await after(() => source.work(b));
    expect(await after(() => engine.searches[0].report({ candidates: [1n] }))).toEqual([`searches ${B}`]);
    expect(await after(() => engine.searches[0].report({ candidates: [2n] }))).toEqual([`searches ${B}`]);
    expect(await after(() => engine.searches[1].report({ candidates: [3n, 4n] }))).toEqual([`solved ${B}`]);
    expect(source.submitted.map(({ work, nonce }) => [work, nonce])).toEqual([
      [a, 1n],
      [b, 3n],
    ]);
    expect(events.of('verdict').map(({ device, isRelay }) => [device, isRelay])).toEqual(Array(2).fill(['cpu', false]));
  });
});
