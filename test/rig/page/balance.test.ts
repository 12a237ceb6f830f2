/** The panels of the balance and of the earnings. */

import { describe, expect, it } from 'vitest';
import type { BalanceAnswer } from '#pickaxe/rig/http/api-answers.js';
import { ApiError } from '#pickaxe/rig/page/api.js';
import { BalancePanel, EarningsPanel } from '#pickaxe/rig/page/balance.js';
import { clockSeconds } from '#pickaxe/rig/page/format.js';
import type { Status } from '#pickaxe/rig/status/status.js';
import { turns } from '../../turns.ts';
import { BALANCE, device, NO_EARNINGS, relay } from '../status/fakes.ts';
import { Rig } from './rig.ts';
import { emptyStatus, figures, hiddenFigures, rowsOf, statusOf } from './statuses.ts';
import { openWindow } from './window.ts';

const NOW = 1_700_000_000_000;
const AT = clockSeconds(NOW);

const whole: BalanceAnswer = {
  ...BALANCE,
  total: '12.5',
  timeMillis: NOW,
  chains: [
    { chain: 0, balance: '12.5', exists: true, fault: null },
    { chain: 10, balance: '0.0', exists: true, fault: null },
    { chain: 2, balance: '0.0', exists: false, fault: null },
  ],
};
const silent = (chain: number, fault: string) => ({ chain, balance: null, exists: null, fault });

/** Opens a panel whose requests the test answers. */
function openPanel() {
  const page = openWindow('rig');
  const asked: { answer: (balance: BalanceAnswer) => void; fail: (fault: unknown) => void }[] = [];
  const panel = new BalancePanel(() => new Promise((answer, fail) => asked.push({ answer, fail })));
  const button = page.byId('balance-ask');
  const ended = async (end: (call: (typeof asked)[number]) => void) => {
    end(asked.at(-1)!);
    await turns();
  };
  return {
    page,
    panel,
    asked,
    ask: () => button.click(),
    button: () => [button.textContent, button.getAttribute('aria-busy')],
    answer: (balance: BalanceAnswer) => ended(({ answer }) => answer(balance)),
    fail: (fault: unknown) => ended(({ fail }) => fail(fault)),
    text: (what: string) => page.byId(`balance-${what}`).textContent,
    news: () => page.byId('news').textContent,
    isOld: () => page.byId('balance-answer').classList.contains('old'),
  };
}

describe('the balance', () => {
  it('is asked for when somebody wants it, one request at a time', async () => {
    const { page, asked, ask, button, answer, text, news } = openPanel();
    expect(asked).toHaveLength(0);
    expect(page.byId('balance-answer').hidden).toBe(true);
    expect(button()).toEqual(['Ask the node for the balance', null]);
    ask();
    ask();
    expect(asked).toHaveLength(1);
    expect(button()).toEqual(['Asking the node …', 'true']);
    await answer(whole);
    expect(button()).toEqual(['Ask the node again', null]);
    expect(page.byId('balance-answer').hidden).toBe(false);
    expect(['total', 'now', 'account', 'unread', 'fault'].map(text)).toEqual(['12.5', '12.5 coins', 'k:me', '', '']);
    expect(text('said')).toBe(`${BALANCE.node} said so at ${AT}, 0.0 s ago.`);
    expect(news()).toBe('balance: 12.5 coins in all');
    expect(rowsOf(page, '#balance-table tr')).toEqual([
      ['chain', 'coins'],
      ['chain 0', '12.500000000000'],
      ['chain 10', '0.000000000000'],
      ['chain 2', 'no account'],
    ]);
    const quiet = page.document.querySelectorAll('#balance-table td.quiet');
    expect([...quiet].map(({ textContent }) => textContent)).toEqual(['no account']);
    ask();
    expect(asked).toHaveLength(2);
    await answer({ ...whole, account: 'k:other', total: '0.0', chains: [{ ...whole.chains[2], exists: true }] });
    expect(['total', 'account'].map(text)).toEqual(['0.0', 'k:other']);
    expect(rowsOf(page, '#balance-table tbody tr')).toEqual([['chain 2', '0.000000000000']]);
    expect(page.document.querySelectorAll('#balance-table td.quiet')).toHaveLength(0);
  });

  it.each([
    [[silent(2, 'too late')], 'Chain 2 did not answer, so the sum is not known: too late'],
    [[silent(2, 'too late'), silent(7, 'no')], 'Chains 2, 7 did not answer, so the sum is not known: too late'],
  ])('has no sum while chains are missing', async (missing, sentence) => {
    const { page, ask, answer, text, news } = openPanel();
    ask();
    await answer({ ...whole, total: null, chains: [whole.chains[0], ...missing] });
    expect(['total', 'now', 'unread'].map(text)).toEqual(['–', '', sentence]);
    expect(news()).toBe('balance: not every chain answered');
    expect(rowsOf(page, '#balance-table tbody tr')).toEqual([
      ['chain 0', '12.500000000000'],
      ...missing.map(({ chain }) => [`chain ${chain}`, 'no answer']),
    ]);
    ask();
    await answer(whole);
    expect(['total', 'now', 'unread'].map(text)).toEqual(['12.5', '12.5 coins', '']);
  });

  it('says why there is none, until there is one, and keeps the last one', async () => {
    const { page, ask, answer, fail, button, text, news } = openPanel();
    ask();
    await fail(new ApiError(502, 'no node answers'));
    expect(text('fault')).toBe('No balance was read: no node answers');
    expect(news()).toBe('balance: no node answers');
    expect(button()).toEqual(['Ask the node for the balance', null]);
    expect(page.byId('balance-answer').hidden).toBe(true);
    ask();
    await answer(whole);
    expect(text('fault')).toBe('');
    ask();
    await fail(new TypeError('failed to fetch'));
    expect(text('fault')).toBe('No balance was read: the miner cannot be reached');
    expect(news()).toBe('balance: the miner cannot be reached');
    expect([button(), text('total')]).toEqual([['Ask the node again', null], '12.5']);
    expect(page.byId('balance-answer').hidden).toBe(false);
  });

  it('has an age by the clock of the miner, and is marked as old after a minute', async () => {
    const { panel, ask, answer, text, isOld } = openPanel();
    const later = (ms: number) => panel.show(emptyStatus({ timeMillis: NOW + ms }));
    later(0);
    expect(text('said')).toBe('');
    ask();
    await answer(whole);
    for (const [ms, words, old] of [
      [60_000, '1 min ago.', false],
      [60_001, '1 min ago. It may have changed since.', true],
      [7_200_000, '2 h ago. It may have changed since.', true],
      // The clock of the miner was set back.
      [-5_000, '0.0 s ago.', false],
    ] as const) {
      later(ms);
      expect([text('said'), isOld()]).toEqual([`${BALANCE.node} said so at ${AT}, ${words}`, old]);
    }
    later(60_001);
    ask();
    await answer({ ...whole, timeMillis: NOW + 60_001 });
    expect([text('said').includes('0.0 s ago.'), isOld()]).toEqual([true, false]);
  });

  it.each([
    ['node', false],
    ['pool', true],
    ['parent', true],
    ['fleet', true],
  ] as const)('of a rig that mines for a %s is hidden: %s', (sourceKind, hidden) => {
    const { page, panel } = openPanel();
    panel.show(emptyStatus({ sourceKind }));
    expect(page.byId('balance').hidden).toBe(hidden);
    panel.show(emptyStatus());
    expect(page.byId('balance').hidden).toBe(false);
  });
});

const FIGURES = ['coins-per-day', 'coins-per-block', 'chance-in-day', 'chance-in-month', 'power-cost'];
const ALWAYS = 'On average, if rate, difficulty and rewards stay as they are. Fees and orphans are left out.';
const OF_POOL =
  'A pool pays by its own rules: this is what the hashrate finds, before its fee, at the rewards of the network that ' +
  'its jobs name.';
const OF_FLEET = 'The coordinators of the fleet say whom the blocks pay, which need not be this rig’s owner.';
const NO_REWARDS = 'The rewards of this network are not known.';
const NO_SENSOR =
  'The cost of power is not known: not every device that mines has a sensor; give the watts with --power-watts.';
const NO_DEVICES = 'The cost of power is not known: this rig has no devices; give --power-watts.';

describe('the earnings', () => {
  it('are estimates, with dashes for what is not known', () => {
    const page = openWindow('rig');
    const panel = new EarningsPanel();
    const known = { coinsPerDay: 0.0238, coinsPerBlock: 0.975, chanceInDayRatio: 0.024, chanceInMonthRatio: 0.52 };
    for (const _ of [1, 2]) {
      panel.show(emptyStatus());
      expect(figures(page, FIGURES)).toEqual(['–', '–', '–', '–', '–']);
      expect(hiddenFigures(page, FIGURES)).toEqual(['power-cost']);
      panel.show(emptyStatus({ earnings: { ...NO_EARNINGS, ...known, powerPrice: 0, powerCostPerDay: 2.97 } }));
      expect(figures(page, FIGURES)).toEqual(['0.0238', '0.975', '2.4 %', '52 %', '2.97']);
      expect(hiddenFigures(page, FIGURES)).toEqual([]);
    }
  });

  it.each<[Status['sourceKind'], Partial<Status['earnings']>, string[]]>([
    ['node', {}, []],
    ['node', { blocksPerDay: 3 }, [NO_REWARDS]],
    ['node', { blocksPerDay: 3, coinsPerDay: 2 }, []],
    ['node', { coinsPerDay: 2 }, []],
    ['pool', {}, [OF_POOL]],
    ['pool', { blocksPerDay: 0 }, [OF_POOL, NO_REWARDS]],
    ['fleet', { blocksPerDay: 3 }, [OF_FLEET, NO_REWARDS]],
    ['parent', {}, []],
    ['node', { powerPrice: 0.3 }, [NO_SENSOR]],
    ['node', { powerPrice: 0.3, powerWatts: 400, powerCostPerDay: 2.88 }, []],
    ['pool', { blocksPerDay: 1, powerPrice: 0.3 }, [OF_POOL, NO_REWARDS, NO_SENSOR]],
  ])('of a %s, where %j is known, come with what one should know about them', (sourceKind, some, notes) => {
    const page = openWindow('rig');
    const panel = new EarningsPanel();
    panel.show(emptyStatus({ sourceKind, earnings: { ...NO_EARNINGS, ...some } }));
    expect(page.byId('earnings-about').textContent).toBe([ALWAYS, ...notes].join(' '));
    expect(page.byId('earnings').hidden).toBe(sourceKind === 'parent');
    panel.show(emptyStatus());
    expect(page.byId('earnings-about').textContent).toBe(ALWAYS);
    expect(page.byId('earnings').hidden).toBe(false);
  });

  it('say that a rig without devices has no sensor', () => {
    const page = openWindow('rig');
    const rig = new Rig(0, ['stratum']);
    rig.emit(relay('stratum'));
    const earnings = { ...NO_EARNINGS, powerPrice: 0.3 };
    new EarningsPanel().show(statusOf(rig, { earnings }));
    expect(page.byId('earnings-about').textContent).toBe(`${ALWAYS} ${NO_DEVICES}`);
    rig.emit(device('cpu', 'ready'));
    new EarningsPanel().show(statusOf(rig, { earnings }));
    expect(page.byId('earnings-about').textContent).toBe(`${ALWAYS} ${NO_SENSOR}`);
  });
});
