/** A rig’s page as a whole: what it asks of the miner, and what it shows of the first answers and of later ones. */

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { BalanceAnswer, HistoryAnswer, LogAnswer } from '#pickaxe/rig/http/api-answers.js';
import { clockSeconds } from '#pickaxe/rig/page/format.js';
import type { Status } from '#pickaxe/rig/status/status.js';
import { turns } from '../../turns.ts';
import { BALANCE, device } from '../status/fakes.ts';
import { recordDrawings } from './canvas.ts';
import { NOW, ratesOf } from './charts.ts';
import { NODE, Rig, work } from './rig.ts';
import { figure, rowsOf, statusOf } from './statuses.ts';
import { enter, layOut, type Opened, openWindow, runModule } from './window.ts';

const POLL_MS = 2_000;

/** What the miner answers with. A test changes it between two requests. */
interface Miner {
  rig: Rig;
  status: Partial<Status>;
  lines: LogAnswer['lines'];
  history: HistoryAnswer;
  balance: BalanceAnswer;
  /** The token that the miner requires. */
  token: string | undefined;
  /** The answer to everything else than the token; undefined if nothing listens. */
  fault: { status: number; message: string } | undefined;
  isAway: boolean;
}

const refusal = (status: number, message: string) => new Response(JSON.stringify({ error: { message } }), { status });

/** Loads the page of a rig with a CPU and a GPU. */
async function load(some: Partial<Miner> = {}, opened: Opened = {}) {
  const miner: Miner = {
    rig: new Rig(),
    status: { control: true },
    lines: [],
    history: ratesOf(1, 2),
    balance: { ...BALANCE, timeMillis: NOW },
    token: undefined,
    fault: undefined,
    isAway: false,
    ...some,
  };
  const asked: string[] = [];
  const answers: Record<string, (query: URLSearchParams) => unknown> = {
    status: () => statusOf(miner.rig, miner.status),
    log: (query) => ({ lines: miner.lines.filter(({ number }) => number > Number(query.get('after'))) }),
    history: (query) => ({ ...miner.history, range: query.get('range') }),
    balance: () => miner.balance,
    pause: () => undefined,
    resume: () => undefined,
  };
  const page = openWindow('rig', {
    fetch: (path, { headers, body }) => {
      if (miner.isAway) throw new TypeError('failed to fetch');
      const { pathname, search, searchParams } = new URL(path, 'http://rig.example');
      const name = pathname.replace('/api/v1/', '');
      asked.push(`${name}${search}${body ?? ''}`);
      if (miner.token !== undefined && headers.authorization !== `Bearer ${miner.token}`) return refusal(401, 'no');
      if (miner.fault) return refusal(miner.fault.status, miner.fault.message);
      return new Response(JSON.stringify(answers[name](searchParams)) ?? '');
    },
    ...opened,
  });
  const drawn = recordDrawings(page);
  const reload = vi.spyOn(page.window.location, 'reload').mockImplementation(() => {});
  let nowMs = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  onTestFinished(() => now.mockRestore());
  work(miner.rig);
  await runModule('dist/rig/page/main.js');
  await turns(20);
  return {
    page,
    miner,
    reload,
    /** @returns the colour of the first chart's line */
    colour: () => drawn(page.one('.chart')).lines.at(-1)?.colour,
    /** @returns what was asked since the last call */
    asked: () => asked.splice(0),
    /** Waits until the page asks again, and has its answers. */
    next: async (ms = POLL_MS) => {
      nowMs += ms;
      await vi.advanceTimersByTimeAsync(ms);
      await turns(20);
    },
    click: async (selector: string) => {
      page.one(selector).click();
      await turns(20);
    },
    news: () => page.byId('news').textContent,
    banner: () => (page.byId('banner').hidden ? '' : page.byId('banner').textContent),
  };
}

const line = (number: number) => ({
  number,
  timeMillis: NOW,
  level: 'info' as const,
  tag: 'cpu',
  message: `line ${number}`,
});

describe('the page of a rig', () => {
  it('shows every panel of the first status, without news', async () => {
    const { page, asked, news, banner } = await load({ lines: [line(1)] });
    expect(asked()).toEqual(['status', 'log?after=0', 'history?range=10m']);
    expect(page.document.title).toBe(`${figure(page, 'hashrate')} · rig-7 · pickaxe`);
    expect(page.byId('state-text').textContent).toBe('mining');
    expect(page.byId('controls').hidden).toBe(false);
    expect(rowsOf(page, '#devices tbody tr').map(([name]) => name)).toEqual([
      ...['cpumodel of cpu', 'gpu0model of gpu0', 'gpu1model of gpu1'],
    ]);
    expect(rowsOf(page, '#chain-table tbody tr').map(([chain]) => chain)).toEqual(['3 mined now', '7']);
    expect(page.texts('#sources .url')).toEqual([NODE, 'http://127.0.0.1:1849/ledger']);
    expect(page.byId('workers').hidden).toBe(true);
    expect(page.byId('balance').hidden).toBe(false);
    expect(page.byId('earnings-about').textContent).toContain('The rewards of this network are not known.');
    expect(page.texts('#log .message')).toEqual(['line 1']);
    expect(rowsOf(page, '.chart:not([hidden]) tbody tr')).toEqual([['cpu', '2 H/s', '1 H/s', '2 H/s', '2 H/s']]);
    expect([news(), banner()]).toEqual(['', '']);
  });

  it('asks every two seconds for a status and for new lines, and for a history when there is one', async () => {
    const { page, asked, next, miner } = await load({ lines: [line(1)] });
    asked();
    miner.lines.push(line(2));
    await next();
    expect(asked()).toEqual(['status', 'log?after=1']);
    expect(page.texts('#log .message')).toEqual(['line 1', 'line 2']);
    await next();
    await next();
    await next();
    expect(asked()).toEqual(['status', 'log?after=2', 'status', 'log?after=2', 'status', 'log?after=2']);
    miner.history = ratesOf(1, 2, 7);
    await next();
    expect(asked()).toEqual(['status', 'log?after=2', 'history?range=10m']);
    expect(rowsOf(page, '.chart:not([hidden]) tbody tr')[0][1]).toBe('7 H/s');
    const hour = page.one('#ranges input[value="1h"]');
    enter(page, hour, '1h');
    await turns(20);
    expect(asked()).toEqual(['status', 'log?after=2', 'history?range=1h']);
  });

  it('tells what is new in each status', async () => {
    const { miner, next, news, page } = await load();
    miner.rig.emit(device('cpu', 'paused', 'it is hot'));
    await next();
    expect(news()).toBe('cpu is paused: it is hot');
    expect(page.texts('#devices .badge')[0]).toBe('paused');
    await next();
    expect(news()).toBe('cpu is paused: it is hot');
    miner.rig.emit(device('cpu', 'ready'));
    miner.rig.emit({ type: 'source', source: NODE, kind: 'node', state: 'lost', reason: 'refused' });
    await next();
    expect(news()).toMatch(`cpu is ready; ${NODE} is lost`);
  });

  it('tells that the miner is away, and that it is back', async () => {
    const { miner, next, news, banner, page, asked } = await load({ isAway: true });
    expect(banner()).toBe('The miner cannot be reached. Trying again.');
    expect(page.document.body.className).toBe('away');
    miner.isAway = false;
    await next(3_000);
    expect([banner(), news(), page.document.body.className]).toEqual(['', 'The miner is back.', '']);
    asked();
    for (const fault of [
      { status: 503, message: 'it is busy' },
      { status: 500, message: 'no' },
    ]) {
      miner.fault = fault;
      await next();
      const when = clockSeconds(statusOf(miner.rig).timeMillis);
      expect(banner()).toBe(
        `The miner answers with an error: ${fault.message}. The figures are those of ${when}. Trying again.`,
      );
      miner.fault = undefined;
      miner.rig.emit(device('cpu', fault.status === 503 ? 'paused' : 'ready'));
      await next(3_000);
      expect([banner(), news()]).toEqual([
        '',
        `The miner is back.; cpu is ${fault.status === 503 ? 'paused' : 'ready'}`,
      ]);
    }
  });

  it('begins the log and the charts again when the miner was restarted', async () => {
    const { miner, next, asked, page, reload } = await load({ lines: [line(1), line(2)] });
    asked();
    for (const start of [1, 2]) {
      miner.status = { ...miner.status, startTimeMillis: NOW + start };
      miner.lines = [line(1)];
      await next();
      expect(asked()).toEqual(['status', 'log?after=0', 'history?range=10m']);
      expect(page.texts('#log .again')).toHaveLength(start);
      await next();
      expect(asked()).toEqual(['status', 'log?after=1']);
    }
    expect(page.texts('#log .line')).toHaveLength(6);
    expect(reload).not.toHaveBeenCalled();
  });

  it('is loaded again when the miner is of another version', async () => {
    const { miner, next, reload } = await load();
    await next();
    expect(reload).not.toHaveBeenCalled();
    miner.status = { ...miner.status, version: '99.0.0' };
    await next();
    expect(reload).toHaveBeenCalledTimes(1);
  });

  it('pauses and resumes, tells so, and asks at once what has come of it', async () => {
    const { page, click, asked, news, miner } = await load();
    const status = ['status', 'log?after=0'];
    asked();
    await click('[aria-label="Pause gpu0"]');
    expect([asked(), news()]).toEqual([['pause{"device":"gpu0"}', ...status], 'gpu0: asked to pause']);
    await click('#pause-all');
    expect([asked(), news()]).toEqual([['pause{}', ...status], 'all devices: asked to pause']);
    for (const name of ['cpu', 'gpu0']) miner.rig.emit(device(name, 'paused'));
    await click('#pause-all');
    asked();
    await click('#resume-all');
    expect([asked(), news()]).toEqual([['resume{}', ...status], 'all devices: asked to resume']);
    await click('[aria-label="Resume cpu"]');
    expect([asked(), news()]).toEqual([['resume{"device":"cpu"}', ...status], 'cpu: asked to resume']);
    expect(page.one('[aria-label="Resume cpu"]').getAttribute('aria-busy')).toBeNull();
  });

  it('tells why a device was not paused', async () => {
    const { click, miner, news, page } = await load();
    miner.fault = { status: 404, message: 'there is no such device' };
    await click('[aria-label="Pause cpu"]');
    expect(news()).toBe('cpu: pause failed: there is no such device');
    miner.isAway = true;
    await click('#pause-all');
    expect(news()).toBe('all devices: pause failed: the miner cannot be reached');
    expect(page.byId('pause-all').getAttribute('aria-busy')).toBeNull();
  });

  it('asks for a token until it is right, and uses it for everything', async () => {
    const { page, miner, click, news, asked } = await load({ token: 'right' });
    const submit = async (token: string) => {
      enter(page, page.byId('token'), token);
      page.byId('token-form').dispatchEvent(new page.window.Event('submit', { cancelable: true }));
      await turns(20);
    };
    expect([page.byId('token-form').hidden, page.byId('main').hidden]).toEqual([false, true]);
    await submit('wrong');
    expect(page.byId('token-fault').textContent).toBe('The miner does not accept this token.');
    await submit('right');
    expect([page.byId('token-form').hidden, page.byId('main').hidden]).toEqual([true, false]);
    expect(page.byId('state-text').textContent).toBe('mining');
    asked();
    miner.token = 'other';
    await click('#pause-all');
    expect(page.byId('token-form').hidden).toBe(false);
    await submit('other');
    expect(asked().filter((what) => what.startsWith('pause'))).toEqual(['pause{}', 'pause{}']);
    expect(news()).toBe('all devices: asked to pause');
  });

  it('uses the token of a link for the balance, too', async () => {
    const { page, click, asked } = await load({ token: 'secret' }, { fragment: '#token=secret' });
    expect(page.window.location.href).toBe('http://rig.example/');
    expect(page.byId('token-form').hidden).toBe(true);
    asked();
    await click('#balance-ask');
    expect(asked()).toEqual(['balance']);
    expect(page.byId('balance-account').textContent).toBe(BALANCE.account);
  });

  it('keeps which panels are open, and draws in the colours that are chosen', async () => {
    const { page, colour } = await load();
    page.one('#work').setAttribute('open', '');
    page.one('#work').dispatchEvent(new page.window.Event('toggle'));
    expect(page.window.localStorage.getItem('pickaxe-fold-work')).toBe('open');
    page.byId('charts').style.setProperty('--series-1', 'red');
    layOut(page.one('.plot'), { clientWidth: 800 });
    page.resized();
    await turns();
    expect(colour()).toBe('red');
    page.byId('charts').style.setProperty('--series-1', 'blue');
    enter(page, page.byId('theme'), 'dark');
    await turns();
    expect(colour()).toBe('blue');
    expect(page.window.localStorage.getItem('pickaxe-theme')).toBe('dark');
    expect(page.document.documentElement.dataset.theme).toBe('dark');
    enter(page, page.byId('theme'), 'system');
  });
});
