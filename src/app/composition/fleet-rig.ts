/** The parts that only a rig of a fleet has: its source of work, and its reports to and control by operators. */

import { pause } from '../../base/system/abort.ts';
import { publish } from '../../fleet/nats/requests.ts';
import { FleetSource } from '../../fleet/rig/fleet-source.ts';
import { OperatorLimits, RigControl } from '../../fleet/rig/rig-control.ts';
import { RigReporter } from '../../fleet/rig/rig-reporter.ts';
import type { Events } from '../../miner/events/events.ts';
import type { LimitsOf } from '../../miner/loop/thermal-guard.ts';
import { namedNetwork } from '../../miner/source/named-network.ts';
import type { Config } from '../config/settings.ts';
import { UsageError } from '../process/exit.ts';
import type { Restart } from '../process/restarts.ts';
import { type FleetMember, NO_SERVER } from './fleet-link.ts';
import type { Sidecar } from './run-miner.ts';

/** Minimum time between a rig's reports. */
const REPORT_MS = 10_000;
const TAG = { tag: 'fleet' };

/** @param member the caller opens and closes its link @throws UsageError without servers */
export function fleetSource(
  { nats, node }: Pick<Config, 'nats' | 'node'>,
  member: FleetMember | undefined,
  { emit }: Events,
): FleetSource {
  if (!member) throw new UsageError(NO_SERVER);
  const { link, subjects, name: rig } = member;
  const network = namedNetwork(node.network);
  return new FleetSource({ name: (nats.urls ?? []).join(', '), link, subjects, rig, network }, { emit });
}

interface FleetSidecarOptions {
  readonly settings: Config['fleet'];
  /** The rig's own temperature limits. */
  readonly temperatureLimits: LimitsOf;
  readonly restart: Restart;
  /** Reads the configuration, to make sure that mining can begin again. */
  readonly reload: () => Promise<unknown>;
  /** The name of the source of work. */
  readonly sourceName: string;
  /** Whether this member is a coordinator, which mines its own work. */
  readonly isCoordinator: boolean;
}

/**
 * Makes the sidecar that reports to the fleet's operators and carries out their requests.
 * @param member the caller opens and closes its link
 * @returns the sidecar, and the rig's temperature limits combined with those of the operators
 */
export function fleetSidecar(
  { link, subjects, name, instance }: FleetMember,
  { settings, temperatureLimits: ownLimits, restart, reload, sourceName, isCoordinator }: FleetSidecarOptions,
): { readonly sidecar: Sidecar; readonly temperatureLimits: LimitsOf } {
  const { group, control } = settings;
  const limits = new OperatorLimits();
  const sidecar: Sidecar = async ({ events, tally, controls, clock, log }) => {
    const ownCoordinator = isCoordinator ? name : undefined;
    const reporter = new RigReporter({ instance, group, control, sourceName, ownCoordinator });
    const forget = events.on(reporter.listen);
    const rigControl = new RigControl({
      link,
      subjects,
      rigName: name,
      isAllowed: control,
      controls,
      status: () => tally.status(),
      limits,
      ownLimits,
      prepareRestart: async () => {
        await reload();
        return () => restart.ask();
      },
      clock,
      random: Math.random,
      info: (line) => log.info(TAG, line),
      warn: (line) => log.warn(TAG, line),
    });
    const stopping = new AbortController();
    const { signal } = stopping;
    const reporting = (async () => {
      // The first report has a random delay, so that rigs that start at the same time do not report at the same time.
      await pause(Math.random() * REPORT_MS, signal);
      while (!signal.aborted) {
        const report = reporter.report(tally.status());
        if (report) publish(link, subjects.report(name), report);
        await pause(REPORT_MS, signal);
      }
    })();
    if (control) log.info(TAG, 'operators of the fleet may pause, resume and restart this rig, and limit temperatures');
    return async () => {
      stopping.abort();
      await reporting;
      rigControl.close();
      forget();
    };
  };
  return { sidecar, temperatureLimits: limits.within(ownLimits) };
}
