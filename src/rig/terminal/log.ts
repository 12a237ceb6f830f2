/** Writes the log with pino to stderr and, if configured, to a file. stdout is for results only. */

import { type DestinationStream, type LevelWithSilent, type LogFn, type Logger, multistream, pino } from 'pino';
import pretty from 'pino-pretty';
import { oneLine } from '../../base/text/plain-text.ts';
import type { EngineListener } from '../../miner/engine/engine.ts';
import { isAtLeast, LOG_LINE_OPTIONS, type LogLine, logLineAsJson } from '../log/log-tail.ts';
import { screen, terminalKind, writeLine } from './screen.ts';

export type LogFormat = 'text' | 'json';

/** Lines have the time, the tag and the message, and should fit 80 columns. The message's colour shows the level. */
const ON_TERMINAL: pretty.PrettyOptions = {
  messageKey: LOG_LINE_OPTIONS.messageKey,
  timestampKey: 'timeMillis',
  translateTime: 'SYS:HH:MM:ss',
  ignore: 'tag,level,outcome,isSnippet',
  customColors: 'message:reset',
  messageFormat: (entry, _, __, { colors }) => {
    const { level, tag = '', outcome, message } = entry as Partial<LogLine> & Pick<LogLine, 'level'>;
    const text = `${tag.padEnd(5)} ${message}`;
    if (outcome === 'accepted') return colors.bold(colors.green(text));
    if (isAtLeast(level, 'error')) return colors.red(text);
    if (isAtLeast(level, 'warn')) return colors.yellow(text);
    return isAtLeast(level, 'info') ? text : colors.dim(text);
  },
};
/** Without colours, lines contain the level as a word. */
const ON_PLAIN_TERMINAL: pretty.PrettyOptions = { ...ON_TERMINAL, ignore: 'tag,outcome,isSnippet', colorize: false };
/**
 * Lines in files and pipes also have the date, because a file may cover many days, and milliseconds, because programs
 * compare the times.
 */
const IN_FILE: pretty.PrettyOptions = { ...ON_PLAIN_TERMINAL, translateTime: 'SYS:yyyy-mm-dd HH:MM:ss.l' };

/**
 * A JSON line with this text belongs to a snippet, a text to copy. On a terminal, such a line is written without
 * time and tag. Messages cannot contain this text, because JSON puts backslashes before their quotation marks.
 */
const SNIPPET = '"isSnippet":true';

/** The destinations besides stderr. */
interface LogCopies {
  readonly file?: DestinationStream | undefined;
  /** Receives JSON lines, whether the format is `text` or `json`. */
  readonly tail?: DestinationStream;
}

export function makeLog(level: LevelWithSilent, format: LogFormat, { file, tail }: LogCopies = {}): Logger {
  const streams = [toStderr(format), file && asInFile(format, file), tail].filter((stream) => stream !== undefined);
  return pino(
    { ...LOG_LINE_OPTIONS, level, hooks: { logMethod: logOneLine } },
    multistream(streams.map((stream) => ({ stream, level: 'trace' }))),
  );
}

/** Makes one line of each message, even if the message quotes several lines. Spaces at the start are kept. */
function logOneLine(this: Logger, given: Parameters<LogFn>, log: LogFn): void {
  const clean = given.map((part) => (typeof part === 'string' ? /^ */.exec(part) + oneLine(part) : part));
  log.apply(this, clean as Parameters<LogFn>);
}

function toStderr(format: LogFormat): DestinationStream {
  const { escapes, colours } = terminalKind();
  if (format === 'json' || !escapes) {
    return asInFile(format, { write: (line) => writeLine(process.stderr, line) });
  }
  const lines = prettyLines(screen, colours ? { ...ON_TERMINAL, colorize: true } : ON_PLAIN_TERMINAL);
  return {
    write: (json) => (json.includes(SNIPPET) ? screen.write(`${JSON.parse(json).message}\n`) : lines.write(json)),
  };
}

function asInFile(format: LogFormat, to: DestinationStream): DestinationStream {
  return format === 'json' ? to : prettyLines(to, IN_FILE);
}

function prettyLines(to: DestinationStream, options: pretty.PrettyOptions): DestinationStream {
  const line = pretty.prettyFactory(options);
  return { write: (json) => to.write(line(json)) };
}

export function logFileLine(format: LogFormat, line: LogLine): string {
  const json = logLineAsJson(line);
  return format === 'json' ? json : pretty.prettyFactory(IN_FILE)(json);
}

/** @returns a listener that logs each step of opening an engine once, although a step may report progress often */
export function progressTo(log: Logger, tag: string): EngineListener {
  let last: string | undefined;
  return {
    progress(what) {
      if (what !== last) log.info({ tag }, what);
      last = what;
    },
  };
}
