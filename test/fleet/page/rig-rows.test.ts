/** The rows of a fleet's page: what they show, which of them are shown, and in which order. */

import { describe, expect, it } from 'vitest';
import type { RigSummary } from '#pickaxe/fleet/operator/fleet-answers.js';
import {
  FLEET_COLUMNS,
  type FleetRows,
  type FleetView,
  formatPower,
  fragmentOf,
  marksOf,
  viewOf,
} from '#pickaxe/fleet/page/rig-rows.js';
import { NOW, rig, rowsOf } from './rows.ts';

const VIEW: FleetView = { text: '', group: '', choice: 'all', sort: 'rig', downwards: false };

const namesOf = (rows: FleetRows, view: Partial<FleetView> = {}) =>
  rows.shown({ ...VIEW, ...view }).map((row) => row.rig.name);
const rowOf = (more: Partial<RigSummary> = {}) => rowsOf(rig('a', more)).get('a')!;
/** The texts of a row, by column. */
const texts = (more: Partial<RigSummary> = {}, laterMs = 0) =>
  Object.fromEntries(
    Object.entries(FLEET_COLUMNS).map(([name, column]) => [name, column.text(rowOf(more), NOW + laterMs)]),
  );

describe('a row', () => {
  it('has a text in each column', () => {
    const figures = { hashesPerSecond: 2e9, provenHashesPerSecond: 1.5e9, celsius: 61, watts: 300, faults: 7 };
    const verdicts = { accepted: 1, rejected: 2, stale: 3 };
    expect(texts({ group: 'hall', state: 'waiting-for-work', coordinator: 'c1', ...figures, ...verdicts })).toEqual({
      rig: 'a',
      group: 'hall',
      state: 'waiting for work',
      hashrate: '2.000 GH/s',
      proven: '75.0 %',
      temperature: '61 °C',
      power: '300 W',
      verdicts: '1/2/3',
      faults: '7',
      coordinator: 'c1',
      report: '0 s ago',
    });
  });

  it('of a silent rig has no figures that are old, and of a rig without sensors none that are unknown', () => {
    const none = { hashrate: null, proven: null, temperature: null, power: null };
    expect(texts({ silent: true })).toMatchObject({ ...none, state: 'silent', rig: 'a' });
    const unknown = { provenHashesPerSecond: null, celsius: null, watts: null, group: null, coordinator: null };
    expect(texts(unknown)).toMatchObject({ proven: null, temperature: null, power: null, group: null });
    expect(texts({ hashesPerSecond: 0, provenHashesPerSecond: 0 })).toMatchObject({ hashrate: '0 H/s', proven: null });
    expect(texts({ celsius: 0, watts: 0 })).toMatchObject({ temperature: '0 °C', power: '0 W' });
  });

  it.each([
    [0, 0, '0 s ago'],
    [0.4, 0, '0 s ago'],
    [0.5, 0, '1 s ago'],
    [7, 400, '7 s ago'],
    [7, 500, '8 s ago'],
    [59, 999, '1 min ago'],
    [299, 0, '4 min ago'],
    [3 * 86_400 + 5, 0, '3 d ago'],
  ])('of a rig that has reported %i s and %i ms ago', (ageSeconds, laterMs, text) => {
    expect(texts({ ageSeconds }, laterMs).report).toBe(text);
  });

  it('names the problems of the rig in few words', () => {
    const marks = (more: Partial<RigSummary>) => marksOf(rowOf({ deviceCount: 3, faulty: false, ...more }));
    expect(marks({})).toBe('');
    expect(marks({ duplicate: true, faulty: true, failedDeviceCount: 2 })).toBe('name used twice, 2 of 3 failed');
    expect(marks({ faulty: true, failedDeviceCount: 0 })).toBe('');
    expect(marks({ state: 'paused', stateReason: 'by the user' })).toBe('by the user');
    expect(marks({ state: 'mining', stateReason: 'by the user' })).toBe('');
    // What a silent rig said last is old.
    expect(marks({ state: 'paused', stateReason: 'by the user', silent: true })).toBe('');
    expect(marks({ silent: true, faulty: true, failedDeviceCount: 2 })).toBe('');
    expect(marks({ state: 'paused', stateReason: null })).toBe('');
  });

  it('shows the power of many rigs with a prefix', () => {
    expect([12.345, 999, 1_000, 1_240_000].map(formatPower)).toEqual(['12 W', '999 W', '1.000 kW', '1.240 MW']);
  });
});

describe('the rows that are shown', () => {
  const rows = rowsOf(
    rig('rig-10', { group: 'hall', models: ['Zeta 9'], version: '1.2.3' }),
    rig('rig-2', { group: 'hall', silent: true, faulty: true }),
    rig('Rig-3', { group: null, state: 'paused', stateReason: 'too hot', duplicate: true }),
    rig('x', { group: 'yard', coordinator: 'north', state: 'no-source', faulty: true }),
  );

  it.each<[view: Partial<FleetView>, names: string[]]>([
    [{}, ['rig-2', 'Rig-3', 'rig-10', 'x']],
    [{ downwards: true }, ['x', 'rig-10', 'Rig-3', 'rig-2']],
    [{ choice: 'mining' }, ['rig-10']],
    [{ choice: 'paused' }, ['Rig-3']],
    [{ choice: 'silent' }, ['rig-2']],
    [{ choice: 'faulty' }, ['x']],
    [{ choice: 'duplicate' }, ['Rig-3']],
    [{ choice: 'problems' }, ['rig-2', 'Rig-3', 'x']],
    [{ group: 'hall' }, ['rig-2', 'rig-10']],
    [{ group: 'hall', choice: 'silent' }, ['rig-2']],
    [{ text: 'RIG' }, ['rig-2', 'Rig-3', 'rig-10']],
    [{ text: '  rig  hot ' }, ['Rig-3']],
    [{ text: 'zeta' }, ['rig-10']],
    [{ text: 'north' }, ['x']],
    [{ text: 'yard' }, ['x']],
    [{ text: '1.2.3' }, ['rig-10']],
    [{ text: 'rig north' }, []],
  ])('are those of the view, by name: %j', (view, names) => {
    expect(namesOf(rows, view)).toEqual(names);
  });

  it('have one order, also where names differ only in how a number is written', () => {
    const names = ['rig-01', 'rig-1', 'rig-001'];
    const orders = [names, names.toReversed()].map((each) => namesOf(rowsOf(...each.map((name) => rig(name)))));
    expect(orders).toEqual([
      ['rig-001', 'rig-01', 'rig-1'],
      ['rig-001', 'rig-01', 'rig-1'],
    ]);
  });

  it.each([
    [false, ['low', 'same-1', 'same-2', 'high', 'none-1', 'none-2']],
    [true, ['high', 'same-1', 'same-2', 'low', 'none-1', 'none-2']],
  ])('are ordered by a figure, and those without one come last: downwards %s', (downwards, names) => {
    const some = rowsOf(
      rig('none-2', { celsius: null }),
      rig('same-2', { celsius: 50 }),
      rig('high', { celsius: 70 }),
      rig('same-1', { celsius: 50 }),
      rig('none-1', { silent: true, celsius: 60 }),
      rig('low', { celsius: -1 }),
    );
    expect(namesOf(some, { sort: 'temperature', downwards })).toEqual(names);
  });

  it.each([
    [false, ['c', 'a', 'b', 'd']],
    [true, ['b', 'a', 'c', 'd']],
  ])('are ordered by a text, with numbers in it as numbers: downwards %s', (downwards, names) => {
    const some = rowsOf(
      rig('a', { group: 'hall 9' }),
      rig('b', { group: 'hall 10' }),
      rig('c', { group: 'annex' }),
      rig('d', { group: null }),
    );
    expect(namesOf(some, { sort: 'group', downwards })).toEqual(names);
  });

  it.each<[column: string, first: Partial<RigSummary>, second: Partial<RigSummary>]>([
    ['state', { state: 'mining' }, { state: 'paused' }],
    ['hashrate', { hashesPerSecond: 1 }, { hashesPerSecond: 2 }],
    ['proven', { provenHashesPerSecond: 1 }, { provenHashesPerSecond: 2 }],
    ['power', { watts: 1 }, { watts: 2 }],
    ['verdicts', { accepted: 1, rejected: 9 }, { accepted: 2, rejected: 0 }],
    ['faults', { faults: 1 }, { faults: 2 }],
    ['coordinator', { coordinator: 'a' }, { coordinator: 'b' }],
    ['report', { ageSeconds: 1 }, { ageSeconds: 2 }],
  ])('can be ordered by the column %s', (sort, first, second) => {
    const some = rowsOf(rig('b', first), rig('a', second));
    expect(namesOf(some, { sort })).toEqual(['b', 'a']);
    expect(namesOf(some, { sort, downwards: true })).toEqual(['a', 'b']);
  });

  it('by a column of figures begin with the largest, and by one of names with the first', () => {
    const figures = Object.entries(FLEET_COLUMNS).flatMap(([name, { isFigure }]) => (isFigure ? [name] : []));
    expect(figures).toEqual(['hashrate', 'proven', 'temperature', 'power', 'verdicts', 'faults', 'report']);
  });
});

describe('changes', () => {
  const change = (rows: FleetRows, rigs: RigSummary[], goneRigs: string[] = [], timeMillis = NOW) =>
    rows.apply({ whole: false, rigs, goneRigs, timeMillis });

  it('replace, add and remove rows, and an answer with all rigs replaces all of them', () => {
    const rows = rowsOf(rig('b'), rig('d'));
    change(rows, [rig('d', { group: 'hall' }), rig('a')]);
    expect([namesOf(rows), rows.size, rows.groups]).toEqual([['a', 'b', 'd'], 3, ['hall']]);
    change(rows, [], ['b', 'nobody']);
    expect([namesOf(rows), rows.get('b'), rows.all.length]).toEqual([['a', 'd'], undefined, 2]);
    // As many as before, but others.
    change(rows, [rig('c')], ['a']);
    expect(namesOf(rows)).toEqual(['c', 'd']);
    change(rows, [rig('d'), rig('b')], ['c']);
    expect(namesOf(rows)).toEqual(['b', 'd']);
    rows.apply({
      whole: true,
      rigs: [rig('z', { group: 'b 10' }), rig('y', { group: 'b 9' })],
      goneRigs: [],
      timeMillis: NOW,
    });
    expect([namesOf(rows), rows.groups]).toEqual([
      ['y', 'z'],
      ['b 9', 'b 10'],
    ]);
  });

  it('show what was asked of a rig until it has reported, is silent or is gone', () => {
    const rows = rowsOf(rig('a'), rig('b'), rig('c'), rig('d'));
    const asked = () => rows.shown(VIEW).map((row) => row.asked);
    rows.noteAsked('asked to pause', NOW + 1_000, ['a', 'b', 'c', 'nobody']);
    expect(asked()).toEqual(['asked to pause', 'asked to pause', 'asked to pause', null]);
    expect(FLEET_COLUMNS.state.text(rows.get('a')!, NOW)).toBe('asked to pause');
    expect(namesOf(rows, { choice: 'mining' })).toEqual(['a', 'b', 'c', 'd']);
    // A report that is as old as the request may know of it, and an older one may not.
    change(rows, [rig('a', { ageSeconds: 1.001 }), rig('b', { ageSeconds: 1 })], [], NOW + 2_000);
    expect(asked()).toEqual(['asked to pause', null, 'asked to pause', null]);
    change(rows, [rig('c', { silent: true, ageSeconds: 40 })], [], NOW + 2_000);
    expect(asked()).toEqual(['asked to pause', null, null, null]);
    change(rows, [rig('c', { ageSeconds: 40 })], [], NOW + 2_000);
    change(rows, [], ['a'], NOW + 2_000);
    change(rows, [rig('a', { ageSeconds: 40 })], [], NOW + 2_000);
    expect(asked()).toEqual([null, null, null, null]);
  });

  it('of a request that is older than the last report show nothing', () => {
    const rows = rowsOf(rig('a'));
    rows.noteAsked('asked to pause', NOW, ['a']);
    expect(rows.get('a')?.asked).toBeNull();
  });
});

describe('the address of the page', () => {
  it.each<[fragment: string, view: Partial<FleetView>]>([
    ['', {}],
    ['#text=hall+1', { text: 'hall 1' }],
    ['#group=a%26b', { group: 'a&b' }],
    ['#show=problems', { choice: 'problems' }],
    ['#sort=power', { sort: 'power' }],
    ['#order=down', { downwards: true }],
    [
      '#text=a&group=b&show=silent&sort=faults&order=down',
      { text: 'a', group: 'b', choice: 'silent', sort: 'faults', downwards: true },
    ],
  ])('%s has the view, and nothing else', (fragment, view) => {
    expect(viewOf(fragment)).toEqual({ ...VIEW, ...view });
    expect(fragmentOf({ ...VIEW, ...view })).toBe(fragment);
  });

  it.each(['#show=nonsense', '#sort=toString', '#sort=', '#order=up', '#x=y'])('may have nonsense: %s', (fragment) => {
    expect(viewOf(fragment)).toEqual(VIEW);
  });

  it('has no longer texts than a person types', () => {
    const { text, group } = viewOf(`#text=${'a'.repeat(201)}&group=${'b'.repeat(201)}`);
    expect([text.length, group.length]).toEqual([200, 200]);
  });
});
