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
  const events = told((news) => {
    news.lost('refuses', ['a: 1', 'b: 2']);
    news.lost('is away');
    news.reached();
    news.note('warning', 'see', ['c: 3']);
  });
  expect(events).toStrictEqual([
    { ...event('lost', 'refuses'), nodeConfiguration: ['a: 1', 'b: 2'] },
    event('lost', 'is away'),
    event('connected', 'the node gives work'),
    { ...event('warning', 'see'), nodeConfiguration: ['c: 3'] },
  ]);
});

it('each loss and each return is told once, and all of it again after a new start', () => {
  const all = reasons((news) => {
    for (let i = 0; i < 2; i++) {
      for (let j = 0; j < 2; j++) news.reached();
      for (let j = 0; j < 2; j++) news.lost('is away');
      expect(news.isLost).toBe(true);
      for (let j = 0; j < 2; j++) news.lost('refuses');
      for (let j = 0; j < 2; j++) news.reached();
      expect(news.isLost).toBe(false);
      news.lost('is away');
      news.started();
      expect(news.isLost).toBe(false);
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
  const all = reasons((news) => {
    for (let i = 0; i < 2; i++) news.streamProblem('no more.', hasOthers);
    news.streamOpened();
    for (let i = 0; i < 2; i++) news.streamProblem('no more.', hasOthers);
    news.streamOpened();
    // Of a node that is out of reach, nothing else is expected.
    news.lost('is away');
    news.streamProblem('no more.', hasOthers);
    news.reached();
    news.streamProblem('no more.', hasOthers);
  });
  expect(all).toEqual([problem, problem, 'lost: is away', 'connected: the node gives work', problem]);
});

it('a node that causes too many fetches is told again only after a minute of calm', () => {
  const all = reasons((news) => {
    for (const second of [0, 1, 61, 121, 181.001, 182]) news.tooManyFetches(25, second * 1_000);
  });
  expect(all).toHaveLength(2);
  expect(all[0]).toContain('more often than 25 times a second');
});

it('polled chains are told when they change', () => {
  const [one, other] = [{ chain: 3, reason: 'no-stream' } as const, { chain: 3, reason: 'missed-block' } as const];
  const events = told((news) => {
    for (const chains of [[], [one], [one], [other], [], []]) {
      news.polling(chains);
      expect(news.polled).toEqual(chains);
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
  const news = new Announcements(kind, 'n', (each) => events.push(each));
  news.judgedAlone('refuses all');
  news.judgedAlone(undefined, 'accepts again');
  news.gaveWork(250);
  expect(events).toEqual([
    { ...event('unhealthy', `refuses all. It is mined on all the same: there is no other ${noun}`), kind },
    { ...event('healthy', 'accepts again'), kind },
    { type: 'fetch', source: 'n', latencySeconds: 0.25 },
  ]);
});
