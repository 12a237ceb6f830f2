/** Reads what a mock node has before its first block: contracts from files, and accounts with coins. */

import { orUsageError, UsageError } from '../../app/process/exit.ts';
import { MAX_CONTRACT_LENGTH } from '../../mock-node/options.ts';
import { isPublicKey } from '../../protocol/ledger/command/command.ts';
import { parseDecimal } from '../../protocol/ledger/decimal.ts';
import { textAt } from '../included-files.ts';

interface Contract {
  /** The path as given, for error messages. */
  readonly name: string;
  readonly text: string;
}

/** @throws UsageError for a file that cannot be read, or that is too long */
export function readContract(path: string): Contract {
  const text = orUsageError(
    () => textAt(path),
    (why) => `--load ${path} cannot be read: ${why}. Give the path of a file of contract code.`,
  );
  if (text.length > MAX_CONTRACT_LENGTH) {
    throw new UsageError(
      `--load ${path} has more than ${MAX_CONTRACT_LENGTH} characters. Split it into several files.`,
    );
  }
  return { name: path, text };
}

/** @param given `k:KEY=AMOUNT` @throws UsageError for any other text */
export function fundedAccount(given: string): { readonly account: string; readonly balance: string } {
  const [, key, balance] = /^k:([^=]*)=([^=]*)$/.exec(given) ?? [];
  if (key === undefined || balance === undefined || !isPublicKey(key) || !isAmount(balance)) {
    throw new UsageError(
      `--fund ${given} is not ACCOUNT=AMOUNT: a k: account, whose key is 64 lower-case hex digits, and an amount such as 100.0, with at most 12 decimal places.`,
    );
  }
  return { account: `k:${key}`, balance };
}

function isAmount(text: string): boolean {
  try {
    return parseDecimal(text) >= 0n;
  } catch {
    return false;
  }
}
