/** Logs an outage after ten seconds, again each minute while it lasts, and once when it is over. */

import type { Logger } from 'pino';
import { LEFT, type SourceKind } from '../../miner/events/vocabulary.ts';
import type { StateStatus } from '../status/rig-state.ts';
import type { RigState } from '../status/status.ts';
import type { Tally } from '../status/tally.ts';
import { describeState, formatDuration } from '../status/units.ts';

/** Time between two calls of `Outages.look`. */
export const OUTAGE_LOOK_MS = 1_000;
/** Time after which an outage is logged. Of a shorter outage, the log shows only the events at its start and end. */
const FIRST_MS = 10_000;
/** Time between two lines about the same outage. */
const AGAIN_MS = 60_000;

type Trouble = Exclude<RigState, 'mining'>;

function whatIsWrong(name: Trouble, sourceKind: SourceKind): string {
  if (name === 'waiting-for-work') return 'no work';
  return name === 'no-device' ? 'no device mines' : describeState(name, sourceKind);
}

/** States without a fault. They are logged at the level info, and all other states as warnings. */
const QUIET: ReadonlySet<RigState> = new Set(['starting', 'paused']);

/** @returns `no node for 2 min`, or `no node` in the first second; undefined while the rig mines */
export function outageInShort({ state, sourceKind, stateAgeSeconds }: StateStatus): string | undefined {
  if (state === 'mining') return undefined;
  const what = whatIsWrong(state, sourceKind);
  const seconds = wholeSeconds(stateAgeSeconds);
  return seconds === 0 ? what : `${what} for ${formatDuration(seconds)}`;
}

/** @returns `no node for 2 min (nothing listens there), retrying`; undefined while the rig mines */
export function outageInFull(status: StateStatus): string | undefined {
  const { state, sourceKind, stateReason: reason } = status;
  if (state === 'mining') return undefined;
  // A parent connects by itself. All other sources are tried again, unless their reason ends with `LEFT`.
  const isLeft = reason?.split('; ').every((each) => each.endsWith(LEFT));
  const isRetried = state === 'no-source' && sourceKind !== 'parent' && !isLeft;
  return `${outageInShort(status)} (${reason})${isRetried ? ', retrying' : ''}`;
}

/** @returns the age in seconds, rounded down to a whole second or, if it is at least a minute, to a whole minute */
function wholeSeconds(age: number): number {
  const seconds = Math.floor(age);
  return seconds < 60 ? seconds : seconds - (seconds % 60);
}

export class Outages {
  readonly #log: Logger;
  readonly #tally: Tally;
  /** What has been wrong during the present outage, in the order of first occurrence; empty while the rig mines. */
  readonly #troubles = new Set<string>();
  /** Start of the present outage, in ms of the clock's `monotonicMs`. */
  #sinceMs = 0;
  /** Time of the last line about the present outage; undefined before the first line. */
  #loggedMs: number | undefined;
  #hasMined = false;

  constructor(log: Logger, tally: Tally) {
    this.#log = log;
    this.#tally = tally;
  }

  /** Checks the rig's state, and logs a line if one is due. Call this every `OUTAGE_LOOK_MS`. */
  look(): void {
    const status = this.#tally.state();
    const { nowMs } = this.#tally;
    if (status.state === 'mining') this.#over(nowMs);
    else this.#goesOn(status, status.state, nowMs);
  }

  #goesOn(status: StateStatus, name: Trouble, nowMs: number): void {
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
