/** Shows the totals of a fleet and its coordinators. */

import { plural } from '../../base/text/quantities.ts';
import { byId, type Named, setAttribute, setFigure, setText, tableOfNamed } from '../../rig/page/dom.ts';
import { hashrate, known } from '../../rig/page/format.ts';
import {
  formatCelsius,
  formatChance,
  formatDuration,
  formatEfficiency,
  formatPercent,
} from '../../rig/status/units.ts';
import type { FleetChanges } from '../operator/fleet-answers.ts';
import type { FleetCoordinator } from '../operator/fleet-status.ts';
import { type FleetRow, type FleetRows, formatPower } from './rig-rows.ts';

export type Totals = Omit<FleetChanges, 'rigs' | 'goneRigs'>;

/** Time in which each rig reports once. In this time after a new connection, some rigs may be missing. */
const REPORT_SECONDS = 10;

export function showTotals(totals: Totals, rows: FleetRows): void {
  const { disconnected, hashesPerSecond, provenHashesPerSecond, version, listeningSeconds, repeats } = totals;
  setAttribute(byId('state'), 'data-state', disconnected === null ? 'connected' : 'disconnected');
  setText(byId('state-text'), disconnected === null ? 'connected' : 'not connected');
  setText(byId('state-age'), disconnected === null ? `for ${formatDuration(listeningSeconds)}` : '');
  byId('disconnected').hidden = disconnected === null;
  setText(
    byId('disconnected'),
    disconnected === null
      ? ''
      : `There is no connection to a NATS server: ${disconnected}. No reports of the rigs arrive.`,
  );
  setText(byId('about'), `pickaxe ${version}`);
  const title = `${hashrate(hashesPerSecond)} · ${totals.rigsMining} of ${plural(rows.size, 'rig')} · pickaxe fleet`;
  if (document.title !== title) document.title = title;

  setFigure('hashrate', hashrate(hashesPerSecond));
  setText(byId('hashrate-about'), 'over 30 s');
  setFigure('proven', hashrate(provenHashesPerSecond));
  const responsive = rows.all.filter(({ state }) => state !== 'silent');
  const watts = sum(responsive.flatMap((row) => row.rig.watts ?? []));
  // In the efficiency, rigs without a power sensor count neither in the power nor in the hashrate.
  const measured = sum(responsive.flatMap((row) => (row.rig.watts === null ? [] : row.rig.hashesPerSecond)));
  setFigure('power', watts === 0 ? known(null, String) : formatPower(watts));
  setFigure('efficiency', known(watts === 0 ? null : measured / watts, formatEfficiency));
  const hottest = responsive.reduce<FleetRow | undefined>(
    (a, b) => ((b.rig.celsius ?? -Infinity) > (a?.rig.celsius ?? -Infinity) ? b : a),
    undefined,
  );
  setFigure('hottest', known(hottest?.rig.celsius, formatCelsius));
  const degrees = responsive.flatMap(({ rig }) => rig.celsius ?? []);
  setFigure('mean-temperature', known(degrees.length === 0 ? null : sum(degrees) / degrees.length, formatCelsius));
  setFigure(
    'repeats',
    known(repeats?.ratio, (ratio) => (ratio === 0 ? formatPercent(0) : formatChance(ratio))),
  );
  for (const count of ['rigsMining', 'rigsPaused', 'rigsFaulty', 'rigsSilent'] as const)
    setFigure(count, String(totals[count]), totals[count] === 0);
  for (const count of ['found', 'accepted', 'rejected', 'stale', 'unknown', 'pending'] as const)
    setFigure(count, String(totals[count]));
  setText(byId('notes'), notesOf(totals).join(' '));
}

function sum(values: readonly number[]): number {
  return values.reduce((all, each) => all + each, 0);
}

function notesOf({ disconnected, listeningSeconds, ignored, control }: Totals): string[] {
  const { malformed, tooFast, tooManyMembers } = ignored;
  return [
    disconnected === null &&
      listeningSeconds < REPORT_SECONDS &&
      'Each rig reports once in 10 s, so some may be missing yet.',
    malformed > 0 && `${plural(malformed, 'message')} could not be read.`,
    tooFast > 0 && `${plural(tooFast, 'message')} came too fast and ${tooFast === 1 ? 'was' : 'were'} ignored.`,
    tooManyMembers > 0 && `${plural(tooManyMembers, 'message')} of further rigs found no room.`,
    !control && 'Rigs can be controlled here if pickaxe fleet is started with --http-control.',
  ].filter((note) => note !== false);
}

/**
 * @returns announcements for screen readers, about changes of the numbers of faulty, silent and paused rigs, and of the
 *   coordinators' states. Figures that change all the time are not announced
 */
export function newsOf(before: Totals, now: Totals): string[] {
  const counts = (
    [
      ['rigsFaulty', 'faulty'],
      ['rigsSilent', 'silent'],
      ['rigsPaused', 'paused'],
    ] as const
  ).filter(([count]) => before[count] !== now[count]);
  const states = new Map(before.coordinators.map((each) => [each.name, stateOf(each)]));
  const changed = now.coordinators.filter((each) => states.get(each.name) !== stateOf(each));
  return [
    ...counts.map(([count, what]) => `${plural(now[count], 'rig')} ${now[count] === 1 ? 'is' : 'are'} ${what}`),
    ...changed.map((each) => `the coordinator ${each.name} is ${stateOf(each)}`),
  ];
}

/* The coordinators */

function stateOf({ silent, lost }: FleetCoordinator): 'silent' | 'lost' | 'connected' {
  return silent ? 'silent' : lost === null ? 'connected' : 'lost';
}

const FIGURES: Readonly<Record<string, (coordinator: FleetCoordinator) => string>> = {
  work: ({ chain, height }) =>
    chain === null || height === null ? known(null, String) : `chain ${chain}, height ${height}`,
  'age of the work': ({ workAgeSeconds }) => known(workAgeSeconds, formatDuration),
  rigs: ({ rigs }) => String(rigs),
  hashrate: ({ hashesPerSecond }) => hashrate(hashesPerSecond),
  'last state': ({ ageSeconds }) => `${formatDuration(ageSeconds)} ago`,
};

export class Coordinators {
  readonly #rows = tableOfNamed(byId('coordinator-table'), 'coordinator', FIGURES, describe);

  show({ coordinators }: Totals): void {
    byId('no-coordinators').hidden = coordinators.length > 0;
    byId('coordinator-table').hidden = coordinators.length === 0;
    this.#rows.show(coordinators.map((each) => [each.name, each]));
  }
}

function describe(coordinator: FleetCoordinator): Named {
  const reasons = [coordinator.lost, coordinator.duplicate ? 'two coordinators have this name' : null];
  return {
    about: `pickaxe ${coordinator.version}`,
    state: stateOf(coordinator),
    reason: reasons.filter(Boolean).join('; '),
  };
}
