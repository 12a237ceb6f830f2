import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, it, vi } from 'vitest';
import { PATIENCE } from '../../patience.ts';
import { BALANCE, device, relay, share, verdict, worker } from '../status/fakes.ts';
import { noBrowser, open, refresh, type View, why } from './browser.ts';
import { Rig, work } from './rig.ts';

/** A page that shows every state. */
async function shown(view: View = {}): Promise<{ rig: Rig; page: Page }> {
  const rig = new Rig();
  rig.askBalance = async () => BALANCE;
  work(await rig.serve({ control: true }));
  rig.emit(device('gpu2', 'paused', 'it is night'));
  rig.emit(device('gpu3', 'reopening', 'it was lost'));
  rig.emit({
    type: 'source',
    source: 'http://127.0.0.1:1850/ledger',
    kind: 'node',
    state: 'warning',
    reason: 'not known yet',
  });
  rig.emit(verdict('cpu', 'stale', 'too late'));
  rig.emit(share('cpu', 'delivered'));
  rig.emit(relay('stratum', worker('attic'), worker(`k:${'c'.repeat(64)}.cellar`)));
  const page = await open(rig.url, view);
  await page.locator('.chart canvas').first().waitFor();
  await page.locator('.line').first().waitFor();
  return { rig, page };
}

async function askForBalance(page: Page): Promise<void> {
  await page.locator('#balance summary').click();
  await page.locator('#balance-ask').click();
  await page.locator('#balance-table tbody tr').first().waitFor();
}

/** The text on the page that has too little contrast with its background (WCAG 2.2, 1.4.3). */
const FAINT = `
  const channels = (colour) => {
    const [r, g, b, alpha = 1] = colour.match(/[\\d.]+/g).map(Number);
    return { rgb: [r, g, b], alpha };
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const { rgb, alpha } = channels(getComputedStyle(each).backgroundColor);
      if (alpha === 1) return rgb;
      if (alpha !== 0) throw new Error('half of a background');
    }
    throw new Error('no background');
  };
  const texts = [...document.body.querySelectorAll('*')].filter((element) =>
    element.checkVisibility() && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''));
  if (texts.length < 100) throw new Error('only ' + texts.length + ' texts');
  texts.flatMap((element) => {
    const { color } = getComputedStyle(element);
    const [low, high] = [luminance(channels(color).rgb), luminance(behind(element))].sort((a, b) => a - b);
    const contrast = (high + 0.05) / (low + 0.05);
    return contrast < 4.5 ? [element.outerHTML.slice(0, 80) + ' ' + contrast.toFixed(2)] : [];
  });
`;

/** The lines and swatches of charts whose contrast is below 3 (WCAG 2.2, 1.4.11). */
const FAINT_LINES = FAINT.slice(0, FAINT.indexOf('const texts')).concat(`
  const ground = behind(document.querySelector('.plot'));
  const style = getComputedStyle(document.documentElement);
  const probe = document.body.appendChild(document.createElement('i'));
  ['--total', ...Array.from({ length: 8 }, (_, index) => '--series-' + (index + 1))].flatMap((name) => {
    probe.style.color = style.getPropertyValue(name);
    const [low, high] = [luminance(channels(getComputedStyle(probe).color).rgb), luminance(ground)].sort((a, b) => a - b);
    const contrast = (high + 0.05) / (low + 0.05);
    return contrast < 3 ? [name + ' ' + contrast.toFixed(2)] : [];
  });
`);

describe.skipIf(noBrowser)(`the web page, for everybody${why}`, () => {
  it('has landmarks, headings and tables that screen readers know', async () => {
    const { page } = await shown();
    await askForBalance(page);
    const tree = await page.locator('body').ariaSnapshot();
    for (const line of [
      '- link "Skip to the figures":',
      '- banner:',
      '- heading "pickaxe rig-7" [level=1]',
      '- group "All devices":',
      '- button "Pause all"',
      '- combobox "Colours":',
      '- status',
      '- main:',
      '- region "Hashrate":',
      '- region "Results":',
      '- group "Balance":',
      '- button "Ask the node again"',
      '- table "Balance":',
      '- region "History":',
      '- group "Range of the charts":',
      '- radio "10 min" [checked]',
      'slider "Hashrate: arrow keys choose a moment"',
      '- table "Hashrate over the range shown":',
      '- table "Devices":',
      '- columnheader "hashrate, 30 s"',
      '- button "Pause gpu0"',
      '- button "Resume gpu2"',
      '- region "Workers":',
      '- table "Workers":',
      '- columnheader "estimated hashrate"',
      '- group "Work":',
      '- region "Latencies":',
      '- heading "New Cut to new job" [level=3]',
      '- region "Nodes":',
      '- log "Log":',
      '- combobox "Show":',
      '- contentinfo:',
    ]) {
      expect(tree, line).toContain(line);
    }
    // Everything that can be operated has a name.
    expect(tree).not.toMatch(/- (button|link|combobox|radio|slider|textbox|table|region|group)(:| \[|$)/m);
  });

  it('is the same to screen readers on a phone, where tables look like cards', async () => {
    const { page } = await shown({ viewport: { width: 360, height: 740 }, isMobile: true });
    await askForBalance(page);
    const tree = await page.locator('#devices').ariaSnapshot();
    expect(tree).toContain('- table "Devices":');
    expect(tree).toMatch(/- row "?'?gpu0/);
    expect(tree).toMatch(/- rowheader "?'?gpu0/);
    expect(tree).toMatch(/- columnheader "temperature"/);
    const workers = await page.locator('#worker-table').ariaSnapshot();
    expect(workers).toMatch(/- rowheader "attic"/);
    expect(workers).toMatch(/- columnheader "last share"/);
    const balance = await page.locator('#balance-table').ariaSnapshot();
    expect(balance).toMatch(/- rowheader "chain 0"/);
    expect(balance).toMatch(/- columnheader "coins"/);
  });

  it('skips no level of headings, names its sections and table headers, and repeats no id', async () => {
    const { page } = await shown();
    await askForBalance(page);
    const levels = await page
      .locator('h1:visible, h2:visible, h3:visible')
      .evaluateAll((all) => all.map(({ tagName }) => Number(tagName[1])));
    expect(levels[0]).toBe(1);
    for (const [index, level] of levels.slice(1).entries()) expect(level - levels[index]).toBeLessThanOrEqual(1);
    const unnamed = await page.locator('th:not([scope]), section:not([aria-labelledby]):not(.chart)').count();
    expect(unnamed).toBe(0);
    expect(
      await page.evaluate(
        'document.querySelectorAll("[id]").length === new Set([...document.querySelectorAll("[id]")].map(({ id }) => id)).size',
      ),
    ).toBe(true);
  });

  it.each(['light', 'dark'] as const)('has enough contrast when it is %s', async (colorScheme) => {
    const { rig, page } = await shown({ colorScheme, expected: /ERR_/ });
    await askForBalance(page);
    expect(await page.evaluate(FAINT)).toEqual([]);
    expect(await page.evaluate(FAINT_LINES)).toEqual([]);
    await page.getByRole('button', { name: 'Pause all' }).click();
    await vi.waitFor(async () => expect(await page.locator('#state-text').textContent()).toBe('paused'), PATIENCE);
    expect(await page.evaluate(FAINT)).toEqual([]);
    await rig.close();
    await refresh(page);
    await page.getByRole('alert').waitFor();
    expect(await page.evaluate(FAINT)).toEqual([]);
  });

  it('can be operated with the keyboard alone, and shows what has the focus', async () => {
    const { rig, page } = await shown();
    const here = `(() => {
      const at = document.activeElement;
      if (at === document.body) return ['', true];
      const mark = at.matches('[type=radio]') ? at.nextElementSibling : at;
      const { outlineStyle, outlineWidth } = getComputedStyle(mark);
      const label = document.getElementById(at.getAttribute('aria-labelledby'));
      const name = at.ariaLabel ?? at.value ?? label?.textContent ?? at.textContent;
      return [(name || at.textContent).trim(), outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2];
    })()`;
    const walk: string[] = [];
    for (;;) {
      await page.keyboard.press('Tab');
      const [name, marked] = (await page.evaluate(here)) as [string, boolean];
      if (name === '') break;
      expect(marked, name).toBe(true);
      expect(walk, 'once each').not.toContain(name);
      walk.push(name);
    }
    expect(walk).toEqual([
      ...['Skip to the figures', 'Pause all', 'Resume all'],
      ...['Pause cpu', 'Pause gpu0', 'Resume gpu2', 'Pause gpu3', 'k:cccccc…cccc.cellar', '10m'],
      ...['Hashrate: arrow keys choose a moment', 'Temperature: arrow keys choose a moment'],
      ...['Power: arrow keys choose a moment', 'info', 'Log'],
      ...['Work chain 3, height 42, difficulty 5.000 M', 'Balance', 'system'],
    ]);

    // The controls work: skip to the content, choose a range, pause.
    await page.reload();
    await page.locator('.chart canvas').first().waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await page.getByRole('radio', { name: '10 min' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.getByRole('radio', { name: '1 h', exact: true }).isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Pause cpu' }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Resume cpu' }).waitFor();
    expect(rig.asked).toEqual(['pause cpu']);
    // A second key press resumes the device.
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Pause cpu' }).waitFor();
  });

  it('follows the system’s colours until somebody chooses others, and remembers the choice', async () => {
    const { rig, page } = await shown({ colorScheme: 'light' });
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const picture = () => page.screenshot({ animations: 'disabled' });
    const light = { ground: await ground(), picture: await picture() };
    await page.emulateMedia({ colorScheme: 'dark' });
    await vi.waitFor(async () => expect(await ground()).not.toBe(light.ground), PATIENCE);
    const dark = { ground: await ground(), picture: await picture() };
    expect(dark.picture.equals(light.picture)).toBe(false);
    await page.getByLabel('Colours').selectOption('light');
    expect(await ground()).toBe(light.ground);
    await page.reload();
    await page.locator('.chart canvas').first().waitFor();
    expect(await ground()).toBe(light.ground);
    expect(await page.getByLabel('Colours').inputValue()).toBe('light');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.getByLabel('Colours').selectOption('dark');
    expect(await ground()).toBe(dark.ground);
    expect(rig.asked).toEqual([]);
  });

  it.each([
    ['on a desktop', { viewport: { width: 1280, height: 800 } }],
    ['in the dark', { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' as const }],
    ['on a phone', { viewport: { width: 390, height: 844 }, isMobile: true }],
  ])('breaks no rule that axe-core checks %s', async (_, view) => {
    // Without this option, the script could not be loaded.
    const { page } = await shown({ ...view, bypassCSP: true });
    await page.locator('#work summary').click();
    await askForBalance(page);
    await page.addScriptTag({ path: createRequire(import.meta.url).resolve('axe-core/axe.min.js') });
    const { violations, passes } = await page.evaluate<AxeResults>('axe.run()');
    expect(violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])).toEqual([]);
    expect(passes.length).toBeGreaterThan(40);
  });

  it('has no animations', async () => {
    const { page } = await shown();
    const moving = await page.locator('*').evaluateAll(
      (all) =>
        all.filter((one) => {
          const { transitionDuration, animationName } = one.ownerDocument.defaultView.getComputedStyle(one);
          return animationName !== 'none' || !/^0s(, 0s)*$/.test(transitionDuration);
        }).length,
    );
    expect(moving).toBe(0);
  });

  it('announces changes, but not figures that change all the time', async () => {
    const { rig, page } = await shown();
    const live = await page
      .locator('[aria-live], [role=status], [role=alert], [role=log]')
      .evaluateAll((all) => all.map((one) => `${one.id} ${one.getAttribute('aria-live') ?? one.getAttribute('role')}`));
    expect(live).toEqual(['news status', 'banner alert', 'token-fault alert', 'state-reason status', 'log off']);
    const news = page.locator('#news');
    expect(await news.textContent()).toBe('');
    rig.emit(verdict('cpu', 'accepted'));
    await refresh(page);
    await vi.waitFor(
      async () => expect(await page.locator('[data-figure="accepted"]').textContent()).toBe('3'),
      PATIENCE,
    );
    expect(await news.textContent()).toBe('');
    rig.emit(device('gpu0', 'parked', 'it was lost'));
    rig.emit({
      type: 'source',
      source: 'http://127.0.0.1:1849/ledger',
      kind: 'node',
      state: 'connected',
      reason: 'back',
    });
    await refresh(page);
    await vi.waitFor(
      async () =>
        expect(await news.textContent()).toBe('gpu0 is parked: it was lost; http://127.0.0.1:1849/ledger is connected'),
      PATIENCE,
    );
  });
});
