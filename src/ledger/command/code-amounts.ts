/**
 * Compares the amount that a transfer's capability allows with the amounts in the code, where both are written out. A
 * difference would cost gas for nothing, or leave a right that nobody meant to give.
 */

import { type Decimal, decimalOf, formatDecimal, parseDecimal } from '../decimal.ts';
import { LedgerFormatError } from '../errors.ts';
import type { ExactJson } from '../exact-json.ts';
import type { Capability } from './payload.ts';

/** A call with its arguments as they are written; a nested list is undefined. */
interface Call {
  readonly name: string;
  readonly args: readonly (string | undefined)[];
}

/** The functions whose amounts a capability allows, each with the number of its arguments: the amount is the last. */
const FUNCTIONS = new Map([
  [
    'TRANSFER',
    new Map([
      ['transfer', 3],
      ['transfer-create', 4],
    ]),
  ],
  ['TRANSFER_XCHAIN', new Map([['transfer-crosschain', 5]])],
]);

const TOKEN = /\s+|;[^\n]*|"(?:[^"\\]|\\[\s\S])*"?|[()[\]{}]|[^\s()[\]{}";]+/g;
const LITERAL_AMOUNT = /^\d+(\.\d+)?$/;

/**
 * @returns what is wrong with the amount of `….TRANSFER [sender, receiver, amount]` or `….TRANSFER_XCHAIN [sender,
 * receiver, amount, chain]`; undefined when nothing is, and for all other capabilities. The sum of the code's transfers
 * is compared only if all their amounts are written out
 */
export function amountFault({ name, args }: Capability, code: string): string | undefined {
  const dot = name.lastIndexOf('.');
  const functions = FUNCTIONS.get(name.slice(dot + 1));
  const [sender, receiver, amount, chain] = args;
  const isTransfer = functions && typeof sender === 'string' && typeof receiver === 'string';
  // A module of another kind may give the same name to a capability with other arguments.
  if (!isTransfer || amount === undefined || typeof amount === 'string') return undefined;
  const allowed = readAmount(amount);
  if (typeof allowed === 'string') return allowed;
  const module = name.slice(0, dot);
  const parties = [sender, receiver];
  const amounts = callsIn(code)
    .filter(({ name, args }) => name.startsWith(`${module}.`) && functions.get(name.slice(dot + 1)) === args.length)
    .filter(({ args }) => parties.every((party, i) => textOf(args[i]) === party))
    .filter(({ args }) => chain === undefined || textOf(args[3]) === chain)
    .map(({ args }) => args.at(-1));
  return amounts.length > 0 && amounts.every(isLiteral) ? difference(allowed, amounts) : undefined;
}

function difference(allowed: Decimal, amounts: readonly string[]): string | undefined {
  let sum = 0n;
  for (const amount of amounts) {
    if (!amount.includes('.')) return `the amount ${amount} in the code needs a point: ${amount}.0`;
    if (amount.replace(/0+$/, '').split('.')[1].length > 12)
      return `the amount ${amount} in the code has more than 12 decimal places`;
    sum += parseDecimal(amount);
  }
  return sum === allowed
    ? undefined
    : `it allows ${formatDecimal(allowed)}, but the code transfers ${formatDecimal(sum)}`;
}

/** @returns the amount, or what is wrong with it */
function readAmount(json: ExactJson): Decimal | string {
  try {
    return decimalOf(json);
  } catch (error) {
    if (error instanceof LedgerFormatError) return `its amount: ${error.message}`;
    throw error;
  }
}

function isLiteral(amount: string | undefined): amount is string {
  return amount !== undefined && LITERAL_AMOUNT.test(amount);
}

/** @returns what a literal text means; undefined when it is none */
function textOf(token: string | undefined): string | undefined {
  return token?.startsWith('"') ? token.slice(1, -1).replace(/\\(["\\])/g, '$1') : undefined;
}

/** @returns every list that begins with a name, with what stands in it */
function callsIn(code: string): Call[] {
  const calls: Call[] = [];
  const open: (string | undefined)[][] = [];
  for (const [token] of code.matchAll(TOKEN)) {
    if (/^[\s;]/.test(token)) continue;
    if (/^[([{]/.test(token)) {
      open.push([]);
    } else if (/^[)\]}]/.test(token)) {
      const [name, ...args] = open.pop() ?? [];
      if (name !== undefined) calls.push({ name, args });
      open.at(-1)?.push(undefined);
    } else {
      open.at(-1)?.push(token);
    }
  }
  return calls;
}
