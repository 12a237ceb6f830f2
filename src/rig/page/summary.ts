/** The summary of the rig: its state, hashrate and results. */

import { OUTCOMES, type Outcome } from '../../miner/events/vocabulary.ts';
import { countsShares, howKnown, livesOnRelays, luckOf, sumOfRelays } from '../status/figures.ts';
import type { Status } from '../status/status.ts';
import { describeState, formatDuration, formatPercent } from '../status/units.ts';
import { byId, hideFigure, setAttribute, setFigure, setText } from './dom.ts';
import { amount, hashrate, known, latency, UNKNOWN } from './format.ts';

/** Figures about hashrates that are hidden on a rig that has only relays. */
const OF_DEVICES = ['window-10s', 'window-60s', 'window-15m', 'highest', 'average'] as const;
/** Figures about results that are hidden on a rig that has only relays. */
const OF_DEVICES_BLOCKS = ['effort', 'luck', 'expected', 'best', 'hardware-errors'] as const;

export function showSummary(status: Status): void {
  const { rig, state, sourceKind, stateAgeSeconds, version, uptimeSeconds } = status;
  setAttribute(byId('state'), 'data-state', state);
  const does = describeState(state, sourceKind);
  setText(byId('state-text'), does);
  setText(byId('state-age'), `for ${formatDuration(stateAgeSeconds)}`);
  setText(byId('rig'), rig);
  setText(byId('about'), `pickaxe ${version}, started ${formatDuration(uptimeSeconds)} ago`);
  const title = `${state === 'mining' ? headline(status) : does} · ${rig} · pickaxe`;
  if (document.title !== title) document.title = title;
  showHashrate(status, does);
  showResults(status);
  showLatencies(status);
}

/**
 * @returns the hashrate; `UNKNOWN` while the rig does not mine, because the average would still contain the last half
 *   minute of mining
 */
function headline(status: Status): string {
  if (status.state !== 'mining') return UNKNOWN;
  return livesOnRelays(status)
    ? `~${hashrate(sumOfRelays(status.relays).hashesPerSecond)}`
    : hashrate(status.hashesPerSecond);
}

function showHashrate(status: Status, does: string): void {
  const { hashesPerSecondByWindow: windows, relays, state, stateReason } = status;
  const handsOnOnly = livesOnRelays(status);
  setFigure('hashrate', headline(status));
  const counted = handsOnOnly ? `of workers, ${howKnown(Object.keys(relays))}` : 'over 30 s';
  // The reason for a pause is shown below and mentions the pause, so the state need not be shown here, too.
  const isSaidBelow = state === 'paused' && stateReason !== null;
  setText(byId('hashrate-about'), state === 'mining' ? counted : isSaidBelow ? '' : does);
  setText(byId('state-reason'), stateReason ?? '');
  setFigure('window-10s', hashrate(windows.last10s));
  setFigure('window-60s', hashrate(windows.last60s));
  setFigure('window-15m', hashrate(windows.last15m));
  setFigure('highest', hashrate(status.highestHashesPerSecond));
  setFigure('average', hashrate(status.averageHashesPerSecond));
  for (const name of OF_DEVICES) hideFigure(name, handsOnOnly);
  const workers = sumOfRelays(relays);
  const hasRelays = Object.keys(relays).length > 0;
  setFigure('workers', hashrate(workers.hashesPerSecond));
  setFigure('workers-connected', String(workers.workersConnected));
  hideFigure('workers', !hasRelays || handsOnOnly);
  hideFigure('workers-connected', !hasRelays);
}

function showResults(status: Status): void {
  showCounts(status, '');
  showShares(status);
  showAcceptedBlocks(status);
  setFigure('to-block', known(status.timeToBlockSeconds, formatDuration));
  setFigure('effort', formatPercent(status.effort));
  setFigure('luck', known(luckOf(status), formatPercent));
  setFigure('expected', status.expectedBlocks.toFixed(1));
  setFigure('best', amount(status.bestDifficulty));
  setFigure('hardware-errors', String(status.hardwareErrors));
  for (const name of OF_DEVICES_BLOCKS) hideFigure(name, livesOnRelays(status));
}

/** @param before the prefix of the figures' names */
function showCounts(counts: Readonly<Record<Outcome, number>>, before: string): void {
  for (const outcome of OUTCOMES) setFigure(`${before}${outcome}`, String(counts[outcome]), counts[outcome] === 0);
  // Only a rig that mines for a parent can have delivered solutions, so the count is hidden while it is 0.
  hideFigure(`${before}delivered`, counts.delivered === 0);
}

/** Shows the numbers of blocks by fate. They are hidden until a block has a state. */
function showAcceptedBlocks({ acceptedBlocks }: Status): void {
  if (!acceptedBlocks) return;
  byId('accepted-blocks').hidden = false;
  for (const fate of ['won', 'settled', 'pending', 'orphaned'] as const) setFigure(fate, String(acceptedBlocks[fate]));
  for (const fate of ['unanswered', 'lost'] as const) {
    setFigure(fate, String(acceptedBlocks[fate]));
    hideFigure(fate, acceptedBlocks[fate] === 0);
  }
}

/** Shows the shares once `countsShares` is true. They are not hidden again, because that would move the page. */
function showShares(status: Status): void {
  const { work, shares } = status;
  if (countsShares(work, shares)) {
    byId('shares').hidden = false;
    byId('blocks-heading').hidden = false;
  }
  showCounts(shares, 'shares-');
  setFigure('to-share', known(status.timeToShareSeconds, formatDuration));
  setFigure(
    'last-share',
    known(status.lastShareSeconds, (seconds) => `${formatDuration(seconds)} ago`),
  );
  setFigure('share-difficulty', amount(work?.shareDifficulty ?? null));
  setFigure('proven', hashrate(status.provenHashesPerSecond));
  setFigure('accepted-hashes', amount(shares.acceptedHashes));
}

/**
 * Shows each latency from its first value on. There may never be a value: some pools announce no New Cut, and a rig
 * without devices has no jobs.
 */
function showLatencies({ switchSeconds, answerSeconds, newCuts }: Status): void {
  for (const [name, spread] of [
    ['switch', switchSeconds],
    ['answer', answerSeconds],
  ] as const) {
    for (const figure of ['p50', 'p99', 'last'] as const)
      setFigure(`${name}-${figure}`, known(spread?.[figure], latency));
  }
  setFigure('new-cuts', String(newCuts));
  byId('switches').hidden = switchSeconds === null;
  byId('answers').hidden = answerSeconds === null;
  byId('latencies').hidden = switchSeconds === null && answerSeconds === null;
}

/**
 * @returns one sentence for all devices that have changed in the same way, and one for each source whose state has
 *   changed. While the rig does not mine, the devices' reasons are left out, because the page shows the rig's reason
 *   below the hashrate
 */
export function changes(before: Status, now: Status): string[] {
  const changed = Object.entries(now.devices).filter(([name, { state, reason }]) => {
    const old = before.devices[name];
    return old?.state !== state || (state !== 'ready' && old.reason !== reason);
  });
  const devices = new Map<string, string[]>();
  for (const [name, { state, reason }] of changed) {
    const does = reason === null || now.stateReason !== null ? state : `${state}: ${reason}`;
    devices.set(does, [...(devices.get(does) ?? []), name]);
  }
  const sources = Object.entries(now.sources)
    .filter(([url, { state }]) => before.sources[url]?.state !== state)
    .map(([url, { state }]) => `${url} is ${state}`);
  return [
    ...Array.from(devices, ([does, names]) => `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} ${does}`),
    ...sources,
  ];
}
