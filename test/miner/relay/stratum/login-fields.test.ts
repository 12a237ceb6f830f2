import { expect, it, test } from 'vitest';
import {
  agentName,
  chosenDifficulty,
  hashesOfDifficulty,
  reversesNonces,
  workerName,
} from '#pickaxe/miner/relay/stratum/login-fields.js';

it.each([
  ['rig', 'rig'],
  ['', 'unnamed'],
  ['\u0007', 'unnamed'],
  [undefined, 'unnamed'],
  [7, 'unnamed'],
  ['x'.repeat(128), 'x'.repeat(128)],
  ['x'.repeat(129), `${'x'.repeat(127)}…`],
  // The account of a key and a worker's name stay whole: the page and the tables shorten them, and can tell rigs apart.
  [`k:${'a'.repeat(64)}.rig`, `k:${'a'.repeat(64)}.rig`],
  [`k:${'a'.repeat(130)}.rig`, `k:${'a'.repeat(121)}….rig`],
  [`${'a'.repeat(124)}.rig`, `${'a'.repeat(124)}.rig`],
  [`abc.${'b'.repeat(125)}`, `a….${'b'.repeat(125)}`],
  [`ab.${'b'.repeat(126)}`, `ab.${'b'.repeat(124)}…`],
  [`a.${'b'.repeat(140)}`, `a.${'b'.repeat(125)}…`],
])('the worker %j is called %s', (user, name) => {
  expect(workerName(user)).toBe(name);
});

it('programs are recognized by their names, where they have quirks', () => {
  expect(agentName(null)).toBe('');
  expect([63, 64].map((length) => agentName('x'.repeat(length)))).toEqual(['x'.repeat(63), `${'x'.repeat(62)}…`]);
  expect(['BlackMiner F1', 'blackminer/2', 'F1-mini', 'Black Miner'].every(reversesNonces)).toBe(true);
  expect(['', 'kdaminer-v1.0.0', 'bmminer/1.0.0', 'cgminer/4.11', 'gf1'].some(reversesNonces)).toBe(false);
  expect([chosenDifficulty('a d=2 b'), chosenDifficulty('rd=2'), chosenDifficulty(7)]).toEqual([
    2 ** 33,
    undefined,
    undefined,
  ]);
});

test('difficulty 1 takes 2^32 hashes, and may be below 1', () => {
  expect([1, '1', 0.5, '0.25', '1e2', 2 ** -40].map(hashesOfDifficulty)).toEqual([
    2 ** 32,
    2 ** 32,
    2 ** 31,
    2 ** 30,
    100 * 2 ** 32,
    1,
  ]);
  for (const wrong of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e99, '', 'x', '-1', '0x10', '1e999', null, [1]]) {
    expect(hashesOfDifficulty(wrong)).toBeUndefined();
  }
});

test('a difficulty is a number of up to 20 digits before and after the point, and takes 2^255 hashes at most', () => {
  const [long, longer] = ['0'.repeat(19), '0'.repeat(20)];
  expect([`${long}1`, `1.${long}1`, `1e${10}`, '1E+2', '1e-2'].map(hashesOfDifficulty)).toEqual([
    2 ** 32,
    2 ** 32,
    1e10 * 2 ** 32,
    100 * 2 ** 32,
    0.01 * 2 ** 32,
  ]);
  for (const wrong of [`${longer}1`, `1.${longer}1`, '1e100', '1.', '.5']) {
    expect(hashesOfDifficulty(wrong)).toBeUndefined();
  }
  expect([2 ** 223, 2 ** 223 * (1 + 2 ** -52)].map(hashesOfDifficulty)).toEqual([2 ** 255, undefined]);
});
