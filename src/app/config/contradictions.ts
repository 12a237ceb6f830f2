/** Finds settings that are valid one by one, but contradict each other. */

import { formatHttpAddress, isLoopback } from '../../base/text/addresses.ts';
import { hasPath } from '../../node/http/url.ts';
import { misspeltNetwork } from './known-names.ts';
import { originOf, type PerNode, valuesFor } from './setting-types/addresses.ts';
import { valueForGpu, valuesForGpus } from './setting-types/basic.ts';
import type { Config } from './settings.ts';

export interface Contradiction {
  /** Paths of the settings that the contradiction is about. Errors name the place of the first one that is set. */
  readonly about: readonly string[];
  /** One sentence or two: what is wrong, and what to do. */
  readonly message: string;
}

/**
 * The settings that decide where to mine: on nodes, on pools or for a fleet. A coordinator's settings lack `nats`,
 * because a coordinator mines on nodes or pools.
 */
type MinerSettings = Pick<Config, 'node' | 'pool' | 'miner'> &
  Partial<Pick<Config, 'nats' | 'stratum' | 'testNetwork'>>;

const NO_NETWORK: Contradiction = {
  about: ['node.urls', 'node.network'],
  message: 'No network is configured. Give one with --network, like --network mainnet01.',
};

export function lacksNetwork({ urls = [], network }: Config['node']): boolean {
  return network === undefined && !urls.every(hasPath);
}

/** Checks the settings that decide where to mine. choose-source.ts reports missing nodes and keys. */
export function minerContradictions(settings: MinerSettings): Contradiction[] {
  const { node, pool, miner } = settings;
  const { urls = [] } = node;
  const { publicKeys = [], account } = miner;
  if (settings.nats?.urls !== undefined) return fleetContradictions(settings);
  if (pool.urls !== undefined) return poolContradictions(settings);
  return present([
    publicKeys.length > 1 &&
      account === undefined && {
        about: ['miner.public-keys', 'miner.account'],
        message: 'With several keys there is no default account: give one with --account NAME.',
      },
    lacksNetwork(node) && NO_NETWORK,
    misspelt(node),
    ...certificates('node', urls, node, node.insecureTls),
  ]);
}

function fleetContradictions({ node, pool, stratum, testNetwork }: MinerSettings): Contradiction[] {
  const remedy = 'remove one of them, or give the work to the fleet with pickaxe coordinate.';
  return present([
    node.urls !== undefined && {
      about: ['nats.urls', 'node.urls'],
      message: `A fleet (--nats, nats.urls) and nodes (--node, node.urls) cannot be mined on at the same time: ${remedy}`,
    },
    pool.urls !== undefined && {
      about: ['nats.urls', 'pool.urls'],
      message: `A fleet (--nats, nats.urls) and pools (--pool, pool.urls) cannot be mined on at the same time: ${remedy}`,
    },
    stratum?.listen !== undefined && {
      about: ['stratum.listen', 'nats.urls'],
      message:
        '--stratum-listen cannot be used on a rig of a fleet: give it to the coordinator (pickaxe coordinate), which serves ASICs beside the rigs.',
    },
    testNetwork?.simulate !== undefined && {
      about: ['test-network.simulate', 'nats.urls'],
      message: '--simulate needs a node of a test network: a coordinator takes no solutions without proof of work.',
    },
  ]);
}

function poolContradictions({ node, pool, miner, stratum, testNetwork }: MinerSettings): Contradiction[] {
  const { urls = [], user, password, passwordFile } = pool;
  const { publicKeys: [key] = [] } = miner;
  return present([
    node.urls !== undefined && {
      about: ['pool.urls', 'node.urls'],
      message:
        'Nodes (--node, node.urls) and pools (--pool, pool.urls) cannot be mined on at the same time: remove one of them.',
    },
    stratum?.listen !== undefined && {
      about: ['stratum.listen', 'pool.urls'],
      message:
        '--stratum-listen needs a node: it tells sessions apart by bytes of the nonce (nonce1) that a pool has fixed already.',
    },
    testNetwork?.simulate !== undefined && {
      about: ['test-network.simulate', 'pool.urls'],
      message: '--simulate needs a node of a test network: a pool takes no shares without proof of work.',
    },
    user === undefined && {
      about: ['pool.urls', 'pool.user'],
      message:
        'No user is configured for the pool. Give one with --user, like --user NAME.WORKER.' +
        (key === undefined ? '' : ` A public key is for nodes; most pools take --user k:${key}.rig1.`),
    },
    password !== undefined &&
      passwordFile !== undefined && {
        about: ['pool.password', 'pool.password-file'],
        message: 'Give --password or --password-file, not both.',
      },
    ...certificates('pool', urls, pool, node.insecureTls),
  ]);
}

/**
 * Finds a network that is probably misspelt. An unknown name is accepted if there are node URLs and each of them has a
 * path.
 */
function misspelt({ urls = [], network }: Config['node']): Perhaps {
  const meant = network === undefined ? undefined : misspeltNetwork(network);
  const bare = urls.find((url) => !hasPath(url));
  if (meant === undefined || (bare === undefined && urls.length > 0)) return false;
  const origin = bare === undefined ? 'http://HOST:1848' : new URL(bare).origin;
  const message = `The network ${network} is not known. Did you mean ${meant}? If not, write it into the node URL: --node ${origin}/ledger/0.0/${network}.`;
  return { about: ['node.network'], message };
}

/** Checks that settings about certificates are for nodes or pools with TLS, and do not contradict each other. */
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
  const either = fingerprints.length > 0 ? pin : caFiles.length > 0 ? file : undefined;
  const [pins, files, insecure] = [`${kind}.fingerprints`, `${kind}.ca-files`, 'node.insecure-tls'];
  return [
    ...fingerprints.map((one) =>
      about([pins, `${kind}.urls`], withoutNode(kind, pin, one, urls) || withoutUrl(kind, one, urls)),
    ),
    ...caFiles.map((one) => about([files, `${kind}.urls`], withoutNode(kind, file, one, urls))),
    both !== undefined && {
      about: [files, pins, `${kind}.urls`],
      message: `${originOf(both)} has a ${pin}, which needs no ${file}: remove one of them.`,
    },
    insecureTls &&
      either !== undefined && {
        about: [insecure, pins, files],
        message: `--insecure-tls accepts any certificate, and ${either} does not: give only one of them.`,
      },
  ];
}

function about(paths: readonly string[], message: string | false): Perhaps {
  return message === false ? false : { about: paths, message };
}

type Kind = 'node' | 'pool';

/** Schemes of URLs with TLS. */
const SECURE = { node: 'https://', pool: 'stratum+ssl://' } as const;

/**
 * Checks a value that is for one node or pool, or for all of them.
 * @returns the error if the value is for no configured node or pool with TLS; false otherwise
 */
function withoutNode(kind: Kind, flag: string, { origin: named }: PerNode, urls: readonly string[]): string | false {
  const origins = urls.map(originOf);
  const meant = origins.filter((origin) => named === undefined || named === origin);
  if (meant.length === 0) {
    return `${flag} names ${named}, which is not one of the ${kind}s (${origins.join(', ')}): correct its URL, or remove the setting.`;
  }
  if (meant.some((origin) => origin?.startsWith(SECURE[kind]))) return false;
  return `${flag} needs a ${kind} URL that begins with ${SECURE[kind]}, unlike ${meant.join(' and ')}.`;
}

function withoutUrl(kind: Kind, { origin, value }: PerNode, urls: readonly string[]): string | false {
  if (urls.length === 1 || origin !== undefined) return false;
  const url = urls.find((url) => url.toLowerCase().startsWith(SECURE[kind])) ?? urls[0];
  return `There are ${urls.length} ${kind}s: write --${kind}-fingerprint with the URL of one of them, like ${originOf(url)}=${value}.`;
}

/** Checks the settings that all mining commands have, whatever they mine on. */
export function rigContradictions({ devices, gpu, http, webhook, alarm, stratum }: Config): Contradiction[] {
  return present([
    ...gpuTemperatures(devices),
    ...givenTwice('--temp-limit', 'devices.temp-limit', gpusOf(devices.tempLimit)),
    ...givenTwice('--temp-resume', 'devices.temp-resume', gpusOf(devices.tempResume)),
    ...givenTwice('--gpu-batch-ms', 'gpu.batch-ms', gpusOf(gpu.batchMs)),
    ...temperatures('cpu-temp', devices.cpuTempLimit, devices.cpuTempResume),
    ...server(http),
    webhook.url !== undefined &&
      webhook.urlFile !== undefined && {
        about: ['webhook.url', 'webhook.url-file'],
        message: 'Give --webhook or --webhook-file, not both.',
      },
    webhook.tokenFile !== undefined &&
      webhook.url === undefined &&
      webhook.urlFile === undefined && {
        about: ['webhook.token-file', 'webhook.url', 'webhook.url-file'],
        message: '--webhook-token-file needs a --webhook.',
      },
    ...givenTwice(
      '--min-hashrate',
      'alarm.min-hashrate',
      (alarm.minHashrate ?? []).map(({ device = 'the rig' }) => device),
    ),
    ...stratumServer(stratum),
  ]);
}

/** Checks the settings of a coordinator. It gets work from nodes or pools, and publishes the work at NATS servers. */
function coordinatorContradictions({ node, pool, miner, stratum, testNetwork, nats }: Config): Contradiction[] {
  return present([
    ...minerContradictions({ node, pool, miner, stratum, testNetwork }),
    nats.urls === undefined && {
      about: ['nats.urls'],
      message: 'A coordinator needs the NATS server of its fleet: give it with --nats nats://HOST:4222.',
    },
  ]);
}

/**
 * Functions that find the contradictions which commands refuse. The command `pickaxe mine` uses `start`, not `mine`. A
 * missing network is not reported by `start`, `coordinate` and `doctor`, because their commands ask a node for its
 * network.
 */
export const CONTRADICTIONS = {
  mine: (config: Config) => [...minerContradictions(config), ...rigContradictions(config)],
  start: (config: Config) => CONTRADICTIONS.mine(config).filter((one) => one !== NO_NETWORK),
  coordinate: (config: Config) =>
    [...coordinatorContradictions(config), ...rigContradictions(config)].filter((one) => one !== NO_NETWORK),
  /**
   * A configuration that names both NATS servers and a source (nodes or pools) is checked as the configuration of a
   * coordinator. Any other configuration is checked as `mine` checks it.
   */
  either: (config: Config) => {
    const coordinates = config.nats.urls !== undefined && (config.node.urls ?? config.pool.urls) !== undefined;
    return [
      ...(coordinates ? coordinatorContradictions(config) : minerContradictions(config)),
      ...rigContradictions(config),
    ];
  },
  doctor: (config: Config) => CONTRADICTIONS.either(config).filter((one) => one !== NO_NETWORK),
  rig: rigContradictions,
} as const;

type Perhaps = Contradiction | false;

function present(all: readonly Perhaps[]): Contradiction[] {
  return all.filter((one) => one !== false);
}

/** Checks the default temperature limits, and the limits of each GPU for which at least one limit is set separately. */
function gpuTemperatures({ tempLimit, tempResume }: Config['devices']): Perhaps[] {
  const named = [...gpusOf(tempLimit), ...gpusOf(tempResume)].filter((name) => name !== 'all GPUs');
  return [undefined, ...new Set(named)].flatMap((name) =>
    temperatures('temp', valueForGpu(tempLimit, name) ?? 'none', valueForGpu(tempResume, name), name),
  );
}

/** @param settings what the names of both settings, `…-limit` and `…-resume`, begin with: `temp` or `cpu-temp` */
function temperatures(settings: string, limit: number | 'none', resume: number | undefined, gpu?: string): Perhaps[] {
  if (resume === undefined) return [];
  const about = [`devices.${settings}-resume`, `devices.${settings}-limit`];
  const flag = `--${settings}`;
  const of = gpu === undefined ? '' : ` for ${gpu}`;
  return [
    limit === 'none' && { about, message: `${flag}-resume needs a ${flag}-limit${of}.` },
    limit !== 'none' &&
      resume >= limit && { about, message: `${flag}-resume (${resume}) must be below ${flag}-limit (${limit})${of}.` },
  ];
}

function server({ listen, tokenFile, control }: Config['http']): Perhaps[] {
  if (!listen) {
    return [
      (tokenFile !== undefined || control) && {
        about: [control ? 'http.control' : 'http.token-file', 'http.listen'],
        message: '--http-token-file and --http-control need --http [HOST:]PORT.',
      },
    ];
  }
  return [
    tokenFile === undefined &&
      !isLoopback(listen.host) && {
        about: ['http.listen', 'http.token-file'],
        message: `--http ${formatHttpAddress(listen)} can be reached by other machines: give a file with a token (--http-token-file FILE).`,
      },
  ];
}

function stratumServer({ listen, ledger, proxies, tlsCert, tlsKey }: Config['stratum']): Perhaps[] {
  const needless = [
    ledger !== undefined && 'ledger',
    proxies !== undefined && 'proxy-protocol',
    tlsCert !== undefined && 'tls-cert',
    tlsKey !== undefined && 'tls-key',
  ].filter((name) => name !== false);
  if (!listen) {
    return needless.map((name) => {
      const setting = name === 'proxy-protocol' ? 'proxies' : name;
      return {
        about: [`stratum.${setting}`, 'stratum.listen'],
        message: `--stratum-${name} needs --stratum-listen [HOST:]PORT.`,
      };
    });
  }
  return [
    (tlsCert === undefined) !== (tlsKey === undefined) && {
      about: ['stratum.tls-cert', 'stratum.tls-key'],
      message: 'Give both --stratum-tls-cert and --stratum-tls-key, or neither.',
    },
  ];
}

/** @param whose for each value of the setting, the name of the device that the value is for */
function givenTwice(flag: string, path: string, whose: readonly string[]): Contradiction[] {
  const twice = new Set(whose.filter((one, index) => whose.indexOf(one) < index));
  return [...twice].map((one) => ({ about: [path], message: `${flag} is given twice for ${one}.` }));
}

function gpusOf(values: Parameters<typeof valuesForGpus>[0]): string[] {
  return valuesForGpus(values).map(({ gpu = 'all GPUs' }) => gpu);
}
