/** The rig as a whole: what it does, how fast, and what became of its solutions. */

import { countsShares, luckOf } from '../report/figures.ts';
import type { Status } from '../report/http/schemas.ts';
import { describeState, formatDuration, formatPercent } from '../report/units.ts';
import { OUTCOMES, type Outcome } from '../source/vocabulary.ts';
import { byId, hideFigure, setAttribute, setFigure, setText } from './dom.ts';
import { amount, hashrate, known, latency } from './format.ts';

export function showSummary(status: Status): void {
  const { rig, state, sourceKind, stateReason, stateAgeSeconds, version, uptimeSeconds } = status;
  setAttribute(byId('state'), 'data-state', state);
  const does = describeState(state, sourceKind);
  setText(byId('state-text'), does);
  setText(byId('state-age'), `for ${formatDuration(stateAgeSeconds)}`);
  setText(byId('state-reason'), stateReason ?? '');
  byId('state-reason').hidden = stateReason === null;
  setText(byId('about'), `${rig}: pickaxe ${version}, started ${formatDuration(uptimeSeconds)} ago`);
  const title = `${state === 'mining' ? rateInShort(status) : does} · ${rig} · pickaxe`;
  if (document.title !== title) document.title = title;
  showHashrate(status);
  showResults(status);
  showLatencies(status);
}

/** A rig without devices has no hashrate of its own. */
function rateInShort(status: Status): string {
  const { hashesPerSecond, devices, relays } = status;
  const livesOnRelays = Object.keys(devices).length === 0 && Object.keys(relays).length > 0;
  return livesOnRelays ? `~${hashrate(estimated(status))}` : hashrate(hashesPerSecond);
}

/** The hashrate of all workers, which is estimated and no part of the rig's own. */
function estimated({ relays }: Status): number {
  return Object.values(relays).reduce((sum, { hashesPerSecond }) => sum + hashesPerSecond, 0);
}

function showHashrate(status: Status): void {
  const { hashesPerSecond, hashesPerSecondByWindow: windows } = status;
  const ready = Object.values(status.devices).some(({ state }) => state === 'ready');
  setFigure('hashrate', hashrate(ready ? hashesPerSecond : null));
  setFigure('window-10s', hashrate(windows.last10s));
  setFigure('window-60s', hashrate(windows.last60s));
  setFigure('window-15m', hashrate(windows.last15m));
  setFigure('highest', hashrate(status.highestHashesPerSecond));
  setFigure('average', hashrate(status.averageHashesPerSecond));
  setFigure('workers', hashrate(estimated(status)));
  hideFigure('workers', Object.keys(status.relays).length === 0);
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
}

/** @param before what the names of the figures begin with */
function showCounts(counts: Readonly<Record<Outcome, number>>, before: string): void {
  for (const outcome of OUTCOMES) setFigure(`${before}${outcome}`, String(counts[outcome]), counts[outcome] === 0);
  // Only a rig that mines for another process has any.
  hideFigure(`${before}delivered`, counts.delivered === 0);
}

/** What became of accepted blocks is shown once there is one. */
function showAcceptedBlocks({ acceptedBlocks }: Status): void {
  if (!acceptedBlocks) return;
  byId('accepted-blocks').hidden = false;
  for (const fate of ['won', 'settled', 'pending', 'orphaned'] as const) setFigure(fate, String(acceptedBlocks[fate]));
  for (const fate of ['unanswered', 'lost'] as const) {
    setFigure(fate, String(acceptedBlocks[fate]));
    hideFigure(fate, acceptedBlocks[fate] === 0);
  }
}

/** The part about a pool's shares is shown once the work is a pool's, and stays: what came and went would move the page. */
function showShares(status: Status): void {
  const { work, shares } = status;
  if (countsShares(work, shares)) byId('shares').hidden = false;
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

function showLatencies({ switchSeconds, answerSeconds, newCuts }: Status): void {
  for (const [name, spread] of [
    ['switch', switchSeconds],
    ['answer', answerSeconds],
  ] as const) {
    for (const figure of ['p50', 'p99', 'last'] as const)
      setFigure(`${name}-${figure}`, known(spread?.[figure], latency));
  }
  setFigure('new-cuts', String(newCuts));
}
