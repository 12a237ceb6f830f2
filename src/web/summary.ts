/** The rig as a whole: what it does, how fast, and what became of its solutions. */

import type { Status } from '../report/http/schemas.ts';
import { formatDuration, formatPercent } from '../report/units.ts';
import { byId, setAttribute, setFigure, setText } from './dom.ts';
import { amount, hashrate, known, latency, UNKNOWN } from './format.ts';

export function showSummary(status: Status): void {
  const { rig, state, state_reason, state_age_seconds, version, uptime_seconds } = status;
  setAttribute(byId('state'), 'data-state', state);
  setText(byId('state-text'), state);
  setText(byId('state-age'), `for ${formatDuration(state_age_seconds)}`);
  setText(byId('state-reason'), state_reason ?? '');
  byId('state-reason').hidden = state_reason === null;
  setText(byId('about'), `${rig}: pickaxe ${version}, started ${formatDuration(uptime_seconds)} ago`);
  const title = `${state === 'mining' ? hashrate(status.hashrate) : state} · ${rig} · pickaxe`;
  if (document.title !== title) document.title = title;
  showHashrate(status);
  showResults(status);
  showLatencies(status);
}

function showHashrate({ devices, hashrate: now, windows, highest, hashrate_average }: Status): void {
  const ready = Object.values(devices).some(({ state }) => state === 'ready');
  setFigure('hashrate', hashrate(ready ? now : null));
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

function showLatencies({ restart_seconds: switch_seconds, answer_seconds, new_cuts }: Status): void {
  for (const [name, spread] of [
    ['switch', switch_seconds],
    ['answer', answer_seconds],
  ] as const) {
    for (const figure of ['p50', 'p99', 'last'] as const)
      setFigure(`${name}-${figure}`, known(spread?.[figure], latency));
  }
  setFigure('new-cuts', String(new_cuts));
}
