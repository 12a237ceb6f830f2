/** How the pages change their documents: only where something is other than wanted, and without losing elements. */

import { describe, expect, it } from 'vitest';
import {
  announce,
  byId,
  element,
  hideFigure,
  keep,
  Rows,
  recall,
  rememberFolds,
  setAttribute,
  setFigure,
  setText,
  tableOfNamed,
} from '#pickaxe/rig/page/dom.js';
import { rowsOf } from './statuses.ts';
import { openWindow, type PageWindow } from './window.ts';

/** Watches an element. @returns the number of changes since the last call */
function watch({ window }: PageWindow, target: unknown): () => number {
  const observer = new window.MutationObserver(() => {});
  observer.observe(target as never, { childList: true, attributes: true, characterData: true, subtree: true });
  return () => observer.takeRecords().length;
}

describe('an element of a page', () => {
  it('is found, or the page is of another build', () => {
    openWindow('rig');
    expect(byId('main').id).toBe('main');
    expect(() => byId('mine')).toThrow('the page has no #mine');
    expect(() => setFigure('mine', '1')).toThrow('the page has no figure mine');
    expect(() => hideFigure('mine', true)).toThrow('the page has no figure mine');
  });

  it('is made of texts, which are no markup, and of other elements', () => {
    openWindow('rig');
    const made = element('p', { class: 'a', title: '"' }, '<b>', element('i'), 'c');
    expect(made.outerHTML).toBe('<p class="a" title="&quot;">&lt;b&gt;<i></i>c</p>');
    expect(element('br').outerHTML).toBe('<br>');
  });

  it('is not touched while it is as wanted', () => {
    const page = openWindow('rig');
    const changes = watch(page, page.byId('main'));
    const shown = byId('state-reason');
    setText(shown, 'a');
    expect([shown.textContent, changes()]).toEqual(['a', 1]);
    setText(shown, 'a');
    expect(changes()).toBe(0);
    setText(shown, '');
    expect([shown.textContent, changes()]).toEqual(['', 1]);
    for (const value of ['', '1']) {
      setAttribute(shown, 'title', value);
      expect([shown.title, changes()]).toEqual([value, 1]);
      setAttribute(shown, 'title', value);
      expect(changes()).toBe(0);
    }
    announce('some news');
    expect(page.byId('news').textContent).toBe('some news');
  });

  it('with a figure can be quiet and hidden, and is not at first', () => {
    const page = openWindow('rig');
    const shown = page.one('[data-figure="accepted"]');
    setFigure('accepted', '0', true);
    expect([shown.textContent, shown.hasAttribute('data-none')]).toEqual(['0', true]);
    setFigure('accepted', '1');
    expect([shown.textContent, shown.hasAttribute('data-none')]).toEqual(['1', false]);
    for (const hidden of [true, false]) {
      hideFigure('accepted', hidden);
      expect(shown.parentElement!.hasAttribute('hidden')).toBe(hidden);
    }
  });
});

describe('the rows of a table', () => {
  /** @returns the names that are shown, in their order, each with the number of times that its row was made */
  function openRows() {
    const page = openWindow('rig');
    const made: string[] = [];
    const parent = element('ul');
    byId('main').append(parent);
    const rows = new Rows<number>(parent, (name) => {
      made.push(name);
      const row = element('li');
      return { element: row, show: (item) => setText(row, `${name} ${item}`) };
    });
    const changes = watch(page, parent);
    return {
      made,
      changes,
      show: (names: string, item = 1) => {
        rows.show([...names].map((name) => [name, item] as const));
        return [...parent.children].map(({ textContent }) => textContent).join(', ');
      },
      elements: () => [...parent.children],
    };
  }

  it('keep their elements while there are items of their names, in any order', () => {
    const { show, made, elements, changes } = openRows();
    expect(show('abc')).toBe('a 1, b 1, c 1');
    const [a, b, c] = elements();
    changes();
    expect(show('abc')).toBe('a 1, b 1, c 1');
    expect(changes()).toBe(0);
    expect(show('cab', 2)).toBe('c 2, a 2, b 2');
    expect(elements()).toEqual([c, a, b]);
    expect(show('cb', 3)).toBe('c 3, b 3');
    expect(elements()).toEqual([c, b]);
    expect(show('bdc', 4)).toBe('b 4, d 4, c 4');
    expect(elements().filter((one) => one === b || one === c)).toEqual([b, c]);
    expect(made).toEqual(['a', 'b', 'c', 'd']);
    expect(show('')).toBe('');
    // What is gone comes back as another row.
    expect(show('a', 5)).toBe('a 5');
    expect(made).toEqual(['a', 'b', 'c', 'd', 'a']);
    expect(elements()[0]).not.toBe(a);
  });

  it('of things with names have a state, a reason and figures, and roles for narrow screens', () => {
    const page = openWindow('rig');
    const table = page.byId('devices');
    const rows = tableOfNamed<{ about: string; state: string; reason: string; rate: number }>(
      byId('devices'),
      'rig',
      { rate: ({ rate }) => `${rate} H/s`, twice: ({ rate }) => String(2 * rate) },
      (item) => item,
    );
    rows.show([['a', { about: 'at home', state: 'mining', reason: '', rate: 1 }]]);
    expect(table.outerHTML).toBe(
      '<table class="wide" id="devices" aria-labelledby="devices-heading" role="table"><thead role="rowgroup"><tr role="row">' +
        '<th scope="col" role="columnheader">rig</th><th scope="col" role="columnheader">state</th>' +
        '<th scope="col" role="columnheader" class="number" data-column="rate">rate</th>' +
        '<th scope="col" role="columnheader" class="number" data-column="twice">twice</th></tr></thead>' +
        '<tbody role="rowgroup"><tr role="row"><th scope="row" role="rowheader"><span class="name">a</span>' +
        '<span class="about">at home</span></th><td role="cell" data-label="state">' +
        '<span class="badge" data-state="mining">mining</span><span class="reason"></span></td>' +
        '<td role="cell" class="number" data-label="rate">1 H/s</td>' +
        '<td role="cell" class="number" data-label="twice">2</td></tr></tbody></table>',
    );
    rows.show([['a', { about: '', state: 'paused', reason: 'hot', rate: 3 }]]);
    expect(rowsOf(page, '#devices tbody tr')).toEqual([['a', 'pausedhot', '3 H/s', '6']]);
    expect(page.one('#devices .badge').getAttribute('data-state')).toBe('paused');
  });
});

describe('what a browser keeps', () => {
  it('is told apart by the place and the name', () => {
    const { window } = openWindow('rig');
    expect(recall('localStorage', 'a')).toBeNull();
    keep('localStorage', 'a', '1');
    keep('sessionStorage', 'a', '2');
    expect([recall('localStorage', 'a'), recall('sessionStorage', 'a'), recall('localStorage', 'b')]).toEqual([
      ...['1', '2', null],
    ]);
    expect([window.localStorage.getItem('a'), window.sessionStorage.getItem('a')]).toEqual(['1', '2']);
  });

  it('is nothing where it may not keep anything', () => {
    const { window } = openWindow('rig');
    const get = () => {
      throw new Error('not allowed');
    };
    for (const kind of ['localStorage', 'sessionStorage'] as const) {
      Object.defineProperty(window, kind, { get });
      keep(kind, 'a', '1');
      expect(recall(kind, 'a')).toBeNull();
    }
  });

  it.each([
    [null, [false, true]],
    ['open', [true, true]],
    ['closed', [false, false]],
    ['otherwise', [false, true]],
  ])('of panels that fold, %s, decides whether they are open', (kept, open) => {
    const page = openWindow('rig');
    const panels = ['work', 'balance'].map((id) => page.byId<InstanceType<typeof page.window.HTMLDetailsElement>>(id));
    panels[1].open = true;
    if (kept !== null) for (const { id } of panels) page.window.localStorage.setItem(`pickaxe-fold-${id}`, kept);
    rememberFolds();
    expect(panels.map((panel) => panel.open)).toEqual(open);
    for (const isOpen of [true, false, true]) {
      panels[0].open = isOpen;
      panels[0].dispatchEvent(new page.window.Event('toggle'));
      expect(page.window.localStorage.getItem('pickaxe-fold-work')).toBe(isOpen ? 'open' : 'closed');
    }
    expect(page.window.localStorage.getItem('pickaxe-fold-balance')).toBe(kept);
  });
});
