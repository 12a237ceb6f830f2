/** Key `s`: verdicts, luck and effort. */

import { formatDuration, formatPercent, withPrefix } from '../report/units.ts';
import { luckOf, type View } from './view.ts';

export function results({ now, summary, nowMs }: View): string[] {
  const { accepted, rejected, stale, unknown, expectedBlocks: expected, bestDifficulty: best } = summary;
  const luck = luckOf(summary);
  const { work, effort, lastBlockMs, timeToBlockSeconds } = now;
  return [
    `accepted ${accepted}, rejected ${rejected}, stale ${stale}, unknown ${unknown}`,
    `luck     ${luck === undefined ? 'not known yet' : formatPercent(luck)}: ${expected.toFixed(1)} blocks expected`,
    `effort   ${formatPercent(effort)} of what a block takes on average, since the last block`,
    `best     difficulty ${plain(best)}${work ? `; a block takes ${plain(work.difficulty)}` : ''}`,
    `last     ${lastBlockMs === undefined ? 'no block yet' : `${formatDuration((nowMs - lastBlockMs) / 1000)} ago`}`,
    `next     ${timeToBlockSeconds === undefined ? 'not known yet' : `in ~${formatDuration(timeToBlockSeconds)}, on average`}`,
  ];
}

function plain(difficulty: number): string {
  return withPrefix(difficulty).trimEnd();
}
