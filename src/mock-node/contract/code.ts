/** Reads the code of commands: lists whose arguments are texts, numbers, and reads of the command's data. */

import type { Keyset } from '../../ledger/command/coin.ts';
import { type Decimal, decimalOf, parseDecimal } from '../../ledger/decimal.ts';
import { type ExactJson, isExactJsonObject, LedgerFormatError } from '../../ledger/json.ts';
import { ContractError } from './contract-error.ts';

export type Argument = { readonly text: string } | { readonly decimal: Decimal } | { readonly keyset: Keyset };

export interface Call {
  /** With its module, such as `coin.transfer`. */
  readonly name: string;
  readonly args: readonly Argument[];
}

type Token = { readonly open: true } | { readonly close: true } | { readonly text: string } | { readonly word: string };

const TOKEN = /\s+|;[^\n]*|\(|\)|"((?:[^"\\]|\\[\s\S])*)"|[^\s()";]+/gy;
const DECIMAL = /^\d+\.\d{1,12}$/;

/**
 * @param data the command's data, for `(read-keyset "…")` and `(read-decimal "…")`
 * @throws ContractError for code that the mock does not know
 */
export function readCalls(code: string, data: ExactJson): Call[] {
  const tokens = tokensOf(code);
  const calls: Call[] = [];
  while (tokens.length > 0) calls.push(readCall(tokens, data));
  if (calls.length === 0) throw unknown(code);
  return calls;
}

/** @param isArgument whether the list is itself an argument, and so cannot contain lists */
function readCall(tokens: Token[], data: ExactJson, isArgument = false): Call {
  const open = tokens.shift();
  const name = tokens.shift();
  if (!open || !('open' in open) || !name || !('word' in name)) throw unknown('this form of code');
  const args: Argument[] = [];
  for (let token = tokens[0]; token && !('close' in token); token = tokens[0]) {
    args.push(readArgument(tokens, data, isArgument));
  }
  if (!tokens.shift()) throw new ContractError('Parse failure: a list has no end', { kind: 'EvalError' });
  return { name: name.word, args };
}

function readArgument(tokens: Token[], data: ExactJson, isInArgument: boolean): Argument {
  const [token] = tokens;
  if ('open' in token && isInArgument) throw unknown('this form of code');
  if ('open' in token) return readData(readCall(tokens, data, true), data);
  tokens.shift();
  if ('text' in token) return { text: token.text };
  if ('word' in token && DECIMAL.test(token.word)) return { decimal: parseDecimal(token.word) };
  if ('word' in token && token.word.startsWith("'")) return { text: token.word.slice(1) };
  throw unknown('word' in token ? token.word : 'this form of code');
}

function readData({ name, args }: Call, data: ExactJson): Argument {
  const [key] = args;
  if (args.length !== 1 || !('text' in key)) throw unknown(`(${name} …)`);
  const value = isExactJsonObject(data) && Object.hasOwn(data, key.text) ? data[key.text] : undefined;
  if (value === undefined) throw new ContractError(`No such key in message: ${key.text}`);
  if (name === 'read-decimal') return { decimal: orContractError(() => decimalOf(value)) };
  if (name === 'read-string') return { text: String(value) };
  if (name === 'read-keyset') return { keyset: keysetOf(value) };
  throw unknown(`(${name} …)`);
}

function keysetOf(value: ExactJson): Keyset {
  const { keys, pred = 'keys-all' } = isExactJsonObject(value) ? value : { keys: value };
  const isKeyset = Array.isArray(keys) && keys.every((key) => typeof key === 'string') && typeof pred === 'string';
  if (!isKeyset) throw new ContractError('Invalid keyset');
  return { keys, pred };
}

function tokensOf(code: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < code.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(code);
    if (!match) throw new ContractError(`Parse failure at ${at}`, { kind: 'EvalError' });
    const [all, text] = match;
    if (all === '(') tokens.push({ open: true });
    else if (all === ')') tokens.push({ close: true });
    else if (text !== undefined) tokens.push({ text: text.replace(/\\([\s\S])/g, '$1') });
    else if (!/^[\s;]/.test(all)) tokens.push({ word: all });
  }
  return tokens;
}

function orContractError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LedgerFormatError) throw new ContractError(error.message, { kind: 'EvalError' });
    throw error;
  }
}

/** The mock runs no contract language. */
export function unknown(what: string): ContractError {
  return new ContractError(`${what} is not known to the mock`, { kind: 'EvalError' });
}
