/**
 * The table of rigs. Only the visible rows, a few rows next to them and the current row are in the document, so that
 * ten thousand rigs scroll as smoothly as ten. For screen readers, the table is a grid whose rows have their indices
 * (WAI-ARIA 1.2, grid). Rows are added and removed all the time, so the focus is not on a row, but stays on the table,
 * which refers to the current row.
 */

import { byId, cell, columnHead, element, rowHead, setAttribute, setText, tableRow } from '../../rig/page/dom.ts';
import { UNKNOWN } from '../../rig/page/format.ts';
import { FLEET_COLUMNS, type FleetColumn, type FleetRow, marksOf } from './rig-rows.ts';

/**
 * Number of rows that are drawn above the visible rows, and below them, so that scrolling shows no gap before the next
 * frame.
 */
const MARGIN_ROWS = 8;

interface ShownRows {
  readonly rows: readonly FleetRow[];
  readonly selected: ReadonlySet<string>;
  readonly selectable: boolean;
  readonly sort: string;
  readonly downwards: boolean;
  /** The time by the server's clock, in ms since the UNIX epoch. */
  readonly nowMs: number;
}

interface Listener {
  sort(column: string): void;
  open(rig: string): void;
  /** @param rigs names of rigs @param select whether to select the rigs, or to deselect them */
  select(rigs: readonly string[], select: boolean): void;
}

export class FleetTable {
  readonly #listener: Listener;
  readonly #scroller = byId('rig-scroller');
  readonly #table = byId('rig-table');
  readonly #head: HTMLElement;
  readonly #body = element('tbody', { role: 'rowgroup' });
  readonly #heads: ReadonlyMap<string, { readonly cell: HTMLElement; readonly arrow: HTMLElement }>;
  readonly #selectHead: HTMLElement;
  readonly #selectAll = element('button', { type: 'button', class: 'check', 'aria-label': 'Select all rigs shown' });
  /** Rows in the document, by the name of the rig. */
  readonly #lines = new Map<string, Line>();
  #shown: ShownRows = { rows: [], selected: new Set(), selectable: false, sort: '', downwards: false, nowMs: 0 };
  #places = new Map<string, number>();
  /** The rig of the current row. */
  #current: string | undefined;
  /** The rig at which a range of selected rows begins. */
  #anchor: string | undefined;
  #made = 0;
  #rowPx = 1;
  #isDue = false;

  constructor(listener: Listener) {
    this.#listener = listener;
    this.#heads = new Map(Object.entries(FLEET_COLUMNS).map(([name, column]) => [name, this.#makeHead(name, column)]));
    this.#selectHead = columnHead({ 'data-column': 'select' }, this.#selectAll);
    const heads = tableRow(this.#selectHead, ...Array.from(this.#heads.values(), ({ cell }) => cell));
    heads.setAttribute('aria-rowindex', '1');
    this.#head = element('thead', { role: 'rowgroup' }, heads);
    setAttribute(this.#table, 'role', 'grid');
    setAttribute(this.#table, 'tabindex', '0');
    this.#table.append(this.#head, this.#body);
    this.#selectAll.addEventListener('click', () => this.#toggleAll());
    this.#table.addEventListener('keydown', (event) => this.#key(event));
    this.#table.addEventListener('focus', () => this.#focused());
    this.#body.addEventListener('click', (event) => this.#click(event));
    this.#scroller.addEventListener('scroll', () => this.#drawSoon(), { passive: true });
    new ResizeObserver(() => this.#drawSoon()).observe(this.#scroller);
  }

  show(shown: ShownRows): void {
    this.#shown = shown;
    this.#places = new Map(shown.rows.map(({ rig }, at) => [rig.name, at]));
    if (this.#current !== undefined && !this.#places.has(this.#current)) this.#current = undefined;
    for (const [name, { cell, arrow }] of this.#heads) {
      const order = name !== shown.sort ? 'none' : shown.downwards ? 'descending' : 'ascending';
      setAttribute(cell, 'aria-sort', order);
      setText(arrow, { none: '', ascending: ' ▲', descending: ' ▼' }[order]);
    }
    this.#selectHead.hidden = !shown.selectable;
    this.#table.classList.toggle('selectable', shown.selectable);
    setAttribute(this.#table, 'aria-multiselectable', String(shown.selectable));
    setAttribute(this.#table, 'aria-rowcount', String(shown.rows.length + 1));
    const selected = shown.rows.filter(({ rig }) => shown.selected.has(rig.name)).length;
    setAttribute(this.#selectAll, 'aria-pressed', String(selected > 0 && selected === shown.rows.length));
    setText(this.#selectAll, checkText(selected > 0 && selected === shown.rows.length));
    this.#draw();
  }

  #makeHead(name: string, { heading, isFigure }: FleetColumn): { cell: HTMLElement; arrow: HTMLElement } {
    const arrow = element('span', { 'aria-hidden': 'true' });
    const button = element('button', { type: 'button', class: 'sort' }, heading, arrow);
    button.addEventListener('click', () => this.#listener.sort(name));
    return { cell: columnHead({ class: isFigure ? 'number' : '', 'data-column': name }, button), arrow };
  }

  /* Drawing */

  #drawSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#draw();
    });
  }

  #draw(): void {
    const { rows } = this.#shown;
    // The height is read each time, because CSS makes rows higher in narrow windows.
    this.#rowPx = Number.parseFloat(getComputedStyle(this.#table).getPropertyValue('--row')) || 1;
    const height = `${rows.length * this.#rowPx}px`;
    if (this.#body.style.height !== height) this.#body.style.height = height;
    const top = this.#scroller.scrollTop / this.#rowPx;
    const first = Math.max(0, Math.floor(top) - MARGIN_ROWS);
    const last = Math.min(rows.length, Math.ceil(top + this.#scroller.clientHeight / this.#rowPx) + MARGIN_ROWS);
    const wanted = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at);
    const current = this.#current === undefined ? undefined : this.#places.get(this.#current);
    // The table refers to its current row, which must therefore be in the document.
    if (current !== undefined && (current < first || current >= last)) {
      if (current < first) wanted.unshift(current);
      else wanted.push(current);
    }
    this.#place(wanted);
    const line = this.#current === undefined ? undefined : this.#lines.get(this.#current);
    if (line) setAttribute(this.#table, 'aria-activedescendant', line.element.id);
    else this.#table.removeAttribute('aria-activedescendant');
  }

  /**
   * Puts the wanted rows into the document, and removes all others. Elements of removed rows are reused.
   * @param wanted positions in the shown rows, in ascending order
   */
  #place(wanted: readonly number[]): void {
    const { rows } = this.#shown;
    const names = new Set(wanted.map((at) => rows[at].rig.name));
    const spare = new Map<Element, Line>();
    for (const [name, line] of this.#lines) {
      if (names.has(name)) continue;
      this.#lines.delete(name);
      spare.set(line.element, line);
    }
    const nextKept = (from: Element | null) => {
      let each = from;
      while (each && spare.has(each)) each = each.nextElementSibling;
      return each;
    };
    let before = nextKept(this.#body.firstElementChild);
    for (const at of wanted) {
      const { name } = rows[at].rig;
      const line = this.#lines.get(name) ?? takeAny(spare) ?? new Line(`rig-row-${this.#made++}`);
      this.#lines.set(name, line);
      // Screen readers read rows in the order of the document. So this order must be the same as on the screen.
      if (line.element === before) before = nextKept(before.nextElementSibling);
      else this.#body.insertBefore(line.element, before);
      line.show(at, this.#rowPx, this.#shown, this.#current === name);
    }
    for (const element of spare.keys()) element.remove();
  }

  /* The current row, and the selection */

  #key(event: KeyboardEvent): void {
    if (event.target !== this.#table || event.altKey) return;
    const { rows, selectable, selected } = this.#shown;
    if (rows.length === 0) return;
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && event.key === 'a' && selectable) {
      event.preventDefault();
      this.#toggleAll();
      return;
    }
    if (isCommand) return;
    const at = this.#current === undefined ? -1 : (this.#places.get(this.#current) ?? -1);
    const page = Math.max(1, Math.floor(this.#inSightPx / this.#rowPx) - 1);
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: Math.max(0, at) - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: rows.length - 1,
    };
    if (Object.hasOwn(moves, event.key)) {
      event.preventDefault();
      const to = Math.min(rows.length - 1, Math.max(0, moves[event.key]));
      if (event.shiftKey && selectable) this.#selectRange(this.#anchor ?? rows[Math.max(0, at)].rig.name, to);
      else this.#anchor = rows[to].rig.name;
      this.#moveTo(to);
    } else if (this.#current !== undefined && event.key === 'Enter') {
      event.preventDefault();
      this.#listener.open(this.#current);
    } else if (this.#current !== undefined && event.key === ' ') {
      event.preventDefault();
      this.#anchor = this.#current;
      if (selectable) this.#listener.select([this.#current], !selected.has(this.#current));
    }
  }

  #click(event: MouseEvent): void {
    const { target } = event;
    const line = [...this.#lines].find(([, { element }]) => target instanceof Node && element.contains(target));
    if (!line || !(target instanceof Element)) return;
    const [name] = line;
    this.#current = name;
    if (!target.closest('[data-column=select]')) {
      this.#draw();
      this.#listener.open(name);
    } else if (event.shiftKey && this.#anchor !== undefined) {
      this.#selectRange(this.#anchor, this.#places.get(name) ?? 0);
    } else {
      this.#anchor = name;
      this.#listener.select([name], !this.#shown.selected.has(name));
    }
  }

  #focused(): void {
    const { rows } = this.#shown;
    if (this.#current === undefined && rows.length > 0) {
      this.#current = rows[Math.min(rows.length - 1, Math.ceil(this.#scroller.scrollTop / this.#rowPx))].rig.name;
      this.#draw();
    }
  }

  #selectRange(from: string, to: number): void {
    this.#anchor = from;
    const start = this.#places.get(from) ?? to;
    const range = this.#shown.rows.slice(Math.min(start, to), Math.max(start, to) + 1);
    this.#listener.select(
      range.map(({ rig }) => rig.name),
      true,
    );
  }

  #toggleAll(): void {
    const names = this.#shown.rows.map(({ rig }) => rig.name);
    this.#listener.select(names, !names.every((name) => this.#shown.selected.has(name)));
  }

  /**
   * Height of the area in which rows are visible, in pixels. In wide windows, the column headings cover the top of the
   * scroller.
   */
  get #inSightPx(): number {
    return this.#scroller.clientHeight - this.#head.offsetHeight;
  }

  #moveTo(at: number): void {
    this.#current = this.#shown.rows[at].rig.name;
    const top = at * this.#rowPx;
    const lowest = top + this.#rowPx - this.#inSightPx;
    if (this.#scroller.scrollTop > top) this.#scroller.scrollTop = top;
    else if (this.#scroller.scrollTop < lowest) this.#scroller.scrollTop = lowest;
    this.#draw();
  }
}

function takeAny(spare: Map<Element, Line>): Line | undefined {
  for (const [element, line] of spare) {
    spare.delete(element);
    return line;
  }
  return undefined;
}

const checkText = (isOn: boolean): string => (isOn ? '☑' : '☐');

/** An element that shows a row. It is reused for other rigs. */
class Line {
  readonly element: HTMLElement;
  readonly #check = element('span', { 'aria-hidden': 'true' });
  readonly #select = cell({ 'data-column': 'select', role: 'gridcell' }, this.#check);
  readonly #cells: readonly { readonly column: FleetColumn; readonly text: HTMLElement }[];
  readonly #marks = element('span', { class: 'marks' });
  #last: FleetRow | undefined;
  #lastNowMs = 0;

  constructor(id: string) {
    const made = Object.entries(FLEET_COLUMNS).map(([name, column]) => {
      const text = element('span', { class: name === 'state' ? 'badge' : 'text' });
      const attributes = { class: column.isFigure ? 'number' : '', 'data-column': name };
      const content = name === 'state' ? [text, this.#marks] : [text];
      const whole = name === 'rig' ? rowHead(...content) : cell({ ...attributes, role: 'gridcell' }, ...content);
      whole.setAttribute('data-column', name);
      return { column, text, whole };
    });
    this.#cells = made;
    this.element = tableRow(this.#select, ...made.map(({ whole }) => whole));
    this.element.id = id;
  }

  show(at: number, rowPx: number, { rows, selected, selectable, nowMs }: ShownRows, isCurrent: boolean): void {
    const row = rows[at];
    const place = `translateY(${at * rowPx}px)`;
    if (this.element.style.transform !== place) this.element.style.transform = place;
    setAttribute(this.element, 'aria-rowindex', String(at + 2));
    this.element.classList.toggle('current', isCurrent);
    this.#select.hidden = !selectable;
    const isSelected = selectable && selected.has(row.rig.name);
    if (selectable) setAttribute(this.element, 'aria-selected', String(isSelected));
    else this.element.removeAttribute('aria-selected');
    setText(this.#check, checkText(isSelected));
    if (row === this.#last && nowMs === this.#lastNowMs) return;
    this.#last = row;
    this.#lastNowMs = nowMs;
    const state = row.faulty && row.state === 'mining' ? 'faulty' : row.state;
    setAttribute(this.element, 'data-state', row.asked === null ? state : 'asked');
    for (const { column, text } of this.#cells) setText(text, column.text(row, nowMs) ?? UNKNOWN);
    const marks = marksOf(row);
    setText(this.#marks, marks);
    setAttribute(this.#marks, 'title', marks);
  }
}
