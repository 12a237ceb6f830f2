/** Key `w`: the workers of relays. Their hashrates are estimated from their shares. */

import type { RelayWorker } from '../events/events.ts';
import { countsShares, shortName } from '../report/figures.ts';
import type { RelayNow, RelaySummary } from '../report/relay-stats.ts';
import { describeOutcomes, describeWorkers, formatDuration, formatHashrate, withPrefix } from '../report/units.ts';
import { oneColumnEach } from '../text/one-line.ts';
import type { View } from './view.ts';

/** Longer names are cut, so that a row fits into the usual 80 to 120 columns. */
const MOST_NAME = 24;

const HEADINGS = ['worker', 'sessions', 'estimated', 'difficulty', 'acc/rej/stale/dup', 'blocks', 'last share'];

export function workers({ now, summary }: View): string[] {
  if (now.relays.size === 0) return ['there are no workers: this rig hands its work on to nobody'];
  return [...now.relays].flatMap(([name, relay]) => relayLines(name, relay, summary.relays[name]));
}

function relayLines(name: string, relay: RelayNow, brought: RelaySummary): string[] {
  const shares = countsShares(undefined, brought.shares) ? `shares: ${describeOutcomes(brought.shares)}; blocks: ` : '';
  return [
    `${oneColumnEach(name)}: ${describeWorkers(relay)}, estimated from shares; sessions ${relay.sessions}`,
    `brought ${shares}${describeOutcomes(brought)}`,
    ...(relay.workers.length === 0 ? ['no worker has connected yet'] : table([HEADINGS, ...relay.workers.map(row)])),
  ];
}

function row(worker: RelayWorker): string[] {
  const { name, sessions, hashesPerSecond, difficulty, lastShareSeconds: last } = worker;
  return [
    oneColumnEach(shortName(name), MOST_NAME),
    String(sessions),
    formatHashrate(hashesPerSecond),
    difficulty === undefined ? '-' : withPrefix(difficulty).trimEnd(),
    `${worker.accepted}/${worker.rejected}/${worker.stale}/${worker.duplicate}`,
    String(worker.blocks),
    last === undefined ? '-' : `${formatDuration(last)} ago`,
  ];
}

/** @param rows of the same length each: names to the left, figures to the right */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((cells) => cells[column].length)));
  return rows.map((cells) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '),
  );
}
