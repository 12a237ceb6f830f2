import { type Clock, systemClock } from '#pickaxe/base/system/clock.js';

/** A monotonic clock that stands still unless a test sets it forward. */
export class StillClock implements Clock {
  readonly setTimeout = systemClock.setTimeout;
  readonly setInterval = systemClock.setInterval;
  readonly setImmediate = systemClock.setImmediate;
  ms = systemClock.monotonicMs();
  nowUs = () => systemClock.nowUs();
  monotonicMs = () => this.ms;
}
