/** Runs commands on the state after a given block, without changing the ledger (document 2, "Local"). */

import type { Dialect } from '../../contract/dialect.ts';
import type { ContractError } from '../../contract/errors.ts';
import { requestKeyOfCmd } from '../../protocol/ledger/command/command.ts';
import { parsePayload } from '../../protocol/ledger/command/command-payload.ts';
import { type ExactJsonObject, jsonInteger, stringifyExactJson } from '../../protocol/ledger/json.ts';
import type { ExecutionContext } from '../execution/block-environment.ts';
import { BuyGasError } from '../execution/gas-payment.ts';
import { failureJson, failureOf, MAX_MESSAGE, type Output, outputJson } from '../execution/output.ts';
import { type Finished, NO_MINER, runPaid, runUnpaid } from '../execution/run-command.ts';
import type { Block } from '../ledger/block-store.ts';
import { forgeryOf, parseErrorText, type ReadCommand, RefusedError } from './command-checks.ts';

export interface LocalQuery {
  /** Whether the command's metadata are checked and its gas is paid, as in a block. */
  readonly preflight: boolean;
  /** Number of blocks from the tip down to the block on whose state the command runs. */
  readonly rewindDepth: number;
  readonly signatureVerification: boolean;
}

/** @throws RefusedError if the hash is wrong */
export function checkHash({ command: { hash, cmd } }: ReadCommand): void {
  const own = requestKeyOfCmd(cmd);
  if (own === hash) return;
  throw new RefusedError(`Validation failed: Hash Mismatch, received ${hash} but our hashing resulted in ${own}`);
}

/** @throws RefusedError if the hash or a signature is wrong */
export function checkSignatures(read: ReadCommand): void {
  const forgery = forgeryOf(read);
  if (forgery)
    throw metadataRefused([forgery.of === 'hash' ? 'The hash of the payload was invalid.' : forgery.message]);
}

export function metadataRefused(faults: readonly string[]): RefusedError {
  return new RefusedError(`Metadata validation failed: ${stringifyExactJson(faults)}`);
}

/** @returns the result for code that cannot be parsed. In dialect 4, a preflight wraps this result in an object */
export function unreadResult(
  read: ReadCommand,
  fault: ContractError,
  dialect: Dialect,
  { preflight }: LocalQuery,
): ExactJsonObject {
  const error =
    dialect === 5 ? failureOf(fault, dialect) : { kind: 'SyntaxError' as const, message: parseErrorText(fault) };
  const finished = { outcome: { error }, gas: read.payload.meta.gasLimit, events: [], continuation: null };
  const result = outputJson({ ...withoutEffect(read, finished), hasLogs: false });
  return preflight && dialect === 4 ? { preflightResult: result, preflightWarnings: [] } : result;
}

/**
 * @returns the result of a command that runs without payment. As on real nodes, only the result of a success contains
 *   the metadata of the block
 */
export function localResult(read: ReadCommand, context: ExecutionContext): ExactJsonObject {
  const finished = runUnpaid(read, context);
  const hasFailed = 'error' in finished.outcome;
  const output = { ...withoutEffect(read, finished), hasLogs: !hasFailed || context.dialect === 4 };
  return outputJson(output, hasFailed ? null : metaDataOf(read, context.parent));
}

/** @throws RefusedError in dialect 4 if the gas cannot be paid. In dialect 5, the result is then a failure */
export function preflightResult(read: ReadCommand, context: ExecutionContext): ExactJsonObject {
  try {
    const finished = runPaid(read, context, NO_MINER);
    return outputJson(withoutEffect(read, finished), metaDataOf(read, context.parent));
  } catch (error) {
    if (!(error instanceof BuyGasError)) throw error;
    const { command, payload } = read;
    if (context.dialect === 4) {
      const json = { tag: 'BuyGasFailure', contents: [command.hash, failureJson(error.failure)] };
      throw new RefusedError(`Execution failed: ${stringifyExactJson(json)}`);
    }
    const outcome = { error: { ...error.failure, message: error.failure.message.slice(0, MAX_MESSAGE) } };
    const finished = { outcome, gas: payload.meta.gasLimit, events: [], continuation: null };
    return outputJson({ ...withoutEffect(read, finished), hasLogs: false });
  }
}

function withoutEffect({ command }: ReadCommand, finished: Finished): Output {
  return { ...finished, requestKey: command.hash, txId: null, hasLogs: true };
}

/**
 * @returns the metadata that a node adds to the result of a /local request. The command runs as if it were in the block
 *   above the given block
 */
function metaDataOf({ command }: ReadCommand, { header, id }: Block): ExactJsonObject {
  return {
    publicMeta: parsePayload(command.cmd).meta,
    blockTime: jsonInteger(header.creationTimeUs),
    prevBlockHash: id,
    blockHeight: jsonInteger(header.height + 1n),
  };
}
