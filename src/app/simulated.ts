/** `--simulate`: hashers that do not hash, for test networks that check no proof of work. */

import type { Logger } from 'pino';
import type { Simulation } from '../config/setting-types/rig.ts';
import type { Config } from '../config/settings.ts';
import { DelayPace, HashratePace, OnDemandPace, type Pace, SimulatedRelay } from '../mock-node/simulated-relay.ts';
import { servedNetwork } from '../node/config.ts';
import { NodeError } from '../node/errors.ts';
import { MiningClient } from '../node/mining.ts';
import { nodeAddress } from '../node/url.ts';
import { version } from '../system/version.ts';
import { UsageError, whyNotListening } from './exit.ts';
import { nodeTrust } from './node-api.ts';
import type { MakeRelay } from './run-miner.ts';

const TAG = { tag: 'simulated' };
/** Every name of a network whose blocks are worth something begins like this. */
const MAIN = /mainnet/i;

/**
 * @param asks whether nodes are asked which network they serve
 * @throws UsageError when the settings name the main network, a node says that it serves it, or a node does not answer
 */
export async function simulatedHasher(
  how: Simulation,
  node: Config['node'],
  log: Logger,
  asks: boolean,
): Promise<MakeRelay> {
  refuseMainNetwork(node);
  if (asks) for (const url of node.urls ?? []) await askNode(url, node, log);
  const pace = paceOf(how);
  return ({ source, emit, clock }) => {
    const warn = (line: string) => log.warn(TAG, line);
    const relay = new SimulatedRelay({ pace, source, emit, clock, random: Math.random, warn });
    const open = async () => {
      try {
        await relay.open();
      } catch (fault) {
        const port = how.kind === 'on-demand' ? how.address.port : 0;
        throw new UsageError(`cannot listen for --simulate: ${whyNotListening(fault as NodeJS.ErrnoException, port)}.`);
      }
      warn(
        `simulates ${pace.what}. Its blocks have no proof of work: only a test network that checks none accepts them`,
      );
    };
    return { name: relay.name, open, run: (stop) => relay.run(stop) };
  };
}

/** @throws UsageError when the settings name the main network */
function refuseMainNetwork({ urls = [], network = '' }: Config['node']): void {
  const named = [network, ...urls].find((name) => MAIN.test(name));
  if (named === undefined) return;
  throw new UsageError(
    `--simulate submits blocks without proof of work, which is for test networks only; ${MAIN.exec(named)![0]} is none. ` +
      'Name a test network, or mine with devices.',
  );
}

/** @throws UsageError unless the node serves another network than the main one, or answers without saying which */
async function askNode(url: string, node: Config['node'], log: Logger): Promise<void> {
  const address = nodeAddress(url, node.network ?? '');
  const trust = nodeTrust(url, node);
  const client = new MiningClient({ address, trust, userAgent: `pickaxe/${version}` });
  try {
    const served = servedNetwork(await client.config(new AbortController().signal));
    if (served === undefined) log.warn(TAG, `${address.name} does not say which network it serves`);
    else if (MAIN.test(served)) {
      throw new UsageError(
        `--simulate submits blocks without proof of work, which is for test networks only; ${address.name} says that it ` +
          `serves ${served}. Name a node of a test network, or mine with devices.`,
      );
    }
  } catch (fault) {
    if (!(fault instanceof NodeError)) throw fault;
    if (fault.kind !== 'refused') {
      throw new UsageError(`--simulate needs to know which network ${address.name} serves: ${fault.message}`);
    }
    log.warn(TAG, `${address.name} does not say which network it serves`);
  } finally {
    await client.close();
  }
}

function paceOf(how: Simulation): Pace {
  if (how.kind === 'hashrate') return new HashratePace(how.hashesPerSecond, Math.random);
  return how.kind === 'delay' ? new DelayPace(how.seconds) : new OnDemandPace(how.address);
}
