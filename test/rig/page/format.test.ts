/** The texts of the page's figures, and the names that it shortens. */

import { describe, expect, it } from 'vitest';
import {
  amount,
  clock,
  clockSeconds,
  coins,
  hashrate,
  known,
  latency,
  nameElement,
  provenPart,
  UNKNOWN,
} from '#pickaxe/rig/page/format.js';
import { turns } from '../../turns.ts';
import { openWindow } from './window.ts';

describe('a figure on the page', () => {
  it('is a dash if it is not known, and 0 if it is 0', () => {
    expect(UNKNOWN).toBe('–');
    for (const unknown of [null, undefined]) {
      expect(known(unknown, String)).toBe('–');
      expect(hashrate(unknown)).toBe('–');
    }
    expect(amount(null)).toBe('–');
    expect([known(0, String), known('', (text) => `<${text}>`), known(false, String)]).toEqual(['0', '<>', 'false']);
    expect([hashrate(0), hashrate(17.2e6), amount(0), amount(17.2e6)]).toEqual([
      ...['0 H/s', '17.20 MH/s', '0', '17.20 M'],
    ]);
  });

  it.each([
    ['0.0', '0.000000000000'],
    ['12.5', '12.500000000000'],
    ['1234.000000000001', '1234.000000000001'],
    ['0.12345678901', '0.123456789010'],
  ])('of coins, %s, has twelve places: %s', (decimal, text) => {
    expect(coins(decimal)).toBe(text);
  });

  it.each([
    [0, '0.00 ms'],
    [0.000314, '0.31 ms'],
    [0.000999, '1.00 ms'],
    [0.001, '1.0 ms'],
    [0.0123, '12.3 ms'],
    [0.09994, '99.9 ms'],
    [0.1, '100 ms'],
    [0.9, '900 ms'],
    [1, '1.00 s'],
    [1.236, '1.24 s'],
    [75, '75.00 s'],
  ])('of a latency of %s seconds is %s', (seconds, text) => {
    expect(latency(seconds)).toBe(text);
  });

  it('of what is proven is a percentage and its interval, once there is something to prove and to compare', () => {
    const proven = { hashes: 998, low: 981, high: 1015, proofs: 12 };
    expect(provenPart({ proven, hashes: 1_000 })).toEqual(['99.8 %', '98.1 to 101.5 %']);
    expect(provenPart({ proven: { ...proven, hashes: 0, low: 0, high: 3 }, hashes: 1 })).toEqual([
      ...['0.0 %', '0.0 to 300.0 %'],
    ]);
    expect(provenPart({ proven: null, hashes: 1_000 })).toEqual(['–', '']);
    expect(provenPart({ proven, hashes: 0 })).toEqual(['–', '']);
    expect(provenPart({ proven: null, hashes: 0 })).toEqual(['–', '']);
  });

  it('of a time has two digits for each part, in the zone of the browser', () => {
    const early = new Date(2026, 0, 2, 3, 4, 5).getTime();
    const late = new Date(2026, 10, 12, 23, 59, 58).getTime();
    expect([clock(early), clockSeconds(early)]).toEqual(['03:04', '03:04:05']);
    expect([clock(late), clockSeconds(late)]).toEqual(['23:59', '23:59:58']);
  });
});

const KEY = `k:${'0123456789abcdef'.repeat(4)}`;
const LONG = `${KEY}.rig1`;
const SHORT = 'k:012345…cdef.rig1';

interface Clipboard {
  /** What `navigator.clipboard` does: it copies, it refuses, or it is not there. */
  readonly clipboard: 'copies' | 'refuses' | 'none';
  /** What the obsolete command does. */
  readonly command: 'copies' | 'refuses' | 'says so only' | 'is heard only';
}

/** Shows the name on a page. What is copied is added to `copied`. */
function showName(name: string, { clipboard, command }: Clipboard = { clipboard: 'copies', command: 'refuses' }) {
  const { document, window, byId } = openWindow('rig');
  const copied: string[] = [];
  const writeText = async (text: string) => {
    if (clipboard === 'refuses') throw new Error('not allowed');
    copied.push(text);
  };
  const value = clipboard === 'none' ? undefined : { writeText };
  Object.defineProperty(window.navigator, 'clipboard', { value });
  let prevented = 0;
  const execCommand = (what: string) => {
    if (what !== 'copy' || command === 'refuses') return false;
    if (command === 'says so only') return true;
    const event = new window.Event('copy', { cancelable: true });
    const setData = (type: string, text: string) => copied.push(`${type}: ${text}`);
    Object.defineProperty(event, 'clipboardData', { value: { setData } });
    if (!document.dispatchEvent(event)) prevented++;
    return command === 'copies';
  };
  Object.defineProperty(document, 'execCommand', { value: execCommand });
  const shown = nameElement(name);
  byId('main').append(shown as never);
  const looks = () => ({ text: shown.textContent, expanded: shown.getAttribute('aria-expanded') });
  return {
    shown,
    copied,
    looks,
    prevented: () => prevented,
    news: () => byId('news').textContent,
    click: async () => {
      shown.click();
      await turns();
    },
    copyAnotherText: () => document.dispatchEvent(new window.Event('copy', { cancelable: true })),
  };
}

describe('a name on the page', () => {
  it('is a text if it is short', () => {
    const { shown } = showName('attic');
    expect(shown.outerHTML).toBe('<span class="name">attic</span>');
  });

  it('that is long is a button that shows all of it and copies it, and then shortens it again', async () => {
    const { shown, looks, click, copied, news } = showName(LONG);
    expect(shown.outerHTML).toBe(
      `<button type="button" class="name" title="${LONG}" aria-expanded="false">${SHORT}</button>`,
    );
    for (const times of [1, 2]) {
      await click();
      expect(looks()).toEqual({ text: LONG, expanded: 'true' });
      expect(copied).toEqual(Array(times).fill(LONG));
      expect(news()).toBe(`copied: ${LONG}`);
      await click();
      expect(looks()).toEqual({ text: SHORT, expanded: 'false' });
      expect(copied).toHaveLength(times);
    }
  });

  it.each(['refuses', 'none'] as const)('is copied with a command where the clipboard %s', async (clipboard) => {
    const { click, copied, news, prevented, copyAnotherText } = showName(LONG, { clipboard, command: 'copies' });
    await click();
    expect(copied).toEqual([`text/plain: ${LONG}`]);
    // Otherwise the browser would copy what is selected.
    expect(prevented()).toBe(1);
    expect(news()).toBe(`copied: ${LONG}`);
    expect(copyAnotherText()).toBe(true);
    expect(copied).toHaveLength(1);
  });

  it.each(['refuses', 'says so only', 'is heard only'] as const)(
    'is not said to be copied where the command %s',
    async (command) => {
      const { click, news, looks, copied, copyAnotherText } = showName(LONG, { clipboard: 'none', command });
      await click();
      expect(news()).toBe(`not copied, since the browser forbids it: ${LONG}`);
      expect(looks().text).toBe(LONG);
      const before = [...copied];
      expect(copyAnotherText()).toBe(true);
      expect(copied).toEqual(before);
    },
  );
});
