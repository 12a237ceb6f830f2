/** What `pickaxe tx transfer` prints: with `--json`, and for people. Amounts are decimals as text. */

import { z } from 'zod';
import type { Keyset } from '../../ledger/command/coin.ts';
import { formatDecimal } from '../../ledger/decimal.ts';
import type { PaymentPlan } from '../../sweep/payment.ts';
import { gasWarning, mostGasCost } from '../../sweep/plan.ts';
import { guardOfName } from '../../sweep/signers.ts';
import { isUnfinished, type Sweep } from '../../sweep/state.ts';
import { oneLine } from '../../text/one-line.ts';
import { row } from '../tx/row.ts';

const Guard = z.strictObject({ predicate: z.string(), keys: z.array(z.string()) });

export const PaymentReport = z
  .strictObject({
    network: z.string(),
    from: z.string(),
    to: z.string(),
    amount: z.string().meta({ description: 'in coins' }),
    chain: z.int().meta({ description: 'where the coins are' }),
    targetChain: z.int().meta({ description: 'where they arrive' }),
    guard: Guard.nullable().meta({
      description: 'whom the account that gets the coins must belong to; null: to whoever has it',
    }),
    saidGuard: Guard.nullable().optional().meta({
      description: 'of a plan without a guard: who has that account, by the word of the node; null: no keys guard it',
    }),
    isNew: z.boolean().optional().meta({ description: 'of a plan: whether the transfer creates that account' }),
    balance: z.string().optional().meta({ description: 'of a plan: what the sender has on its chain, in coins' }),
    mostGasCost: z.string().optional().meta({ description: 'of a plan: the most that gas costs, in coins' }),
    warning: z
      .string()
      .optional()
      .meta({ description: 'of a plan, and of what goes on: why the gas price may be a mistake' }),
    sent: z.boolean().meta({ description: 'whether this is more than a plan' }),
    state: z.enum(['planned', 'pending', 'done', 'failed']).meta({
      description: 'pending: it may have been sent, and --resume goes on; failed: no coins have left, apart from gas',
    }),
    requestKey: z.string().optional().meta({ description: 'of the transfer; to another chain, of its step 0' }),
    gasCost: z.string().optional().meta({ description: 'what the sender has paid for gas, in coins, when it is over' }),
    reason: z.string().optional().meta({ description: 'why it has failed, or what it waits for' }),
  })
  .meta({ description: 'a transfer of coins, or the plan of one' });
export type PaymentReport = z.output<typeof PaymentReport>;

/** How long a foreign text may be. */
const MOST = 300;

/** @param sweep what the plan will be once it begins */
export function paymentPlanReport(plan: PaymentPlan, sweep: Sweep): PaymentReport {
  const { saidGuard, isNew, balance } = plan;
  return {
    ...paymentReport(sweep, undefined, false),
    ...(saidGuard !== undefined && { saidGuard: saidGuard && guardReport(saidGuard) }),
    isNew,
    balance: formatDecimal(balance),
    mostGasCost: formatDecimal(mostGasCost(sweep)),
  };
}

/** @param note what it waits for @param sent whether this run may have sent something */
export function paymentReport(sweep: Sweep, note: string | undefined, sent: boolean): PaymentReport {
  const { network, account, receiver, targetChain, transfers } = sweep;
  const warning = isUnfinished(sweep) && !sent ? gasWarning(sweep) : undefined;
  const [{ chain, amount, step0, outcome }] = transfers;
  const reason = outcome?.state === 'failed' ? outcome.reason : outcome === null ? note : undefined;
  return {
    network,
    from: account,
    to: receiver?.account ?? account,
    amount: formatDecimal(amount),
    chain,
    targetChain,
    guard: receiver?.guard ? guardReport(receiver.guard) : null,
    sent,
    state: outcome?.state ?? (step0 ? 'pending' : 'planned'),
    ...(warning !== undefined && { warning }),
    ...(step0 && { requestKey: step0.hash }),
    ...(outcome && { gasCost: formatDecimal(outcome.gasCost) }),
    ...(reason !== undefined && { reason: oneLine(reason, MOST) }),
  };
}

/** By the word of nodes, a predicate can be any text. */
function guardReport({ keys, pred }: Keyset): z.output<typeof Guard> {
  return { predicate: oneLine(pred, MOST), keys: keys.map((key) => oneLine(key, MOST)) };
}

/** @returns the report as text, with a newline at its end */
export function paymentLines(report: PaymentReport): string {
  const { network, from, to, amount, chain, targetChain, guard, isNew, balance, mostGasCost, warning } = report;
  const lines = [
    row(
      'network',
      `${network}, ${chain === targetChain ? `chain ${chain}` : `from chain ${chain} to chain ${targetChain}`}`,
    ),
    row('from', oneLine(from, MOST)),
    row('to', oneLine(to, MOST)),
    ...(isNew ? [row('', 'which is a new account')] : []),
    // The name of a `k:` account says its key already.
    ...(guard && !guardOfName(to) ? [row('only for', guardText(guard))] : []),
    ...saidLines(report),
    row('amount', `${amount}${balance === undefined ? '' : ` of ${balance}`}`),
    ...(mostGasCost === undefined ? [] : [row('gas', `at most ${mostGasCost}`)]),
    ...(warning === undefined ? [] : [row('warning', warning)]),
    ...resultLines(report),
  ];
  return `${lines.join('\n')}\n`;
}

function saidLines({ saidGuard }: PaymentReport): string[] {
  if (saidGuard === undefined) return [];
  const who = saidGuard ? guardText(saidGuard) : 'nobody with keys';
  return [row('', 'which by the word of the node belongs to'), row('', who)];
}

function guardText({ predicate, keys }: z.output<typeof Guard>): string {
  return keys.length === 1 ? keys[0] : `${predicate} of ${keys.join(', ')}`;
}

function resultLines({ state, requestKey, gasCost, reason }: PaymentReport): string[] {
  if (state === 'planned') return [];
  return [
    ...(requestKey === undefined ? [] : [row('command', requestKey)]),
    ...(gasCost === undefined ? [] : [row('gas', gasCost)]),
    row('result', [state, reason].filter(Boolean).join(': ')),
  ];
}
