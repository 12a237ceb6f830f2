/** Finds settings that are fine one by one and contradict each other. Each contradiction is one sentence. Pure. */

import { hasPath } from '../node/url.ts';
import { formatHttpAddress, isLoopback } from '../text/http-address.ts';
import { misspeltNetwork } from './networks.ts';
import { originOf, type PerNode, valuesFor } from './per-node.ts';
import { valueForGpu, valuesForGpus } from './setting-types/per-gpu.ts';
import type { Config } from './settings.ts';

/** The settings that say where to mine and for whom, and whom else to serve. */
type MinerSettings = Pick<Config, 'node' | 'pool' | 'miner'> & Partial<Pick<Config, 'stratum' | 'testNetwork'>>;

export const NO_NETWORK = 'No network is configured. Give one with --network, like --network mainnet01.';

/** Whether neither a setting nor the paths of the nodes' URLs name the network. */
export function lacksNetwork({ urls = [], network }: Config['node']): boolean {
  return network === undefined && !urls.every(hasPath);
}

/** Checks the settings that `pickaxe mine` needs beside a node and a key, or beside a pool. */
export function minerContradictions(settings: MinerSettings): string[] {
  const { node, pool, miner } = settings;
  const { urls = [] } = node;
  const { publicKeys = [], account } = miner;
  if (pool.urls !== undefined) return poolContradictions(settings);
  return present([
    publicKeys.length > 1 &&
      account === undefined &&
      'With several keys there is no default account: give one with --account NAME.',
    lacksNetwork(node) && NO_NETWORK,
    misspelt(node),
    ...certificates('node', urls, node, node.insecureTls),
  ]);
}

function poolContradictions({ node, pool, miner, stratum, testNetwork }: MinerSettings): string[] {
  const { urls = [], user, password, passwordFile } = pool;
  const { publicKeys: [key] = [] } = miner;
  return present([
    node.urls !== undefined &&
      'Nodes (--node, node.urls) and pools (--pool, pool.urls) cannot be mined on at the same time: remove one of them.',
    stratum?.listen !== undefined &&
      '--stratum-listen needs a node: it tells sessions apart by bytes of the nonce (nonce1) that a pool has fixed already.',
    testNetwork?.simulate !== undefined &&
      '--simulate needs a node of a test network: a pool takes no shares without proof of work.',
    user === undefined &&
      'No user is configured for the pool. Give one with --user, like --user NAME.WORKER.' +
        (key === undefined ? '' : ` A public key is for nodes; most pools take --user k:${key}.rig1.`),
    password !== undefined && passwordFile !== undefined && 'Give --password or --password-file, not both.',
    ...certificates('pool', urls, pool, node.insecureTls),
  ]);
}

/** A network that pickaxe does not know can be real. It is accepted where the path of each node URL names it. */
function misspelt({ urls = [], network }: Config['node']): Perhaps {
  const meant = network === undefined ? undefined : misspeltNetwork(network);
  const bare = urls.find((url) => !hasPath(url));
  if (meant === undefined || bare === undefined) return false;
  const full = `${new URL(bare).origin}/ledger/0.0/${network}`;
  return `The network ${network} is not known. Did you mean ${meant}? If not, write it into the node URL: --node ${full}.`;
}

/** Settings about certificates must name a node or pool that has one, and must not contradict each other. */
function certificates(
  kind: Kind,
  urls: readonly string[],
  { fingerprints = [], caFiles = [] }: Pick<Config['node'], 'fingerprints' | 'caFiles'>,
  insecureTls: boolean,
): Perhaps[] {
  if (urls.length === 0) return [];
  const isFor = (url: string, all: readonly PerNode[]) => valuesFor(url, all).length > 0;
  const ownFiles = urls.length === 1 ? caFiles : caFiles.filter(({ origin }) => origin !== undefined);
  const both = urls.find((url) => isFor(url, fingerprints) && isFor(url, ownFiles));
  const [pin, file] = [`--${kind}-fingerprint`, `--${kind}-ca-file`];
  const either = fingerprints.length > 0 ? pin : caFiles.length > 0 && file;
  return [
    ...fingerprints.map((one) => withoutNode(kind, pin, one, urls) || withoutUrl(kind, one, urls)),
    ...caFiles.map((one) => withoutNode(kind, file, one, urls)),
    both !== undefined && `${originOf(both)} has a ${pin}, which needs no ${file}: remove one of them.`,
    insecureTls && either && `--insecure-tls accepts any certificate, and ${either} does not: give only one of them.`,
  ];
}

type Kind = 'node' | 'pool';

/** How the URLs begin where there is a certificate. */
const SECURE = { node: 'https://', pool: 'stratum+ssl://' } as const;

/** @returns what is wrong with the node or pool that a setting names, or with all of them if it names none */
function withoutNode(kind: Kind, flag: string, { origin: named }: PerNode, urls: readonly string[]): Perhaps {
  const origins = urls.map(originOf);
  const meant = origins.filter((origin) => named === undefined || named === origin);
  if (meant.length === 0) {
    return `${flag} names ${named}, which is not one of the ${kind}s (${origins.join(', ')}): correct its URL, or remove the setting.`;
  }
  if (meant.some((origin) => origin?.startsWith(SECURE[kind]))) return false;
  return `${flag} needs a ${kind} URL that begins with ${SECURE[kind]}, unlike ${meant.join(' and ')}.`;
}

function withoutUrl(kind: Kind, { origin, value }: PerNode, urls: readonly string[]): Perhaps {
  if (urls.length === 1 || origin !== undefined) return false;
  const url = urls.find((url) => url.toLowerCase().startsWith(SECURE[kind])) ?? urls[0];
  return `There are ${urls.length} ${kind}s: write --${kind}-fingerprint with the URL of one of them, like ${originOf(url)}=${value}.`;
}

/** Checks the settings of every command that mines, whatever the node is. */
export function rigContradictions({ devices, gpu, http, webhook, alarm, stratum }: Config): string[] {
  return present([
    ...gpuTemperatures(devices),
    ...givenTwice('--temp-limit', gpusOf(devices.tempLimit)),
    ...givenTwice('--temp-resume', gpusOf(devices.tempResume)),
    ...givenTwice('--gpu-batch-ms', gpusOf(gpu.batchMs)),
    ...temperatures('--cpu-temp', devices.cpuTempLimit, devices.cpuTempResume),
    ...server(http),
    webhook.url !== undefined && webhook.urlFile !== undefined && 'Give --webhook or --webhook-file, not both.',
    webhook.tokenFile !== undefined &&
      webhook.url === undefined &&
      webhook.urlFile === undefined &&
      '--webhook-token-file needs a --webhook.',
    ...givenTwice(
      '--min-hashrate',
      (alarm.minHashrate ?? []).map(({ device = 'the rig' }) => device),
    ),
    ...stratumServer(stratum),
  ]);
}

type Perhaps = string | false;

function present(all: readonly Perhaps[]): string[] {
  return all.filter((one) => one !== false);
}

/** Checks what holds for all GPUs, and for each that has a value of its own. */
function gpuTemperatures({ tempLimit, tempResume }: Config['devices']): Perhaps[] {
  const named = [...gpusOf(tempLimit), ...gpusOf(tempResume)].filter((name) => name !== 'all GPUs');
  return [undefined, ...new Set(named)].flatMap((name) =>
    temperatures('--temp', valueForGpu(tempLimit, name) ?? 'none', valueForGpu(tempResume, name), name),
  );
}

/** @param flag how the flags of both temperatures begin @param name the GPU that they are for, where it is one */
function temperatures(flag: string, limit: number | 'none', resume: number | undefined, name?: string): Perhaps[] {
  if (resume === undefined) return [];
  const of = name === undefined ? '' : ` for ${name}`;
  return [
    limit === 'none' && `${flag}-resume needs a ${flag}-limit${of}.`,
    limit !== 'none' && resume >= limit && `${flag}-resume (${resume}) must be below ${flag}-limit (${limit})${of}.`,
  ];
}

function server({ listen, tokenFile, control }: Config['http']): Perhaps[] {
  if (!listen) {
    return [(tokenFile !== undefined || control) && '--http-token-file and --http-control need --http [HOST:]PORT.'];
  }
  return [
    tokenFile === undefined &&
      !isLoopback(listen.host) &&
      `--http ${formatHttpAddress(listen)} can be reached by other machines: give a file with a token (--http-token-file FILE).`,
  ];
}

function stratumServer({ listen, ledger, proxies, tlsCert, tlsKey }: Config['stratum']): Perhaps[] {
  const needless = [
    ledger !== undefined && '--stratum-ledger',
    proxies !== undefined && '--stratum-proxy-protocol',
    tlsCert !== undefined && '--stratum-tls-cert',
    tlsKey !== undefined && '--stratum-tls-key',
  ].filter((flag) => flag !== false);
  if (!listen) return needless.map((flag) => `${flag} needs --stratum-listen [HOST:]PORT.`);
  return [
    (tlsCert === undefined) !== (tlsKey === undefined) &&
      'Give both --stratum-tls-cert and --stratum-tls-key, or neither.',
  ];
}

/** @param whose for whom or what each value is */
function givenTwice(flag: string, whose: readonly string[]): string[] {
  const twice = new Set(whose.filter((one, index) => whose.indexOf(one) < index));
  return [...twice].map((one) => `${flag} is given twice for ${one}.`);
}

function gpusOf(values: Parameters<typeof valuesForGpus>[0]): string[] {
  return valuesForGpus(values).map(({ gpu = 'all GPUs' }) => gpu);
}
