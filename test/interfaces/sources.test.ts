import { systemClock } from '#pickaxe/base/system/clock.js';
import { FleetRelay } from '#pickaxe/fleet/coordinator/fleet-relay.js';
import { FleetSource } from '#pickaxe/fleet/rig/fleet-source.js';
import { FleetSubjects } from '#pickaxe/fleet/subjects.js';
import { FailoverSource } from '#pickaxe/miner/source/failover.js';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import type { PoolSource } from '#pickaxe/miner/source/pool/pool-source.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { MockPool } from '../../bench/lib/mock-pool.mjs';
import { FakeNats } from '../fleet/nats/fake-nats.ts';
import { miner } from '../miner/source/node/node.ts';
import { job, makeHeader, ParentWorld } from '../miner/source/parent/parent.ts';
import { poolSource } from '../miner/source/pool/pool.ts';
import { DIALECTS, MockNode } from '../mock-node/node.ts';
import { type SourceUnderTest, sourceContract } from './source-contract.ts';

const LIMITS = { pollMs: 200, submitAfterStopMs: 200 };

async function behindNodes(
  dialects: readonly Dialect[],
  make: (sources: NodeSource[]) => SourceUnderTest['source'],
): Promise<SourceUnderTest> {
  const nodes = dialects.map((dialect, seed) => new MockNode({ dialect, difficulty: 100, seed }));
  const addresses = await Promise.all(nodes.map((node) => node.start()));
  const sources = addresses.map(
    ({ url }) => new NodeSource({ url, network: 'development', miner }, { limits: LIMITS }),
  );
  const closeNodes = async () => void (await Promise.all(nodes.map((node) => node.close())));
  return {
    source: make(sources),
    newCut: () => {
      for (const node of nodes)
        for (let chain = 0; chain < node.ledger.settings.chains; chain++) node.ledger.advance(chain);
    },
    fail: closeNodes,
    close: closeNodes,
  };
}

for (const dialect of DIALECTS) {
  sourceContract(`NodeSource, ${dialect}`, () => behindNodes([dialect], ([source]) => source));
}
sourceContract('FailoverSource over one node', () =>
  behindNodes(['chainweb'], (sources) => new FailoverSource({ sources })),
);
sourceContract('FailoverSource over two nodes', () =>
  behindNodes(DIALECTS, (sources) => new FailoverSource({ sources, patienceMs: 100 })),
);

async function behindPools(
  count: number,
  make: (sources: PoolSource[]) => SourceUnderTest['source'],
): Promise<SourceUnderTest> {
  const pools = Array.from({ length: count }, () => new MockPool({ difficulty: 100, shareDifficulty: 100 }));
  const urls = await Promise.all(pools.map((pool) => pool.start()));
  const closePools = async () => void (await Promise.all(pools.map((pool) => pool.close())));
  return {
    source: make(urls.map((url) => poolSource(url))),
    newCut: () => {
      for (const pool of pools) pool.newCut();
    },
    fail: closePools,
    close: closePools,
  };
}

sourceContract('PoolSource', () => behindPools(1, ([source]) => source));
sourceContract('FailoverSource over two pools', () =>
  behindPools(2, (sources) => new FailoverSource({ sources, patienceMs: 100, standbyMs: 100 })),
);

/** A parent that judges each share and follows it with another job, as a wrapper around a node does. */
async function behindParent(): Promise<SourceUnderTest> {
  const world = new ParentWorld();
  const parent = world.connect();
  let jobs = 0;
  const next = () => parent.say(job(`${++jobs}`, makeHeader(100), { solutions: 'one', verdicts: true, clean: true }));
  parent.onAnswer = (answer) => {
    if (answer.type !== 'share') return;
    parent.say({ type: 'verdict', share: answer.share, outcome: 'accepted' });
    next();
  };
  next();
  let isDead = false;
  const die = async () => {
    isDead = true;
    parent.die();
  };
  const newCut = () => {
    if (!isDead) next();
  };
  return { source: world.source, newCut, fail: die, close: die };
}

sourceContract('ParentSource', behindParent);

/** A rig of a fleet: each coordinator has a node of its own. */
async function behindCoordinators(count: number): Promise<SourceUnderTest> {
  const subjects = new FleetSubjects('pickaxe');
  const nats = new FakeNats();
  const link = (name: string) => nats.link(name, subjects.inbox(name));
  const sources: NodeSource[] = [];
  const nodes = await behindNodes(DIALECTS.slice(0, count), (made) => {
    sources.push(...made);
    return made[0];
  });
  const stopping = new AbortController();
  const relays = sources.map((source, i) => {
    const name = `coordinator${i}`;
    const quiet = { debug: () => {}, info: () => {}, warn: () => {} };
    const instance = i.toString(16).padStart(16, '0');
    const parts = {
      source,
      emit: () => {},
      clock: systemClock,
      log: quiet,
      link: link(name),
      subjects,
      name,
      instance,
    };
    return new FleetRelay({ ...parts, limits: { answerMs: 200, beatMs: 200 } });
  });
  for (const relay of relays) await relay.open();
  const running = relays.map((relay) => relay.run(stopping.signal));
  const options = { name: 'nats://fake:4222', link: link('rig'), subjects, rig: 'rig' };
  return {
    ...nodes,
    source: new FleetSource(options, { limits: { gatherMs: 100, submitAfterStopMs: 200 } }),
    close: async () => {
      stopping.abort();
      await Promise.all(running);
      await nodes.close();
    },
  };
}

sourceContract('FleetSource over one coordinator', () => behindCoordinators(1));
sourceContract('FleetSource over two coordinators', () => behindCoordinators(2));
