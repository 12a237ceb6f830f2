/** What `pickaxe sweep` prints for people. */

import { oneLine } from '../../text/one-line.ts';
import type { SweepReport } from './report.ts';

/** The most characters of an account. */
const MOST = 100;

/** @returns the report as text, with a newline at its end */
export function linesOf(report: SweepReport): string {
  const { account, network, targetChain, total, mostGasCost, chains } = report;
  const rows = chains.map(({ chain, state, amount = '', ...more }) => [`${chain}`, state, amount, remark(more)]);
  const table = [['chain', 'state', 'amount', ''], ...rows, ['', 'total', total, '']];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column].length)));
  const lines = table.map(([chain, state, amount, text]) => {
    return [chain.padStart(widths[0]), state.padEnd(widths[1]), amount.padStart(widths[2]), text].join('  ').trimEnd();
  });
  const gas = mostGasCost === undefined ? [] : [`Gas costs at most ${mostGasCost}.`];
  return `${[`${oneLine(account, MOST)} on ${network}, to chain ${targetChain}:`, '', ...lines, ...gas].join('\n')}\n`;
}

function remark({
  requestKey,
  by,
  gasCost,
  reason,
}: Omit<SweepReport['chains'][number], 'chain' | 'state' | 'amount'>) {
  if (gasCost !== undefined) return `gas ${gasCost}${by === 'somebody-else' ? ', finished by somebody else' : ''}`;
  return [requestKey && `request key ${requestKey}`, reason].filter(Boolean).join(': ');
}
