/** The rows of the table of rigs: which of them are in the document, and what they show. */

import type { Element } from 'happy-dom';
import { describe, expect, it, vi } from 'vitest';
import type { RigSummary } from '#pickaxe/fleet/operator/fleet-answers.js';
import { FLEET_COLUMNS } from '#pickaxe/fleet/page/rig-rows.js';
import { click } from '../../rig/page/window.ts';
import { nameAt, openTable, ROW_PX } from './open-table.ts';
import { NOW, rig } from './rows.ts';

const namesFrom = (first: number, end: number) => Array.from({ length: end - first }, (_, at) => nameAt(first + at));

describe('the rows in the document', () => {
  it.each<[rigs: number, cases: [rowsAbove: number, first: number, end: number][]]>([
    [0, [[0, 0, 0]]],
    [12, [[0, 0, 12]]],
    [
      99,
      [
        [0, 0, 13],
        [8, 0, 21],
        [9, 1, 22],
        [50, 42, 63],
        [50.1, 42, 64],
        [49.9, 41, 63],
        [86, 78, 99],
        [94, 86, 99],
        // The browser has not scrolled back yet after a filter has left fewer rows.
        [106, 98, 99],
        [107, 99, 99],
        [200, 99, 99],
      ],
    ],
  ])('of %i rigs are those in sight and eight on each side', async (rigs, cases) => {
    const table = openTable({ rigs });
    expect(table.one('#rig-table tbody').style.height).toBe(`${rigs * ROW_PX}px`);
    expect(table.element.getAttribute('aria-rowcount')).toBe(String(rigs + 1));
    for (const [rowsAbove, first, end] of cases) {
      await table.scroll(rowsAbove);
      expect([rowsAbove, ...table.names()]).toEqual([rowsAbove, ...namesFrom(first, end)]);
    }
  });

  it('are each in their place, and keep their elements while they stay', async () => {
    const table = openTable({ rigs: 99 });
    const elements = new Map<string, unknown>();
    for (const above of [0, 3, 30, 31, 80, 94, 12, 11, 0]) {
      await table.scroll(above);
      const first = Math.max(0, above - 8);
      const wanted = namesFrom(first, Math.min(99, above + 13));
      expect(table.names()).toEqual(wanted);
      for (const [index, line] of table.lines().entries()) {
        expect(line.style.transform).toBe(`translateY(${(first + index) * ROW_PX}px)`);
        expect(line.getAttribute('aria-rowindex')).toBe(String(first + index + 2));
        const kept = elements.get(wanted[index]);
        if (kept) expect(line).toBe(kept);
      }
      elements.clear();
      for (const [index, line] of table.lines().entries()) elements.set(wanted[index], line);
    }
  });

  it('have the elements of those that have left', async () => {
    const table = openTable({ rigs: 99 });
    const ids = () => table.lines().map(({ id }) => id);
    const numbered = (count: number) => Array.from({ length: count }, (_, at) => `rig-row-${at}`);
    expect(ids()).toEqual(numbered(13));
    await table.scroll(40);
    expect(ids().toSorted()).toEqual(numbered(21).toSorted());
    await table.scroll(80);
    expect(ids().toSorted()).toEqual(numbered(21).toSorted());
  });

  it('are moved in the document no more than they must be', async () => {
    const table = openTable({ rigs: 99 });
    const body = table.one('#rig-table tbody');
    await table.scroll(40);
    const insert = vi.spyOn(body, 'insertBefore');
    const moved = async (above: number) => {
      insert.mockClear();
      await table.scroll(above);
      return insert.mock.calls.length;
    };
    expect([await moved(40), await moved(41), await moved(43), await moved(42), await moved(10)]).toEqual([
      0, 1, 2, 1, 21,
    ]);
    table.show({}, 1_000);
    expect(insert).toHaveBeenCalledTimes(21);
  });

  it('are drawn once for all scrolling and resizing between two frames', async () => {
    const table = openTable({ rigs: 99 });
    const body = table.one('#rig-table tbody');
    table.scroller.scrollTop = 40 * ROW_PX;
    for (let i = 0; i < 3; i++) table.scroller.dispatchEvent(new table.window.Event('scroll'));
    table.resized();
    expect(vi.getTimerCount()).toBe(1);
    expect(table.names()[0]).toBe('r01');
    await vi.advanceTimersToNextTimerAsync();
    expect([vi.getTimerCount(), table.names()[0]]).toEqual([0, 'r33']);
    // CSS makes rows higher in narrow windows.
    table.element.style.setProperty('--row', '76px');
    table.resized();
    await vi.advanceTimersToNextTimerAsync();
    expect(body.style.height).toBe(`${99 * 76}px`);
    expect(table.names()).toEqual(namesFrom(12, 31));
    expect(table.line('r21').style.transform).toBe(`translateY(${20 * 76}px)`);
    table.element.style.removeProperty('--row');
    table.resized();
    await vi.advanceTimersToNextTimerAsync();
    expect(body.style.height).toBe('99px');
  });

  it('follow the order and the filter', () => {
    const table = openTable({ rigs: 15 });
    const kept = table.line('r05');
    table.show({ downwards: true });
    expect(table.names()).toEqual(namesFrom(2, 15).reverse());
    expect(table.line('r05')).toBe(kept);
    expect(kept.getAttribute('aria-rowindex')).toBe('12');
    table.show({ text: 'r1', downwards: false });
    expect(table.names()).toEqual(namesFrom(9, 15));
    table.show({ text: 'none' });
    expect(table.names()).toEqual([]);
    table.show({ text: '' });
    expect(table.names()).toEqual(namesFrom(0, 13));
  });

  it('have the current row among them, though it may be out of sight', async () => {
    const table = openTable({ rigs: 99 });
    for (const [at, first, last] of [
      [3, 'r04', 'r33'],
      [11, 'r12', 'r33'],
      [12, 'r13', 'r33'],
      [13, 'r13', 'r33'],
      [32, 'r13', 'r33'],
      [33, 'r13', 'r34'],
      [70, 'r13', 'r71'],
    ] as const) {
      await table.scroll(at);
      click(table.cell(nameAt(at), 'rig'));
      await table.scroll(20);
      const names = table.names();
      expect([table.current(), names[0], names.at(-1)]).toEqual([nameAt(at), first, last]);
      expect(names).toEqual(names.toSorted());
      const marked = table.lines().filter(({ classList }) => classList.contains('current'));
      expect(marked).toEqual([table.line(nameAt(at))]);
    }
  });

  it('have no current row when its rig is no longer shown', () => {
    const table = openTable();
    click(table.cell('r03', 'rig'));
    table.show({ text: 'r1' });
    expect(table.current()).toBeUndefined();
    expect(table.element.hasAttribute('aria-activedescendant')).toBe(false);
    table.show({ text: '' });
    expect(table.current()).toBeUndefined();
  });
});

describe('a row', () => {
  it('shows its state and problems', () => {
    const failed = { faulty: true, deviceCount: 2, failedDeviceCount: 1 };
    const noSource = { faulty: true, state: 'no-source', stateReason: 'lost', failedDeviceCount: 0 } as const;
    const cases: [more: Partial<RigSummary>, ...looks: string[]][] = [
      [{}, 'mining', 'mining', ''],
      [failed, 'faulty', 'mining', '1 of 2 failed'],
      [noSource, 'no-source', 'no source', 'lost'],
      [{ duplicate: true, state: 'paused', stateReason: 'hot' }, 'paused', 'paused', 'name used twice, hot'],
      [{ silent: true, faulty: true }, 'silent', 'silent', ''],
      [{ ageSeconds: 10 }, 'asked', 'asked to pause', ''],
      [{ ageSeconds: 10, ...failed }, 'asked', 'asked to pause', '1 of 2 failed'],
    ];
    const table = openTable({ rigs: cases.map(([more], at) => rig(nameAt(at), more)) });
    table.rows.noteAsked('asked to pause', NOW, ['r06', 'r07']);
    table.show();
    for (const [index, [, ...looks]] of cases.entries()) {
      const line = table.line(nameAt(index));
      const marks = line.querySelector('.marks');
      const text = line.querySelector('.badge')?.textContent;
      expect([line.getAttribute('data-state'), text, marks?.textContent]).toEqual(looks);
      expect(marks?.getAttribute('title')).toBe(marks?.textContent);
    }
  });

  it('has a cell of each column, and an unknown value is a dash', () => {
    const table = openTable({ rigs: [rig('r01', { celsius: null, watts: 300, coordinator: null })] });
    const cells = [...table.line('r01').children].map((each) => [
      each.getAttribute('data-column'),
      each.getAttribute('role'),
      each.className,
    ]);
    const figures = Object.entries(FLEET_COLUMNS).filter(([, { isFigure }]) => isFigure);
    expect(cells.map(([name]) => name)).toEqual(['select', ...Object.keys(FLEET_COLUMNS)]);
    expect(cells.map(([, role]) => role)).toEqual(['gridcell', 'rowheader', ...Array(10).fill('gridcell')]);
    expect(cells.filter(([, , name]) => name === 'number').map(([name]) => name)).toEqual(
      figures.map(([name]) => name),
    );
    const texts = ['temperature', 'power', 'coordinator'].map((name) => table.cell('r01', name).textContent);
    expect(texts).toEqual(['–', '300 W', '–']);
    const parts = (column: string) => [...table.cell('r01', column).children].map((each: Element) => each.className);
    expect([parts('rig'), parts('state'), parts('power')]).toEqual([['text'], ['badge', 'marks'], ['text']]);
  });

  it('shows new figures, and how old its report is by now', () => {
    const table = openTable({ rigs: 2 });
    const looks = () => ['hashrate', 'report'].map((column) => table.cell('r01', column).textContent);
    const [before] = looks();
    table.show({}, 7_000);
    expect(looks()).toEqual([before, '7 s ago']);
    table.rows.apply({
      whole: false,
      rigs: [rig('r01', { hashesPerSecond: 9e9 })],
      goneRigs: [],
      timeMillis: NOW + 7_000,
    });
    table.show();
    expect(looks()).toEqual(['9.000 GH/s', '0 s ago']);
  });

  it.each([true, false])('can be selected where control is allowed: %s', (selectable) => {
    const table = openTable({ rigs: 2, selectable });
    table.selected.add('r01');
    table.show();
    const looks = (name: string) => [
      table.cell(name, 'select').hidden,
      table.cell(name, 'select').textContent,
      table.line(name).getAttribute('aria-selected'),
    ];
    expect(looks('r01')).toEqual(selectable ? [false, '☑', 'true'] : [true, '☐', null]);
    expect(looks('r02')).toEqual(selectable ? [false, '☐', 'false'] : [true, '☐', null]);
    expect(table.one('#rig-table thead [data-column=select]').hidden).toBe(!selectable);
    expect(table.element.classList.contains('selectable')).toBe(selectable);
    expect(table.element.getAttribute('aria-multiselectable')).toBe(String(selectable));
  });
});

describe('the heads of the columns', () => {
  it('tell the order, and sort by their column', () => {
    const table = openTable();
    const sorts = () =>
      Object.keys(FLEET_COLUMNS).map((name) =>
        table.one(`#rig-table th[data-column=${name}]`).getAttribute('aria-sort'),
      );
    const others = Array(10).fill('none');
    expect(sorts()).toEqual(['ascending', ...others]);
    expect(table.one('#rig-table thead [data-column=rig]').textContent).toBe('rig ▲');
    table.show({ sort: 'report', downwards: true });
    expect(sorts()).toEqual([...others, 'descending']);
    expect(table.texts('#rig-table thead th').slice(1)).toEqual(
      Object.values(FLEET_COLUMNS).map(({ heading }, at) => (at === 10 ? `${heading} ▼` : heading)),
    );
    for (const name of Object.keys(FLEET_COLUMNS)) click(table.one(`#rig-table th[data-column=${name}] button`));
    expect(table.told).toEqual(Object.keys(FLEET_COLUMNS).map((name) => `sort ${name}`));
    expect(table.one('thead [data-column=power]').className).toBe('number');
    expect(table.one('thead [data-column=group]').className).toBe('');
  });

  it('have roles that screen readers take for a grid', () => {
    const table = openTable();
    expect(table.element.getAttribute('role')).toBe('grid');
    expect(table.element.getAttribute('tabindex')).toBe('0');
    expect(table.one('#rig-table thead tr').getAttribute('aria-rowindex')).toBe('1');
    expect(table.one('#rig-table thead').getAttribute('role')).toBe('rowgroup');
    expect(table.one('#rig-table tbody').getAttribute('role')).toBe('rowgroup');
  });

  it('select all rigs that are shown, or none of them if all are selected', () => {
    const table = openTable({ rigs: 12 });
    const all = table.one('#rig-table thead button.check');
    const looks = () => [all.getAttribute('aria-pressed'), all.textContent];
    expect(looks()).toEqual(['false', '☐']);
    table.show({ text: 'r1' });
    click(all);
    expect(table.told).toEqual(['select r10 r11 r12']);
    expect(looks()).toEqual(['true', '☑']);
    table.show({ text: '' });
    expect(looks()).toEqual(['false', '☐']);
    table.show({ text: 'r1' });
    click(all);
    expect(table.told.at(-1)).toBe('deselect r10 r11 r12');
    table.show({ text: 'none' });
    expect(looks()).toEqual(['false', '☐']);
  });
});
