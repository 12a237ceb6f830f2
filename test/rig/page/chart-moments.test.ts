/** The moment of a chart that keys or the mouse choose, as its table and a screen reader tell of it. */

import { describe, expect, it } from 'vitest';
import { clockSeconds } from '#pickaxe/rig/page/format.js';
import { turns } from '../../turns.ts';
import { historyOf, NOW, openCharts, PLOT, ratesOf, STEP_MS } from './charts.ts';
import { press } from './window.ts';

const RATES = Array.from({ length: 31 }, (_, i) => 100 + i);
const LAST = RATES.length - 1;
const timeOf = (index: number) => clockSeconds(NOW - (LAST - index) * STEP_MS);

/** Opens a chart of 31 values, from 100 to 130 H/s, and focuses it. */
async function openChart() {
  const opened = await openCharts();
  const { page, show, chart } = opened;
  const { plot, heads, rows, slider } = chart('Hashrate');
  await show(ratesOf(...RATES));
  plot.focus();
  return {
    ...opened,
    plot,
    rows,
    slider,
    /** @returns the heading of the column with the values of the moment, the value, and the index */
    moment: () => [heads()[1], rows()[0][1], slider()[1]],
    press: async (key: string) => {
      const prevented = press(page, key);
      await turns();
      return prevented;
    },
    isCursorShown: () => page.one('.chart .u-cursor-x').className === 'u-cursor-x',
  };
}

const NEWEST = ['now', '130 H/s', '30'];
const momentOf = (index: number) => [timeOf(index), `${100 + index} H/s`, String(index)];

describe('a chart', () => {
  it('is a slider, which says what it shows', async () => {
    const { plot, slider, show, moment } = await openChart();
    expect(plot.outerHTML).toMatch(
      /^<div class="plot" role="slider" tabindex="0" aria-label="Hashrate: arrow keys choose a moment" aria-valuemin="0"/,
    );
    expect(slider()).toEqual(['0', '30', '30', `${timeOf(30)}: cpu 130 H/s`]);
    expect(moment()).toEqual(NEWEST);
    await show(historyOf({ cpu: { hashesPerSecond: [1, null] }, gpu0: { hashesPerSecond: [2, 3] } }));
    expect(slider()).toEqual(['0', '1', '1', `${timeOf(30)}: total 3 H/s, cpu –, gpu0 3 H/s`]);
    await show(historyOf({ cpu: {} }));
    expect(slider()).toEqual(['0', '0', '0', 'no figures yet']);
  });

  it.each([
    ['ArrowLeft', 29, 28],
    ['ArrowDown', 29, 28],
    ['ArrowRight', 30, 30],
    ['ArrowUp', 30, 30],
    ['Home', 0, 0],
    ['End', 30, 30],
    ['PageDown', 20, 10],
    ['PageUp', 30, 30],
  ])('shows another moment after %s', async (key, first, second) => {
    const { press, moment, isCursorShown, slider } = await openChart();
    expect(isCursorShown()).toBe(false);
    expect(await press(key)).toBe(true);
    expect([moment(), isCursorShown()]).toEqual([momentOf(first), true]);
    expect(slider()[3]).toBe(`${timeOf(first)}: cpu ${100 + first} H/s`);
    expect(await press(key)).toBe(true);
    expect(moment()).toEqual(momentOf(second));
  });

  it.each([
    [['Home', 'ArrowLeft'], 0],
    [['Home', 'PageDown'], 0],
    [['Home', 'ArrowRight', 'ArrowRight'], 2],
    [['Home', 'ArrowUp'], 1],
    [['Home', 'PageUp'], 10],
    [['Home', 'PageUp', 'PageUp', 'PageUp', 'PageUp'], 30],
    [['PageDown', 'End'], 30],
    [['PageDown', 'PageDown', 'PageDown', 'PageDown', 'ArrowRight'], 1],
  ])('stays within its moments after %j', async (keys, index) => {
    const { press, moment } = await openChart();
    for (const key of keys) expect(await press(key)).toBe(true);
    expect(moment()).toEqual(momentOf(index));
  });

  it('shows the newest moment again after Escape and when it loses the focus', async () => {
    const { press, moment, isCursorShown, plot } = await openChart();
    for (const leave of [() => press('Escape'), async () => plot.blur()]) {
      plot.focus();
      await press('Home');
      expect(moment()).toEqual(momentOf(0));
      expect(await leave()).not.toBe(true);
      await turns();
      expect([moment(), isCursorShown()]).toEqual([NEWEST, false]);
    }
  });

  it('leaves other keys to the browser', async () => {
    const { press, moment } = await openChart();
    await press('Home');
    for (const key of ['Tab', 'a', 'Enter']) expect(await press(key)).toBe(false);
    expect(moment()).toEqual(momentOf(0));
  });

  it('has no moments before there are figures', async () => {
    const { page, chart, show } = await openCharts();
    const { plot, slider } = chart('Hashrate');
    plot.focus();
    expect(press(page, 'Home')).toBe(false);
    plot.blur();
    await show(ratesOf());
    plot.focus();
    expect(press(page, 'Home')).toBe(false);
    expect(press(page, 'Escape')).toBe(false);
    expect(slider()[3]).toBe('no figures yet');
  });

  it('shows the moment that the mouse points at', async () => {
    const { page, moment } = await openChart();
    const over = page.one('.chart .u-over');
    const { left, right } = PLOT;
    Object.assign(over, { getBoundingClientRect: () => ({ left, top: 17, width: right - left, height: 195 }) });
    const move = async (clientX: number) => {
      over.dispatchEvent(new page.window.MouseEvent('mouseenter'));
      over.dispatchEvent(new page.window.MouseEvent('mousemove', { clientX, clientY: 50 }));
      await turns();
    };
    await move(right - 1);
    expect(moment()).toEqual(momentOf(30));
  });

  it('keeps the moment that was chosen when figures come, and tells of its value', async () => {
    const { press, moment, show, rows } = await openChart();
    await press('PageDown');
    await show(ratesOf(...RATES.map((rate) => rate + 1_000)));
    expect(moment()).toEqual([timeOf(20), '1.120 kH/s', '20']);
    expect(rows()[0].slice(2)).toEqual(['1.100 kH/s', '1.115 kH/s', '1.130 kH/s']);
    await show(ratesOf(...RATES));
    await press('Escape');
    await show(ratesOf(...RATES.slice(0, 30)));
    expect(moment()).toEqual(['now', '129 H/s', '29']);
  });
});
