/** Changes the document. Parts that are already as wanted are not touched, so that they keep selection and focus. */

/** @throws Error if there is no element with this id, as when the page and this module are of different builds */
export function byId<Type extends HTMLElement = HTMLElement>(id: string): Type {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as Type;
}

/** @param children the content of the element. Strings become text, never markup */
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

/*
 * Tables. On narrow screens, CSS displays them in another layout. Some browsers then treat them as tables only if the
 * elements have explicit roles.
 */

/** Fills a table with a row of headings and a body. @returns the empty body */
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
 * Writes text into the element whose attribute `data-figure` is `name`.
 * @param none whether the figure is a count of 0, which is shown in a quiet colour
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

/** The rows of a parent element, by name. A row keeps its element until `show` gets no item of the row's name. */
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

/** The texts of a row, in addition to its name and its figures. */
export interface Named {
  /** Text below the name. */
  readonly about: string;
  readonly state: string;
  /** The reason for the state; empty if there is none. */
  readonly reason: string;
}

/**
 * Fills a table whose rows have a name, a state and figures.
 * @param what heading of the column with the names
 * @param figures functions that make the text of a figure, by the heading of the figure's column
 * @param describe makes the texts of a row
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

/** Writes a text into the line that screen readers read out. Do not use it for figures that change all the time. */
export function announce(news: string): void {
  setText(byId('news'), news);
}

/* Settings in the browser's storage. If the browser forbids storage, the page uses defaults. */

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

/** Opens or closes each folding panel as the user has left it, and stores later changes. */
export function rememberFolds(): void {
  for (const panel of document.querySelectorAll<HTMLDetailsElement>('details[id]')) {
    const stored = `pickaxe-fold-${panel.id}`;
    const left = recall('localStorage', stored);
    if (left === OPEN || left === CLOSED) panel.open = left === OPEN;
    panel.addEventListener('toggle', () => keep('localStorage', stored, panel.open ? OPEN : CLOSED));
  }
}
