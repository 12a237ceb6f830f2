import { expect, it } from 'vitest';
import { SourceHealth } from '#pickaxe/miner/source/source-health.js';
import { FakeClock } from '../../rig/status/fakes.ts';

const REFUSES = 'refuses all solutions (“No associated Payload”; is there a load balancer?)';

/** A source without another one, which has nothing to start afresh. */
function source() {
  const told: (string | undefined)[] = [];
  const health = new SourceHealth({
    clock: new FakeClock(),
    random: () => 1,
    limits: { refusedMs: 0, unhealthyPauses: { firstMs: 1_000, mostMs: 1_000 } },
    words: { what: 'solutions', question: '; is there a load balancer?' },
    alone: (fault, news) => told.push(fault ?? news),
  });
  const refuse = (count: number, weight: number) => {
    for (let i = 0; i < count; i++) health.refused('No associated Payload', weight);
  };
  return { health, told, refuse };
}

it.each([
  [4, 3],
  [1.5, 8],
])('of refusals of weight %d, %d in a row make a source unhealthy, until it accepts a solution', (weight, count) => {
  const { health, told, refuse } = source();
  refuse(count - 1, weight);
  expect(told).toEqual([]);
  refuse(1, weight);
  refuse(100, weight);
  expect(told).toEqual([REFUSES]);
  health.accepted();
  expect(told).toEqual([REFUSES, 'accepts solutions again']);
});

it.each([
  ['every other', 1, false],
  ['three of four', 3, true],
])('a source that refuses %s solution of weight 4 is unhealthy: %s', (_, refusals, isUnhealthy) => {
  const { health, told, refuse } = source();
  for (let i = 0; i < 100 && told.length === 0; i++) {
    refuse(refusals, 4);
    health.accepted();
  }
  expect(told.includes(REFUSES)).toBe(isUnhealthy);
});
