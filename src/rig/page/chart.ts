/**
 * Charts of figures over time. Below each chart is a table with a row for each line of the chart. A row has the value
 * at the cursor, or the newest value if no cursor is shown. It also has the lowest, the mean and the highest value.
 */

import type { HistoryAnswer } from '../http/api-answers.ts';
import { formatCelsius, formatHashrate, formatWatts } from '../status/units.ts';
import type { Range } from './api.ts';
import { byId, element, type Row, Rows, setAttribute, setText } from './dom.ts';
import { clock, clockSeconds, known } from './format.ts';
import uPlot from './uplot.ts';

interface ChartOptions {
  readonly title: string;
  readonly format: (value: number) => string;
  readonly fromZero: boolean;
}

const HEIGHT_PX = 240;
const AXIS_PX = { x: 28, y: 72 };
/** A cursor position outside of the chart, which hides the cursor. */
const AWAY = { left: -10, top: -10 };
/**
 * Minimum upper end of an axis that begins at 0. On a shorter axis, several labels would be rounded to the same text.
 */
const LEAST_HIGH = 5;
/** Number of points by which the keys Page Up and Page Down move the cursor. */
const PAGE = 10;

class Chart {
  readonly element: HTMLElement;
  readonly #options: ChartOptions;
  readonly #plot: HTMLElement;
  readonly #table: ChartTable;
  #uplot: uPlot | undefined;
  #data: ChartData = { fromMs: 0, toMs: 0, timesMs: [], lines: [] };

  constructor(options: ChartOptions) {
    this.#options = options;
    this.#table = new ChartTable(options.title, options.format);
    this.#plot = element('div', {
      class: 'plot',
      role: 'slider',
      tabindex: '0',
      'aria-label': `${options.title}: arrow keys choose a moment`,
      'aria-valuemin': '0',
    });
    this.element = element(
      'section',
      { class: 'chart' },
      element('h3', {}, options.title),
      this.#plot,
      this.#table.element,
    );
    this.#plot.addEventListener('keydown', (event) => this.#key(event));
    this.#plot.addEventListener('blur', () => this.#uplot?.setCursor(AWAY));
    new ResizeObserver(() => this.#uplot?.setSize(this.#size)).observe(this.#plot);
  }

  show(data: ChartData): void {
    const names = ({ lines }: ChartData) => JSON.stringify(lines.map(({ name }) => name));
    const same = this.#uplot && names(data) === names(this.#data);
    this.#data = data;
    this.element.hidden = data.lines.length === 0;
    if (this.element.hidden) return;
    if (!same) this.#make();
    this.#uplot?.setData(this.#columns);
    setAttribute(this.#plot, 'aria-valuemax', String(Math.max(0, data.timesMs.length - 1)));
    if (this.#uplot?.cursor.idx == null) this.#describe(null);
    this.#table.show(data, this.#uplot?.cursor.idx ?? null);
  }

  /** Redraws in the current colours of the page. */
  redraw(): void {
    this.#uplot?.redraw(false);
  }

  get #columns(): uPlot.AlignedData {
    const { timesMs, lines } = this.#data;
    return [timesMs.map((ms) => ms / 1000), ...lines.map(({ values }) => [...values])];
  }

  get #size(): { width: number; height: number } {
    return { width: this.#plot.clientWidth, height: HEIGHT_PX };
  }

  #make(): void {
    this.#uplot?.destroy();
    const { fromZero } = this.#options;
    const axis = {
      stroke: () => colour('--quiet'),
      grid: { stroke: () => colour('--line'), width: 1 },
      ticks: { show: false },
    };
    this.#uplot = new uPlot(
      {
        ...this.#size,
        series: [{}, ...this.#data.lines.map(seriesOf)],
        scales: {
          x: { time: true, range: () => [this.#data.fromMs / 1000, this.#data.toMs / 1000] },
          y: { range: (_, low, high) => yRange(low, high, fromZero) },
        },
        axes: [
          {
            ...axis,
            size: AXIS_PX.x,
            space: 64,
            values: (_, splits) => splits.map((seconds) => clock(seconds * 1000)),
          },
          { ...axis, size: AXIS_PX.y, values: (_, splits) => splits.map((value) => this.#label(value)) },
        ],
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false, setScale: false } },
        hooks: { setCursor: [({ cursor }) => this.#point(cursor.idx ?? null)] },
      },
      this.#columns,
      this.#plot,
    );
  }

  /**
   * @returns the label of a value on the vertical axis. On an axis that begins at 0, only 0 has a label while all
   *   values are 0 or unknown, because several labels could be rounded to the same text
   */
  #label(value: number): string {
    const { format, fromZero } = this.#options;
    const isFlat = this.#data.lines.every(({ values }) => values.every((each) => !each));
    return fromZero && isFlat && value > 0 ? '' : format(value);
  }

  #point(index: number | null): void {
    this.#table.show(this.#data, index);
    this.#describe(index);
  }

  #describe(index: number | null): void {
    const { timesMs, lines } = this.#data;
    const at = index ?? timesMs.length - 1;
    setAttribute(this.#plot, 'aria-valuenow', String(Math.max(0, at)));
    const values = lines.map(({ name, values }) => `${name} ${known(values[at], this.#options.format)}`);
    const text = timesMs.length === 0 ? 'no figures yet' : `${clockSeconds(timesMs[at])}: ${values.join(', ')}`;
    setAttribute(this.#plot, 'aria-valuetext', text);
  }

  #key(event: KeyboardEvent): void {
    const chart = this.#uplot;
    const last = this.#data.timesMs.length - 1;
    if (!chart || last < 0) return;
    const at = chart.cursor.idx ?? last;
    const target = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, Home: 0, End: last }[
      event.key
    ];
    const paged = { PageDown: at - PAGE, PageUp: at + PAGE }[event.key];
    const wanted = target ?? paged;
    if (event.key === 'Escape') chart.setCursor(AWAY);
    if (wanted === undefined) return;
    event.preventDefault();
    const index = Math.min(last, Math.max(0, wanted));
    chart.setCursor({ left: chart.valToPos(this.#data.timesMs[index] / 1000, 'x'), top: 0 });
  }
}

function seriesOf({ name, colour: number }: Line): uPlot.Series {
  const stroke = () => colour(number === 0 ? '--total' : `--series-${((number - 1) % COLOURS) + 1}`);
  return {
    label: name,
    stroke,
    width: number === 0 ? 2 : 1.5,
    points: { show: false },
    ...(number > COLOURS && { dash: [6, 4] }),
  };
}

function yRange(low: number | null, high: number | null, fromZero: boolean): [number, number] {
  if (low === null || high === null) return [0, 1];
  if (fromZero) return [0, Math.max(LEAST_HIGH, high * 1.1)];
  const margin = Math.max(2, (high - low) * 0.2);
  return [Math.max(0, low - margin), high + margin];
}

function colour(name: string): string {
  return getComputedStyle(byId('charts')).getPropertyValue(name);
}

/* The data of a chart */

/** Number of line colours in style.css. Further lines have the same colours again, and are dashed. */
const COLOURS = 8;

interface Line {
  readonly name: string;
  /** Index of the colour: 0 for the total, 1 and more for devices or relays. */
  readonly colour: number;
  readonly values: readonly (number | null)[];
}

interface ChartData {
  readonly fromMs: number;
  readonly toMs: number;
  readonly timesMs: readonly number[];
  readonly lines: readonly Line[];
}

/* The table of a chart. It is the chart's legend, and shows its contents as text. */

const COLUMNS = ['now', 'lowest', 'mean', 'highest'] as const;

interface Shown {
  readonly colour: number;
  readonly figures: Readonly<Record<(typeof COLUMNS)[number], number | null>>;
}

class ChartTable {
  readonly element: HTMLElement;
  readonly #rows: Rows<Shown>;
  readonly #now = element('th', { scope: 'col', class: 'number' });

  constructor(title: string, format: (value: number) => string) {
    const others = COLUMNS.slice(1).map((name) => element('th', { scope: 'col', class: 'number' }, name));
    const body = element('tbody');
    this.element = element(
      'table',
      {},
      element('caption', { class: 'hidden' }, `${title} over the range shown`),
      element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, 'line'), this.#now, ...others)),
      body,
    );
    this.#rows = new Rows(body, (name) => lineRow(name, format));
  }

  /** @param index index of the moment whose values are shown; null for the last moment */
  show({ timesMs, lines }: ChartData, index: number | null): void {
    const at = index ?? timesMs.length - 1;
    setText(this.#now, index === null || timesMs[index] === undefined ? 'now' : clockSeconds(timesMs[index]));
    this.#rows.show(
      lines.map(({ name, colour, values }) => {
        const all = values.filter((value) => value !== null);
        const mean = all.length > 0 ? all.reduce((sum, value) => sum + value, 0) / all.length : null;
        const lowest = all.length > 0 ? Math.min(...all) : null;
        const highest = all.length > 0 ? Math.max(...all) : null;
        return [name, { colour, figures: { now: values[at] ?? null, lowest, mean, highest } }] as const;
      }),
    );
  }
}

function lineRow(name: string, format: (value: number) => string): Row<Shown> {
  const swatch = element('span', { class: 'swatch', 'aria-hidden': 'true' });
  const cells = COLUMNS.map((column) => [column, element('td', { class: 'number' })] as const);
  const row = element('tr', {}, element('th', { scope: 'row' }, swatch, name), ...cells.map(([, cell]) => cell));
  return {
    element: row,
    show({ colour, figures }) {
      swatch.dataset.colour = colour === 0 ? 'total' : String(((colour - 1) % COLOURS) + 1);
      swatch.classList.toggle('dashed', colour > COLOURS);
      for (const [column, cell] of cells) setText(cell, known(figures[column], format));
    },
  };
}

/* The charts of hashrate, temperature, power and workers. All of them show the same range. */

const RANGES: Readonly<Record<Range, { name: string; ms: number }>> = {
  '10m': { name: '10 min', ms: 600_000 },
  '1h': { name: '1 h', ms: 3_600_000 },
  '24h': { name: '24 h', ms: 86_400_000 },
};
const FIRST: Range = '10m';

type Column = keyof HistoryAnswer['devices'][string];

export class Charts {
  range: Range = FIRST;
  readonly #charts: Readonly<Record<Column, Chart>> = {
    hashesPerSecond: new Chart({ title: 'Hashrate', format: formatHashrate, fromZero: true }),
    temperatureCelsius: new Chart({ title: 'Temperature', format: formatCelsius, fromZero: false }),
    powerWatts: new Chart({ title: 'Power', format: formatWatts, fromZero: true }),
  };
  /**
   * The chart of the relays' hashrates. It is separate, because the hashrates of relays are estimated, and those of
   * devices are counted.
   */
  readonly #workers = new Chart({ title: 'Workers, estimated', format: formatHashrate, fromZero: true });
  /** Time from which the shown history is out of date, in ms of `performance.now()`. */
  #dueMs = 0;

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

  get due(): boolean {
    return performance.now() >= this.#dueMs;
  }

  outdate(): void {
    this.#dueMs = 0;
  }

  redraw(): void {
    for (const chart of this.#all) chart.redraw();
  }

  show(history: HistoryAnswer, nowMs: number): void {
    if (history.range !== this.range) return;
    this.#dueMs = performance.now() + history.stepSeconds * 1000;
    const fromMs = nowMs - RANGES[this.range].ms;
    for (const [column, chart] of Object.entries(this.#charts) as [Column, Chart][]) {
      chart.show({ fromMs, toMs: nowMs, timesMs: history.timeMillis, lines: linesOf(history, column) });
    }
    this.#workers.show({ fromMs, toMs: nowMs, timesMs: history.timeMillis, lines: workerLines(history) });
  }
}

/**
 * @returns one line for each device that has this figure. If there are several devices, the line of their sum comes
 *   first, except for temperatures
 */
function linesOf({ devices, timeMillis }: HistoryAnswer, column: Column): Line[] {
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

function workerLines({ relays }: HistoryAnswer): Line[] {
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
