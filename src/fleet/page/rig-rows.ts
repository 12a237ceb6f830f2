/** The rigs of a fleet as rows of the table: their columns, filters and orders. Pure. */

import { formatVerdicts } from '../../rig/status/figures.ts';
import {
  formatCelsius,
  formatDuration,
  formatHashrate,
  formatPercent,
  formatWatts,
  inWords,
  withPrefix,
} from '../../rig/status/units.ts';
import type { FleetChanges, RigSummary } from '../operator/fleet-answers.ts';
import { type ShownState, shownState } from '../operator/fleet-figures.ts';

export interface FleetRow {
  readonly rig: RigSummary;
  readonly state: ShownState;
  /** The last request from this page since the rig's last report, in words; null if there is none. */
  readonly asked: string | null;
  readonly faulty: boolean;
  /** Time at which the rig's last report came, by the server's clock, in milliseconds since the UNIX epoch. */
  readonly reportedMs: number;
  /** Proven hashrate ÷ counted hashrate; null if the proven one is not known, or the counted one is 0. */
  readonly provenRatio: number | null;
  /** The text in which the words of the text filter are searched, in lower case. */
  readonly searched: string;
}

function rowOf(rig: RigSummary, nowMs: number): Omit<FleetRow, 'asked'> {
  const { name, group, coordinator, version, stateReason, models, hashesPerSecond, provenHashesPerSecond } = rig;
  return {
    rig,
    state: shownState(rig),
    faulty: !rig.silent && rig.faulty,
    reportedMs: nowMs - rig.ageSeconds * 1000,
    provenRatio:
      provenHashesPerSecond === null || hashesPerSecond <= 0 ? null : provenHashesPerSecond / hashesPerSecond,
    searched: [name, group, coordinator, version, stateReason, ...models].join('\n').toLowerCase(),
  };
}

/* Columns */

type SortKey = number | string | null;

export interface FleetColumn {
  readonly heading: string;
  /** Whether the column has figures. If so, the first click on the heading shows the largest figures first. */
  readonly isFigure: boolean;
  /** @returns the value by which rows are sorted; null if there is none. Such a row comes last in both directions */
  sortKey(row: FleetRow): SortKey;
  /** @returns the text of the cell; null if the value is not known */
  text(row: FleetRow, nowMs: number): string | null;
}

/** @returns the value; null for a silent rig, because its figures are old */
const unlessSilent = (row: FleetRow, value: number | null): number | null => (row.state === 'silent' ? null : value);

function figure(
  heading: string,
  value: (row: FleetRow) => number | null,
  format: (value: number) => string,
): FleetColumn {
  const text = (row: FleetRow) => {
    const one = value(row);
    return one === null ? null : format(one);
  };
  return { heading, isFigure: true, sortKey: value, text };
}

function name(heading: string, value: (row: FleetRow) => string | null): FleetColumn {
  return { heading, isFigure: false, sortKey: value, text: value };
}

/** Columns, by their names in fleet.css and in bookmarks. */
export const FLEET_COLUMNS: Readonly<Record<string, FleetColumn>> = {
  rig: name('rig', ({ rig }) => rig.name),
  group: name('group', ({ rig }) => rig.group),
  state: name('state', ({ asked, state }) => asked ?? inWords(state)),
  hashrate: figure('hashrate', (row) => unlessSilent(row, row.rig.hashesPerSecond), formatHashrate),
  proven: figure(
    'proven',
    (row) => unlessSilent(row, row.provenRatio),
    (ratio) => formatPercent(ratio, 1),
  ),
  temperature: figure('hottest', (row) => unlessSilent(row, row.rig.celsius), formatCelsius),
  power: figure('power', (row) => unlessSilent(row, row.rig.watts), formatWatts),
  verdicts: { ...figure('acc/rej/stale', ({ rig }) => rig.accepted, String), text: ({ rig }) => formatVerdicts(rig) },
  faults: figure('faults', ({ rig }) => rig.faults, String),
  coordinator: name('coordinator', ({ rig }) => rig.coordinator),
  report: {
    heading: 'last report',
    isFigure: true,
    sortKey: ({ reportedMs }) => -reportedMs,
    text: ({ reportedMs }, nowMs) => `${formatAge((nowMs - reportedMs) / 1000)} ago`,
  },
};

/** @returns the rig's problems, in few words; empty without problems */
export function marksOf({ rig, state, faulty }: FleetRow): string {
  const { deviceCount, failedDeviceCount } = rig;
  return [
    rig.duplicate && 'name used twice',
    faulty && failedDeviceCount > 0 && `${failedDeviceCount} of ${deviceCount} failed`,
    state !== 'mining' && state !== 'silent' && rig.stateReason,
  ]
    .filter(Boolean)
    .join(', ');
}

/** @returns the age in its largest unit, such as `7 s`, `5 min` or `3 d`. Minutes and larger units are rounded down */
function formatAge(seconds: number): string {
  const [count, unit] = formatDuration(Math.max(1, Math.round(seconds))).split(' ');
  return `${seconds < 0.5 ? 0 : count} ${unit}`;
}

/** @returns the power with its unit, such as `812 W` or `1.240 MW` */
export const formatPower = (watts: number): string => (watts < 1000 ? formatWatts(watts) : `${withPrefix(watts)}W`);

/* The view: filters and order, in the fragment of the address, so that they can be bookmarked */

/** The choices of the state filter. `problems` means rigs that are faulty, silent or duplicate. */
export const CHOICES = ['all', 'mining', 'paused', 'faulty', 'silent', 'duplicate', 'problems'] as const;
type Choice = (typeof CHOICES)[number];

export interface FleetView {
  readonly text: string;
  /** The name of a group; empty for all groups. */
  readonly group: string;
  readonly choice: Choice;
  /** The name of a column, as in FLEET_COLUMNS. */
  readonly sort: string;
  readonly downwards: boolean;
}

const MOST_TEXT = 200;

export function viewOf(fragment: string): FleetView {
  const given = new URLSearchParams(fragment.replace(/^#/, ''));
  const sort = given.get('sort') ?? '';
  return {
    text: (given.get('text') ?? '').slice(0, MOST_TEXT),
    group: (given.get('group') ?? '').slice(0, MOST_TEXT),
    choice: CHOICES.find((each) => each === given.get('show')) ?? 'all',
    sort: Object.hasOwn(FLEET_COLUMNS, sort) ? sort : 'rig',
    downwards: given.get('order') === 'down',
  };
}

/** @returns the shortest fragment from which `viewOf` reads the view; empty for the initial view */
export function fragmentOf({ text, group, choice, sort, downwards }: FleetView): string {
  const said = new URLSearchParams({
    ...(text !== '' && { text }),
    ...(group !== '' && { group }),
    ...(choice !== 'all' && { show: choice }),
    ...(sort !== 'rig' && { sort }),
    ...(downwards && { order: 'down' }),
  });
  return said.size === 0 ? '' : `#${said}`;
}

function isChosen({ rig, state, faulty }: FleetRow, choice: Choice): boolean {
  if (choice === 'all') return true;
  if (choice === 'faulty') return faulty;
  if (choice === 'duplicate') return rig.duplicate;
  if (choice === 'problems') return faulty || rig.duplicate || state === 'silent';
  return state === choice;
}

/* All rigs, by name */

const IN_ORDER = new Intl.Collator('en', { numeric: true });
/** Gives a fixed order even to names that are equal for the collator. */
const compareTexts = (a: string, b: string): number => IN_ORDER.compare(a, b) || (a < b ? -1 : Number(a > b));

export class FleetRows {
  readonly #rows = new Map<string, FleetRow>();
  /**
   * The position of each name in the order of names. It is kept because the collator is slow and names rarely change.
   */
  #ranks = new Map<string, number>();
  #groups: readonly string[] = [];
  /**
   * The last request from this page to each rig, in words, and its time by the server's clock, in ms since the UNIX
   * epoch. An entry is deleted when the rig has reported after the request, is silent, or is no longer listed.
   */
  readonly #asked = new Map<string, { readonly what: string; readonly askedMs: number }>();

  get size(): number {
    return this.#rows.size;
  }

  /** The names of all groups, in their order. */
  get groups(): readonly string[] {
    return this.#groups;
  }

  get all(): readonly FleetRow[] {
    return [...this.#rows.values()];
  }

  get(rig: string): FleetRow | undefined {
    return this.#rows.get(rig);
  }

  apply({ whole, rigs, goneRigs, timeMillis }: Pick<FleetChanges, 'whole' | 'rigs' | 'goneRigs' | 'timeMillis'>): void {
    if (whole) this.#rows.clear();
    for (const name of goneRigs) this.#rows.delete(name);
    for (const rig of rigs) this.#put(rowOf(rig, timeMillis));
    for (const name of this.#asked.keys()) if (!this.#rows.has(name)) this.#asked.delete(name);
    const isRanked = this.#ranks.size === this.#rows.size && rigs.every(({ name }) => this.#ranks.has(name));
    if (!isRanked || whole) this.#ranks = ranksOf(this.#rows.keys());
    this.#groups = [...new Set([...this.#rows.values()].flatMap(({ rig }) => rig.group ?? []))].sort(compareTexts);
  }

  /**
   * @param what the request in words, such as `asked to pause`
   * @param askedMs the time of the request by the server's clock, in ms since the UNIX epoch
   * @param rigs the names of the rigs that have carried out the request
   */
  noteAsked(what: string, askedMs: number, rigs: readonly string[]): void {
    for (const name of rigs) {
      this.#asked.set(name, { what, askedMs });
      const row = this.#rows.get(name);
      if (row) this.#put(row);
    }
  }

  #put(row: Omit<FleetRow, 'asked'>): void {
    const { name, silent } = row.rig;
    const asked = this.#asked.get(name);
    const isOpen = asked !== undefined && !silent && row.reportedMs < asked.askedMs;
    if (!isOpen) this.#asked.delete(name);
    this.#rows.set(name, { ...row, asked: isOpen ? asked.what : null });
  }

  /** @returns the rows to show, in their order; rows that are equal in the column are ordered by name */
  shown({ text, group, choice, sort, downwards }: FleetView): FleetRow[] {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [...this.#rows.values()].filter(
      (row) =>
        isChosen(row, choice) &&
        (group === '' || row.rig.group === group) &&
        words.every((word) => row.searched.includes(word)),
    );
    const rank = ({ rig }: FleetRow) => this.#ranks.get(rig.name) ?? 0;
    const sign = downwards ? -1 : 1;
    if (sort === 'rig') return rows.sort((a, b) => sign * (rank(a) - rank(b)));
    const keys = numbersOf(rows, FLEET_COLUMNS[sort]);
    return rows.sort((a, b) => {
      const [first, second] = [keys.get(a) ?? null, keys.get(b) ?? null];
      if (first === null || second === null)
        return Number(first === null) - Number(second === null) || rank(a) - rank(b);
      return sign * (first - second) || rank(a) - rank(b);
    });
  }
}

function ranksOf(texts: Iterable<string>): Map<string, number> {
  return new Map([...texts].sort(compareTexts).map((each, at) => [each, at]));
}

/**
 * @returns the sort key of each row as a number, or null. A text is replaced by its position in the order of texts, so
 *   that sorting compares only numbers
 */
function numbersOf(rows: readonly FleetRow[], column: FleetColumn): Map<FleetRow, number | null> {
  const keys = rows.map((row) => column.sortKey(row));
  const ranks = ranksOf(new Set(keys.filter((key) => typeof key === 'string')));
  return new Map(rows.map((row, at) => [row, typeof keys[at] === 'string' ? (ranks.get(keys[at]) ?? null) : keys[at]]));
}
