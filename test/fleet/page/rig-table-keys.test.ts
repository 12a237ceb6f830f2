/** The keyboard and the mouse in the table of rigs. */

import { describe, expect, it } from 'vitest';
import { click, press } from '../../rig/page/window.ts';
import { nameAt, openTable, pressKeys, ROW_PX } from './open-table.ts';

describe('a key', () => {
  // Four rows are in sight below the headings, so a page has three.
  it.each<[key: string, moves: [from: number | undefined, above: number, to: number, aboveNow: number][]]>([
    [
      'ArrowDown',
      [
        [undefined, 0, 0, 0],
        [0, 0, 1, 0],
        [3, 0, 4, 1],
        [19, 16, 19, 16],
      ],
    ],
    [
      'ArrowUp',
      [
        [undefined, 0, 0, 0],
        [0, 0, 0, 0],
        [5, 5, 4, 4],
        [6, 5, 5, 5],
        [5, 3, 4, 3],
      ],
    ],
    [
      'PageDown',
      [
        [undefined, 0, 2, 0],
        [2, 0, 5, 2],
        [18, 16, 19, 16],
      ],
    ],
    [
      'PageUp',
      [
        [undefined, 0, 0, 0],
        [10, 8, 7, 7],
        [2, 0, 0, 0],
      ],
    ],
    [
      'Home',
      [
        [undefined, 10, 0, 0],
        [15, 12, 0, 0],
      ],
    ],
    [
      'End',
      [
        [undefined, 0, 19, 16],
        [4, 4, 19, 16],
        [18, 17, 19, 17],
      ],
    ],
  ])('%s moves the current row, and scrolls no more than it must', async (key, moves) => {
    const table = openTable();
    for (const [from, above, to, aboveNow] of moves) {
      table.show({ text: 'none' });
      await table.scroll(from ?? 0);
      table.show({ text: '' });
      if (from !== undefined) click(table.cell(nameAt(from), 'rig'));
      await table.scroll(above);
      table.told.length = 0;
      // Without a current row, the focus would choose one, so the key is pressed without it.
      const isOwn = !table.element.dispatchEvent(keydown(table, key));
      const outcome = [isOwn, table.current(), table.scroller.scrollTop / ROW_PX];
      expect([from, above, ...outcome]).toEqual([from, above, true, nameAt(to), aboveNow]);
      expect(table.told).toEqual([]);
    }
  });

  it('moves by one row at least, however low the window is', async () => {
    const table = openTable({ heightPx: 60 });
    pressKeys(table, 'PageDown', 'PageDown');
    expect(table.current()).toBe('r03');
  });

  it.each<[keys: string[], told: string[]]>([
    [[' '], ['select r01']],
    [
      [' ', ' '],
      ['select r01', 'deselect r01'],
    ],
    [['ArrowDown', 'Enter'], ['open r02']],
    [['Shift+ArrowDown'], ['select r01 r02']],
    [
      ['ArrowDown', 'Shift+ArrowDown', 'Shift+ArrowDown'],
      ['select r02 r03', 'select r02 r03 r04'],
    ],
    [
      ['End', 'Shift+ArrowUp', 'Shift+PageUp'],
      ['select r19 r20', 'select r16 r17 r18 r19 r20'],
    ],
    [
      ['PageDown', ' ', 'Shift+Home', 'Shift+ArrowDown'],
      ['select r04', 'select r01 r02 r03 r04', 'select r02 r03 r04'],
    ],
    [
      ['ArrowDown', 'Shift+ArrowDown', 'ArrowDown', 'Shift+ArrowDown'],
      ['select r02 r03', 'select r04 r05'],
    ],
    [
      ['Shift+ArrowDown', 'ArrowDown', ' ', 'Shift+ArrowUp'],
      ['select r01 r02', 'select r03', 'select r02 r03'],
    ],
    [['Shift+Tab', 'x', 'Escape'], []],
  ])('%j selects and opens', (keys, told) => {
    const table = openTable();
    pressKeys(table, ...keys);
    expect(table.told).toEqual(told);
  });

  it.each(['Control', 'Meta'])('%s+A selects all rigs that are shown, and then none', (held) => {
    const table = openTable({ rigs: 3 });
    table.element.focus();
    const all = { ctrlKey: held === 'Control', metaKey: held === 'Meta' };
    expect(press(table, 'a', all)).toBe(true);
    expect(press(table, 'a', all)).toBe(true);
    expect(table.told).toEqual(['select r01 r02 r03', 'deselect r01 r02 r03']);
    for (const key of ['b', 'ArrowDown', ' ', 'Enter']) expect(press(table, key, all)).toBe(false);
    expect(press(table, 'a')).toBe(false);
    expect(press(table, 'a', { ...all, altKey: true })).toBe(false);
    expect(press(table, 'ArrowDown', { altKey: true })).toBe(false);
    expect([table.told.length, table.current()]).toEqual([2, 'r01']);
  });

  it('selects nothing where control is not allowed', () => {
    const table = openTable({ rigs: 5, selectable: false });
    pressKeys(table, ' ', 'Shift+ArrowDown', 'Shift+End');
    expect([table.told, table.current()]).toEqual([[], 'r05']);
    expect(press(table, 'a', { ctrlKey: true })).toBe(false);
    expect(press(table, ' ')).toBe(true);
    pressKeys(table, 'Enter');
    expect(table.told).toEqual(['open r05']);
  });

  it('does nothing without a row', () => {
    const table = openTable({ rigs: 0 });
    table.element.focus();
    const keys = ['ArrowDown', 'ArrowUp', 'PageUp', 'Home', 'End', 'Enter', ' '];
    expect(keys.filter((key) => press(table, key))).toEqual([]);
    expect(press(table, 'a', { ctrlKey: true })).toBe(false);
    expect([table.told, table.current()]).toEqual([[], undefined]);
  });

  it('opens and selects nothing without a current row', () => {
    const table = openTable();
    for (const key of ['Enter', ' ']) expect(table.element.dispatchEvent(keydown(table, key))).toBe(true);
    expect(table.told).toEqual([]);
  });

  it('with Shift selects from the first row if there is no current row', () => {
    const table = openTable();
    table.element.dispatchEvent(keydown(table, 'PageDown', true));
    expect([table.told, table.current()]).toEqual([['select r01 r02 r03'], 'r03']);
  });

  it('is left to the buttons in the table', () => {
    const table = openTable();
    table.one('#rig-table thead button').focus();
    for (const key of ['Enter', ' ', 'ArrowDown']) expect(press(table, key)).toBe(false);
    expect([table.told, table.current()]).toEqual([[], undefined]);
  });

  it('selects from the rig at which the range began, also when others are between or it is gone', () => {
    const table = openTable();
    pressKeys(table, 'ArrowDown', 'ArrowDown');
    table.show({ downwards: true });
    pressKeys(table, 'Shift+ArrowUp');
    expect(table.told).toEqual(['select r04 r03']);
    table.show({ text: 'r1' });
    pressKeys(table, 'Shift+ArrowDown');
    expect(table.told.slice(1)).toEqual(['select r19']);
  });
});

describe('the focus', () => {
  it('makes the first whole row in sight the current one', async () => {
    const table = openTable();
    for (const [above, name] of [
      [0, 'r01'],
      [7, 'r08'],
      [7.5, 'r09'],
      [30, 'r20'],
    ] as const) {
      table.show({ text: 'none' });
      table.show({ text: '' });
      table.element.blur();
      await table.scroll(above);
      expect(table.current()).toBeUndefined();
      table.element.focus();
      expect(table.current()).toBe(name);
      await table.scroll(2);
      table.element.blur();
      table.element.focus();
      expect(table.current()).toBe(name);
    }
  });

  it('finds no row in an empty table', () => {
    const table = openTable({ rigs: 0 });
    table.element.focus();
    expect(table.current()).toBeUndefined();
  });
});

describe('a click', () => {
  it('on a row makes it the current one, and opens it', () => {
    const table = openTable();
    click(table.cell('r03', 'power'));
    expect([table.told, table.current()]).toEqual([['open r03'], 'r03']);
    click(table.line('r05'));
    expect([table.told.at(-1), table.current()]).toEqual(['open r05', 'r05']);
    click(table.cell('r02', 'state').querySelector('.badge') as never);
    expect([table.told.at(-1), table.current()]).toEqual(['open r02', 'r02']);
    click(table.one('#rig-table tbody'));
    expect([table.told.length, table.current()]).toEqual([3, 'r02']);
  });

  it('on the mark of a row selects it, and with Shift all rows from the last one', () => {
    const table = openTable();
    const mark = (name: string, isShift = false) => {
      click(table.cell(name, 'select').querySelector('span') as never, { shiftKey: isShift });
      return table.told.at(-1);
    };
    expect(mark('r04', true)).toBe('select r04');
    expect(mark('r04')).toBe('deselect r04');
    expect(mark('r07', true)).toBe('select r04 r05 r06 r07');
    expect(mark('r02', true)).toBe('select r02 r03 r04');
    expect([table.told.length, table.current()]).toEqual([4, 'r02']);
    expect(mark('r10')).toBe('select r10');
    pressKeys(table, 'Shift+ArrowDown');
    expect(table.told.at(-1)).toBe('select r10 r11');
  });
});

function keydown(table: ReturnType<typeof openTable>, key: string, shiftKey = false) {
  return new table.window.KeyboardEvent('keydown', { key, shiftKey, bubbles: true, cancelable: true });
}
