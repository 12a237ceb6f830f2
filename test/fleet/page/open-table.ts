/** The table of rigs without the rest of the page: five rows fit into it, four of them below the headings. */

import type { HTMLElement } from 'happy-dom';
import { vi } from 'vitest';
import type { RigSummary } from '#pickaxe/fleet/operator/fleet-answers.js';
import { type FleetView, viewOf } from '#pickaxe/fleet/page/rig-rows.js';
import { FleetTable } from '#pickaxe/fleet/page/rig-table.js';
import { layOut, openWindow, press } from '../../rig/page/window.ts';
import { NOW, rig, rowsOf } from './rows.ts';

export const ROW_PX = 38;

interface Settings {
  /** The rigs, or the number of rigs, which are named r01, r02 and so on. */
  readonly rigs?: number | readonly RigSummary[];
  readonly selectable?: boolean;
  /** Height of the scroller, with the headings. */
  readonly heightPx?: number;
}

export const nameAt = (at: number): string => `r${String(at + 1).padStart(2, '0')}`;

export function openTable({ rigs = 20, selectable = true, heightPx = 5 * ROW_PX }: Settings = {}) {
  const page = openWindow('fleet');
  const scroller = page.byId('rig-scroller');
  const element = page.byId('rig-table');
  layOut(scroller, { clientHeight: heightPx });
  element.style.setProperty('--row', `${ROW_PX}px`);
  const all = typeof rigs === 'number' ? Array.from({ length: rigs }, (_, at) => rig(nameAt(at))) : rigs;
  const rows = rowsOf(...all);
  const selected = new Set<string>();
  /** What the table has told its page: `sort power`, `open r01`, `select r01 r02`, `deselect r01`. */
  const told: string[] = [];
  let view: FleetView = viewOf('');
  let nowMs = NOW;
  const table = new FleetTable({
    sort: (column) => told.push(`sort ${column}`),
    open: (name) => told.push(`open ${name}`),
    select: (names, isSelected) => {
      told.push(`${isSelected ? 'select' : 'deselect'} ${names.join(' ')}`);
      for (const name of names) isSelected ? selected.add(name) : selected.delete(name);
      show();
    },
  });
  layOut(page.one('#rig-table thead'), { offsetHeight: ROW_PX });

  function show(part: Partial<FleetView> = {}, laterMs = 0): void {
    view = { ...view, ...part };
    nowMs += laterMs;
    const { sort, downwards } = view;
    table.show({ rows: rows.shown(view), selected, selectable, sort, downwards, nowMs });
  }
  show();

  const lines = () => [...page.document.querySelectorAll('#rig-table tbody tr')] as unknown as HTMLElement[];
  const nameOf = (line: HTMLElement) => line.querySelector('th')?.textContent;
  const line = (name: string) => {
    const found = lines().find((each) => nameOf(each) === name);
    if (!found) throw new Error(`${name} is not in the document`);
    return found;
  };
  return {
    ...page,
    element,
    scroller,
    rows,
    selected,
    told,
    show,
    /** The rows in the document. */
    lines,
    line,
    names: () => lines().map(nameOf),
    cell: (name: string, column: string) =>
      line(name).querySelector(`[data-column=${column}]`) as unknown as HTMLElement,
    /** The name of the rig in the current row. */
    current(): string | undefined {
      const id = element.getAttribute('aria-activedescendant');
      return id === null ? undefined : nameOf(page.byId(id));
    },
    /** Scrolls so that this many rows are above the top, and waits for the next frame. */
    async scroll(rowsAbove: number): Promise<void> {
      scroller.scrollTop = rowsAbove * ROW_PX;
      scroller.dispatchEvent(new page.window.Event('scroll'));
      await vi.advanceTimersToNextTimerAsync();
    },
  };
}

export type OpenTable = ReturnType<typeof openTable>;

/** Presses keys such as `Shift+End` on the table. */
export function pressKeys(table: OpenTable, ...keys: string[]): void {
  table.element.focus();
  for (const each of keys) {
    const key = each.replace(/^Shift\+/, '');
    press(table, key, { shiftKey: key !== each });
  }
}
