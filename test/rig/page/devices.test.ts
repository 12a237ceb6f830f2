/** The tables of devices and of workers, and the buttons that pause and resume. */

import { describe, expect, it } from 'vitest';
import { Controls, Devices, Workers } from '#pickaxe/rig/page/devices.js';
import type { DeviceStatus, Status } from '#pickaxe/rig/status/status.js';
import { turns } from '../../turns.ts';
import { device, NO_SENSORS, relay, worker } from '../status/fakes.ts';
import { Rig, workOnPool } from './rig.ts';
import { rowsOf, statusOf } from './statuses.ts';
import { openWindow, type PageWindow } from './window.ts';

type Some = Readonly<Record<string, Partial<DeviceStatus>>>;

/** @returns the status of a rig that mines with these devices */
function statusWith(devices: Some, more: Partial<Status> = {}): Status {
  const rig = new Rig();
  for (const name of Object.keys(devices)) rig.emit(device(name, 'ready'));
  const status = statusOf(rig);
  const changed = Object.entries(devices).map(([name, some]) => [name, { ...status.devices[name], ...some }]);
  return { ...status, ready: true, ...more, devices: Object.fromEntries(changed) };
}

/** Opens the table and the buttons of a rig that may be controlled. What they ask for, the test answers. */
function openDevices() {
  const page = openWindow('rig');
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const controls = new Controls((action, device = 'all') => {
    asked.push(`${action} ${device}`);
    return new Promise((answer) => answers.push(answer));
  });
  const table = new Devices(controls);
  const show = (devices: Some, more: Partial<Status> = {}) => {
    const status = statusWith(devices, { control: true, ...more });
    controls.show(status);
    table.show(status);
    return rowsOf(page, '#devices tbody tr');
  };
  return {
    page,
    asked,
    show,
    heads: () => rowsOf(page, '#devices thead tr')[0],
    button: (name: string) => page.one(`#devices [aria-label$=" ${name}"]`),
    answer: async () => {
      for (const answer of answers.splice(0)) answer();
      await turns();
    },
  };
}

const SENSORS: DeviceStatus['sensors'] = { ...NO_SENSORS, temperatureCelsius: 61, powerWatts: 161.5, fanRatio: 0.4 };
const PROVEN = { hashes: 998, low: 981, high: 1015, proofs: 12 };
const COUNTS = { accepted: 0, rejected: 0, stale: 0, unknown: 0, delivered: 0, acceptedHashes: 0 };
const ALWAYS = ['device', 'state', 'hashrate, 30\u00a0s', 'proven', 'blocks accepted', 'hardware errors'];

describe('the table of devices', () => {
  it.each<[string, Partial<DeviceStatus>, boolean, string[]]>([
    ['a ready device of a rig that mines', { hashesPerSecond: 4e6 }, true, ['ready', '4.000 MH/s', '–', '0', '0']],
    ['a ready device of a rig without work', { hashesPerSecond: 4e6 }, false, ['waits for work', '–', '–', '0', '0']],
    ['a device that starts', { state: 'starting', hashesPerSecond: 4e6 }, true, ['starting', '–', '–', '0', '0']],
    [
      'a paused device',
      { state: 'paused', reason: 'it is hot', accepted: 3 },
      true,
      ['pausedit is hot', '–', '–', '3', '0'],
    ],
    [
      'a paused device of a rig without work',
      { state: 'paused', reason: 'it is hot' },
      false,
      ['pausedit is hot', '–', '–', '0', '0'],
    ],
    [
      'a device that is opened again',
      { state: 'reopening', reason: 'lost', hardwareErrors: 2 },
      true,
      ['reopeninglost', '–', '–', '0', '2'],
    ],
    ['a proven device', { proven: PROVEN, hashes: 1_000 }, true, ['ready', '0 H/s', '99.8 %98.1 to 101.5 %', '0', '0']],
  ])('has a row for %s', (_, some, ready, cells) => {
    const { page, show, heads } = openDevices();
    const waits = ready || (some.state ?? 'ready') !== 'ready' ? (some.state ?? 'ready') : 'waiting';
    for (const _ of [1, 2]) {
      expect(show({ cpu: some }, { ready, control: false })).toEqual([['cpumodel of cpu', ...cells]]);
      expect(page.one('#devices .badge').getAttribute('data-state')).toBe(waits);
      expect(heads()).toEqual(ALWAYS);
      expect(show({ cpu: {} }, { control: false })).toEqual([['cpumodel of cpu', 'ready', '0 H/s', '–', '0', '0']]);
    }
  });

  it.each<[string, Partial<DeviceStatus>, string, string]>([
    ['temperature', { sensors: SENSORS }, '61 °C', '–'],
    ['fan', { sensors: SENSORS }, '40 %', '–'],
    ['power', { sensors: SENSORS }, '162 W', '–'],
    ['per joule', { hashesPerJoule: 24_770 }, '24.77 kH/J', '–'],
    ['shares acc/rej/stale', { shares: { ...COUNTS, accepted: 3, stale: 1 } }, '3/0/1', '0/0/0'],
    ['failures', { reopens: 1 }, '1', '0'],
  ])('has a column "%s" once a device has the figure, and keeps it', (heading, some, text, other) => {
    const { page, show, heads } = openDevices();
    const cells = () => page.texts(`#devices td[data-label="${heading}"]:not([hidden])`);
    show({ cpu: {}, gpu0: {} });
    expect(heads()).toEqual([...ALWAYS, 'control']);
    expect(cells()).toEqual([]);
    show({ cpu: {}, gpu0: some });
    expect(heads()).toContain(heading);
    expect(cells()).toEqual([other, text]);
    show({ cpu: {}, gpu0: {} });
    expect(heads()).toContain(heading);
    expect(cells()).toEqual([other, other]);
  });

  it('has names for its columns, by which CSS gives them room', () => {
    const { page } = openDevices();
    const heads = [...page.document.querySelectorAll('#devices th')];
    expect(heads.map((head) => `${head.className}:${head.getAttribute('data-column')}`)).toEqual([
      ':device',
      ':state',
      ...['hashrate', 'temperature', 'fan', 'power', 'efficiency', 'proven', 'shares', 'blocks', 'hardware-errors'].map(
        (name) => `number:${name}`,
      ),
      'number:failures',
      ':control',
    ]);
  });

  it('is hidden on a rig that has only relays', () => {
    const { page, show } = openDevices();
    const rig = new Rig(0, ['stratum']);
    rig.emit(relay('stratum'));
    const { relays } = statusOf(rig);
    const isHidden = () => page.byId('devices-panel').hidden;
    show({}, { relays });
    expect(isHidden()).toBe(true);
    show({});
    expect(isHidden()).toBe(false);
    show({ cpu: {} }, { relays });
    expect(isHidden()).toBe(false);
  });

  it('keeps the row of a device while others come and go', () => {
    const { page, show } = openDevices();
    show({ cpu: {}, gpu0: {} });
    const row = page.one('#devices tbody tr:last-child');
    expect(show({ gpu0: { state: 'paused' } }).map(([name]) => name)).toEqual(['gpu0model of gpu0']);
    expect(page.one('#devices tbody tr')).toBe(row);
    expect(show({ cpu: {}, gpu0: {} }).map(([name]) => name)).toEqual(['cpumodel of cpu', 'gpu0model of gpu0']);
    expect(page.one('#devices tbody tr:last-child')).toBe(row);
  });
});

const attribute = (page: PageWindow, id: string, name: string) => page.byId(id).getAttribute(name);

describe('the buttons of devices', () => {
  it('pause a device, and resume it once it is paused', async () => {
    const { show, button, asked, answer } = openDevices();
    show({ cpu: {}, gpu0: {} });
    const looks = () => [button('gpu0').textContent, button('gpu0').getAttribute('aria-label')];
    for (const _ of [1, 2]) {
      expect(looks()).toEqual(['Pause', 'Pause gpu0']);
      button('gpu0').click();
      await answer();
      show({ cpu: {}, gpu0: { state: 'paused' } });
      expect(looks()).toEqual(['Resume', 'Resume gpu0']);
      expect(button('cpu').textContent).toBe('Pause');
      button('gpu0').click();
      await answer();
      show({ cpu: {}, gpu0: {} });
    }
    expect(asked).toEqual(['pause gpu0', 'resume gpu0', 'pause gpu0', 'resume gpu0']);
  });

  it('do nothing more while an answer is awaited', async () => {
    const { page, show, button, asked, answer } = openDevices();
    show({ cpu: {}, gpu0: {} });
    const busy = () => button('cpu').getAttribute('aria-busy');
    expect(busy()).toBeNull();
    button('cpu').click();
    button('cpu').click();
    expect(busy()).toBe('true');
    page.byId('pause-all').click();
    expect(asked).toEqual(['pause cpu', 'pause all']);
    await answer();
    expect(busy()).toBeNull();
    button('cpu').click();
    expect(asked).toEqual(['pause cpu', 'pause all', 'pause cpu']);
  });

  it('are hidden where control is not allowed, and beside a parked device', () => {
    const { page, show, button, heads } = openDevices();
    const shown = () => [!page.byId('controls').hidden, heads().includes('control')];
    show({ cpu: {} }, { control: false });
    expect(shown()).toEqual([false, false]);
    expect(button('cpu').parentElement!.hasAttribute('hidden')).toBe(true);
    show({ cpu: {}, gpu0: { state: 'parked' } });
    expect(shown()).toEqual([true, true]);
    expect(button('cpu').parentElement!.hasAttribute('hidden')).toBe(false);
    expect([button('cpu').hidden, button('gpu0').hidden]).toEqual([false, true]);
    show({ gpu0: { state: 'parked' } });
    expect(shown()).toEqual([false, true]);
    show({});
    expect(shown()).toEqual([false, true]);
    show({ cpu: { state: 'reopening' } }, { control: false });
    expect(shown()).toEqual([false, false]);
  });

  it.each<[string, DeviceStatus['state'][], string[], string[]]>([
    ['ready devices', ['ready', 'ready'], ['pause all'], ['false', 'true']],
    ['paused devices', ['paused', 'paused'], ['resume all'], ['true', 'false']],
    ['some of both', ['ready', 'paused'], ['pause all', 'resume all'], ['false', 'false']],
    ['a paused and a parked device', ['paused', 'parked'], ['resume all'], ['true', 'false']],
    ['a device that starts', ['starting'], ['pause all'], ['false', 'true']],
  ])('for all of them do what has an effect on %s', async (_, states, effect, disabled) => {
    const { page, show, asked, answer } = openDevices();
    show(Object.fromEntries(states.map((state, at) => [`gpu${at}`, { state }])));
    expect(['pause-all', 'resume-all'].map((id) => attribute(page, id, 'aria-disabled'))).toEqual(disabled);
    for (const id of ['pause-all', 'resume-all']) page.byId(id).click();
    await answer();
    expect(asked).toEqual(effect);
    expect(['pause-all', 'resume-all'].map((id) => attribute(page, id, 'aria-busy'))).toEqual([null, null]);
  });
});

describe('the table of workers', () => {
  const openWorkers = () => {
    const page = openWindow('rig');
    const table = new Workers();
    const show = (status: Status) => {
      table.show(status);
      return rowsOf(page, '#worker-table tbody tr');
    };
    const hidden = () => ['workers', 'worker-table', 'no-workers'].filter((id) => page.byId(id).hidden);
    return { page, show, hidden, about: () => page.byId('workers-about').textContent };
  };

  it('has a row for each worker of a relay, and says what the relay has brought', () => {
    const { page, show, hidden, about } = openWorkers();
    const rig = workOnPool(new Rig());
    for (const _ of [1, 2]) {
      expect(show(statusOf(rig, { sourceKind: 'pool' }))).toEqual([
        ['attic', '2', '700.0 GH/s', '1.100 T', '12', '1', '2', '3', '1', '4 s ago'],
        ['gone', '0', '0 H/s', '–', '12', '1', '2', '3', '0', '–'],
      ]);
      expect(hidden()).toEqual(['no-workers']);
    }
    expect(about()).toBe(
      'stratum: 2 sessions, about 700.0 GH/s, estimated from shares and no part of this rig’s own hashrate. Brought to ' +
        'the pool: shares 1 accepted, 0 rejected, 0 stale; blocks 1 accepted, 0 rejected, 0 stale.',
    );
    expect(rowsOf(page, '#worker-table thead tr')).toEqual([
      [
        ...['worker', 'sessions', 'estimated hashrate', 'share difficulty', 'accepted', 'rejected', 'stale'],
        ...['duplicate', 'blocks', 'last share'],
      ],
    ]);
    const kinds = [...page.document.querySelectorAll('#worker-table th[scope="col"]')].map((head) => head.className);
    expect(kinds).toEqual(['', ...Array(9).fill('number')]);
    expect(page.one('#worker-table td').outerHTML).toBe('<td role="cell" class="number" data-label="sessions">2</td>');
    expect(page.one('#worker-table th[scope="row"]').innerHTML).toBe('<span class="name">attic</span>');
  });

  it('is hidden without a relay, and says that a relay has no worker yet', () => {
    const { show, hidden, about } = openWorkers();
    show(statusOf(new Rig()));
    expect(hidden()).toEqual(['workers', 'worker-table']);
    expect(about()).toBe('');
    const rig = new Rig(0, ['stratum']);
    rig.emit(relay('stratum'));
    expect(show(statusOf(rig))).toEqual([]);
    expect(hidden()).toEqual(['worker-table']);
    expect(about()).toBe(
      'stratum: 0 sessions, about 0 H/s, estimated from shares and no part of this rig’s own hashrate. Brought to the ' +
        'node: blocks 0 accepted, 0 rejected, 0 stale.',
    );
    rig.emit(relay('stratum', worker('a')));
    expect(show(statusOf(rig))).toHaveLength(1);
    expect(hidden()).toEqual(['no-workers']);
    expect(about()).toMatch(/^stratum: 1 session, /);
  });

  it('names the relay of each worker where there are several', () => {
    const { show, about } = openWorkers();
    const rig = new Rig(0, ['fleet', 'stratum']);
    rig.emit(relay('fleet', worker('rig-1')));
    rig.emit(relay('stratum', worker('attic'), worker('rig-1')));
    const rows = show(statusOf(rig));
    expect(rows.map(([name]) => name)).toEqual(['fleet: rig-1', 'stratum: attic', 'stratum: rig-1']);
    expect(about()).toMatch(
      /^fleet: 1 session, .* as its rigs report it .*\. stratum: 2 sessions, .* from shares .*\.$/,
    );
  });
});
