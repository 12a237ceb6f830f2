/** The log: pino on stderr, readable on a terminal, JSON lines elsewhere. stdout belongs to results. */

import { type DestinationStream, type LogFn, type Logger, multistream, pino } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from '../config/settings.ts';
import type { EngineListener } from '../engine/engine.ts';
import { oneLine } from '../text/one-line.ts';
import { screen } from './screen.ts';
import { terminalKind } from './terminal-kind.ts';
import { writeLine } from './write-line.ts';

type LogLevel = Config['log']['level'];
export type LogFormat = Config['log']['format'];

/** Lines for people: the time, a tag, and the message, which colours sort by what matters. */
const READABLE: pretty.PrettyOptions = {
  translateTime: 'SYS:HH:MM:ss.l',
  ignore: 'tag,level,outcome',
  customColors: 'message:reset',
  messageFormat: (entry, messageKey, _, { colors }) => {
    const text = `${String(entry.tag ?? '').padEnd(5)} ${entry[messageKey]}`;
    if (entry.outcome === 'accepted') return colors.bold(colors.green(text));
    if (Number(entry.level) >= pino.levels.values.error) return colors.red(text);
    if (Number(entry.level) >= pino.levels.values.warn) return colors.yellow(text);
    // Most lines of a log tell of new jobs.
    return entry.tag === 'work' ? colors.dim(text) : text;
  },
};
/** A file has lines of many days, and colours are noise in it. */
const READABLE_FILE: pretty.PrettyOptions = {
  ...READABLE,
  translateTime: 'SYS:yyyy-mm-dd HH:MM:ss.l',
  ignore: 'tag,outcome',
  colorize: false,
};

/** Where each line goes besides stderr. */
interface LogCopies {
  readonly file?: DestinationStream | undefined;
  /** It gets JSON, whatever the format. */
  readonly tail?: DestinationStream;
}

export function makeLog(level: LogLevel, format: LogFormat, { file, tail }: LogCopies = {}): Logger {
  const copy = file && (format === 'text' ? prettyLines(file, READABLE_FILE) : file);
  const streams = [toStderr(format), copy, tail].filter((stream) => stream !== undefined);
  return pino(
    { level, base: null, hooks: { logMethod: logOneLine } },
    multistream(streams.map((stream) => ({ stream, level: 'trace' }))),
  );
}

/** Whatever a message quotes, it becomes one line, in the terminal, the file and the page. */
function logOneLine(this: Logger, given: Parameters<LogFn>, log: LogFn): void {
  const clean = given.map((part) => (typeof part === 'string' ? oneLine(part) : part));
  log.apply(this, clean as Parameters<LogFn>);
}

function toStderr(format: LogFormat): DestinationStream {
  const readable = format === 'text' || (format === 'auto' && process.stderr.isTTY === true);
  const { escapes, colours: colorize } = terminalKind();
  if (readable && escapes) return prettyLines(screen, { ...READABLE, colorize });
  const lines = { write: (line: string) => writeLine(process.stderr, line) };
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
