/** The rig as a whole: what it does, how fast, and what became of its solutions. */

import type { Status } from '../report/http/schemas.ts';
import { formatDuration, formatPercent, inWords } from '../report/units.ts';
import { OUTCOMES } from '../source/vocabulary.ts';
import { byId, setAttribute, setFigure, setText } from './dom.ts';
import { amount, hashrate, known, latency, UNKNOWN } from './format.ts';

export function showSummary(status: Status): void {
  const { rig, state, stateReason, stateAgeSeconds, version, uptimeSeconds } = status;
  setAttribute(byId('state'), 'data-state', state);
  setText(byId('state-text'), inWords(state));
  setText(byId('state-age'), `for ${formatDuration(stateAgeSeconds)}`);
  setText(byId('state-reason'), stateReason ?? '');
  byId('state-reason').hidden = stateReason === null;
  setText(byId('about'), `${rig}: pickaxe ${version}, started ${formatDuration(uptimeSeconds)} ago`);
  const title = `${state === 'mining' ? hashrate(status.hashesPerSecond) : inWords(state)} · ${rig} · pickaxe`;
  if (document.title !== title) document.title = title;
  showHashrate(status);
  showResults(status);
  showLatencies(status);
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
}

function showResults(status: Status): void {
  for (const outcome of OUTCOMES) setFigure(outcome, String(status[outcome]), status[outcome] === 0);
  setFigure('to-block', known(status.timeToBlockSeconds, formatDuration));
  setFigure('effort', formatPercent(status.effort));
  const { accepted, expectedBlocks: expected } = status;
  setFigure('luck', expected >= 1 ? formatPercent(accepted / expected) : UNKNOWN);
  setFigure('expected', expected.toFixed(1));
  setFigure('best', amount(status.bestDifficulty));
  setFigure('hardware-errors', String(status.hardwareErrors));
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
