/**
 * A page's window in the test's own process. happy-dom has the document, its events and the address, but no layout: a
 * test says what the sizes are. A function of the test answers the page's requests, and the test moves the time.
 */

import { readFileSync } from 'node:fs';
import { BrowserErrorCaptureEnum, type HTMLElement, type HTMLInputElement, Window } from 'happy-dom';
import { onTestFinished, vi } from 'vitest';
import { turns } from '../../turns.ts';

/** What a page's modules take from a browser, and Node.js does not have or has otherwise. */
const OF_WINDOW = ['document', 'location', 'history', 'navigator', 'Node', 'Element'] as const;
const FRAME_MS = 16;

export type Fetch = (
  path: string,
  options: { method?: string; headers: Record<string, string>; body?: string },
) => unknown;

export interface Opened {
  /** The part of the address after the path, such as `#show=silent`. */
  readonly fragment?: string;
  /** Answers the page's requests. Without it, they fail as if nobody listened. */
  readonly fetch?: Fetch;
  readonly prefersDark?: boolean;
}

export interface PageWindow {
  readonly window: Window;
  readonly document: Window['document'];
  /** @throws Error if the page has no element with this id */
  byId<Type extends HTMLElement = HTMLElement>(id: string): Type;
  /** @throws Error if nothing on the page matches the selector */
  one<Type extends HTMLElement = HTMLElement>(selector: string): Type;
  /** @returns the texts of all that match the selector */
  texts(selector: string): string[];
  /** Tells all observers of sizes that the sizes have changed. */
  resized(): void;
}

/**
 * Opens a page's document, and makes it the document of the process until the test has ended. None of the page's
 * modules runs by itself.
 */
export function openWindow(
  page: 'rig' | 'fleet',
  { fragment = '', fetch, prefersDark = false }: Opened = {},
): PageWindow {
  const window = new Window({
    url: `http://${page}.example/${fragment}`,
    width: 1280,
    height: 900,
    settings: {
      disableCSSFileLoading: true,
      handleDisabledFileLoadingAsSuccess: true,
      // An error in the page's listener is thrown where the test dispatches the event.
      errorCapture: BrowserErrorCaptureEnum.disabled,
      device: { prefersColorScheme: prefersDark ? 'dark' : 'light' },
    },
  });
  const { document } = window;
  document.write(readFileSync(new URL(`../../../dist/${page}/page/index.html`, import.meta.url), 'utf8'));
  const observers = new Set<() => void>();
  const globals = {
    window,
    ...Object.fromEntries(OF_WINDOW.map((name) => [name, window[name]])),
    matchMedia: window.matchMedia.bind(window),
    getComputedStyle: window.getComputedStyle.bind(window),
    requestAnimationFrame: (draw: () => void) => setTimeout(draw, FRAME_MS),
    ResizeObserver: class {
      readonly #changed: () => void;
      constructor(changed: () => void) {
        this.#changed = changed;
      }
      observe(): void {
        observers.add(this.#changed);
      }
    },
    fetch: async (...request: Parameters<Fetch>) => {
      if (!fetch) throw new TypeError('fetch failed');
      return fetch(...request);
    },
  };
  const restore = Object.entries(globals).map(([name, value]) => replaceGlobal(name, value));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(async () => {
    // What the page has begun ends while its window is there. Its timers are no more.
    await turns();
    vi.useRealTimers();
    for (const each of restore) each();
    await window.happyDOM.close();
  });
  const one = <Type extends HTMLElement>(selector: string) => {
    const found = document.querySelector(selector);
    if (!found) throw new Error(`the page has no ${selector}`);
    return found as HTMLElement as Type;
  };
  return {
    window,
    document,
    byId: (id) => one(`#${id}`),
    one,
    texts: (selector) => [...document.querySelectorAll(selector)].map(({ textContent }) => textContent),
    resized: () => {
      for (const each of observers) each();
    },
  };
}

/** @returns a function that undoes it */
function replaceGlobal(name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(globalThis, name);
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  return () => {
    if (before) Object.defineProperty(globalThis, name, before);
    else Reflect.deleteProperty(globalThis, name);
  };
}

let loads = 0;

/**
 * Runs a module of the page, as a browser does for each page that it loads: the module's state is new. The state of the
 * modules that it imports is that of the process.
 * @param module such as `dist/fleet/page/fleet-page.js`
 */
export function runModule<Module>(module: string): Promise<Module> {
  return import(/* @vite-ignore */ new URL(`../../../${module}?${++loads}`, import.meta.url).href);
}

/** Gives an element sizes, such as `{ clientHeight: 380 }`. */
export function layOut(target: HTMLElement, sizes: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(sizes)) Object.defineProperty(target, name, { value, configurable: true });
}

type Modifiers = Partial<Record<'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey', boolean>>;

/**
 * Presses a key where the focus is.
 * @returns whether the page has prevented what the browser itself does with the key
 */
export function press({ window, document }: PageWindow, key: string, more: Modifiers = {}): boolean {
  const event = new window.KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more });
  return !(document.activeElement ?? document.body).dispatchEvent(event);
}

/** Clicks as the mouse does, with the keys that are held. */
export function click(target: HTMLElement, more: Modifiers = {}): void {
  const { MouseEvent } = target.ownerDocument.defaultView as Window;
  target.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ...more }));
}

/** Enters a text into a field, or chooses an option of a list. */
export function enter({ window }: PageWindow, field: HTMLElement, value: string): void {
  (field as HTMLInputElement).value = value;
  for (const type of ['input', 'change']) field.dispatchEvent(new window.Event(type, { bubbles: true }));
}
