/** Changes to the document, as few as it takes: what stays the same is left alone, and with it selection and focus. */

/** @throws Error when the page lacks it, which cannot happen while page and modules are of the same build */
export function byId<Type extends HTMLElement = HTMLElement>(id: string): Type {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as Type;
}

/** Children that are strings become text, never markup. */
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
 * Tables that CSS lays out as blocks on narrow screens. Some browsers then see no table unless the roles are given.
 */

/** @returns the table's body */
export function makeTable(table: HTMLElement, ...heads: HTMLElement[]): HTMLElement {
  table.setAttribute('role', 'table');
  const body = element('tbody', { role: 'rowgroup' });
  table.append(element('thead', { role: 'rowgroup' }, tableRow(...heads)), body);
  return body;
}

export function tableRow(...cells: HTMLElement[]): HTMLElement {
  return element('tr', { role: 'row' }, ...cells);
}

/** @param attributes such as the class `number` */
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
 * @param none whether there is nothing to count, which is shown in a quiet colour
 */
export function setFigure(name: string, text: string, none = false): void {
  const found = figure(name);
  setText(found, text);
  found.toggleAttribute('data-none', none);
}

/** Hides or shows the figure with its name. */
export function hideFigure(name: string, hidden: boolean): void {
  const pair = figure(name).parentElement;
  if (pair) pair.hidden = hidden;
}

/** @throws Error when the page lacks it */
function figure(name: string): Element {
  const found = document.querySelector(`[data-figure="${name}"]`);
  if (!found) throw new Error(`the page has no figure ${name}`);
  return found;
}

export interface Row<Item> {
  readonly element: HTMLElement;
  show(item: Item): void;
}

/**
 * The children of one element, by their names: rows stay the same elements as long as their name is there.
 */
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

/** The line that says what changed, which screen readers read out. Figures that change all the time are not in it. */
export function announce(news: string): void {
  setText(byId('news'), news);
}

/*
 * What the browser remembers of the page, where it is allowed to. Otherwise the page begins as it did the first time.
 */

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
    // Forbidden, or full.
  }
}

const OPEN = 'open';
const CLOSED = 'closed';

/** Opens and closes the panels that fold as they were left, and as the page has them the first time. */
export function rememberFolds(): void {
  for (const panel of document.querySelectorAll<HTMLDetailsElement>('details[id]')) {
    const stored = `pickaxe-fold-${panel.id}`;
    const left = recall('localStorage', stored);
    if (left === OPEN || left === CLOSED) panel.open = left === OPEN;
    panel.addEventListener('toggle', () => keep('localStorage', stored, panel.open ? OPEN : CLOSED));
  }
}
