/** The rig as a whole: what it does, how fast, and what became of its solutions. */

import type { Status } from '../report/http/schemas.ts';
import { formatDuration, formatPercent } from '../report/units.ts';
import { byId, setAttribute, setFigure, setText } from './dom.ts';
import { amount, hashrate, known, latency, UNKNOWN } from './format.ts';

/** @returns what the rig does, for people */
export function stateOf({ ready, paused, devices, sources }: Status): { state: string; words: string } {
  if (ready) return { state: 'mining', words: 'mining' };
  if (paused) return { state: 'paused', words: 'paused' };
  const all = Object.values(devices);
  const connected = Object.values(sources).some(({ state }) => state === 'connected');
  if (all.every(({ state }) => state === 'starting') && !connected) return { state: 'starting', words: 'starting' };
  if (!connected) return { state: 'down', words: 'not mining: no node is connected' };
  if (all.some(({ state }) => state === 'starting')) return { state: 'starting', words: 'starting its devices' };
  return { state: 'down', words: 'not mining: no device is ready' };
}

export function showSummary(status: Status): void {
  const { state, words } = stateOf(status);
  setAttribute(byId('state'), 'data-state', state);
  setText(byId('state-text'), words);
  setText(byId('uptime'), `for ${formatDuration(status.uptime_seconds)}`);
  setText(byId('about'), `pickaxe ${status.version}`);
  const title = `${hashrate(status.hashrate)} · pickaxe`;
  if (document.title !== title) document.title = title;
  showHashrate(status);
  showResults(status);
  showLatencies(status);
}

function showHashrate({ hashrate: now, windows, highest, hashrate_average }: Status): void {
  setFigure('hashrate', hashrate(now));
  setFigure('window-10s', hashrate(windows['10s']));
  setFigure('window-60s', hashrate(windows['60s']));
  setFigure('window-15m', hashrate(windows['15m']));
  setFigure('highest', hashrate(highest));
  setFigure('average', hashrate(hashrate_average));
}

function showResults(status: Status): void {
  for (const verdict of ['accepted', 'rejected', 'stale', 'unknown'] as const) {
    setFigure(verdict, String(status[verdict]), status[verdict] === 0);
  }
  setFigure('to-block', known(status.seconds_to_block, formatDuration));
  setFigure('effort', formatPercent(status.effort));
  const { accepted, expected_blocks: expected } = status;
  setFigure('luck', expected >= 1 ? formatPercent(accepted / expected) : UNKNOWN);
  setFigure('expected', expected.toFixed(1));
  setFigure('best', amount(status.best_difficulty));
  setFigure('hardware-errors', String(status.hardware_errors));
}

function showLatencies({ restart_seconds, answer_seconds, new_cuts }: Status): void {
  for (const [name, spread] of [
    ['restart', restart_seconds],
    ['answer', answer_seconds],
  ] as const) {
    for (const figure of ['p50', 'p99', 'last'] as const)
      setFigure(`${name}-${figure}`, known(spread?.[figure], latency));
  }
  setFigure('new-cuts', String(new_cuts));
}
