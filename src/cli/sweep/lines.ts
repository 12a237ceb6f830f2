/** What `pickaxe sweep` prints for people. */

import { oneLine } from '../../text/one-line.ts';
import type { SweepReport } from './report.ts';

/** The most characters of an account. */
const MOST = 100;

/** @returns the report as text, with a newline at its end */
export function linesOf(report: SweepReport): string {
  const { account, network, targetChain, guard, total, mostGasCost, warning, chains } = report;
  const rows = chains.map(({ chain, state, amount = '', ...more }) => [`${chain}`, state, amount, remark(more)]);
  const table = [['chain', 'state', 'amount', ''], ...rows, ['', 'total', total, '']];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column].length)));
  const lines = table.map(([chain, state, amount, text]) => {
    return [chain.padStart(widths[0]), state.padEnd(widths[1]), amount.padStart(widths[2]), text].join('  ').trimEnd();
  });
  const gas = mostGasCost === undefined ? [] : [`Gas costs at most ${mostGasCost}.`];
  if (warning !== undefined) gas.push(`Warning: ${warning}`);
  const title = `${oneLine(account, MOST)} on ${network}, to chain ${targetChain}:`;
  const guarded = [`The coins arrive for ${guard.predicate} of`, ...guard.keys.map((key) => `  ${oneLine(key, MOST)}`)];
  return `${[title, '', ...lines, ...gas, ...guarded].join('\n')}\n`;
}

function remark({
  requestKey,
  by,
  gasCost,
  reason,
}: Omit<SweepReport['chains'][number], 'chain' | 'state' | 'amount'>) {
  if (by !== undefined) return `gas ${gasCost}${by === 'somebody-else' ? ', finished by somebody else' : ''}`;
  const gas = gasCost === undefined ? '' : `gas ${gasCost}, `;
  return [requestKey && `${gas}request key ${requestKey}`, reason].filter(Boolean).join(': ');
}
