/** Makes relays from the settings: a stratum server, an external worker, a simulated hasher. */

import { isIPv4 } from 'node:net';
import { availableParallelism, totalmem } from 'node:os';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Logger } from 'pino';
import type { Clock } from '../../base/system/clock.ts';
import { PrivateFile } from '../../base/system/private-file.ts';
import type { Command } from '../../base/system/process-group.ts';
import { systemReport } from '../../base/system/version.ts';
import { formatHttpAddress } from '../../base/text/addresses.ts';
import { ExternalRelay } from '../../miner/relay/external-relay.ts';
import type { Relay } from '../../miner/relay/relay.ts';
import { Ledger } from '../../miner/relay/stratum/share-log.ts';
import { mostConnections, type Resources } from '../../miner/relay/stratum/stratum-limits.ts';
import { StratumRelay } from '../../miner/relay/stratum/stratum-server.ts';
import { NodeError } from '../../node/http/node-error.ts';
import { nodeAddress } from '../../node/http/url.ts';
import { askNetwork } from '../../rig/survey/examine-node.ts';
import type { Simulation } from '../config/setting-types/rig.ts';
import type { Config } from '../config/settings.ts';
import { certificatesIn, nodeTrust, secretTextIn } from '../nodes/node-clients.ts';
import { UsageError, whyNotListening } from '../process/exit.ts';
import { type MakeRelay, relayLog } from './run-miner.ts';

const TAG = { tag: 'stratum' };
const SIMULATED = { tag: 'simulated' };
/** Shortest prefix, in bits, of a network with at most 256 addresses, by IP version. */
const FEW_PROXIES_BITS = { 4: 24, 6: 120 };

/** Makes the stratum server of `--stratum-listen`. @throws UsageError when the certificate or its key cannot be used */
export function stratumServer({ listen, ledger, ...settings }: Config['stratum'], log: Logger): MakeRelay {
  if (!listen) throw new Error('no address to listen on');
  const secureContext = contextOf(settings);
  const { shareSeconds, proxies = [] } = settings;
  const resources = resourcesHere();
  const { count: connections, short } = mostConnections(resources);
  return ({ source, emit, clock, lane }) => {
    const relay = new StratumRelay({
      source,
      emit,
      clock,
      lane,
      listen,
      shareSeconds,
      proxies,
      log: relayLog(log, TAG.tag),
      limits: { connections },
      ...(secureContext && { secureContext }),
      ...(ledger !== undefined && { openLedger: () => openLedger(ledger, log, clock) }),
    });
    const opened = () => {
      const at = formatHttpAddress({ host: listen.host, port: relay.port ?? listen.port });
      log.info(TAG, `listening at stratum+${secureContext ? 'ssl' : 'tcp'}://${at}`);
      if (short !== undefined) log.info(TAG, `at most ${connections} connections: ${why(short, resources)}`);
      for (const network of proxies.filter(hasManyAddresses)) {
        log.warn(
          TAG,
          `--stratum-proxy-protocol ${network}: each of these addresses can name any client, and have it banned`,
        );
      }
    };
    return listening(relay, `on --stratum-listen ${formatHttpAddress(listen)}`, listen.port, opened);
  };
}

/**
 * @param where what follows “cannot listen” in the error: “on” or “for”, and the setting
 * @param opened called when the relay listens
 * @returns a relay like `relay`, except that `open` throws a UsageError if the relay cannot listen
 */
function listening(relay: Relay, where: string, port: number, opened: () => void): Relay {
  const open = async () => {
    try {
      await relay.open();
    } catch (fault) {
      if (fault instanceof UsageError) throw fault;
      throw new UsageError(`cannot listen ${where}: ${whyNotListening(fault as NodeJS.ErrnoException, port)}.`);
    }
    opened();
  };
  return { name: relay.name, open, run: (stop) => relay.run(stop) };
}

function resourcesHere(): Resources {
  // The soft limit is in force. Where the system allows it, Node.js raises this limit to the hard limit at its start.
  const soft = systemReport().userLimits?.open_files?.soft;
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return { files: typeof soft === 'number' ? soft : undefined, memory, threads: availableParallelism() };
}

function why(short: 'files' | 'memory', { files, memory }: Resources): string {
  if (short === 'memory') return `a quarter of ${(memory / 2 ** 30).toFixed(1)} GiB of memory is for them`;
  return `this process may have ${files} files open, and some are kept for the nodes and the HTTP API`;
}

/** @param proxy the address of a proxy, or a network of proxies like 10.0.0.0/8 */
function hasManyAddresses(proxy: string): boolean {
  const [address, bits] = proxy.split('/');
  return bits !== undefined && Number(bits) < FEW_PROXIES_BITS[isIPv4(address) ? 4 : 6];
}

/** @throws UsageError when the file cannot be written */
async function openLedger(path: string, log: Logger, clock: Clock): Promise<Ledger> {
  const appended = new PrivateFile(path);
  await appended.open().catch((fault: Error) => {
    throw new UsageError(`--stratum-ledger: ${path} cannot be written: ${fault.message}`);
  });
  const file = { write: (bytes: Buffer) => appended.append(bytes), close: () => appended.close() };
  return new Ledger(file, { clock, warn: (line) => log.warn(TAG, `${line}: ${path}`) });
}

/** @throws UsageError about the files; the message does not repeat the key */
function contextOf({ tlsCert, tlsKey }: Pick<Config['stratum'], 'tlsCert' | 'tlsKey'>): SecureContext | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const key = secretTextIn(tlsKey, '--stratum-tls-key');
  const cert = certificatesIn(tlsCert, '--stratum-tls-cert').join('\n');
  try {
    return createSecureContext({ cert, key, minVersion: 'TLSv1.2' });
  } catch (fault) {
    throw new UsageError(
      `--stratum-tls-cert ${tlsCert} and --stratum-tls-key ${tlsKey} cannot be used: ${(fault as Error).message}`,
    );
  }
}

/** Makes the relay that runs the command of `--external-worker`. */
export function externalWorker(command: Command, log: Logger): MakeRelay {
  return ({ source, emit, clock }) => {
    return new ExternalRelay({ command, source, emit, clock, log: relayLog(log, 'external-worker') });
  };
}

/** Matches the names of main networks. Only blocks of main networks have value. */
const MAIN = /mainnet/i;

/**
 * Makes the relay of `--simulate`, which submits blocks without hashing.
 * @param asks whether each node is asked which network it serves
 * @throws UsageError when the settings or a node name the main network, or when a node that is asked does not answer
 */
export async function simulatedHasher(
  how: Simulation,
  node: Config['node'],
  log: Logger,
  asks: boolean,
): Promise<MakeRelay> {
  refuseMainNetwork(node);
  if (asks) for (const url of node.urls ?? []) await askNode(url, node, log);
  const { DelayPace, HashratePace, OnDemandPace, SimulatedRelay } = await import(
    '../../miner/relay/simulated-relay.ts'
  );
  const paceOf = (random: () => number) => {
    if (how.kind === 'hashrate') return new HashratePace(how.hashesPerSecond, random);
    return how.kind === 'delay' ? new DelayPace(how.seconds) : new OnDemandPace(how.address);
  };
  return ({ source, emit, clock, random }) => {
    const pace = paceOf(random);
    const warn = (line: string) => log.warn(SIMULATED, line);
    const relay = new SimulatedRelay({ pace, source, emit, clock, random, warn });
    const opened = () =>
      warn(
        `simulates ${pace.what}. Its blocks have no proof of work: only a test network that checks none accepts them`,
      );
    return listening(relay, 'for --simulate', how.kind === 'on-demand' ? how.address.port : 0, opened);
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

/** @throws UsageError when the node serves the main network or does not answer */
async function askNode(url: string, node: Config['node'], log: Logger): Promise<void> {
  const { name } = nodeAddress(url, node.network ?? '');
  const served = await askNetwork({ url, network: node.network, trust: nodeTrust(url, node) }).catch((fault) => {
    if (!(fault instanceof NodeError)) throw fault;
    throw new UsageError(`--simulate needs to know which network ${name} serves: ${fault.message}`);
  });
  if (served === undefined) log.warn(SIMULATED, `${name} does not say which network it serves`);
  else if (MAIN.test(served)) {
    throw new UsageError(
      `--simulate submits blocks without proof of work, which is for test networks only; ${name} says that it ` +
        `serves ${served}. Name a node of a test network, or mine with devices.`,
    );
  }
}
