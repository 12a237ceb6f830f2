/** Tells systemd (Type=notify) when the miner is ready, how it is doing, that it lives, and when it stops. */

import { countsShares, livesOnRelays } from '../../report/figures.ts';
import { allRelays } from '../../report/relay-stats.ts';
import type { RigNow } from '../../report/rig-now.ts';
import type { Summary } from '../../report/summary.ts';
import { describeOutcomes, describeWorkers, formatHashrate } from '../../report/units.ts';
import { UsageError } from '../exit-codes.ts';
import type { Sidecar } from '../run-miner.ts';
import { hasStarted, intervalFor, isAlive, whyIdle } from './liveness.ts';
import { type NotifySocket, openNotifySocket } from './notify-socket.ts';

type Environment = Record<string, string | undefined>;

/**
 * Reads systemd's environment variables (sd_notify(3), sd_watchdog_enabled(3)) and deletes them, because they are not meant
 * for the processes that this one starts.
 * @param environment must have NOTIFY_SOCKET
 * @throws UsageError when messages cannot be sent, or WATCHDOG_USEC is not valid.
 */
export async function systemd(environment: Environment = process.env): Promise<Sidecar> {
  const { NOTIFY_SOCKET: address = '', WATCHDOG_USEC: watchdogUs, WATCHDOG_PID: pid } = environment;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete environment[name];
  const forUs = pid === undefined || pid === String(process.pid);
  const watchdogMs = forUs && watchdogUs !== undefined ? Number(watchdogUs) / 1000 : undefined;
  if (watchdogMs !== undefined && !(watchdogMs > 0)) {
    throw new UsageError(`WATCHDOG_USEC is not a number of microseconds: ${watchdogUs}`);
  }
  const socket = await openNotifySocket(address).catch((error: Error) => {
    const remedy = 'install pickaxe with its optional packages (not with --omit=optional), or use a unit of Type=exec';
    throw new UsageError(`systemd expects messages, and none can be sent: ${error.message}; ${remedy}.`);
  });
  return sidecar(socket, watchdogMs);
}

function sidecar(socket: NotifySocket, watchdogMs: number | undefined): Sidecar {
  return async ({ events, tally, log }) => {
    let ready = false;
    let stopping = false;
    let warned = false;
    let hashesBefore = 0;

    /** @returns whether the message was sent */
    const say = (assignments: Parameters<NotifySocket['send']>[0]): boolean => {
      const fault = socket.send(assignments);
      if (fault !== undefined && !warned) log.warn({ tag: 'systemd' }, `${fault}; trying again`);
      warned = fault !== undefined;
      return fault === undefined;
    };
    const tick = () => {
      const summary = tally.summary();
      const { hashes } = summary;
      const now = tally.now();
      const idle = whyIdle(now);
      const alive = isAlive(now, hashes > hashesBefore);
      hashesBefore = hashes;
      ready ||= hasStarted(now);
      const figures = figuresOf(now, summary);
      say({
        ...(ready && { READY: 1 }), // Repeating it does no harm, and the first message may have been lost.
        ...(alive && watchdogMs !== undefined && { WATCHDOG: 1 }),
        STATUS: idle === undefined ? figures : `${figures}; ${idle}`,
      });
    };
    const stop = () => {
      if (!stopping) say({ STOPPING: 1, STATUS: 'waiting for pending submissions' });
      stopping = true;
      clearInterval(timer);
    };

    const timer = setInterval(tick, intervalFor(watchdogMs));
    const unsubscribe = events.on(() => {
      if (!ready && hasStarted(tally.now())) tick();
    });
    process.on('SIGINT', stop).on('SIGTERM', stop);
    return () => {
      stop();
      unsubscribe();
      process.off('SIGINT', stop).off('SIGTERM', stop);
      socket.close();
    };
  };
}

/** What `systemctl status` shows while the rig mines. */
function figuresOf(now: RigNow, summary: Summary): string {
  const blocks = describeOutcomes(summary);
  return [
    ...(livesOnRelays(now) ? [] : [formatHashrate(now.hashesPerSecond)]),
    ...(now.relays.size === 0 ? [] : [describeWorkers(allRelays(now.relays.values()))]),
    countsShares(now.work, summary.shares) ? `shares: ${describeOutcomes(summary.shares)}; blocks: ${blocks}` : blocks,
  ].join(', ');
}
