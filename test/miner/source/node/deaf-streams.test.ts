/** Tests update streams that are open and send nothing: they may cost only seconds, and people must be told. */

import { describe, expect, it } from 'vitest';
import { eventually, mine } from '../follow.ts';
import { deaf, onUpdates, QUICK } from './deaf.ts';
import { followNode, nodesOf } from './node.ts';

const startNode = nodesOf('document');

describe('a stream that is open and silent', () => {
  it('is found by the next fetch, reported and reopened, and its chain is polled until a stream has sent a New Cut', async () => {
    const { node, follower, recorder, polled, advanced } = await deaf(
      onUpdates('silent-stream'),
      {},
      // Long enough for the New Cuts that come later on a machine that is busy.
      { ...QUICK, newCutGraceMs: 500 },
    );
    const { height } = await follower.work();
    await advanced();
    await eventually(() => expect(follower.received.at(-1)?.height).toBe(height + 1n));
    await eventually(() => expect(recorder.of('missed-cut').map(({ chain }) => chain)).toEqual([3]));
    expect(polled().at(-1)).toEqual([{ chain: 3, reason: 'missed-block' }]);
    await eventually(() => expect(node.server.stats.requests.updates).toBeGreaterThan(1));

    node.server.faults = [];
    node.server.streams.endAll();
    // Another stream is open, and that alone proves nothing.
    await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
    await eventually(() => {
      node.ledger.advance(3);
      expect(polled().at(-1)).toEqual([]);
    });
    expect(recorder.of('missed-cut')).toHaveLength(1);
  });

  it('is found when the grace period for its New Cut is over, however late the next fetch is due', async () => {
    const { node, url } = await startNode();
    node.ledger.pickChain = () => 3;
    node.server.faults = onUpdates('silent-stream');
    const { source, follower, recorder } = followNode(url, { ...QUICK, refreshMs: 600_000, pollMs: 600_000 });
    await follower.work();
    await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
    // The fetch that follows the opening, so that the stream could have told all that comes after.
    await eventually(() => expect(node.server.stats.requests.work).toBe(2));
    const work = await follower.work();
    expect((await source.submit(mine(work), follower.stop)).outcome).toBe('accepted');
    await eventually(() => expect(recorder.of('missed-cut').map(({ chain }) => chain)).toEqual([3]));
    await eventually(() => expect(node.server.stats.requests.updates).toBeGreaterThan(1));
  });

  it('does not affect a stream that announces each block', async () => {
    // On a machine that is busy a New Cut may come late.
    const { recorder, follower, advanced } = await deaf([], {}, { ...QUICK, newCutGraceMs: 2_000 });
    const { height } = await follower.work();
    for (let block = 1n; block <= 10n; block++) {
      await advanced();
      await eventually(() => expect(follower.received.at(-1)?.height).toBe(height + block));
    }
    expect(recorder.of('missed-cut')).toEqual([]);
    // On a machine that is busy a stream can take a moment to open.
    expect(
      recorder
        .of('polling')
        .flatMap(({ chains }) => chains)
        .filter(({ reason }) => reason !== 'no-stream'),
    ).toEqual([]);
  });
});

describe('a stream that does not behave', () => {
  it.each(['\n', ': a comment\n', 'event:Refreshed Block\n\n'])(
    'floods with %j: it is closed and reported, and its chain is polled',
    async (noise) => {
      const { node, url } = await startNode();
      node.ledger.pickChain = () => 3;
      node.server.faults = onUpdates('noisy-stream', { noise, noiseBytesPerS: 3_000_000 });
      const { follower, recorder } = followNode(url, QUICK);
      await eventually(() =>
        expect(recorder.of('source').some(({ reason }) => /far more data/.test(reason))).toBe(true),
      );
      await eventually(() => expect(node.server.streams.openFor(3)).toBe(0));
      const { height } = await follower.work();
      node.ledger.advance(3);
      await eventually(() => expect(follower.received.at(-1)?.height).toBe(height + 1n));
      // It is not opened again for half a minute.
      expect(node.server.stats.requests.updates).toBe(1);
      await eventually(() =>
        expect(recorder.of('polling').at(-1)?.chains).toEqual([{ chain: 3, reason: 'no-stream' }]),
      );
    },
  );

  it.each(['early-hints', 'chunk-extension'] as const)(
    'floods below the body with %s: it is closed and reported, and its chain is polled',
    async (kind) => {
      const { node, url } = await startNode();
      node.ledger.pickChain = () => 3;
      node.server.faults = onUpdates(kind, { noiseBytesPerS: 3_000_000 });
      const { follower, recorder } = followNode(url, QUICK);
      await eventually(() =>
        expect(recorder.of('source').some(({ reason }) => /far more data/.test(reason))).toBe(true),
      );
      const { height } = await follower.work();
      node.ledger.advance(3);
      await eventually(() => expect(follower.received.at(-1)?.height).toBe(height + 1n));
      expect(node.server.stats.requests.updates).toBe(1);
    },
  );

  it('never answers: people are told', async () => {
    const { node, url } = await startNode();
    node.server.faults = onUpdates('hang');
    const { recorder } = followNode(url, { ...QUICK, streamAnswerMs: 50 });
    await eventually(() => {
      const told = recorder
        .of('source')
        .filter(({ reason }) => /no update stream.*has not answered the request for it yet/.test(reason));
      expect(told).toHaveLength(1);
    });
  });
});
