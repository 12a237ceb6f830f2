/** Log lines about accepted blocks: one for each, once it is known whether it was won, and more only for what is wrong. */

import type { Logger } from 'pino';
import type { MinerEvent } from '../events/events.ts';
import type { BlockState } from '../events/vocabulary.ts';
import { formatDuration, inWords } from './units.ts';

type StateEvent = MinerEvent & { type: 'block-state' };
type RewardEvent = MinerEvent & { type: 'block-reward' };

const TAG = { tag: 'block' } as const;

export function logBlockState(log: Logger, event: StateEvent): void {
  log[levelOf(event)](TAG, describeBlockState(event));
}

export function logBlockReward(log: Logger, event: RewardEvent): void {
  const { fault, paidTo } = event;
  const level = paidTo !== undefined ? 'error' : fault !== undefined ? 'warn' : 'info';
  log[level](TAG, describeBlockReward(event));
}

/** @returns `chain 3 height 42: earned 0.98 coins`, or what is false or wrong, also for notices */
export function describeBlockReward({ fault, paidTo, account, source, isEarlier, ...event }: RewardEvent): string {
  if (paidTo !== undefined) {
    const what = `${where(event)} pays ${paidTo} and not ${account}, for whom it was mined: it earns nothing`;
    // A node that was named in an earlier run may have been mended since.
    if (isEarlier) return `${what}. The work came from ${source}`;
    return (
      `${what}. ${source} gave this work, or somebody between it and here who changed it, and is left. ` +
      'Find out which, use https, and start pickaxe again then'
    );
  }
  return fault === undefined
    ? `${where(event)}: earned ${describeReward(event)}`
    : `${where(event)}: the reward is not proven, because what a node says of it is false: ${fault}`;
}

/** @returns `chain 3 height 42 won 0.98 coins, settles in ~2 min`, also for notices */
export function describeBlockState(event: StateEvent): string {
  const { chain, height, state, reason } = event;
  const why = reason === '' ? [] : [reason];
  // This line comes for every block, and the one that said that it was accepted has named the device.
  if (state === 'won') {
    const parts = [`chain ${chain} height ${height} won${describeWin(event)}`, settlesWhen(event), ...why];
    return parts.join(', ');
  }
  const parts = [...(state === 'settled' ? [describeIncome(event)] : []), ...why];
  return `${where(event)} ${inWords(state)}${parts.length === 0 ? '' : `: ${parts.join('; ')}`}`;
}

/** Others than the first state that decides are for whoever looks closer, unless they take something away. */
function levelOf({ state, previous, nodesDisagree }: StateEvent): 'error' | 'warn' | 'info' | 'debug' {
  if (previous !== undefined && isOnChain(previous) && !isOnChain(state)) return 'error';
  if (nodesDisagree || ['orphaned', 'never-entered', 'lost', 'unknown'].includes(state)) return 'warn';
  if (state === 'won' || (state === 'settled' && previous !== 'won')) return 'info';
  return 'debug';
}

function isOnChain(state: BlockState): boolean {
  return state === 'won' || state === 'settled';
}

function where({ chain, height, device }: Pick<StateEvent, 'chain' | 'height' | 'device'>): string {
  return `chain ${chain} height ${height} by ${device}`;
}

/** @returns what follows `won` */
function describeWin(event: StateEvent): string {
  if (event.paidTo !== undefined) return `, but it pays ${event.paidTo}`;
  return event.fees === undefined ? ', reward not proven yet' : ` ${describeReward(event)}`;
}

function describeIncome(event: StateEvent): string {
  return event.paidTo === undefined ? `earned ${describeReward(event)}` : `it pays ${event.paidTo}`;
}

function describeReward({ reward, fees }: Pick<StateEvent, 'reward' | 'fees'>): string {
  if (fees === undefined) return 'an amount that is not proven yet';
  if (reward === undefined) return `fees of ${fees} and a reward that is not known`;
  return fees === '0.0' ? `${reward} coins` : `${reward} coins and ${fees} in fees`;
}

/** It is an estimate, so whole minutes are exact enough. */
function settlesWhen({ settledInSeconds = 0 }: StateEvent): string {
  if (settledInSeconds === 0) return 'settles now';
  const seconds = settledInSeconds < 60 ? settledInSeconds : 60 * Math.ceil(settledInSeconds / 60);
  return `settles in ~${formatDuration(seconds)}`;
}
