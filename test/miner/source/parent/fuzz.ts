/**
 * Random parents: valid, strange and broken lines in any order and in any pieces, shares in between, and sudden ends.
 */

import fc from 'fast-check';
import { expect } from 'vitest';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { anyText } from '../../../any-text.ts';
import { eventually, Follower, mine } from '../follow.ts';
import { makeHeader, ParentWorld, ScriptedParent, targetHex } from './parent.ts';

const id = fc.constantFrom('a', 'b', 'c', '', 'x'.repeat(65));
const target = fc.constantFrom(targetHex(1), targetHex(50), 'f'.repeat(64), '0', 'zz', '');
const strange = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(undefined));
const maybe = (field: fc.Arbitrary<unknown>) =>
  fc.oneof({ arbitrary: field, weight: 8 }, { arbitrary: strange, weight: 1 });

const message = fc.oneof(
  fc.record({
    type: fc.constant('job'),
    id: maybe(id),
    header: maybe(fc.constantFrom(1, 50).map((difficulty) => toHex(makeHeader(difficulty)))),
    target: fc.option(maybe(target), { nil: undefined }),
    nonce1: fc.option(maybe(fc.record({ value: fc.nat(70_000), bytes: fc.nat(3) })), { nil: undefined }),
    solutions: fc.option(maybe(fc.constantFrom('one', 'many')), { nil: undefined }),
    verdicts: fc.option(maybe(fc.boolean()), { nil: undefined }),
    clean: fc.option(maybe(fc.boolean()), { nil: undefined }),
  }),
  fc.record({ type: fc.constant('cancel'), id: fc.option(maybe(id), { nil: undefined }) }),
  fc.record({ type: fc.constant('target'), id: maybe(id), target: maybe(target) }),
  fc.record({
    type: fc.constant('verdict'),
    share: maybe(fc.nat(5)),
    outcome: maybe(fc.constantFrom('accepted', 'stale')),
  }),
  fc.record({ type: fc.constant('rate'), sharesPerSecond: maybe(fc.constantFrom(1, 0, null, 1e9)) }),
  fc.record({ type: fc.constantFrom('stats', 'ping', 'drain', 'hello', '') }),
);
const line = fc.oneof(
  { arbitrary: message.map((message) => JSON.stringify(message)), weight: 10 },
  { arbitrary: anyText({ maxLength: 20 }).map((text) => text.replaceAll('\n', '')), weight: 1 },
  { arbitrary: fc.constant('y'.repeat(70_000)), weight: 1 },
);

/** @returns whether a line asks for exactly one answer or refusal, so that answers can be counted */
const asks = (text: string) => /^\{"type":"(stats|ping)"\}$/.test(text);

/**
 * Every line is read, whatever stands before it; nothing throws; whatever the source says has the documented shape.
 */
export async function fuzzParents(numRuns: number): Promise<void> {
  const property = fc.asyncProperty(
    fc.array(line, { maxLength: 25 }),
    fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 20 }),
    fc.boolean(),
    async (lines, cuts, dies) => {
      const world = new ParentWorld();
      const follower = new Follower(world.source);
      const parent = world.connect(new ScriptedParent());
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const size = cuts[i % cuts.length] * (1 + Math.floor(bytes.length / 20_000));
        parent.input.write(Uint8Array.from(bytes.subarray(at, at + size)));
        at += size;
      }
      parent.say({ type: 'ping', echo: 'the end' });
      await eventually(() => expect(parent.of('pong').at(-1)?.echo).toBe('the end'));
      expect(parent.of('stats').length + parent.of('pong').length - 1).toBe(lines.filter(asks).length);
      const work = follower.received.at(-1);
      const isSolvable = work?.target.some((byte) => byte > 0);
      const verdict = work && isSolvable ? world.source.submit(mine(work), follower.stop) : undefined;
      if (dies) parent.die();
      await follower.end();
      if (verdict) expect((await verdict).outcome).toMatch(/delivered|stale|unknown/);
      expect(parent.wrong).toEqual([]);
    },
  );
  await fc.assert(property, { numRuns });
}
