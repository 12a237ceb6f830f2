/** The dialogs of a fleet's page: the devices of a rig, and a request to rigs, which needs a confirmation. */

import type { FleetControlAnswer } from '../fleet/answers.ts';
import type { ReportedDevice } from '../fleet/rig-report.ts';
import { formatCelsius, formatDuration, formatWatts, inWords } from '../report/units.ts';
import { plural } from '../text/quantities.ts';
import { ApiError } from './api.ts';
import {
  announce,
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
import { FLEET_COLUMNS, type FleetRow, type FleetRows } from './fleet-rows.ts';
import { amount, hashrate, known, UNKNOWN } from './format.ts';

/* The devices of a rig */

const DEVICE_FIGURES: Readonly<Record<string, (device: ReportedDevice) => string>> = {
  hashrate: ({ hashesPerSecond }) => hashrate(hashesPerSecond),
  proven: ({ provenHashesPerSecond }) => hashrate(provenHashesPerSecond),
  temperature: ({ celsius }) => known(celsius, formatCelsius),
  power: ({ watts }) => known(watts, formatWatts),
  'hardware errors': ({ hardwareErrors }) => String(hardwareErrors),
  reopened: ({ reopens }) => String(reopens),
};

type RigFigure = readonly [name: string, text: string];

function figuresOf(row: FleetRow, nowMs: number): RigFigure[] {
  const { rig } = row;
  const text = (column: string) => FLEET_COLUMNS[column].text(row, nowMs) ?? UNKNOWN;
  return [
    ['group', text('group')],
    ['coordinator', text('coordinator')],
    ['last report', text('report')],
    ['hashrate', text('hashrate')],
    ['proven', hashrate(row.state === 'silent' ? null : rig.provenHashesPerSecond)],
    ['hashes', amount(rig.hashes)],
    ['found', String(rig.found)],
    ['accepted', String(rig.accepted)],
    ['rejected', String(rig.rejected)],
    ['stale', String(rig.stale)],
    ['unknown', String(rig.unknown)],
    ['started', `${formatDuration(rig.uptimeSeconds)} before its last report`],
    ['version', rig.version],
    ['operators', rig.control ? 'may control it' : 'may not control it'],
  ];
}

export class RigDialog {
  readonly #dialog = byId<HTMLDialogElement>('rig');
  readonly #figures = new Rows<RigFigure>(byId('rig-figures'), figureRow);
  readonly #devices: Rows<ReportedDevice>;
  #name = '';

  constructor() {
    const heads = Object.keys(DEVICE_FIGURES).map((heading) => columnHead({ class: 'number' }, heading));
    const body = makeTable(byId('rig-devices'), columnHead({}, 'device'), columnHead({}, 'state'), ...heads);
    this.#devices = new Rows(body, deviceRow);
    byId('rig-close').addEventListener('click', () => this.#dialog.close());
    this.#dialog.addEventListener('close', () => {
      this.#name = '';
    });
  }

  open(name: string, rows: FleetRows, nowMs: number): void {
    this.#name = name;
    this.refresh(rows, nowMs);
    this.#dialog.showModal();
  }

  refresh(rows: FleetRows, nowMs: number): void {
    if (this.#name === '') return;
    const row = rows.get(this.#name);
    setText(byId('rig-heading'), this.#name);
    setText(byId('rig-state'), row ? inWords(row.state) : 'no longer listed');
    setAttribute(byId('rig-state'), 'data-state', row?.state ?? 'silent');
    byId('rig-duplicate').hidden = !row?.rig.duplicate;
    setText(byId('rig-reason'), row?.rig.stateReason ?? '');
    if (!row) return;
    this.#figures.show(figuresOf(row, nowMs).map((each) => [each[0], each]));
    this.#devices.show(row.rig.devices.map((device) => [device.name, device]));
    byId('rig-devices').hidden = row.rig.devices.length === 0;
    byId('rig-no-devices').hidden = row.rig.devices.length > 0;
  }
}

function figureRow(name: string): Row<RigFigure> {
  const text = element('dd');
  return { element: element('div', {}, element('dt', {}, name), text), show: ([, value]) => setText(text, value) };
}

function deviceRow(name: string): Row<ReportedDevice> {
  const about = element('span', { class: 'about' });
  const state = element('span', { class: 'badge' });
  const reason = element('span', { class: 'reason' });
  const cells = Object.entries(DEVICE_FIGURES).map(([heading, text]) => ({
    text,
    cell: cell({ class: 'number', 'data-label': heading }),
  }));
  return {
    element: tableRow(
      rowHead(element('span', { class: 'name' }, name), about),
      cell({ 'data-label': 'state' }, state, reason),
      ...cells.map(({ cell }) => cell),
    ),
    show(device) {
      setText(about, [device.kind, device.model].filter(Boolean).join(': '));
      setText(state, device.state);
      setAttribute(state, 'data-state', device.state);
      setText(reason, device.reason ?? '');
      for (const { text, cell } of cells) setText(cell, text(device));
    },
  };
}

/* Requests to rigs */

export type Command = 'pause' | 'resume' | 'restart';

/** Longest list of rigs that did not do it. */
const MOST_LISTED = 100;

type Send = (command: Command, names: readonly string[]) => Promise<FleetControlAnswer>;

const DONE: Readonly<Record<Command, string>> = { pause: 'paused', resume: 'resumed', restart: 'restarting' };

export class ControlDialog {
  readonly #send: Send;
  readonly #dialog = byId<HTMLDialogElement>('ask');
  readonly #go = byId<HTMLButtonElement>('ask-go');
  #command: Command = 'pause';
  #names: readonly string[] = [];

  constructor(send: Send) {
    this.#send = send;
    byId('ask-cancel').addEventListener('click', () => this.#dialog.close());
    this.#go.addEventListener('click', () => this.#ask());
  }

  open(command: Command, targets: readonly FleetRow[]): void {
    this.#command = command;
    this.#names = targets.map(({ rig }) => rig.name);
    const whom = targets.length === 1 ? this.#names[0] : plural(targets.length, 'rig');
    const silent = targets.filter(({ state }) => state === 'silent').length;
    const closed = targets.filter(({ rig }) => !rig.control).length;
    setText(byId('ask-heading'), `${upperFirst(command)} ${whom}?`);
    setText(byId('ask-about'), ABOUT[command]);
    setText(
      byId('ask-notes'),
      [
        silent > 0 && `${silent} of ${targets.length} ${silent === 1 ? 'is' : 'are'} silent and may not answer.`,
        closed > 0 && `${closed} of ${targets.length} may not be controlled by operators.`,
      ]
        .filter(Boolean)
        .join(' '),
    );
    setText(this.#go, `${upperFirst(command)} ${whom}`);
    this.#go.hidden = false;
    setText(byId('ask-cancel'), 'Cancel');
    byId('ask-failed').replaceChildren();
    setText(byId('ask-result'), '');
    this.#dialog.showModal();
    byId('ask-cancel').focus();
  }

  /** Unlike a disabled button, a busy one keeps the focus. */
  async #ask(): Promise<void> {
    if (this.#go.getAttribute('aria-busy') === 'true') return;
    this.#go.setAttribute('aria-busy', 'true');
    setText(byId('ask-result'), 'Asking …');
    try {
      this.#show(await this.#send(this.#command, this.#names));
    } catch (fault) {
      const why =
        fault instanceof ApiError
          ? fault.message
          : 'the operator cannot be reached, so nothing is known of the rigs’ answers';
      setText(byId('ask-result'), `The request failed: ${why}.`);
    }
    this.#go.removeAttribute('aria-busy');
  }

  #show({ done, failed, rigs }: FleetControlAnswer): void {
    const result = `${plural(done, 'rig')} ${done === 1 ? 'is' : 'are'} ${DONE[this.#command]}${failed === 0 ? '.' : `; ${plural(failed, 'rig')} did not do it:`}`;
    setText(byId('ask-result'), result);
    const listed = rigs.filter((rig) => !rig.done).slice(0, MOST_LISTED);
    byId('ask-failed').replaceChildren(
      ...listed.map(({ name, message }) => element('li', {}, element('strong', {}, name), ` ${message}`)),
      ...(failed > listed.length ? [element('li', {}, `and ${failed - listed.length} more`)] : []),
    );
    this.#go.hidden = true;
    setText(byId('ask-cancel'), 'Close');
    byId('ask-cancel').focus();
    announce(result.replace(/:$/, '.'));
  }
}

const ABOUT: Readonly<Record<Command, string>> = {
  pause: 'All their devices pause until somebody resumes them.',
  resume: 'Their devices mine again, unless there is another reason to pause.',
  restart: 'Their miners end, waiting for pending solutions, and start again.',
};

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
