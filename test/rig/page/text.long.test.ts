import type { Page } from 'playwright-core';
import { describe, expect, it, vi } from 'vitest';
import type { Balance } from '#pickaxe/rig/status/earnings.js';
import { PATIENCE } from '../../patience.ts';
import { BALANCE, device, hashes, relay, verdict, worker } from '../status/fakes.ts';
import { noBrowser, open, refresh, why } from './browser.ts';
import { Rig, work } from './rig.ts';

async function served(balance = BALANCE): Promise<Rig> {
  const rig = new Rig();
  rig.askBalance = async () => balance;
  return rig.serve({ control: true });
}

const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '</script><script>alert(1)</script>',
  '"><svg onload=alert(1)>',
  '__proto__',
  '\u202etxt.exe\u0000\u001b[31m',
  '{{constructor.constructor("alert(1)")()}}',
];
const LONG = 'w'.repeat(500);

/** An answer that a hostile node could give. */
function balanceOf(account: string, balance: string, node: string, fault: string): Balance {
  return {
    account,
    node,
    total: balance,
    chains: [
      { chain: 0, balance, exists: true, fault: null },
      { chain: 2 ** 31, balance: null, exists: null, fault },
    ],
  };
}

async function showBalance(page: Page): Promise<void> {
  await page.locator('#balance summary').click();
  await page.locator('#balance-ask').click();
  await page.locator('#balance-answer').waitFor();
}

function feed({ emit }: Rig, strings: readonly string[]): void {
  for (const [index, text] of strings.entries()) {
    emit({ ...device(text, 'paused', text), description: text });
    emit({ type: 'source', source: text, kind: 'node', state: 'connected', reason: text });
    emit({ type: 'source', source: text, kind: 'node', state: 'warning', reason: text });
    emit(verdict(text, 'rejected', text));
    emit({ type: 'work', chain: index, height: 2n ** 52n, difficulty: 1e300 });
    emit(hashes(text, 1e15));
  }
  emit(relay('stratum', ...strings.map((name) => worker(name, { accepted: 2 ** 52, hashesPerSecond: 1e15 }))));
}

const wide = (page: Page) => page.locator('html').evaluate((html) => html.scrollWidth - html.clientWidth);

describe.skipIf(noBrowser)(`text on the web page${why}`, () => {
  it('is shown as text, even if it looks like HTML', async () => {
    const rig = await served(balanceOf(HOSTILE[0], HOSTILE[1], HOSTILE[2], HOSTILE[5]));
    feed(rig, HOSTILE);
    rig.steps(2);
    let alerts = 0;
    const page = await open(rig.url, {
      prepare: async (page) => {
        page.on('dialog', (dialog) => {
          alerts++;
          void dialog.dismiss();
        });
      },
    });
    await page.locator('.chart canvas').first().waitFor();
    const elements = 'img:not(h1 img), script:not([src]), svg, iframe';
    expect(await page.locator(elements).count()).toBe(0);
    expect(await page.locator('#devices .name').allTextContents()).toEqual(HOSTILE);
    expect(await page.locator('#devices .about').allTextContents()).toEqual(HOSTILE);
    expect(await page.locator('#worker-table .name').allTextContents()).toEqual(HOSTILE);
    expect(await page.locator('#sources .url').allTextContents()).toEqual(HOSTILE);
    expect((await page.locator('.line').allTextContents()).join()).toContain(HOSTILE[0]);
    expect(await page.locator('.chart tbody th').allTextContents()).toEqual(expect.arrayContaining(HOSTILE));
    await showBalance(page);
    expect(await page.locator('#balance-account').textContent()).toBe(HOSTILE[0]);
    expect(await page.locator('#balance-total').textContent()).toBe(HOSTILE[1]);
    expect(await page.locator('#balance-said').textContent()).toContain(HOSTILE[2]);
    expect(await page.locator('#balance-unread').textContent()).toContain(HOSTILE[5]);
    expect(await page.locator('#balance-table td').first().textContent()).toContain(HOSTILE[1]);
    await page.getByRole('button', { name: `Resume ${HOSTILE[0]}` }).click();
    await vi.waitFor(async () => expect(await page.locator('#news').textContent()).toContain(HOSTILE[0]), PATIENCE);
    expect(rig.asked).toEqual([`resume ${HOSTILE[0]}`]);
    expect(await page.locator(elements).count()).toBe(0);
    expect(alerts).toBe(0);
  });

  it.each([320, 360, 390, 768, 1_000, 1_280])('fits into %i pixels, however long it is', async (width) => {
    const rig = await served(balanceOf(LONG, `${'9'.repeat(300)}.123456789012`, LONG, LONG));
    feed(rig, [LONG, 'a b '.repeat(200), 'http://user@host/'.repeat(30)]);
    work(rig);
    for (let card = 2; card < 12; card++) rig.emit(device(`gpu${card}`, 'ready'));
    rig.steps(2, hashes('gpu0', 1e15), hashes('gpu5', 1e9));
    const page = await open(rig.url, { viewport: { width, height: 800 }, isMobile: width < 500 });
    await page.locator('.chart canvas').first().waitFor();
    await vi.waitFor(async () => expect(await wide(page)).toBe(0), PATIENCE);
    await showBalance(page);
    await page.getByRole('button', { name: 'Pause all' }).click();
    await page.getByRole('button', { name: 'Resume gpu5' }).waitFor();
    expect(await wide(page)).toBe(0);
    // No text is cut off either.
    const cells = page.locator('dd, td, th, h1, h2, h3, button, .url, .news, #balance-answer p');
    expect(
      await cells.evaluateAll((all) =>
        all.filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 1).map((one) => one.outerHTML),
      ),
    ).toEqual([]);
  });

  it('stays in its place, and stays selected, while figures change', async () => {
    const rig = work(await served());
    const page = await open(rig.url);
    await page.locator('.chart canvas').first().waitFor();
    await page.locator('.line').first().waitFor();
    await page.evaluate(`
      window.shifts = [];
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.shifts.push(...entry.sources.map(({ node }) => node?.outerHTML ?? node?.parentElement?.outerHTML));
      }).observe({ type: 'layout-shift' });
      getSelection().selectAllChildren(document.querySelector('.line .message'));
    `);
    await page.getByRole('button', { name: 'Pause gpu0' }).focus();
    const state = 'document.activeElement.ariaLabel + ": " + getSelection()';
    const before = await page.evaluate(state);
    expect(before).toMatch(/^Pause gpu0: ./);
    for (let round = 0; round < 5; round++) {
      rig.steps(1, hashes('cpu', 10 ** (round + 5)), hashes('gpu0', 10 ** (round + 6)));
      rig.emit(verdict('cpu', 'accepted'));
      await refresh(page);
      await vi.waitFor(
        async () => expect(await page.locator('[data-figure="accepted"]').textContent()).toBe(`${3 + round}`),
        PATIENCE,
      );
    }
    expect(await page.evaluate(state)).toBe(before);
    expect(await page.evaluate('window.shifts')).toEqual([]);
  });

  it('follows the end of the log until somebody scrolls up, and shows the lines that are asked for', async () => {
    const rig = work(await served());
    // Lines that no bound leaves out, however many come at once.
    const steps = (count: number, turn: number) => {
      for (let step = 0; step < count; step++) {
        rig.emit({ type: 'progress', device: 'cpu', what: `step ${step} of turn ${turn}`, done: step / count });
      }
    };
    steps(100, 1);
    const page = await open(rig.url);
    const lines = page.getByRole('log');
    const last = page.locator('.line').last();
    await last.waitFor();
    const toEnd = () => lines.evaluate((log) => log.scrollHeight - log.clientHeight - log.scrollTop);
    await vi.waitFor(async () => expect(await toEnd()).toBeLessThan(4), PATIENCE);
    steps(30, 2);
    await refresh(page);
    await vi.waitFor(async () => expect(await last.textContent()).toContain('turn 2'), PATIENCE);
    await vi.waitFor(async () => expect(await toEnd()).toBeLessThan(4), PATIENCE);

    await lines.focus();
    await page.keyboard.press('Home');
    const button = page.getByRole('button', { name: 'Go to the end' });
    await button.waitFor();
    const top = () => lines.evaluate((log) => log.scrollTop);
    await vi.waitFor(async () => expect(await top()).toBe(0), PATIENCE);
    steps(30, 4);
    await refresh(page);
    await vi.waitFor(async () => expect(await last.textContent()).toContain('turn 4'), PATIENCE);
    expect(await top()).toBe(0);
    await button.click();
    await vi.waitFor(async () => expect(await toEnd()).toBeLessThan(4), PATIENCE);
    await button.waitFor({ state: 'hidden' });

    await page.getByLabel('Show').selectOption('warnings and errors');
    const seen = await page.locator('.line:visible').allTextContents();
    expect(seen.length).toBeGreaterThan(3);
    expect(seen.filter((line) => !/ (warn|error) /.test(line))).toEqual([]);
    await page.getByLabel('Show').selectOption('errors');
    const errors = await page.locator('.line:visible').allTextContents();
    expect(errors.filter((line) => !/ error /.test(line))).toEqual([]);
    expect(errors.length).toBeLessThan(seen.length);
  });
});
