/** The configuration that a node reports, whole: programs read it, and find what a live node would say. */

import { describe, expect, it } from 'vitest';
import { mocksOf } from '../ask.ts';
import { DIALECTS, type OtherOptions } from '../node.ts';

const PORT = expect.any(Number);

/** What has the same name in both dialects. */
const SAME = {
  allowReadsInLocal: false,
  backup: { api: { configuration: {}, enabled: false }, directory: null },
  cuts: {
    fastForwardBlockHeightLimit: null,
    fetchTimeout: 3_000_000,
    initialBlockHeightLimit: null,
    pruneChainDatabase: 'none',
  },
  enableLocalTimeout: false,
  gasLimitOfBlock: 150_000,
  headerStream: false,
  logGas: false,
  mempoolP2p: { configuration: { maxSessionCount: 6, pollInterval: 30, sessionTimeout: 300 }, enabled: true },
  minGasPrice: 1e-8,
  mining: {
    coordination: {
      enabled: true,
      limit: 1_200,
      miners: [],
      payloadRefreshDelay: 0,
      updateStreamLimit: 2_000,
      updateStreamTimeout: 240_000_000,
    },
    nodeMining: { enabled: false, miner: { account: '', predicate: 'keys-all', 'public-keys': [] } },
  },
  moduleCacheLimit: 62_914_560,
  p2p: {
    bootstrapReachability: 0,
    ignoreBootstrapNodes: true,
    maxPeerCount: 1_000,
    maxSessionCount: 10,
    peer: {
      certificateChain: null,
      certificateChainFile: null,
      hostaddress: { hostname: '127.0.0.1', port: PORT },
      interface: '127.0.0.1',
      key: null,
      keyFile: null,
    },
    peers: [],
    private: false,
    sessionTimeout: 240,
  },
  preInsertCheckTimeout: 1_000_000,
  readOnlyReplay: false,
  reintroTxs: true,
  reorgLimit: 480,
  rosetta: false,
  serviceApi: { interface: '127.0.0.1', payloadBatchLimit: 1_000, port: PORT, validateSpec: false },
  throttling: { global: 50, mempool: 20, putPeer: 11 },
};
const NAMED = {
  chainweb: {
    chainwebVersion: 'development',
    fullHistoricPactState: true,
    onlySyncPact: false,
    pactQueueSize: 2_000,
    syncPactChains: null,
  },
  document: {
    ledgerVersion: 'development',
    fullHistoricFlowState: true,
    onlySyncFlow: false,
    flowQueueSize: 2_000,
    syncFlowChains: null,
  },
};

describe.each(DIALECTS)('a node (%s)', (dialect) => {
  async function configOf(options: OtherOptions = {}) {
    const { askUrl, p2pUrl } = await mocksOf(dialect)({ p2p: 'plain', network: 'development', ...options });
    return (await askUrl(`${p2pUrl}/config`)).plain as Record<string, Record<string, unknown>>;
  }

  it('reports the settings that it has, and those of live nodes for all others', async () => {
    expect(await configOf()).toEqual({ ...SAME, ...NAMED[dialect] });
  });

  it('reports its own settings', async () => {
    const miner = { account: 'k:a', predicate: 'keys-all' as const, 'public-keys': ['a'] };
    const config = await configOf({
      miners: [miner],
      workLimit: 7,
      refreshMs: 3,
      streamLimit: 5,
      streamMs: 2,
    });
    expect(config.mining.coordination).toEqual({
      enabled: true,
      limit: 7,
      miners: [miner],
      payloadRefreshDelay: 3_000,
      updateStreamLimit: 5,
      updateStreamTimeout: 2_000,
    });
  });
});
