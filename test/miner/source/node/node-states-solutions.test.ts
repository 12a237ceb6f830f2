/** What a miner gets of each answer to a solution, in each state of the source. */

import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../../mock-node/node.ts';
import { type Answer, broken, gives, type Look, refused, type Stage } from './node-stage.ts';
import { BUSY, cellsOf, expired, mined, NEW_CUT, rowOf, type Table } from './node-states.ts';

/** In each of them, a solution of work A is on its way, and no other request is open unless it says so. */
const STATES: Record<string, (stage: Stage) => Promise<void>> = {
  mining: async (stage) => {
    await mined(stage);
    stage.submit('A');
    await stage.pass(0);
  },
  long: async (stage) => {
    await STATES.mining(stage);
    await stage.pass(1_000);
    await stage.give('B');
  },
  'long asking': async (stage) => {
    await STATES.mining(stage);
    await stage.pass(1_000);
  },
  cut: async (stage) => {
    await STATES.mining(stage);
    stage.send(3, NEW_CUT);
    await stage.pass(0);
    await stage.give('B');
  },
  'cut asking': async (stage) => {
    await STATES.mining(stage);
    stage.send(3, NEW_CUT);
    await stage.pass(0);
  },
  refreshed: async (stage) => {
    await mined(stage);
    await stage.until('work');
    stage.submit('A');
    await stage.give('A with more');
  },
  'other chain': async (stage) => {
    await mined(stage);
    await stage.until('work');
    stage.submit('A');
    await stage.give('C');
    stage.open(5);
    await stage.pass(0);
    await stage.give('C');
  },
  again: async (stage) => {
    await STATES.mining(stage);
    stage.answer('solved', refused());
    await stage.pass(0);
    await stage.give('A');
    await stage.until('solved');
  },
  'answer lost': async (stage) => {
    await STATES.mining(stage);
    stage.answer('solved', broken());
    await stage.pass(0);
    await stage.give('B');
    await stage.until('solved');
  },
  lost: async (stage) => {
    await mined(stage);
    await stage.until('work');
    stage.answer('work', { status: 503, headers: { 'retry-after': '60' } });
    await stage.pass(0);
    stage.submit('A');
    await stage.pass(0);
  },
  expired: async (stage) => {
    await expired(stage);
    stage.answer('work', { status: 503, headers: { 'retry-after': '60' } });
    await stage.pass(0);
    stage.submit('A');
    await stage.pass(0);
  },
  'of another source': async (stage) => {
    await mined(stage);
    stage.submit('A with more');
    await stage.pass(0);
  },
};

const ANSWERS: Record<string, Answer> = {
  'status 204': { status: 204 },
  'status 200': { status: 200, body: 'taken' },
  'status 404': { status: 404, body: 'no such work' },
  'status 400': { status: 400, body: 'invalid' },
  'status 403': { status: 403 },
  'status 429': { status: 429, byNode: false },
  'status 503': { status: 503 },
  'status 503, after 3 s': { status: 503, headers: { 'retry-after': '3' } },
  'status 503, after 60 s': { status: 503, headers: { 'retry-after': '60' } },
  'status 503 of a gateway': { status: 503, byNode: false },
  'status 500': { status: 500 },
  'a login page': { status: 200, body: '<html>', byNode: false },
  'a broken connection': broken(),
  'no connection': refused(),
};

const EVENTS: Record<string, (stage: Stage) => void> = {
  ...Object.fromEntries(
    Object.entries(ANSWERS).map(([name, answer]) => [name, (stage) => stage.answer('solved', answer)]),
  ),
  'no answer': () => {},
  'the stop of the miner': (stage) => stage.stop(),
};

const ACCEPTED: Table[string] = {
  'A ended: solved, asks, verdict: accepted': 'mining',
  'verdict: accepted, 20 s: asks': 'long, cut',
  'verdict: accepted, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'long asking, cut asking',
  'A and A with more ended: solved, asks, verdict: accepted': 'refreshed',
  'A ended: solved, verdict: accepted, 1.5 s: asks': 'other chain',
  'verdict: accepted, 9.95 s: asks no longer, 9.95 s: says lost, 9.95 s: lost, 10.2 s: asks': 'again',
  'verdict: accepted, 19.9 s: asks': 'answer lost',
  'A ended: solved, verdict: accepted': 'lost',
  'A ended: solved, verdict: accepted, 5 s: asks': 'expired',
  'A ended: solved, verdict: accepted, asks': 'of another source',
};

const REJECTED: Table[string] = {
  'A ended: solved, asks, verdict: rejected': 'mining',
  'verdict: rejected, 20 s: asks': 'long, cut',
  'verdict: rejected, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'long asking, cut asking',
  'A and A with more ended: solved, asks, verdict: rejected': 'refreshed',
  'A ended: solved, verdict: rejected, 1.5 s: asks': 'other chain',
  'verdict: rejected, 9.95 s: asks no longer, 9.95 s: says lost, 9.95 s: lost, 10.2 s: asks': 'again',
  'verdict: unknown, 19.9 s: asks': 'answer lost',
  'A ended: solved, verdict: rejected': 'lost',
  'A ended: solved, verdict: rejected, 5 s: asks': 'expired',
  'verdict: rejected, 19 s: asks': 'of another source',
};

/** The node has surely not taken it, so it is too late once there is a next block. */
const NOT_TAKEN: Table[string] = {
  'A ended: solved, asks': 'mining',
  'verdict: stale, 20 s: asks': 'long, cut',
  '0.1 s: sends, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'long asking',
  'verdict: stale, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'cut asking',
  'A and A with more ended: solved, asks': 'refreshed',
  'A ended: solved, 0.1 s: sends, 1.5 s: asks': 'other chain',
  '0.2 s: sends, 9.95 s: asks no longer, 9.95 s: says lost, 9.95 s: lost, 10.2 s: asks': 'again',
  '0.2 s: sends, 10.6 s: sends, 19.9 s: asks': 'answer lost',
  'A ended: solved, 0.1 s: sends, 10.3 s: sends, 20 s: verdict: unknown': 'lost',
  'A ended: solved, 0.1 s: sends, 5 s: asks': 'expired',
  '0.1 s: sends, 10 s: verdict: unknown, 10 s: asks': 'of another source',
};

/** The node may have taken it. */
const UNCLEAR: Table[string] = {
  'A ended: solved, asks': 'mining',
  '0.1 s: sends, 10.3 s: sends, 20 s: asks': 'long, cut',
  '0.1 s: sends, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'long asking, cut asking',
  'A and A with more ended: solved, asks': 'refreshed',
  'A ended: solved, 0.1 s: sends, 1.5 s: asks': 'other chain',
  '0.2 s: sends, 9.95 s: asks no longer, 9.95 s: says lost, 9.95 s: lost, 10.2 s: asks': 'again',
  '0.2 s: sends, 10.6 s: sends, 19.9 s: asks': 'answer lost',
  'A ended: solved, 0.1 s: sends, 10.3 s: sends, 20 s: verdict: unknown': 'lost',
  'A ended: solved, 0.1 s: sends, 5 s: asks': 'expired',
  '0.1 s: sends, 10 s: verdict: unknown, 10 s: asks': 'of another source',
};

const TABLE: Table = {
  'status 204': ACCEPTED,
  'status 200': ACCEPTED,
  'status 404': {
    'A ended: solved, asks, verdict: stale': 'mining',
    'verdict: stale, 20 s: asks': 'long, cut',
    'verdict: stale, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'long asking, cut asking',
    'A and A with more ended: solved, asks, verdict: stale': 'refreshed',
    'A ended: solved, verdict: stale, 1.5 s: asks': 'other chain',
    'verdict: stale, 9.95 s: asks no longer, 9.95 s: says lost, 9.95 s: lost, 10.2 s: asks': 'again',
    'verdict: unknown, 19.9 s: asks': 'answer lost',
    'A ended: solved, verdict: stale': 'lost',
    'A ended: solved, verdict: stale, 5 s: asks': 'expired',
    'verdict: stale, 19 s: asks': 'of another source',
  },
  'status 400': REJECTED,
  'status 403': REJECTED,
  'status 429': UNCLEAR,
  'status 503': NOT_TAKEN,
  'status 503, after 3 s': {
    'A ended: solved, asks': 'mining',
    'verdict: stale, 20 s: asks': 'long, cut',
    '3 s: sends, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'long asking',
    'verdict: stale, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'cut asking',
    'A and A with more ended: solved, asks': 'refreshed',
    'A ended: solved, 1.5 s: asks': 'other chain',
    '3 s: sends, 9.95 s: asks no longer, 9.95 s: says lost, 9.95 s: lost, 10.2 s: asks': 'again',
    '3 s: sends, 13.4 s: sends, 19.9 s: asks': 'answer lost',
    'A ended: solved, 3 s: sends, 13.2 s: sends, 20 s: verdict: unknown': 'lost',
    'A ended: solved, 3 s: sends, 5 s: asks': 'expired',
    '3 s: sends, 10 s: verdict: unknown, 10 s: asks': 'of another source',
  },
  'status 503, after 60 s': {
    'A ended: solved, asks': 'mining',
    'verdict: stale, 20 s: asks': 'long, cut',
    '5 s: sends, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'long asking',
    'verdict: stale, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'cut asking',
    'A and A with more ended: solved, asks': 'refreshed',
    'A ended: solved, 1.5 s: asks': 'other chain',
    '5 s: sends, 9.95 s: asks no longer, 9.95 s: says lost, 9.95 s: lost, 10.2 s: asks': 'again',
    '5 s: sends, 15.4 s: sends, 19.9 s: asks': 'answer lost',
    'A ended: solved, 5 s: sends, 15.2 s: sends, 20 s: verdict: unknown': 'lost',
    'A ended: solved, 5 s: sends, 5 s: asks': 'expired',
    '5 s: sends, 10 s: verdict: unknown, 10 s: asks': 'of another source',
  },
  'status 503 of a gateway': UNCLEAR,
  'status 500': UNCLEAR,
  'a login page': UNCLEAR,
  'a broken connection': UNCLEAR,
  'no connection': NOT_TAKEN,
  'no answer': {
    '1 s: A ended: solved, 1 s: asks': 'mining',
    '9.1 s: sends, 19.3 s: sends, 20 s: asks': 'long',
    '9.1 s: sends, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'long asking',
    '10.1 s: sends, 20 s: asks': 'cut',
    '10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.1 s: sends, 10.25 s: asks': 'cut asking',
    '1 s: A and A with more ended: solved, 1 s: asks': 'refreshed',
    '1 s: A ended: solved, 1.5 s: asks': 'other chain',
    '9.95 s: asks no longer, 9.95 s: says lost, 9.95 s: lost, 10.2 s: sends, 10.2 s: asks': 'again',
    '10.2 s: sends, 19.9 s: asks': 'answer lost',
    '1 s: A ended: solved, 10.1 s: sends, 20 s: verdict: unknown': 'lost',
    '1 s: A ended: solved, 5 s: asks': 'expired',
    '10 s: verdict: unknown, 10 s: asks': 'of another source',
  },
  'the stop of the miner': {
    '5 s: verdict: unknown': 'mining, long, cut, refreshed, other chain, answer lost, lost, expired, of another source',
    'asks no longer, 5 s: verdict: unknown': 'long asking, cut asking, again',
  },
};

/** What the node answers to the solution before it gives work on the same parent, with other transactions. */
const VERDICTS = ['status 204', 'status 404', 'status 400', 'no connection', 'no answer'];

/** The node's verdict is known, and it has not taken the solution. */
const REFUSED: Table[string] = {
  'A ended: solved, work A with more': 'mining',
  '-': 'long, cut, answer lost, of another source',
  'work A with more': 'long asking, cut asking, again',
  'A and A with more ended: solved, work A with more': 'refreshed',
  'A ended: solved, 1.5 s: work A with more': 'other chain',
  'A ended: solved': 'lost, expired',
};

/** For each answer: what is seen of the node's work within four seconds. */
const SAME_PARENT: Table = {
  'status 204': {
    'A ended: solved, 1.55 s: work A with more': 'mining, of another source',
    '-': 'long, cut, answer lost',
    '1.55 s: work A with more': 'long asking, cut asking',
    'A and A with more ended: solved, 1.55 s: work A with more': 'refreshed',
    'A ended: solved, 1.5 s: work A with more': 'other chain',
    '1.5 s: work A with more': 'again',
    'A ended: solved': 'lost, expired',
  },
  'status 404': REFUSED,
  'status 400': REFUSED,
  'no connection': {
    'A ended: solved, 1.55 s: work A with more': 'mining',
    '-': 'long, cut, answer lost, of another source',
    '1.55 s: work A with more': 'long asking',
    'work A with more': 'cut asking',
    'A and A with more ended: solved, 1.55 s: work A with more': 'refreshed',
    'A ended: solved, 1.5 s: work A with more': 'other chain',
    '1.5 s: work A with more': 'again',
    'A ended: solved': 'lost, expired',
  },
  'no answer': {
    '1 s: A ended: solved, 2.55 s: work A with more': 'mining',
    '-': 'long, cut, answer lost, of another source',
    '1.55 s: work A with more': 'long asking',
    'work A with more, 1 s: A with more ended: solved, 3.1 s: work A with more': 'cut asking',
    '1 s: A and A with more ended: solved, 2.55 s: work A with more': 'refreshed',
    '1 s: A ended: solved, 1.5 s: work A with more': 'other chain',
    '1.5 s: work A with more': 'again',
    '1 s: A ended: solved': 'lost, expired',
  },
};

/** The rows in which it matters below which path the node serves its API. */
const BOTH = ['status 204', 'status 404'];

describe('a solution', () => {
  it.each(Object.keys(EVENTS))('with “%s” causes what the state of the source calls for', async (name) => {
    for (const dialect of BOTH.includes(name) ? DIALECTS : (['chainweb'] as const))
      expect(await rowOf(dialect, STATES, EVENTS[name]), dialect).toEqual(cellsOf(TABLE[name], STATES));
  });

  const look: Look = { until: 'the end', mostMs: 4_000, hasPlace: (what) => /work|ended/.test(what) };

  it.each(VERDICTS)('with “%s” decides about later work on its parent', async (name) => {
    const happens = async (stage: Stage) => {
      EVENTS[name](stage);
      await stage.pass(0);
      stage.always('work', gives('A with more'));
    };
    expect(await rowOf('chainweb', STATES, happens, look)).toEqual(cellsOf(SAME_PARENT[name], STATES));
  });

  it('gets no answer that is missing in this table', () => {
    expect(Object.keys(TABLE)).toEqual(Object.keys(EVENTS));
  });
});

describe('a solution that the node is too busy to judge', () => {
  const verdict: Look = { until: 'verdict: unknown', mostMs: 60_000, hasPlace: (what) => what.startsWith('verdict') };

  it.each([
    ['as long as the node knows its work', mined, '39 s: verdict: unknown'],
    ['for ten seconds if its work is too old, because the node decides', expired, '10 s: verdict: unknown'],
  ])('is sent again %s', async (_, prepare, seen) => {
    const happens = (stage: Stage) => {
      stage.always('work', BUSY);
      stage.always('solved', BUSY);
      stage.submit('A');
    };
    expect(await rowOf('chainweb', { state: prepare }, happens, verdict)).toEqual({ state: seen });
  });
});
