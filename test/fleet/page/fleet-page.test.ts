/** The page of a fleet as a whole: what it asks the operator for, and when, and how its parts follow the answers. */

import type { HTMLElement, HTMLSelectElement } from 'happy-dom';
import { describe, expect, it, vi } from 'vitest';
import { FLEET_COLUMNS } from '#pickaxe/fleet/page/rig-rows.js';
import { click, enter, openWindow, runModule } from '../../rig/page/window.ts';
import { turns, turnsUntil } from '../../turns.ts';
import { openPage } from './open-page.ts';

describe('the page of a fleet', () => {
  it('shows the rigs, the totals and the coordinators, and then asks for the changes only', async () => {
    const { requests, names, text, texts, goOn, one } = await openPage();
    expect(requests).toEqual(['/changes']);
    expect(names().slice(0, 2)).toEqual(['rig-0001', 'rig-0002']);
    expect(text('shown')).toBe('20 rigs');
    expect([text('state-text'), text('news')]).toEqual(['connected', '']);
    expect(one('[data-figure=rigsMining]').textContent).toBe('18');
    expect(texts('#coordinator-table tbody .name')).toEqual(['north', 'south']);
    await goOn();
    await goOn();
    expect(requests.slice(1)).toEqual(['/changes?since=0123456789abcdef-1', '/changes?since=0123456789abcdef-2']);
    expect(names().slice(0, 2)).toEqual(['rig-0001', 'rig-0002']);
  });

  it('waits longer for the changes, and for the answers of rigs, than for the devices of a rig', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    const { row, one, byId, settled } = await openPage();
    click(row('rig-0001').querySelector('[data-column=select]') as unknown as HTMLElement);
    click(row('rig-0001').querySelector('[data-column=power]') as unknown as HTMLElement);
    await settled();
    click(byId('restart'));
    click(one('#ask-go'));
    await settled();
    expect(timeout.mock.calls.slice(0, 3)).toEqual([[14_000], [5_000], [14_000]]);
    timeout.mockRestore();
  });

  it('says that nobody listens, and since when', async () => {
    const { byId } = openWindow('fleet');
    await runModule('dist/fleet/page/fleet-page.js');
    await turns();
    expect(byId('banner').textContent).toBe('The operator cannot be reached. Trying again.');
    expect(byId('shown').textContent).toBe('');
    expect([byId('no-rigs').hidden, byId('no-rigs').textContent]).toEqual([false, 'No rig has reported yet.']);
    expect(byId('controls').hidden).toBe(true);
  });

  it('keeps the figures while the operator is away, and goes on when it is back', async () => {
    const { link, goOn, byId, text, names, served } = await openPage();
    link.isCut = true;
    await goOn();
    expect(text('banner')).toMatch(
      /^The operator cannot be reached. The figures are those of \d\d:\d\d:20. Trying again.$/,
    );
    expect([byId('banner').hidden, names().length]).toEqual([false, 18]);
    link.isCut = false;
    served.fleet.silenced.add('rig-0001');
    await goOn(60_000);
    await goOn();
    expect([byId('banner').hidden, text('news')]).toEqual([true, 'The operator is back.; 2 rigs are silent']);
    await goOn();
    expect(text('news')).toBe('The operator is back.; 2 rigs are silent');
  });

  it('reads out what has changed between two answers', async () => {
    const { editChanges, goOn, text } = await openPage();
    editChanges(() => ({ rigsFaulty: 3, rigsPaused: 1 }));
    await goOn();
    expect(text('news')).toBe('3 rigs are faulty');
    editChanges(({ coordinators }) => ({
      rigsFaulty: 3,
      coordinators: coordinators.map((each) => ({ ...each, lost: each.name === 'south' ? 'no node' : null })),
    }));
    await goOn();
    expect(text('news')).toBe('the coordinator south is lost');
  });

  it('loads itself anew when the operator has another version, and only then', async () => {
    const { editChanges, goOn, reload } = await openPage();
    await goOn();
    expect(reload).not.toHaveBeenCalled();
    editChanges(() => ({ version: '99.0.0' }));
    await goOn();
    expect(reload).toHaveBeenCalledTimes(1);
  });

  it('forgets rigs that are gone, and all others with a whole answer', async () => {
    const { served, goOn, names, text, link, editChanges, row, byId } = await openPage();
    click(row('rig-0002').querySelector('[data-column=select]') as unknown as HTMLElement);
    click(row('rig-0003').querySelector('[data-column=select]') as unknown as HTMLElement);
    served.edit = (status) => ({ ...status, rigs: status.rigs.filter(({ name }) => name !== 'rig-0002') });
    await goOn();
    expect([names()[1], text('shown'), text('selected')]).toEqual(['rig-0003', '19 rigs', '1 selected']);
    link.edit = (_, status, answer) => [status, answer];
    editChanges(({ rigs }) => ({ whole: true, rigs: rigs.filter(({ name }) => name === 'rig-0001'), goneRigs: [] }));
    await goOn(10_000);
    expect([names(), text('shown'), text('selected')]).toEqual([['rig-0001'], '1 rig', 'none selected']);
    editChanges(() => ({ whole: true, rigs: [], goneRigs: [] }));
    await goOn();
    expect([byId('no-rigs').hidden, text('no-rigs'), text('shown')]).toEqual([
      false,
      'No rig has reported yet.',
      '0 rigs',
    ]);
  });

  it('only shows where control is not allowed', async () => {
    const { byId, row, text, one } = await openPage({ control: false });
    expect(byId('controls').hidden).toBe(true);
    expect(row('rig-0001').hasAttribute('aria-selected')).toBe(false);
    expect(one('#rig-table thead [data-column=select]').hidden).toBe(true);
    expect(text('notes')).toContain('--http-control');
  });

  it('asks for a token, and takes that of a link', async () => {
    const token = 'a-token-of-some-length';
    const asking = await openPage({ token });
    expect([asking.byId('token-form').hidden, asking.names()]).toEqual([false, []]);
    enter(asking, asking.byId('token'), token);
    asking.byId('token-form').dispatchEvent(new asking.window.Event('submit', { cancelable: true }));
    await asking.settled();
    expect([asking.byId('token-form').hidden, asking.names().length]).toEqual([true, 18]);
  });

  it('takes the token of a link', async () => {
    const token = 'a-token-of-some-length';
    const { byId, names, hash, text } = await openPage({ token, fragment: `#token=${token}` });
    expect([byId('token-form').hidden, names().length, hash(), text('news')]).toEqual([true, 18, '', '']);
  });

  it('has the colours that its reader chooses', async () => {
    const page = await openPage();
    const theme = page.byId<HTMLSelectElement>('theme');
    expect(theme.value).toBe('system');
    enter(page, theme, 'dark');
    expect(page.document.documentElement.getAttribute('data-theme')).toBe('dark');
    enter(page, theme, 'system');
  });
});

describe('the view of the rigs', () => {
  const UP_AND_DOWN = Object.keys(FLEET_COLUMNS).flatMap((name) => [`${name} up`, `${name} down`]);

  it('has lists of the states and orders', async () => {
    const { document, byId } = await openPage();
    const options = (id: string) => [...byId<HTMLSelectElement>(id).options];
    const states = ['all', 'mining', 'paused', 'faulty', 'silent', 'duplicate', 'problems'];
    expect(options('filter-state').map(({ value, textContent }) => [value, textContent])).toEqual(
      states.map((each) => [each, each]),
    );
    expect(options('sort').map(({ value }) => value)).toEqual(UP_AND_DOWN);
    expect(
      options('sort')
        .slice(-2)
        .map(({ textContent }) => textContent),
    ).toEqual(['last report ▲', 'last report ▼']);
    expect(document.querySelectorAll('#rig-table thead button.sort').length).toBe(11);
  });

  it.each<[clicks: string[], hash: string, order: string]>([
    [['rig'], '#order=down', 'rig down'],
    [['rig', 'rig'], '', 'rig up'],
    [['power'], '#sort=power&order=down', 'power down'],
    [['power', 'power'], '#sort=power', 'power up'],
    [['power', 'power', 'power'], '#sort=power&order=down', 'power down'],
    [['power', 'power', 'group'], '#sort=group', 'group up'],
    [['rig', 'state'], '#sort=state', 'state up'],
  ])('is sorted by clicks on %j', async (clicks, hash, order) => {
    const page = await openPage();
    for (const each of clicks) click(page.one(`#rig-table thead [data-column=${each}] button`));
    expect([page.hash(), page.byId<HTMLSelectElement>('sort').value]).toEqual([hash, order]);
    const [sort, direction] = order.split(' ');
    const head = page.one(`#rig-table thead [data-column=${sort}]`).getAttribute('aria-sort');
    expect(head).toBe(direction === 'up' ? 'ascending' : 'descending');
    expect(page.text('news')).toBe('20 rigs');
  });

  it('is sorted by each choice of the list', async () => {
    const page = await openPage();
    const orders = new Set<string>();
    for (const order of UP_AND_DOWN) {
      enter(page, page.byId('sort'), order);
      const [sort, direction] = order.split(' ');
      expect(page.one(`#rig-table thead [data-column=${sort}]`).getAttribute('aria-sort')).toBe(
        `${direction === 'up' ? 'a' : 'de'}scending`,
      );
      orders.add(page.names().join());
    }
    expect(page.hash()).toBe('#sort=report&order=down');
    expect(orders.size).toBeGreaterThan(10);
  });

  it('is filtered by text, group and state, and the address remembers it', async () => {
    const page = await openPage();
    const { hash, names, text, byId } = page;
    const path = page.window.location.pathname;
    enter(page, byId('filter-text'), 'RIG-001');
    expect([names().length, text('shown'), text('news')]).toEqual([10, '10 of 20 rigs', '10 of 20 rigs']);
    enter(page, byId('filter-group'), 'hall-b');
    expect(names()).toEqual(['rig-0014']);
    enter(page, byId('filter-state'), 'mining');
    expect([hash(), names()]).toEqual(['#text=RIG-001&group=hall-b&show=mining', []]);
    expect([byId('no-rigs').hidden, text('no-rigs')]).toEqual([false, 'No rig is as the filter wants it.']);
    enter(page, byId('filter-state'), 'silent');
    expect([byId('no-rigs').hidden, names()]).toEqual([true, ['rig-0014']]);
    enter(page, byId('filter-text'), '');
    enter(page, byId('filter-state'), 'all');
    enter(page, byId('filter-group'), '');
    expect([hash(), page.window.location.pathname, names().length, text('news')]).toEqual(['', path, 18, '20 rigs']);
    // The browser's history does not grow with each letter.
    expect(page.window.history.length).toBe(1);
  });

  it('is taken from the address, also when that changes', async () => {
    const page = await openPage({ fragment: '#text=rig&group=attic&show=mining&sort=hashrate&order=down' });
    const fields = () =>
      ['filter-text', 'filter-group', 'filter-state', 'sort'].map((id) => page.byId<HTMLSelectElement>(id).value);
    expect(fields()).toEqual(['rig', 'attic', 'mining', 'hashrate down']);
    expect([...page.names()].sort()).toEqual(['rig-0006', 'rig-0012']);
    page.window.location.hash = '#show=silent';
    await turnsUntil(() => page.names().length === 1);
    expect([fields(), page.names()]).toEqual([['', '', 'silent', 'rig up'], ['rig-0014']]);
  });

  it('writes the text only into a field that has another, so that the place of the cursor stays', async () => {
    const page = await openPage();
    const field = page.byId<HTMLSelectElement>('filter-text');
    const written = vi.spyOn(field, 'value', 'set');
    enter(page, field, 'rig');
    expect(written).toHaveBeenCalledTimes(1);
  });

  it('keeps the chosen group in the list when it has no rigs, and hides the list without groups', async () => {
    const page = await openPage({ fragment: '#group=cellar' });
    const groups = () => [...page.byId<HTMLSelectElement>('filter-group').options].map(({ value }) => value);
    const all = ['attic', 'container-1', 'container-2', 'hall-a', 'hall-b', 'hall-c'];
    expect(groups()).toEqual(['', ...all, 'cellar']);
    expect([page.names(), page.byId<HTMLSelectElement>('filter-group').value]).toEqual([[], 'cellar']);
    const [, first] = page.byId<HTMLSelectElement>('filter-group').options;
    await page.goOn();
    expect(page.byId<HTMLSelectElement>('filter-group').options[1]).toBe(first);
    enter(page, page.byId('filter-group'), '');
    expect(groups()).toEqual(['', ...all]);
    expect(page.byId('group-field').hidden).toBe(false);
    page.editChanges(({ rigs }) => ({ whole: true, rigs: rigs.map((each) => ({ ...each, group: null })) }));
    await page.goOn(10_000);
    expect([groups(), page.byId('group-field').hidden]).toEqual([[''], true]);
  });

  it('counts thousands', async () => {
    const page = await openPage({ rigs: 1_100 });
    expect(page.text('shown')).toBe('1,100 rigs');
    click(page.one('#rig-table thead button.check'));
    expect([page.text('selected'), page.text('news')]).toEqual(['1,100 selected', '1100 rigs selected']);
    enter(page, page.byId('filter-text'), 'rig-1100');
    expect([page.text('shown'), page.text('selected')]).toEqual([
      '1 of 1,100 rigs',
      '1,100 selected, 1,099 of them not shown',
    ]);
  });
});
