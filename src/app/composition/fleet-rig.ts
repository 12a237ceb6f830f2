/**
 * The parts of a fleet's member: a rig's source of work, and the sidecar that reports to operators and carries out
 * their requests.
 */

import { pause } from '../../base/system/abort.ts';
import { publish } from '../../fleet/nats/requests.ts';
import { FleetSource } from '../../fleet/rig/fleet-source.ts';
import { OperatorLimits, RigControl } from '../../fleet/rig/rig-control.ts';
import { RigReporter } from '../../fleet/rig/rig-reporter.ts';
import type { Events } from '../../miner/events/events.ts';
import type { LimitsOf } from '../../miner/loop/thermal-guard.ts';
import { namedNetwork } from '../../miner/source/source.ts';
import type { Config } from '../config/settings.ts';
import { UsageError } from '../process/exit.ts';
import type { Restart } from '../process/restarts.ts';
import type { RigContext } from './context.ts';
import { type FleetMember, NO_SERVER } from './fleet-link.ts';
import type { Sidecar } from './run-miner.ts';

/** Pause between two reports to the operators. */
const REPORT_MS = 10_000;
const TAG = { tag: 'fleet' };

/** @param member this rig, whose link the caller opens and closes @throws UsageError when no server is configured */
export function fleetSource(
  { nats, node }: Pick<Config, 'nats' | 'node'>,
  member: FleetMember | undefined,
  { emit }: Events,
  { clock, random }: RigContext,
): FleetSource {
  if (!member) throw new UsageError(NO_SERVER);
  const { link, subjects, name: rig } = member;
  const network = namedNetwork(node.network);
  return new FleetSource({ name: (nats.urls ?? []).join(', '), link, subjects, rig, network }, { emit, clock, random });
}

interface FleetSidecarOptions {
  readonly settings: Config['fleet'];
  /** The rig's own temperature limits. */
  readonly temperatureLimits: LimitsOf;
  readonly restart: Restart;
  /** Reads the configuration before a restart, to make sure that mining can begin again. */
  readonly reload: () => Promise<unknown>;
  readonly sourceName: string;
  /** Whether this member is a coordinator. A coordinator mines its own work, and its reports say so. */
  readonly isCoordinator: boolean;
  readonly context: Pick<RigContext, 'random'>;
}

/**
 * Makes the sidecar that reports to the fleet's operators and carries out their requests.
 * @param member this rig or coordinator, whose link the caller opens and closes
 * @returns the sidecar, and the temperature limits in effect: those of the rig, which operators can lower
 */
export function fleetSidecar(
  { link, subjects, name, instance }: FleetMember,
  { settings, temperatureLimits: ownLimits, restart, reload, sourceName, isCoordinator, context }: FleetSidecarOptions,
): { readonly sidecar: Sidecar; readonly temperatureLimits: LimitsOf } {
  const { group, control } = settings;
  const { random } = context;
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
      random,
      info: (line) => log.info(TAG, line),
      warn: (line) => log.warn(TAG, line),
    });
    const stopping = new AbortController();
    const { signal } = stopping;
    const reporting = (async () => {
      // The first report has a random delay, so that rigs started at the same time do not report at the same time.
      await pause(clock, random() * REPORT_MS, signal);
      while (!signal.aborted) {
        const report = reporter.report(tally.status());
        if (report) publish(link, subjects.report(name), report);
        await pause(clock, REPORT_MS, signal);
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
