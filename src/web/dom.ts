/** Changes to the document, as few as it takes: what stays the same is left alone, and with it selection and focus. */

import { shortName } from '../report/figures.ts';
import type { Status } from '../report/http/schemas.ts';
import { formatHashrate, withPrefix } from '../report/units.ts';

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
 * The children of one element, each with a name of its own: rows stay the same elements as long as their name is there.
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

/**
 * @returns one sentence for all devices that do the same, unlike before, and one for each source. Why a whole rig does
 *   not mine is said below its hashrate, and not a second time
 */
export function changes(before: Status, now: Status): string[] {
  const changed = Object.entries(now.devices).filter(([name, { state, reason }]) => {
    const old = before.devices[name];
    return old?.state !== state || (state !== 'ready' && old.reason !== reason);
  });
  const devices = new Map<string, string[]>();
  for (const [name, { state, reason }] of changed) {
    const does = reason === null || now.stateReason !== null ? state : `${state}: ${reason}`;
    devices.set(does, [...(devices.get(does) ?? []), name]);
  }
  const sources = Object.entries(now.sources)
    .filter(([url, { state }]) => before.sources[url]?.state !== state)
    .map(([url, { state }]) => `${url} is ${state}`);
  return [
    ...Array.from(devices, ([does, names]) => `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} ${does}`),
    ...sources,
  ];
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

/* Figures as the page shows them, beside those of `report/units.ts`. */

/** Stands for a figure that is not known. */
export const UNKNOWN = '–';

/** How many decimal places coins have. */
const COIN_PLACES = 12;

export function known<Value>(value: Value | null | undefined, format: (value: Value) => string): string {
  return value === null || value === undefined ? UNKNOWN : format(value);
}

export const hashrate = (value: number | null | undefined): string => known(value, formatHashrate);

/** `17.2 M`, `0` */
export const amount = (value: number | null): string => known(value, (one) => withPrefix(one).trimEnd());

/** @returns an exact decimal with all 12 places, so that points stand below each other: `12.500000000000` */
export function coins(decimal: string): string {
  return decimal.padEnd(decimal.indexOf('.') + 1 + COIN_PLACES, '0');
}

/** `0.31 ms`, `12.3 ms`, `1.24 s` */
export function latency(seconds: number): string {
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  const ms = seconds * 1000;
  return `${ms.toFixed(ms < 1 ? 2 : ms < 100 ? 1 : 0)} ms`;
}

export const celsius = (value: number): string => `${value.toFixed(0)} °C`;
export const watts = (value: number): string => `${value.toFixed(0)} W`;

/** What is proven of the hashes counted, with its 95 % interval: `99.8 %` and `98.1 to 101.5 %`. */
export function provenPart({ proven, hashes }: Pick<Status['devices'][string], 'proven' | 'hashes'>): [string, string] {
  if (!proven || hashes === 0) return [UNKNOWN, ''];
  const part = (value: number) => ((100 * value) / hashes).toFixed(1);
  return [`${part(proven.hashes)} %`, `${part(proven.low)} to ${part(proven.high)} %`];
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `15:32`, in this browser's time zone. */
export function clock(timeMs: number): string {
  const time = new Date(timeMs);
  return `${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** `15:32:07` */
export function clockSeconds(timeMs: number): string {
  return `${clock(timeMs)}:${two(new Date(timeMs).getSeconds())}`;
}

/* Names of workers, which often contain a public key. */

/** The name, shortened. If that leaves something out, it is a button that shows the whole name and copies it. */
export function nameElement(name: string): HTMLElement {
  const short = shortName(name);
  if (short === name) return element('span', { class: 'name' }, name);
  const button = element('button', { type: 'button', class: 'name', title: name, 'aria-expanded': 'false' }, short);
  button.addEventListener('click', async () => {
    const wasWhole = button.getAttribute('aria-expanded') === 'true';
    setAttribute(button, 'aria-expanded', String(!wasWhole));
    setText(button, wasWhole ? short : name);
    if (!wasWhole)
      announce((await copy(name)) ? `copied: ${name}` : `not copied, since the browser forbids it: ${name}`);
  });
  return button;
}

/** @returns whether it is in the clipboard now */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyWithEvent(text);
  }
}

/**
 * Browsers have a clipboard for scripts only on loopback and with TLS. On other addresses only this old command copies.
 */
function copyWithEvent(text: string): boolean {
  let isCopied = false;
  const fill = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    isCopied = true;
  };
  document.addEventListener('copy', fill, { once: true });
  const isDone = document.execCommand('copy');
  document.removeEventListener('copy', fill);
  return isDone && isCopied;
}
