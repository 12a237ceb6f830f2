/** The log: pino on stderr and perhaps in a file, as text for people or as JSON lines. stdout is for results only. */

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

/** Lines for people on a terminal: the time, a tag, and the message. Its colour shows the level. */
const ON_TERMINAL: pretty.PrettyOptions = {
  translateTime: 'SYS:HH:MM:ss.l',
  ignore: 'tag,level,outcome,isSnippet',
  customColors: 'message:reset',
  messageFormat: (entry, messageKey, _, { colors }) => {
    const text = `${String(entry.tag ?? '').padEnd(5)} ${entry[messageKey]}`;
    if (entry.outcome === 'accepted') return colors.bold(colors.green(text));
    if (Number(entry.level) >= pino.levels.values.error) return colors.red(text);
    if (Number(entry.level) >= pino.levels.values.warn) return colors.yellow(text);
    // Most lines of a log announce new jobs.
    return entry.tag === 'work' ? colors.dim(text) : text;
  },
};
/** Without colours, the level is written out. */
const ON_PLAIN_TERMINAL: pretty.PrettyOptions = { ...ON_TERMINAL, ignore: 'tag,outcome,isSnippet', colorize: false };
/** A file or a pipe may hold the lines of many days. */
const IN_FILE: pretty.PrettyOptions = { ...ON_PLAIN_TERMINAL, translateTime: 'SYS:yyyy-mm-dd HH:MM:ss.l' };

/** What is to be copied from a terminal has no time and no tag there. `"isSnippet":` within a message would have backslashes. */
const SNIPPET = '"isSnippet":true';

/** Where each line goes besides stderr. */
interface LogCopies {
  readonly file?: DestinationStream | undefined;
  /** It gets JSON, whatever the format. */
  readonly tail?: DestinationStream;
}

export function makeLog(level: LogLevel, format: LogFormat, { file, tail }: LogCopies = {}): Logger {
  const streams = [toStderr(format), file && asInFile(format, file), tail].filter((stream) => stream !== undefined);
  return pino(
    { level, base: null, hooks: { logMethod: logOneLine } },
    multistream(streams.map((stream) => ({ stream, level: 'trace' }))),
  );
}

/** Whatever a message quotes, it becomes one line, in the terminal, the file and the page. The indentation of a snippet stays. */
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
  return { write: (json) => (json.includes(SNIPPET) ? screen.write(`${JSON.parse(json).msg}\n`) : lines.write(json)) };
}

function asInFile(format: LogFormat, to: DestinationStream): DestinationStream {
  return format === 'json' ? to : prettyLines(to, IN_FILE);
}

function prettyLines(to: DestinationStream, options: pretty.PrettyOptions): DestinationStream {
  const line = pretty.prettyFactory(options);
  return { write: (json) => to.write(line(json)) };
}

/** @param json a line as pino writes it. @returns the line as a log file has it */
export function logFileLine(format: LogFormat, json: string): string {
  return format === 'json' ? json : pretty.prettyFactory(IN_FILE)(json);
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
