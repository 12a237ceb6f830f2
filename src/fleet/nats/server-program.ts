/** The program `nats-server`, as a child process of the demo and of tests. */

import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:fs';
import { access, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { endWithPickaxe, startGroup } from '../../base/system/process-group.ts';

const PROGRAM = process.platform === 'win32' ? 'nats-server.exe' : 'nats-server';
/** Folders that may have the program, but are not on the PATH of ordinary users. */
const MORE_FOLDERS = ['/usr/sbin', '/usr/local/sbin'];
/** Number of lines of the server's log that are kept for an error. */
const MOST_LINES = 50;
const LISTENING = /Listening for (client|route|leafnode) connections on \S*:(\d+)$/;

/** @returns the path of the program; undefined if it is not found */
export async function findServer(environment: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  const folders = [...(environment.PATH ?? '').split(delimiter).filter(Boolean), ...MORE_FOLDERS];
  for (const folder of folders) {
    const path = join(folder, PROGRAM);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}

interface ServerStart {
  /** Path of the program. */
  readonly program: string;
  /** The server's configuration. The port -1 in it means any free port. */
  readonly config: string;
  /** An existing folder, into which the configuration is written. */
  readonly folder: string;
  /** The kinds of ports on which the server listens by its configuration; by default only the port for clients. */
  readonly listens?: readonly PortKind[];
}

export type PortKind = 'client' | 'route' | 'leafnode';
/** The server's TCP ports, by their kind. A kind of port on which the server does not listen is absent. */
type ServerPorts = Readonly<Partial<Record<PortKind, number>>>;

export interface ServerProcess {
  readonly process: ChildProcess;
  readonly configFile: string;
  readonly ports: ServerPorts;
  /** The last lines of the server's log, at most `MOST_LINES`. */
  readonly log: readonly string[];
  /** Resolves when the process has ended, or could not be started. */
  readonly ended: Promise<void>;
}

/**
 * Starts a server and waits until it takes connections. Except on Windows, the server is killed when this process ends.
 * Ctrl-C in the terminal does not reach the server, so members that are ending can still get the verdicts on their last
 * solutions.
 * @throws Error with the last lines of the server's log if the server ends before it takes connections
 */
export async function startServer({
  program,
  config,
  folder,
  listens = ['client'],
}: ServerStart): Promise<ServerProcess> {
  const configFile = join(folder, 'nats-server.conf');
  await writeFile(configFile, config, { mode: 0o600 });
  const child = startGroup([program, '-c', configFile], { stdio: ['ignore', 'ignore', 'pipe'] });
  endWithPickaxe(child);
  const log: string[] = [];
  const ports: Partial<Record<PortKind, number>> = {};
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', (fault) => {
      log.push(fault.message);
      resolve();
    });
  });
  let isUp = false;
  const ready = new Promise<void>((resolve) => {
    if (!child.stderr) return;
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line);
      if (log.length > MOST_LINES) log.shift();
      const [, kind, port] = LISTENING.exec(line) ?? [];
      if (kind === 'client' || kind === 'route' || kind === 'leafnode') ports[kind] = Number(port);
      isUp ||= line.endsWith('Server is ready');
      // The server logs that it is ready before it listens for the other servers of its cluster. So the ports are
      // awaited, too.
      if (isUp && listens.every((each) => ports[each] !== undefined)) resolve();
    });
  });
  const isReady = await Promise.race([ready.then(() => true), ended.then(() => false)]);
  if (!isReady) throw new Error(`nats-server has ended at once:\n${log.join('\n')}`);
  return { process: child, configFile, ports, log, ended };
}
