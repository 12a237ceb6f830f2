/** The page of a fleet: the selection of rigs, requests to them, and the dialog of one. */

import type { HTMLElement } from 'happy-dom';
import { describe, expect, it } from 'vitest';
import type { AskRig } from '#pickaxe/fleet/operator/ask-rigs.js';
import { click, enter } from '../../rig/page/window.ts';
import { type OpenPage, openPage } from './open-page.ts';

const cell = (page: OpenPage, name: string, column: string) =>
  page.row(name).querySelector(`[data-column=${column}]`) as never;
const badge = (page: OpenPage, name: string) => page.row(name).querySelector('.badge')?.textContent;

function select(page: OpenPage, ...names: string[]): void {
  for (const name of names) click(cell(page, name, 'select'));
}

/** Sends a request, and confirms it. */
async function request(page: OpenPage, command: string): Promise<void> {
  click(page.byId(command));
  click(page.byId('ask-go'));
  await page.settled();
}

/** Unlike the rigs of the synthetic fleet, these report in their turn. */
const inTurn: AskRig = async (name) => ({ done: name !== 'rig-0003', message: 'it does not want to' });

describe('the selection', () => {
  it('is counted, also under another filter, and can be given up', async () => {
    const page = await openPage();
    const { text, byId } = page;
    const disabled = () =>
      ['pause', 'resume', 'restart', 'limits', 'deselect'].map((id) => byId(id).getAttribute('aria-disabled'));
    expect([text('selected'), ...disabled()]).toEqual(['none selected', ...Array(5).fill('true')]);
    select(page, 'rig-0001', 'rig-0002', 'rig-0003');
    expect([text('selected'), text('news'), ...disabled()]).toEqual(['3 selected', '', ...Array(5).fill('false')]);
    select(page, 'rig-0002');
    expect(text('selected')).toBe('2 selected');
    enter(page, byId('filter-text'), '0003');
    expect(text('selected')).toBe('2 selected, 1 of them not shown');
    click(byId('deselect'));
    expect([text('selected'), text('news'), ...disabled()]).toEqual([
      'none selected',
      '0 rigs selected',
      ...Array(5).fill('true'),
    ]);
    click(page.one('#rig-table thead button.check'));
    expect([text('selected'), text('news')]).toEqual(['1 selected', '0 rigs selected']);
  });

  it('is needed for a request', async () => {
    const page = await openPage();
    for (const command of ['pause', 'resume', 'restart', 'limits']) click(page.byId(command));
    expect(page.byId('ask').hasAttribute('open')).toBe(false);
  });
});

describe('a request to rigs', () => {
  it.each(['pause', 'resume', 'restart'])('goes to the selected rigs after a confirmation: %s', async (command) => {
    const page = await openPage({ ask: inTurn });
    select(page, 'rig-0001', 'rig-0003', 'rig-0005');
    click(page.byId(command));
    expect([page.requests.length, page.text('ask-heading')]).toEqual([
      1,
      `${command[0].toUpperCase()}${command.slice(1)} 3 rigs?`,
    ]);
    click(page.byId('ask-go'));
    await page.settled();
    // The changes are asked for at once.
    expect(page.requests.slice(1)).toEqual(['/control', '/changes?since=0123456789abcdef-1']);
    expect(page.texts('#ask-failed li')).toEqual(['rig-0003 it does not want to']);
    const asked = ['rig-0001', 'rig-0002', 'rig-0003', 'rig-0005'].map((name) => badge(page, name));
    expect(asked).toEqual([`asked to ${command}`, 'mining', 'mining', `asked to ${command}`]);
    await page.goOn(10_000);
    expect(badge(page, 'rig-0001')).toBe('mining');
  });

  it('is shown in the rows even if the changes cannot be asked for', async () => {
    const page = await openPage({ ask: inTurn });
    select(page, 'rig-0001');
    page.link.edit = (path, status, text) => (path.includes('/changes') ? [500, '{}'] : [status, text]);
    await request(page, 'pause');
    expect([badge(page, 'rig-0001'), page.byId('banner').hidden]).toEqual(['asked to pause', false]);
  });

  it('changes limits, which the rows do not show', async () => {
    const asked: unknown[] = [];
    const page = await openPage({
      ask: async (name, sent) => {
        asked.push([name, sent]);
        return { done: true, message: 'done' };
      },
    });
    select(page, 'rig-0002', 'rig-0001');
    click(page.byId('limits'));
    enter(page, page.byId('limit-gpu'), '70');
    click(page.byId('ask-go'));
    await page.settled();
    const limits = { command: 'limits', gpuCelsius: 70 };
    expect(asked).toEqual([
      ['rig-0002', limits],
      ['rig-0001', limits],
    ]);
    expect([page.text('ask-result'), badge(page, 'rig-0001')]).toEqual(['2 rigs have changed their limits.', 'mining']);
  });

  it('is not done by rigs that are silent, or may not be controlled', async () => {
    const page = await openPage();
    select(page, 'rig-0010', 'rig-0011', 'rig-0014');
    click(page.byId('pause'));
    expect(page.text('ask-notes')).toBe(
      '1 of 3 is silent and may not answer. 1 of 3 may not be controlled by operators.',
    );
    click(page.byId('ask-go'));
    await page.settled();
    expect(page.served.fleet.asked).toEqual([
      ['rig-0011', 'pause'],
      ['rig-0014', 'pause'],
    ]);
    expect(page.texts('#ask-failed strong')).toEqual(['rig-0010', 'rig-0014']);
    await page.goOn();
    expect(badge(page, 'rig-0011')).toBe('paused');
  });

  it('may fail, and be sent again', async () => {
    const page = await openPage();
    select(page, 'rig-0001');
    page.link.edit = (path, status, text) =>
      path.endsWith('/control') ? [503, '{"error":{"message":"another request is running"}}'] : [status, text];
    await request(page, 'pause');
    expect(page.text('ask-result')).toBe('The request failed: another request is running.');
    page.link.isCut = true;
    click(page.byId('ask-go'));
    await page.settled();
    expect(page.text('ask-result')).toContain('the operator cannot be reached');
    page.link.isCut = false;
    page.link.edit = (_, status, text) => [status, text];
    click(page.byId('ask-go'));
    await page.settled();
    expect(page.text('ask-result')).toBe('1 rig is paused.');
  });

  it('asks for the token when the operator has another by now', async () => {
    const page = await openPage({ ask: inTurn });
    select(page, 'rig-0001');
    page.link.edit = (path, status, text) => (path.endsWith('/control') ? [401, '{}'] : [status, text]);
    await request(page, 'pause');
    expect(page.byId('token-form').hidden).toBe(false);
    page.link.edit = (_, status, text) => [status, text];
    enter(page, page.byId('token'), 'another');
    page.byId('token-form').dispatchEvent(new page.window.Event('submit', { cancelable: true }));
    await page.settled();
    expect([page.byId('token-form').hidden, page.text('ask-result')]).toEqual([true, '1 rig is paused.']);
  });
});

describe('the dialog of a rig', () => {
  it('has the rig of the row, and its devices from the operator', async () => {
    const page = await openPage();
    click(cell(page, 'rig-0006', 'hashrate'));
    expect([page.text('rig-heading'), page.byId('rig').hasAttribute('open')]).toEqual(['rig-0006', true]);
    await page.settled();
    expect(page.requests.at(-1)).toBe('/rig?name=rig-0006');
    expect(page.texts('#rig-devices tbody .name')).toEqual(['gpu0', 'gpu1', 'gpu2', 'gpu3', 'gpu4', 'gpu5']);
    const figure = () => page.texts('#rig-figures dd')[2];
    const age = () => (cell(page, 'rig-0006', 'report') as HTMLElement).textContent;
    const before = age();
    expect(figure()).toBe(before);
    await page.goOn(1_000);
    expect([age() === before, figure()]).toEqual([false, age()]);
    await page.goOn(10_000);
    expect(page.requests.filter((path) => path.startsWith('/rig'))).toHaveLength(2);
    click(page.byId('rig-close'));
    await page.goOn(10_000);
    expect(page.requests.filter((path) => path.startsWith('/rig'))).toHaveLength(2);
  });

  it('finds a rig with any name', async () => {
    const name = 'a&b=c d';
    const page = await openPage({
      prepare: (served) => {
        served.edit = (status) => ({ ...status, rigs: [{ ...status.rigs[0], name }] });
      },
    });
    click(cell(page, name, 'rig'));
    await page.settled();
    expect(page.texts('#rig-devices tbody .name')).toEqual(['gpu0']);
  });
});
