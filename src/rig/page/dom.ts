/** Changes only the parts of the document that differ, so that the others keep selection and focus. */

/** @throws Error if there is no such element, which happens when page and modules are of different builds */
export function byId<Type extends HTMLElement = HTMLElement>(id: string): Type {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as Type;
}

/** Strings become text, never markup. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/* Tables that CSS shows as blocks on narrow screens. Some browsers then need explicit roles to see a table. */

/** @returns the body of the table */
export function makeTable(table: HTMLElement, ...heads: HTMLElement[]): HTMLElement {
  table.setAttribute('role', 'table');
  const body = element('tbody', { role: 'rowgroup' });
  table.append(element('thead', { role: 'rowgroup' }, tableRow(...heads)), body);
  return body;
}

export function tableRow(...cells: HTMLElement[]): HTMLElement {
  return element('tr', { role: 'row' }, ...cells);
}

export function columnHead(attributes: Readonly<Record<string, string>>, content: Node | string): HTMLElement {
  return element('th', { scope: 'col', role: 'columnheader', ...attributes }, content);
}

export function rowHead(...content: (Node | string)[]): HTMLElement {
  return element('th', { scope: 'row', role: 'rowheader' }, ...content);
}

export function cell(attributes: Readonly<Record<string, string>>, ...content: Node[]): HTMLElement {
  return element('td', { role: 'cell', ...attributes }, ...content);
}

export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

export function setAttribute(target: Element, name: string, value: string): void {
  if (target.getAttribute(name) !== value) target.setAttribute(name, value);
}

/**
 * Writes to the element with this `data-figure`.
 * @param none whether the text is shown in a quiet colour, because there is nothing to count
 */
export function setFigure(name: string, text: string, none = false): void {
  const found = figure(name);
  setText(found, text);
  found.toggleAttribute('data-none', none);
}

export function hideFigure(name: string, hidden: boolean): void {
  const pair = figure(name).parentElement;
  if (pair) pair.hidden = hidden;
}

function figure(name: string): Element {
  const found = document.querySelector(`[data-figure="${name}"]`);
  if (!found) throw new Error(`the page has no figure ${name}`);
  return found;
}

export interface Row<Item> {
  readonly element: HTMLElement;
  show(item: Item): void;
}

/** The rows of a parent element, by name. A row stays the same element as long as there is an item with its name. */
export class Rows<Item> {
  readonly #parent: Element;
  readonly #make: (name: string) => Row<Item>;
  readonly #rows = new Map<string, Row<Item>>();

  constructor(parent: Element, make: (name: string) => Row<Item>) {
    this.#parent = parent;
    this.#make = make;
  }

  show(items: readonly (readonly [string, Item])[]): void {
    const gone = new Set(this.#rows.keys());
    for (const [name] of items) gone.delete(name);
    for (const name of gone) {
      this.#rows.get(name)?.element.remove();
      this.#rows.delete(name);
    }
    for (const [index, [name, item]] of items.entries()) {
      let row = this.#rows.get(name);
      if (!row) {
        row = this.#make(name);
        this.#rows.set(name, row);
      }
      const there = this.#parent.children[index];
      if (there !== row.element) this.#parent.insertBefore(row.element, there ?? null);
      row.show(item);
    }
  }
}

/** The texts of a row beside its figures. */
export interface Named {
  /** A text below the name. */
  readonly about: string;
  readonly state: string;
  /** The reason for the state; empty if there is none. */
  readonly reason: string;
}

/**
 * Fills a table whose rows have a name, a state and figures.
 * @param what heading of the names @param figures by their headings
 */
export function tableOfNamed<Item>(
  table: HTMLElement,
  what: string,
  figures: Readonly<Record<string, (item: Item) => string>>,
  describe: (item: Item) => Named,
): Rows<Item> {
  const heads = Object.keys(figures).map((heading) => columnHead({ class: 'number', 'data-column': heading }, heading));
  const body = makeTable(table, columnHead({}, what), columnHead({}, 'state'), ...heads);
  return new Rows(body, (name) => namedRow(name, figures, describe));
}

function namedRow<Item>(
  name: string,
  figures: Readonly<Record<string, (item: Item) => string>>,
  describe: (item: Item) => Named,
): Row<Item> {
  const about = element('span', { class: 'about' });
  const state = element('span', { class: 'badge' });
  const reason = element('span', { class: 'reason' });
  const cells = Object.entries(figures).map(([heading, text]) => ({
    text,
    cell: cell({ class: 'number', 'data-label': heading }),
  }));
  return {
    element: tableRow(
      rowHead(element('span', { class: 'name' }, name), about),
      cell({ 'data-label': 'state' }, state, reason),
      ...cells.map(({ cell }) => cell),
    ),
    show(item) {
      const described = describe(item);
      setText(about, described.about);
      setText(state, described.state);
      setAttribute(state, 'data-state', described.state);
      setText(reason, described.reason);
      for (const { text, cell } of cells) setText(cell, text(item));
    },
  };
}

/** Writes news into the line that screen readers read out. Figures that change all the time do not belong there. */
export function announce(news: string): void {
  setText(byId('news'), news);
}

/* Settings that the browser remembers, where that is allowed. Otherwise defaults apply. */

type Kind = 'localStorage' | 'sessionStorage';

export function recall(kind: Kind, name: string): string | null {
  try {
    return window[kind].getItem(name);
  } catch {
    return null;
  }
}

export function keep(kind: Kind, name: string, value: string): void {
  try {
    window[kind].setItem(name, value);
  } catch {
    // Storage is forbidden or full.
  }
}

const OPEN = 'open';
const CLOSED = 'closed';

/** Restores which panels are folded, and stores changes. */
export function rememberFolds(): void {
  for (const panel of document.querySelectorAll<HTMLDetailsElement>('details[id]')) {
    const stored = `pickaxe-fold-${panel.id}`;
    const left = recall('localStorage', stored);
    if (left === OPEN || left === CLOSED) panel.open = left === OPEN;
    panel.addEventListener('toggle', () => keep('localStorage', stored, panel.open ? OPEN : CLOSED));
  }
}
