/**
 * Composes the source, the relays and the sidecars of a rig or a coordinator, which run-miner.ts runs. Nothing here
 * touches files, signals or terminals, so that whole fleets can also run in one process, in the time of another clock.
 */

import type { Logger } from 'pino';
import type { ParentOf } from '../../fleet/coordinator/fleet-relay.ts';
import type { SubmitElsewhere } from '../../fleet/coordinator/solutions.ts';
import type { Events } from '../../miner/events/events.ts';
import type { LimitsOf } from '../../miner/loop/thermal-guard.ts';
import { minerIdentity } from '../../node/client/miner-identity.ts';
import type { Config } from '../config/settings.ts';
import { askBalance, openLedgerViews } from '../nodes/ledger-views.ts';
import type { Restart } from '../process/restarts.ts';
import type { BlockLogOptions } from './block-recorder.ts';
import type { ChosenSource } from './choose-source.ts';
import type { RigContext } from './context.ts';
import type { FleetMember } from './fleet-link.ts';
import { type LiveConfig, restartOnChange } from './reload.ts';
import { type MakeRelay, type RigParts, relayLog, type Sidecar } from './run-miner.ts';
import { nodes } from './sidecars.ts';

export interface Parts {
  /** The configured nodes or pools as one source. Absent on a rig that mines for a fleet. */
  readonly chosen?: ChosenSource | undefined;
  /** This rig or coordinator in its fleet; its owner opens and closes the link. Absent on a rig of no fleet. */
  readonly member?: FleetMember | undefined;
  readonly live: LiveConfig;
  readonly events: Events;
  readonly context: RigContext;
  readonly log: Logger;
  /** The rig's own temperature limits. */
  readonly temperatureLimits: LimitsOf;
  readonly restart: Restart;
  /** Reads the configuration before a restart that operators ask for, to make sure that mining can begin again. */
  readonly reload: () => Promise<unknown>;
  /** Makes the block log of a rig on nodes; returns undefined if the settings turn it off. */
  readonly blockLog: (options: BlockLogOptions, live: LiveConfig) => Sidecar | undefined;
}

type Composed = Pick<RigParts, 'source' | 'askBalance'> & {
  readonly relays: readonly MakeRelay[];
  readonly sidecars: readonly Sidecar[];
  /** The limits in effect: the rig's own, which operators of a fleet can lower. */
  readonly temperatureLimits: LimitsOf;
};

/**
 * Composes a rig on nodes or pools, which has a `chosen` source; a rig of a fleet, which is a `member`; or a
 * coordinator, which has both. From now on, `chosen` follows changes of the settings.
 * @throws UsageError when there is neither
 */
export async function composeRig(parts: Parts): Promise<Composed> {
  const { chosen, member, live, events, context, temperatureLimits: ownLimits, restart, reload } = parts;
  if (chosen) live.beforeChange((next) => chosen.prepare(next));
  const source = chosen?.source ?? (await import('./fleet-rig.ts')).fleetSource(live.config, member, events, context);
  const settings = live.config.fleet;
  const how = { settings, temperatureLimits: ownLimits, restart, reload, sourceName: source.name, context };
  const fleet =
    member && (await import('./fleet-rig.ts')).fleetSidecar(member, { ...how, isCoordinator: chosen !== undefined });
  // Sidecars end in reverse order. The block log is last here, so it ends first, and the others get its last events.
  const sidecars = [fleet?.sidecar, chosen && (await nodeWatch(chosen, parts)), chosen && blockLog(chosen, parts)];
  return {
    source,
    relays: chosen && member ? [await coordinator(member, chosen, parts)] : [],
    sidecars: sidecars.filter((sidecar) => sidecar !== undefined),
    temperatureLimits: fleet?.temperatureLimits ?? ownLimits,
    ...(chosen && balance(parts)),
  };
}

/** @returns the relay that gives the work of a coordinator's nodes or pools to the rigs of its fleet */
async function coordinator(
  { link, subjects, name, instance }: FleetMember,
  chosen: ChosenSource,
  { live, context, log }: Parts,
): Promise<MakeRelay> {
  const { FleetRelay } = await import('../../fleet/coordinator/fleet-relay.ts');
  const { parentHeader } = await import('../nodes/parent-header.ts');
  const faultOfSource = () => chosen.source.fault;
  const submitElsewhere: SubmitElsewhere = (solution, stop) => chosen.submitElsewhere(solution, stop);
  const parentOf: ParentOf = (work, stop) => parentHeader(live.config, work, stop, context);
  // Pools accept only shares of their own jobs, and serve no block headers.
  const ofNodes = live.config.pool.urls === undefined && { submitElsewhere, parentOf };
  return ({ source, emit, clock }) => {
    const parts = { source, emit, clock, log: relayLog(log, 'fleet'), link, subjects, name, instance };
    return new FleetRelay({ ...parts, faultOfSource, ...ofNodes });
  };
}

/** @returns the node watch, which restarts when a setting about nodes changes; undefined when mining on pools */
async function nodeWatch(chosen: ChosenSource, { live, context }: Parts): Promise<Sidecar | undefined> {
  if (live.config.pool.urls) return undefined;
  const make = async (config: Config) => {
    const watched = chosen.nodes;
    // A node that is no longer configured has no rank any more, so its health is of no use.
    const judge = (at: number, fault: string | undefined) => {
      const rank = chosen.nodes.indexOf(watched[at]);
      if (rank >= 0) chosen.source.judge(rank, fault);
    };
    return nodes({ settings: config, source: { judge }, context }, config.stratum.listen !== undefined);
  };
  return await restartOnChange(live, ({ node }) => node, make);
}

/**
 * @returns the block log; undefined if the settings turn it off, if no public key is configured, or when mining on
 *   pools, which follow their blocks themselves
 */
function blockLog(chosen: ChosenSource, { live, context, blockLog }: Parts): Sidecar | undefined {
  const { blocks: settings, node, ledger, pool, miner } = live.config;
  const identity = minerIdentity(miner);
  if (pool.urls || !identity) return undefined;
  const { account, ...keyset } = identity;
  const leave = (name: string, reason: string) => chosen.source.leave(name, reason);
  const openViews: BlockLogOptions['openViews'] = (asked) => openLedgerViews(asked, context);
  return blockLog({ settings, node, ledger, account, keyset, leave, openViews }, live);
}

/** @returns `askBalance`, which asks nodes for the account's balance; nothing when mining on pools */
function balance({ live, context }: Parts): Pick<RigParts, 'askBalance'> {
  return live.config.pool.urls ? {} : { askBalance: (stop) => askBalance(live.config, stop, context) };
}
