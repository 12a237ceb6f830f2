/** The dialog that confirms a request to rigs, sends it, and shows the answers. */

import type { HTMLInputElement } from 'happy-dom';
import { describe, expect, it } from 'vitest';
import type { FleetControlAnswer, RigSummary } from '#pickaxe/fleet/operator/fleet-answers.js';
import { type Command, ControlDialog, type SentRequest } from '#pickaxe/fleet/page/dialogs.js';
import { ApiError } from '#pickaxe/rig/page/api.js';
import { click, enter, openWindow } from '../../rig/page/window.ts';
import { turns } from '../../turns.ts';
import { rig, rowsOf } from './rows.ts';

const ONE = [rig('a')];
const TWO = [rig('a'), rig('b')];

/** Opens the dialog. The test answers each request that the dialog sends. */
function openDialog(command: Command, rigs: readonly RigSummary[]) {
  const page = openWindow('fleet');
  const sent: { request: SentRequest; names: readonly string[] }[] = [];
  let settle = (_: FleetControlAnswer | Error): void => {};
  const dialog = new ControlDialog((request, names) => {
    sent.push({ request, names });
    return new Promise((resolve, reject) => {
      settle = (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome));
    });
  });
  const open = (next: Command, some: readonly RigSummary[]) => dialog.open(next, rowsOf(...some).all);
  open(command, rigs);
  const { byId } = page;
  const text = (id: string) => byId(id).textContent;
  const number = (kind: string) => byId<HTMLInputElement>(`limit-${kind}`);
  return {
    ...page,
    sent,
    open,
    text,
    number,
    failed: () => page.texts('#ask-failed li'),
    isBusy: () => byId('ask-go').getAttribute('aria-busy'),
    focused: () => page.document.activeElement?.id,
    go: () => {
      click(byId('ask-go'));
      return turns();
    },
    settle: (outcome: FleetControlAnswer | Error) => {
      settle(outcome);
      return turns();
    },
    takeBack(kind: string, isBack: boolean): void {
      const box = byId<HTMLInputElement>(`limit-${kind}-back`);
      box.checked = isBack;
      box.dispatchEvent(new page.window.Event('change'));
    },
    fill: (kind: string, value: string) => enter(page, number(kind), value),
  };
}

/** The answers of rigs; those of the first do what is asked of them. */
function answers(done: number, failed = 0): FleetControlAnswer {
  const rigs = Array.from({ length: done + failed }, (_, at) => ({
    name: `r${at}`,
    done: at < done,
    message: at < done ? 'done' : `has reason ${at}`,
  }));
  return { done, failed, rigs };
}

describe('the dialog of a request', () => {
  it.each<[command: Command, rigs: readonly RigSummary[], heading: string, about: RegExp]>([
    ['pause', ONE, 'Pause a', /^All their devices pause until/],
    ['resume', TWO, 'Resume 2 rigs', /^Their devices mine again/],
    ['restart', TWO, 'Restart 2 rigs', /^Their miners end/],
    ['limits', ONE, 'Change the limits of a', /^Devices that reach the limit pause/],
  ])('to %s says what it does, and to whom', (command, rigs, heading, about) => {
    const { byId, text, focused, failed } = openDialog(command, rigs);
    expect([text('ask-heading'), text('ask-go')]).toEqual([`${heading}?`, heading]);
    expect(text('ask-about')).toMatch(about);
    expect(byId('ask-limits').hidden).toBe(command !== 'limits');
    expect([text('ask-notes'), text('ask-result'), failed()]).toEqual(['', '', []]);
    expect([byId('ask').hasAttribute('open'), byId('ask-go').hidden, text('ask-cancel')]).toEqual([
      true,
      false,
      'Cancel',
    ]);
    expect(focused()).toBe('ask-cancel');
  });

  it.each<[rigs: RigSummary[], notes: string]>([
    [[rig('a', { silent: true }), rig('b')], '1 of 2 is silent and may not answer.'],
    [[rig('a', { silent: true }), rig('b', { silent: true })], '2 of 2 are silent and may not answer.'],
    [[rig('a', { control: false })], '1 of 1 may not be controlled by operators.'],
    [
      [rig('a', { silent: true, control: false }), rig('b'), rig('c', { control: false })],
      '1 of 3 is silent and may not answer. 2 of 3 may not be controlled by operators.',
    ],
  ])('warns of rigs that may not do it: %#', (rigs, notes) => {
    expect(openDialog('pause', rigs).text('ask-notes')).toBe(notes);
  });

  it('sends nothing when it is cancelled', async () => {
    const { byId, sent } = openDialog('pause', TWO);
    click(byId('ask-cancel'));
    await turns();
    expect([byId('ask').hasAttribute('open'), sent]).toEqual([false, []]);
  });

  it('sends the request once, and shows that it waits', async () => {
    const { sent, go, isBusy, text, settle } = openDialog('pause', TWO);
    expect(isBusy()).toBe(null);
    await go();
    expect([isBusy(), text('ask-result')]).toEqual(['true', 'Asking …']);
    await go();
    expect(sent).toEqual([{ request: { command: 'pause' }, names: ['a', 'b'] }]);
    await settle(answers(2));
    expect([isBusy(), text('ask-result')]).toEqual([null, '2 rigs are paused.']);
  });

  it.each<[command: Command, one: string, several: string]>([
    ['pause', '1 rig is paused', '2 rigs are paused'],
    ['resume', '1 rig is resumed', '0 rigs are resumed'],
    ['restart', '1 rig is restarting', '2 rigs are restarting'],
  ])('says what rigs have done: %s', async (command, one, several) => {
    const { go, text, settle, open } = openDialog(command, ONE);
    await go();
    await settle(answers(1));
    expect([text('ask-result'), text('news')]).toEqual([`${one}.`, `${one}.`]);
    open(command, TWO);
    await go();
    await settle(answers(Number(several[0]), 3));
    expect(text('ask-result')).toBe(`${several}; 3 rigs did not do it:`);
    expect(text('news')).toBe(`${several}; 3 rigs did not do it.`);
  });

  it('lists the rigs that have not done it, and then can only be closed', async () => {
    const { go, settle, failed, byId, text, focused, one } = openDialog('pause', TWO);
    await go();
    one('#ask-go').focus();
    await settle(answers(1, 1));
    expect([text('ask-result'), failed()]).toEqual(['1 rig is paused; 1 rig did not do it:', ['r1 has reason 1']]);
    expect(one('#ask-failed strong').textContent).toBe('r1');
    expect([byId('ask-go').hidden, text('ask-cancel'), focused()]).toEqual([true, 'Close', 'ask-cancel']);
  });

  it.each([
    [100, 100, undefined],
    [101, 101, 'and 1 more'],
    [350, 101, 'and 250 more'],
  ])('lists no more than 100 of them: %i', async (count, length, more) => {
    const { go, settle, failed } = openDialog('pause', TWO);
    await go();
    await settle(answers(2, count));
    expect([failed().length, failed()[99]]).toEqual([length, 'r101 has reason 101']);
    expect(failed()[100]).toBe(more);
  });

  it.each([
    [new ApiError(503, 'another request to rigs is running'), 'another request to rigs is running'],
    [new TypeError('fetch failed'), 'the operator cannot be reached, so nothing is known of the rigs’ answers'],
  ])('says why a request has failed, and can send it again: %s', async (fault, why) => {
    const { go, settle, text, sent, isBusy, byId } = openDialog('restart', ONE);
    await go();
    await settle(fault);
    expect([text('ask-result'), isBusy()]).toEqual([`The request failed: ${why}.`, null]);
    expect([byId('ask-go').hidden, text('ask-cancel')]).toEqual([false, 'Cancel']);
    await go();
    await settle(answers(1));
    expect([sent.length, text('ask-result')]).toEqual([2, '1 rig is restarting.']);
  });

  it('shows nothing of an earlier request when it is opened again', async () => {
    const { go, settle, text, failed, byId, open, fill, takeBack, number, sent } = openDialog('limits', TWO);
    fill('gpu', '70');
    takeBack('cpu', true);
    await go();
    await settle(answers(1, 1));
    expect([text('ask-result'), byId('ask-limits').hidden]).toEqual([
      '1 rig has changed its limits; 1 rig did not do it:',
      true,
    ]);
    open('limits', ONE);
    expect([text('ask-result'), failed(), text('ask-cancel'), byId('ask-go').hidden]).toEqual([
      '',
      [],
      'Cancel',
      false,
    ]);
    expect(byId('ask-limits').hidden).toBe(false);
    expect(['gpu', 'cpu'].map((kind) => [number(kind).value, number(kind).disabled])).toEqual([
      ['', false],
      ['', false],
    ]);
    expect(byId<HTMLInputElement>('limit-cpu-back').checked).toBe(false);
    open('pause', ONE);
    await go();
    expect(sent.at(-1)).toEqual({ request: { command: 'pause' }, names: ['a'] });
  });
});

describe('the limits in the dialog', () => {
  it.each<[fields: { gpu?: string; cpu?: string; back?: string[] }, limits: object]>([
    [{ gpu: '72.5' }, { gpuCelsius: 72.5 }],
    [{ cpu: '80' }, { cpuCelsius: 80 }],
    [
      { gpu: '0', cpu: '150' },
      { gpuCelsius: 0, cpuCelsius: 150 },
    ],
    [{ back: ['gpu'] }, { gpuCelsius: null }],
    [
      { back: ['cpu'], gpu: '70' },
      { gpuCelsius: 70, cpuCelsius: null },
    ],
    [
      { back: ['gpu', 'cpu'], gpu: '70' },
      { gpuCelsius: null, cpuCelsius: null },
    ],
    // A field that is taken back is not read, so a value in it cannot be wrong.
    [{ back: ['cpu'], cpu: '700' }, { cpuCelsius: null }],
  ])('are sent as they are given: %j', async ({ gpu = '', cpu = '', back = [] }, limits) => {
    const { fill, takeBack, go, sent, settle, text, number } = openDialog('limits', TWO);
    fill('gpu', gpu);
    fill('cpu', cpu);
    for (const kind of back) takeBack(kind, true);
    expect(['gpu', 'cpu'].filter((kind) => number(kind).disabled)).toEqual(
      ['gpu', 'cpu'].filter((kind) => back.includes(kind)),
    );
    await go();
    expect(sent).toStrictEqual([{ request: { command: 'limits', ...limits }, names: ['a', 'b'] }]);
    await settle(answers(2));
    expect(text('ask-result')).toBe('2 rigs have changed their limits.');
  });

  it.each([
    ['gpu', '151'],
    ['cpu', '151'],
    ['gpu', '-1'],
    ['cpu', 'warm'],
  ])('are not sent while one is invalid: %s %s', async (kind, value) => {
    const { fill, go, sent, text, number } = openDialog('limits', TWO);
    fill(kind === 'gpu' ? 'cpu' : 'gpu', '70');
    fill(kind, '70');
    // A browser gives no text for a number that it cannot read, and reports the field as invalid.
    if (value === 'warm') number(kind).setCustomValidity('not a number');
    else fill(kind, value);
    await go();
    expect([sent, text('ask-result')]).toEqual([[], '']);
    number(kind).setCustomValidity('');
    fill(kind, '60');
    await go();
    expect(sent.length).toBe(1);
  });

  it('must be given, or taken back', async () => {
    const { takeBack, go, sent, text, number, isBusy } = openDialog('limits', TWO);
    await go();
    expect([sent, text('ask-result'), isBusy()]).toEqual([[], 'Give a limit, or take one back.', null]);
    takeBack('gpu', true);
    takeBack('gpu', false);
    expect(number('gpu').disabled).toBe(false);
    await go();
    expect(sent).toEqual([]);
    takeBack('gpu', true);
    await go();
    expect([sent.length, text('ask-result')]).toEqual([1, 'Asking …']);
  });
});
