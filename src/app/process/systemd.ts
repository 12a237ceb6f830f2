/** Reports to systemd (Type=notify) that the rig is ready, alive or stopping, and what it does. */

import { oneLine } from '../../base/text/plain-text.ts';
import { outageInFull } from '../../rig/log/outages.ts';
import { describeVerdicts, livesOnRelays, sumOfRelays } from '../../rig/status/figures.ts';
import type { RigStatus } from '../../rig/status/status.ts';
import { describeWorkers, formatHashrate } from '../../rig/status/units.ts';
import type { Sidecar } from '../composition/run-miner.ts';
import { UsageError } from './exit.ts';

/** Maximum time between two messages with the text that `systemctl status` shows. */
const STATUS_MS = 10_000;

/**
 * @param watchdogMs time without a message after which systemd kills the service
 * @returns the time between two messages: STATUS_MS, or half of `watchdogMs` if that is shorter, as
 *   sd_watchdog_enabled(3) recommends
 */
export function intervalFor(watchdogMs = Number.POSITIVE_INFINITY): number {
  return Math.min(STATUS_MS, watchdogMs / 2);
}

/** Whether the rig counts as started: a device is ready, a source is connected, or the rig has only relays. */
export function hasStarted(status: RigStatus): boolean {
  const devices = Object.values(status.devices);
  const sources = Object.values(status.sources);
  return (
    devices.some(({ state }) => state === 'ready') ||
    sources.some(({ state }) => state === 'connected' || state === 'unhealthy') ||
    livesOnRelays(status)
  );
}

/**
 * Waiting for the work of a node or pool is no valid reason for not hashing. If a source does not answer, it soon
 * counts as lost, which is another state, so a rig that keeps waiting has a fault. Only a source of the kind `parent`
 * may give no work for any length of time.
 * @returns a valid reason for not hashing, for `systemctl status`; undefined when the rig should hash
 */
export function whyIdle(status: RigStatus): string | undefined {
  const mustHaveWork = status.state === 'waiting-for-work' && status.sourceKind !== 'parent';
  return mustHaveWork ? undefined : outageInFull(status);
}

/**
 * Whether one of these is true: the rig hashes; it has a valid reason for not hashing; or it has no devices, and its
 * relays hand on work.
 * @param hashed whether the rig has hashed since the last call
 */
export function isAlive(status: RigStatus, hashed: boolean): boolean {
  return hashed || whyIdle(status) !== undefined || (livesOnRelays(status) && status.ready);
}

/*
 * Sends datagrams to the service manager's socket, which NOTIFY_SOCKET names (sd_notify(3)). Node.js has no UNIX
 * sockets for datagrams, so koffi calls the C library. A helper process cannot send the datagrams, because by default
 * systemd accepts messages only from the main process of a service.
 */

/** Linux's constants, equal on all chips that Node.js supports. */
const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;

/** Maximum length of a socket's name in bytes. A zero byte follows a path or precedes an abstract name (unix(7)). */
const MAX_NAME = 107;

interface NotifySocket {
  /** Sends one datagram without waiting. @returns the reason of a failure */
  send(assignments: Readonly<Record<string, string | number>>): string | undefined;
  close(): void;
}

/**
 * @param address an absolute path, or `@` and an abstract name
 * @throws Error when the address is not valid, koffi does not load, or the system provides no socket
 */
export async function openNotifySocket(address: string): Promise<NotifySocket> {
  const to = socketAddress(address);
  const { default: koffi } = await import('koffi').catch((error: Error) => {
    const [reason] = error.message.split('\n');
    throw new Error(`koffi, the package that sends them, does not load (${reason})`);
  });
  // With null, koffi finds the symbols of this process, among them the C library's. That library's file name varies.
  const libc = koffi.load(null);
  const socket = libc.func('socket', 'int', ['int', 'int', 'int']);
  const sendto = libc.func('sendto', 'intptr_t', ['int', 'uint8_t *', 'size_t', 'int', 'uint8_t *', 'uint32_t']);
  const close = libc.func('close', 'int', ['int']);

  const descriptor: number = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) throw new Error(`the system provides no socket (error ${koffi.errno()})`);
  return {
    send(assignments) {
      const lines = Object.entries(assignments).map(([name, value]) => `${name}=${oneLine(String(value))}`);
      const bytes = Buffer.from(lines.join('\n'));
      const sent = sendto(descriptor, bytes, bytes.length, MSG_DONTWAIT | MSG_NOSIGNAL, to, to.length);
      return Number(sent) === bytes.length ? undefined : `cannot send to ${address} (error ${koffi.errno()})`;
    },
    close: () => void close(descriptor),
  };
}

/** @returns a sockaddr_un without unused bytes after the name */
function socketAddress(address: string): Buffer {
  if (!/^[/@]./.test(address) || address.includes('\0')) {
    throw new Error(`${JSON.stringify(address)} is neither a path nor @ and a name`);
  }
  const name = Buffer.from(address.startsWith('@') ? `\0${address.slice(1)}` : `${address}\0`);
  if (name.length > MAX_NAME + 1) throw new Error(`${address} is longer than the name of a socket can be`);
  const family = Buffer.alloc(2);
  new Uint16Array(family.buffer, family.byteOffset, 1)[0] = AF_UNIX; // The field is in the byte order of this machine.
  return Buffer.concat([family, name]);
}

type Environment = Record<string, string | undefined>;

/**
 * Makes the sidecar that reports to systemd. Deletes systemd's environment variables (sd_notify(3),
 * sd_watchdog_enabled(3)), because child processes must not use them. When mining ends for a restart in this process,
 * the sidecar sets the variables again.
 * @throws UsageError when messages cannot be sent, or WATCHDOG_USEC is not valid
 */
export async function systemd(environment: Environment = process.env): Promise<Sidecar> {
  const { NOTIFY_SOCKET: address = '', WATCHDOG_USEC: watchdogUs, WATCHDOG_PID: pid } = environment;
  const names = ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID'];
  const found = Object.fromEntries(names.flatMap((name) => (name in environment ? [[name, environment[name]]] : [])));
  for (const name of names) delete environment[name];
  const forUs = pid === undefined || pid === String(process.pid);
  const watchdogMs = forUs && watchdogUs !== undefined ? Number(watchdogUs) / 1000 : undefined;
  if (watchdogMs !== undefined && !(watchdogMs > 0)) {
    throw new UsageError(`WATCHDOG_USEC is not a number of microseconds: ${watchdogUs}`);
  }
  const socket = await openNotifySocket(address).catch((error: Error) => {
    const remedy = 'install pickaxe with its optional packages (not with --omit=optional), or use a unit of Type=exec';
    throw new UsageError(`systemd expects messages, and none can be sent: ${error.message}; ${remedy}.`);
  });
  return sidecar(socket, watchdogMs, () => Object.assign(environment, found));
}

/** @param restore sets systemd's environment variables again */
function sidecar(socket: NotifySocket, watchdogMs: number | undefined, restore: () => void): Sidecar {
  return async ({ events, tally, log, beginsAgain }) => {
    let ready = false;
    let stopping = false;
    let warned = false;
    let hashesBefore = 0;

    const send = (assignments: Parameters<NotifySocket['send']>[0]) => {
      const fault = socket.send(assignments);
      if (fault !== undefined && !warned) log.warn({ tag: 'systemd' }, `${fault}; trying again`);
      warned = fault !== undefined;
    };
    const tick = () => {
      const status = tally.status();
      const idle = whyIdle(status);
      const alive = isAlive(status, status.hashes > hashesBefore);
      hashesBefore = status.hashes;
      ready ||= hasStarted(status);
      const figures = figuresOf(status);
      send({
        ...(ready && { READY: 1 }), // A message may be lost, so each one contains READY. The repetition does no harm.
        ...(alive && watchdogMs !== undefined && { WATCHDOG: 1 }),
        STATUS: idle === undefined ? figures : `${figures}; ${idle}`,
      });
    };
    const stop = () => {
      // STOPPING is not sent before a restart, because systemd kills the process some time after this message.
      const isLast = !beginsAgain?.();
      const news = isLast ? { STOPPING: 1, STATUS: 'waiting for pending submissions' } : { STATUS: 'restarting' };
      if (!stopping) send(news);
      stopping = true;
      clearInterval(timer);
    };

    const timer = setInterval(tick, intervalFor(watchdogMs));
    const unsubscribe = events.on(() => {
      if (!ready && hasStarted(tally.status())) tick();
    });
    process.on('SIGINT', stop).on('SIGTERM', stop);
    return () => {
      stop();
      unsubscribe();
      process.off('SIGINT', stop).off('SIGTERM', stop);
      socket.close();
      if (beginsAgain?.()) restore();
    };
  };
}

/** @returns the figures for `systemctl status`: hashrate, workers and verdicts */
function figuresOf(status: RigStatus): string {
  const { work, relays } = status;
  return [
    ...(livesOnRelays(status) ? [] : [formatHashrate(status.hashesPerSecond)]),
    ...(Object.keys(relays).length === 0 ? [] : [describeWorkers(sumOfRelays(relays))]),
    describeVerdicts(status, work),
  ].join(', ');
}
