/** One row per device: what it does, how well, and a button to pause it. */

import { countsShares, livesOnRelays } from '../report/figures.ts';
import type { Status } from '../report/http/schemas.ts';
import { describeOutcomes, formatDuration, formatPercent, withPrefix } from '../report/units.ts';
import { plural } from '../text/quantities.ts';
import { byId, element, type Row, Rows, setAttribute, setText } from './dom.ts';
import { amount, celsius, hashrate, known, nameElement, provenPart, watts } from './format.ts';

type Device = Status['devices'][string];

interface Column {
  readonly name: string;
  /** The text of its head; the default is its name. */
  readonly label?: string;
  /** @param mines whether the rig does */
  readonly text: (device: Device, mines: boolean) => string;
  /** A second line. */
  readonly more?: (device: Device) => string;
  /** Whether the device has such a figure. The column is shown once any device has. */
  readonly has?: (device: Device) => boolean;
}

const COLUMNS: readonly Column[] = [
  {
    name: 'hashrate',
    label: 'hashrate, 30\u00a0s',
    // The average of a device that hashed until just now still has its last half minute in it.
    text: ({ state, hashesPerSecond }, mines) => hashrate(mines && state === 'ready' ? hashesPerSecond : null),
  },
  {
    name: 'temperature',
    text: ({ sensors }) => known(sensors.temperatureCelsius, celsius),
    has: ({ sensors }) => sensors.temperatureCelsius !== null,
  },
  {
    name: 'fan',
    text: ({ sensors: { fanRatio, fanRpm } }) =>
      fanRatio === null ? known(fanRpm, (rpm) => `${rpm.toFixed(0)} rpm`) : formatPercent(fanRatio),
    has: ({ sensors: { fanRatio, fanRpm } }) => fanRatio !== null || fanRpm !== null,
  },
  {
    name: 'power',
    text: ({ sensors }) => known(sensors.powerWatts, watts),
    has: ({ sensors }) => sensors.powerWatts !== null,
  },
  {
    name: 'per joule',
    text: ({ hashesPerJoule }) => known(hashesPerJoule, (value) => `${withPrefix(value)}H/J`),
    has: ({ hashesPerJoule }) => hashesPerJoule !== null,
  },
  { name: 'proven', text: (device) => provenPart(device)[0], more: (device) => provenPart(device)[1] },
  {
    name: 'shares',
    label: 'shares acc/rej/stale',
    text: ({ shares: { accepted, rejected, stale } }) => `${accepted}/${rejected}/${stale}`,
    has: ({ shares }) => countsShares(null, shares),
  },
  { name: 'accepted', label: 'blocks accepted', text: ({ accepted }) => String(accepted) },
  { name: 'hardware errors', text: ({ hardwareErrors }) => String(hardwareErrors) },
  { name: 'failures', text: ({ reopens }) => String(reopens), has: ({ reopens }) => reopens > 0 },
];

/** What a row shows. */
interface Shown {
  readonly device: Device;
  /** Whether the rig mines. */
  readonly mines: boolean;
  /** Names of columns. */
  readonly columns: ReadonlySet<string>;
  readonly control: boolean;
}

export class Devices {
  readonly #rows: Rows<Shown>;
  readonly #heads: ReadonlyMap<string, HTMLElement>;
  readonly #controlHead: HTMLElement;
  /** The columns that have been needed so far. They stay: one that came and went would move all others. */
  readonly #columns = new Set<string>();

  constructor(controls: Controls) {
    const table = byId('devices');
    // CSS lays these out as blocks on narrow screens. Some browsers then see no table unless the roles are given.
    table.setAttribute('role', 'table');
    this.#heads = new Map(COLUMNS.map(({ name, label }) => [name, head(name, label)]));
    const unseen = element('span', { class: 'hidden' }, 'control');
    this.#controlHead = element('th', { scope: 'col', role: 'columnheader', 'data-column': 'control' }, unseen);
    const heads = [
      head('device', 'device', ''),
      head('state', 'state', ''),
      ...this.#heads.values(),
      this.#controlHead,
    ];
    const body = element('tbody', { role: 'rowgroup' });
    table.append(element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...heads)), body);
    this.#rows = new Rows(body, (name) => deviceRow(name, controls));
  }

  show(status: Status): void {
    const { devices, control, state } = status;
    const all = Object.entries(devices);
    byId('devices-panel').hidden = livesOnRelays(status);
    const mines = state === 'mining';
    const columns = this.#columns;
    for (const { name, has } of COLUMNS) {
      if (!has || all.some(([, device]) => has(device))) columns.add(name);
    }
    for (const [name, cell] of this.#heads) cell.hidden = !columns.has(name);
    this.#controlHead.hidden = !control;
    this.#rows.show(all.map(([name, device]) => [name, { device, mines, columns, control }]));
  }
}

function head(name: string, label = name, kind = 'number'): HTMLElement {
  return element('th', { scope: 'col', role: 'columnheader', class: kind, 'data-column': name }, label);
}

function deviceRow(name: string, controls: Controls): Row<Shown> {
  const about = element('span', { class: 'about' });
  const state = element('span', { class: 'badge' });
  const reason = element('span', { class: 'reason' });
  const cells = COLUMNS.map((column) => figureCell(column));
  const button = element('button', { type: 'button' });
  const control = element('td', { role: 'cell', class: 'control' }, button);
  let paused = false;
  button.addEventListener('click', () => controls.act(paused ? 'resume' : 'pause', button, name));
  const row = element(
    'tr',
    { role: 'row' },
    element('th', { scope: 'row', role: 'rowheader' }, element('span', { class: 'name' }, name), about),
    element('td', { role: 'cell', class: 'device-state', 'data-label': 'state' }, state, reason),
    ...cells.map((cell) => cell.element),
    control,
  );
  return {
    element: row,
    show({ device, mines, columns, control: allowed }) {
      paused = device.state === 'paused';
      setText(about, device.description);
      // A device that is ready has nothing to do while the rig does not mine.
      const waits = device.state === 'ready' && !mines;
      setText(state, waits ? 'waits for work' : device.state);
      setAttribute(state, 'data-state', waits ? 'waiting' : device.state);
      setText(reason, device.reason ?? '');
      for (const cell of cells) cell.show({ device, mines, columns });
      control.hidden = !allowed;
      button.hidden = device.state === 'parked';
      setText(button, paused ? 'Resume' : 'Pause');
      setAttribute(button, 'aria-label', `${paused ? 'Resume' : 'Pause'} ${name}`);
    },
  };
}

function figureCell({ name, label = name, text, more }: Column): Row<Omit<Shown, 'control'>> {
  const first = element('span');
  const second = element('span', { class: 'reason' });
  const cell = element('td', { role: 'cell', class: 'number', 'data-label': label }, first, ...(more ? [second] : []));
  return {
    element: cell,
    show({ device, mines, columns }) {
      cell.hidden = !columns.has(name);
      setText(first, text(device, mines));
      if (more) setText(second, more(device));
    },
  };
}

/* Pause and resume, where the miner allows it. */

export type Action = 'pause' | 'resume';

/** What pressing a button does. `device` is a name; without it, the button is for all devices. */
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

  /** Buttons that have nothing to do stay where they are and keep the focus, unlike disabled ones. */
  async act(action: Action, button: HTMLButtonElement, device?: string): Promise<void> {
    if (button.getAttribute('aria-disabled') === 'true' || button.getAttribute('aria-busy') === 'true') return;
    button.setAttribute('aria-busy', 'true');
    await this.#act(action, device);
    button.removeAttribute('aria-busy');
  }
}

/* The workers of relays: hashers that are not ours. Shown only where there is a relay. */

type Relay = Status['relays'][string];
type Worker = Relay['workers'][number];

const WORKER_COLUMNS: readonly { readonly name: string; readonly text: (worker: Worker) => string }[] = [
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
    const heads = [workerHead('worker', ''), ...WORKER_COLUMNS.map(({ name }) => workerHead(name, 'number'))];
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

function workerHead(name: string, kind: string): HTMLElement {
  return element('th', { scope: 'col', role: 'columnheader', class: kind, 'data-column': name }, name);
}

function workerRow(name: string): Row<Worker> {
  const cells = WORKER_COLUMNS.map((column) => {
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
