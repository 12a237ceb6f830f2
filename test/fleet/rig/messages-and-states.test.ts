/** What a rig gets from each message of a coordinator, in each state in which the message can find it. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { givenWorkOf, messageBytes } from '#pickaxe/fleet/messages.js';
import { makeWork } from '../../fakes.ts';
import { pass, SUBJECTS, type World, world } from './world.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Longer than a rig gathers coordinators and than it waits before it asks for a work, and shorter than a silence. */
const SETTLED_MS = 700;
const RUN = 'a'.repeat(16);
const OTHER_RUN = 'b'.repeat(16);
const works = { a: makeWork(100), b: makeWork(200) };
const names = { a: `${RUN}-1`, b: `${RUN}-2`, x: `${RUN}-9` };

/** A rig, and one coordinator that says only what it is told to. */
class Stage {
  readonly world: World = world([], { helloPauses: { firstMs: 300, mostMs: 300 }, helloTimeoutMs: 100 });
  readonly #link = this.world.nats.link('c');
  #number = 10;
  hellos = 0;

  constructor() {
    this.#link.subscribe(SUBJECTS.hellosTo('c'), () => {
      this.hellos++;
    });
  }

  async sends(more: object): Promise<void> {
    const latestTimeMicros = Date.now() * 1000;
    const state = { instance: RUN, number: this.#number++, version: '1', latestTimeMicros, ended: [], lost: null };
    await this.sendsBytes(messageBytes({ ...state, work: null, ...more }));
  }

  /** @returns what the rig gets and does by a message */
  async after(message: object | Uint8Array): Promise<string> {
    const { follower } = this.world;
    const { length } = follower.updates;
    const { hellos } = this;
    await (message instanceof Uint8Array ? this.sendsBytes(message) : this.sends(message));
    const got = follower.updates.slice(length).map((update) => {
      if (update.kind === 'work') return update.work.chain === works.a.chain ? 'work a' : 'work b';
      return update.kind;
    });
    return [...got, ...(this.hellos > hellos ? ['asks'] : [])].join(', ') || '-';
  }

  async sendsBytes(data: Uint8Array): Promise<void> {
    this.#link.publish(SUBJECTS.work('c'), data);
    await pass(SETTLED_MS);
  }
}

const whole = (name: keyof typeof works) => ({ work: names[name], given: givenWorkOf(works[name], names[name]) });
const ended = (name: keyof typeof names) => ({ ended: [{ name: names[name], reason: 'new-cut' }] });
/** A number below those of all states that came before. */
const OLD = { number: 1 };

const STATES: Record<string, (stage: Stage) => Promise<void>> = {
  'nothing yet': async () => {},
  'mines a': (stage) => stage.sends(whole('a')),
  'knows a name': (stage) => stage.sends({ work: names.x }),
  'a has ended': async (stage) => {
    await stage.sends(whole('a'));
    await stage.sends({ work: null, ...ended('a') });
  },
  rests: async (stage) => {
    await stage.sends(whole('a'));
    await stage.sends({ work: null });
  },
  'b after a': async (stage) => {
    await stage.sends(whole('a'));
    await stage.sends(whole('b'));
  },
  lost: async (stage) => {
    await stage.sends(whole('a'));
    await pass(3_000);
  },
};

const MESSAGES: Record<string, object | Uint8Array> = {
  'no state': new TextEncoder().encode('{"work":"a"}'),
  'an older state': { ...whole('b'), ...OLD },
  'another run': { ...whole('b'), instance: OTHER_RUN },
  'work a': whole('a'),
  'work b': whole('b'),
  'name a': { work: names.a },
  'name b': { work: names.b },
  'no work': { work: null },
  'end of a': { work: null, ...ended('a') },
  'b, end of a': { ...whole('b'), ...ended('a') },
  'a, end of a': { ...whole('a'), ...ended('a') },
  'a, end of b': { ...whole('a'), ...ended('b') },
  'a, lost': { ...whole('a'), lost: 'no node' },
  'b, lost': { ...whole('b'), lost: 'no node' },
};

/** By message: what the rig gets, and whether it asks for a work, in each of the states above, in their order. */
const TABLE: [message: string, ...cells: string[]][] = [
  ['no state', '-', '-', 'asks', '-', '-', '-', '-'],
  ['an older state', 'work b', '-', 'asks', '-', '-', '-', 'work b'],
  ['another run', 'work b', '-', 'asks', '-', '-', '-', 'work b'],
  ['work a', 'work a', '-', 'work a', '-', 'work a', 'work a', 'work a'],
  ['work b', 'work b', 'work b', 'work b', 'work b', 'work b', '-', 'work b'],
  ['name a', 'asks', '-', 'asks', '-', 'work a', 'work a', 'work a'],
  ['name b', 'asks', 'asks', 'asks', 'asks', 'asks', '-', 'asks'],
  ['no work', '-', 'rest', '-', '-', '-', 'rest', 'rest'],
  ['end of a', '-', 'stale', '-', '-', 'stale', 'stale, rest', 'stale'],
  ['b, end of a', 'work b', 'stale, work b', 'work b', 'work b', 'stale, work b', 'stale', 'stale, work b'],
  ['a, end of a', '-', 'stale', '-', '-', 'stale', 'stale', 'stale'],
  ['a, end of b', 'work a', '-', 'work a', '-', 'work a', 'stale, work a', 'work a'],
  ['a, lost', 'work a, lost', 'lost', 'work a, lost', 'lost', 'work a, lost', 'lost', '-'],
  ['b, lost', 'work b, lost', 'lost', 'work b, lost', 'work b, lost', 'work b, lost', 'lost', '-'],
];

describe('a rig', () => {
  it.each(TABLE)('gets by “%s” what its state calls for', async (message, ...expected) => {
    const cells: Record<string, string> = {};
    for (const [state, reach] of Object.entries(STATES)) {
      const stage = new Stage();
      await reach(stage);
      cells[state] = await stage.after(MESSAGES[message]);
      await stage.world.follower.end();
    }
    expect(Object.values(cells), JSON.stringify(cells)).toEqual(expected);
  });

  it('gets nothing that is missing in this table', () => {
    expect(TABLE.map(([message]) => message)).toEqual(Object.keys(MESSAGES));
  });
});
