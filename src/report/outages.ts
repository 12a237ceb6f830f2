/** Says in the log, again and again, what keeps the rig from mining and for how long, and when that is over. */

import type { Logger } from 'pino';
import { LEFT, type SourceKind } from '../source/vocabulary.ts';
import type { RigStateName } from './figures.ts';
import { type RigState, rigState } from './rig-state.ts';
import type { Tally } from './tally.ts';
import { describeState, formatDuration } from './units.ts';

/** How often the rig's state is checked. */
export const OUTAGE_LOOK_MS = 1_000;
/** A shorter outage is not logged: the events that began and ended it are in the log anyway. */
const FIRST_MS = 10_000;
const AGAIN_MS = 60_000;

type Trouble = Exclude<RigStateName, 'mining'>;

/** What is wrong, as it is logged. */
function whatIsWrong(name: Trouble, sourceKind: SourceKind): string {
  if (name === 'waiting-for-work') return 'no work';
  return name === 'no-device' ? 'no device mines' : describeState(name, sourceKind);
}

/** Nothing is wrong while a rig starts, or is paused because somebody wants it to be. */
const QUIET: ReadonlySet<RigStateName> = new Set(['starting', 'paused']);

/** @returns `no node for 2 min`; undefined while the rig mines */
export function outageInShort({ name, sourceKind, sinceMs }: RigState, nowMs: number): string | undefined {
  if (name === 'mining') return undefined;
  const what = whatIsWrong(name, sourceKind);
  const seconds = wholeSeconds(nowMs - sinceMs);
  return seconds === 0 ? what : `${what} for ${formatDuration(seconds)}`;
}

/** @returns `no node for 2 min (nothing listens there), retrying`; undefined while the rig mines */
export function outageInFull(state: RigState, nowMs: number): string | undefined {
  const { name, sourceKind, reason } = state;
  if (name === 'mining') return undefined;
  // Nodes and pools are called again and again; parents come by themselves, and what was left for good is not tried.
  const isLeft = reason.split('; ').every((each) => each.endsWith(LEFT));
  const isRetried = name === 'no-source' && sourceKind !== 'parent' && !isLeft;
  return `${outageInShort(state, nowMs)} (${reason})${isRetried ? ', retrying' : ''}`;
}

/** Beyond a minute, whole minutes are exact enough. */
function wholeSeconds(ms: number): number {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? seconds : seconds - (seconds % 60);
}

export class Outages {
  readonly #log: Logger;
  readonly #tally: Tally;
  /** What the present outage has been so far, in order; empty while the rig mines. */
  readonly #troubles = new Set<string>();
  /** When the present outage began, and when it was last logged, if it was. */
  #sinceMs = 0;
  #loggedMs: number | undefined;
  #hasMined = false;

  constructor(log: Logger, tally: Tally) {
    this.#log = log;
    this.#tally = tally;
  }

  /** To be called every `OUTAGE_LOOK_MS`. */
  look(): void {
    const now = this.#tally.now();
    const state = rigState(now);
    if (state.name === 'mining') this.#over(now.nowMs);
    else this.#goesOn(state, state.name, now.nowMs);
  }

  #goesOn(state: RigState, name: Trouble, nowMs: number): void {
    if (this.#troubles.size === 0) this.#sinceMs = state.sinceMs;
    this.#troubles.add(whatIsWrong(name, state.sourceKind));
    const dueMs = this.#loggedMs === undefined ? this.#sinceMs + FIRST_MS : this.#loggedMs + AGAIN_MS;
    if (nowMs < dueMs) return;
    this.#loggedMs = nowMs;
    this.#log[QUIET.has(name) ? 'info' : 'warn']({ tag: 'miner' }, outageInFull(state, nowMs) ?? '');
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
