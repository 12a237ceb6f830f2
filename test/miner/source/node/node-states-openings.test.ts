/** What a miner gets of each answer to a request for a stream, in each state, and when the next request follows. */

import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../../mock-node/node.ts';
import { type Answer, broken, type Look, refused, type Stage } from './node-stage.ts';
import { BUSY, cellsOf, mined, NEW_CUT, rowOf, type Table } from './node-states.ts';

/** In each of them, a stream of chain 3 is asked for. */
const OPENING: Record<string, (stage: Stage) => Promise<void>> = {
  'the first': async (stage) => {
    await stage.pass(0);
    await stage.give('A');
  },
  'after its end': async (stage) => {
    await mined(stage);
    await stage.pass(5_000);
    stage.send(3, undefined);
    await stage.until('stream 3');
  },
  'after a refusal': async (stage) => {
    await stage.pass(0);
    await stage.give('A');
    stage.answer('stream 3', { status: 500 });
    await stage.pass(0);
    await stage.until('stream 3');
  },
  'of a missed block': async (stage) => {
    await mined(stage);
    await stage.until('work');
    await stage.give('A later');
    await stage.until('work');
    await stage.give('B');
    await stage.until('stream 3');
  },
  'a second': async (stage) => {
    await mined(stage);
    await stage.until('work');
    stage.send(3, undefined);
    await stage.give('C');
    stage.open(5);
    await stage.pass(0);
    await stage.give('C');
    await stage.until('stream 3');
  },
  lost: async (stage) => {
    await mined(stage);
    await stage.until('work');
    stage.answer('work', { status: 503, headers: { 'retry-after': '60' } });
    await stage.pass(0);
    stage.send(3, undefined);
    await stage.until('stream 3');
  },
};

const ANSWERS: Record<string, Answer> = {
  'status 204': { status: 204 },
  'status 400': { status: 400 },
  'status 404': { status: 404 },
  'status 429': { status: 429, byNode: false },
  'status 503': BUSY,
  'status 503, after 45 s': { status: 503, headers: { 'retry-after': '45' } },
  'status 500': { status: 500 },
  'a login page': { status: 200, body: '<html>', byNode: false },
  'a page of a node': { status: 200, body: 'x'.repeat(5_000) },
  'a broken connection': broken(),
  'no connection': refused(),
};

const REQUESTS: Record<string, (stage: Stage) => void> = {
  opening: (stage) => stage.open(3),
  'opening with a New Cut': (stage) => {
    stage.open(3);
    stage.send(3, NEW_CUT);
  },
  'opening and the end': (stage) => {
    stage.open(3);
    stage.send(3, undefined);
  },
  ...Object.fromEntries(
    Object.entries(ANSWERS).map(([name, answer]) => [name, (stage) => stage.answer('stream 3', answer)]),
  ),
  'no answer': () => {},
};

/** The node has no stream for now, or never. */
const NONE: Table[string] = {
  'says info, 2 s: polls 3 (no-stream), 2 s: asks': 'the first, after its end',
  '1.75 s: polls 3 (no-stream), 1.75 s: asks': 'after a refusal',
  'says info, 2 s: asks': 'of a missed block',
  'says info, 1.5 s: asks': 'a second',
  '-': 'lost',
};

/** Faults that may pass soon. */
const FAILED: Table[string] = {
  'says info, 0.25 s: asks for stream 3, 2 s: polls 3 (no-stream), 2 s: asks': 'the first, after its end',
  '0.5 s: asks for stream 3, 1.75 s: polls 3 (no-stream), 1.75 s: asks': 'after a refusal',
  'says info, 0.25 s: asks for stream 3, 2 s: asks': 'of a missed block',
  'says info, 0.25 s: asks for stream 3, 1.5 s: asks': 'a second',
  '0.25 s: asks for stream 3': 'lost',
};

const OPENINGS: Table = {
  opening: {
    asks: 'the first, after its end, after a refusal, of a missed block',
    '1.5 s: asks': 'a second',
    '-': 'lost',
  },
  'opening with a New Cut': {
    'asks, A ended: new-cut': 'the first, after its end, after a refusal',
    'asks, B ended: new-cut': 'of a missed block',
    'A ended: new-cut, 1.5 s: asks': 'a second',
    'A ended: new-cut, 0.1 s: asks': 'lost',
  },
  'opening and the end': {
    asks: 'the first, after its end, after a refusal, of a missed block',
    '0.25 s: asks for stream 3, 1.5 s: asks': 'a second',
    '0.25 s: asks for stream 3': 'lost',
  },
  'status 204': NONE,
  'status 400': NONE,
  'status 404': NONE,
  'status 429': NONE,
  'status 503': NONE,
  'status 503, after 45 s': NONE,
  'status 500': FAILED,
  'a login page': FAILED,
  'a page of a node': {
    'asks, says info': 'the first, after its end, after a refusal, of a missed block',
    'says info, 1.5 s: asks': 'a second',
    '-': 'lost',
  },
  'a broken connection': FAILED,
  'no connection': FAILED,
  'no answer': {
    '2 s: polls 3 (no-stream), 2 s: asks': 'the first, after its end',
    '1.75 s: polls 3 (no-stream), 1.75 s: asks': 'after a refusal',
    '2 s: asks': 'of a missed block',
    '1.5 s: asks': 'a second',
    '-': 'lost',
  },
};

/** After a lasting refusal. */
const LONG: Table[string] = {
  'says info, 2 s: polls 3 (no-stream), 30 s: asks for stream 3': 'the first, after its end',
  '1.75 s: polls 3 (no-stream), 30 s: asks for stream 3': 'after a refusal',
  'says info, 30 s: asks for stream 3': 'of a missed block, a second',
  '30 s: asks for stream 3': 'lost',
};

/** After a fault. */
const SHORT: Table[string] = {
  'says info, 0.25 s: asks for stream 3': 'the first, after its end, of a missed block, a second',
  '0.5 s: asks for stream 3': 'after a refusal',
  '0.25 s: asks for stream 3': 'lost',
};

/** For each answer to a request for a stream: when the next request follows. */
const PAUSES: Table = {
  opening: {
    '-': 'the first, after its end, after a refusal, of a missed block, a second, lost',
  },
  'opening with a New Cut': {
    '-': 'the first, after its end, after a refusal, of a missed block, a second, lost',
  },
  'opening and the end': {
    '0.25 s: asks for stream 3': 'the first, after its end, of a missed block, a second, lost',
    '0.5 s: asks for stream 3': 'after a refusal',
  },
  'status 204': LONG,
  'status 400': LONG,
  'status 404': LONG,
  'status 429': LONG,
  'status 503': LONG,
  'status 503, after 45 s': {
    'says info, 2 s: polls 3 (no-stream), 45 s: asks for stream 3': 'the first, after its end',
    '1.75 s: polls 3 (no-stream), 45 s: asks for stream 3': 'after a refusal',
    'says info, 45 s: asks for stream 3': 'of a missed block, a second',
    '45 s: asks for stream 3': 'lost',
  },
  'status 500': SHORT,
  'a login page': SHORT,
  'a page of a node': {
    'says info, 30 s: asks for stream 3': 'the first, after its end, after a refusal, of a missed block, a second',
    '30 s: asks for stream 3': 'lost',
  },
  'a broken connection': SHORT,
  'no connection': SHORT,
  'no answer': {
    '2 s: polls 3 (no-stream), 10 s: says info': 'the first, after its end',
    '1.75 s: polls 3 (no-stream)': 'after a refusal',
    '10 s: says info': 'of a missed block, a second',
    '-': 'lost',
  },
};

/** The rows in which it matters below which path the node serves its API. */
const BOTH = ['opening', 'status 404'];

describe('a request for a stream', () => {
  it.each(Object.keys(REQUESTS))('with “%s” causes what the state of the source calls for', async (name) => {
    for (const dialect of BOTH.includes(name) ? DIALECTS : (['chainweb'] as const))
      expect(await rowOf(dialect, OPENING, REQUESTS[name]), dialect).toEqual(cellsOf(OPENINGS[name], OPENING));
  });

  const look: Look = { until: 'asks for stream 3', mostMs: 65_000, hasPlace: (what) => /stream|info/.test(what) };

  it.each(Object.keys(REQUESTS))('with “%s” is repeated after a time', async (name) => {
    expect(await rowOf('chainweb', OPENING, REQUESTS[name], look)).toEqual(cellsOf(PAUSES[name], OPENING));
  });

  it('gets no answer that is missing in this table', () => {
    for (const table of [OPENINGS, PAUSES]) expect(Object.keys(table)).toEqual(Object.keys(REQUESTS));
  });
});
