/** `pickaxe balance`: prints an account's balance on each chain, and the total. */

import type { Command } from 'commander';
import { z } from 'zod';
import type { Loaded } from '../../app/config/load.ts';
import type { Config } from '../../app/config/settings.ts';
import { EXIT, UsageError } from '../../app/process/exit.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { type ChainReading, readTokenBalances } from '../../node/client/ledger-reader.ts';
import { minerIdentity } from '../../node/client/miner-identity.ts';
import { guardOfName } from '../../node/sweep/transfer-commands.ts';
import { formatTokenAmount, type TokenAmount } from '../../protocol/ledger/decimal.ts';
import type { Io, Line } from '../io.ts';
import { printTable, safe, withNodes } from '../ledger/ledger-client.ts';
import { settingsOf, withSettings } from '../usage/options.ts';

interface BalanceOptions {
  readonly json: boolean;
  readonly token: string;
}

/** Maximum number of chains whose errors are printed. Errors of several chains are mostly the same. */
const MOST_ERRORS = 3;

export function declare(command: Command, { io, action }: Line): void {
  withSettings(command, 'node', 'ledger', 'miner.public-keys', 'miner.account')
    .argument('[account]', 'the account (default: that of the miner)')
    .option('--token <module>', 'the token, by its module with its namespace', 'coin')
    .option('--json', 'one JSON object on stdout', false)
    .action(action(async (account, options) => runBalance(await settingsOf(command), account, options, io)));
}

/** @throws UsageError when neither the argument nor the configuration names an account */
async function runBalance(loaded: Loaded, given: string | undefined, options: BalanceOptions, io: Io): Promise<number> {
  const { json, token: module } = options;
  const account = given ?? accountOf(loaded.config);
  return withNodes(loaded, io, async (nodes) => {
    const { network, readings } = await nodes.ask(async (api) => {
      const { heads } = await api.cut();
      return { network: api.network, readings: await readTokenBalances(api, heads.keys(), { account, module }) };
    });
    const isComplete = readings.every(isRead);
    const total = isComplete ? readings.reduce((sum, { value = 0n }) => sum + value, 0n) : undefined;
    if (json) {
      const chains = readings.map(chainToJson);
      const sum = total === undefined ? null : formatTokenAmount(total);
      const report: BalanceReport = { account, token: module, network, chains, total: sum };
      io.out(`${JSON.stringify(report)}\n`);
    } else {
      print(account, readings, total, io);
    }
    if (isComplete && readings.every(({ value }) => value === undefined)) sayNowhere(account, network, io);
    return isComplete ? EXIT.done : EXIT.failed;
  });
}

function accountOf({ miner }: Config): string {
  const account = miner.account ?? minerIdentity(miner)?.account;
  if (account !== undefined) return account;
  throw new UsageError('Say whose balance to read: pickaxe balance ACCOUNT, or configure a miner with pickaxe init.');
}

/** A chain with the account's balance, or with an error. The balance is undefined if the chain lacks the account. */
type Reading = ChainReading<TokenAmount | undefined>;

function isRead(reading: Reading): reading is Extract<Reading, { value: unknown }> {
  return 'value' in reading;
}

/** Prints a note rather than an error, because the account of a new miner does not exist on any chain yet. */
function sayNowhere(account: string, network: string, io: Io): void {
  const next = guardOfName(account) ? 'Its first coins create it.' : 'Is its name right?';
  io.say(`No chain of ${network} has the account ${safe(account)}. ${next}`);
}

function chainToJson(reading: Reading): ChainReport {
  const { chain } = reading;
  if (!isRead(reading)) return { chain, balance: null, fault: oneLine(reading.error.message) };
  const { value } = reading;
  return { chain, balance: value === undefined ? null : formatTokenAmount(value), fault: null };
}

function print(account: string, readings: readonly Reading[], total: TokenAmount | undefined, io: Io): void {
  const read = readings.filter(isRead);
  const amounts = [...read.map(({ value }) => value), total].filter((it) => it !== undefined).map(formatTokenAmount);
  // Amounts are padded on the left, so that their decimal points are aligned.
  const width = Math.max(0, ...amounts.map((text) => text.indexOf('.')));
  const shown = (amount: TokenAmount) => {
    const text = formatTokenAmount(amount);
    return text.padStart(text.length + width - text.indexOf('.'));
  };
  const shownOrNone = (amount: TokenAmount | undefined) => (amount === undefined ? 'no account' : shown(amount));
  printTable(io, [
    ['account', safe(account)],
    ...readings.map((each) => [`chain ${each.chain}`, isRead(each) ? shownOrNone(each.value) : 'not read'] as const),
    ['total', total === undefined ? 'not known' : shown(total)],
  ]);
  const failed = readings.flatMap((each) => (isRead(each) ? [] : [each]));
  for (const { chain, error } of failed.slice(0, MOST_ERRORS))
    io.say(`error: chain ${chain}: ${oneLine(error.message)}`);
  const more = failed.length - MOST_ERRORS;
  if (more > 0) io.say(`error: ${more} more ${more === 1 ? 'chain was' : 'chains were'} not read.`);
}

/* The output of `pickaxe balance --json`. An amount is the text of an exact decimal. */

const coins = z.string().regex(/^-?\d+\.\d+$/);

const ChainReport = z.object({
  chain: z.int().nonnegative(),
  balance: coins.nullable().meta({ description: 'null: the account does not exist there, or the chain was not read' }),
  fault: z.string().nullable().meta({ description: 'why the chain was not read; null when it was read' }),
});
type ChainReport = Readonly<z.infer<typeof ChainReport>>;

export const BalanceReport = z.object({
  account: z.string(),
  token: z.string(),
  network: z.string(),
  chains: z.array(ChainReport),
  total: coins.nullable().meta({ description: 'null unless every chain was read' }),
});
export type BalanceReport = Readonly<z.infer<typeof BalanceReport>>;
