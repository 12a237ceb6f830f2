/** The summary on a rig's page: what it shows of a status, and of the status that comes next. */

import { describe, expect, it } from 'vitest';
import { changes, showSummary } from '#pickaxe/rig/page/summary.js';
import type { Status } from '#pickaxe/rig/status/status.js';
import { device, relay, verdict, worker } from '../status/fakes.ts';
import { NODE, Rig, work, workOnPool } from './rig.ts';
import { emptyStatus, figure, figures, hiddenFigures, statusOf } from './statuses.ts';
import { openWindow } from './window.ts';

const SPREAD = { p50: 0.0005, p99: 0.0123, last: 1.5, count: 9 };
const OUTCOMES = ['accepted', 'rejected', 'stale', 'unknown', 'delivered'];
const OF_DEVICES = ['window-10s', 'window-60s', 'window-15m', 'highest', 'average'];
const OF_BLOCKS = ['effort', 'luck', 'expected', 'best', 'hardware-errors'];

/** @returns a rig without devices, and these relays */
function handsOn(...relays: string[]): Rig {
  const rig = new Rig(0, relays);
  for (const name of relays) rig.emit(relay(name, worker('a', { hashesPerSecond: 1e9 }), worker('b', { sessions: 3 })));
  return rig;
}

const speed = (rate: number): Partial<Status> => ({
  hashesPerSecond: rate,
  hashesPerSecondByWindow: { last10s: rate + 1, last60s: rate + 2, last15m: rate + 3 },
  highestHashesPerSecond: rate + 4,
  averageHashesPerSecond: rate + 5,
});

describe('the head of a rig’s page', () => {
  it.each<[Status['state'], Status['sourceKind'], string]>([
    ['starting', 'node', 'starting'],
    ['paused', 'pool', 'paused'],
    ['waiting-for-work', 'pool', 'waiting for work'],
    ['no-source', 'node', 'no node'],
    ['no-source', 'pool', 'no pool'],
    ['no-source', 'parent', 'no parent'],
    ['no-source', 'fleet', 'no coordinator'],
    ['no-device', 'node', 'no device'],
  ])('says of a rig that is %s of a %s: %s, and shows no rate of it', (state, sourceKind, does) => {
    const page = openWindow('rig');
    const status = emptyStatus({ state, sourceKind, ...speed(500), stateAgeSeconds: 200, uptimeSeconds: 7_200 });
    showSummary({ ...status, stateReason: null });
    expect(page.byId('state').dataset.state).toBe(state);
    expect(page.texts('#state-text, #state-age, #rig')).toEqual(['rig-7', does, 'for 3 min 20 s']);
    expect(page.byId('about').textContent).toBe(`pickaxe ${status.version}, started 2 h ago`);
    expect(page.document.title).toBe(`${does} · rig-7 · pickaxe`);
    expect(figure(page, 'hashrate')).toBe('–');
    expect(page.texts('#hashrate-about, #state-reason')).toEqual([does, '']);
    // The reason for a pause mentions the pause itself.
    showSummary({ ...status, stateReason: 'because of that' });
    expect(page.texts('#hashrate-about, #state-reason')).toEqual([state === 'paused' ? '' : does, 'because of that']);
    showSummary({ ...status, state: 'mining', stateReason: null });
    expect(page.document.title).toBe('500 H/s · rig-7 · pickaxe');
    expect(page.byId('state').dataset.state).toBe('mining');
    expect(page.texts('#state-text, #hashrate-about, #state-reason')).toEqual(['mining', 'over 30 s', '']);
  });

  it('shows the rates of a rig that mines, and what is not known of them', () => {
    const page = openWindow('rig');
    showSummary(emptyStatus({ state: 'mining', ...speed(500) }));
    expect(figures(page, ['hashrate', ...OF_DEVICES])).toEqual([
      ...['500 H/s', '501 H/s', '502 H/s', '503 H/s', '504 H/s', '505 H/s'],
    ]);
    expect(hiddenFigures(page, [...OF_DEVICES, 'workers', 'workers-connected'])).toEqual([
      ...['workers', 'workers-connected'],
    ]);
    const hashesPerSecondByWindow = { last10s: null, last60s: null, last15m: null };
    showSummary(emptyStatus({ state: 'mining', hashesPerSecondByWindow, highestHashesPerSecond: null }));
    expect(figures(page, ['hashrate', ...OF_DEVICES])).toEqual(['0 H/s', '–', '–', '–', '–', '0 H/s']);
  });

  it.each([
    [['stratum'], 'estimated from shares'],
    [['fleet'], 'as its rigs report it'],
    [['fleet', 'stratum'], 'estimated from shares or reported by rigs'],
  ])('shows what the workers of the relays %s hash, where the rig itself has no device', (relays, howKnown) => {
    const page = openWindow('rig');
    const rate = `${relays.length * 701}.0 GH/s`.replace('1402.0 G', '1.402 T');
    const workers = String(relays.length * 2);
    const rig = handsOn(...relays);
    showSummary(statusOf(rig, { state: 'mining', ...speed(500) }));
    expect(page.document.title).toBe(`~${rate} · rig-7 · pickaxe`);
    expect(page.byId('hashrate-about').textContent).toBe(`of workers, ${howKnown}`);
    expect(figures(page, ['hashrate', 'workers', 'workers-connected'])).toEqual([`~${rate}`, rate, workers]);
    const hideable = [...OF_DEVICES, ...OF_BLOCKS, 'workers', 'workers-connected'];
    expect(hiddenFigures(page, hideable)).toEqual([...OF_DEVICES, ...OF_BLOCKS, 'workers']);
    showSummary(statusOf(rig, { state: 'waiting-for-work' }));
    expect(figure(page, 'hashrate')).toBe('–');
    // A device comes, whose own figures are shown then.
    rig.emit(device('cpu', 'ready'));
    showSummary(statusOf(rig, { state: 'mining', ...speed(500) }));
    expect(page.texts('#hashrate-about')).toEqual(['over 30 s']);
    expect(hiddenFigures(page, hideable)).toEqual([]);
    expect(figures(page, ['hashrate', 'workers'])).toEqual(['500 H/s', rate]);
  });
});

describe('the results on a rig’s page', () => {
  it('are counts, and quiet where they are 0', () => {
    const page = openWindow('rig');
    const rig = new Rig();
    const quiet = () => OUTCOMES.filter((name) => page.one(`[data-figure="${name}"]`).hasAttribute('data-none'));
    showSummary(statusOf(rig));
    expect(figures(page, OUTCOMES)).toEqual(['0', '0', '0', '0', '0']);
    expect(quiet()).toEqual(OUTCOMES);
    expect(hiddenFigures(page, OUTCOMES)).toEqual(['delivered']);
    const counts = { accepted: 1, rejected: 2, stale: 0, unknown: 12, delivered: 1 };
    showSummary(statusOf(rig, counts));
    expect(figures(page, OUTCOMES)).toEqual(['1', '2', '0', '12', '1']);
    expect(quiet()).toEqual(['stale']);
    expect(hiddenFigures(page, OUTCOMES)).toEqual([]);
    showSummary(statusOf(rig));
    expect(hiddenFigures(page, OUTCOMES)).toEqual(['delivered']);
  });

  it('are figures of blocks, with what is not known', () => {
    const page = openWindow('rig');
    const names = ['to-block', ...OF_BLOCKS];
    const rig = new Rig();
    showSummary(statusOf(rig));
    expect(figures(page, names)).toEqual(['–', '0 %', '–', '0.0', '0', '0']);
    expect(hiddenFigures(page, names)).toEqual([]);
    rig.emit(device('cpu', 'ready'));
    for (const outcome of ['accepted', 'rejected'] as const) rig.emit(verdict('cpu', outcome));
    const some = { timeToBlockSeconds: 90, effort: 0.345, bestDifficulty: 17.2e6, hardwareErrors: 3 };
    showSummary(statusOf(rig, { ...some, expectedBlocks: 0.96 }));
    expect(figures(page, names)).toEqual(['1 min 30 s', '35 %', '–', '1.0', '17.20 M', '3']);
    showSummary(statusOf(rig, { ...some, expectedBlocks: 2 }));
    expect(figure(page, 'luck')).toBe('50 %');
  });

  it('have the fates of blocks once there is one, and keep them', () => {
    const page = openWindow('rig');
    const fates = ['won', 'settled', 'pending', 'orphaned', 'unanswered', 'lost'];
    showSummary(emptyStatus({ acceptedBlocks: null }));
    expect(page.byId('accepted-blocks').hidden).toBe(true);
    expect(figures(page, fates)).toEqual(fates.map(() => '–'));
    const some = { won: 5, settled: 4, pending: 3, orphaned: 2, unanswered: 0, lost: 0, paidElsewhere: 0 };
    showSummary(emptyStatus({ acceptedBlocks: some }));
    expect(page.byId('accepted-blocks').hidden).toBe(false);
    expect(figures(page, fates)).toEqual(['5', '4', '3', '2', '0', '0']);
    expect(hiddenFigures(page, fates)).toEqual(['unanswered', 'lost']);
    showSummary(emptyStatus({ acceptedBlocks: { ...some, unanswered: 1 } }));
    expect(hiddenFigures(page, fates)).toEqual(['lost']);
    showSummary(emptyStatus({ acceptedBlocks: { ...some, lost: 7 } }));
    expect([figure(page, 'lost'), hiddenFigures(page, fates)]).toEqual(['7', ['unanswered']]);
    showSummary(emptyStatus({ acceptedBlocks: null }));
    expect(page.byId('accepted-blocks').hidden).toBe(false);
    expect(figure(page, 'won')).toBe('5');
  });

  it('have shares from the first work of a pool on, and keep them', () => {
    const page = openWindow('rig');
    const hidden = () => [page.byId('shares').hidden, page.byId('blocks-heading').hidden];
    const names = ['to-share', 'last-share', 'share-difficulty', 'proven', 'accepted-hashes'];
    showSummary(statusOf(work(new Rig())));
    expect(hidden()).toEqual([true, true]);
    expect(figures(page, names)).toEqual(['–', '–', '–', '3.833 MH/s', '0']);
    const rig = workOnPool(new Rig());
    showSummary(statusOf(rig, { timeToShareSeconds: 75, lastShareSeconds: 4 }));
    expect(hidden()).toEqual([false, false]);
    expect(figures(page, names)).toEqual(['1 min 15 s', '4 s ago', '1.100 T', '181.0 MH/s', '1.500 k']);
    const counts = OUTCOMES.map((name) => `shares-${name}`);
    expect(figures(page, counts)).toEqual(['3', '1', '1', '0', '0']);
    expect(hiddenFigures(page, counts)).toEqual(['shares-delivered']);
    showSummary(emptyStatus());
    expect(hidden()).toEqual([false, false]);
    expect(figures(page, ['share-difficulty', 'shares-accepted'])).toEqual(['–', '0']);
  });

  it.each<[string, Status['switchSeconds'], Status['answerSeconds'], boolean[]]>([
    ['no latency', null, null, [true, true, true]],
    ['the latency of switches', SPREAD, null, [false, false, true]],
    ['the latency of answers', null, SPREAD, [false, true, false]],
    ['both latencies', SPREAD, SPREAD, [false, false, false]],
  ])('are shown beside %s, as far as it is known', (_, switchSeconds, answerSeconds, hidden) => {
    const page = openWindow('rig');
    const shown = () => ['latencies', 'switches', 'answers'].map((id) => page.byId(id).hidden);
    const names = (before: string) => ['p50', 'p99', 'last'].map((name) => `${before}-${name}`);
    const texts = (spread: Status['switchSeconds']) => (spread ? ['0.50 ms', '12.3 ms', '1.50 s'] : ['–', '–', '–']);
    for (const newCuts of [0, 17]) {
      showSummary(emptyStatus({ switchSeconds, answerSeconds, newCuts }));
      expect(shown()).toEqual(hidden);
      expect(figures(page, names('switch'))).toEqual(texts(switchSeconds));
      expect(figures(page, names('answer'))).toEqual(texts(answerSeconds));
      expect(figure(page, 'new-cuts')).toBe(String(newCuts));
    }
    showSummary(emptyStatus({ switchSeconds: null, answerSeconds: null }));
    expect(shown()).toEqual([true, true, true]);
  });
});

describe('the news of a status', () => {
  type Told = Record<string, [Parameters<typeof device>[1], string?]>;
  const withDevices = (told: Told, more: Partial<Status> = {}) => {
    const rig = new Rig();
    for (const [name, [state, reason]] of Object.entries(told)) rig.emit(device(name, state, reason));
    return statusOf(rig, { stateReason: null, ...more });
  };

  it.each<[string, Told, Told, string[]]>([
    ['nothing', { cpu: ['ready'] }, { cpu: ['ready'] }, []],
    ['a new device', {}, { cpu: ['ready'] }, ['cpu is ready']],
    ['a device that is gone', { cpu: ['ready'] }, {}, []],
    ['another state', { cpu: ['ready'], gpu0: ['ready'] }, { cpu: ['ready'], gpu0: ['paused'] }, ['gpu0 is paused']],
    ['a reason', { cpu: ['ready'] }, { cpu: ['paused', 'it is hot'] }, ['cpu is paused: it is hot']],
    [
      'another reason',
      { cpu: ['paused', 'it is hot'] },
      { cpu: ['paused', 'by a request'] },
      ['cpu is paused: by a request'],
    ],
    ['the same reason', { cpu: ['paused', 'it is hot'] }, { cpu: ['paused', 'it is hot'] }, []],
    ['another reason of a ready device', { cpu: ['ready'] }, { cpu: ['ready', 'it is well'] }, []],
    [
      'the same change of several devices, and another of one',
      { cpu: ['ready'], gpu0: ['ready'], gpu1: ['ready'], gpu2: ['ready'] },
      { cpu: ['paused', 'no'], gpu0: ['reopening', 'lost'], gpu1: ['paused', 'no'], gpu2: ['paused'] },
      ['cpu, gpu1 are paused: no', 'gpu0 is reopening: lost', 'gpu2 is paused'],
    ],
  ])('tell of %s', (_, before, now, news) => {
    expect(changes(withDevices(before), withDevices(now))).toEqual(news);
  });

  it('leave out the reasons of devices while the page shows the reason of the rig', () => {
    const now = withDevices({ cpu: ['paused', 'no'], gpu0: ['paused', 'not'] }, { stateReason: 'all are paused' });
    expect(changes(emptyStatus(), now)).toEqual(['cpu, gpu0 are paused']);
  });

  it('tell of each source whose state is another', () => {
    const rig = new Rig();
    const tell = (source: string, state: 'connected' | 'lost') =>
      rig.emit({ type: 'source', source, kind: 'node', state, reason: 'so it is' });
    const first = statusOf(rig);
    tell(NODE, 'connected');
    tell('http://b.example', 'connected');
    const second = statusOf(rig);
    expect(changes(first, second)).toEqual([`${NODE} is connected`, 'http://b.example is connected']);
    tell('http://b.example', 'lost');
    rig.emit(device('cpu', 'ready'));
    const third = statusOf(rig);
    expect(changes(second, third)).toEqual(['cpu is ready', 'http://b.example is lost']);
    expect(changes(third, third)).toEqual([]);
  });
});
