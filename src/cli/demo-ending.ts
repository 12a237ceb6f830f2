/** What `pickaxe demo` says at its end: what became of its blocks, what they earned, and what its account has. Pure. */

import type { Totals } from '../blocks/totals.ts';
import { type Decimal, formatDecimal } from '../ledger/decimal.ts';
import { blocksLine } from './blocks-report.ts';

const NO_BLOCK = 'no block was accepted, so there is nothing to say of what blocks earn';
/** The demo's ledger has ended by then, so that these commands cannot be asked about it. */
const ON_A_REAL_NODE =
  'on a real node, pickaxe blocks lists what became of each block, and pickaxe balance what you have on each chain';

/** @param balance what the account has on all chains of the mock node @returns lines of a log */
export function demoEnding(totals: Totals, balance: Decimal): string[] {
  if (totals.accepted === 0) return [NO_BLOCK, ON_A_REAL_NODE];
  return [
    blocksLine(totals),
    `earned ${formatDecimal(totals.earned)} coins, each reward proven against the header of its block`,
    `the account has ${formatDecimal(balance)} coins on the mock node, ${compared(totals, balance)}`,
    ON_A_REAL_NODE,
  ];
}

function compared({ earned, pending, unanswered, unproven }: Totals, balance: Decimal): string {
  if (balance === earned) return 'exactly what its blocks have earned';
  const isOpen = pending + unanswered + unproven > 0;
  return isOpen ? 'with what undecided blocks may have earned' : 'which is not what its blocks have earned';
}
