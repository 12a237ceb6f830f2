/** What sources use from outside, with its defaults. */

import type { Listener } from '../events/events.ts';
import { type Clock, systemClock } from '../system/clock.ts';

/** Everything that a source uses from outside. Each has a default. */
export interface SourceSurroundings<Limits> {
  readonly clock?: Clock;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random?: () => number;
  readonly emit?: Listener;
  readonly limits?: Partial<Limits>;
}

/** @param usual the limits, where none are given */
export function complete<Limits>(given: SourceSurroundings<Limits>, usual: Limits) {
  const { clock = systemClock, random = Math.random, emit = () => {}, limits } = given;
  return { clock, random, emit, limits: { ...usual, ...limits } };
}
