/** What a rig of a fleet does beside mining: it reports to the fleet's operators, and follows their requests. */

import type { Config } from '../config/settings.ts';
import { RigControl } from '../fleet/control.ts';
import type { FleetLimits } from '../fleet/limits.ts';
import { RigReporter } from '../fleet/rig-reporter.ts';
import type { LimitsOf } from '../mine/device-health.ts';
import { pause } from '../system/abort.ts';
import { messageBytes } from '../wire/fleet.ts';
import type { FleetMember } from './fleet-link.ts';
import type { Restart } from './restarts.ts';
import type { Sidecar } from './run-miner.ts';

/** Minimum time between a rig's reports. */
const REPORT_MS = 10_000;
const TAG = { tag: 'fleet' };

interface FleetSidecarOptions {
  readonly settings: Config['fleet'];
  /** Set by the operators. */
  readonly limits: FleetLimits;
  readonly ownLimits: LimitsOf;
  readonly restart: Restart;
  /** Reads the configuration, to make sure that mining can begin again. */
  readonly reload: () => Promise<unknown>;
  /** The name of the source of work. */
  readonly sourceName: string;
  /** Whether this member gives work itself, which its own devices mine. */
  readonly isCoordinator: boolean;
}

/** @param member whose connection somebody else closes */
export function fleetSidecar(
  { link, subjects, name, instance }: Pick<FleetMember, 'link' | 'subjects' | 'name' | 'instance'>,
  { settings, limits, ownLimits, restart, reload, sourceName, isCoordinator }: FleetSidecarOptions,
): Sidecar {
  const { group, control } = settings;
  return async ({ events, tally, controls, clock, log }) => {
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
      // A random phase, so that the rigs of a fleet do not all report at once, even if they start at once.
      await pause(Math.random() * REPORT_MS, signal);
      while (!signal.aborted) {
        const report = reporter.report(tally.status());
        if (report) link.publish(subjects.report(name), messageBytes(report));
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
}
