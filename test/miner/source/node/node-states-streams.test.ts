/** What a miner gets of whatever a node does with an update stream, in each state of the source. */

import { describe, expect, it } from 'vitest';
import { broken, type Stage } from './node-stage.ts';
import { cellsOf, ended, expired, mined, missedBlock, NEW_CUT, rowOf, type Table } from './node-states.ts';

/** In each of them, the stream of chain 3 is open, and the stream of chain 5 in the state `two chains`. */
const STATES: Record<string, (stage: Stage) => Promise<void>> = {
  mining: mined,
  asking: async (stage) => {
    await mined(stage);
    await stage.until('work');
  },
  opened: async (stage) => {
    await stage.pass(0);
    await stage.give('A');
    stage.open(3);
    await stage.pass(0);
  },
  cut: async (stage) => {
    await mined(stage);
    stage.send(3, NEW_CUT);
    await stage.pass(0);
  },
  'in a burst': async (stage) => {
    await STATES.cut(stage);
    await stage.give('B');
  },
  submitting: async (stage) => {
    await mined(stage);
    stage.submit('A');
    await stage.pass(0);
  },
  'in flight': async (stage) => {
    await STATES.submitting(stage);
    await stage.pass(1_000);
  },
  solved: async (stage) => {
    await STATES.submitting(stage);
    stage.answer('solved', { status: 204 });
    await stage.pass(0);
  },
  'two chains': async (stage) => {
    await mined(stage);
    await stage.until('work');
    await stage.give('C');
    stage.open(5);
    await stage.pass(0);
    await stage.give('C');
  },
  missed: missedBlock,
  'lost mining': async (stage) => {
    await mined(stage);
    await stage.until('work');
    stage.answer('work', { status: 503, headers: { 'retry-after': '60' } });
    await stage.pass(0);
  },
  'lost idle': async (stage) => {
    await expired(stage);
    stage.answer('work', { status: 503, headers: { 'retry-after': '60' } });
    await stage.pass(0);
  },
};

const EVENTS: Record<string, (stage: Stage) => void> = {
  'a New Cut': (stage) => stage.send(3, NEW_CUT),
  'two New Cuts': (stage) => stage.send(3, NEW_CUT + NEW_CUT),
  'a New Cut with other line ends': (stage) => stage.send(3, 'event:New Cut\r\n\r\n'),
  'half a New Cut': (stage) => stage.send(3, 'event:New C'),
  'a Refreshed Block': (stage) => stage.send(3, 'event:Refreshed Block\n\n'),
  'an unknown event': (stage) => stage.send(3, 'event:Other\ndata:New Cut\n\n'),
  'a comment and data without a name': (stage) => stage.send(3, ':New Cut\n\ndata:New Cut\n\n'),
  'a line without an end': (stage) => stage.send(3, 'x'.repeat(5_000)),
  'the end': (stage) => stage.send(3, undefined),
  'a broken connection': (stage) => stage.send(3, broken()),
  'a New Cut and the end': (stage) => {
    stage.send(3, NEW_CUT);
    stage.send(3, undefined);
  },
  nothing: () => {},
};

/** What an event that means nothing leaves as it is. */
const NOTHING: Table[string] = {
  '19 s: asks': 'mining',
  '10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'asking, opened, cut, solved',
  '20 s: asks': 'in a burst',
  '1 s: A ended: solved, 1 s: asks': 'submitting',
  '9.1 s: sends, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'in flight',
  '1.5 s: asks': 'two chains',
  '2 s: asks': 'missed',
  '-': 'lost mining',
  '5 s: asks': 'lost idle',
};

/** What one New Cut causes, and a second one does not change. */
const CUT: Table[string] = {
  'A ended: new-cut, asks': 'mining, submitting, lost mining, lost idle',
  'A ended: new-cut, 0.75 s: asks no longer, 0.75 s: asks': 'asking, in flight, solved',
  'A ended: new-cut, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'opened',
  '10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'cut',
  '0.1 s: asks': 'in a burst',
  'A ended: new-cut, 1.5 s: asks': 'two chains',
  'B ended: new-cut, asks': 'missed',
};

/** What the end of a stream causes, whatever ends it. */
const END: Table[string] = {
  '0.25 s: asks for stream 3, 2 s: polls 3 (no-stream), 2 s: asks': 'mining, in a burst',
  'asks for stream 3, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'asking',
  '0.25 s: asks for stream 3, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'opened, cut, solved',
  '0.25 s: asks for stream 3, 1 s: A ended: solved, 1 s: asks': 'submitting',
  '0.25 s: asks for stream 3, 9.1 s: sends, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks':
    'in flight',
  'asks for stream 3, 1.5 s: asks': 'two chains',
  '0.25 s: asks for stream 3, 2 s: asks': 'missed',
  'asks for stream 3': 'lost mining',
  'asks for stream 3, 5 s: asks': 'lost idle',
};

const TABLE: Table = {
  'a New Cut': CUT,
  'two New Cuts': CUT,
  'a New Cut with other line ends': CUT,
  'half a New Cut': NOTHING,
  'a Refreshed Block': NOTHING,
  'an unknown event': NOTHING,
  'a comment and data without a name': NOTHING,
  'a line without an end': {
    'says info, 2 s: polls 3 (no-stream), 2 s: asks': 'mining, in a burst',
    'says info, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'asking, opened, cut, solved',
    'says info, 1 s: A ended: solved, 1 s: asks': 'submitting',
    'says info, 9.1 s: sends, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'in flight',
    'says info, 1.5 s: asks': 'two chains',
    'says info, 2 s: asks': 'missed',
    '-': 'lost mining',
    '5 s: asks': 'lost idle',
  },
  'the end': END,
  'a broken connection': END,
  'a New Cut and the end': {
    'A ended: new-cut, asks': 'mining, submitting, lost mining, lost idle',
    'A ended: new-cut, asks for stream 3, 0.75 s: asks no longer, 0.75 s: asks': 'asking',
    'A ended: new-cut, 0.25 s: asks for stream 3, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks':
      'opened',
    '0.25 s: asks for stream 3, 10 s: asks no longer, 10 s: says lost, 10 s: lost, 10.25 s: asks': 'cut',
    '0.1 s: asks': 'in a burst',
    'A ended: new-cut, 0.25 s: asks for stream 3, 0.75 s: asks no longer, 0.75 s: asks': 'in flight, solved',
    'A ended: new-cut, asks for stream 3, 1.5 s: asks': 'two chains',
    'B ended: new-cut, asks': 'missed',
  },
  nothing: NOTHING,
};

describe('an open stream', () => {
  it.each(Object.keys(EVENTS))('with “%s” causes what the state of the source calls for', async (name) => {
    expect(await rowOf('chainweb', STATES, EVENTS[name])).toEqual(cellsOf(TABLE[name], STATES));
  });

  it('brings nothing that is missing in this table', () => {
    expect(Object.keys(TABLE)).toEqual(Object.keys(EVENTS));
  });

  it.each(Object.keys(EVENTS))('with “%s” after the end of the source causes nothing', async (name) => {
    const { 'in flight': inFlight, submitting, ...others } = await rowOf('chainweb', ended(STATES), EVENTS[name]);
    expect([inFlight, submitting]).toEqual(['5 s: verdict: unknown', '5 s: verdict: unknown']);
    expect(new Set(Object.values(others))).toEqual(new Set(['-']));
  });
});
