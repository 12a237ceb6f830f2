/** The log: pino on stderr, readable on a terminal, JSON lines elsewhere. stdout belongs to results. */

import { type DestinationStream, type Logger, multistream, pino } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from '../config/settings.ts';
import type { EngineListener } from '../engine/engine.ts';
import { screen } from './screen.ts';
import { terminalKind } from './terminal-kind.ts';

export type LogLevel = Config['log']['level'];
export type LogFormat = Config['log']['format'];

const STDERR = 2;

/** Lines for people: the time, a tag, and what is said. */
const READABLE: pretty.PrettyOptions = {
  translateTime: 'SYS:HH:MM:ss.l',
  ignore: 'tag,level',
  messageFormat: (entry, messageKey) => `${String(entry.tag ?? '').padEnd(5)} ${entry[messageKey]}`,
};
/** In a file, where lines of many days stand, and colours are noise. */
const READABLE_FILE: pretty.PrettyOptions = {
  ...READABLE,
  translateTime: 'SYS:yyyy-mm-dd HH:MM:ss.l',
  ignore: 'tag',
  colorize: false,
};

/**
 * Written synchronously, so that the last lines are out before the process ends.
 * @param file takes each line, too
 */
export function makeLog(level: LogLevel, format: LogFormat, file?: DestinationStream): Logger {
  const options = { level, base: null };
  const stderr = toStderr(format);
  if (!file) return pino(options, stderr);
  const copy = format === 'text' ? prettyLines(file, READABLE_FILE) : file;
  return pino(options, multistream([stderr, copy].map((stream) => ({ stream, level: 'trace' }))));
}

function toStderr(format: LogFormat): DestinationStream {
  const readable = format === 'text' || (format === 'auto' && process.stderr.isTTY === true);
  const { escapes, colours: colorize } = terminalKind();
  if (readable && escapes) return prettyLines(screen, { ...READABLE, colorize });
  const lines = pino.destination({ fd: STDERR, sync: true });
  // A disk that is full, or a terminal that has gone, costs lines and nothing else.
  lines.on('error', () => {});
  return readable ? prettyLines(lines, { ...READABLE, colorize }) : lines;
}

function prettyLines(to: DestinationStream, options: pretty.PrettyOptions): DestinationStream {
  const line = pretty.prettyFactory(options);
  return { write: (json) => to.write(line(json)) };
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
