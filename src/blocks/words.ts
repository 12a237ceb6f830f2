/** What there is to say about a block's state, for people. */

import { ON_CHAIN, type Standing } from './states.ts';

/**
 * @param before what was known of the block before, where that is of interest
 * @returns a clause; empty when the state says it all
 */
export function describeStanding(standing: Standing, before?: Standing): string {
  const { state, nodesDisagree, winner } = standing;
  const place = winner === undefined ? 'another block has its place' : `the block ${winner} has its place`;
  const parts = {
    pending: [],
    contested: nodesDisagree ? [] : ['another block has its height, and nothing is on top of either'],
    unknown: ['for an hour no node could tell'],
    won: [],
    settled: [],
    orphaned: [place],
    'never-entered': [`${place}, and no node that was asked has kept ours`],
  }[state];
  const wasOnChain = before !== undefined && ON_CHAIN.includes(before.state);
  const reorganised =
    wasOnChain && !ON_CHAIN.includes(state) ? [`it was ${before.state}: the chain was reorganised`] : [];
  return [...reorganised, ...parts, ...(nodesDisagree ? ['nodes disagree about it'] : [])].join('; ');
}
