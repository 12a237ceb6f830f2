/** Random numbers from a seed: nodes with the same seed must begin with the same blocks, whatever their version. */

import { expect, it } from 'vitest';
import { randomBytes, randomInteger, seededRandom } from '#pickaxe/mock-node/random.js';

it.each([
  [0, [1_144_304_738, 1_416_247, 958_946_056]],
  [1, [2_693_262_067, 11_749_833, 2_265_367_787]],
  [2 ** 32 - 1, [3_850_105_811, 813_802_916, 3_073_704_848]],
  [-1, [3_850_105_811, 813_802_916, 3_073_704_848]],
])('the numbers of the seed %i are those of mulberry32', (seed, numbers) => {
  const random = seededRandom(seed);
  expect(numbers.map(() => random() * 2 ** 32)).toEqual(numbers);
});

it('bytes and integers have their whole range, and no more', () => {
  const [least, most] = [() => 0, () => 1 - 2 ** -32];
  expect([randomBytes(least, 2).toString('hex'), randomBytes(most, 3).toString('hex')]).toEqual(['0000', 'ffffff']);
  expect([randomInteger(least, 10), randomInteger(most, 10)]).toEqual([0, 9]);
  expect(randomBytes(seededRandom(1), 8).toString('hex')).toBe('a00087fbf7479cb8');
});
