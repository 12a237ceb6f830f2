/** The table of devices, the buttons that pause and resume them, and the table of workers. */

import { plural } from '../../base/text/quantities.ts';
import {
  type Column,
  countsShares,
  DEVICE_COLUMNS,
  howKnown,
  livesOnRelays,
  WORKER_COLUMNS,
} from '../status/figures.ts';
import type { DeviceStatus, RelayStatus, Status, Worker } from '../status/status.ts';
import { describeOutcomes, formatHashrate } from '../status/units.ts';
import {
  byId,
  cell,
  columnHead,
  element,
  makeTable,
  type Row,
  Rows,
  rowHead,
  setAttribute,
  setText,
  tableRow,
} from './dom.ts';
import { hashrate, nameElement, provenPart, UNKNOWN } from './format.ts';

interface DeviceColumn extends Omit<Column<DeviceStatus>, 'cell'> {
  /** @param mines whether the rig mines */
  readonly cell: (device: DeviceStatus, mines: boolean) => string | null;
  /** @returns the text of the cell's second line */
  readonly more?: (device: DeviceStatus) => string;
  /**
   * @returns whether the device has this figure. The column is shown once a device has the figure. If `has` is absent,
   *   the column is always shown
   */
  readonly has?: (device: DeviceStatus) => boolean;
}

/** The columns by their names in figures.css. */
const COLUMNS: Readonly<Record<string, DeviceColumn>> = {
  hashrate: {
    heading: 'hashrate, 30\u00a0s',
    // A stopped device has no figure here: its average would still contain the last half minute of mining.
    cell: ({ state, hashesPerSecond }, mines) => (mines && state === 'ready' ? formatHashrate(hashesPerSecond) : null),
  },
  temperature: whereKnown(DEVICE_COLUMNS.temperature),
  fan: whereKnown(DEVICE_COLUMNS.fan),
  power: whereKnown(DEVICE_COLUMNS.power),
  efficiency: whereKnown(DEVICE_COLUMNS.efficiency),
  proven: { heading: 'proven', cell: (device) => provenPart(device)[0], more: (device) => provenPart(device)[1] },
  shares: { ...DEVICE_COLUMNS.shares, has: ({ shares }) => countsShares(null, shares) },
  blocks: DEVICE_COLUMNS.blocks,
  'hardware-errors': DEVICE_COLUMNS.hardwareErrors,
  failures: { ...DEVICE_COLUMNS.failures, has: ({ reopens }) => reopens > 0 },
};

function whereKnown(column: Column<DeviceStatus>): DeviceColumn {
  return { ...column, has: (device) => column.cell(device) !== null };
}

interface Shown {
  readonly device: DeviceStatus;
  readonly mines: boolean;
  readonly columns: ReadonlySet<string>;
  readonly control: boolean;
}

export class Devices {
  readonly #rows: Rows<Shown>;
  readonly #heads: ReadonlyMap<string, HTMLElement>;
  readonly #controlHead: HTMLElement;
  /** Names of the shown columns. A column is not hidden again, because that would move the other columns. */
  readonly #columns = new Set<string>();

  constructor(controls: Controls) {
    this.#heads = new Map(Object.entries(COLUMNS).map(([name, { heading }]) => [name, head(name, heading)]));
    const unseen = element('span', { class: 'hidden' }, 'control');
    this.#controlHead = columnHead({ 'data-column': 'control' }, unseen);
    const names = [head('device', 'device', ''), head('state', 'state', '')];
    const body = makeTable(byId('devices'), ...names, ...this.#heads.values(), this.#controlHead);
    this.#rows = new Rows(body, (name) => deviceRow(name, controls));
  }

  show(status: Status): void {
    const { devices, control, ready: mines } = status;
    const all = Object.entries(devices);
    byId('devices-panel').hidden = livesOnRelays(status);
    const columns = this.#columns;
    for (const [name, { has }] of Object.entries(COLUMNS)) {
      if (!has || all.some(([, device]) => has(device))) columns.add(name);
    }
    for (const [name, cell] of this.#heads) cell.hidden = !columns.has(name);
    this.#controlHead.hidden = !control;
    this.#rows.show(all.map(([name, device]) => [name, { device, mines, columns, control }]));
  }
}

function head(name: string, heading = name, kind = 'number'): HTMLElement {
  return columnHead({ class: kind, 'data-column': name }, heading);
}

function deviceRow(name: string, controls: Controls): Row<Shown> {
  const about = element('span', { class: 'about' });
  const state = element('span', { class: 'badge' });
  const reason = element('span', { class: 'reason' });
  const figures = Object.entries(COLUMNS).map(([column, what]) => figureCell(column, what));
  const button = element('button', { type: 'button' });
  const control = cell({ class: 'control' }, button);
  let paused = false;
  button.addEventListener('click', () => controls.act(paused ? 'resume' : 'pause', button, name));
  const row = tableRow(
    rowHead(element('span', { class: 'name' }, name), about),
    cell({ class: 'device-state', 'data-label': 'state' }, state, reason),
    ...figures.map((figure) => figure.element),
    control,
  );
  return {
    element: row,
    show({ device, mines, columns, control: allowed }) {
      paused = device.state === 'paused';
      setText(about, device.description);
      // A ready device has no work while the rig does not mine.
      const waits = device.state === 'ready' && !mines;
      setText(state, waits ? 'waits for work' : device.state);
      setAttribute(state, 'data-state', waits ? 'waiting' : device.state);
      setText(reason, device.reason ?? '');
      for (const figure of figures) figure.show({ device, mines, columns });
      control.hidden = !allowed;
      button.hidden = device.state === 'parked';
      setText(button, paused ? 'Resume' : 'Pause');
      setAttribute(button, 'aria-label', `${paused ? 'Resume' : 'Pause'} ${name}`);
    },
  };
}

function figureCell(column: string, { heading, cell: textOf, more }: DeviceColumn): Row<Omit<Shown, 'control'>> {
  const first = element('span');
  const second = element('span', { class: 'reason' });
  const figure = cell({ class: 'number', 'data-label': heading }, first, ...(more ? [second] : []));
  return {
    element: figure,
    show({ device, mines, columns }) {
      figure.hidden = !columns.has(column);
      setText(first, textOf(device, mines) ?? UNKNOWN);
      if (more) setText(second, more(device));
    },
  };
}

/* The buttons that pause and resume devices. They are shown only if the miner allows control. */

export type Action = 'pause' | 'resume';

/** Pauses or resumes a device; all devices if `device` is absent. */
type Act = (action: Action, device?: string) => Promise<void>;

export class Controls {
  readonly #act: Act;

  constructor(act: Act) {
    this.#act = act;
    for (const action of ['pause', 'resume'] as const) {
      const button = byId<HTMLButtonElement>(`${action}-all`);
      button.addEventListener('click', () => this.act(action, button));
    }
  }

  show({ control, devices }: Status): void {
    const all = Object.values(devices).filter(({ state }) => state !== 'parked');
    byId('controls').hidden = !control || all.length === 0;
    const resting = all.filter(({ state }) => state === 'paused').length;
    setAttribute(byId('pause-all'), 'aria-disabled', String(resting === all.length));
    setAttribute(byId('resume-all'), 'aria-disabled', String(resting === 0));
  }

  /**
   * Performs the action of a button. Nothing happens if the button has no effect at present (`aria-disabled`), or if
   * its last action has not ended (`aria-busy`). The attribute `disabled` is not used, because a disabled button would
   * lose the focus.
   */
  async act(action: Action, button: HTMLButtonElement, device?: string): Promise<void> {
    if (button.getAttribute('aria-disabled') === 'true' || button.getAttribute('aria-busy') === 'true') return;
    button.setAttribute('aria-busy', 'true');
    await this.#act(action, device);
    button.removeAttribute('aria-busy');
  }
}

/* The workers of relays. They are shown only if the rig has a relay. */

const { sessions, rate, difficulty, accepted, rejected, stale, duplicate, blocks, lastShare } = WORKER_COLUMNS;
const OF_WORKERS: readonly Column<Worker>[] = [
  sessions,
  rate,
  difficulty,
  accepted,
  rejected,
  stale,
  duplicate,
  blocks,
  lastShare,
];

export class Workers {
  readonly #rows: Rows<Worker>;

  constructor() {
    const heads = OF_WORKERS.map(({ heading }) => head(heading));
    const body = makeTable(byId('worker-table'), head('worker', 'worker', ''), ...heads);
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

function about(name: string, relay: RelayStatus, sourceKind: Status['sourceKind']): string {
  const { sessions, hashesPerSecond } = relay;
  const shares = countsShares(null, relay.shares) ? `shares ${describeOutcomes(relay.shares)}; blocks ` : 'blocks ';
  const rate = `about ${hashrate(hashesPerSecond)}, ${howKnown([name])} and no part of this rig’s own hashrate`;
  const brought = `Brought to the ${sourceKind}: ${shares}${describeOutcomes(relay)}.`;
  return `${name}: ${plural(sessions, 'session')}, ${rate}. ${brought}`;
}

function workerRow(name: string): Row<Worker> {
  const cells = OF_WORKERS.map(({ heading }) => cell({ class: 'number', 'data-label': heading }));
  return {
    element: tableRow(rowHead(nameElement(name)), ...cells),
    show(worker) {
      for (const [at, column] of OF_WORKERS.entries()) setText(cells[at], column.cell(worker) ?? UNKNOWN);
    },
  };
}
