/** Key `l`: a link to the web page, with its token, and the same as a QR code. Pure. */

import { type DestinationStream, type LogFn, type Logger, multistream, pino } from 'pino';
import pretty from 'pino-pretty';
import { encode } from 'uqr';
import type { Config } from '../config/settings.ts';
import type { EngineListener } from '../engine/engine.ts';
import { isAtLeast, LOG_LINE_OPTIONS, type LogLine, logLineAsJson } from '../report/log-tail.ts';
import { isLoopback } from '../text/addresses.ts';
import { oneLine } from '../text/plain-text.ts';
import { screen, terminalKind, writeLine } from './screen.ts';

/** Where the page is served. Only the terminal gets it: the token is for no log, file or API. */
export interface ServedPage {
  /** `http://192.168.1.5:8080`: the address by which other machines reach it, where they do. */
  readonly url: string;
  readonly token?: string | undefined;
}

interface PageLink {
  readonly lines: readonly string[];
  /** Whether the token is in it. */
  readonly isSecret: boolean;
}

interface Window {
  readonly columns: number;
  readonly rows: number;
  readonly colours: boolean;
}

/**
 * Light modules around a QR code. Four are usual (ISO/IEC 18004 §6.3.8), and two are enough for cameras; a window of 24
 * rows has no space for more.
 */
const BORDER = 2;
/** Black on white, whatever the terminal's colours are. */
const INK = ['\x1b[30;107m', '\x1b[m'] as const;

export function pageLink(page: ServedPage | undefined, window: Window): PageLink {
  if (!page) return { lines: ['there is no web page: start pickaxe with --http 8080'], isSecret: false };
  const { url, token } = page;
  const link = token === undefined ? url : `${url}/#token=${encodeURIComponent(token)}`;
  const isSecret = token !== undefined;
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  const code = isLoopback(host)
    ? ['Only this machine reaches it. For others, start with --http 0.0.0.0:8080 and --http-token-file.']
    : codeThatFits(link, window);
  return { lines: [link, ...code], isSecret };
}

/** @returns the QR code, or a line that says why there is none */
function codeThatFits(link: string, { columns, rows, colours }: Window): readonly string[] {
  const code = qrCode(link, colours);
  const width = 2 * code.length;
  // Below it, one row says how to go back.
  const height = Math.ceil(link.length / columns) + code.length + 1;
  if (columns >= width && rows >= height) return code;
  return [`The QR code needs a window of ${width} columns and ${height} rows.`];
}

/** @returns lines with two rows of modules each */
export function qrCode(text: string, colours: boolean): string[] {
  const { data } = encode(text, { ecc: 'L', border: BORDER });
  // Without colours the light modules are drawn, as most terminals are dark.
  const isDrawn = (row: number, column: number) => (data[row]?.[column] ?? false) === colours;
  const [start, end] = colours ? INK : ['', ''];
  return Array.from({ length: Math.ceil(data.length / 2) }, (_, line) => {
    const blocks = data[0].map((_, column) => {
      const [upper, lower] = [isDrawn(2 * line, column), isDrawn(2 * line + 1, column)];
      return upper ? (lower ? '█' : '▀') : lower ? '▄' : ' ';
    });
    return `${start}${blocks.join('')}${end}`;
  });
}

/* The log: pino on stderr and perhaps in a file, as text for people or as JSON lines. stdout is for results only. */

type LogLevel = Config['log']['level'];
export type LogFormat = Config['log']['format'];

/**
 * Lines for people on a terminal: the time, a tag, and the message, which are to fit 80 columns. Its colour shows the
 * level.
 */
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
/** Without colours, the level is written out. */
const ON_PLAIN_TERMINAL: pretty.PrettyOptions = { ...ON_TERMINAL, ignore: 'tag,outcome,isSnippet', colorize: false };
/** A file or a pipe may hold the lines of many days, and programs compare their times. */
const IN_FILE: pretty.PrettyOptions = { ...ON_PLAIN_TERMINAL, translateTime: 'SYS:yyyy-mm-dd HH:MM:ss.l' };

/**
 * What is to be copied from a terminal has no time and no tag there. `"isSnippet":` within a message would have
 * backslashes.
 */
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
    { ...LOG_LINE_OPTIONS, level, hooks: { logMethod: logOneLine } },
    multistream(streams.map((stream) => ({ stream, level: 'trace' }))),
  );
}

/**
 * Whatever a message quotes, it becomes one line, in the terminal, the file and the page. The indentation of a snippet
 * stays.
 */
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

/** @returns the line as a log file has it */
export function logFileLine(format: LogFormat, line: LogLine): string {
  const json = logLineAsJson(line);
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
