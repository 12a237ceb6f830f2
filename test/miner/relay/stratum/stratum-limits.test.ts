import { expect, it } from 'vitest';
import { mostConnections } from '#pickaxe/miner/relay/stratum/stratum-limits.js';

it.each([
  ['nothing is short', { files: 524_288, memory: 2 ** 36, threads: 8 }, { count: 66_560 }],
  ['there is no limit', { memory: 2 ** 36, threads: 8 }, { count: 66_560 }],
  ['there are just enough files', { files: 66_848, memory: 2 ** 36, threads: 8 }, { count: 66_560 }],
  ['one file is missing', { files: 66_847, memory: 2 ** 36, threads: 8 }, { count: 66_559, short: 'files' }],
  ['there is just enough memory', { memory: 66_560 * 2 ** 18, threads: 8 }, { count: 66_560 }],
  ['a byte is missing', { memory: 66_560 * 2 ** 18 - 1, threads: 8 }, { count: 66_559, short: 'memory' }],
  ['both are as short', { files: 2_064, memory: 1_800 * 2 ** 18, threads: 2 }, { count: 1_800, short: 'files' }],
  ['2,000 files', { files: 2_000, memory: 2 ** 36, threads: 2 }, { count: 1_736, short: 'files' }],
  ['256 files', { files: 256, memory: 2 ** 36, threads: 2 }, { count: 128, short: 'files' }],
  ['4 GiB', { files: 524_288, memory: 2 ** 32, threads: 2 }, { count: 16_384, short: 'memory' }],
] as const)('there are as many connections as files and memory allow: %s', (_, resources, most) => {
  expect(mostConnections(resources)).toEqual(most);
});
