/** A running miner for tests of guards, with vitest's fake timers. */

import { type Logger, pino } from 'pino';
import { systemClock } from '#pickaxe/base/system/clock.js';
import type { PauseReason } from '#pickaxe/miner/events/events.js';

export interface Said {
  readonly level: string;
  readonly msg: string;
}

/** @returns a logger, and the messages that it received */
export function listeningLog(): { log: Logger; said: Said[] } {
  const said: Said[] = [];
  const formatters = { level: (level: string) => ({ level }) };
  const options = { level: 'debug', base: null, timestamp: false, formatters };
  const write = (line: string) => {
    const { level, msg } = JSON.parse(line);
    said.push({ level, msg });
  };
  return { log: pino(options, { write }), said };
}

/** Remembers which pauses are in effect, and why. */
export function guarded() {
  const rests = new Map<PauseReason, string>();
  const controls = {
    pause: (reason: PauseReason, why: string) => {
      rests.set(reason, why);
      return true;
    },
    resume: (reason: PauseReason) => {
      rests.delete(reason);
      return true;
    },
    stop: () => {},
  };
  const clock = { ...systemClock, nowUs: () => BigInt(Date.now()) * 1000n, monotonicMs: () => performance.now() };
  return { rests, controls, clock, ...listeningLog() };
}
