/** The charts of a rig's page: what they draw of a history, and their tables. */

import { describe, expect, it } from 'vitest';
import { clock } from '#pickaxe/rig/page/format.js';
import { turns } from '../../turns.ts';
import { historyOf, NOW, openCharts, PLOT, ratesOf, STEP_MS } from './charts.ts';
import { enter } from './window.ts';

const MINUTES = 60_000;

/** @returns where a value is drawn. @param ageMs how old it is, in a chart of the last ten minutes */
function at(ageMs: number, value: number, low: number, high: number): number[] {
  const { left, right, top, bottom } = PLOT;
  const x = left + (right - left) * (1 - ageMs / (10 * MINUTES));
  return [Math.round(x), Math.round(bottom - ((bottom - top) * (value - low)) / (high - low))];
}

describe('the lines of a chart', () => {
  it('are those of the devices and of their sum, over ten minutes', async () => {
    const { chart, show } = await openCharts();
    const { lines, grid, times } = chart('Hashrate');
    const history = historyOf({
      cpu: { hashesPerSecond: [1e6, 2e6, 3e6] },
      gpu0: { hashesPerSecond: [10e6, null, 30e6] },
    });
    const old = [10 * MINUTES, 5 * MINUTES, 0];
    const drawn = (values: readonly (number | null)[], later = 0) =>
      values.flatMap((value, i) => (value === null ? [] : [at(old[i] + later, value, 0, 36.3e6)]));
    await show({ ...history, timeMillis: old.map((ms) => NOW - ms) });
    expect(lines()).toEqual([
      { points: drawn([11e6, 2e6, 33e6]), colour: 'light--total', width: 2, dash: [] },
      { points: drawn([1e6, 2e6, 3e6]), colour: 'light--series-1', width: 1.5, dash: [] },
      { points: drawn([10e6, null, 30e6]), colour: 'light--series-2', width: 1.5, dash: [] },
    ]);
    const minutes = Array.from({ length: 10 }, (_, i) => clock(Math.ceil(NOW / MINUTES - 10 + i) * MINUTES));
    expect(times()).toEqual(minutes);
    // Lines of the grid, and no ticks.
    expect(grid().map(({ colour, width, dash }) => [colour, width, dash])).toEqual([
      ['light--line', 1, []],
      ['light--line', 1, []],
    ]);
    await show({ ...history, timeMillis: old.map((ms) => NOW - ms) }, NOW + MINUTES);
    expect(lines()[1].points.at(-1)).toEqual(at(MINUTES, 3e6, 0, 36.3e6));
  });

  it.each<[string, (number | null)[], number, number]>([
    ['Hashrate', [1e6, 2e6], 0, 2.2e6],
    ['Hashrate', [3, 4], 0, 5],
    ['Power', [100, 200], 0, 220],
    ['Power', [4.5, 4.9], 0, 5.39],
    ['Temperature', [60, 61], 58, 63],
    ['Temperature', [40, 80], 32, 88],
    ['Temperature', [1, 2], 0, 4],
    ['Temperature', [null, 3], 1, 5],
  ])('of %s %j are drawn from %d to %d', async (title, values, low, high) => {
    const { chart, show } = await openCharts();
    const column = { Hashrate: 'hashesPerSecond', Power: 'powerWatts', Temperature: 'temperatureCelsius' }[title]!;
    await show(historyOf({ cpu: { [column]: values } }));
    const [{ points }] = chart(title).lines();
    const drawn = values.flatMap((value, i) => (value === null ? [] : [at((1 - i) * STEP_MS, value, low, high)]));
    expect(points).toEqual(drawn);
  });

  it('have labels that tell the values apart', async () => {
    const { chart, show } = await openCharts();
    const { labels, texts } = chart('Hashrate');
    await show(ratesOf(0, null, 0));
    expect(labels().filter(Boolean)).toEqual(['0 H/s']);
    await show(ratesOf(null, null));
    expect(labels().filter(Boolean)).toEqual(['0 H/s']);
    expect(chart('Hashrate').grid()[1].points).toHaveLength(12);
    expect(chart('Hashrate').grid()[1].points.at(-1)![1]).toBe(PLOT.top);
    await show(ratesOf(0, 3e6));
    expect(labels()).toEqual(['0 H/s', '1.000 MH/s', '2.000 MH/s', '3.000 MH/s']);
    expect(new Set(texts().map(({ colour }) => colour))).toEqual(new Set(['light--quiet']));
    await show(historyOf({ cpu: { temperatureCelsius: [0, 0], powerWatts: [1, 0] } }));
    expect(chart('Temperature').labels()).toContain('2 °C');
    expect(chart('Power').labels()).toEqual(['0 W', '1 W', '2 W', '3 W', '4 W', '5 W']);
  });

  it('are dashed where the colours are used again', async () => {
    const { chart, show, page } = await openCharts();
    const names = Array.from({ length: 18 }, (_, i) => `gpu${i}`);
    await show(historyOf(Object.fromEntries(names.map((name) => [name, { temperatureCelsius: [60] }]))));
    const { lines, section } = chart('Temperature');
    const colours = [...[1, 2, 3, 4, 5, 6, 7, 8], ...[1, 2, 3, 4, 5, 6, 7, 8], 1, 2];
    expect(lines().map(({ colour, dash }) => [colour, dash])).toEqual(
      colours.map((colour, i) => [`light--series-${colour}`, i < 8 ? [] : [6, 4]]),
    );
    const swatches = [...section.querySelectorAll('.swatch')].map((one) => [
      one.getAttribute('data-colour'),
      one.classList.contains('dashed'),
    ]);
    expect(swatches).toEqual(colours.map((colour, i) => [String(colour), i >= 8]));
    expect(page.texts('.chart .swatch')).toHaveLength(names.length * 2 + 1);
  });

  it('are drawn anew in the colours of another theme', async () => {
    const { charts, chart, show, paint } = await openCharts();
    await show(ratesOf(1, 2));
    const { lines, texts, grid } = chart('Hashrate');
    const before = lines();
    paint('dark');
    charts.redraw();
    await turns();
    expect(lines()).toEqual(before.map((line) => ({ ...line, colour: 'dark--series-1' })));
    expect([texts()[0].colour, grid()[0].colour]).toEqual(['dark--quiet', 'dark--line']);
  });

  it('are as wide as the page allows', async () => {
    const { chart, show, page } = await openCharts();
    const { canvases, plot } = chart('Hashrate');
    page.resized();
    await show(ratesOf(1, 2));
    const sizes = () => canvases().map((canvas) => [canvas.getAttribute('width'), canvas.getAttribute('height')]);
    expect(sizes()).toEqual([['800', '240']]);
    Object.defineProperty(plot, 'clientWidth', { value: 300 });
    page.resized();
    await show(ratesOf(1, 2));
    expect(sizes()).toEqual([['300', '240']]);
  });

  it('are drawn on the same canvas while the devices are the same', async () => {
    const { chart, show } = await openCharts();
    const { canvases, rows } = chart('Hashrate');
    await show(ratesOf(1, 2));
    const [first] = canvases();
    await show(ratesOf(1, 2, 3));
    expect(canvases()).toEqual([first]);
    await show(historyOf({ gpu0: { hashesPerSecond: [7] } }));
    expect(canvases()).toHaveLength(1);
    expect(canvases()[0]).not.toBe(first);
    expect(rows()).toEqual([['gpu0', '7 H/s', '7 H/s', '7 H/s', '7 H/s']]);
  });
});

describe('the charts', () => {
  it('are shown where a device has the figure, and the one of hashrates always', async () => {
    const { titles, show, chart } = await openCharts();
    expect(titles()).toEqual(['Hashrate', 'Temperature', 'Power']);
    await show(historyOf({}));
    expect(titles()).toEqual([]);
    await show(ratesOf(null, null));
    expect(titles()).toEqual(['Hashrate']);
    await show(historyOf({ cpu: { powerWatts: [null, 5] }, gpu0: { temperatureCelsius: [60, null] } }));
    expect(titles()).toEqual(['Hashrate', 'Temperature', 'Power']);
    expect(
      chart('Hashrate')
        .rows()
        .map(([name]) => name),
    ).toEqual(['total', 'cpu', 'gpu0']);
    expect(
      chart('Temperature')
        .rows()
        .map(([name]) => name),
    ).toEqual(['gpu0']);
    // The device has its colour in every chart.
    expect(
      chart('Temperature')
        .lines()
        .map(({ colour }) => colour),
    ).toEqual(['light--series-2']);
    expect(
      chart('Power')
        .rows()
        .map(([name]) => name),
    ).toEqual(['cpu']);
    await show(historyOf({}));
    expect(titles()).toEqual([]);
  });

  it('have a sum of what is known of several devices, except for temperatures', async () => {
    const { show, chart } = await openCharts();
    const columns = { temperatureCelsius: [50, 60], powerWatts: [100, null] };
    await show(historyOf({ cpu: columns, gpu0: { ...columns, powerWatts: [7, null], hashesPerSecond: [null, 4] } }));
    expect(
      chart('Temperature')
        .rows()
        .map(([name]) => name),
    ).toEqual(['cpu', 'gpu0']);
    expect(chart('Power').rows()).toEqual([
      ['total', '–', '107 W', '107 W', '107 W'],
      ['cpu', '–', '100 W', '100 W', '100 W'],
      ['gpu0', '–', '7 W', '7 W', '7 W'],
    ]);
    expect(chart('Hashrate').rows()).toEqual([
      ['total', '4 H/s', '4 H/s', '4 H/s', '4 H/s'],
      ['cpu', '–', '–', '–', '–'],
      ['gpu0', '4 H/s', '4 H/s', '4 H/s', '4 H/s'],
    ]);
    expect(chart('Hashrate').section.querySelector('.swatch')!.outerHTML).toBe(
      '<span class="swatch" aria-hidden="true" data-colour="total"></span>',
    );
  });

  it('have one of the hashrates of each relay, where there are relays', async () => {
    const { show, chart, titles } = await openCharts();
    const relays = { fleet: { hashesPerSecond: [5, 15] }, stratum: { hashesPerSecond: [null, 2] } };
    const times = [NOW - STEP_MS, NOW];
    await show(historyOf({}, { relays, timeMillis: times }));
    expect(titles()).toEqual(['Workers, estimated']);
    const { rows, lines, labels } = chart('Workers, estimated');
    expect(rows()).toEqual([
      ['fleet', '15 H/s', '5 H/s', '10 H/s', '15 H/s'],
      ['stratum', '2 H/s', '2 H/s', '2 H/s', '2 H/s'],
    ]);
    expect(lines().map(({ points, colour }) => [colour, points])).toEqual([
      ['light--series-1', [at(STEP_MS, 5, 0, 16.5), at(0, 15, 0, 16.5)]],
      ['light--series-2', [at(0, 2, 0, 16.5)]],
    ]);
    expect(labels()[0]).toBe('0 H/s');
    await show(historyOf({}, { timeMillis: times }));
    expect(titles()).toEqual([]);
  });

  it('have the lowest, the mean and the highest value in their tables', async () => {
    const { show, chart } = await openCharts();
    const { rows, heads, section } = chart('Hashrate');
    await show(ratesOf(30, null, 10, 50, 20));
    expect(heads()).toEqual(['line', 'now', 'lowest', 'mean', 'highest']);
    expect(rows()).toEqual([['cpu', '20 H/s', '10 H/s', '28 H/s', '50 H/s']]);
    expect(section.querySelector('caption')!.outerHTML).toBe(
      '<caption class="hidden">Hashrate over the range shown</caption>',
    );
    await show(ratesOf(null));
    expect(rows()).toEqual([['cpu', '–', '–', '–', '–']]);
    await show(ratesOf());
    expect(rows()).toEqual([['cpu', '–', '–', '–', '–']]);
    expect(section.querySelectorAll('.dashed')).toHaveLength(0);
  });

  it('show the range that is chosen, once its history comes', async () => {
    const { page, charts, changes, show, chart } = await openCharts();
    const inputs = [...page.document.querySelectorAll('#ranges input')] as InstanceType<
      typeof page.window.HTMLInputElement
    >[];
    expect(page.texts('#ranges label')).toEqual(['10 min', '1 h', '24 h']);
    expect(inputs.map(({ type, name, value, checked }) => [type, name, value, checked])).toEqual([
      ['radio', 'range', '10m', true],
      ['radio', 'range', '1h', false],
      ['radio', 'range', '24h', false],
    ]);
    const { rows, lines } = chart('Hashrate');
    await show(ratesOf(1, 2));
    expect([charts.range, charts.due, changes()]).toEqual(['10m', false, 0]);
    for (const [i, [range, ms]] of [['1h', 3_600_000] as const, ['24h', 86_400_000] as const].entries()) {
      enter(page, inputs[i + 1], range);
      expect([charts.range, charts.due, changes()]).toEqual([range, true, i + 1]);
      // This answer was on its way.
      await show(ratesOf(3));
      expect([charts.due, rows()[0].at(-1)]).toEqual([true, `${i + 2} H/s`]);
      await show({ ...ratesOf(1, i + 3), range, timeMillis: [NOW - ms, NOW - ms / 2] });
      expect([charts.due, rows()[0].at(-1)]).toEqual([false, `${i + 3} H/s`]);
      expect(lines()[0].points.map(([x]) => x)).toEqual([PLOT.left, at(5 * MINUTES, 0, 0, 1)[0]]);
    }
  });

  it('are due for another history after a step of it, or when something else has changed', async () => {
    const { charts, advance, show } = await openCharts();
    expect(charts.due).toBe(true);
    for (const _ of [1, 2]) {
      await show(ratesOf(1, 2));
      advance(STEP_MS - 1);
      expect(charts.due).toBe(false);
      advance(1);
      expect(charts.due).toBe(true);
    }
    await show({ ...ratesOf(1, 2), stepSeconds: 60 });
    expect(charts.due).toBe(false);
    charts.outdate();
    expect(charts.due).toBe(true);
  });
});
