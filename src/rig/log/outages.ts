/** Logs an outage repeatedly while it lasts, and once when it is over. */

import type { Logger } from 'pino';
import { LEFT, type SourceKind } from '../../miner/events/vocabulary.ts';
import type { RigState, RigStatus } from '../status/status.ts';
import type { Tally } from '../status/tally.ts';
import { describeState, formatDuration } from '../status/units.ts';

/** Time between two checks of the rig's state. */
export const OUTAGE_LOOK_MS = 1_000;
/** Time after which an outage is logged. For a shorter outage, only the events at its start and end are logged. */
const FIRST_MS = 10_000;
const AGAIN_MS = 60_000;

type Trouble = Exclude<RigState, 'mining'>;

function whatIsWrong(name: Trouble, sourceKind: SourceKind): string {
  if (name === 'waiting-for-work') return 'no work';
  return name === 'no-device' ? 'no device mines' : describeState(name, sourceKind);
}

/** The states whose lines are no warning: the rig is starting, or somebody has paused it. */
const QUIET: ReadonlySet<RigState> = new Set(['starting', 'paused']);

type State = Pick<RigStatus, 'state' | 'sourceKind' | 'stateReason' | 'stateAgeSeconds'>;

/** @returns `no node for 2 min`; undefined while the rig mines */
export function outageInShort({ state, sourceKind, stateAgeSeconds }: State): string | undefined {
  if (state === 'mining') return undefined;
  const what = whatIsWrong(state, sourceKind);
  const seconds = wholeSeconds(stateAgeSeconds);
  return seconds === 0 ? what : `${what} for ${formatDuration(seconds)}`;
}

/** @returns `no node for 2 min (nothing listens there), retrying`; undefined while the rig mines */
export function outageInFull(status: State): string | undefined {
  const { state, sourceKind, stateReason: reason } = status;
  if (state === 'mining') return undefined;
  // Nodes and pools are tried again unless they were left for good. Parents connect by themselves.
  const isLeft = reason?.split('; ').every((each) => each.endsWith(LEFT));
  const isRetried = state === 'no-source' && sourceKind !== 'parent' && !isLeft;
  return `${outageInShort(status)} (${reason})${isRetried ? ', retrying' : ''}`;
}

/** @returns whole seconds, rounded down to whole minutes from one minute on */
function wholeSeconds(age: number): number {
  const seconds = Math.floor(age);
  return seconds < 60 ? seconds : seconds - (seconds % 60);
}

export class Outages {
  readonly #log: Logger;
  readonly #tally: Tally;
  /** The troubles of the present outage, in order; empty while the rig mines. */
  readonly #troubles = new Set<string>();
  /** Start of the present outage. `#loggedMs` is the time of its last log line; undefined before the first. */
  #sinceMs = 0;
  #loggedMs: number | undefined;
  #hasMined = false;

  constructor(log: Logger, tally: Tally) {
    this.#log = log;
    this.#tally = tally;
  }

  /** Call this every `OUTAGE_LOOK_MS`. */
  look(): void {
    const status = this.#tally.status();
    const { nowMs } = this.#tally;
    if (status.state === 'mining') this.#over(nowMs);
    else this.#goesOn(status, status.state, nowMs);
  }

  #goesOn(status: State, name: Trouble, nowMs: number): void {
    if (this.#troubles.size === 0) this.#sinceMs = nowMs - Math.round(1000 * status.stateAgeSeconds);
    this.#troubles.add(whatIsWrong(name, status.sourceKind));
    const dueMs = this.#loggedMs === undefined ? this.#sinceMs + FIRST_MS : this.#loggedMs + AGAIN_MS;
    if (nowMs < dueMs) return;
    this.#loggedMs = nowMs;
    this.#log[QUIET.has(name) ? 'info' : 'warn']({ tag: 'miner' }, outageInFull(status) ?? '');
  }

  #over(nowMs: number): void {
    if (this.#loggedMs !== undefined) {
      const what = [...this.#troubles].join(', then ');
      const took = formatDuration(Math.round((nowMs - this.#sinceMs) / 1000));
      this.#log.info({ tag: 'miner' }, `mining${this.#hasMined ? ' again' : ''} after ${took} (${what})`);
    }
    this.#hasMined = true;
    this.#troubles.clear();
    this.#loggedMs = undefined;
  }
}
