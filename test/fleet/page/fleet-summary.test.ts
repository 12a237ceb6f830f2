/** The totals of a fleet on its page, its coordinators, and the news of both. */

import { describe, expect, it } from 'vitest';
import type { RigSummary } from '#pickaxe/fleet/operator/fleet-answers.js';
import type { FleetCoordinator } from '#pickaxe/fleet/operator/fleet-status.js';
import { Coordinators, newsOf, showTotals, type Totals } from '#pickaxe/fleet/page/fleet-summary.js';
import { openWindow } from '../../rig/page/window.ts';
import { coordinator, rig, rowsOf, totals } from './rows.ts';

function shown(more: Partial<Totals> = {}, ...rigs: RigSummary[]) {
  const page = openWindow('fleet');
  const show = (next: Partial<Totals>) => showTotals(totals(next), rowsOf(...rigs));
  show(more);
  const figures = (...names: string[]) => names.map((name) => page.one(`[data-figure=${name}]`).textContent);
  const text = (id: string) => page.byId(id).textContent;
  return { ...page, show, figures, text };
}

describe('the totals', () => {
  it('are those of the operator', () => {
    const counts = { found: 15, accepted: 11, pending: 6, rejected: 2, stale: 3, unknown: 4 };
    const rigs = { rigsMining: 2, rigsPaused: 0, rigsFaulty: 7, rigsSilent: 8 };
    const { figures, one, text, document } = shown({ ...counts, ...rigs }, rig('a'), rig('b'), rig('c'));
    expect(figures('hashrate', 'proven')).toEqual(['2.000 GH/s', '1.500 GH/s']);
    expect(text('hashrate-about')).toBe('over 30 s');
    expect(figures(...Object.keys(counts))).toEqual(Object.values(counts).map(String));
    expect(figures(...Object.keys(rigs))).toEqual(Object.values(rigs).map(String));
    const quiet = [...Object.keys(rigs), ...Object.keys(counts)].filter((name) =>
      one(`[data-figure=${name}]`).hasAttribute('data-none'),
    );
    expect(quiet).toEqual(['rigsPaused']);
    expect(document.title).toBe('2.000 GH/s · 2 of 3 rigs · pickaxe fleet');
    expect(text('about')).toBe('pickaxe 1.2.3');
  });

  const hot = (name: string, watts: number | null, celsius: number | null, more: Partial<RigSummary> = {}) =>
    rig(name, { watts, celsius, hashesPerSecond: 3e9, ...more });
  it.each<[what: string, rigs: RigSummary[], figures: string[]]>([
    ['no rigs', [], ['–', '–', '–', '–']],
    ['a rig without sensors', [hot('a', null, null)], ['–', '–', '–', '–']],
    ['a rig', [hot('a', 300, 61)], ['300 W', '10.00 MH/J', '61 °C', '61 °C']],
    ['a cold rig', [hot('a', 300, 0)], ['300 W', '10.00 MH/J', '0 °C', '0 °C']],
    ['two rigs', [hot('a', 300, 50), hot('b', 100, 80)], ['400 W', '15.00 MH/J', '80 °C', '65 °C']],
    ['the hotter rig first', [hot('a', 300, 80), hot('b', 100, 50)], ['400 W', '15.00 MH/J', '80 °C', '65 °C']],
    ['one without sensors', [hot('a', 300, 60), hot('b', null, null)], ['300 W', '10.00 MH/J', '60 °C', '60 °C']],
    [
      'a silent one, whose figures are old',
      [hot('a', 300, 60), hot('b', 900, 90, { silent: true })],
      ['300 W', '10.00 MH/J', '60 °C', '60 °C'],
    ],
    ['a frosty one', [hot('a', 300, -5), hot('b', null, null)], ['300 W', '10.00 MH/J', '-5 °C', '-5 °C']],
    ['a rig that needs no power', [hot('a', 0, 60)], ['–', '–', '60 °C', '60 °C']],
  ])('have the power and the temperatures of %s', (_, rigs, expected) => {
    const { figures } = shown({}, ...rigs);
    expect(figures('power', 'efficiency', 'hottest', 'mean-temperature')).toEqual(expected);
  });

  it.each([
    [null, '–'],
    [0, '0 %'],
    [2e-8, 'less than 0.0001 %'],
    [0.25, '25 %'],
  ])('say that at most %s of the work is repeated', (ratio, text) => {
    const repeats = ratio === null ? null : { ratio, rigs: 5, meanHashesPerSecond: 1, jobSeconds: 1, nonces: 1 };
    expect(shown({ repeats }).figures('repeats')).toEqual([text]);
  });

  it('say whether there is a connection', () => {
    const { byId, text, show } = shown({ listeningSeconds: 125 });
    const looks = () => [byId('state').getAttribute('data-state'), text('state-text'), text('state-age')];
    expect(looks()).toEqual(['connected', 'connected', 'for 2 min 5 s']);
    expect([byId('disconnected').hidden, text('disconnected')]).toEqual([true, '']);
    show({ disconnected: 'nats.example refuses', listeningSeconds: 0 });
    expect(looks()).toEqual(['disconnected', 'not connected', '']);
    expect(byId('disconnected').hidden).toBe(false);
    const why = 'There is no connection to a NATS server: nats.example refuses. No reports of the rigs arrive.';
    expect(text('disconnected')).toBe(why);
    show({});
    expect([looks()[0], byId('disconnected').hidden, text('disconnected')]).toEqual(['connected', true, '']);
  });

  it.each<[more: Partial<Totals>, notes: string]>([
    [{}, ''],
    [{ listeningSeconds: 10 }, ''],
    [{ listeningSeconds: 9.9 }, 'Each rig reports once in 10 s, so some may be missing yet.'],
    [{ listeningSeconds: 0, disconnected: 'refused' }, ''],
    [{ ignored: { malformed: 1, tooFast: 0, tooManyMembers: 0 } }, '1 message could not be read.'],
    [{ ignored: { malformed: 0, tooFast: 1, tooManyMembers: 0 } }, '1 message came too fast and was ignored.'],
    [{ ignored: { malformed: 0, tooFast: 0, tooManyMembers: 1 } }, '1 message of further rigs found no room.'],
    [
      { ignored: { malformed: 2, tooFast: 3, tooManyMembers: 4 } },
      '2 messages could not be read. 3 messages came too fast and were ignored. 4 messages of further rigs found no room.',
    ],
    [{ control: false }, 'Rigs can be controlled here if pickaxe fleet is started with --http-control.'],
  ])('have notes: %j', (more, notes) => {
    expect(shown(more).text('notes')).toBe(notes);
  });
});

describe('the coordinators', () => {
  it('are listed with their work, as long as they are there', () => {
    const { byId, texts } = openWindow('fleet');
    const list = new Coordinators();
    const cells = (row: number) => texts(`#coordinator-table tbody tr:nth-child(${row}) > *`);
    const hidden = () => ['no-coordinators', 'coordinator-table'].map((id) => byId(id).hidden);
    list.show(totals());
    expect(hidden()).toEqual([false, true]);
    list.show(totals({ coordinators: [coordinator('north'), coordinator('south', { chain: null, rigs: 0 })] }));
    expect(hidden()).toEqual([true, false]);
    const heads = ['coordinator', 'state', 'work', 'age of the work', 'rigs', 'hashrate', 'last state'];
    expect(texts('#coordinator-table thead th')).toEqual(heads);
    expect(cells(1)).toEqual([
      'northpickaxe 0.1.0',
      'connected',
      'chain 3, height 41',
      '12 s',
      '4',
      '6.000 GH/s',
      '0.4 s ago',
    ]);
    expect(cells(2).slice(2, 5)).toEqual(['–', '12 s', '0']);
    list.show(totals({ coordinators: [coordinator('south', { height: null, workAgeSeconds: null })] }));
    expect(cells(1).slice(0, 4)).toEqual(['southpickaxe 0.1.0', 'connected', '–', '–']);
    expect(cells(2)).toEqual([]);
    expect(hidden()).toEqual([true, false]);
    list.show(totals());
    expect(hidden()).toEqual([false, true]);
  });

  it.each<[more: Partial<FleetCoordinator>, state: string, reason: string]>([
    [{}, 'connected', ''],
    [{ lost: 'no node' }, 'lost', 'no node'],
    [{ silent: true }, 'silent', ''],
    [{ silent: true, lost: 'no node' }, 'silent', 'no node'],
    [{ duplicate: true }, 'connected', 'two coordinators have this name'],
    [{ lost: 'no node', duplicate: true }, 'lost', 'no node; two coordinators have this name'],
  ])('have a state and its reason: %j', (more, state, reason) => {
    const { one } = openWindow('fleet');
    new Coordinators().show(totals({ coordinators: [coordinator('north', more)] }));
    const part = (name: string) => one(`#coordinator-table .${name}`).textContent;
    expect([part('badge'), part('reason')]).toEqual([state, reason]);
    expect(one('#coordinator-table .badge').getAttribute('data-state')).toBe(state);
  });
});

describe('the news for people who do not see the page', () => {
  it('are changes of the numbers of rigs in trouble, and of coordinators', () => {
    const before = totals({ coordinators: [coordinator('north'), coordinator('south', { lost: 'no node' })] });
    expect(newsOf(before, before)).toEqual([]);
    expect(newsOf(totals(), totals({ rigsMining: 4 }))).toEqual([]);
    const now = totals({
      rigsFaulty: 1,
      rigsSilent: 2,
      rigsPaused: 3,
      coordinators: [
        coordinator('north', { silent: true, lost: 'x' }),
        coordinator('south'),
        coordinator('west', { lost: 'x' }),
      ],
    });
    expect(newsOf(before, now)).toEqual([
      '1 rig is faulty',
      '2 rigs are silent',
      '3 rigs are paused',
      'the coordinator north is silent',
      'the coordinator south is connected',
      'the coordinator west is lost',
    ]);
    expect(newsOf(now, totals())).toEqual(['0 rigs are faulty', '0 rigs are silent', '0 rigs are paused']);
  });
});
