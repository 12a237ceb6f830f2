/** What a miner gets of each answer to a request for work, in each state of the source. */

import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../../mock-node/node.ts';
import { type Answer, broken, gives, refused, type Stage } from './node-stage.ts';
import {
  cellsOf,
  expired,
  failed,
  mined,
  minedWithoutStream,
  missedBlock,
  NEW_CUT,
  rowOf,
  type Table,
} from './node-states.ts';

/** In each of them, a request for work is open. */
const STATES: Record<string, (stage: Stage) => Promise<void>> = {
  first: (stage) => stage.pass(0),
  refresh: async (stage) => {
    await mined(stage);
    await stage.until('work');
  },
  poll: async (stage) => {
    await minedWithoutStream(stage);
    await stage.until('work');
  },
  again: async (stage) => {
    await STATES.refresh(stage);
    await failed(stage, broken());
  },
  cut: async (stage) => {
    await mined(stage);
    stage.send(3, NEW_CUT);
    await stage.pass(0);
  },
  'cut during': async (stage) => {
    await STATES.refresh(stage);
    stage.send(3, NEW_CUT);
    await stage.pass(0);
  },
  solved: async (stage) => {
    await mined(stage);
    stage.submit('A');
    await stage.pass(0);
    stage.answer('solved', { status: 204 });
    await stage.pass(0);
  },
  'in flight': async (stage) => {
    await mined(stage);
    stage.submit('A');
    await stage.pass(1_000);
  },
  missed: async (stage) => {
    await missedBlock(stage);
    await stage.until('work');
  },
  'lost idle': async (stage) => {
    await stage.pass(0);
    await failed(stage);
  },
  'lost mining': async (stage) => {
    await STATES.refresh(stage);
    await failed(stage);
  },
  expired,
};

const ANSWERS: Record<string, Answer> = {
  'the same work': gives('A later'),
  'it with other transactions': gives('A with more'),
  'the next block': gives('B'),
  'another block at its height': gives('A beside'),
  'a block at an earlier height': gives('before'),
  'work of another chain': gives('C'),
  'work of another network': gives('foreign'),
  'a record of 321 bytes': { status: 200, body: new Uint8Array(321) },
  'status 204': { status: 204 },
  'status 400': { status: 400, body: 'Error in $' },
  'status 403': { status: 403, body: 'Unauthorized Miner' },
  'status 404': { status: 404 },
  'status 429': { status: 429, byNode: false },
  'status 429, after 7 s': { status: 429, headers: { 'retry-after': '7' } },
  'status 503': { status: 503 },
  'status 503, after 3 s': { status: 503, headers: { 'retry-after': '3' } },
  'status 500': { status: 500 },
  'a login page': { status: 200, body: '<html>', byNode: false },
  'a broken connection': broken(),
  'an answer that breaks off': { status: 200, body: new Uint8Array(100), isCut: true },
  'no connection': refused(),
};

/** What the node does, besides giving an answer. */
const EVENTS: Record<string, (stage: Stage) => void> = {
  ...Object.fromEntries(
    Object.entries(ANSWERS).map(([name, answer]) => [name, (stage) => stage.answer('work', answer)]),
  ),
  'no answer': () => {},
};

/** Faults that may pass soon. */
const FAILED: Table[string] = {
  'says lost, lost, 0.25 s: asks': 'first, refresh, poll, again, cut, cut during, solved, in flight, missed',
  'says lost, 0.5 s: asks': 'lost idle, lost mining',
  'says lost, 0.8 s: asks': 'expired',
};

/** What only a change of a configuration can mend. */
const REFUSED: Table[string] = {
  'says lost, lost, 1 s: asks': 'first, refresh, poll, again, cut, cut during, solved, in flight, missed',
  'says lost, 1 s: asks': 'lost idle, lost mining, expired',
};

const TABLE: Table = {
  'the same work': {
    'says connected, work A, asks for stream 3, 2 s: polls 3 (no-stream), 2 s: asks': 'first, lost idle',
    '2.22 s: asks': 'refresh, again',
    '2 s: asks': 'poll',
    'work A, 0.05 s: asks': 'cut',
    'work A, 0.1 s: asks': 'cut during',
    '0.05 s: asks': 'solved, in flight',
    'work A, 2 s: asks': 'missed',
    'says connected, work A, 2.25 s: asks': 'lost mining',
    'says connected, work A, 4.62 s: asks': 'expired',
  },
  'it with other transactions': {
    'says connected, work A with more, asks for stream 3, 2 s: polls 3 (no-stream), 2 s: asks': 'first, lost idle',
    'work A with more, 2.22 s: asks': 'refresh, again',
    'work A with more, 2 s: asks': 'poll, missed',
    'work A with more, 0.05 s: asks': 'cut',
    'work A with more, 0.1 s: asks': 'cut during',
    '0.05 s: asks': 'solved, in flight',
    'says connected, work A with more, 2.25 s: asks': 'lost mining',
    'says connected, work A with more, 4.62 s: asks': 'expired',
  },
  'the next block': {
    'says connected, work B, asks for stream 3, 2 s: polls 3 (no-stream), 2 s: asks': 'first, lost idle',
    'A ended: expired, work B, 2.22 s: asks': 'refresh, again',
    'A ended: expired, work B, 2 s: asks': 'poll',
    'work B, 20 s: asks': 'cut',
    'work B, 0.1 s: asks': 'cut during',
    'A ended: expired, work B, 20 s: asks': 'solved',
    'A ended: expired, work B, 9.1 s: sends, 19.3 s: sends, 20 s: asks': 'in flight',
    '2 s: asks': 'missed',
    'says connected, A ended: expired, work B, 2.25 s: asks': 'lost mining',
    'says connected, A ended: expired, work B, 4.62 s: asks': 'expired',
  },
  'another block at its height': {
    'says connected, work A beside, asks for stream 3, 2 s: polls 3 (no-stream), 2 s: asks': 'first, lost idle',
    'work A beside, 2.22 s: asks': 'refresh, again',
    'work A beside, 2 s: asks': 'poll, missed',
    'work A beside, 20 s: asks': 'cut, solved',
    'work A beside, 0.1 s: asks': 'cut during',
    'work A beside, 9.1 s: sends, 19.3 s: sends, 20 s: asks': 'in flight',
    'says connected, work A beside, 2.25 s: asks': 'lost mining',
    'says connected, work A beside, 4.62 s: asks': 'expired',
  },
  'a block at an earlier height': {
    'says connected, work before, asks for stream 3, 2 s: polls 3 (no-stream), 2 s: asks': 'first, lost idle',
    'work before, 2.22 s: asks': 'refresh, again',
    'work before, 2 s: asks': 'poll, missed',
    'work before, 20 s: asks': 'cut',
    // The New Cut that has just ended it may have come before the node's work changed.
    'work before, 0.05 s: asks': 'solved',
    'work before, 0.1 s: asks': 'cut during',
    'work before, 9.1 s: sends, 19.3 s: sends, 20 s: asks': 'in flight',
    'says connected, work before, 2.25 s: asks': 'lost mining',
    'says connected, work before, 4.62 s: asks': 'expired',
  },
  'work of another chain': {
    'says connected, work C, asks for stream 5, 2 s: polls 5 (no-stream), 2 s: asks':
      'first, lost idle, lost mining, expired',
    'work C, asks for stream 5, 2 s: polls 5 (no-stream), 2 s: asks':
      'refresh, again, cut, cut during, solved, in flight',
    'work C, 2 s: polls 3 (no-stream) 5 (no-stream), 2 s: asks': 'poll',
    'work C, asks for stream 5, 2 s: polls 3 (missed-block) 5 (missed-block), 2 s: asks': 'missed',
  },
  'work of another network': REFUSED,
  'a record of 321 bytes': FAILED,
  'status 204': REFUSED,
  'status 400': REFUSED,
  'status 403': REFUSED,
  'status 404': REFUSED,
  'status 429': FAILED,
  'status 429, after 7 s': {
    'says lost, lost, 5 s: asks': 'first, cut, cut during, solved, in flight',
    'says lost, lost, 7 s: asks': 'refresh, poll, again, missed',
    'says lost, 5 s: asks': 'lost idle, expired',
    'says lost, 7 s: asks': 'lost mining',
  },
  'status 503': {
    'says lost, lost, 0.25 s: asks': 'first, refresh, poll, again, cut, cut during, solved, in flight, missed',
    '0.5 s: asks': 'lost idle, lost mining',
    '0.8 s: asks': 'expired',
  },
  'status 503, after 3 s': {
    'says lost, lost, 3 s: asks': 'first, refresh, poll, again, cut, cut during, solved, in flight, missed',
    '3 s: asks': 'lost idle, lost mining, expired',
  },
  'status 500': FAILED,
  'a login page': FAILED,
  'a broken connection': {
    asks: 'first, refresh, poll, cut, cut during, solved, in flight, missed, lost idle, lost mining, expired',
    'says lost, lost, 0.25 s: asks': 'again',
  },
  'an answer that breaks off': {
    asks: 'first, refresh, poll, cut, cut during, solved, in flight, missed, lost idle, lost mining, expired',
    'says lost, lost, 0.25 s: asks': 'again',
  },
  'no connection': FAILED,
  'no answer': {
    '10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks':
      'first, refresh, poll, again, cut, solved, missed',
    '0.75 s: asks no longer, 0.75 s: asks': 'cut during',
    '9.1 s: sends, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'in flight',
    '10 s: asks no longer, 10 s: says lost, 10.5 s: asks': 'lost idle, lost mining',
    '10 s: asks no longer, 10 s: says lost, 10.8 s: asks': 'expired',
  },
};

/** The rows in which it matters below which path the node serves its API. */
const BOTH = ['the next block', 'status 404'];

describe('a node', () => {
  it.each(Object.keys(EVENTS))('that gives “%s” causes what the state of the source calls for', async (name) => {
    for (const dialect of BOTH.includes(name) ? DIALECTS : (['chainweb'] as const))
      expect(await rowOf(dialect, STATES, EVENTS[name]), dialect).toEqual(cellsOf(TABLE[name], STATES));
  });

  it('gives nothing that is missing in this table', () => {
    expect(Object.keys(TABLE)).toEqual(Object.keys(EVENTS));
  });

  it.each(Object.entries(ANSWERS))('that gives “%s” as the miner stops causes nothing', async (_, answer) => {
    const happens = (stage: Stage) => {
      stage.answer('work', answer);
      stage.stop();
    };
    const cells = await rowOf('chainweb', STATES, happens);
    const { 'in flight': inFlight, ...others } = cells;
    expect(inFlight).toBe('5 s: verdict: unknown');
    expect(new Set(Object.values(others))).toEqual(new Set(['-']));
  });
});
