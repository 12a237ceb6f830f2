/** The workers of relays: hashers that are not ours. Shown only where there is a relay. */

import { countsShares } from '../report/figures.ts';
import type { Status } from '../report/http/schemas.ts';
import { describeOutcomes, formatDuration } from '../report/units.ts';
import { plural } from '../text/quantities.ts';
import { byId, element, type Row, Rows, setText } from './dom.ts';
import { amount, hashrate, known, nameElement } from './format.ts';

type Relay = Status['relays'][string];
type Worker = Relay['workers'][number];

const COLUMNS: readonly { readonly name: string; readonly text: (worker: Worker) => string }[] = [
  { name: 'sessions', text: ({ sessions }) => String(sessions) },
  { name: 'estimated hashrate', text: ({ hashesPerSecond }) => hashrate(hashesPerSecond) },
  { name: 'share difficulty', text: ({ difficulty }) => amount(difficulty) },
  ...(['accepted', 'rejected', 'stale', 'duplicate', 'blocks'] as const).map((name) => {
    return { name, text: (worker: Worker) => String(worker[name]) };
  }),
  { name: 'last share', text: ({ lastShareSeconds: last }) => known(last, (one) => `${formatDuration(one)} ago`) },
];

export class Workers {
  readonly #rows: Rows<Worker>;

  constructor() {
    const table = byId('worker-table');
    // As in the table of devices: CSS lays these out as blocks on narrow screens.
    table.setAttribute('role', 'table');
    const body = element('tbody', { role: 'rowgroup' });
    const heads = [head('worker', ''), ...COLUMNS.map(({ name }) => head(name, 'number'))];
    table.append(element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...heads)), body);
    this.#rows = new Rows(body, workerRow);
  }

  show({ relays, sourceKind }: Status): void {
    const all = Object.entries(relays);
    const several = all.length > 1;
    const workers = all.flatMap(([relay, { workers }]) =>
      workers.map((worker) => [several ? `${relay}: ${worker.name}` : worker.name, worker] as const),
    );
    byId('workers').hidden = all.length === 0;
    byId('worker-table').hidden = workers.length === 0;
    byId('no-workers').hidden = workers.length > 0;
    setText(byId('workers-about'), all.map(([name, relay]) => about(name, relay, sourceKind)).join(' '));
    this.#rows.show(workers);
  }
}

function about(name: string, relay: Relay, sourceKind: Status['sourceKind']): string {
  const { sessions, hashesPerSecond } = relay;
  const shares = countsShares(null, relay.shares) ? `shares ${describeOutcomes(relay.shares)}; blocks ` : 'blocks ';
  const rate = `about ${hashrate(hashesPerSecond)}, estimated from shares and no part of this rig’s own hashrate`;
  const brought = `Brought to the ${sourceKind}: ${shares}${describeOutcomes(relay)}.`;
  return `${name}: ${plural(sessions, 'session')}, ${rate}. ${brought}`;
}

function head(name: string, kind: string): HTMLElement {
  return element('th', { scope: 'col', role: 'columnheader', class: kind, 'data-column': name }, name);
}

function workerRow(name: string): Row<Worker> {
  const cells = COLUMNS.map((column) => {
    const cell = element('td', { role: 'cell', class: 'number', 'data-label': column.name });
    return { cell, text: column.text };
  });
  const row = element(
    'tr',
    { role: 'row' },
    element('th', { scope: 'row', role: 'rowheader' }, nameElement(name)),
    ...cells.map(({ cell }) => cell),
  );
  return {
    element: row,
    show(worker) {
      for (const { cell, text } of cells) setText(cell, text(worker));
    },
  };
}
