/** `pickaxe balance`: what an account has on each chain, and in all. */

import { type ChainReading, readTokenBalances } from '../../accounts/read-account.ts';
import { defaultAccount } from '../../app/choose-source.ts';
import { EXIT, UsageError } from '../../app/exit-codes.ts';
import type { Loaded } from '../../config/load.ts';
import type { Config } from '../../config/settings.ts';
import { formatTokenAmount, type TokenAmount } from '../../ledger/decimal.ts';
import { oneLine } from '../../text/one-line.ts';
import type { BalanceReport, ChainReport } from '../balance-report.ts';
import { withNodes } from './ledger/client.ts';
import { note, printLine, printTable, safe } from './ledger/print.ts';

export interface BalanceOptions {
  readonly json: boolean;
  /** The token's module. */
  readonly token: string;
}

/** How many errors are printed of chains that could not be read: they are mostly the same. */
const MOST_ERRORS = 3;

/** @param given the account; that of the configuration by default @throws UsageError when neither names one */
export async function runBalance(loaded: Loaded, given: string | undefined, options: BalanceOptions): Promise<number> {
  const { json, token: module } = options;
  const account = given ?? accountOf(loaded.config);
  return withNodes(loaded, async (nodes) => {
    const { network, readings } = await nodes.ask(async (api) => {
      const { heads } = await api.cut();
      return { network: api.network, readings: await readTokenBalances(api, heads.keys(), { account, module }) };
    });
    const isComplete = readings.every(isRead);
    const total = isComplete ? readings.reduce((sum, { value }) => sum + value, 0n) : undefined;
    if (json) {
      const chains = readings.map(chainToJson);
      const sum = total === undefined ? null : formatTokenAmount(total);
      const report: BalanceReport = { account, token: module, network, chains, total: sum };
      printLine(JSON.stringify(report));
    } else {
      print(account, readings, total);
    }
    return isComplete ? EXIT.done : EXIT.failed;
  });
}

function accountOf({ miner: { account, publicKeys } }: Config): string {
  if (account !== undefined) return account;
  if (publicKeys !== undefined) return defaultAccount(publicKeys);
  throw new UsageError('Say whose balance to read: pickaxe balance ACCOUNT, or configure a miner with pickaxe init.');
}

function isRead(
  reading: ChainReading<TokenAmount>,
): reading is Extract<ChainReading<TokenAmount>, { value: TokenAmount }> {
  return 'value' in reading;
}

function chainToJson(reading: ChainReading<TokenAmount>): ChainReport {
  const { chain } = reading;
  return isRead(reading)
    ? { chain, balance: formatTokenAmount(reading.value), fault: null }
    : { chain, balance: null, fault: oneLine(reading.error.message) };
}

function print(account: string, readings: readonly ChainReading<TokenAmount>[], total: TokenAmount | undefined): void {
  const read = readings.filter(isRead);
  const amounts = [...read.map(({ value }) => value), ...(total === undefined ? [] : [total])].map(formatTokenAmount);
  // Points stand below each other.
  const width = Math.max(0, ...amounts.map((text) => text.indexOf('.')));
  const shown = (amount: TokenAmount) => {
    const text = formatTokenAmount(amount);
    return text.padStart(text.length + width - text.indexOf('.'));
  };
  printTable([
    ['account', safe(account)],
    ...readings.map((each) => [`chain ${each.chain}`, isRead(each) ? shown(each.value) : 'not read'] as const),
    ['total', total === undefined ? 'not known' : shown(total)],
  ]);
  const failed = readings.flatMap((each) => (isRead(each) ? [] : [each]));
  for (const { chain, error } of failed.slice(0, MOST_ERRORS)) note(`error: chain ${chain}: ${oneLine(error.message)}`);
  const more = failed.length - MOST_ERRORS;
  if (more > 0) note(`error: ${more} more ${more === 1 ? 'chain was' : 'chains were'} not read.`);
}
