/** The dialog that shows a rig and its devices. */

import { describe, expect, it } from 'vitest';
import type { RigSummary } from '#pickaxe/fleet/operator/fleet-answers.js';
import type { FleetRig } from '#pickaxe/fleet/operator/fleet-status.js';
import { RigDialog } from '#pickaxe/fleet/page/dialogs.js';
import { ApiError } from '#pickaxe/rig/page/api.js';
import { click, openWindow } from '../../rig/page/window.ts';
import { turns } from '../../turns.ts';
import { fleetRig, reportedDevice } from '../operator/messages.ts';
import { NOW, rig, rowsOf } from './rows.ts';

/** Opens the dialog of the rig `a`. The test answers each question for the rig's devices. */
function openDialog(more: Partial<RigSummary> = {}) {
  const page = openWindow('fleet');
  const rows = rowsOf(rig('a', more), rig('b'));
  const questions: {
    name: string;
    answer(more?: Partial<FleetRig>): Promise<void>;
    fail(fault: unknown): Promise<void>;
  }[] = [];
  const dialog = new RigDialog(
    (name) =>
      new Promise((resolve, reject) => {
        questions.push({
          name,
          answer: (devices) => {
            resolve(fleetRig(name, devices));
            return turns();
          },
          fail: (fault) => {
            reject(fault);
            return turns();
          },
        });
      }),
  );
  void dialog.open('a', rows, NOW);
  return {
    ...page,
    rows,
    questions,
    dialog,
    element: page.byId('rig'),
    text: (id: string) => page.byId(id).textContent,
    figures: () => page.texts('#rig-figures dd'),
    devices: () => page.texts('#rig-devices tbody .name'),
    /** Replaces the row of the rig, as an answer with its new report does. */
    report: (change: Partial<RigSummary>, timeMillis = NOW) =>
      rows.apply({ whole: false, rigs: [rig('a', change)], goneRigs: [], timeMillis }),
    refresh: (nowMs = NOW) => {
      void dialog.refresh(rows, nowMs);
      return turns();
    },
  };
}

describe('the dialog of a rig', () => {
  it('shows the rig at once, and its devices when they are known', async () => {
    const { element, text, byId, questions, figures, devices, texts } = openDialog({ ageSeconds: 7 });
    expect([element.hasAttribute('open'), text('rig-heading'), text('rig-state')]).toEqual([true, 'a', 'mining']);
    expect([byId('rig-no-devices').hidden, text('rig-no-devices')]).toEqual([false, 'Asking for its devices …']);
    expect([byId('rig-devices').hidden, figures()]).toEqual([true, []]);
    expect(questions.map(({ name }) => name)).toEqual(['a']);
    const counts = { found: 15, accepted: 11, rejected: 2, stale: 3, unknown: 4, hashes: 17.2e6 };
    await questions[0].answer({ ...counts, uptimeSeconds: 125, version: '1.2.3', provenHashesPerSecond: 2e9 });
    expect(texts('#rig-figures dt').map((name, at) => `${name}: ${figures()[at]}`)).toEqual([
      'group: –',
      'coordinator: c1',
      'last report: 7 s ago',
      'hashrate: 25.00 GH/s',
      'proven: 2.000 GH/s',
      'hashes: 17.20 M',
      'found: 15',
      'accepted: 11',
      'rejected: 2',
      'stale: 3',
      'unknown: 4',
      'started: 2 min 5 s before its last report',
      'version: 1.2.3',
      'operators: may control it',
    ]);
    expect([byId('rig-devices').hidden, byId('rig-no-devices').hidden, devices()]).toEqual([false, true, ['gpu0']]);
  });

  it('shows each device with its figures', async () => {
    const { questions, texts, byId, text } = openDialog();
    const devices = [
      reportedDevice({ hardwareErrors: 2, reopens: 5, watts: 300, celsius: 61 }),
      reportedDevice({
        ...{ name: 'cpu', kind: 'cpu', model: null, state: 'parked', reason: 'it is hot' },
        ...{ hashesPerSecond: 0, provenHashesPerSecond: null, celsius: null, watts: null },
      }),
    ];
    await questions[0].answer({ devices });
    const figures = ['hashrate', 'proven', 'temperature', 'power', 'hardware errors', 'reopened'];
    expect(texts('#rig-devices thead th')).toEqual(['device', 'state', ...figures]);
    const cells = (row: number) => texts(`#rig-devices tbody tr:nth-child(${row}) > *`);
    expect(cells(1)).toEqual(['gpu0gpu: a card', 'ready', '25.00 GH/s', '24.00 GH/s', '61 °C', '300 W', '2', '5']);
    expect(cells(2)).toEqual(['cpucpu', 'parkedit is hot', '0 H/s', '–', '–', '–', '0', '0']);
    expect([byId('rig-devices').hidden, text('rig-no-devices')]).toEqual([false, 'It reports no device.']);
  });

  it.each<[more: Partial<RigSummary>, badge: string[], isDuplicate: boolean, reason: string]>([
    [{}, ['mining', 'mining'], false, ''],
    [{ state: 'no-source', stateReason: 'the node is gone' }, ['no source', 'no-source'], false, 'the node is gone'],
    [{ silent: true }, ['silent', 'silent'], false, ''],
    [{ duplicate: true, stateReason: null }, ['mining', 'mining'], true, ''],
  ])('shows the state of the rig: %j', (more, badge, isDuplicate, reason) => {
    const { byId, text } = openDialog(more);
    expect([text('rig-state'), byId('rig-state').getAttribute('data-state')]).toEqual(badge);
    expect(byId('rig-duplicate').hidden).toBe(!isDuplicate);
    expect(text('rig-reason')).toBe(reason);
  });

  it.each<[row: Partial<RigSummary>, answer: Partial<FleetRig>, figures: string[]]>([
    [{ silent: true }, { silent: true }, ['–', '–', 'may control it']],
    [{}, { control: false, provenHashesPerSecond: null }, ['25.00 GH/s', '–', 'may not control it']],
  ])('has no figures that are old or unknown: %j', async (row, answer, expected) => {
    const { questions, figures } = openDialog(row);
    await questions[0].answer(answer);
    expect([3, 4, 13].map((at) => figures()[at])).toEqual(expected);
  });

  it('says that a rig reports no device', async () => {
    const { questions, byId, text, figures } = openDialog();
    await questions[0].answer({ devices: [] });
    expect([byId('rig-devices').hidden, byId('rig-no-devices').hidden]).toEqual([true, false]);
    expect([text('rig-no-devices'), figures().length]).toEqual(['It reports no device.', 14]);
  });

  it.each([
    [new ApiError(404, 'there is no such rig'), 'there is no such rig'],
    [new TypeError('fetch failed'), 'the operator cannot be reached'],
  ])('says why the devices are not known, and asks again with the next answer: %s', async (fault, why) => {
    const { questions, refresh, text, byId, devices } = openDialog();
    await questions[0].fail(fault);
    expect(text('rig-no-devices')).toBe(`Its devices are not known: ${why}.`);
    expect(byId('rig-no-devices').hidden).toBe(false);
    await refresh();
    expect(text('rig-no-devices')).toBe(`Its devices are not known: ${why}.`);
    await questions[1].answer();
    expect([devices(), byId('rig-no-devices').hidden]).toEqual([['gpu0'], true]);
  });

  it('asks again only after the rig has reported, and shows the last devices until then', async () => {
    const { questions, refresh, report, devices, figures } = openDialog();
    await questions[0].answer();
    await refresh(NOW + 3_000);
    expect([questions.length, figures()[2]]).toEqual([1, '3 s ago']);
    report({ ageSeconds: 0 }, NOW + 4_000);
    await refresh(NOW + 4_000);
    expect([questions.length, figures()[2], devices()]).toEqual([2, '0 s ago', ['gpu0']]);
    await questions[1].fail(new TypeError('fetch failed'));
    expect(devices()).toEqual(['gpu0']);
    await refresh(NOW + 5_000);
    await questions[2].answer({ devices: [reportedDevice({ name: 'gpu1' })] });
    expect([questions.length, devices(), figures()[2]]).toEqual([3, ['gpu1'], '1 s ago']);
    await refresh(NOW + 6_000);
    expect(questions.length).toBe(3);
  });

  it('says that the rig is no longer listed, and asks nothing', async () => {
    const { questions, refresh, rows, byId, text, devices } = openDialog({ duplicate: true, stateReason: 'so it is' });
    await questions[0].answer();
    rows.apply({ whole: false, rigs: [], goneRigs: ['a'], timeMillis: NOW });
    await refresh();
    expect([text('rig-heading'), text('rig-state'), text('rig-reason')]).toEqual(['a', 'no longer listed', '']);
    expect([byId('rig-state').getAttribute('data-state'), byId('rig-duplicate').hidden]).toEqual(['silent', true]);
    expect([questions.length, devices()]).toEqual([1, ['gpu0']]);
  });

  it('asks nothing after it was closed, and ignores what comes late', async () => {
    const { questions, refresh, report, byId, element, devices, text } = openDialog();
    click(byId('rig-close'));
    expect(element.hasAttribute('open')).toBe(false);
    await questions[0].answer();
    report({ state: 'paused' });
    await refresh();
    expect([questions.length, devices(), text('rig-state')]).toEqual([1, [], 'mining']);
  });

  it.each(['answer', 'failure'])(
    'shows the rig that was opened last, whatever comes late for the other: %s',
    async (late) => {
      const { questions, dialog, rows, devices, text, figures } = openDialog();
      void dialog.open('b', rows, NOW);
      expect([text('rig-heading'), text('rig-no-devices')]).toEqual(['b', 'Asking for its devices …']);
      if (late === 'answer') await questions[0].answer();
      else await questions[0].fail(new TypeError('fetch failed'));
      expect([devices(), text('rig-no-devices')]).toEqual([[], 'Asking for its devices …']);
      await questions[1].answer({ devices: [reportedDevice({ name: 'gpu7' })] });
      expect([questions[1].name, devices()]).toEqual(['b', ['gpu7']]);
      // The devices of another rig are not shown, not even for a moment.
      void dialog.open('a', rows, NOW);
      expect([devices(), figures(), text('rig-no-devices')]).toEqual([[], [], 'Asking for its devices …']);
    },
  );
});
