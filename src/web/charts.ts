/** The charts of hashrate, temperature and power, and the range they share. */

import { formatHashrate } from '../report/units.ts';
import type { History, Range } from './api.ts';
import { Chart, type Line } from './chart.ts';
import { byId, element } from './dom.ts';
import { celsius, watts } from './format.ts';

/** The ranges, with their length in milliseconds. */
const RANGES: Readonly<Record<Range, { name: string; ms: number }>> = {
  '10m': { name: '10 min', ms: 600_000 },
  '1h': { name: '1 h', ms: 3_600_000 },
  '24h': { name: '24 h', ms: 86_400_000 },
};
const FIRST: Range = '10m';

type Column = keyof History['devices'][string];

export class Charts {
  range: Range = FIRST;
  readonly #charts: Readonly<Record<Column, Chart>> = {
    hashesPerSecond: new Chart({ title: 'Hashrate', format: formatHashrate, fromZero: true }),
    temperatureCelsius: new Chart({ title: 'Temperature', format: celsius, fromZero: false }),
    powerWatts: new Chart({ title: 'Power', format: watts, fromZero: true }),
  };
  /** Never in one chart with hashrates that are counted. */
  readonly #workers = new Chart({ title: 'Workers, estimated', format: formatHashrate, fromZero: true });
  /** When the history will have another step, on `performance.now()`. */
  #dueMs = 0;

  /** @param changed called when another range was chosen */
  constructor(changed: () => void) {
    this.#workers.element.hidden = true;
    byId('charts').append(...this.#all.map((chart) => chart.element));
    const choose = (range: Range) => {
      this.range = range;
      this.outdate();
      changed();
    };
    byId('ranges').append(...Object.entries(RANGES).map(([range, { name }]) => choice(range as Range, name, choose)));
  }

  get #all(): Chart[] {
    return [...Object.values(this.#charts), this.#workers];
  }

  /** Whether there is something new to show. */
  get due(): boolean {
    return performance.now() >= this.#dueMs;
  }

  outdate(): void {
    this.#dueMs = 0;
  }

  redraw(): void {
    for (const chart of this.#all) chart.redraw();
  }

  /** @param nowMs the miner's clock */
  show(history: History, nowMs: number): void {
    if (history.range !== this.range) return;
    this.#dueMs = performance.now() + history.stepSeconds * 1000;
    const fromMs = nowMs - RANGES[this.range].ms;
    for (const [column, chart] of Object.entries(this.#charts) as [Column, Chart][]) {
      chart.show({ fromMs, toMs: nowMs, timesMs: history.timeMillis, lines: linesOf(history, column) });
    }
    this.#workers.show({ fromMs, toMs: nowMs, timesMs: history.timeMillis, lines: workerLines(history) });
  }
}

/** A line for each device that reports this figure, and their sum if there are several and a sum makes sense. */
function linesOf({ devices, timeMillis }: History, column: Column): Line[] {
  const lines = Object.entries(devices)
    .map(([name, columns], index) => ({ name, colour: index + 1, values: columns[column] }))
    .filter(({ values }) => column === 'hashesPerSecond' || values.some((value) => value !== null));
  if (lines.length < 2 || column === 'temperatureCelsius') return lines;
  const values = timeMillis.map((_, at) => {
    const known = lines.map((line) => line.values[at]).filter((value) => value !== null);
    return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) : null;
  });
  return [{ name: 'total', colour: 0, values }, ...lines];
}

/** A line for each relay. */
function workerLines({ relays }: History): Line[] {
  return Object.entries(relays).map(([name, { hashesPerSecond: values }], index) => ({
    name,
    colour: index + 1,
    values,
  }));
}

function choice(range: Range, name: string, choose: (range: Range) => void): HTMLElement {
  const input = element('input', { type: 'radio', name: 'range', value: range });
  input.checked = range === FIRST;
  input.addEventListener('change', () => choose(range));
  return element('label', {}, input, element('span', {}, name));
}
