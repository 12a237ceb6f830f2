/** Tests everything together: a miner with a node source and a mock node with rivals and faults. */

import { describe, expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Miner } from '#pickaxe/miner/loop/miner.js';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import type { FaultInput } from '#pickaxe/mock-node/server/faults.js';
import { FakeEngine, Recorder } from '../../../fakes.ts';
import { DIALECTS } from '../../../mock-node/node.ts';
import { eventually } from '../follow.ts';
import { miner as identity, nodesOf } from './node.ts';

const anywhere = (['drop', 'unavailable', 'captive-portal'] as const).map(
  (kind): FaultInput => ({ endpoint: 'any', kind, probability: 0.05 }),
);

describe.each(DIALECTS)('on a node of the dialect %s', (dialect) => {
  const startNode = nodesOf(dialect);

  describe.each<[string, FaultInput[]]>([
    ['a node that behaves', []],
    [
      'a node that fails one request in five',
      [
        ...anywhere,
        { endpoint: 'work', kind: 'wrong-length', probability: 0.05 },
        { endpoint: 'solved', kind: 'lost-answer', probability: 0.05 },
      ],
    ],
  ])('mining on %s', (_, faults) => {
    it('wins blocks, and breaks no rule', async () => {
      const { node, url } = await startNode({
        difficulty: 300,
        // With this setting every accepted solution is a block.
        lateSolutions: 'refuse',
        rivalMs: 20,
        cutBurst: 2,
        neighbourCuts: true,
        streamMs: 500,
      });
      node.server.faults = faults;
      const recorder = new Recorder();
      const limits = { fetchPauses: { firstMs: 5, mostMs: 50 }, submitPauses: { firstMs: 5, mostMs: 50 } };
      const source = new NodeSource(
        { url, network: 'development', miner: identity },
        { emit: recorder.listen, limits },
      );
      const random = (below: number) => Math.floor(Math.random() * below);
      const miner = new Miner({
        source,
        engines: [new FakeEngine()],
        emit: recorder.listen,
        clock: systemClock,
        random,
      });
      const ending = new AbortController();
      const mining = miner.run(ending.signal);
      await eventually(() => expect(node.ledger.stats.accepted).toBeGreaterThan(20));
      ending.abort();
      await mining;
      expect(node.ledger.stats.rejected).toBe(0);
      expect(node.ledger.stats.timeViolations).toBe(0);
      // The same bytes go out twice only where the first answer was lost.
      if (faults.length === 0) expect(node.ledger.stats.duplicates).toBe(0);
      const verdicts = recorder.of('verdict');
      expect(verdicts).toHaveLength(recorder.of('solution').length);
      // A solution whose answer was lost may have been accepted, and may not.
      const count = (which: string) => verdicts.filter(({ outcome }) => outcome === which).length;
      expect(count('accepted')).toBeLessThanOrEqual(node.ledger.stats.accepted);
      expect(count('accepted') + count('unknown')).toBeGreaterThanOrEqual(node.ledger.stats.accepted);
      expect(recorder.of('hardware-error')).toHaveLength(0);
    });
  });
});
