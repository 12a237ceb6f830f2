/** Tests the node source with a node without faults. */

import { describe, expect, it } from 'vitest';
import type { MockNode } from '#pickaxe/mock-node/mock-node.js';
import { nodeConfigurationFor } from '#pickaxe/node/client/miner-identity.js';
import { basePathOf } from '#pickaxe/node/http/url.js';
import { creationTimeOf, type Work } from '#pickaxe/protocol/chain/work.js';
import { DIALECTS } from '../../../mock-node/node.ts';
import { eventually, type Follower, mine, wrongSolution } from '../follow.ts';
import { followNode, miner, nodesOf } from './node.ts';

/** Waits until the current work's chain has an open stream and nothing more is fetched. */
async function settled({ node, follower }: { node: MockNode; follower: Follower }): Promise<Work> {
  return await eventually(async () => {
    const work = await follower.work();
    expect(node.server.streams.openFor(work.chain)).toBe(1);
    const requests = node.server.stats.requests.work;
    for (let turn = 0; turn < QUIET_TURNS; turn++) {
      await new Promise((resolve) => setTimeout(resolve, TURN_MS));
      expect(node.server.stats.requests.work).toBe(requests);
    }
    expect(follower.received.at(-1)).toBe(work);
    return work;
  });
}

/**
 * Turns of the event loop that together last longer than the pause that a burst of New Cuts makes. The source and the
 * node share the loop, so on a machine that is busy their turns are as late as these, and no fetch that is due passes
 * unseen.
 */
const TURN_MS = 10;
const QUIET_TURNS = 15;

describe.each(DIALECTS)('on a node of the dialect %s', (dialect) => {
  const startNode = nodesOf(dialect);

  describe('work', () => {
    it('comes with the identity of the miner, at a URL with or without a path', async () => {
      const miners = [{ account: miner.account, predicate: miner.predicate, 'public-keys': [...miner.publicKeys] }];
      const { node, url } = await startNode({ miners });
      await followNode(url).follower.work();
      await followNode(url + basePathOf(dialect, 'development')).follower.work();
      expect(node.ledger.stats.workIssued).toBeGreaterThanOrEqual(2);
    });

    it('is not fetched again and again: with 20 random chains, requests stop once the chain has a stream', async () => {
      const { node, url } = await startNode({ seed: 1 });
      const { follower } = followNode(url);
      await settled({ node, follower });
      expect(node.server.stats.requests.work).toBeLessThanOrEqual(2 * 20);
      expect(node.server.streams.open).toBeLessThanOrEqual(20);
    });

    it('is fetched again when it is old, which is not an update if it is the same', async () => {
      const { node, url } = await startNode();
      node.ledger.pickChain = () => 5;
      const { follower } = followNode(url, { refreshMs: 50 });
      await eventually(() => expect(node.server.stats.requests.work).toBeGreaterThan(10));
      expect(follower.received).toHaveLength(1);
      node.ledger.refreshPayload(5);
      await eventually(() => expect(follower.received).toHaveLength(2));
      expect(follower.of('stale')).toHaveLength(0);
    });

    it('is announced with the time that the node needed to give it', async () => {
      const { node, url } = await startNode();
      node.server.faults = [{ endpoint: 'work', kind: 'delay', delayMs: 100, times: 1 }];
      const { recorder } = followNode(url);
      await eventually(() => expect(recorder.of('fetch').length).toBeGreaterThan(0));
      const [{ source, latencySeconds }] = recorder.of('fetch');
      expect(source).toBe(recorder.of('source')[0].source);
      expect(latencySeconds).toBeGreaterThan(0.09);
    });

    it('is fetched over one connection that stays open', async () => {
      const { node, url } = await startNode({ streamLimit: 0 });
      const { follower } = followNode(url, { pollMs: 20 });
      await follower.work();
      await eventually(() => expect(node.server.stats.requests.updates).toBeGreaterThan(0));
      await eventually(() => expect(node.server.stats.requests.work).toBeGreaterThan(5));
      const { connections, requests } = node.server.stats;
      const before = { connections, updates: requests.updates };
      await eventually(() => expect(node.server.stats.requests.work).toBeGreaterThan(50));
      // Each new chain asks for a stream once, on a connection of its own, which is there before its request is.
      await eventually(() => {
        const streams = node.server.stats.requests.updates - before.updates;
        expect(node.server.stats.connections - before.connections).toBeLessThanOrEqual(streams);
      });
    });
  });

  describe('New Cut', () => {
    it('makes the work of its chain stale at once, and the next is fetched at once', async () => {
      const { node, url } = await startNode();
      const { follower } = followNode(url);
      for (let round = 0; round < 10; round++) {
        const work = await settled({ node, follower });
        const stale = follower.of('stale').length;
        node.ledger.advance(work.chain);
        await eventually(() => expect(follower.of('stale').length).toBeGreaterThan(stale));
        await eventually(() => expect(follower.received.at(-1)).not.toBe(work));
      }
      expect(follower.of('stale').every(({ reason }) => reason === 'new-cut')).toBe(true);
    });

    it('of another chain changes nothing', async () => {
      const { node, url } = await startNode();
      const { follower } = followNode(url);
      const work = await settled({ node, follower });
      const requests = node.server.stats.requests.work;
      for (let chain = 0; chain < 20; chain++) if (chain !== work.chain) node.ledger.advance(chain);
      // One that counts, after those that must not.
      node.ledger.advance(work.chain);
      await eventually(() => expect(node.server.stats.requests.work).toBeGreaterThan(requests));
      const own = follower.of('stale').filter(({ works }) => works.some(({ chain }) => chain === work.chain));
      expect(own).toHaveLength(1);
      // Work of other chains is named too, because somebody may hold it still.
      for (const { works } of follower.of('stale')) expect(new Set(works.map(({ chain }) => chain)).size).toBe(1);
    });

    it('in bursts is coalesced', async () => {
      const { node, url } = await startNode({ cutBurst: 6 });
      node.ledger.pickChain = () => 3;
      const { follower } = followNode(url, { burstMs: 2_000 });
      await settled({ node, follower });
      const requests = node.server.stats.requests.work;
      node.ledger.advance(3);
      await eventually(() => expect(node.server.stats.requests.work - requests).toBe(2));
      await settled({ node, follower });
      expect(node.server.stats.requests.work - requests).toBe(2);
      expect(follower.of('stale')).toHaveLength(1);
      expect(follower.received.at(-1)?.height).toBe((follower.received[0]?.height ?? 0n) + 1n);
    });

    it('during a fetch leads to one more fetch', async () => {
      const { node, url } = await startNode();
      node.ledger.pickChain = () => 3;
      const { follower } = followNode(url, { pollMs: 60_000 });
      const { height } = await settled({ node, follower });
      node.ledger.advance(3);
      node.server.faults = [{ endpoint: 'work', kind: 'delay', delayMs: 300, times: 1 }];
      await settled({ node, follower });
      node.server.faults = [{ endpoint: 'work', kind: 'delay', delayMs: 200, times: 1 }];
      node.ledger.advance(3);
      await eventually(() => expect(node.server.faults[0]?.times).toBe(0));
      node.ledger.advance(3);
      await eventually(() => expect(follower.received.at(-1)?.height).toBe(height + 3n));
    });

    it('during a Refreshed Block storm: the refreshed payloads cause no request', async () => {
      const { node, url } = await startNode();
      const { follower } = followNode(url);
      const work = await settled({ node, follower });
      const requests = node.server.stats.requests.work;
      for (let i = 0; i < 50; i++) node.ledger.refreshPayload(work.chain);
      node.ledger.advance(work.chain);
      await eventually(() => expect(follower.of('stale')).toHaveLength(1));
      await settled({ node, follower });
      expect(node.server.stats.requests.work - requests).toBeLessThanOrEqual(2 * 20);
      expect(
        follower.received.filter(({ chain, height }) => chain === work.chain && height === work.height).length,
      ).toBeGreaterThanOrEqual(1);
    });
  });

  describe('streams', () => {
    it('are one for each chain seen, at most 20, and all closed at the end', async () => {
      const { node, url } = await startNode();
      let next = 0;
      node.ledger.pickChain = () => next++ % 20;
      const { follower } = followNode(url, { refreshMs: 10 });
      await eventually(() => expect(node.server.streams.open).toBe(20));
      await eventually(() => expect(node.server.stats.requests.work).toBeGreaterThan(60));
      expect(node.server.stats.mostOpenStreams).toBe(20);
      await follower.end();
      await eventually(() => expect(node.server.streams.open).toBe(0));
    });

    it('that the node ends are opened again, and a block in between is not missed', async () => {
      const { node, url } = await startNode();
      node.ledger.pickChain = () => 3;
      const { follower } = followNode(url, { steadyStreamMs: 0 });
      const work = await settled({ node, follower });
      node.server.streams.endAll();
      node.ledger.advance(3);
      await eventually(() => expect(follower.received.at(-1)?.height).toBe(work.height + 1n));
      await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
    });

    it('that end again and again do not cause job switches', async () => {
      const { node, url } = await startNode();
      node.server.faults = [{ endpoint: 'updates', kind: 'end-stream' }];
      const { follower } = followNode(url);
      await eventually(() => expect(node.server.stats.requests.updates).toBeGreaterThan(20));
      // Each chain's stream is tried at growing intervals; polling adds one request in 2 s.
      expect(node.server.stats.requests.work).toBeLessThan(2 * node.server.stats.requests.updates + 20);
      expect(follower.of('stale')).toHaveLength(0);
    });

    it('refused with 503 are replaced by polling', async () => {
      const { node, url } = await startNode({ streamLimit: 0 });
      const { follower, recorder } = followNode(url, { pollMs: 30 });
      node.ledger.pickChain = () => 3;
      const { height } = await follower.work();
      node.ledger.advance(3);
      await eventually(() => expect(follower.received.at(-1)?.height).toBe(height + 1n));
      expect(recorder.of('source').filter(({ state }) => state === 'lost')).toHaveLength(0);
      expect(recorder.of('source').filter(({ reason }) => reason.includes('no update stream'))).toHaveLength(1);
    });

    it('refused at first are tried again', async () => {
      const { node, url } = await startNode();
      node.server.faults = [{ endpoint: 'updates', kind: 'unavailable', times: 3 }];
      node.ledger.pickChain = () => 3;
      followNode(url, { noStreamsPauseMs: 50 });
      await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
      expect(node.server.stats.requests.updates).toBeGreaterThanOrEqual(4);
    });

    it('cut off silently are replaced when they are too old', async () => {
      const { node, url } = await startNode();
      node.ledger.pickChain = () => 3;
      followNode(url, { maxStreamMs: 200 });
      await eventually(() => expect(node.server.stats.requests.updates).toBeGreaterThan(3));
      expect(node.server.stats.mostOpenStreams).toBeLessThanOrEqual(2);
    });
  });

  describe('submissions', () => {
    it('are accepted with 200 and with 204', async () => {
      for (const acceptedStatus of [200, 204] as const) {
        const { node, url } = await startNode({ acceptedStatus });
        const { source, follower } = followNode(url);
        const work = await follower.work();
        expect(await source.submit(mine(work), follower.stop)).toEqual({ outcome: 'accepted', reason: '' });
        expect(node.ledger.stats.accepted).toBe(1);
      }
    });

    it('end the work, and the next comes at once', async () => {
      const { node, url } = await startNode();
      const { source, follower } = followNode(url, { pollMs: 60_000 });
      for (let round = 0; round < 10; round++) {
        const work = await settled({ node, follower });
        await source.submit(mine(work), follower.stop);
        await eventually(() => expect(follower.received.at(-1)).not.toBe(work));
      }
      expect(node.ledger.stats.accepted).toBe(10);
      expect(node.ledger.stats.duplicates).toBe(0);
      expect(node.ledger.stats.rejected).toBe(0);
    });

    it('end the work even if no stream announces the block', async () => {
      const { node, url } = await startNode();
      const { source, follower } = followNode(url);
      const work = await settled({ node, follower });
      node.server.streams.silenceAll();
      await source.submit(mine(work), follower.stop);
      await eventually(() => expect(follower.received.at(-1)).not.toBe(work));
      expect(node.ledger.stats.accepted).toBe(1);
    });

    it('are stale with the words of the node when their work is gone', async () => {
      const { node, url } = await startNode({ lateSolutions: 'refuse' });
      const { source, follower } = followNode(url);
      const work = await follower.work();
      node.ledger.advance(work.chain);
      const verdict = await source.submit(mine(work), follower.stop);
      expect(verdict).toEqual({ outcome: 'stale', reason: 'No associated Payload' });
    });

    it('are rejected with the words of the node when they are wrong, and the work ends', async () => {
      const { url } = await startNode();
      const { source, follower } = followNode(url);
      const work = await follower.work();
      const verdict = await source.submit(wrongSolution(work), follower.stop);
      expect(verdict).toEqual({ outcome: 'rejected', reason: 'Invalid solved work: Invalid POW hash' });
      await eventually(() => expect(follower.received.at(-1)).not.toBe(work));
    });

    it('three of which are rejected make the node unhealthy, and one that is accepted healthy again', async () => {
      const { url } = await startNode();
      const { source, follower, recorder } = followNode(url);
      const judged: (string | undefined)[] = [];
      const submitNext = async (solve: typeof mine) => {
        const count = follower.received.length;
        const verdict = await source.submit(solve(await follower.work()), follower.stop);
        await eventually(() => expect(follower.received.length).toBeGreaterThan(count));
        return verdict.outcome;
      };
      for (let i = 0; i < 3; i++) expect(await submitNext(wrongSolution)).toBe('rejected');
      const states = () =>
        recorder.of('source').flatMap(({ state, reason }) => (/healthy/.test(state) ? [reason] : []));
      const reason =
        'refuses all solutions of its own work (“Invalid solved work: Invalid POW hash”; is there a load balancer in front of it?)';
      expect(states()).toEqual([`${reason}. It is mined on all the same: there is no other node`]);
      expect(await submitNext(mine)).toBe('accepted');
      expect(states().at(-1)).toBe('accepts solutions of its own work again');
      // With another node, failover is told. Solutions of works that this node did not give say nothing.
      source.onHealth((fault) => judged.push(fault));
      for (let i = 0; i < 3; i++) expect(await submitNext(wrongSolution)).toBe('rejected');
      expect(judged).toEqual([reason]);
      await submitNext(mine);
      const foreign = { ...(await follower.work()) };
      for (let i = 0; i < 5; i++) await source.submit(wrongSolution(foreign), follower.stop);
      expect(judged).toEqual([reason, undefined]);
    });

    it('that are wrong do not prevent mining on the same parent', async () => {
      const { node, url } = await startNode();
      node.ledger.pickChain = () => 3;
      const { source, follower } = followNode(url);
      const work = await settled({ node, follower });
      const requests = node.server.stats.requests.work;
      await source.submit(wrongSolution(work), follower.stop);
      await eventually(() => expect(follower.received.at(-1)).not.toBe(work));
      expect(follower.received.at(-1)?.height).toBe(work.height);
      expect(node.server.stats.requests.work - requests).toBeLessThanOrEqual(3);
    });

    it('of an earlier work do not affect the current one', async () => {
      const { node, url } = await startNode({ lateSolutions: 'refuse' });
      const { source, follower } = followNode(url);
      const old = await follower.work();
      node.ledger.advance(old.chain);
      const current = await settled({ node, follower });
      const count = follower.received.length;
      expect((await source.submit(mine(old), follower.stop)).outcome).toBe('stale');
      expect(current).not.toBe(old);
      expect(follower.received).toHaveLength(count);
      expect(follower.of('stale').flatMap(({ works }) => works)).not.toContain(current);
    });
  });

  describe('creation times', () => {
    it.each([-5_000, 0, 5_000])('follow a node whose clock is %i ms ahead, and never pass it', async (clockSkewMs) => {
      const { node, url } = await startNode({ clockSkewMs });
      const { source, follower } = followNode(url);
      await follower.work();
      expect(source.latestTimeUs()).toBeLessThanOrEqual(node.ledger.nowUs());
      expect(source.latestTimeUs()).toBeLessThanOrEqual(BigInt(Date.now()) * 1000n + 1_000n);
      expect(source.latestTimeUs()).toBeGreaterThan(node.ledger.nowUs() - 7_000_000n);
    });

    it('follow a node whose clock is set back', async () => {
      const { node, url } = await startNode({ streamLimit: 0 });
      const { source, follower } = followNode(url, { pollMs: 20 });
      await follower.work();
      node.ledger.clockSkewMs = -60_000;
      await eventually(() => expect(source.latestTimeUs()).toBeLessThanOrEqual(node.ledger.nowUs()));
      const work = await follower.work();
      expect(creationTimeOf(work.header)).toBeGreaterThan(0n);
    });
  });

  describe('the node’s configuration', () => {
    it('is reported to people', async () => {
      const { url } = await startNode();
      const { recorder, source } = followNode(url);
      await eventually(() => {
        expect(recorder.of('source')).toContainEqual({
          type: 'source',
          source: source.name,
          kind: 'node',
          state: 'info',
          reason: 'the node serves development and its configuration allows mining',
        });
      });
    });

    it('is not a second warning when this miner is not listed: the refusal says it, with what the node must have', async () => {
      const other = { account: 'someone', predicate: 'keys-all' as const, 'public-keys': ['x'] };
      const { node, url } = await startNode({ miners: [other] });
      const { recorder } = followNode(url, { refusedPauses: { firstMs: 20, mostMs: 200 } });
      await eventually(() => {
        const { config, work } = node.server.stats.requests;
        expect(config).toBe(1);
        expect(work).toBeGreaterThan(4);
      });
      expect(recorder.of('source')).toEqual([
        {
          type: 'source',
          source: expect.any(String),
          kind: 'node',
          state: 'lost',
          reason: expect.stringMatching(/Unauthorized Miner: k:.* must all equal those of a miner/),
          nodeConfiguration: nodeConfigurationFor(miner),
        },
      ]);
    });

    it('is a warning when mining is disabled there, with what the node must have', async () => {
      const { url } = await startNode({ miningEnabled: false });
      const { recorder } = followNode(url);
      await eventually(() => {
        expect(recorder.of('source')).toContainEqual(
          expect.objectContaining({ state: 'warning', nodeConfiguration: nodeConfigurationFor(miner) }),
        );
      });
    });

    it('may be missing', async () => {
      const { url } = await startNode({ configServed: false });
      const { recorder, follower } = followNode(url);
      await follower.work();
      expect(recorder.of('source').map(({ state }) => state)).toEqual(['connected']);
    });

    it('of works that this source did not give harm no work of its own on that parent, unless they are accepted', async () => {
      const { node, url } = await startNode();
      const { source, follower } = followNode(url);
      const own = await settled({ node, follower });
      const before = follower.updates.length;
      const header = Uint8Array.from(own.header);
      header[200] ^= 1; // A payload that the node never gave.
      const unknown = mine({ ...own, header });
      expect(await source.submit(unknown, follower.stop)).toEqual({
        outcome: 'stale',
        reason: 'No associated Payload',
      });
      await settled({ node, follower });
      expect(follower.updates).toHaveLength(before);
      // The same work, as another source on this node gave it.
      expect(await source.submit(mine({ ...own }), follower.stop)).toMatchObject({ outcome: 'accepted' });
      await eventually(() => expect(follower.received.at(-1)).not.toBe(own));
      expect(follower.of('stale').flatMap(({ works }) => works)).toContain(own);
    });
  });
});
