import type { Page } from 'playwright-core';
import { describe, expect, it, vi } from 'vitest';
import { PATIENCE } from '../../patience.ts';
import { device, relay, worker } from '../status/fakes.ts';
import { figure, noBrowser, open, refresh, why } from './browser.ts';
import { NODE, Rig, work, workOnPool } from './rig.ts';

const KEY = '3f1c88'.padEnd(60, '0');
const shows = (check: () => Promise<void>) => vi.waitFor(check, PATIENCE);
const visible = (page: Page, selector: string) => page.locator(selector).isVisible();

async function working(): Promise<Rig> {
  return work(await new Rig().serve({ control: true }));
}

/** A rig without devices that only relays work. */
async function relaying(...names: string[]): Promise<Rig> {
  const rig = await new Rig(0, ['stratum']).serve({ control: true });
  rig.emit({ type: 'source', source: NODE, kind: 'node', state: 'connected', reason: 'the node gives work' });
  rig.emit({ type: 'work', chain: 3, height: 42n, difficulty: 5e15 });
  rig.emit(relay('stratum', ...names.map((name) => worker(name))));
  return rig;
}

describe.skipIf(noBrowser)(`the layout of the web page${why}`, () => {
  it.each([
    ['a desktop', { width: 1280, height: 800 }, work],
    ['a phone', { width: 390, height: 844 }, work],
    ['a desktop, on a pool', { width: 1280, height: 800 }, workOnPool],
  ])('shows rate, state, results and the first device without scrolling on %s', async (_, viewport, feed) => {
    const rig = feed(await new Rig().serve({ control: true }));
    const page = await open(rig.url, { viewport, isMobile: viewport.width < 500 });
    const first = page.locator('#devices tbody tr').first();
    await first.waitFor();
    const last = viewport.width < 500 || feed === workOnPool ? 'hashrate' : 'temperature';
    for (const seen of ['#rig', '#state-text', '[data-figure="hashrate"]', '[data-figure="hardware-errors"]']) {
      const box = await page.locator(seen).boundingBox();
      expect(box!.y + box!.height, seen).toBeLessThan(viewport.height);
    }
    const box = await first.locator(`[data-label^="${last}"]`).boundingBox();
    expect(box!.y + box!.height).toBeLessThan(viewport.height);
  });

  it('has devices before charts, and what is rarely read at the end', async () => {
    const page = await open((await working()).url);
    await page.locator('#devices tbody tr').first().waitFor();
    const headings = await page.locator('h2:visible').allTextContents();
    const first = ['Hashrate', 'Results', 'Devices', 'Earnings, estimated', 'History'];
    expect(headings).toEqual([...first, 'Nodes', 'Latencies', 'Log', 'Work', 'Balance']);
    expect(await page.locator('h1').textContent()).toContain('rig-7');
  });

  it('folds work and balance, says in short what is in them, and remembers what was opened', async () => {
    const page = await open((await working()).url);
    const panel = page.locator('#work');
    await panel.waitFor();
    expect(await page.locator('#work-now').textContent()).toBe('chain 3, height 42, difficulty 5.000 M');
    expect([await visible(page, '#chain-table'), await visible(page, '#balance-ask')]).toEqual([false, false]);
    await panel.locator('summary').focus();
    await page.keyboard.press('Enter');
    await page.locator('#chain-table').waitFor();
    // The browser reports an opened or closed fold to the page a moment later.
    const remembered = (state: string) =>
      shows(async () => expect(await page.evaluate(`localStorage.getItem('pickaxe-fold-work')`)).toBe(state));
    await remembered('open');
    await page.reload();
    await page.locator('#chain-table').waitFor();
    expect(await visible(page, '#balance-ask')).toBe(false);
    await panel.locator('summary').click();
    await remembered('closed');
    await page.reload();
    await panel.waitFor();
    expect(await visible(page, '#chain-table')).toBe(false);
  });

  it('has nothing that stays empty on a rig that only hands work on', async () => {
    const page = await open((await relaying('attic')).url);
    await page.locator('#worker-table tbody tr').first().waitFor();
    for (const none of ['effort', 'luck', 'expected', 'best', 'hardware-errors', 'window-10s', 'highest', 'workers'])
      expect(await visible(page, `[data-figure="${none}"]`), none).toBe(false);
    for (const none of ['#controls', '#devices-panel', '#latencies', '#shares'])
      expect(await visible(page, none), none).toBe(false);
    expect(await visible(page, '[data-figure="to-block"]')).toBe(true);
    expect(await figure(page, 'workers-connected')).toBe('1');
  });

  it('shows how long New Cuts take once there was one, and no work before there is some', async () => {
    const rig = workOnPool(await new Rig().serve());
    const page = await open(rig.url);
    await page.locator('#latencies').waitFor();
    expect([await visible(page, '#switches'), await visible(page, '#answers')]).toEqual([false, true]);
    rig.emit({ type: 'job-switch', device: 'gpu0', switchSeconds: 0.004 });
    await shows(async () => expect(await visible(page, '#switches')).toBe(true));

    const bare = await new Rig().serve();
    const other = await open(bare.url);
    await shows(async () => expect(await other.locator('#state-text').textContent()).not.toContain('looking'));
    expect(await visible(other, '#work')).toBe(false);
  });

  it('has no rate while there is no node, and says what is the matter', async () => {
    const rig = await working();
    const page = await open(rig.url);
    await shows(async () => expect(await figure(page, 'hashrate')).toBe('4.200 MH/s'));
    rig.emit({
      type: 'source',
      source: NODE,
      kind: 'node',
      state: 'lost',
      reason: 'cannot be reached. Is it running?',
    });
    await refresh(page);
    await shows(async () => expect(await page.locator('#state-text').textContent()).toBe('no node'));
    // The average of the last half minute is not 0, and would mislead.
    expect([await figure(page, 'hashrate'), await figure(page, 'to-block')]).toEqual(['–', '–']);
    expect(await page.locator('#hashrate-about').textContent()).toBe('no node');
    expect(await page.locator('#state-reason').textContent()).toBe('cannot be reached; refused');
    const rates = page.locator('#devices td[data-label^="hashrate"]');
    expect(await rates.allTextContents()).toEqual(['–', '–', '–']);
    expect(await page.locator('#devices .badge').allTextContents()).toEqual([
      'waits for work',
      'waits for work',
      'parked',
    ]);
    // No chain is mined while there is no node.
    expect(await page.locator('#chain-table .mark').allTextContents()).not.toContain(' mined now');
    expect(await page.locator('#work-now').textContent()).toBe('');
  });

  it('says a change of several devices in one sentence', async () => {
    const rig = await working();
    const page = await open(rig.url);
    await page.locator('#devices tbody tr').first().waitFor();
    for (const name of ['cpu', 'gpu1']) rig.emit(device(name, 'paused', 'too hot'));
    await refresh(page);
    const news = page.locator('#news');
    await shows(async () => expect(await news.textContent()).toBe('cpu, gpu1 are paused: too hot'));
  });

  it.each([
    ['where scripts have a clipboard', [] as string[]],
    ['where they have none, as on plain HTTP from another machine', ['delete Navigator.prototype.clipboard']],
  ])('shortens names with a key, shows them whole and copies them by keyboard, %s', async (_, scripts) => {
    const whole = `k:${KEY}beef.rig1`;
    const rig = await relaying(whole, 'attic');
    const prepare = async (page: Page) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      for (const script of scripts) await page.addInitScript(script);
    };
    const page = await open(rig.url, { prepare, viewport: { width: 390, height: 844 }, isMobile: true });
    const name = page.getByRole('button', { name: 'k:3f1c88…beef.rig1' });
    await name.waitFor();
    expect(await name.getAttribute('title')).toBe(whole);
    expect(await page.locator('#worker-table .name').allTextContents()).toEqual(['k:3f1c88…beef.rig1', 'attic']);
    await page.evaluate(
      'window.copied = ""; document.addEventListener("copy", (event) => setTimeout(() => { window.copied = "by event"; }))',
    );
    await name.focus();
    await page.keyboard.press('Enter');
    await shows(async () => expect(await page.locator('#news').textContent()).toBe(`copied: ${whole}`));
    expect(await page.locator('#worker-table .name').first().textContent()).toBe(whole);
    if (scripts.length === 0) expect(await page.evaluate('navigator.clipboard.readText()')).toBe(whole);
    else await shows(async () => expect(await page.evaluate('window.copied')).toBe('by event'));
    await page.keyboard.press('Enter');
    expect(await page.locator('#worker-table .name').first().textContent()).toBe('k:3f1c88…beef.rig1');
  });

  it('takes the token of a link, and shows it nowhere', async () => {
    const token = 'a#token&of%25 20/letters'.replaceAll(' ', '');
    const rig = work(await new Rig().serve({ token }));
    const link = (text: string) => `${rig.url}/#token=${encodeURIComponent(text)}`;
    const page = await open(link(token), { expected: /401/ });
    await page.locator('#devices tbody tr').first().waitFor();
    expect(await page.evaluate('location.href')).toBe(`${rig.url}/`);
    expect(await page.evaluate('sessionStorage["pickaxe-token"]')).toBe(token);
    await page.reload();
    await page.locator('#devices tbody tr').first().waitFor();

    // In a tab that has the page already, another link changes the fragment only.
    await page.goto(link('another-one-of-some-letters'));
    await shows(async () =>
      expect(await page.locator('#token-fault').textContent()).toBe('The miner does not accept this token.'),
    );
    await page.goto(link(token));
    await page.locator('#devices tbody tr').first().waitFor();
    expect(await page.evaluate('location.href')).toBe(`${rig.url}/`);
  });

  it('asks for the token when that of the link is cut off', async () => {
    const rig = work(await new Rig().serve({ token: 'a-token-of-some-letters' }));
    const page = await open(`${rig.url}/#token=a%4`, { expected: /401/ });
    await page.getByLabel('Token').waitFor();
    expect(await page.evaluate('location.href')).toBe(`${rig.url}/`);
  });
});
