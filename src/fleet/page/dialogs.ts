/** The dialogs of a fleet's page: one shows a rig and its devices, the other confirms and sends a request to rigs. */

import { plural } from '../../base/text/quantities.ts';
import { ApiError } from '../../rig/page/api.ts';
import {
  announce,
  byId,
  element,
  type Named,
  type Row,
  Rows,
  setAttribute,
  setText,
  tableOfNamed,
} from '../../rig/page/dom.ts';
import { amount, hashrate, known, UNKNOWN } from '../../rig/page/format.ts';
import { formatCelsius, formatDuration, formatWatts } from '../../rig/status/units.ts';
import type { FleetControlAnswer, FleetControlBody } from '../operator/fleet-answers.ts';
import type { FleetRig } from '../operator/fleet-status.ts';
import type { ReportedDevice } from '../rig-report.ts';
import { FLEET_COLUMNS, type FleetRow, type FleetRows } from './rig-rows.ts';

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

function figuresOf(row: FleetRow, rig: FleetRig, nowMs: number): RigFigure[] {
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
  readonly #ask: (name: string) => Promise<FleetRig>;
  #name = '';
  /** The last answer with the rig's devices, and the rig's row in the table at the time of the request. */
  #known: { readonly rig: FleetRig; readonly row: FleetRow } | undefined;
  /** Why there are no devices to show. */
  #missing = '';

  /** @param ask gets a rig with its devices, which the rows of the table do not have */
  constructor(ask: (name: string) => Promise<FleetRig>) {
    this.#ask = ask;
    this.#devices = tableOfNamed(byId('rig-devices'), 'device', DEVICE_FIGURES, describeDevice);
    byId('rig-close').addEventListener('click', () => this.#dialog.close());
    this.#dialog.addEventListener('close', () => {
      this.#name = '';
    });
  }

  async open(name: string, rows: FleetRows, nowMs: number): Promise<void> {
    this.#name = name;
    this.#known = undefined;
    this.#missing = 'Asking for its devices …';
    const refreshed = this.refresh(rows, nowMs);
    this.#dialog.showModal();
    await refreshed;
  }

  /**
   * Shows the rig's row. Requests the rig's devices if the row was replaced since the last answer. Never rejects.
   */
  async refresh(rows: FleetRows, nowMs: number): Promise<void> {
    const name = this.#name;
    if (name === '') return;
    const row = rows.get(name);
    this.#showState(row);
    if (!row) return;
    this.#showRig(row, nowMs);
    if (row === this.#known?.row) return;
    try {
      const rig = await this.#ask(name);
      if (name !== this.#name) return;
      this.#known = { rig, row };
    } catch (fault) {
      if (name !== this.#name) return;
      this.#missing = `Its devices are not known: ${fault instanceof ApiError ? fault.message : 'the operator cannot be reached'}.`;
    }
    this.#showRig(row, nowMs);
  }

  #showState(row: FleetRow | undefined): void {
    setText(byId('rig-heading'), this.#name);
    setText(byId('rig-state'), (row && FLEET_COLUMNS.state.text(row, 0)) ?? 'no longer listed');
    setAttribute(byId('rig-state'), 'data-state', row?.state ?? 'silent');
    byId('rig-duplicate').hidden = !row?.rig.duplicate;
    setText(byId('rig-reason'), row?.rig.stateReason ?? '');
  }

  #showRig(row: FleetRow, nowMs: number): void {
    const rig = this.#known?.rig;
    this.#figures.show(rig ? figuresOf(row, rig, nowMs).map((each) => [each[0], each]) : []);
    this.#devices.show((rig?.devices ?? []).map((device) => [device.name, device]));
    const hasDevices = rig !== undefined && rig.devices.length > 0;
    byId('rig-devices').hidden = !hasDevices;
    byId('rig-no-devices').hidden = hasDevices;
    setText(byId('rig-no-devices'), rig ? 'It reports no device.' : this.#missing);
  }
}

function figureRow(name: string): Row<RigFigure> {
  const text = element('dd');
  return { element: element('div', {}, element('dt', {}, name), text), show: ([, value]) => setText(text, value) };
}

function describeDevice({ kind, model, state, reason }: ReportedDevice): Named {
  return { about: [kind, model].filter(Boolean).join(': '), state, reason: reason ?? '' };
}

/* Requests to rigs */

export type SentRequest = FleetControlBody['request'];
export type Command = SentRequest['command'];

/** Maximum length of the dialog's list of rigs that have not carried out the request. */
const MOST_LISTED = 100;

type Send = (request: SentRequest, names: readonly string[]) => Promise<FleetControlAnswer>;

interface Words {
  /** The words that follow the number of rigs that have carried out the request: for one rig, and for several rigs. */
  readonly done: readonly [one: string, several: string];
  /** What the request does, in sentences. */
  readonly about: string;
}

const WORDS: Readonly<Record<Command, Words>> = {
  pause: {
    done: ['is paused', 'are paused'],
    about: 'All their devices pause until somebody resumes them.',
  },
  resume: {
    done: ['is resumed', 'are resumed'],
    about: 'Their devices mine again, unless there is another reason to pause.',
  },
  restart: {
    done: ['is restarting', 'are restarting'],
    about: 'Their miners end, waiting for pending solutions, and start again.',
  },
  limits: {
    done: ['has changed its limits', 'have changed their limits'],
    about:
      'Devices that reach the limit pause until they have cooled down. Where a rig’s own limit is lower, that one holds. These limits hold until they are taken back, or the rig restarts.',
  },
};

/** The two input fields for the temperature limit of one kind of device. */
class LimitField {
  readonly #celsius: HTMLInputElement;
  readonly #takeBack: HTMLInputElement;

  constructor(kind: 'gpu' | 'cpu') {
    this.#celsius = byId<HTMLInputElement>(`limit-${kind}`);
    this.#takeBack = byId<HTMLInputElement>(`limit-${kind}-back`);
    this.#takeBack.addEventListener('change', () => {
      this.#celsius.disabled = this.#takeBack.checked;
    });
  }

  clear(): void {
    this.#celsius.value = '';
    this.#celsius.disabled = false;
    this.#takeBack.checked = false;
  }

  /** Whether the entered value is valid. If it is not, the browser shows a message at the field. */
  get isValid(): boolean {
    return this.#celsius.reportValidity();
  }

  /** The new limit in °C; null if the limit is to be removed; undefined if it is to stay as it is. */
  get celsius(): number | null | undefined {
    if (this.#takeBack.checked) return null;
    return this.#celsius.value === '' ? undefined : this.#celsius.valueAsNumber;
  }
}

export class ControlDialog {
  readonly #send: Send;
  readonly #dialog = byId<HTMLDialogElement>('ask');
  readonly #go = byId<HTMLButtonElement>('ask-go');
  readonly #limits = { gpu: new LimitField('gpu'), cpu: new LimitField('cpu') };
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
    const what = command === 'limits' ? 'Change the limits of' : upperFirst(command);
    setText(byId('ask-heading'), `${what} ${whom}?`);
    setText(byId('ask-about'), WORDS[command].about);
    setText(
      byId('ask-notes'),
      [
        silent > 0 && `${silent} of ${targets.length} ${silent === 1 ? 'is' : 'are'} silent and may not answer.`,
        closed > 0 && `${closed} of ${targets.length} may not be controlled by operators.`,
      ]
        .filter(Boolean)
        .join(' '),
    );
    setText(this.#go, `${what} ${whom}`);
    for (const field of Object.values(this.#limits)) field.clear();
    byId('ask-limits').hidden = command !== 'limits';
    this.#go.hidden = false;
    setText(byId('ask-cancel'), 'Cancel');
    byId('ask-failed').replaceChildren();
    setText(byId('ask-result'), '');
    this.#dialog.showModal();
    byId('ask-cancel').focus();
  }

  /**
   * Sends the request, and shows the answers. Meanwhile, the button is marked as busy instead of disabled, because a
   * disabled button loses the focus.
   */
  async #ask(): Promise<void> {
    if (this.#go.getAttribute('aria-busy') === 'true') return;
    const request = this.#request();
    if (!request) return;
    this.#go.setAttribute('aria-busy', 'true');
    setText(byId('ask-result'), 'Asking …');
    try {
      this.#show(await this.#send(request, this.#names));
    } catch (fault) {
      const why =
        fault instanceof ApiError
          ? fault.message
          : 'the operator cannot be reached, so nothing is known of the rigs’ answers';
      setText(byId('ask-result'), `The request failed: ${why}.`);
    }
    this.#go.removeAttribute('aria-busy');
  }

  /**
   * @returns the request; undefined if it would change neither limit, or if a limit is invalid. In these cases, the
   *   dialog shows a message
   */
  #request(): SentRequest | undefined {
    const command = this.#command;
    if (command !== 'limits') return { command };
    const { gpu, cpu } = this.#limits;
    if (!gpu.isValid || !cpu.isValid) return undefined;
    const [gpuCelsius, cpuCelsius] = [gpu.celsius, cpu.celsius];
    if (gpuCelsius === undefined && cpuCelsius === undefined) {
      setText(byId('ask-result'), 'Give a limit, or take one back.');
      return undefined;
    }
    return {
      command,
      ...(gpuCelsius !== undefined && { gpuCelsius }),
      ...(cpuCelsius !== undefined && { cpuCelsius }),
    };
  }

  #show({ done, failed, rigs }: FleetControlAnswer): void {
    const result = `${plural(done, 'rig')} ${WORDS[this.#command].done[done === 1 ? 0 : 1]}${failed === 0 ? '.' : `; ${plural(failed, 'rig')} did not do it:`}`;
    setText(byId('ask-result'), result);
    const listed = rigs.filter((rig) => !rig.done).slice(0, MOST_LISTED);
    byId('ask-failed').replaceChildren(
      ...listed.map(({ name, message }) => element('li', {}, element('strong', {}, name), ` ${message}`)),
      ...(failed > listed.length ? [element('li', {}, `and ${failed - listed.length} more`)] : []),
    );
    this.#go.hidden = true;
    byId('ask-limits').hidden = true;
    setText(byId('ask-cancel'), 'Close');
    byId('ask-cancel').focus();
    announce(result.replace(/:$/, '.'));
  }
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
