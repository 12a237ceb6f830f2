/** Node information (document 1, "Node information model"), health, and configuration. */

import { type ExactJson, type ExactJsonObject, JsonNumber, jsonInteger } from '../../../protocol/ledger/json.ts';
import { MAX_PEERS } from '../../p2p/peers.ts';
import { type Asked, type Backend, JSON_TYPE, type Message, NODE_VERSION, type Route } from '../route.ts';
import { BATCH_LIMIT } from './payloads.ts';

export const infoRoutes: readonly Route[] = [
  {
    endpoint: 'info',
    side: 'service',
    method: 'GET',
    atRoot: true,
    path: /^\/info$/,
    gives: [JSON_TYPE],
    answer: info,
  },
  {
    endpoint: 'health',
    side: 'service',
    method: 'GET',
    atRoot: true,
    path: /^\/health-check$/,
    answer: () => ({ status: 200, text: 'Health check OK.\n' }),
  },
];

function info({ backend: { ledger } }: Asked): Message {
  const { graph } = ledger.chains;
  const chains = graph.map((_, chain) => String(chain));
  const adjacency = graph.map((neighbours, chain) => [jsonInteger(chain), neighbours.map(jsonInteger)]);
  const json: ExactJsonObject = {
    nodeNumberOfChains: jsonInteger(graph.length),
    nodeApiVersion: '0.0',
    nodeChains: chains,
    nodeVersion: ledger.settings.network,
    nodeGraphHistory: [[jsonInteger(0), adjacency]],
    nodeLatestBehaviorHeight: jsonInteger(0),
    nodeGenesisHeights: chains.map((chain) => [chain, jsonInteger(0)]),
    nodeHistoricalChains: [[jsonInteger(0), adjacency]],
    nodeServiceDate: null,
    nodePackageVersion: NODE_VERSION,
    nodeBlockDelay: jsonInteger(30_000_000),
  };
  return { status: 200, json };
}

/*
 * The node's configuration (document 1, "Configuration"). Where the mock node has no such setting, the value is a
 * constant.
 */

export const configRoutes: readonly Route[] = [
  {
    endpoint: 'config',
    side: 'p2p',
    method: 'GET',
    atRoot: true,
    path: /^\/config$/,
    when: ({ settings }) => settings.configServed,
    gives: [JSON_TYPE],
    answer: config,
  },
];

/** The mock node itself does not mine. */
const NOBODY = { account: '', predicate: 'keys-all', 'public-keys': [] };

function config({ backend, dialect }: Asked): Message {
  const language = { document: 'Flow', chainweb: 'Pact' }[dialect];
  const { ledger, settings, commands } = backend;
  const json: ExactJsonObject = {
    allowReadsInLocal: false,
    backup: { api: { configuration: {}, enabled: false }, directory: null },
    [dialect === 'document' ? 'ledgerVersion' : 'chainwebVersion']: ledger.settings.network,
    cuts: {
      fastForwardBlockHeightLimit: null,
      fetchTimeout: jsonInteger(3_000_000),
      initialBlockHeightLimit: null,
      pruneChainDatabase: 'none',
    },
    enableLocalTimeout: false,
    [`fullHistoric${language}State`]: true,
    gasLimitOfBlock: jsonInteger(commands.settings.blockGasLimit),
    headerStream: settings.headerStream,
    logGas: false,
    mempoolP2p: {
      configuration: {
        maxSessionCount: jsonInteger(6),
        pollInterval: jsonInteger(30),
        sessionTimeout: jsonInteger(300),
      },
      enabled: true,
    },
    minGasPrice: new JsonNumber(commands.settings.minGasPrice),
    mining: mining(backend),
    moduleCacheLimit: jsonInteger(62_914_560),
    [`onlySync${language}`]: false,
    p2p: p2p(backend),
    [`${language.toLowerCase()}QueueSize`]: jsonInteger(2_000),
    preInsertCheckTimeout: jsonInteger(1_000_000),
    readOnlyReplay: false,
    reintroTxs: true,
    reorgLimit: jsonInteger(480),
    rosetta: false,
    serviceApi: {
      interface: settings.host,
      payloadBatchLimit: jsonInteger(BATCH_LIMIT),
      port: jsonInteger(backend.servicePort()),
      validateSpec: false,
    },
    [`sync${language}Chains`]: null,
    throttling: throttling(settings),
  };
  return { status: 200, json };
}

function mining({ ledger, settings, miningEnabled }: Backend): ExactJson {
  const coordination = {
    enabled: miningEnabled,
    limit: jsonInteger(ledger.settings.workLimit),
    miners: settings.miners.map((miner) => ({ ...miner })),
    payloadRefreshDelay: jsonInteger(ledger.settings.refreshMs * 1000),
    updateStreamLimit: jsonInteger(settings.streamLimit),
    updateStreamTimeout: jsonInteger(settings.streamMs * 1000),
  };
  return { coordination, nodeMining: { enabled: false, miner: NOBODY } };
}

function throttling({ throttling: { global, mempool, putPeer } }: Backend['settings']): ExactJson {
  const rate = (value: number) => new JsonNumber(String(value));
  return { global: rate(global), mempool: rate(mempool), putPeer: rate(putPeer) };
}

function p2p({ peers, settings }: Backend): ExactJson {
  const port = peers.own?.address.port ?? settings.p2pPort;
  return {
    bootstrapReachability: jsonInteger(0),
    ignoreBootstrapNodes: true,
    maxPeerCount: jsonInteger(MAX_PEERS),
    maxSessionCount: jsonInteger(10),
    peer: {
      certificateChain: null,
      certificateChainFile: null,
      hostaddress: { hostname: settings.host, port: jsonInteger(port) },
      interface: settings.host,
      key: null,
      keyFile: null,
    },
    peers: [],
    private: false,
    sessionTimeout: jsonInteger(240),
  };
}
