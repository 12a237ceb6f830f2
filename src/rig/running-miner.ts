/**
 * The interface through which the HTTP server, the automatic pauses, the notices and the terminal use a running miner.
 * Also the first lines of the miner's log.
 */

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
  /** The counters of this run. They receive each event before the log, the web server and the notices do. */
  readonly tally: Tally;
  readonly clock: Clock;
  readonly log: Logger;
  readonly logTail: LogTail;
  /** Asks nodes for the balance of the miner's account. Absent if the rig does not mine on nodes. */
  readonly askBalance?: AskBalance | undefined;
  /** @returns whether this process starts mining again after mining has ended. Absent means that it never does. */
  readonly beginsAgain?: () => boolean;
}

/**
 * The configuration files, and the settings that decide who is paid and where the rig mines, as they were when the run
 * began. None of them is secret.
 */
export interface Setup {
  readonly configFiles: readonly string[];
  /** Account that is paid for blocks. Present only if the rig mines on nodes. */
  readonly account?: string | undefined;
  /** Name of the network, such as `mainnet01`. Present only if the rig mines on nodes. */
  readonly network?: string | undefined;
  /** User name at the pools, without a password. Present only if the rig mines on pools. */
  readonly user?: string | undefined;
  /** URLs of the pools. Present only if the rig mines on pools. */
  readonly pools?: readonly string[] | undefined;
  /** URLs of the NATS servers of a fleet. Present only if the rig mines for a fleet. */
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

/**
 * The folders that shorten the paths in the first lines, so that the lines fit a terminal. A path within `current`
 * becomes relative, and a path within `home` begins with `~`.
 */
export interface Folders {
  readonly current: string;
  readonly home: string | undefined;
  /** `/`, or `\` on Windows. */
  readonly separator: string;
}

interface Start extends Setup {
  readonly rigName: string;
}

/** Logs the first lines. They show the account, network, user and files, so that a wrong setting is noticed. */
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
