/** The options of `pickaxe sweep` and `pickaxe tx transfer`. What they do is in `sweep.ts` and `transfer.ts`. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { exit } from '../../app/exit.ts';
import type { Loaded } from '../../config/load.ts';
import { isPublicKey } from '../../ledger/command/keys.ts';
import { type Decimal, parseDecimal } from '../../ledger/decimal.ts';
import { chainNumber, collect, settingsOf, timeOf, withSettings } from '../options.ts';
import type { SweepIo } from './session.ts';

export function addSweepCommand(program: Command): void {
  withSettings(
    program.command('sweep'),
    'node',
    'ledger.dialect',
    'ledger.command-path',
    'miner.account',
    'miner.public-keys',
    'miner.predicate',
  )
    .description('move the coins of an account from all chains to one')
    .option('--to-chain <n>', 'the chain to which the coins go', chainNumber)
    .option('--key-file <file>', KEY_FILE, collect)
    .option(
      '--guard-key <hex>',
      'public key that may be in the guard of the account beside those of the key files; repeat for several',
      collectKey,
    )
    .addOption(amount('--keep <amount>', 'coins that stay on each chain', '0.001'))
    .addOption(amount('--min <amount>', 'leave alone chains from which less would go', '0.01'))
    .option(
      '--gas-price <amount>',
      'what is paid for each unit of gas (default: 0.00000001; with --resume, what the sweep has begun with)',
      amountOf,
    )
    .option(
      '--gas-station <account>',
      'account that pays for the arrival, like kadena-xchain-gas (default: your account)',
    )
    .option('-y, --yes', 'do it without asking; otherwise the plan is shown first', false)
    .option('--resume', 'go on with a sweep that is unfinished', false)
    .option('--timeout <time>', 'stop waiting after this time: --resume goes on later', timeOf, 3600)
    .option('--json', 'one JSON object on stdout', false)
    .action(async (options, command) => {
      const { runSweep } = await import('./sweep.ts');
      await run(command, (loaded, io) => runSweep(loaded, options, io));
    });
}

export function addTransferCommand(tx: Command): void {
  withSettings(tx.command('transfer'), 'node', 'ledger.dialect', 'ledger.command-path', 'miner.account')
    .description('pay coins to an account: plan, question, and waiting until it is done')
    .option('--to <account>', 'the account that gets the coins')
    .option('--amount <coins>', 'how many coins, like 0.5', amountOf)
    .option('--chain <n>', 'the chain where the coins are', chainNumber)
    .option('--to-chain <n>', 'the chain where they arrive (default: the same)', chainNumber)
    .option('--key-file <file>', KEY_FILE, collect)
    .option(
      '--receiver-key <hex>',
      'public key of the account that gets the coins, where its name does not say it; repeat for several',
      collectKey,
    )
    .option('--receiver-predicate <name>', 'how many of several receiver keys must sign (default: keys-all)')
    .option(
      '--gas-price <amount>',
      'what is paid for each unit of gas (default: 0.00000001; with --resume, as it was begun)',
      amountOf,
    )
    .option('--gas-station <account>', 'account that pays for the arrival on another chain (default: your account)')
    .option('-y, --yes', 'do it without asking; otherwise the plan is shown first', false)
    .option('--resume', 'go on with a transfer that is unfinished', false)
    .option('--timeout <time>', 'stop waiting after this time: --resume goes on later', timeOf, 3600)
    .option('--json', 'one JSON object on stdout', false)
    .action(async (options, command) => {
      const { runTxTransfer } = await import('./transfer.ts');
      await run(command, (loaded, io) => runTxTransfer(loaded, options, io));
    });
}

const KEY_FILE = 'key file of the account, as pickaxe keygen writes it; repeat for several';

/** Runs a command, and ends the process with its exit code. */
async function run(command: Command, act: (loaded: Loaded, io: SweepIo) => Promise<number>): Promise<void> {
  const [{ processIo }, { withWords }] = await Promise.all([import('./session.ts'), import('../tx/io.ts')]);
  const loaded = await settingsOf(command);
  exit(await withWords(() => act(loaded, processIo())));
}

function amount(flags: string, about: string, usual: string): Option {
  return new Option(flags, about).argParser(amountOf).default(parseDecimal(usual), usual);
}

/** Parses an amount such as `0.01`. */
function amountOf(text: string): Decimal {
  const isAmount = /^\d{1,20}(\.\d{1,12})?$/.test(text);
  if (!isAmount) throw new InvalidArgumentError('Write an amount such as 0.01, with at most 12 decimal places.');
  return parseDecimal(text);
}

function collectKey(text: string, before: string[] | undefined): string[] {
  if (!isPublicKey(text)) throw new InvalidArgumentError('A public key has 64 lower-case hex digits.');
  return collect(text, before);
}
