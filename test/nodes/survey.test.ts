import { describe, expect, it, onTestFinished } from 'vitest';
import { MockNode } from '#pickaxe/mock-node/mock-node.js';
import type { MockNodeOptions } from '#pickaxe/mock-node/options.js';
import { NodeApi, type NodeApiOptions } from '#pickaxe/node/api/node-api.js';
import { discoverPeers } from '#pickaxe/nodes/discover.js';
import { lookAt } from '#pickaxe/nodes/look.js';
import { type Candidate, survey } from '#pickaxe/nodes/survey.js';
import { systemClock } from '#pickaxe/system/clock.js';

const QUICK = { limits: { attempts: 1 } };

function client(options: Omit<NodeApiOptions, 'network'>): NodeApi {
  const api = new NodeApi({ network: 'development', ...options }, QUICK);
  onTestFinished(() => api.close());
  return api;
}

/** A node with some blocks of history on each chain. */
async function grown(options: MockNodeOptions = {}, height = 8n) {
  const node = new MockNode({ chains: 4, seed: 1, firstHeight: 0, p2p: 'plain', ...options });
  onTestFinished(() => node.close());
  const { url, p2pUrl } = await node.start();
  for (const chain of node.ledger.chains.graph.keys()) node.ledger.advanceTo(chain, height);
  return { node, url, p2pUrl: p2pUrl! };
}

const candidate = (api: Candidate['api'], more: Partial<Candidate> = {}): Candidate => {
  return { name: 'node', isConfigured: true, api, ...more };
};
const look = (...candidates: Candidate[]) => survey(candidates, 'development', systemClock.nowUs());
const problems = (surveyed: Awaited<ReturnType<typeof look>>) =>
  surveyed.map((each) => each.problems.map(({ what }) => what));

describe('a survey', () => {
  it('finds nothing wrong with a good node, on either port and in either dialect', async () => {
    const { url, p2pUrl } = await grown();
    const surveyed = await look(
      candidate(client({ url, dialect: 'document' }), { whyNoWork: async () => undefined }),
      candidate(client({ url, dialect: 'chainweb' })),
      candidate(client({ p2pUrl, dialect: 'chainweb' })),
    );
    expect(problems(surveyed)).toEqual([[], [], []]);
    expect(surveyed[0]).toMatchObject({
      behind: 0,
      givesWork: true,
      look: { network: 'development', software: '2.24.1' },
    });
    for (const { look } of surveyed) expect(look.newestBlockUs).toBeGreaterThan(0n);
    expect(surveyed[1].givesWork).toBeUndefined();
  });

  it('finds a node that lags', async () => {
    const { node, url, p2pUrl } = await grown();
    node.p2p!.faults = [{ endpoint: 'cut', kind: 'old-cut', blocksBack: 6 }];
    const surveyed = await look(candidate(client({ url })), candidate(client({ p2pUrl, dialect: 'chainweb' })));
    expect(problems(surveyed)).toEqual([[], ['is 6 blocks behind on each chain']]);
  });

  it('finds nodes on different branches', async () => {
    const [{ url }, other] = [await grown({}, 9n), await grown({ seed: 2 })];
    const surveyed = await look(
      candidate(client({ url })),
      candidate(client({ url: other.url })),
      candidate(client({ p2pUrl: other.p2pUrl, dialect: 'chainweb' }), { isConfigured: false }),
    );
    const forked = ['follows another branch of the ledger than the best node'];
    expect(problems(surveyed)).toEqual([[], forked, forked]);
  });

  it('finds a network that stands still, and looks at every chain before it says so', async () => {
    const old = { firstBlockAgeMs: 3_600_000, chains: 4, seed: 1 };
    const node = new MockNode(old);
    onTestFinished(() => node.close());
    const { url } = await node.start();
    expect(problems(await look(candidate(client({ url }))))).toEqual([
      [expect.stringMatching(/^stands still: no chain has grown for (59|60) minutes$/)],
    ]);
    node.ledger.advance(3);
    expect(problems(await look(candidate(client({ url }))))).toEqual([[]]);
  });

  it('says why a node is of no use', async () => {
    const { node, url } = await grown();
    const { url: elsewhere } = await grown({ network: 'testnet04' });
    node.server.faults = [{ endpoint: 'cut', kind: 'unavailable' }];
    const surveyed = await look(
      candidate('no connection'),
      candidate(client({ url })),
      candidate(client({ url: elsewhere })),
    );
    expect(problems(surveyed)).toEqual([
      ['does not answer: no connection'],
      [expect.stringMatching(/^does not answer: .*503/)],
      ['serves the network testnet04, not development'],
    ]);
  });
});

describe('a look', () => {
  it('at a node that keeps it waiting takes limited time, and ends at once when it is to stop', async () => {
    const { node, url } = await grown();
    const api = client({ url });
    node.server.faults = [{ endpoint: 'cut', kind: 'hang' }];
    const { fault } = await lookAt(api, 0n, new AbortController().signal, 20);
    expect(fault).toBe('some answers have not come within 0.02 s');
    const stopping = new AbortController();
    const looking = lookAt(api, 0n, stopping.signal);
    stopping.abort(new Error('it is to stop'));
    await expect(looking).rejects.toThrow('it is to stop');
  });
});

describe('discovery', () => {
  it('finds each peer once, leaves out known nodes, and stops when there are enough', async () => {
    const { node, url, p2pUrl } = await grown();
    const api = client({ url, p2pUrl, dialect: 'chainweb' });
    const peer = (hostname: string, port: number) => ({ id: null, address: { hostname, port } });
    const known = new URL(p2pUrl);
    for (const each of [peer('10.0.0.1', 1789), peer('::1', 1790), peer('10.0.0.3', 1789)]) node.peers.add('cut', each);
    node.peers.add('cut', peer(known.hostname, Number(known.port)));
    const all = await discoverPeers([api, api], [url, p2pUrl], 10);
    expect(all).toEqual({ peers: [peer('10.0.0.1', 1789), peer('::1', 1790), peer('10.0.0.3', 1789)], faults: [] });
    expect((await discoverPeers([api], [], 2)).peers).toHaveLength(2);
    const serviceOnly = client({ url, dialect: 'chainweb' });
    expect(await discoverPeers([serviceOnly], [], 2)).toEqual({
      peers: [],
      faults: [expect.stringContaining('P2P port')],
    });
  });
});
