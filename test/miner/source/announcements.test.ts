/** What a rig is told about a source, and that it is told nothing twice. */

import { expect, it } from 'vitest';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { Announcements, NodeAnnouncements } from '#pickaxe/miner/source/announcements.js';

function told(act: (announcements: NodeAnnouncements) => void): MinerEvent[] {
  const events: MinerEvent[] = [];
  act(new NodeAnnouncements('n', (event) => events.push(event)));
  return events;
}
const reasons = (act: Parameters<typeof told>[0]) =>
  told(act).map((event) => (event.type === 'source' ? `${event.state}: ${event.reason}` : event.type));
const event = (state: string, reason: string) => ({ type: 'source', source: 'n', kind: 'node', state, reason });

it('the lines for a node’s configuration come with the loss that they remedy, and with no other news', () => {
  const events = told((it) => {
    it.lost('refuses', ['a: 1', 'b: 2']);
    it.lost('is away');
    it.reached();
    it.note('warning', 'see', ['c: 3']);
  });
  expect(events).toStrictEqual([
    { ...event('lost', 'refuses'), nodeConfiguration: ['a: 1', 'b: 2'] },
    event('lost', 'is away'),
    event('connected', 'the node gives work'),
    { ...event('warning', 'see'), nodeConfiguration: ['c: 3'] },
  ]);
});

it('each loss and each return is told once, and all of it again after a new start', () => {
  const all = reasons((it) => {
    for (let i = 0; i < 2; i++) {
      for (let j = 0; j < 2; j++) it.reached();
      for (let j = 0; j < 2; j++) it.lost('is away');
      expect(it.isLost).toBe(true);
      for (let j = 0; j < 2; j++) it.lost('refuses');
      for (let j = 0; j < 2; j++) it.reached();
      expect(it.isLost).toBe(false);
      it.lost('is away');
      it.started();
      expect(it.isLost).toBe(false);
    }
  });
  const connected = 'connected: the node gives work';
  const once = [connected, 'lost: is away', 'lost: refuses', connected, 'lost: is away'];
  expect(all).toEqual([...once, ...once]);
});

it.each([
  [false, ''],
  [true, ' Other chains have one.'],
])('a chain without a stream is told once, until a stream opens; others are open: %s', (hasOthers, more) => {
  const problem = `info: a chain has no update stream for now, so it is polled for work: no more.${more}`;
  const all = reasons((it) => {
    for (let i = 0; i < 2; i++) it.streamProblem('no more.', hasOthers);
    it.streamOpened();
    for (let i = 0; i < 2; i++) it.streamProblem('no more.', hasOthers);
    it.streamOpened();
    // Of a node that is out of reach, nothing else is expected.
    it.lost('is away');
    it.streamProblem('no more.', hasOthers);
    it.reached();
    it.streamProblem('no more.', hasOthers);
  });
  expect(all).toEqual([problem, problem, 'lost: is away', 'connected: the node gives work', problem]);
});

it('a node that causes too many fetches is told again only after a minute of calm', () => {
  const all = reasons((it) => {
    for (const second of [0, 1, 61, 121, 181.001, 182]) it.tooManyFetches(25, second * 1_000);
  });
  expect(all).toHaveLength(2);
  expect(all[0]).toContain('more often than 25 times a second');
});

it('polled chains are told when they change', () => {
  const [one, other] = [{ chain: 3, reason: 'no-stream' } as const, { chain: 3, reason: 'missed-block' } as const];
  const events = told((it) => {
    for (const chains of [[], [one], [one], [other], [], []]) {
      it.polling(chains);
      expect(it.polled).toEqual(chains);
    }
  });
  expect(events).toEqual([[one], [other], []].map((chains) => ({ type: 'polling', source: 'n', chains })));
});

it.each([
  ['node', 'node'],
  ['pool', 'pool'],
  ['parent', 'parent'],
  ['fleet', 'coordinator'],
] as const)('an only %s that is unhealthy is mined on, and so called', (kind, noun) => {
  const events: MinerEvent[] = [];
  const it = new Announcements(kind, 'n', (each) => events.push(each));
  it.judgedAlone('refuses all');
  it.judgedAlone(undefined, 'accepts again');
  it.gaveWork(250);
  expect(events).toEqual([
    { ...event('unhealthy', `refuses all. It is mined on all the same: there is no other ${noun}`), kind },
    { ...event('healthy', 'accepts again'), kind },
    { type: 'fetch', source: 'n', latencySeconds: 0.25 },
  ]);
});
