/** The least work that is evidence on each network. */

import { expect, it } from 'vitest';
import { hasWork, leastWork } from '#pickaxe/protocol/ledger/least-work.js';

it.each([
  ['mainnet01', true, 17_592_186_044_416n],
  ['testnet00', true, 1_048_576n],
  ['testnet04', true, 1_048_576n],
  ['testnet09', true, 1_048_576n],
  ['testnet10', true, undefined],
  ['testnet041', true, undefined],
  ['mainnet02', true, undefined],
  ['development', false, undefined],
  ['recap-development', false, undefined],
  ['fast-development', false, undefined],
  ['slow-development', true, undefined],
  ['development2', true, undefined],
  ['test-singleton', false, undefined],
  ['my-test-net', true, undefined],
])('the network %s needs work: %s, at least %s', (network, needsWork, least) => {
  expect([hasWork(network), leastWork(network)]).toEqual([needsWork, least]);
});
