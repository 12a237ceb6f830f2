/** One row for each device: what it does, how well, and a button to have it rest. */

import type { Status } from '../report/http/schemas.ts';
import { formatPercent, withPrefix } from '../report/units.ts';
import type { Controls } from './controls.ts';
import { byId, element, type Row, Rows, setAttribute, setText } from './dom.ts';
import { celsius, hashrate, known, provenPart, watts } from './format.ts';

export type Device = Status['devices'][string];

interface Column {
  readonly name: string;
  readonly text: (device: Device) => string;
  /** A second line. */
  readonly more?: (device: Device) => string;
  /** Left out where no device tells it. */
  readonly has?: (device: Device) => boolean;
}

const COLUMNS: readonly Column[] = [
  { name: 'hashrate', text: (device) => hashrate(device.hashrate) },
  { name: 'proven', text: (device) => provenPart(device)[0], more: (device) => provenPart(device)[1] },
  {
    name: 'temperature',
    text: ({ sensors }) => known(sensors.temperature_celsius, celsius),
    has: ({ sensors }) => sensors.temperature_celsius !== null,
  },
  {
    name: 'power',
    text: ({ sensors }) => known(sensors.power_watts, watts),
    has: ({ sensors }) => sensors.power_watts !== null,
  },
  {
    name: 'fan',
    text: ({ sensors: { fan_ratio, fan_rpm } }) =>
      fan_ratio === null ? known(fan_rpm, (rpm) => `${rpm.toFixed(0)} rpm`) : formatPercent(fan_ratio),
    has: ({ sensors: { fan_ratio, fan_rpm } }) => fan_ratio !== null || fan_rpm !== null,
  },
  {
    name: 'per joule',
    text: ({ hashes_per_joule }) => known(hashes_per_joule, (value) => `${withPrefix(value)}H/J`),
    has: ({ hashes_per_joule }) => hashes_per_joule !== null,
  },
  { name: 'accepted', text: ({ accepted }) => String(accepted) },
  { name: 'hardware errors', text: ({ hardware_errors }) => String(hardware_errors) },
  { name: 'restarts', text: ({ restarts }) => String(restarts) },
];

/** What a row needs to know of the others. */
interface Shown {
  readonly device: Device;
  /** Names of columns. */
  readonly columns: ReadonlySet<string>;
  readonly control: boolean;
}

export class Devices {
  readonly #rows: Rows<Shown>;
  readonly #heads: ReadonlyMap<string, HTMLElement>;
  readonly #controlHead: HTMLElement;
  /** Columns that have been needed so far: one that came and went would move all others. */
  readonly #columns = new Set<string>();

  constructor(controls: Controls) {
    const table = byId('devices');
    // Said again, as in each row: on narrow screens they are no tables to CSS, and to some browsers none at all then.
    table.setAttribute('role', 'table');
    this.#heads = new Map(COLUMNS.map(({ name }) => [name, head(name)]));
    const unseen = element('span', { class: 'hidden' }, 'control');
    this.#controlHead = element('th', { scope: 'col', role: 'columnheader', 'data-column': 'control' }, unseen);
    const heads = [head('device', ''), head('state', ''), ...this.#heads.values(), this.#controlHead];
    const body = element('tbody', { role: 'rowgroup' });
    table.append(element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...heads)), body);
    this.#rows = new Rows(body, (name) => deviceRow(name, controls));
  }

  show({ devices, control }: Status): void {
    const all = Object.entries(devices);
    const columns = this.#columns;
    for (const { name, has } of COLUMNS) {
      if (!has || all.some(([, device]) => has(device))) columns.add(name);
    }
    for (const [name, cell] of this.#heads) cell.hidden = !columns.has(name);
    this.#controlHead.hidden = !control;
    this.#rows.show(all.map(([name, device]) => [name, { device, columns, control }]));
  }
}

function head(name: string, kind = 'number'): HTMLElement {
  return element('th', { scope: 'col', role: 'columnheader', class: kind, 'data-column': name }, name);
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
    show({ device, columns, control: allowed }) {
      paused = device.state === 'paused';
      setText(about, device.description);
      setText(state, device.state);
      setAttribute(state, 'data-state', device.state);
      setText(reason, device.reason ?? '');
      for (const cell of cells) cell.show({ device, columns });
      control.hidden = !allowed;
      button.hidden = device.state === 'parked';
      setText(button, paused ? 'Resume' : 'Pause');
      setAttribute(button, 'aria-label', `${paused ? 'Resume' : 'Pause'} ${name}`);
    },
  };
}

function figureCell({ name, text, more }: Column): Row<Pick<Shown, 'device' | 'columns'>> {
  const first = element('span');
  const second = element('span', { class: 'reason' });
  const cell = element('td', { role: 'cell', class: 'number', 'data-label': name }, first, ...(more ? [second] : []));
  return {
    element: cell,
    show({ device, columns }) {
      cell.hidden = !columns.has(name);
      setText(first, text(device));
      if (more) setText(second, more(device));
    },
  };
}
