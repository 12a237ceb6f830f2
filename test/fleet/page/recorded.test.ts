/** What a fleet's page shows of rigs and totals drawn at random, and what its table does with keys and clicks. */

import { it } from 'vitest';
import type { RigSummary } from '#pickaxe/fleet/operator/fleet-answers.js';
import { summaryOf } from '#pickaxe/fleet/operator/http/changes.js';
import { RigDialog } from '#pickaxe/fleet/page/dialogs.js';
import { Coordinators, newsOf, showTotals, type Totals } from '#pickaxe/fleet/page/fleet-summary.js';
import { CHOICES, FLEET_COLUMNS, FleetRows, fragmentOf, marksOf, viewOf } from '#pickaxe/fleet/page/rig-rows.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { RIG_STATES } from '#pickaxe/rig/status/status.js';
import { type Recorded, recordIn, written } from '../../recorded.ts';
import { shownIn } from '../../rig/page/shown.ts';
import { click, openWindow, press } from '../../rig/page/window.ts';
import { drawer } from '../../variants.ts';
import { fleetRig, reportedDevice } from '../operator/messages.ts';
import { openTable } from './open-table.ts';
import { coordinator, NOW, totals } from './rows.ts';

const MOMENTS = 10;
const RIGS = ['rig-1', 'rig-2', 'rig-10', 'Rig-2', 'ärger'];
const expectRecorded = recordIn(new URL('recorded.json', import.meta.url));

type Draw = ReturnType<typeof drawer>;

function drawRig(one: Draw, name: string) {
  const device = () =>
    reportedDevice({
      name: one('cpu', 'gpu0', 'gpu1'),
      model: one(null, 'a card', 'another'),
      state: one('ready', 'ready', 'paused', 'parked', 'reopening'),
      reason: one(null, 'too hot'),
      hashesPerSecond: one(0, 25e9, 3e6),
      provenHashesPerSecond: one(null, 24e9),
      celsius: one(null, 61.4, 80),
      watts: one(null, 300, 812.5),
      hardwareErrors: one(0, 2),
      reopens: one(0, 1),
    });
  return fleetRig(name, {
    ageSeconds: one(0, 0.4, 0.5, 3, 75, 4_000),
    silent: one(false, false, true),
    duplicate: one(false, false, false, true),
    group: one(null, 'b', 'a'),
    state: one(...RIG_STATES),
    stateReason: one(null, 'why it does not mine'),
    coordinator: one(null, 'north', 'south'),
    version: one('0.1.0', '0.2.0'),
    hashesPerSecond: one(0, 25e9, 3e6),
    provenHashesPerSecond: one(null, 24e9),
    accepted: one(0, 3),
    rejected: one(0, 2),
    stale: one(0, 1),
    found: one(5, 9),
    hardwareErrors: one(0, 4),
    uptimeSeconds: one(5, 90_000),
    devices: Array.from({ length: one(0, 1, 2, 3) }, device),
  });
}

function drawTotals(one: Draw): Totals {
  const coordinators = one(['north'], ['north', 'south'], []).map((name) =>
    coordinator(name, {
      silent: one(false, false, true),
      duplicate: one(false, true),
      lost: one(null, null, 'its node is down'),
      chain: one(null, 3),
      height: one(null, 41),
      workAgeSeconds: one(null, 12),
      ageSeconds: one(0.4, 70),
    }),
  );
  const some = () => one(0, 0, 1, 2);
  return totals({
    control: one(true, false),
    listeningSeconds: one(1, 9.9, 10, 600),
    disconnected: one(null, null, 'no server answers'),
    rigsMining: some(),
    rigsPaused: some(),
    rigsSilent: some(),
    rigsFaulty: some(),
    found: some(),
    accepted: some(),
    repeats: one(null, ...[0, 1e-5, 0.3].map((ratio) => ({ ratio }) as Totals['repeats'])),
    coordinators,
    ignored: { malformed: some(), tooFast: some(), tooManyMembers: some() },
  });
}

async function momentsOf(seed: number): Promise<Recorded[]> {
  const one = drawer(seededRandom(600 + seed));
  const page = openWindow('fleet');
  const rows = new FleetRows();
  const coordinators = new Coordinators();
  let rigs = RIGS.map((name) => drawRig(one, name));
  const dialog = new RigDialog(async (name) => rigs.find((rig) => rig.name === name) as (typeof rigs)[number]);
  let last: Totals | undefined;
  let nowMs = NOW;
  const outcomes: Recorded[] = [];
  for (let i = 0; i < MOMENTS; i++) {
    rigs = RIGS.map((name, at) => (one(true, false) ? drawRig(one, name) : rigs[at]));
    const summaries: RigSummary[] = rigs.map(summaryOf);
    const goneRigs = one([], [], [RIGS[1]]);
    nowMs += one(1_000, 90_000);
    rows.apply({ whole: one(true, false), rigs: summaries, goneRigs, timeMillis: nowMs });
    if (one(true, false)) rows.noteAsked('asked to pause', nowMs - one(0, 1_000), [one(...RIGS)]);
    const now = drawTotals(one);
    showTotals(now, rows);
    coordinators.show(now);
    await dialog.open(one(...RIGS, 'nobody'), rows, nowMs);
    const news = last ? newsOf(last, now) : [];
    last = now;
    const view = viewOf(
      `#show=${one(...CHOICES)}&sort=${one('none', ...Object.keys(FLEET_COLUMNS))}&order=${one('up', 'down')}${one('', '', '&text=CARD+nor', '&group=a')}`,
    );
    const table = rows.shown(view).map((row) => {
      const cells = Object.values(FLEET_COLUMNS).map((column) => column.text(row, nowMs));
      return [...cells, marksOf(row)].join(' | ');
    });
    const outcome = [
      page.document.title,
      ...news,
      fragmentOf(view),
      ...rows.groups,
      ...table,
      shownIn(page, '#state, #disconnected, #about, [data-figure], #notes, #coordinator-table, #rig'),
    ];
    outcomes.push({ input: `${i}: ${written([summaries, now, view])}`, outcome: outcome.join('\n') });
  }
  return outcomes;
}

it.each([0, 1])('the page of fleet %i shows what is recorded', async (seed) => {
  expectRecorded(`fleet ${seed}`, await momentsOf(seed));
});

const KEYS = ['ArrowDown', 'ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End', 'Enter', ' ', 'a', 'x'];

async function walkOver(seed: number): Promise<Recorded[]> {
  const one = drawer(seededRandom(700 + seed));
  const table = openTable({ rigs: 40, selectable: seed === 0 });
  const { element, scroller, told } = table;
  const steps: (() => unknown)[] = [
    ...Array.from({ length: 4 }, () => () => {
      element.focus();
      const key = one(...KEYS);
      const more = one({}, {}, {}, { shiftKey: true }, { ctrlKey: true }, { altKey: true });
      return [key, more, press(table, key, more)];
    }),
    () => {
      const [line, column, shiftKey] = [one(...table.lines()), one('select', 'select', 'state'), one(true, false)];
      const cell = line.querySelector(`[data-column=${column}]`) as unknown as typeof line;
      click(cell, { shiftKey });
      return [line.querySelector('th')?.textContent, column, shiftKey];
    },
    async () => {
      const rowsAbove = one(0, 1.5, 18, 35);
      await table.scroll(rowsAbove);
      return rowsAbove;
    },
    () => {
      const part = one({}, { downwards: true }, { downwards: false, sort: 'power' }, { sort: 'rig' });
      table.show(part, one(0, 1_000));
      return part;
    },
    () => element.querySelector('thead [data-column=select] button')?.dispatchEvent(new table.window.Event('click')),
  ];
  const outcomes: Recorded[] = [];
  for (let i = 0; i < 50; i++) {
    const step = await one(...steps)();
    const lines = table.lines().map((line) => {
      const name = line.querySelector('th')?.textContent;
      const said = ['aria-rowindex', 'aria-selected', 'style', 'class'].map((each) => line.getAttribute(each));
      return [name, line.querySelector('[data-column=select]')?.textContent, ...said].join(' ');
    });
    const heads = [...element.querySelectorAll('thead th')].map(
      (head) => `${head.textContent}${head.getAttribute('aria-sort')}`,
    );
    const pressed = element.querySelector('[aria-pressed]')?.outerHTML;
    const outcome = [...told.splice(0), table.current(), scroller.scrollTop, pressed, ...heads, ...lines];
    outcomes.push({ input: `${i}: ${written(step)}`, outcome: outcome.join('\n') });
  }
  return outcomes;
}

it.each([0, 1])('the table of fleet %i does what is recorded', async (seed) => {
  expectRecorded(`table ${seed}`, await walkOver(seed));
});
