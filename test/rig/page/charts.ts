/** Opens the charts of a rig's page, and tells what they show. */

import { onTestFinished, vi } from 'vitest';
import type { HistoryAnswer } from '#pickaxe/rig/http/api-answers.js';
import { turns } from '../../turns.ts';
import { recordDrawings } from './canvas.ts';
import { rowsOf } from './statuses.ts';
import { layOut, openWindow } from './window.ts';

type Columns = HistoryAnswer['devices'][string];
type Values = readonly (number | null)[];

export const NOW = 1_700_000_000_000;
export const STEP_MS = 10_000;
/** The size of a plot, and its part within the axes. The whole is 240 px high. */
export const PLOT = { width: 800, left: 72, right: 775, top: 17, bottom: 212 };

const COLOURS = ['--quiet', '--line', '--total', ...Array.from({ length: 8 }, (_, at) => `--series-${at + 1}`)];

/** @returns the history of some devices, whose last values are those of `NOW` */
export function historyOf(
  devices: Readonly<Record<string, Partial<Columns>>>,
  more: Partial<HistoryAnswer> = {},
): HistoryAnswer {
  const length = Math.max(0, ...Object.values(devices).flatMap((each) => Object.values(each).map((one) => one.length)));
  const none = (): null[] => Array(length).fill(null);
  const whole = Object.entries(devices).map(([name, some]) => {
    const columns = { hashesPerSecond: none(), temperatureCelsius: none(), powerWatts: none(), ...some };
    return [name, columns] as const;
  });
  return {
    range: '10m',
    stepSeconds: STEP_MS / 1000,
    timeMillis: none().map((_, at) => NOW - (length - 1 - at) * STEP_MS),
    accepted: [],
    rejected: [],
    stale: [],
    shares: { accepted: [], rejected: [], stale: [] },
    devices: Object.fromEntries(whole),
    relays: {},
    ...more,
  };
}

/** @returns the history of one device's hashrates */
export const ratesOf = (...values: Values): HistoryAnswer => historyOf({ cpu: { hashesPerSecond: [...values] } });

export async function openCharts() {
  const page = openWindow('rig');
  const drawingOf = recordDrawings(page);
  let nowMs = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  onTestFinished(() => now.mockRestore());
  const { Charts } = await import('#pickaxe/rig/page/chart.js');
  let changes = 0;
  const charts = new Charts(() => changes++);
  const paint = (theme: string) => {
    for (const name of COLOURS) page.byId('charts').style.setProperty(name, `${theme}${name}`);
  };
  paint('light');
  for (const plot of page.document.querySelectorAll('.plot')) layOut(plot as never, { clientWidth: PLOT.width });
  const sections = [...page.document.querySelectorAll('.chart')];
  return {
    page,
    charts,
    paint,
    changes: () => changes,
    advance: (ms: number) => {
      nowMs += ms;
    },
    show: async (history: HistoryAnswer, at = NOW) => {
      charts.show(history, at);
      await turns();
    },
    titles: () =>
      sections.filter((one) => !one.hasAttribute('hidden')).map((one) => one.firstElementChild?.textContent),
    chart: (title: string) => {
      const section = sections.find((one) => one.firstElementChild?.textContent === title)!;
      const plot = section.querySelector('.plot')!;
      const drawing = () => drawingOf(section);
      const isLine = ({ colour }: { colour: string }) => colour.endsWith('--line');
      return {
        section,
        plot: plot as never as ReturnType<typeof page.byId>,
        canvases: () => [...section.querySelectorAll('canvas')],
        rows: () => rowsOf({ document: section } as never, 'tbody tr'),
        heads: () => rowsOf({ document: section } as never, 'thead tr')[0],
        slider: () =>
          ['valuemin', 'valuenow', 'valuemax', 'valuetext'].map((name) => plot.getAttribute(`aria-${name}`)),
        lines: () => drawing().lines.filter((line) => !isLine(line)),
        grid: () => drawing().lines.filter(isLine),
        texts: () => drawing().texts,
        /** The labels of the vertical axis, from below. */
        labels: () => drawing().texts.flatMap(({ text, x }) => (x < PLOT.left ? text : [])),
        times: () => drawing().texts.flatMap(({ text, x }) => (x < PLOT.left ? [] : text)),
      };
    },
  };
}
