/** The log of a page: its lines, whether it follows them, and a restart of the miner. */

import { describe, expect, it } from 'vitest';
import type { LogAnswer } from '#pickaxe/rig/http/api-answers.js';
import { clockSeconds } from '#pickaxe/rig/page/format.js';
import { Log } from '#pickaxe/rig/page/log-panel.js';
import { enter, layOut, openWindow } from './window.ts';

const NOW = 1_700_000_000_000;

const line = (number: number, more: Partial<LogAnswer['lines'][number]> = {}) => ({
  number,
  timeMillis: NOW + 1_000 * number,
  level: 'info' as const,
  tag: 'cpu',
  message: `line ${number}`,
  ...more,
});
const lines = (...numbers: number[]): LogAnswer => ({ lines: numbers.map((number) => line(number)) });

/** Opens a log of which 100 px are visible. Each line is 10 px high. */
function openLog() {
  const page = openWindow('rig');
  const log = new Log();
  const shown = page.byId('log');
  layOut(shown, { clientHeight: 100 });
  Object.defineProperty(shown, 'scrollHeight', { get: () => Math.max(100, 10 * shown.childElementCount) });
  const toEnd = page.byId('log-follow');
  return {
    page,
    log,
    shown,
    toEnd,
    numbers: () => page.texts('#log .message').map((text) => Number(text.replace('line ', ''))),
    /** Scrolls as a user does. */
    scroll: (top: number) => {
      shown.scrollTop = top;
      shown.dispatchEvent(new page.window.Event('scroll'));
    },
  };
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

describe('the log', () => {
  it('has a line for each new line of the miner, once', () => {
    const { log, numbers, shown } = openLog();
    expect([log.last, shown.tabIndex]).toEqual([0, 0]);
    log.add({ lines: [] });
    expect(log.last).toBe(0);
    log.add(lines(1, 2));
    expect([log.last, numbers()]).toEqual([2, [1, 2]]);
    log.add(lines(1, 2));
    log.add({ lines: [] });
    log.add(lines(2, 3));
    expect([log.last, numbers()]).toEqual([3, [1, 2, 3]]);
  });

  it.each([
    ['info', ''],
    ['warn', '<strong>warn</strong> '],
    ['error', '<strong>error</strong> '],
  ] as const)('shows a line of level %s as text, with %s', (level, word) => {
    const { log, shown } = openLog();
    log.add({ lines: [line(7, { level, tag: '<i>', message: '</p><b>' })] });
    expect(shown.innerHTML).toBe(
      `<p class="line" data-level="${level}"><time>${clockSeconds(NOW + 7_000)}</time> ${word}` +
        '<span class="tag">&lt;i&gt;</span> <span class="message">&lt;/p&gt;&lt;b&gt;</span></p>',
    );
  });

  it('begins again with line 1 after a restart', () => {
    const { log, numbers, page } = openLog();
    log.add(lines(1, 2));
    log.startedAgain();
    expect(log.last).toBe(0);
    log.add(lines(1));
    expect([log.last, numbers()]).toEqual([1, [1, 2, 1]]);
    expect(page.one('#log .again').outerHTML).toBe('<p class="line again">pickaxe was restarted</p>');
    expect(page.texts('#log .line')[2]).toBe('pickaxe was restarted');
  });

  it('keeps the last thousand lines', () => {
    const { log, shown } = openLog();
    const ends = () =>
      [shown.firstElementChild, shown.lastElementChild].map((one) => one?.lastElementChild?.textContent);
    log.add(lines(...upTo(1_000)));
    expect([shown.childElementCount, ends()]).toEqual([1_000, ['line 1', 'line 1000']]);
    log.add(lines(1_001, 1_002));
    expect([shown.childElementCount, ends()]).toEqual([1_000, ['line 3', 'line 1002']]);
  });

  it('follows its lines until somebody scrolls up, and again from the end on', () => {
    const { log, shown, toEnd, scroll, page } = openLog();
    log.add(lines(...upTo(20)));
    expect(shown.scrollTop).toBe(200);
    // Browsers let nobody scroll farther than until the last line is at the bottom.
    scroll(100);
    expect(toEnd.hidden).toBe(true);
    scroll(95);
    expect(toEnd.hidden).toBe(false);
    log.add(lines(21));
    expect(shown.scrollTop).toBe(95);
    // In zoomed pages, positions are fractions.
    scroll(106);
    expect(toEnd.hidden).toBe(true);
    log.add(lines(22));
    expect(shown.scrollTop).toBe(220);
    scroll(0);
    toEnd.click();
    expect([shown.scrollTop, page.document.activeElement?.id]).toEqual([220, 'log']);
    log.add(lines(23));
    expect(shown.scrollTop).toBe(230);
  });

  it('shows the lines of a level, and stays at its end or where it was', () => {
    const { page, log, shown, scroll } = openLog();
    log.add(lines(...upTo(20)));
    enter(page, page.byId('log-level'), 'warn');
    expect(shown.dataset.level).toBe('warn');
    expect(shown.scrollTop).toBe(200);
    scroll(110);
    enter(page, page.byId('log-level'), 'error');
    expect([shown.dataset.level, shown.scrollTop]).toEqual(['error', 200]);
    scroll(50);
    enter(page, page.byId('log-level'), 'info');
    expect([shown.dataset.level, shown.scrollTop]).toEqual(['info', 50]);
  });
});
