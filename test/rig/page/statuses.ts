/** Statuses of a rig, as its server answers with them, and what the page shows of them. */

import { reportedSetup } from '#pickaxe/rig/running-miner.js';
import type { Status } from '#pickaxe/rig/status/status.js';
import { SETUP } from '../status/fakes.ts';
import { Rig } from './rig.ts';
import type { PageWindow } from './window.ts';

/** @param more what differs from the rig's own status */
export function statusOf({ tally }: Pick<Rig, 'tally'>, more: Partial<Status> = {}): Status {
  return { ...reportedSetup('rig-7', SETUP), control: false, ...tally.status(), ...more };
}

/** @returns the status of a rig of which nothing is known */
export const emptyStatus = (more: Partial<Status> = {}): Status => statusOf(new Rig(), more);

/** @returns the text of a figure of the page */
export const figure = (page: PageWindow, name: string): string => page.one(`[data-figure="${name}"]`).textContent;

/** @returns the texts of some figures */
export const figures = (page: PageWindow, names: readonly string[]): string[] =>
  names.map((name) => figure(page, name));

/** @returns which of these figures are hidden by themselves */
export const hiddenFigures = (page: PageWindow, names: readonly string[]): string[] =>
  names.filter((name) => page.one(`[data-figure="${name}"]`).parentElement!.hasAttribute('hidden'));

/** @returns the texts of the cells that are shown, by row */
export const rowsOf = ({ document }: PageWindow, selector: string): string[][] =>
  [...document.querySelectorAll(selector)].map((row) =>
    [...row.children].filter((cell) => !cell.hasAttribute('hidden')).map(({ textContent }) => textContent),
  );
