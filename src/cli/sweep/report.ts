/** What `pickaxe sweep --json` prints. Amounts are decimals as text. */

import { z } from 'zod';
import type { Keyset } from '../../ledger/command/coin.ts';
import { formatDecimal } from '../../ledger/decimal.ts';
import { gasWarning, mostGasCost, type Plan, totalOf } from '../../sweep/plan.ts';
import { isUnfinished, type Sweep, type Transfer } from '../../sweep/state.ts';
import { oneLine } from '../../text/one-line.ts';

const SweptChain = z
  .strictObject({
    chain: z.int().meta({ description: 'where the coins come from' }),
    state: z.enum(['planned', 'skipped', 'pending', 'done', 'failed']).meta({
      description: 'pending: the coins are on their way, and --resume goes on; failed: they are still where they were',
    }),
    amount: z.string().optional().meta({ description: 'what is moved, in coins' }),
    requestKey: z.string().optional().meta({ description: 'of step 0, with which anybody can finish the transfer' }),
    by: z.enum(['us', 'somebody-else']).optional().meta({ description: 'who has finished the transfer' }),
    gasCost: z
      .string()
      .optional()
      .meta({ description: 'what was paid for gas, in coins, by a transfer that is done or failed' }),
    reason: z.string().optional().meta({ description: 'why nothing is moved, or what the transfer waits for' }),
  })
  .meta({ description: 'one chain of a sweep' });

export const SweepReport = z
  .strictObject({
    network: z.string(),
    account: z.string(),
    targetChain: z.int().meta({ description: 'where the coins go' }),
    guard: z
      .strictObject({ predicate: z.string(), keys: z.array(z.string()) })
      .meta({ description: 'who can dispose of the coins that arrive' }),
    sent: z.boolean().meta({ description: 'whether this is more than a plan' }),
    total: z.string().meta({ description: 'the sum of all amounts, in coins' }),
    mostGasCost: z.string().optional().meta({ description: 'of a plan: the most that gas costs, in coins' }),
    warning: z
      .string()
      .optional()
      .meta({ description: 'of a plan, and of what goes on: why the gas price may be a mistake' }),
    chains: z.array(SweptChain),
  })
  .meta({ description: 'a sweep, or the plan of one' });
export type SweepReport = z.output<typeof SweepReport>;
type SweptChain = SweepReport['chains'][number];

/** How long a foreign text may be. */
const MOST = 300;

/** @param sweep what the plan will be once it begins */
export function planReport(plan: Plan, sweep: Sweep): SweepReport {
  const { account, targetChain } = plan.wishes;
  const guard = guardReport(plan.guard);
  const chains = plan.chains.map((it): SweptChain => {
    const { chain } = it;
    if (it.kind === 'transfer') return { chain, state: 'planned', amount: formatDecimal(it.amount) };
    return { chain, state: it.kind === 'skip' ? 'skipped' : 'failed', reason: oneLine(it.reason, MOST) };
  });
  const sums = { total: formatDecimal(totalOf(plan)), mostGasCost: formatDecimal(mostGasCost(sweep)) };
  const warning = gasWarning(sweep);
  const { network } = sweep;
  return { network, account, targetChain, guard, sent: false, ...sums, ...(warning && { warning }), chains };
}

/** @param notes what each unfinished transfer waits for, by its chain @param sent whether this run may have sent something */
export function sweepReport(sweep: Sweep, notes: ReadonlyMap<number, string>, sent: boolean): SweepReport {
  const { network, account, targetChain, guard, transfers } = sweep;
  const total = formatDecimal(transfers.reduce((sum, { amount }) => sum + amount, 0n));
  const chains = transfers.map((transfer) => sweptChain(transfer, notes.get(transfer.chain)));
  const warning = isUnfinished(sweep) && !sent ? gasWarning(sweep) : undefined;
  const said = { network, account, targetChain, guard: guardReport(guard), sent, total };
  return { ...said, ...(warning !== undefined && { warning }), chains };
}

/** By the word of nodes, a predicate can be any text. */
function guardReport({ keys, pred }: Keyset): SweepReport['guard'] {
  return { predicate: oneLine(pred, MOST), keys: [...keys] };
}

function sweptChain({ chain, amount, step0, outcome }: Transfer, note: string | undefined): SweptChain {
  const common = { chain, amount: formatDecimal(amount), ...(step0 && { requestKey: step0.hash }) };
  if (outcome === null) {
    return {
      ...common,
      state: step0 ? 'pending' : 'planned',
      ...(note !== undefined && { reason: oneLine(note, MOST) }),
    };
  }
  const gasCost = formatDecimal(outcome.gasCost);
  if (outcome.state === 'failed') return { ...common, state: 'failed', gasCost, reason: oneLine(outcome.reason, MOST) };
  return { ...common, state: 'done', by: outcome.by === 'us' ? 'us' : 'somebody-else', gasCost };
}
