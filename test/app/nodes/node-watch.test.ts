/** Failover over real requests to nodes that stand still, lag, fork and recover. */

import { describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { openCandidates, runNodeWatch } from '#pickaxe/app/nodes/node-watch.js';
import { FailoverSource } from '#pickaxe/miner/source/failover.js';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import type { MockNode } from '#pickaxe/mock-node/mock-node.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { FakeSource, Recorder } from '../../fakes.ts';
import { eventually, Follower, mine } from '../../miner/source/follow.ts';
import { miner, nodesOf } from '../../miner/source/node/node.ts';
import type { OtherOptions } from '../../mock-node/node.ts';
import { guarded } from '../../rig/pauses/fakes.ts';

const startNode = nodesOf('chainweb');
const PACE = { everyMs: 20, doubtMs: 10 };

/** Adds blocks to all chains, up to a height above that at which all nodes begin. */
function grow({ ledger }: MockNode, blocks: number): void {
  const height = BigInt(ledger.settings.firstHeight + blocks);
  for (const chain of ledger.chains.graph.keys()) ledger.advanceTo(chain, height);
}

/** Nodes, with their URLs in the same order. */
async function nodesWith(...options: OtherOptions[]) {
  const started = await Promise.all(options.map((each, seed) => startNode({ chains: 4, seed, ...each })));
  return { nodes: started.map(({ node }) => node), urls: started.map(({ url }) => url) };
}

/** A rig that mines on the first of these nodes, and begins to watch them. */
async function mineOn(urls: readonly string[]) {
  const settings = {
    ...DEFAULTS,
    node: { ...DEFAULTS.node, urls: [...urls], network: 'development' },
    miner: { ...DEFAULTS.miner, publicKeys: miner.publicKeys },
  };
  const recorder = new Recorder();
  const emit = recorder.listen;
  const sources = urls.map((url) => new NodeSource({ url, name: url, network: 'development', miner }, { emit }));
  const failover = new FailoverSource({ sources, emit, patienceMs: 20, readyPatienceMs: 20 });
  const follower = new Follower(failover);
  onTestFinished(() => follower.end());
  const rankOf = (work: Work | undefined) => urls.indexOf(work ? failover.nameOf(work) : '');
  const isMinedOn = (rank: number) => eventually(() => expect(rankOf(follower.received.at(-1))).toBe(rank));
  await isMinedOn(0);
  const stopping = new AbortController();
  const { log } = guarded();
  const watching = runNodeWatch({ settings, source: failover, pace: PACE }, log, stopping.signal);
  onTestFinished(async () => {
    stopping.abort();
    await watching;
  });
  const health = () =>
    recorder.of('source').flatMap(({ source, state, reason }) => {
      return state === 'unhealthy' || state === 'healthy' ? [[urls.indexOf(source), state, reason]] : [];
    });
  /** Waits until exactly these changes of health have been reported. */
  const changes = (...all: unknown[]) => eventually(() => expect(health()).toEqual(all));
  return { failover, follower, rankOf, isMinedOn, health, changes };
}

/** Waits for several surveys. */
async function surveys({ server }: MockNode): Promise<void> {
  const before = server.stats.requests.cut;
  await eventually(() => expect(server.stats.requests.cut).toBeGreaterThan(before + 5));
}

const says = (what: RegExp) => expect.stringMatching(what);

describe('a node', () => {
  it('that stands still is left, its solutions are submitted all the same, and it is returned to', async () => {
    const { nodes, urls } = await nodesWith({ firstBlockAgeMs: 3_600_000 }, {});
    const { failover, follower, rankOf, isMinedOn, changes } = await mineOn(urls);
    const work = follower.received.find((each) => rankOf(each) === 0)!;
    await changes([0, 'unhealthy', says(/^stands still: no chain has grown for .*\. It is mined on only/)]);
    await isMinedOn(1);
    expect(await failover.submit(mine(work), follower.stop)).toMatchObject({ outcome: 'accepted' });
    expect(nodes[0].ledger.stats.accepted).toBe(1);
    // The block is its newest one.
    await changes([0, 'unhealthy', expect.anything()], [0, 'healthy', 'is healthy again']);
    await isMinedOn(0);
  });

  it('that lags is left until it has caught up', async () => {
    const { nodes, urls } = await nodesWith({ firstBlockAgeMs: 120_000 }, {});
    const { isMinedOn, changes } = await mineOn(urls);
    grow(nodes[1], 5);
    await changes([0, 'unhealthy', says(/^is 5 blocks behind on each chain\. /)]);
    await isMinedOn(1);
    grow(nodes[0], 5);
    await changes([0, 'unhealthy', expect.anything()], [0, 'healthy', 'is healthy again']);
    await isMinedOn(0);
  });

  it('that claims to be far ahead, or heavier on a branch of its own, makes no other one be left', async () => {
    const { nodes, urls } = await nodesWith({ firstHeight: 0 }, { firstHeight: 0 });
    for (const node of nodes) grow(node, 8);
    // Here no block needs a proof of work, so such blocks cost nothing.
    grow(nodes[1], 20);
    const { health, isMinedOn, changes } = await mineOn(urls);
    await surveys(nodes[0]);
    expect(health()).toEqual([]);
    grow(nodes[0], 15);
    const split = says(/as many nodes follow another one/);
    await changes([0, 'unhealthy', split], [1, 'unhealthy', split]);
    await surveys(nodes[0]);
    await isMinedOn(0);
  });

  it('that does not follow the branch of most nodes is left', async () => {
    const { nodes, urls } = await nodesWith({ firstHeight: 0 }, { firstHeight: 0 });
    for (const node of nodes) grow(node, 8);
    const { isMinedOn, changes } = await mineOn([urls[0], urls[1], urls[1]]);
    await changes([0, 'unhealthy', says(/^follows another branch of the ledger/)]);
    await isMinedOn(1);
  });

  it('that serves another network is left', async () => {
    const { urls } = await nodesWith({ network: 'testnet04' }, {});
    const { isMinedOn, changes } = await mineOn([`${urls[0]}/chainweb/0.0/testnet04`, urls[1]]);
    await changes([0, 'unhealthy', says(/^serves the network testnet04, not development\. /)]);
    await isMinedOn(1);
  });

  it('that does not answer these questions is mined on', async () => {
    const { nodes, urls } = await nodesWith({}, {});
    grow(nodes[1], 5);
    nodes[0].server.faults = [{ endpoint: 'cut', kind: 'unavailable' }];
    const { health, isMinedOn } = await mineOn(urls);
    await surveys(nodes[0]);
    expect(health()).toEqual([]);
    await isMinedOn(0);
  });
});

it('the only node of a rig is mined on though it stands still, and it is said when it grows again', async () => {
  const { nodes, urls } = await nodesWith({ firstBlockAgeMs: 3_600_000 });
  const settings = { ...DEFAULTS, node: { ...DEFAULTS.node, urls: [...urls], network: 'development' } };
  const recorder = new Recorder();
  const only = Object.assign(new FakeSource(), { name: 'the node' });
  const source = new FailoverSource({ sources: [only], emit: recorder.listen });
  const stopping = new AbortController();
  const watching = runNodeWatch({ settings, source, pace: PACE }, guarded().log, stopping.signal);
  onTestFinished(async () => {
    stopping.abort();
    await watching;
  });
  const news = (...all: unknown[]) => eventually(() => expect(recorder.of('source')).toEqual(all));
  const about = { type: 'source', source: 'the node', kind: 'node' };
  const reason = says(/^stands still: .*\. It is mined on all the same, because no other node is configured$/);
  await news({ ...about, state: 'unhealthy', reason });
  nodes[0].ledger.advance();
  await news({ ...about, state: 'unhealthy', reason }, { ...about, state: 'healthy', reason: 'is healthy again' });
});

it('when all nodes stand still, mining goes on with the preferred one', async () => {
  const { nodes, urls } = await nodesWith({ firstBlockAgeMs: 3_600_000 }, { firstBlockAgeMs: 3_600_000 });
  const { failover, health, follower, rankOf, isMinedOn } = await mineOn(urls);
  await eventually(() =>
    expect(
      health()
        .map(([rank, state]) => `${rank} ${state}`)
        .sort(),
    ).toEqual(['0 unhealthy', '1 unhealthy']),
  );
  await surveys(nodes[0]);
  await isMinedOn(0);
  // On a busy machine the other node may take over for a moment, while the first one has no work.
  const solution = mine(follower.received.findLast((work) => rankOf(work) === 0)!);
  expect(await failover.submit(solution, follower.stop)).toMatchObject({ outcome: 'accepted' });
  expect(nodes.map(({ ledger }) => ledger.stats.accepted)).toEqual([1, 0]);
});

describe('the nodes that are compared', () => {
  const MINER = { ...DEFAULTS.miner, publicKeys: miner.publicKeys };
  async function candidates(urls: readonly string[], more: Partial<typeof DEFAULTS> = {}, network?: string) {
    const settings = { ...DEFAULTS, node: { ...DEFAULTS.node, urls: [...urls], network }, ...more };
    const opened = await openCandidates(settings as typeof DEFAULTS);
    onTestFinished(() => opened.close());
    return opened;
  }

  it('have the network of the settings, or else that of the first node that can be asked, or none', async () => {
    const { urls } = await nodesWith({ network: 'testnet04' }, { network: 'development' });
    const none = 'http://127.0.0.1:1';
    expect((await candidates(urls, {}, 'mainnet01')).network).toBe('mainnet01');
    expect((await candidates([none, ...urls])).network).toBe('testnet04');
    expect((await candidates([none])).network).toBe('');
  });

  it('are each shown by a name, and with the reason if they cannot be asked', async () => {
    const { urls } = await nodesWith({});
    const { candidates: all } = await candidates([urls[0], urls[0], 'http://127.0.0.1:1']);
    expect(new Set(all.map(({ name }) => name)).size).toBe(3);
    expect(all.map(({ api }) => typeof api)).toEqual(['object', 'object', 'string']);
    expect(all[2].api).toMatch(/127\.0\.0\.1:1/);
  });

  it('are asked why they give no work only for a miner that could take it', async () => {
    const { urls } = await nodesWith({});
    const nobody = await candidates(urls, {}, 'development');
    expect(nobody.candidates[0].whyNoWork).toBeUndefined();
    const somebody = await candidates([...urls, 'http://127.0.0.1:1'], { miner: MINER }, 'development');
    const [works, silent] = await Promise.all(somebody.candidates.map(({ whyNoWork }) => whyNoWork!()));
    expect(works).toBeUndefined();
    expect(silent).toMatch(/127\.0\.0\.1:1/);
  });
});
