import type { Page } from 'playwright-core';
import { describe, expect, it, vi } from 'vitest';
import { latency } from '#pickaxe/rig/page/format.js';
import { type Balance, NoBalance } from '#pickaxe/rig/status/earnings.js';
import { formatDuration, formatHashrate, formatPercent } from '#pickaxe/rig/status/units.js';
import { PATIENCE } from '../../patience.ts';
import { BALANCE, device, hashes, relay, share, verdict, worker } from '../status/fakes.ts';
import { figure, noBrowser, open, refresh, why } from './browser.ts';
import { NODE, Rig, work, workOnPool } from './rig.ts';

async function served(options: Parameters<Rig['serve']>[0] = {}): Promise<Rig> {
  const rig = new Rig();
  return work(await rig.serve(options));
}

const text = (page: Page, selector: string) => page.locator(selector).first().textContent();
const shows = (check: () => Promise<void>) => vi.waitFor(check, PATIENCE);
const chainBalance = (chain: number, balance: string, exists = true) => ({ chain, balance, exists, fault: null });
const row = (page: Page, name: string) => page.locator('#devices tbody tr', { hasText: name }).first();

describe.skipIf(noBrowser)(`the web page${why}`, () => {
  it('shows the figures of /api/v1/status', async () => {
    const rig = await served();
    const page = await open(rig.url);
    const { json: status } = await rig.ask('/api/v1/status');
    await page.locator('#devices tbody tr').first().waitFor();
    expect(await text(page, '#state-text')).toBe('mining');
    const figures = {
      hashrate: formatHashrate(status.hashesPerSecond),
      'window-10s': formatHashrate(status.hashesPerSecondByWindow.last10s),
      'window-60s': formatHashrate(status.hashesPerSecondByWindow.last60s),
      'window-15m': '–',
      highest: formatHashrate(status.highestHashesPerSecond),
      average: formatHashrate(status.averageHashesPerSecond),
      accepted: '2',
      rejected: '1',
      stale: '1',
      unknown: '1',
      delivered: '0',
      'shares-accepted': '0',
      'shares-rejected': '0',
      'shares-stale': '0',
      'shares-unknown': '0',
      'shares-delivered': '0',
      'to-share': '–',
      'last-share': '–',
      'share-difficulty': '–',
      proven: formatHashrate(status.provenHashesPerSecond),
      'accepted-hashes': '0',
      workers: '0 H/s',
      'workers-connected': '0',
      'hardware-errors': '1',
      won: '–',
      settled: '–',
      pending: '–',
      orphaned: '–',
      unanswered: '–',
      lost: '–',
      'to-block': formatDuration(status.timeToBlockSeconds),
      effort: formatPercent(status.effort),
      luck: formatPercent(status.accepted / status.expectedBlocks),
      expected: status.expectedBlocks.toFixed(1),
      best: '88.00 M',
      'switch-p50': latency(status.switchSeconds.p50),
      'switch-p99': '4.3 ms',
      'switch-last': '4.3 ms',
      'answer-p50': '12.3 ms',
      'answer-p99': latency(status.answerSeconds.p99),
      'answer-last': latency(status.answerSeconds.last),
      'new-cuts': '1',
      'coins-per-day': '–',
      'coins-per-block': '–',
      'chance-in-day': 'more than 99.9 %',
      'chance-in-month': 'more than 99.9 %',
      'power-cost': '–',
    };
    for (const [name, value] of Object.entries(figures)) expect(await figure(page, name), name).toBe(value);
    expect(await page.locator('[data-figure]').count()).toBe(Object.keys(figures).length);
    for (const hidden of ['shares-accepted', 'to-share', 'workers', 'workers-connected', 'delivered', 'power-cost'])
      expect(await page.locator(`[data-figure="${hidden}"]`).isVisible(), hidden).toBe(false);
    expect(await page.locator('#workers').isVisible()).toBe(false);
  });

  it('shows what the rig earns and what its power costs, where that is known, and says where it is not', async () => {
    const unknown = await served();
    const page = await open(unknown.url);
    await shows(async () =>
      expect(await page.locator('#earnings-about').textContent()).toContain('rewards of this network are not known'),
    );
    const rig = new Rig(0, ['stratum'], { coinsAt: () => 0.975, powerPrice: 0.3 });
    rig.emit({ type: 'work', chain: 3, height: 42n, networkCode: 5, difficulty: 41 * 86.4e9 });
    rig.emit(relay('stratum', worker('asic', { hashesPerSecond: 1e6 })));
    const known = await open((await rig.serve()).url);
    await shows(async () => expect(await figure(known, 'coins-per-day')).toBe('0.0238'));
    expect(await figure(known, 'chance-in-month')).toBe('52 %');
    expect(await figure(known, 'power-cost')).toBe('–');
    const aboutKnown = await known.locator('#earnings-about').textContent();
    expect(aboutKnown).toContain('--power-watts');
    expect(aboutKnown).not.toContain('rewards of this network');
    // Without work nobody knows of what network the rewards would be.
    const idle = await open((await new Rig(0, ['stratum']).serve()).url);
    await shows(async () =>
      expect(await idle.locator('#earnings-about').textContent()).toMatch(/^On average, [^.]*\./),
    );
    expect(await idle.locator('#earnings-about').textContent()).not.toContain('rewards of this network');
  });

  it('shows what became of blocks once there is one, and lost answers once there are some', async () => {
    const rig = await served();
    const page = await open(rig.url);
    const isVisible = (name: string) => page.locator(`[data-figure="${name}"]`).isVisible();
    const about = { chain: 3, height: 42n, device: 'gpu0', isRelay: false, depth: 0, nodesDisagree: false };
    const recorded = (blockHash: string, state: 'pending' | 'unanswered') =>
      rig.emit({ type: 'block-state', ...about, blockHash, state, settledDepth: 6, reason: '' });
    recorded('a'.repeat(43), 'pending');
    await shows(async () => expect(await figure(page, 'pending')).toBe('1'));
    expect(await Promise.all(['won', 'unanswered', 'lost'].map(isVisible))).toEqual([true, false, false]);
    recorded('b'.repeat(43), 'unanswered');
    await shows(async () => expect(await figure(page, 'unanswered')).toBe('1'));
    expect(await Promise.all(['won', 'unanswered', 'lost'].map(isVisible))).toEqual([true, true, false]);
  });

  it('shows a pool’s shares apart from blocks, and the proven rate', async () => {
    const rig = workOnPool(await new Rig().serve());
    const page = await open(rig.url);
    await page.locator('#shares').waitFor();
    const figures = {
      'shares-accepted': '3',
      'shares-rejected': '1',
      'shares-stale': '1',
      'shares-unknown': '0',
      accepted: '1',
      rejected: '0',
      'to-share': '2 s',
      'last-share': '0.0 s ago',
      'share-difficulty': '1.100 T',
      proven: '181.0 MH/s',
      'accepted-hashes': '1.500 k',
      hashrate: '180.0 MH/s',
      workers: '700.0 GH/s',
      luck: '–',
    };
    for (const [name, value] of Object.entries(figures)) {
      expect(await figure(page, name), name).toBe(value);
      expect(await page.locator(`[data-figure="${name}"]`).isVisible(), name).toBe(true);
    }
    expect(await text(page, '#sources-heading')).toBe('Pools');
    expect(await page.locator('[data-figure="shares-delivered"]').isVisible()).toBe(false);
    rig.emit(share('gpu0', 'delivered'));
    await shows(async () => expect(await figure(page, 'shares-delivered')).toBe('1'));
    expect(await page.locator('[data-figure="shares-delivered"]').isVisible()).toBe(true);
  });

  it('has a row for each worker where there is a relay, and a chart of what they hash', async () => {
    const rig = workOnPool(await new Rig().serve());
    const page = await open(rig.url);
    const rows = page.locator('#worker-table tbody tr');
    await rows.first().waitFor();
    const cells = await Promise.all([0, 1].map((i) => rows.nth(i).locator('th, td').allTextContents()));
    expect(cells).toEqual([
      ['attic', '2', '700.0 GH/s', '1.100 T', '12', '1', '2', '3', '1', '4 s ago'],
      ['gone', '0', '0 H/s', '–', '12', '1', '2', '3', '0', '–'],
    ]);
    expect(await text(page, '#workers-about')).toBe(
      'stratum: 2 sessions, about 700.0 GH/s, estimated from shares and no part of this rig’s own hashrate. Brought to the ' +
        'pool: shares 1 accepted, 0 rejected, 0 stale; blocks 1 accepted, 0 rejected, 0 stale.',
    );
    await page.locator('.chart:visible', { hasText: 'Workers, estimated' }).locator('canvas').waitFor();
    expect(await page.locator('.chart:visible h3').allTextContents()).toEqual(['Hashrate', 'Workers, estimated']);
    expect(await row(page, 'gpu0').locator('[data-label="shares acc/rej/stale"]').textContent()).toBe('2/1/1');
    expect(await row(page, 'gpu0').locator('[data-label="blocks accepted"]').textContent()).toBe('0');
    expect(await page.locator('#devices tbody tr').count()).toBe(1);
    expect(await page.title()).toBe('180.0 MH/s · rig-7 · pickaxe');
  });

  it('shows a rig without devices, which lives on its workers', async () => {
    const rig = new Rig(0, ['stratum']);
    await rig.serve();
    const page = await open(rig.url);
    await shows(async () => expect(await text(page, '#no-workers')).toBe('No worker has connected yet.'));
    expect(await text(page, '#state-text')).toBe('no node');
    rig.emit({ type: 'source', source: NODE, kind: 'node', state: 'connected', reason: 'the node gives work' });
    rig.emit({ type: 'work', chain: 3, height: 42n, difficulty: 5e15 });
    rig.emit(relay('stratum', worker('attic'), worker('(others)', { sessions: 7 })));
    await shows(async () => expect(await page.locator('#worker-table tbody tr').count()).toBe(2));
    expect(await text(page, '#state-text')).toBe('mining');
    expect(await page.locator('#devices-panel').isVisible()).toBe(false);
    expect([await figure(page, 'hashrate'), await text(page, '#hashrate-about')]).toEqual([
      '~1.400 TH/s',
      'of workers, estimated from shares',
    ]);
    expect(await page.title()).toBe('~1.400 TH/s · rig-7 · pickaxe');
  });

  it('has a row for each device, and no column for figures that no device has', async () => {
    const page = await open((await served()).url);
    await row(page, 'gpu0').waitFor();
    const cells = await page.locator('#devices tr', { hasText: 'gpu0' }).locator('td:visible').allTextContents();
    expect(cells).toEqual([
      ...['ready', '4.000 MH/s', '61 °C', '40 %', '162 W', '24.77 kH/J'],
      ...['95.8 %1.3 to 533.2 %', '2', '0'],
    ]);
    expect(await row(page, 'gpu1').locator('.device-state').textContent()).toBe('parkedit was lost');
    const heads = await page.locator('#devices thead th:visible').allTextContents();
    expect(heads).toContain('temperature');

    const bare = new Rig();
    await bare.serve();
    bare.emit(device('cpu', 'ready'));
    const other = await open(bare.url);
    await row(other, 'cpu').waitFor();
    expect(await other.locator('#devices thead th:visible').allTextContents()).toEqual([
      ...['device', 'state', 'hashrate, 30\u00a0s', 'proven', 'blocks accepted', 'hardware errors'],
    ]);
    expect(await text(other, '#state-text')).toBe('no node');
    expect(await text(other, '#state-reason')).toBe('none has answered yet');
  });

  it('shows luck once a block was to be expected, and not because one came early', async () => {
    const rig = await new Rig().serve();
    rig.emit(device('cpu', 'ready'));
    rig.emit(hashes('cpu', 9e5, 1e6));
    rig.emit(verdict('cpu', 'accepted'));
    const page = await open(rig.url);
    await row(page, 'cpu').waitFor();
    expect([await figure(page, 'expected'), await figure(page, 'luck')]).toEqual(['0.9', '–']);
    rig.emit(hashes('cpu', 11e5, 1e6));
    await shows(async () => expect(await figure(page, 'luck')).toBe('50 %'));
    expect(await figure(page, 'expected')).toBe('2.0');
  });

  it('shows the work of each chain, and the nodes', async () => {
    const page = await open((await served()).url);
    await shows(async () => expect(await page.locator('#chain-table tbody tr').count()).toBe(2));
    expect(await page.locator('#chain-table tbody tr').allTextContents()).toEqual([
      '3 mined now425.000 M1 min',
      '7419.000 M1 min',
    ]);
    const nodes = await page.locator('#sources li').allTextContents();
    expect(await text(page, '#sources-heading')).toBe('Nodes');
    expect(nodes[0]).toBe(`${NODE}connected for 1 minthe node gives workits clock is 3 s late`);
    expect(nodes[1]).toBe('http://127.0.0.1:1849/ledgerlost for 1 min, lost once so farrefused');
  });

  it('draws each device and their sum, over the range that is chosen', async () => {
    const rig = await served();
    rig.steps(120, hashes('cpu', 1e6), hashes('gpu0', 30e6));
    const page = await open(rig.url);
    const chart = page.locator('.chart', { has: page.locator('h3', { hasText: 'Hashrate' }) });
    await chart.locator('canvas').waitFor();
    expect(await chart.locator('tbody th').allTextContents()).toEqual(['total', 'cpu', 'gpu0']);
    expect(await chart.locator('tbody tr').first().locator('td').allTextContents()).toEqual(
      Array(4).fill('3.100 MH/s'), // the last ten minutes
    );
    const slider = chart.getByRole('slider');
    expect(await slider.getAttribute('aria-valuemax')).toBe('59');
    await page.getByRole('radio', { name: '1 h', exact: true }).check();
    await shows(async () => expect(await slider.getAttribute('aria-valuemax')).toBe('125'));
    expect(await chart.locator('tbody tr').first().locator('td').allTextContents()).toEqual([
      '3.100 MH/s',
      '3.100 MH/s',
      '3.152 MH/s',
      '4.200 MH/s',
    ]);
    await page.getByRole('radio', { name: '24 h' }).check();
    await shows(async () => expect(Number(await slider.getAttribute('aria-valuemax'))).toBeLessThan(13));
    // Temperature and power were known for a minute.
    expect(await page.locator('.chart:visible h3').allTextContents()).toEqual(['Hashrate', 'Temperature', 'Power']);
  });

  it('shows the figures of a moment that is chosen with arrow keys or the mouse', async () => {
    const rig = await served();
    const page = await open(rig.url);
    const slider = page.getByRole('slider').first();
    await page.locator('.chart canvas').first().waitFor();
    const head = page.locator('.chart thead th').nth(1);
    await slider.focus();
    await page.keyboard.press('Home');
    await shows(async () => expect(await head.textContent()).toBe('22:13:30'));
    expect(await slider.getAttribute('aria-valuetext')).toBe(
      '22:13:30: total 4.200 MH/s, cpu 200.0 kH/s, gpu0 4.000 MH/s',
    );
    await page.keyboard.press('ArrowRight');
    await shows(async () => expect(await head.textContent()).toBe('22:13:40'));
    await page.keyboard.press('End');
    await shows(async () => expect(await head.textContent()).toBe('22:14:20'));
    await page.keyboard.press('Escape');
    await shows(async () => expect(await head.textContent()).toBe('now'));
    const box = await page.locator('.chart .u-over').first().boundingBox();
    await page.mouse.move(box!.x + box!.width - 3, box!.y + 20);
    await shows(async () => expect(await head.textContent()).toBe('22:14:20'));
  });

  it('pauses and resumes devices, where that is allowed', async () => {
    const rig = await served({ control: true });
    const page = await open(rig.url);
    const news = page.locator('#news');
    await page.getByRole('button', { name: 'Pause gpu0' }).click();
    await page.getByRole('button', { name: 'Resume gpu0' }).waitFor();
    await shows(async () => expect(await news.textContent()).toBe('gpu0 is paused: by an HTTP request'));
    // The button is the same one, and has kept the focus.
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Resume gpu0');
    await page.keyboard.press('Enter');
    await shows(async () => expect(await news.textContent()).toBe('gpu0 is ready'));
    await page.getByRole('button', { name: 'Pause all' }).click();
    await shows(async () => expect(await text(page, '#state-text')).toBe('paused'));
    // The average of the last half minute is not 0, and would mislead.
    expect(await figure(page, 'hashrate')).toBe('–');
    expect(await row(page, 'gpu0').locator('[data-label="hashrate, 30\u00a0s"]').textContent()).toBe('–');
    expect(await figure(page, 'to-block')).toBe('–');
    // The reason is shown once, even for several devices.
    expect(await text(page, '#state-reason')).toBe('cpu, gpu0, gpu1 paused: by an HTTP request');
    expect(await text(page, '#hashrate-about')).toBe('');
    await shows(async () => expect(await news.textContent()).toBe('cpu, gpu0, gpu1 are paused'));
    expect(await page.title()).toBe('paused · rig-7 · pickaxe');
    await page.getByRole('button', { name: 'Resume all' }).click();
    await shows(async () => expect(await text(page, '#state-text')).toBe('mining'));
    expect(rig.asked).toEqual(['pause gpu0', 'resume gpu0', 'pause all', 'resume all']);
  });

  it('says why a device cannot be paused', async () => {
    const rig = await served({ control: true });
    const page = await open(rig.url, { expected: /404/ });
    const name = 'a name that is longer than any device has';
    rig.emit(device(name, 'ready'));
    await refresh(page);
    await page.route('**/pause', (route) =>
      route.fulfill({ status: 404, json: { error: { message: 'there is no such device' } } }),
    );
    await page.getByRole('button', { name: `Pause ${name}` }).click();
    await shows(async () =>
      expect(await page.locator('#news').textContent()).toBe(`${name}: pause failed: there is no such device`),
    );
  });

  it('offers no buttons for what is not allowed', async () => {
    const page = await open((await served()).url);
    await row(page, 'gpu0').waitFor();
    expect(await page.getByRole('button').allTextContents()).toEqual([]);
  });

  it('asks for the token, and keeps it until the tab is closed', async () => {
    const token = 'a token of twenty letters'.replaceAll(' ', '-');
    const rig = await served({ token, control: true });
    const page = await open(rig.url, { expected: /401/ });
    const input = page.getByLabel('Token');
    await input.waitFor();
    expect(await page.locator('main').isVisible()).toBe(false);
    expect(await page.evaluate('document.activeElement.id')).toBe('token');
    await page.keyboard.type('another');
    await page.keyboard.press('Enter');
    await shows(async () => expect(await text(page, '#token-fault')).toBe('The miner does not accept this token.'));
    await input.fill(` \u200b${token}\ufeff`); // as pasted
    await page.keyboard.press('Enter');
    await row(page, 'gpu0').waitFor();
    expect(await input.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Pause cpu' }).click();
    await page.getByRole('button', { name: 'Resume cpu' }).waitFor();
    await page.reload();
    await row(page, 'gpu0').waitFor();
    expect(await page.evaluate('JSON.stringify(localStorage) + document.cookie + location.href')).not.toContain(token);
    expect(await page.evaluate('sessionStorage["pickaxe-token"]')).toBe(token);
  });

  it('says when the miner cannot be reached, and goes on by itself when it is back', async () => {
    const rig = await served();
    const port = Number(new URL(rig.url).port);
    const page = await open(rig.url, { expected: /ERR_/ });
    await row(page, 'gpu0').waitFor();
    await rig.close();
    await refresh(page);
    await shows(async () => expect(await page.getByRole('alert').textContent()).toContain('cannot be reached'));
    expect(await page.getByRole('alert').textContent()).toContain('The figures are those of 22:14:20.');
    expect(await figure(page, 'accepted')).toBe('2');
    expect(await page.locator('body.away').count()).toBe(1);

    const again = new Rig(100_000);
    await again.serve({ port });
    again.emit(device('cpu', 'ready'));
    again.emit({ type: 'hardware-error', device: 'cpu', nonce: 5n });
    await shows(async () => expect(await page.locator('#news').textContent()).toContain('The miner is back.'));
    expect(await page.getByRole('alert').isVisible()).toBe(false);
    await shows(async () => expect(await figure(page, 'accepted')).toBe('0'));
    await shows(async () => expect(await page.locator('.line').last().textContent()).toContain('nonce 5 is wrong'));
    expect(await page.locator('.again').textContent()).toBe('pickaxe was restarted');
    expect(await page.locator('#devices tbody tr').count()).toBe(1);
  });

  it('works where the browser may not store anything', async () => {
    const token = 'a-token-of-some-letters';
    const rig = await served({ token });
    const forbid = ['localStorage', 'sessionStorage'].map(
      (kind) =>
        `Object.defineProperty(window, '${kind}', { get() { throw new DOMException('no', 'SecurityError'); } });`,
    );
    const page = await open(rig.url, { expected: /401/, prepare: (page) => page.addInitScript(forbid.join('')) });
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    await row(page, 'gpu0').waitFor();
    await page.getByLabel('Colours').selectOption('dark');
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
  });

  it('says when the miner answers with an error', async () => {
    const rig = await served();
    const page = await open(rig.url, { expected: /503/ });
    await row(page, 'gpu0').waitFor();
    const busy = { status: 503, json: { error: { code: 'unavailable', message: 'it is busy' } } };
    await page.route('**/status', (route) => route.fulfill(busy));
    await refresh(page);
    await shows(async () =>
      expect(await page.getByRole('alert').textContent()).toContain('The miner answers with an error: it is busy.'),
    );
  });

  it('asks the node for the balance when somebody wants it, and says how old that is', async () => {
    const rig = new Rig();
    const asked: ((balance: Balance) => void)[] = [];
    rig.askBalance = () => new Promise((resolve) => asked.push(resolve));
    work(await rig.serve());
    const page = await open(rig.url);
    const button = page.locator('#balance-ask');
    await page.locator('#balance summary').click();
    await page.getByRole('button', { name: 'Ask the node for the balance' }).focus();
    await page.keyboard.press('Enter');
    await shows(async () => expect(await button.textContent()).toBe('Asking the node …'));
    await page.keyboard.press('Enter');
    await shows(async () => expect(asked).toHaveLength(1));
    const chains = [chainBalance(0, '12.500000000001'), chainBalance(1, '0.0', false), chainBalance(2, '0.0')];
    asked[0]({ ...BALANCE, total: '12.500000000001', chains });
    await shows(async () => expect(await text(page, '#balance-total')).toBe('12.500000000001'));
    expect(await page.locator('#balance-table tbody tr').allTextContents()).toEqual([
      'chain 012.500000000001',
      'chain 1no account',
      'chain 20.000000000000',
    ]);
    expect(await text(page, '#balance-account')).toBe(BALANCE.account);
    expect(await text(page, '#balance-said')).toBe(`${BALANCE.node} said so at 22:14:20, 0.0 s ago.`);
    expect(await page.locator('#news').textContent()).toBe('balance: 12.500000000001 coins in all');
    expect(await page.locator('#balance-unread').isVisible()).toBe(false);
    // The button has kept the focus.
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Ask the node again');

    rig.clock.advance(120_000);
    await refresh(page);
    const old = `${BALANCE.node} said so at 22:14:20, 2 min ago. It may have changed since.`;
    await shows(async () => expect(await text(page, '#balance-said')).toBe(old));
    expect(await page.locator('#balance-answer.old').count()).toBe(1);
    await page.keyboard.press('Enter');
    await shows(async () => expect(asked).toHaveLength(2));
    asked[1](BALANCE);
    await shows(async () => expect(await text(page, '#balance-total')).toBe('–'));
    expect(await text(page, '#balance-unread')).toBe(
      'Chain 2 did not answer, so the sum is not known: it did not answer in time',
    );
    expect(await page.locator('#balance-table tbody tr').last().textContent()).toBe('chain 2no answer');
    expect(await page.locator('#balance-answer.old').count()).toBe(0);
  });

  it('says why there is no balance, and keeps the one that is there', async () => {
    const rig = new Rig();
    rig.askBalance = async () => BALANCE;
    work(await rig.serve());
    const page = await open(rig.url, { expected: /502/ });
    const button = page.locator('#balance-ask');
    await page.locator('#balance summary').click();
    await button.click();
    await shows(async () => expect(await text(page, '#balance-account')).toBe(BALANCE.account));
    rig.askBalance = () => Promise.reject(new NoBalance('cannot reach http://node.example'));
    rig.clock.advance(30_000);
    await button.click();
    const fault = page.locator('#balance-fault');
    await shows(async () =>
      expect(await fault.textContent()).toBe('No balance was read: cannot reach http://node.example'),
    );
    expect(await page.locator('#news').textContent()).toBe('balance: cannot reach http://node.example');
    expect(await text(page, '#balance-account')).toBe(BALANCE.account);
    rig.askBalance = async () => ({ ...BALANCE, account: 'another' });
    rig.clock.advance(5_000);
    await button.click();
    await shows(async () => expect(await text(page, '#balance-account')).toBe('another'));
    expect(await fault.textContent()).toBe('');
  });

  it('offers no balance where there is no node to ask', async () => {
    const rig = workOnPool(await new Rig().serve());
    const page = await open(rig.url);
    await page.locator('#shares').waitFor();
    expect(await page.locator('#balance').isVisible()).toBe(false);
  });

  it('sends no requests while nobody sees it', async () => {
    const rig = await served();
    let asked = 0;
    const page = await open(rig.url, {
      prepare: async (page) => {
        await page.clock.install();
        await page.addInitScript('Object.defineProperty(document, "hidden", { get: () => window.unseen === true })');
        page.on('request', (request) => {
          if (request.url().includes('/api/')) asked++;
        });
      },
    });
    await page.locator('.chart canvas').first().waitFor();
    await page.locator('.line').first().waitFor();
    await page.evaluate('window.unseen = true; document.dispatchEvent(new Event("visibilitychange"))');
    const before = asked;
    await page.clock.runFor(600_000);
    expect(asked).toBe(before);
    await page.evaluate('window.unseen = false');
    await refresh(page);
    await shows(async () => expect(asked).toBeGreaterThan(before));
    const seen = asked;
    await page.clock.runFor(2_000);
    await shows(async () => expect(asked).toBeGreaterThan(seen + 1));
  });
});
