/** `pickaxe fleet`: shows the rigs and coordinators of a fleet in a table, as JSON, or on a web page. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Logger, pino } from 'pino';
import { httpOptions, listenHttp } from '../../app/composition/http-api.ts';
import type { Loaded } from '../../app/config/load.ts';
import { EXIT } from '../../app/process/exit.ts';
import { aborted, pause } from '../../base/system/abort.ts';
import { systemClock } from '../../base/system/clock.ts';
import { jsonText, oneColumnEach, oneLine } from '../../base/text/plain-text.ts';
import { matchesPattern } from '../../fleet/operator/ask-rigs.ts';
import type { FleetRig, FleetStatus } from '../../fleet/operator/fleet-status.ts';
import type { Roster } from '../../fleet/operator/roster.ts';
import type { Http, ServerOptions } from '../../rig/http/http-server.ts';
import { LOG_LINE_OPTIONS, LogTail } from '../../rig/log/log-tail.ts';
import { makeLog } from '../../rig/terminal/log.ts';
import { Screen } from '../../rig/terminal/screen.ts';
import type { Io, Line } from '../io.ts';
import { settingsOf, timeOf, withSettings } from '../usage/options.ts';
import { fleetLines, inOrder, matches, RIG_FILTERS, RIG_ORDERS, type RigFilter, type RigOrder } from './fleet-table.ts';
import {
  collectReports,
  connected,
  endDisconnected,
  OPERATOR_SETTINGS,
  type OpenOperator,
  type Operator,
  openOperator,
  rosterOf,
  WAIT_SECONDS,
  waitOf,
} from './operator.ts';

/** Default time between two refreshes of the table. */
const TABLE_SECONDS = 2;
/** Default time between two objects of --json. Each rig reports once in this time. */
const JSON_SECONDS = 10;
/** Maximum number of log lines below the table. */
const MOST_NOTES = 3;

export interface WatchOptions {
  readonly once: boolean;
  readonly json: boolean;
  readonly wait: number;
  readonly every?: number;
  readonly sort: RigOrder;
  readonly group?: string;
  readonly name?: string;
  readonly state?: readonly RigFilter[];
}

/** @param fleet the command `fleet` */
export function declareWatch(fleet: Command, { io, action }: Line): void {
  // Subcommands have options with the same names as `fleet`. With positional options, an option after the name of a
  // subcommand belongs to the subcommand.
  fleet.parent?.enablePositionalOptions();
  withSettings(fleet, ...OPERATOR_SETTINGS, 'http')
    .enablePositionalOptions()
    .option('--once', 'print the table once all rigs had time to report, and end; as without a terminal', false)
    .option('--json', 'one JSON object on stdout every 10 s, or one with --once', false)
    .option('--every <time>', 'time between refreshes: seconds, or a time like 1m', timeOf)
    .option('--wait <time>', 'with --once: listen for this time first', waitOf, WAIT_SECONDS)
    .addOption(new Option('--sort <column>', 'order of the rigs').choices(RIG_ORDERS).default('attention'))
    .option('--state <list>', `only rigs in one of these states: ${RIG_FILTERS.join(', ')}`, filtersOf)
    .option('--group <name>', 'only rigs of this group')
    .option('--name <pattern>', 'only rigs of such a name, like hall-a-*: * stands for any characters, and ? for one')
    .action(action(async (options) => runWatch(await settingsOf(fleet), options, io)));
}

function filtersOf(text: string): RigFilter[] {
  return text.split(',').map((name) => {
    const filter = RIG_FILTERS.find((each) => each === name.trim());
    if (filter === undefined) throw new InvalidArgumentError(`Give some of: ${RIG_FILTERS.join(', ')}.`);
    return filter;
  });
}

export async function runWatch(
  loaded: Loaded,
  options: WatchOptions,
  io: Io,
  open: OpenOperator = openOperator,
): Promise<number> {
  const { http, log } = loaded.config;
  const server = httpOptions(http);
  const isTable = !options.json && io.columns !== undefined;
  const isOnce = options.once || (!options.json && !isTable && !server);
  const notes = new LogTail();
  // Log lines between the table's refreshes would break its rows, so the last ones are shown below the table.
  const logger =
    isTable && !isOnce ? pino({ ...LOG_LINE_OPTIONS, level: log.level }, notes) : makeLog(log.level, log.format);
  const warn = (line: string) => logger.warn({ tag: 'fleet' }, line);
  const operator = open(loaded, warn);
  const roster = rosterOf(operator, warn);
  let page: Http | undefined;
  try {
    if (isOnce) return await printOnce(roster, options, operator, io);
    if (server) page = await serve(server, roster, operator, logger);
    if (options.json) await printJson(roster, options, io);
    else if (isTable) await showTable(roster, options, io, notes);
    else await aborted(io.stop);
    return EXIT.done;
  } finally {
    await page?.close();
    roster.close();
    await operator.close();
  }
}

async function printOnce(roster: Roster, options: WatchOptions, operator: Operator, io: Io): Promise<number> {
  if (await connected(operator, io.stop)) {
    await collectReports(options.wait, roster, operator, io);
  }
  const status = roster.status();
  if (status.disconnected !== null) return endDisconnected(status.disconnected, io);
  const rigs = chosen(status.rigs, options);
  if (options.json) io.out(`${jsonText({ ...status, rigs })}\n`);
  else io.out(`${fleetLines(status, { rigs: inOrder(rigs, options.sort), clean: oneLine }).join('\n')}\n`);
  return EXIT.done;
}

async function printJson(roster: Roster, options: WatchOptions, io: Io): Promise<void> {
  while (!io.stop.aborted) {
    await pause(systemClock, (options.every ?? JSON_SECONDS) * 1000, io.stop);
    const status = roster.status();
    if (!io.stop.aborted) io.out(`${jsonText({ ...status, rigs: chosen(status.rigs, options) })}\n`);
  }
}

async function showTable(roster: Roster, options: WatchOptions, io: Io, notes: LogTail): Promise<void> {
  const screen = new Screen({ write: (text) => io.out(text) });
  try {
    while (!io.stop.aborted) {
      screen.cover(tableText(roster.status(), options, io, notes));
      await pause(systemClock, (options.every ?? TABLE_SECONDS) * 1000, io.stop);
    }
  } finally {
    screen.uncover();
  }
}

/** @returns the table, the last lines of the log, and the footer, cut to the size of the terminal */
function tableText(status: FleetStatus, options: WatchOptions, io: Io, notes: LogTail): string {
  const { columns = 80, rows = 24 } = io;
  const below = [
    ...notes
      .after(0)
      .slice(-MOST_NOTES)
      .map(({ message }) => message),
    footer(status, options),
  ];
  const rigs = inOrder(chosen(status.rigs, options), options.sort);
  const table = fleetLines(status, { rigs, rows: rows - below.length - 1, clean: oneColumnEach });
  return [...table, '', ...below]
    .slice(0, rows)
    .map((line) => oneColumns(line, columns))
    .join('\n');
}

/** Cuts a line to a width of `columns`. @param line must have characters of one column each */
function oneColumns(line: string, columns: number): string {
  return line.length <= columns ? line : `${line.slice(0, columns - 1)}…`;
}

function footer({ listeningSeconds }: FleetStatus, { sort, wait }: WatchOptions): string {
  const early = listeningSeconds < wait ? `; still listening: a rig reports once in 10 s` : '';
  return `sorted by ${sort}; Ctrl-C ends this${early}`;
}

function chosen(rigs: readonly FleetRig[], { group, name, state }: WatchOptions): FleetRig[] {
  return rigs.filter(
    (rig) =>
      (group === undefined || rig.group === group) &&
      (name === undefined || matchesPattern(rig.name, name)) &&
      (state === undefined || state.some((filter) => matches(rig, filter))),
  );
}

/** @throws UsageError when the server cannot listen at its address */
async function serve(options: ServerOptions, roster: Roster, operator: Operator, log: Logger): Promise<Http> {
  const { serveFleet } = await import('../../fleet/operator/http/fleet-server.ts');
  const { clock, instance, ask } = operator;
  const served = { status: () => roster.status(), ask };
  const context = { log, clock, instance };
  return listenHttp(() => serveFleet(served, options, context), options, 'control of rigs', log);
}
