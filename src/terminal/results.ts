/** Key `s`: verdicts, luck and effort. */

import { countsShares, livesOnRelays, luckOf } from '../report/figures.ts';
import {
  approximately,
  describeAcceptedBlocks,
  describeChance,
  describeCoins,
  describeOutcomes,
  describePowerCost,
  formatDuration,
  formatHashrate,
  formatPercent,
  withPrefix,
} from '../report/units.ts';
import type { View } from './view.ts';

export function results(view: View): string[] {
  const { now, summary } = view;
  const { accepted, rejected, stale, unknown, delivered, acceptedBlocks: became } = summary;
  const rare = delivered > 0 ? `, delivered ${delivered}` : '';
  const verdicts = countsShares(now.work, summary.shares)
    ? [...shares(view), `blocks   ${describeOutcomes(summary)}`]
    : [`accepted ${accepted}, rejected ${rejected}, stale ${stale}, unknown ${unknown}${rare}`];
  const fates = became ? [`became   ${describeAcceptedBlocks(became)}`] : [];
  return [...verdicts, ...fates, ...(livesOnRelays(now) ? [] : effort(view)), ...blocks(view), ...earnings(view)];
}

/** What shows that a rig on a pool works. */
function shares({ now, summary, nowMs }: View): string[] {
  const { work, lastShareMs, provenHashesPerSecond, timeToShareSeconds } = now;
  const takes = work?.shareDifficulty === undefined ? '' : `takes ${plain(work.shareDifficulty)} hashes, `;
  const last =
    lastShareMs === undefined ? 'none yet' : `the last one ${formatDuration((nowMs - lastShareMs) / 1000)} ago`;
  return [
    `shares   ${describeOutcomes(summary.shares)}; the accepted ones stand for ${plain(summary.shares.acceptedHashes)} hashes`,
    `share    ${takes}${inTime(timeToShareSeconds)}; ${last}`,
    ...(livesOnRelays(now)
      ? []
      : [`proven   ${formatHashrate(provenHashesPerSecond)} over 15 min, by verified candidates`]),
  ];
}

/** They are the devices' own. */
function effort({ now, summary }: View): string[] {
  const { expectedBlocks, bestDifficulty } = summary;
  const luck = luckOf(summary);
  return [
    `luck     ${luck === undefined ? 'not known yet' : formatPercent(luck)}: ${expectedBlocks.toFixed(1)} blocks expected`,
    `effort   ${formatPercent(now.effort)} of what a block takes on average, since the last block`,
    `best     difficulty ${plain(bestDifficulty)}${now.work ? `; a block takes ${plain(now.work.difficulty)}` : ''}`,
  ];
}

function blocks({ now, summary, nowMs }: View): string[] {
  const { lastBlockMs, timeToBlockSeconds } = now;
  const what = countsShares(now.work, summary.shares) ? 'a block ' : '';
  return [
    `last     ${lastBlockMs === undefined ? 'no block yet' : `${what}${formatDuration((nowMs - lastBlockMs) / 1000)} ago`}`,
    `next     ${what}${inTime(timeToBlockSeconds)}`,
  ];
}

/** On average, if nothing changes. A rig that mines for another process earns nothing by itself. */
function earnings({ now }: View): string[] {
  const { earnings, sourceKind } = now;
  if (sourceKind === 'parent') return [];
  const power = describePowerCost(earnings, !livesOnRelays(now));
  return [
    `earns    ${describeCoins(earnings)}`,
    ...(earnings.blocksPerDay === undefined ? [] : [`chance   ${describeChance(earnings)}`]),
    ...(power === '' ? [] : [`power    ${power}`]),
  ];
}

function inTime(seconds: number | undefined): string {
  return seconds === undefined ? 'not known yet' : `in ${approximately(formatDuration(seconds))}, on average`;
}

function plain(difficulty: number): string {
  return withPrefix(difficulty).trimEnd();
}
