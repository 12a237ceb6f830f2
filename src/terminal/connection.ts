/** Key `c`: the sources, the current work, and how fast a new job follows a New Cut. */

import type { SourceNow } from '../report/source-stats.ts';
import { describePolled, formatDuration, noneYet, withPrefix } from '../report/units.ts';
import { oneLine } from '../text/one-line.ts';
import type { View } from './view.ts';

export function connection({ now, summary, nowMs }: View): string[] {
  const { sources, sourceKind, work } = now;
  const age = (sinceMs: number) => formatDuration((nowMs - sinceMs) / 1000);
  const { newCuts: cuts, switchSeconds: switches } = summary;
  const share = work?.shareDifficulty === undefined ? '' : `, of a share ${plain(work.shareDifficulty)}`;
  return [
    ...(sources.size === 0 ? [`${sourceKind.padEnd(8)} ${noneYet(sourceKind)}`] : []),
    ...[...sources].flatMap(([name, source]) => sourceLines(name, source, age(source.sinceMs))),
    work
      ? `work     chain ${work.chain} height ${work.height} difficulty ${plain(work.difficulty)}${share}, ${age(work.sinceMs)} old`
      : 'work     none yet',
    `New Cuts ${cuts}${switches ? `; New Cut → new job: median ${inMs(switches.p50)}, 99th percentile ${inMs(switches.p99)}, last ${inMs(switches.last)}` : ''}`,
  ];
}

function sourceLines(name: string, source: SourceNow, age: string): string[] {
  const { kind, state, reason, losses, warning, polledChains } = source;
  const lost = losses === 0 ? 'never lost' : `lost ${losses} ${losses === 1 ? 'time' : 'times'}`;
  return [
    `${kind.padEnd(8)} ${name}`,
    `         ${state} for ${age}, ${lost}`,
    ...(state === 'lost' || state === 'unhealthy' ? [`         ${oneLine(reason)}`] : []),
    ...(polledChains.length === 0 ? [] : [`         ${describePolled(polledChains)}`]),
    ...(warning === undefined ? [] : [`         warning: ${oneLine(warning)}`]),
  ];
}

function plain(difficulty: number): string {
  return withPrefix(difficulty).trimEnd();
}

function inMs(seconds: number): string {
  return `${(1000 * seconds).toFixed(1)} ms`;
}
