/** The panel with the last log lines. It shows the newest line until the user scrolls up. */

import type { LogAnswer } from '../http/api-answers.ts';
import { byId, element } from './dom.ts';
import { clockSeconds } from './format.ts';

/** Maximum number of lines, so that a page does not grow over days: twice as many as the miner keeps. */
const MOST_LINES = 1_000;
/** Maximum distance from the end, in pixels, that counts as the end: in zoomed pages, positions are fractions. */
const END_PX = 4;

export class Log {
  readonly #lines = byId('log');
  readonly #toEnd = byId('log-follow');
  readonly #level = byId<HTMLSelectElement>('log-level');
  #last = 0;

  constructor() {
    // With a tab index, the log can have the focus, so that it can be scrolled with keys.
    this.#lines.tabIndex = 0;
    this.#level.addEventListener('change', () => {
      const follows = this.#follows;
      this.#lines.dataset.level = this.#level.value;
      if (follows) this.#scrollToEnd();
    });
    this.#lines.addEventListener('scroll', () => {
      this.#toEnd.hidden = this.#follows;
    });
    this.#toEnd.addEventListener('click', () => {
      this.#scrollToEnd();
      this.#lines.focus();
    });
  }

  get last(): number {
    return this.#last;
  }

  add({ lines }: LogAnswer): void {
    const fresh = lines.filter(({ number }) => number > this.#last);
    const newest = fresh.at(-1);
    if (!newest) return;
    const follows = this.#follows;
    this.#last = newest.number;
    this.#lines.append(...fresh.map(lineElement));
    while (this.#lines.childElementCount > MOST_LINES) this.#lines.firstElementChild?.remove();
    if (follows) this.#scrollToEnd();
  }

  /** Call this after a restart of the miner, because the new process numbers its lines from 1 again. */
  startedAgain(): void {
    this.#last = 0;
    this.#lines.append(element('p', { class: 'line again' }, 'pickaxe was restarted'));
  }

  get #follows(): boolean {
    const { scrollTop, clientHeight, scrollHeight } = this.#lines;
    return scrollTop + clientHeight >= scrollHeight - END_PX;
  }

  #scrollToEnd(): void {
    this.#lines.scrollTop = this.#lines.scrollHeight;
  }
}

function lineElement({ timeMillis, level, tag, message }: LogAnswer['lines'][number]): HTMLElement {
  return element(
    'p',
    { class: 'line', 'data-level': level },
    element('time', {}, clockSeconds(timeMillis)),
    ' ',
    ...(level === 'info' ? [] : [element('strong', {}, level), ' ']),
    element('span', { class: 'tag' }, tag),
    ' ',
    element('span', { class: 'message' }, message),
  );
}
