/** A running miner, as the HTTP server, guards, notices and the terminal use it, and the first lines of its log. */

import type { Logger } from 'pino';
import type { Clock } from '../base/system/clock.ts';
import { version } from '../base/system/version.ts';
import { plural } from '../base/text/quantities.ts';
import type { Controls, Events } from '../miner/events/events.ts';
import type { LogTail } from './log/log-tail.ts';
import type { AskBalance } from './status/earnings.ts';
import type { Status } from './status/status.ts';
import type { Tally } from './status/tally.ts';

export interface RunningMiner {
  readonly rigName: string;
  readonly setup: Setup;
  readonly controls: Controls;
  readonly events: Events;
  /** Receives each event before any other listener. */
  readonly tally: Tally;
  readonly clock: Clock;
  readonly log: Logger;
  readonly logTail: LogTail;
  /** Asks a node for the balance; absent when the rig mines on no node. */
  readonly askBalance?: AskBalance | undefined;
  /** Whether mining begins again in this process after its end; absent if it never does. */
  readonly beginsAgain?: () => boolean;
}

/** The settings that decide who earns and where, fixed for the whole run. None of them is secret. */
export interface Setup {
  readonly configFiles: readonly string[];
  /** Absent on a pool, for a parent and for a fleet. */
  readonly account?: string | undefined;
  /** Present on nodes only. */
  readonly network?: string | undefined;
  /** Present on pools only. */
  readonly user?: string | undefined;
  readonly pools?: readonly string[] | undefined;
  /** The URLs of a fleet's servers; present on its rigs only. */
  readonly fleet?: readonly string[] | undefined;
}

type Reported = Pick<Status, 'rig' | 'version' | 'configFiles' | 'account' | 'network' | 'user'>;

export function reportedSetup(rigName: string, setup: Setup): Reported {
  const { configFiles, account, network, user } = setup;
  return {
    rig: rigName,
    version,
    configFiles: [...configFiles],
    account: account ?? null,
    network: network ?? null,
    user: user ?? null,
  };
}

/** The folders by which paths are shortened, so that they fit a terminal. */
export interface Folders {
  readonly current: string;
  readonly home: string | undefined;
  /** `/`, or `\` on Windows. */
  readonly separator: string;
}

interface Start extends Setup {
  readonly rigName: string;
}

/** Logs the first lines, in which a wrong user, account, network or file is obvious. */
export function logStart(log: Logger, start: Start, folders: Folders): void {
  for (const line of startLines(start, folders)) log.info({ tag: 'miner' }, line);
}

function startLines({ rigName, ...setup }: Start, folders: Folders): string[] {
  const { configFiles } = setup;
  const files = configFiles.map((file) => shortened(file, folders)).join(' and ');
  return [
    `pickaxe ${version}, rig ${rigName}, ${files === '' ? 'no configuration file' : `settings from ${files}`}`,
    whoEarns(setup),
  ];
}

function whoEarns({ account, network, user, pools = [], fleet }: Setup): string {
  if (fleet !== undefined) return `mines for the fleet at ${fleet.join(', ')}, whose coordinators say who is paid`;
  if (user !== undefined) return `mines as ${user} at ${pools.join(', ')}`;
  if (account === undefined) return 'mines for the program that gives it jobs';
  return `mines on ${network} for ${account}`;
}

function shortened(file: string, { current, home, separator }: Folders): string {
  const within = (folder: string) => file.startsWith(folder.endsWith(separator) ? folder : `${folder}${separator}`);
  if (within(current)) return file.slice(current.length).replace(/^[\\/]/, '');
  return home !== undefined && home.length > 1 && within(home) ? `~${file.slice(home.length)}` : file;
}

interface Device {
  readonly name: string;
  readonly threads?: number | undefined;
}

/** @returns `devices: cpu (8 threads), gpu0` */
export function describeDevices(devices: readonly Device[]): string {
  const all = devices.map(({ name, threads }) => {
    if (threads === undefined) return name;
    return `${name} (${plural(threads, 'thread')})`;
  });
  return `devices: ${all.join(', ') || 'none'}`;
}
