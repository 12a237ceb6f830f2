/** Makes the chains that the options ask for, with the oldest block of each. */

import { targetForDifficulty } from '../../chain/target.ts';
import type { CoinState } from '../contract/state.ts';
import type { Transactions } from '../contract/transactions.ts';
import type { LedgerSettings } from '../options.ts';
import type { Random } from '../random.ts';
import { Chains } from './chains.ts';
import { makeFirstBlocks } from './first-blocks.ts';
import { graphFor } from './graph.ts';
import { codeOf } from './network.ts';
import { PayloadMaker } from './payloads.ts';

export interface ChainsSurroundings {
  readonly transactions: Transactions;
  readonly random: Random;
  /** @returns what the accounts of a chain begin as */
  readonly stateOf: (chain: number) => CoinState;
  /** The node's clock: µs since the UNIX epoch. */
  readonly nowUs: bigint;
}

export function makeChains(settings: LedgerSettings, surroundings: ChainsSurroundings): Chains {
  const { transactions, random, stateOf, nowUs } = surroundings;
  const graph = graphFor(settings.chains);
  const first = {
    graph,
    version: codeOf(settings.network),
    height: BigInt(settings.firstHeight),
    timeUs: firstTimeUs(settings, nowUs),
    target: targetForDifficulty(settings.difficulty),
    stateOf,
  };
  return new Chains({
    graph,
    first: makeFirstBlocks(first, random),
    payloads: new PayloadMaker(settings, transactions, random),
    random,
    retargets: settings.retargets,
  });
}

function firstTimeUs({ firstBlockTimeMs, firstBlockAgeMs }: LedgerSettings, nowUs: bigint): bigint {
  return firstBlockTimeMs === undefined ? nowUs - BigInt(firstBlockAgeMs) * 1000n : BigInt(firstBlockTimeMs) * 1000n;
}
