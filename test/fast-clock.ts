/** A clock that runs a thousand times as fast as the machine's. */

import { type Clock, systemClock } from '#pickaxe/base/system/clock.js';

const FACTOR = 1_000;

export function fastClock(): Clock {
  const [beganUs, beganMs] = [systemClock.nowUs(), systemClock.monotonicMs()];
  const passedMs = () => (systemClock.monotonicMs() - beganMs) * FACTOR;
  return {
    nowUs: () => beganUs + BigInt(Math.floor(passedMs() * 1_000)),
    monotonicMs: () => beganMs + passedMs(),
    setTimeout: (act, ms) => systemClock.setTimeout(act, ms / FACTOR),
    setInterval: (act, ms) => systemClock.setInterval(act, ms / FACTOR),
    setImmediate: systemClock.setImmediate,
  };
}
