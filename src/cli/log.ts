/** The log: pino on stderr, readable on a terminal, JSON lines elsewhere. stdout belongs to results. */

import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from '../config/settings.ts';
import type { EngineListener } from '../engine/engine.ts';

export type LogLevel = Config['log']['level'];
export type LogFormat = Config['log']['format'];

const STDERR = 2;

/** Written synchronously, so that the last lines are out before the process ends. */
export function makeLog(level: LogLevel, format: LogFormat): Logger {
  const readable = format === 'text' || (format === 'auto' && process.stderr.isTTY === true);
  const options = { level, base: null };
  if (!readable) return pino(options, pino.destination({ fd: STDERR, sync: true }));
  const stream = pretty({
    destination: STDERR,
    sync: true,
    colorize: process.stderr.isTTY === true && !process.env.NO_COLOR,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'tag,level',
    messageFormat: (entry, messageKey) => `${String(entry.tag ?? '').padEnd(5)} ${entry[messageKey]}`,
  });
  return pino(options, stream);
}

/** Logs what opening an engine does while it takes its time, each step once. */
export function progressTo(log: Logger, tag: string): EngineListener {
  let said: string | undefined;
  return {
    progress(what) {
      if (what !== said) log.info({ tag }, what);
      said = what;
    },
  };
}
