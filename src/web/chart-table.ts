/** A chart's figures in words: its legend, and all of it for those who do not see it. */

import { type ChartData, COLOURS } from './chart-data.ts';
import { element, type Row, Rows, setText } from './dom.ts';
import { clockSeconds, known } from './format.ts';

const COLUMNS = ['now', 'lowest', 'mean', 'highest'] as const;

interface Shown {
  readonly colour: number;
  readonly figures: Readonly<Record<(typeof COLUMNS)[number], number | null>>;
}

export class ChartTable {
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

  /** @param index of the moment to show; null: the last one */
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
