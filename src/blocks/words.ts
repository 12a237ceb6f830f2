/** What there is to say about a block's state, for people. */

import { ON_CHAIN, type Standing } from './states.ts';

/**
 * @param before what was known of the block before, where that is of interest
 * @param isRefused whether the node said that it refused the block
 * @returns a clause; empty when the state says it all
 */
export function describeStanding(standing: Standing, before?: Standing, isRefused = false): string {
  const { state, nodesDisagree, winner } = standing;
  const place = winner === undefined ? 'another block has its place' : `the block ${winner} has its place`;
  const parts = {
    pending: [],
    contested: nodesDisagree ? [] : ['another block has its height, and nothing is on top of either'],
    unknown: ['for an hour no node could tell'],
    unanswered: ['the answer of the node was lost, and only the chain can tell whether the node took it'],
    won: [],
    settled: [],
    orphaned: [place],
    'never-entered': [`${place}, and no node that was asked has kept ours`],
    lost: [`${place}, no node that was asked has kept ours, and none has said that it took it`],
  }[state];
  const wasOnChain = before !== undefined && ON_CHAIN.includes(before.state);
  const reorganised =
    wasOnChain && !ON_CHAIN.includes(state) ? [`it was ${before.state}: the chain was reorganised`] : [];
  const wasTaken = before?.state === 'unanswered' && state !== 'unanswered' && state !== 'lost';
  const taken = wasTaken ? ['the node has taken it, although its answer was lost'] : [];
  const refused = isRefused ? ['the node said that it refused it, and nodes have it all the same'] : [];
  return [...reorganised, ...taken, ...refused, ...parts, ...(nodesDisagree ? ['nodes disagree about it'] : [])].join(
    '; ',
  );
}
