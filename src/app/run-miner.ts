/** Runs a miner to its end: reporters, signals, bounds and the exit code. Shared by `mine` and `demo`. */

import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import type { Config } from '../config/settings.ts';
import type { Engine } from '../engine/engine.ts';
import type { Controls } from '../events/controls.ts';
import type { Events } from '../events/events.ts';
import { Miner } from '../mine/miner.ts';
import type { TemperatureLimits } from '../mine/thermal-guard.ts';
import { JsonLines } from '../report/json-lines.ts';
import { LogLines } from '../report/log-lines.ts';
import type { LogTail } from '../report/log-tail.ts';
import { OUTAGE_LOOK_MS, Outages } from '../report/outages.ts';
import type { RunningMiner } from '../report/running-miner.ts';
import { Tally } from '../report/tally.ts';
import type { WorkSource } from '../source/source.ts';
import { systemClock } from '../system/clock.ts';
import { setLongTimeout } from '../system/long-timeout.ts';
import { screen } from '../terminal/screen.ts';
import { writeLine } from '../terminal/write-line.ts';
import { EXIT } from './exit-codes.ts';

/** The first speed line comes early, so that a newcomer sees that it works; then one every ten seconds. */
const FIRST_REPORT_MS = 2_000;
const REPORT_MS = 10_000;
/** Beside a status line, speed lines are there to scroll back to: one in a minute. */
const REPORTS_BESIDE_STATUS = 6;

export interface Rig {
  readonly events: Events;
  readonly source: WorkSource;
  readonly engines: readonly Engine[];
  readonly log: Logger;
  /** What was logged last, from the start of the process on. */
  readonly logTail: LogTail;
  /** Asked again and again; left out, no device rests. */
  readonly temperatureLimits?: () => TemperatureLimits | undefined;
  readonly companions?: readonly Companion[];
}

/**
 * Runs beside the miner: a status line, an HTTP API, a watch over the battery. It is started before the first device opens.
 * @returns what ends it, once the miner has come to its end
 * @throws UsageError when it cannot do what was asked for
 */
export type Companion = (miner: RunningMiner) => Promise<() => void | Promise<void>>;

/** @returns the exit code */
export async function runMiner(rig: Rig, { json, blocks, duration }: Omit<Config['run'], 'status'>): Promise<number> {
  const { events, source, engines, log, logTail, temperatureLimits, companions = [] } = rig;
  const clock = systemClock;
  const tally = new Tally(clock, engines);
  const outages = new Outages(log, tally);
  const logLines = new LogLines(log, tally);
  const jsonLines = json ? new JsonLines((line) => writeLine(process.stdout, line), clock) : undefined;
  const outcome = { wrongHashes: false, interrupted: false };

  events.on(tally.listen);
  if (jsonLines) events.on(jsonLines.listen);
  events.on(logLines.listen);
  events.on((event) => {
    if (event.event === 'device' && event.fault === 'wrong hashes') outcome.wrongHashes = true;
  });

  let reports = 0;
  const report = () => {
    if (!screen.showsLine || reports % REPORTS_BESIDE_STATUS === 0) logLines.speed();
    reports++;
    jsonLines?.hashrate(tally);
  };
  const random = (below: number) => randomInt(below);
  const miner = new Miner({ source, engines, emit: events.emit, clock, random, temperatureLimits });
  const controls: Controls = {
    pause: (...asked) => miner.pause(...asked),
    resume: (...asked) => miner.resume(...asked),
    stop: () => {
      outcome.interrupted = true;
      miner.stop();
    },
  };
  events.on((event) => {
    if (event.event === 'verdict' && blocks !== undefined && tally.accepted >= blocks) miner.stop();
  });
  const timers = [
    setTimeout(report, FIRST_REPORT_MS),
    setInterval(report, REPORT_MS),
    setInterval(() => outages.look(), OUTAGE_LOOK_MS),
  ];
  const cancelEnd = duration === undefined ? undefined : setLongTimeout(() => miner.stop(), duration * 1000);
  const release = onSignals(() => {
    log.info({ tag: 'miner' }, 'stopping; once more to exit at once');
    controls.stop();
  });

  const ends: Awaited<ReturnType<Companion>>[] = [];
  try {
    for (const start of companions) ends.push(await start({ controls, events, tally, clock, log, logTail }));
    await miner.run();
  } finally {
    for (const end of ends.reverse()) {
      try {
        await end();
      } catch (fault) {
        log.error({ tag: 'miner' }, `what ran beside it did not end well: ${(fault as Error).message}`);
      }
    }
    for (const timer of timers) clearTimeout(timer);
    cancelEnd?.();
    release();
  }

  if (tally.devices().size > 0) jsonLines?.hashrate(tally);
  logLines.summary();
  jsonLines?.summary(tally.summary());

  if (outcome.interrupted) return EXIT.done;
  if (outcome.wrongHashes) return EXIT.wrongHashes;
  const { devices, work } = tally.now();
  if ([...devices.values()].every(({ state }) => state === 'parked')) return EXIT.noDevice;
  return work ? EXIT.done : EXIT.noWork;
}

/** Ctrl-C, a service manager, and a terminal that is closed. */
const STOPS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls `stop` at the first of those signals and ends the process at the second. @returns what undoes it */
export function onSignals(stop: () => void): () => void {
  let asked = false;
  const handle = () => {
    if (asked) process.exit(EXIT.interrupted);
    asked = true;
    stop();
  };
  for (const signal of STOPS) process.on(signal, handle);
  return () => {
    for (const signal of STOPS) process.off(signal, handle);
  };
}
