import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, it, vi } from 'vitest';
import type { AskRig } from '#pickaxe/fleet/operator/ask-rigs.js';
import type { FleetStatus } from '#pickaxe/fleet/operator/fleet-status.js';
import { summaryOf } from '#pickaxe/fleet/operator/http/changes.js';
import { FLEET_COLUMNS, FleetRows, fragmentOf, viewOf } from '#pickaxe/fleet/page/rig-rows.js';
import { formatHashrate } from '#pickaxe/rig/status/units.js';
import { PATIENCE } from '../../patience.ts';
import { figure, noBrowser, open, refresh, type View, why } from '../../rig/page/browser.ts';
import { ServedFleet } from '../operator/http/serving.ts';

const shows = (check: () => Promise<void>) => vi.waitFor(check, PATIENCE);
const rows = (page: Page) => page.locator('#rig-table tbody tr');
const row = (page: Page, name: string) =>
  rows(page).filter({ has: page.getByRole('rowheader', { name, exact: true }) });
const scrolled = (page: Page) => page.locator('#rig-scroller').evaluate(({ scrollTop }) => scrollTop);
/** The names in the document, from the top to the bottom. */
const names = (page: Page) => page.locator('#rig-table tbody th').allTextContents();
const current = (page: Page) =>
  page.evaluate<string | undefined>(
    'document.getElementById(document.activeElement.getAttribute("aria-activedescendant"))?.querySelector("th").textContent',
  );

async function shown(served: ServedFleet, view: View = {}, fragment = ''): Promise<Page> {
  const page = await open(`${served.url}/${fragment}`, view);
  await rows(page).first().waitFor();
  return page;
}

const serve = (rigs = 1_000, control = true) => new ServedFleet(rigs).serve({ control });

/** Lets the fleet go on, and the page show it. */
async function goOn(served: ServedFleet, page: Page, ms = 2_000): Promise<void> {
  served.advance(ms);
  const answer = page.waitForResponse(/changes/);
  await refresh(page);
  await (await answer).finished();
}

describe('the view of a fleet', () => {
  it.each([
    '',
    '#text=hall+a%26b',
    '#group=hall-a&show=silent',
    '#sort=hashrate&order=down',
    '#text=x&group=y&show=problems&sort=report&order=down',
  ])('%s is read from the address, and written there again', (fragment) => {
    expect(fragmentOf(viewOf(fragment))).toBe(fragment);
  });

  it('takes nothing else from an address', () => {
    const view = viewOf(`#sort=toString&show=nothing&order=sideways&text=${'x'.repeat(300)}&more=1`);
    expect(view).toEqual({ text: 'x'.repeat(200), group: '', choice: 'all', sort: 'rig', downwards: false });
  });

  it.each(Object.entries(FLEET_COLUMNS))(
    'can be sorted by %s both ways; what is not known comes last',
    (sort, column) => {
      const served = new ServedFleet(500);
      const all = new FleetRows();
      const { rigs, timeMillis } = served.fleet.status() as FleetStatus;
      all.apply({ whole: true, rigs: rigs.map(summaryOf), goneRigs: [], timeMillis });
      for (const downwards of [false, true]) {
        const keys = all.shown({ ...viewOf(''), sort, downwards }).map((one) => column.sortKey(one));
        const known = keys.filter((key) => key !== null);
        expect(keys.slice(0, known.length)).toEqual(known);
        const sorted = known.every((key, at) => at === 0 || (downwards ? known[at - 1] >= key : known[at - 1] <= key));
        expect(sorted).toBe(true);
        expect(new Set(known).size).toBeGreaterThan(1);
      }
    },
  );
});

describe.skipIf(noBrowser)(`the page of a fleet${why}`, () => {
  it('shows the totals of /api/v1/fleet, and its coordinators', async () => {
    const served = await serve();
    const page = await shown(served);
    const { json: now } = await served.ask('/api/v1/fleet');
    const expected = {
      hashrate: formatHashrate(now.hashesPerSecond),
      proven: formatHashrate(now.provenHashesPerSecond),
      rigsMining: String(now.rigsMining),
      rigsPaused: String(now.rigsPaused),
      rigsFaulty: String(now.rigsFaulty),
      rigsSilent: String(now.rigsSilent),
      accepted: String(now.accepted),
      hottest: '80 °C',
    };
    for (const [name, value] of Object.entries(expected))
      expect([name, await figure(page, name)]).toEqual([name, value]);
    expect(await page.locator('#state-text').textContent()).toBe('connected');
    const north = page.locator('#coordinator-table tbody tr').first();
    expect(await north.textContent()).toContain('chain 3, height 5000123');
    expect(await north.locator('.about').textContent()).toBe(`pickaxe ${now.coordinators[0].version}`);
    served.edit = (status) => ({
      ...status,
      disconnected: 'nats.example refuses',
      coordinators: status.coordinators.map((each) => ({ ...each, lost: 'its node is gone' })),
    });
    await goOn(served, page);
    await shows(async () => expect(await north.textContent()).toContain('its node is gone'));
    expect(await page.locator('#disconnected').textContent()).toContain('nats.example refuses');
    expect(await page.locator('#news').textContent()).toContain('the coordinator north is lost');
  });

  it('has only the rows in sight in the document, and says which they are', async () => {
    const served = await serve(10_000);
    const page = await shown(served);
    const table = page.getByRole('grid', { name: 'Rigs' });
    expect(await table.getAttribute('aria-rowcount')).toBe('10001');
    expect(await rows(page).count()).toBeLessThan(60);
    expect(await page.locator('#shown').textContent()).toBe('10,000 rigs');
    await page.locator('#rig-scroller').evaluate((scroller) => {
      scroller.scrollTop = 38 * 5_000;
    });
    await row(page, 'rig-5001').waitFor();
    expect(await row(page, 'rig-5001').getAttribute('aria-rowindex')).toBe('5002');
    expect(await rows(page).count()).toBeLessThan(60);
    const inDocument = await names(page);
    expect(inDocument).toEqual([...inDocument].sort());
  });

  it('keeps the place, the current row, the focus, the selection and the order when figures come', async () => {
    const served = await serve();
    const page = await shown(served);
    await page.locator('#rig-scroller').evaluate((scroller) => {
      scroller.scrollTop = 38 * 500;
    });
    await row(page, 'rig-0505').waitFor();
    await row(page, 'rig-0505').locator('[data-column=select]').click();
    await page.keyboard.press('ArrowDown');
    const place = await scrolled(page);
    const age = await row(page, 'rig-0506').locator('[data-column=report]').textContent();
    const { hashrate } = { hashrate: await row(page, 'rig-0507').locator('[data-column=hashrate]').textContent() };
    await goOn(served, page, 6_000);
    await shows(async () =>
      expect(await row(page, 'rig-0506').locator('[data-column=report]').textContent()).not.toBe(age),
    );
    await goOn(served, page, 6_000);
    await shows(async () =>
      expect(await row(page, 'rig-0507').locator('[data-column=hashrate]').textContent()).not.toBe(hashrate),
    );
    expect(await scrolled(page)).toBe(place);
    expect(await current(page)).toBe('rig-0506');
    expect(await row(page, 'rig-0505').getAttribute('aria-selected')).toBe('true');
    expect(await page.locator('#selected').textContent()).toBe('1 selected');
    // The current row stays in the document, though it is out of sight.
    await page.locator('#rig-scroller').evaluate((scroller) => {
      scroller.scrollTop = 0;
    });
    await row(page, 'rig-0001').waitFor();
    expect(await current(page)).toBe('rig-0506');
  });

  it('can be operated with the keyboard alone', async () => {
    const served = await serve();
    const page = await shown(served);
    await page.locator('#rig-table').focus();
    expect(await current(page)).toBe('rig-0001');
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
      return current(page);
    };
    expect(await press('ArrowDown', 'ArrowDown', 'ArrowUp')).toBe('rig-0002');
    expect(await press('End')).toBe('rig-1000');
    expect(await row(page, 'rig-1000').isVisible()).toBe(true);
    expect(await press('PageUp')).toMatch(/rig-09[789]\d/);
    expect(await press('Home')).toBe('rig-0001');
    expect(await scrolled(page)).toBe(0);
    expect(await press('ArrowUp')).toBe('rig-0001');
    await press('PageDown', 'PageUp', 'Space', 'Shift+ArrowDown', 'Shift+ArrowDown');
    expect(await page.locator('#selected').textContent()).toBe('3 selected');
    await press('Space');
    expect(await page.locator('#selected').textContent()).toBe('2 selected');
    await press('Control+a');
    expect(await page.locator('#selected').textContent()).toBe('1,000 selected');
    await press('Enter');
    await page.getByRole('dialog', { name: 'rig-0003' }).waitFor();
    await press('Escape');
    expect(await current(page)).toBe('rig-0003');
    // The heads of the columns are buttons before the rows.
    await page.getByRole('button', { name: 'hashrate' }).focus();
    await press('Enter');
    expect(await page.locator('#rig-table th[data-column=hashrate]').getAttribute('aria-sort')).toBe('descending');
  });

  it('sorts and filters, and the address remembers it', async () => {
    const served = await serve();
    const page = await shown(served);
    await page.getByRole('button', { name: 'hashrate' }).click();
    const { json } = await served.ask('/api/v1/fleet');
    const fastest = json.rigs.filter((rig: { silent: boolean }) => !rig.silent);
    fastest.sort(
      (a: { hashesPerSecond: number }, b: { hashesPerSecond: number }) => b.hashesPerSecond - a.hashesPerSecond,
    );
    expect((await names(page)).slice(0, 5)).toEqual(fastest.slice(0, 5).map(({ name }: { name: string }) => name));
    await page.getByRole('button', { name: 'hashrate' }).click();
    expect(await page.locator('#rig-table th[data-column=hashrate]').getAttribute('aria-sort')).toBe('ascending');
    await page.locator('#filter-group').selectOption('attic');
    await page.locator('#filter-state').selectOption('mining');
    await page.getByLabel('Find').fill('7900 RIG-00');
    const all = await names(page);
    expect(all.length).toBeGreaterThan(3);
    for (const name of all) {
      const rig = json.rigs.find((each: { name: string }) => each.name === name);
      expect(rig).toMatchObject({ group: 'attic', state: 'mining', silent: false });
    }
    expect(new URL(page.url()).hash).toBe('#text=7900+RIG-00&group=attic&show=mining&sort=hashrate');
    expect(await page.locator('#shown').textContent()).toBe(`${all.length} of 1,000 rigs`);
    await page.reload();
    await rows(page).first().waitFor();
    expect(await names(page)).toEqual(all);
    expect(await page.getByLabel('Find').inputValue()).toBe('7900 RIG-00');
    await page.getByLabel('Find').fill('nothing has this');
    expect(await page.locator('#no-rigs').textContent()).toBe('No rig is as the filter wants it.');
  });

  it('marks silent, faulty and duplicate rigs with words, and says how old a report is', async () => {
    const served = await serve();
    const page = await shown(served, {}, '#show=problems');
    const silent = row(page, 'rig-0014');
    expect(await silent.locator('.badge').textContent()).toBe('silent');
    expect(await silent.locator('[data-column=report]').textContent()).toBe('5 min ago');
    expect(await silent.locator('[data-column=hashrate]').textContent()).toBe('–');
    expect(await row(page, 'rig-0006').locator('.marks').textContent()).toBe('1 of 6 failed');
    expect(await row(page, 'rig-0018').locator('.marks').textContent()).toBe('name used twice');
    served.fleet.silenced.add('rig-0006');
    await goOn(served, page, 40_000);
    await shows(async () => expect(await row(page, 'rig-0006').locator('.badge').textContent()).toBe('silent'));
    expect(await page.locator('#news').textContent()).toContain('rigs are silent');
  });

  it('pauses the selected rigs after a confirmation, and says which did not do it', async () => {
    const served = await serve();
    const page = await shown(served, {}, '#group=hall-b');
    const { json } = await served.ask('/api/v1/fleet');
    const inGroup = json.rigs.filter(({ group }: { group: string }) => group === 'hall-b');
    await page.getByRole('button', { name: 'Select all rigs shown' }).click();
    await page.getByRole('button', { name: 'Pause …' }).click();
    const dialog = page.getByRole('dialog', { name: `Pause ${inGroup.length} rigs?` });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(served.fleet.asked).toEqual([]);
    await page.getByRole('button', { name: 'Pause …' }).click();
    await dialog.getByRole('button', { name: 'Pause' }).click();
    await shows(async () => expect(await page.locator('#ask-result').textContent()).toMatch(/did not do it:$/));
    const closed = inGroup.filter(({ control }: { control: boolean }) => !control).length;
    expect(await page.locator('#ask-failed').textContent()).toContain('rig-0014 it does not answer');
    expect(closed).toBeGreaterThan(0);
    expect(served.fleet.asked).toHaveLength(inGroup.length - closed);
    expect(new Set(served.fleet.asked.map(([, command]: [string, string]) => command))).toEqual(new Set(['pause']));
    await dialog.getByRole('button', { name: 'Close' }).click();
    await goOn(served, page);
    await shows(async () => expect(await row(page, 'rig-0002').locator('.badge').textContent()).toBe('paused'));
    // What is selected stays so under another filter, and the page says that it is not in sight.
    await page.locator('#filter-group').selectOption('attic');
    const selected = await page.locator('#selected').textContent();
    expect(selected).toBe(`${inGroup.length} selected, ${inGroup.length} of them not shown`);
    await page.getByRole('button', { name: 'Deselect all' }).click();
    await page.getByRole('button', { name: 'Restart …' }).click({ force: true });
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('shows what was asked of a rig until the rig reports', async () => {
    // Unlike those of the synthetic fleet, these rigs report in their turn.
    const ask: AskRig = async (name) => ({ done: name !== 'rig-0003', message: 'it does not want to' });
    const served = await new ServedFleet(20).serve({ control: true }, ask);
    const page = await shown(served);
    const badge = (name: string) => row(page, name).locator('.badge').textContent();
    for (const name of ['rig-0001', 'rig-0003']) await row(page, name).locator('[data-column=select]').click();
    await page.getByRole('button', { name: 'Restart …' }).click();
    await page.locator('#ask-go').click();
    await shows(async () => expect(await badge('rig-0001')).toBe('asked to restart'));
    expect(await badge('rig-0003')).toBe('mining');
    expect(await page.locator('#ask-result').textContent()).toBe('1 rig is restarting; 1 rig did not do it:');
    // The answer that follows brings the rig's last report once more, as though it had only now been sent.
    served.change('rig-0001', { duplicate: true });
    await goOn(served, page, 1_000);
    await shows(async () => expect(await row(page, 'rig-0001').locator('.marks').textContent()).toContain('twice'));
    expect(await badge('rig-0001')).toBe('asked to restart');
    await goOn(served, page, 10_000);
    await shows(async () => expect(await badge('rig-0001')).toBe('mining'));
  });

  it('lowers the temperature limits of the selected rigs, and takes them back', async () => {
    const asked: unknown[] = [];
    const ask: AskRig = async (name, request) => {
      asked.push([name, request]);
      return { done: name !== 'rig-0003', message: 'its version of pickaxe does not know the request' };
    };
    const served = await new ServedFleet(20).serve({ control: true }, ask);
    const page = await shown(served);
    for (const name of ['rig-0001', 'rig-0003']) await row(page, name).locator('[data-column=select]').click();
    const openDialog = () => page.getByRole('button', { name: 'Limits …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change the limits of 2 rigs?' });
    const go = dialog.getByRole('button', { name: 'Change the limits of 2 rigs' });
    const [gpu, cpu] = [dialog.getByLabel('Limit of GPUs'), dialog.getByLabel('Limit of CPUs')];
    const result = page.locator('#ask-result');
    await openDialog();
    await go.click();
    expect(await result.textContent()).toBe('Give a limit, or take one back.');
    await gpu.fill('700');
    await go.click();
    expect(asked).toEqual([]);
    await gpu.fill('72.5');
    await go.click();
    await shows(async () =>
      expect(await result.textContent()).toBe('1 rig has changed its limits; 1 rig did not do it:'),
    );
    expect(await page.locator('#ask-failed').textContent()).toContain('rig-0003 its version of pickaxe');
    expect(await gpu.isVisible()).toBe(false);
    const lower = { command: 'limits', gpuCelsius: 72.5 };
    expect(asked.splice(0)).toEqual([
      ['rig-0001', lower],
      ['rig-0003', lower],
    ]);
    await dialog.getByRole('button', { name: 'Close' }).click();
    expect(await row(page, 'rig-0001').locator('.badge').textContent()).toBe('mining');

    await openDialog();
    expect(await gpu.inputValue()).toBe('');
    await dialog.getByLabel('take that of GPUs back').check();
    expect(await gpu.isDisabled()).toBe(true);
    await cpu.fill('80');
    await go.click();
    await page.locator('#ask-failed li').waitFor();
    const taken = { command: 'limits', gpuCelsius: null, cpuCelsius: 80 };
    expect(asked).toEqual([
      ['rig-0001', taken],
      ['rig-0003', taken],
    ]);
    await dialog.getByRole('button', { name: 'Close' }).click();
    // The fields of limits belong to no other request.
    await page.getByRole('button', { name: 'Pause …' }).click();
    expect(await page.getByLabel('Limit of GPUs').isVisible()).toBe(false);
  });

  it('only shows where control is not allowed', async () => {
    const served = await serve(50, false);
    const page = await shown(served);
    expect(await page.locator('#controls').isVisible()).toBe(false);
    expect(await page.locator('#rig-table [data-column=select]:visible').count()).toBe(0);
    await page.locator('#rig-table').focus();
    await page.keyboard.press('Space');
    expect(await rows(page).first().getAttribute('aria-selected')).toBe(null);
    expect(await page.locator('#notes').textContent()).toContain('--http-control');
  });

  it('opens the devices of a rig, and keeps them up to date', async () => {
    const served = await serve();
    const page = await shown(served);
    await row(page, 'rig-0006').locator('[data-column=rig]').click();
    const dialog = page.getByRole('dialog', { name: 'rig-0006' });
    await dialog.locator('#rig-devices tbody tr').first().waitFor();
    expect(await dialog.locator('#rig-devices tbody tr').count()).toBe(6);
    expect(await dialog.locator('#rig-devices tbody tr').first().textContent()).toContain(
      'it failed five times in a row',
    );
    const hashrate = () => dialog.locator('#rig-devices tbody tr').nth(1).locator('.number').first().textContent();
    const before = await hashrate();
    await goOn(served, page, 10_000);
    await shows(async () => expect(await hashrate()).not.toBe(before));
    await dialog.getByRole('button', { name: 'Close' }).click();
    expect(await dialog.count()).toBe(0);
  });

  it('says why the devices of a rig are not known, and shows them when they are', async () => {
    const served = await serve(20);
    let isBroken = true;
    const page = await shown(served, {
      expected: /ERR_FAILED/,
      prepare: (one) => one.route(/fleet\/rig/, (route) => (isBroken ? route.abort() : route.continue())),
    });
    await row(page, 'rig-0006').locator('[data-column=rig]').click();
    const dialog = page.getByRole('dialog', { name: 'rig-0006' });
    const missing = dialog.locator('#rig-no-devices');
    await shows(async () =>
      expect(await missing.textContent()).toBe('Its devices are not known: the operator cannot be reached.'),
    );
    isBroken = false;
    await goOn(served, page);
    await dialog.locator('#rig-devices tbody tr').first().waitFor();
    expect(await missing.isVisible()).toBe(false);
    served.edit = (status) => ({ ...status, rigs: status.rigs.filter(({ name }) => name !== 'rig-0006') });
    await goOn(served, page);
    await shows(async () => expect(await dialog.locator('#rig-state').textContent()).toBe('no longer listed'));
  });

  it('shows the texts of others as text', async () => {
    const evil = '<img src=x onerror=document.title="owned">';
    const served = new ServedFleet(20);
    served.edit = (status) => ({
      ...status,
      disconnected: evil,
      coordinators: status.coordinators.map((each) => ({ ...each, name: evil, version: evil, lost: evil })).slice(0, 1),
      rigs: status.rigs.map((rig, at) => ({
        ...rig,
        name: at === 0 ? evil : at === 1 ? '__proto__' : rig.name,
        group: evil,
        coordinator: evil,
        version: evil,
        stateReason: evil,
        state: 'no-source',
        devices: rig.devices.map((device) => ({ ...device, name: evil, model: evil, reason: evil })),
      })),
    });
    await served.serve({ control: true });
    const page = await shown(served);
    await row(page, evil).locator('[data-column=rig]').click();
    expect(await page.getByRole('dialog').locator('h2').textContent()).toBe(evil);
    await page.locator('#rig-close').click();
    await page.locator('#filter-group').selectOption(evil);
    await row(page, evil).locator('[data-column=select]').click();
    await row(page, '__proto__').locator('[data-column=select]').click();
    await page.getByRole('button', { name: 'Resume …' }).click();
    await page.locator('#ask-go').click();
    await shows(async () => expect(await page.locator('#ask-failed').textContent()).toContain(evil));
    expect(await page.locator('img').count()).toBe(1);
    expect(await page.title()).not.toBe('owned');
  });

  it('asks for the token, and goes on when the operator is back', async () => {
    const token = 'a-token-of-some-length';
    const served = await new ServedFleet(20).serve({ token });
    const page = await open(served.url, { expected: /401|ERR_/ });
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Show the fleet' }).click();
    await rows(page).first().waitFor();
    await served.close();
    await refresh(page);
    await shows(async () =>
      expect(await page.locator('#banner').textContent()).toContain('The operator cannot be reached.'),
    );
    expect(await rows(page).count()).toBe(20);
  });

  it('asks only for what has changed', async () => {
    const served = await serve();
    const sizes: number[] = [];
    const page = await shown(served, {
      prepare: async (one) =>
        one.on('response', async (response) => {
          if (response.url().includes('changes')) sizes.push((await response.body()).length);
        }),
    });
    await goOn(served, page);
    await shows(async () => expect(sizes.length).toBeGreaterThan(1));
    expect(sizes[1]).toBeLessThan(sizes[0] / 3);
  });

  it.each([
    ['on a desktop', { viewport: { width: 1280, height: 800 } }],
    ['in the dark', { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' as const }],
    ['on a phone', { viewport: { width: 390, height: 844 }, isMobile: true }],
  ])('breaks no rule that axe-core checks %s', async (_, view) => {
    const served = await serve();
    // Only so can its script be loaded.
    const page = await shown(served, { ...view, bypassCSP: true }, '#show=problems');
    await page.addScriptTag({ path: createRequire(import.meta.url).resolve('axe-core/axe.min.js') });
    const check = async () => {
      const { violations, passes } = await page.evaluate<AxeResults>('axe.run()');
      expect(violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])).toEqual([]);
      return passes.length;
    };
    await row(page, 'rig-0014').locator('[data-column=select]').click();
    await page.keyboard.press('ArrowDown');
    expect(await check()).toBeGreaterThan(30);
    await page.getByRole('button', { name: 'Pause …' }).click();
    await page.locator('#ask-go').click();
    await page.locator('#ask-failed li').waitFor();
    await check();
    await page.locator('#ask-cancel').click();
    await page.getByRole('button', { name: 'Limits …' }).click();
    await check();
    await page.locator('#ask-cancel').click();
    await row(page, 'rig-0006').locator('[data-column=rig]').click();
    await page.locator('#rig-devices tbody tr').first().waitFor();
    await check();
  });

  it('fits on a phone, where each rig has two lines', async () => {
    const served = await serve();
    const page = await shown(served, { viewport: { width: 360, height: 740 }, isMobile: true });
    const wide = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(wide).toBe(0);
    const cells = await row(page, 'rig-0001').locator('th:visible, td:visible').count();
    expect(cells).toBe(6);
    await page.locator('#sort').selectOption('temperature down');
    expect(new URL(page.url()).hash).toBe('#sort=temperature&order=down');
  });
});
