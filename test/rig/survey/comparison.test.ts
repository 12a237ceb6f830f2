import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { NodeApi, type NodeApiOptions } from '#pickaxe/node/client/node-api.js';
import { type Candidate, survey } from '#pickaxe/rig/survey/comparison.js';
import { lookAt } from '#pickaxe/rig/survey/look.js';
import { DIALECTS, MockNode, type MockNodeOptions } from '../../mock-node/node.ts';
import { type Seen, serve } from '../../node/client/server.ts';
import { cuts } from '../../protocol/ledger/vectors.ts';

const QUICK = { limits: { attempts: 1 } };

function client(options: Partial<NodeApiOptions>): NodeApi {
  const api = new NodeApi({ network: 'development', ...options }, QUICK);
  onTestFinished(() => api.close());
  return api;
}

/** A node with some blocks of history on each chain. */
async function grown(options: Partial<MockNodeOptions> = {}, height = 8n) {
  const node = new MockNode({ dialect: 'chainweb', chains: 4, seed: 1, firstHeight: 0, p2p: 'plain', ...options });
  onTestFinished(() => node.close());
  const { url, p2pUrl } = await node.start();
  for (const chain of node.ledger.chains.graph.keys()) node.ledger.advanceTo(chain, height);
  return { node, url, p2pUrl: p2pUrl! };
}

const candidate = (api: Candidate['api'], more: Partial<Candidate> = {}): Candidate => {
  return { name: 'node', api, ...more };
};
const look = (...candidates: Candidate[]) => survey(candidates, 'development', systemClock);
const problems = (surveyed: Awaited<ReturnType<typeof look>>) =>
  surveyed.map((each) => each.problems.map(({ what }) => what));

describe('a survey', () => {
  it.each(DIALECTS)('finds nothing wrong with a good node of the dialect %s, on either port', async (dialect) => {
    const { url, p2pUrl } = await grown({ dialect });
    const surveyed = await look(
      candidate(client({ url }), { whyNoWork: async () => undefined }),
      candidate(client({ url, dialect })),
      candidate(client({ p2pUrl, dialect })),
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
    // The first blocks are old, and the others are not.
    const { node, url, p2pUrl } = await grown({ firstBlockAgeMs: 120_000 }, 6n);
    node.p2p!.faults = [{ endpoint: 'cut', kind: 'old-cut', blocksBack: 6 }];
    const surveyed = await look(candidate(client({ url })), candidate(client({ p2pUrl, dialect: 'chainweb' })));
    expect(problems(surveyed)).toEqual([[], ['is 6 blocks behind on each chain']]);
  });

  it('finds nodes on different branches', async () => {
    const [{ url }, other] = [await grown(), await grown({ seed: 2 })];
    const surveyed = await look(
      candidate(client({ url })),
      candidate(client({ url, dialect: 'chainweb' })),
      candidate(client({ url: other.url })),
    );
    const forked = ['follows another branch of the ledger than most nodes'];
    expect(problems(surveyed)).toEqual([[], [], forked]);
  });

  it('names the right one of several nodes beside one that does not answer', async () => {
    const [{ url }, other] = [await grown(), await grown({ seed: 2 })];
    const surveyed = await look(
      candidate('no connection'),
      candidate(client({ url })),
      candidate(client({ url, dialect: 'chainweb' })),
      candidate(client({ url: other.url })),
    );
    const forked = ['follows another branch of the ledger than most nodes'];
    expect(problems(surveyed)).toEqual([['does not answer: no connection'], [], [], forked]);
  });

  it('finds forks also beside a node that is far behind', async () => {
    const [one, other] = [await grown({}, 40n), await grown({ seed: 2 }, 40n)];
    const young = await grown({ seed: 1 }, 2n);
    const surveyed = await look(
      candidate(client({ url: one.url })),
      candidate(client({ url: other.url })),
      candidate(client({ url: young.url })),
    );
    const split = [expect.stringMatching(/^follows one branch of the ledger, and as many nodes follow another one/)];
    expect(problems(surveyed)).toEqual([split, split, []]);
  });

  it('finds a network that stands still, and looks at every chain before it says so', async () => {
    const old = { firstBlockAgeMs: 3_600_000, chains: 4, seed: 1 };
    const node = new MockNode({ dialect: 'document', ...old });
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

it('a survey finds nodes of another network behind paths that do not name it', async () => {
  const behind = async (instance: string) => {
    const answer = ({ path }: Seen) => (path === '/hidden/cut' ? { body: { ...cuts[0], instance } } : undefined);
    const { url } = await serve(answer, { headers: {} });
    return candidate(client({ url: `${url}/hidden`, network: 'mainnet01' }));
  };
  const nodes = [await behind('mainnet01'), await behind('testnet04')];
  const surveyed = await survey(nodes, 'mainnet01', systemClock);
  expect(problems(surveyed)).toEqual([[], ['serves the network testnet04, not mainnet01']]);
  expect(surveyed.map(({ hasAnswered }) => hasAnswered)).toEqual([true, true]);
});

describe('a look', () => {
  it('at a node that keeps it waiting takes limited time, and ends at once when it is to stop', async () => {
    const { node, url } = await grown();
    const api = client({ url });
    node.server.faults = [{ endpoint: 'cut', kind: 'hang' }];
    const { fault } = await lookAt(api, systemClock, new AbortController().signal, 20);
    expect(fault).toBe('some answers have not come within 0.02 s');
    const stopping = new AbortController();
    const looking = lookAt(api, systemClock, stopping.signal);
    stopping.abort(new Error('it is to stop'));
    await expect(looking).rejects.toThrow('it is to stop');
  });
});
