import { expect, it } from 'vitest';
import { NodeHealth } from '#pickaxe/nodes/judge.js';

/** @param looks `-` for one with a fault, `+` for one without */
function news(looks: string): string {
  const health = new NodeHealth();
  const letters = { unchanged: '.', doubtful: '?', unhealthy: 'U', healthy: 'H' };
  return [...looks].map((look) => letters[health.looked(look === '-')]).join('');
}

it.each([
  ['++++', '....'],
  ['-', '?'],
  ['--', '?U'],
  ['----', '?U..'],
  ['-+-+-+', '?.?.?.'],
  ['--+', '?U.'],
  ['--++', '?U.H'],
  ['--+-+-++', '?U.....H'],
  ['--++--', '?U.H?U'],
])('two looks in a row change what is thought of a node: %s', (looks, expected) => {
  expect(news(looks)).toBe(expected);
});
