/** What a miner gets when the machine sleeps or the node reports its configuration or its clock, in each state. */

import { describe, expect, it } from 'vitest';
import { type Answer, broken, gives, type Look, refused, Stage } from './node-stage.ts';
import { cellsOf, expired, mined, minedWithoutStream, missedBlock, NEW_CUT, rowOf, type Table } from './node-states.ts';

const STATES: Record<string, (stage: Stage) => Promise<void>> = {
  first: (stage) => stage.pass(0),
  mining: mined,
  asking: async (stage) => {
    await mined(stage);
    await stage.until('work');
  },
  'no stream': minedWithoutStream,
  opening: async (stage) => {
    await stage.pass(0);
    await stage.give('A');
  },
  cut: async (stage) => {
    await mined(stage);
    stage.send(3, NEW_CUT);
    await stage.pass(0);
  },
  submitting: async (stage) => {
    await mined(stage);
    stage.submit('A');
    await stage.pass(0);
  },
  missed: missedBlock,
  'lost mining': async (stage) => {
    await STATES.asking(stage);
    stage.answer('work', { status: 503, headers: { 'retry-after': '60' } });
    await stage.pass(0);
  },
  'lost idle': async (stage) => {
    await stage.pass(0);
    stage.answer('work', { status: 403 });
    await stage.pass(0);
  },
  expired,
  ended: async (stage) => {
    await mined(stage);
    stage.stop();
    await stage.pass(0);
  },
};

const config = (report: object): Answer => ({ status: 200, body: JSON.stringify(report) });
const ours = { account: 'k:other', predicate: 'keys-all', 'public-keys': [] };
const CONFIGS: Record<string, Answer> = {
  'a configuration that allows mining': config({ chainwebVersion: 'development' }),
  'a configuration in the words of document 1': config({ ledgerVersion: 'development' }),
  'a configuration of another network': config({ chainwebVersion: 'mainnet01' }),
  'a configuration without mining': config({ mining: { coordination: { enabled: false } } }),
  'a configuration with other miners': config({ mining: { coordination: { miners: [ours] } } }),
  'a configuration without mining and with other miners': config({
    mining: { coordination: { enabled: false, miners: [ours] } },
  }),
  'a configuration in an unknown form': config([]),
  'a configuration that is no JSON': { status: 200, body: '{' },
  'no configuration': { status: 404 },
  'a broken connection for its configuration': broken(),
};

const EVENTS: Record<string, (stage: Stage) => void> = {
  'half a minute of sleep': (stage) => stage.sleep(30_000),
  'three seconds of sleep': (stage) => stage.sleep(3_000),
  'less than three seconds of sleep': (stage) => stage.sleep(2_900),
  'the stop': (stage) => stage.stop(),
};

const TABLE: Table = {
  'half a minute of sleep': {
    '0.5 s: says info, 0.5 s: asks no longer, 0.5 s: asks': 'first',
    '0.5 s: says info, 0.5 s: asks for stream 3, 0.5 s: asks': 'mining, submitting, lost mining',
    '0.5 s: says info, 0.5 s: asks no longer, 0.5 s: asks for stream 3, 0.5 s: asks': 'asking, cut',
    '0.5 s: says info, 0.5 s: asks for stream 3, 0.5 s: polls 3 (no-stream), 0.5 s: asks': 'no stream, opening',
    '0.28 s: says info, 0.28 s: asks for stream 3, 0.28 s: asks': 'missed',
    '0.5 s: says info, 0.5 s: asks': 'lost idle',
    '0.45 s: says info, 0.45 s: asks no longer, 0.45 s: asks for stream 3, 0.45 s: asks': 'expired',
    '-': 'ended',
  },
  'three seconds of sleep': {
    '0.5 s: says info, 0.5 s: asks no longer, 0.5 s: asks': 'first',
    '0.5 s: says info, 0.5 s: asks for stream 3, 0.5 s: asks': 'mining, submitting, lost mining',
    '0.5 s: says info, 0.5 s: asks no longer, 0.5 s: asks for stream 3, 0.5 s: asks': 'asking, cut',
    '0.5 s: says info, 0.5 s: asks for stream 3, 0.5 s: polls 3 (no-stream), 0.5 s: asks': 'no stream, opening',
    '0.28 s: says info, 0.28 s: asks for stream 3, 0.28 s: asks': 'missed',
    '0.5 s: says info, 0.5 s: asks': 'lost idle',
    '0.45 s: says info, 0.45 s: asks no longer, 0.45 s: asks for stream 3, 0.45 s: asks': 'expired',
    '-': 'ended',
  },
  'less than three seconds of sleep': {
    '-': 'first, mining, asking, cut, lost mining, expired, ended',
    '2 s: polls 3 (no-stream), 2 s: asks': 'no stream, opening',
    '1 s: A ended: solved, 1 s: asks': 'submitting',
    '2 s: asks': 'missed',
    '1 s: asks': 'lost idle',
  },
  'the stop': {
    'asks no longer': 'first, asking, cut, expired',
    '-': 'mining, no stream, opening, submitting, missed, lost mining, lost idle, ended',
  },
};

/** The configuration is asked for at the start. */
const { first, mining, opening, cut, submitting, 'lost idle': lost } = STATES;
const STARTED = { first, mining, opening, cut, submitting, lost };

const REPORTS: Record<string, string> = {
  'a configuration that allows mining': 'says info',
  'a configuration in the words of document 1': 'says info',
  'a configuration of another network': 'says warning',
  'a configuration without mining': 'says warning',
  // The refusal of the first request for work says so.
  'a configuration with other miners': '-',
  'a configuration without mining and with other miners': 'says warning',
  'a configuration in an unknown form': 'says info',
  'a configuration that is no JSON': '-',
  'no configuration': '-',
  'a broken connection for its configuration': '-',
};

describe('a source', () => {
  const look: Look = { mostMs: 4_000 };

  it.each(Object.keys(EVENTS))('with “%s” does what its state calls for', async (name) => {
    expect(await rowOf('chainweb', STATES, EVENTS[name], look)).toEqual(cellsOf(TABLE[name], STATES));
  });

  it('meets nothing that is missing in this table', () => {
    expect(Object.keys(TABLE)).toEqual(Object.keys(EVENTS));
  });
});

describe('a node', () => {
  const look: Look = { mostMs: 1_500, hasPlace: (what) => /says|lost|work/.test(what) };

  it.each(Object.keys(CONFIGS))('that reports “%s” is described, and is mined on as before', async (name) => {
    const happens = (stage: Stage) => stage.answer('config', CONFIGS[name]);
    const cells = await rowOf('chainweb', STARTED, happens, look);
    expect(new Set(Object.values(cells)), JSON.stringify(cells)).toEqual(new Set([REPORTS[name]]));
  });

  it('reports nothing that is missing in this table', () => {
    expect(Object.keys(REPORTS)).toEqual(Object.keys(CONFIGS));
  });
});

describe('the clock of a node', () => {
  /** Answers to what is asked in the state below, and whether each shows the time. */
  const ANSWERS: [what: string, answer: Answer, isClock: boolean][] = [
    ['work', gives('A with more'), true],
    ['work', { status: 404 }, true],
    ['work', { status: 503 }, true],
    ['work', { status: 200, byNode: false }, false],
    ['work', { status: 200, headers: { 'x-server-timestamp': 'noon' } }, false],
    ['work', { status: 200, body: new Uint8Array(9), isCut: true }, true],
    ['work', broken(), false],
    ['solved', { status: 204 }, true],
    ['solved', { status: 400 }, true],
    ['solved', { status: 500, byNode: false }, false],
    ['solved', refused(), false],
    ['stream 3', { status: 503 }, true],
    ['stream 3', { status: 404, byNode: false }, false],
    ['config', { status: 404 }, true],
  ];

  it.each(ANSWERS)('is that of the answer to %s: %j (%s)', async (what, answer, isClock) => {
    const stage = new Stage('chainweb');
    const seconds = () => Number(stage.source.latestTimeUs()) / 1e6;
    try {
      await stage.pass(0);
      await stage.give('A');
      stage.submit('A');
      await stage.pass(1_000);
      const before = seconds();
      expect(before).toBeCloseTo(1_001, 2);
      stage.nodeSeconds = 2_000;
      stage.answer(what, answer);
      await stage.pass(0);
      expect(seconds()).toBe(isClock ? 2_000 : before);
    } finally {
      await stage.end();
    }
  });
});
