/** Checks the proof with which a command continues a defpact of another chain. */

import type { Dialect } from '../../contract/dialect.ts';
import { ContractError } from '../../contract/errors.ts';
import { QualifiedName } from '../../contract/names.ts';
import type { DefpactState } from '../../contract/runtime/defpact-state.ts';
import { objectOfJson, valueOfJson } from '../../contract/values/json.ts';
import { isList, type Storable } from '../../contract/values/values.ts';
import {
  type CommandResult,
  type NestedContinuation,
  parseCommandResult,
  parseNestedContinuation,
} from '../../protocol/ledger/command/results.ts';
import {
  encodeBase64url,
  isExactJsonObject,
  LedgerFormatError,
  parseExactJsonBytes,
} from '../../protocol/ledger/json.ts';
import { parseSpvProof, type SpvProof, spvRoot } from '../../protocol/ledger/spv-proof.ts';
import type { ExecutionContext } from './block-environment.ts';

type Continuation = NonNullable<CommandResult['continuation']>;

const OUT_OF_BOUNDS = 'spv verification failed: target header is not in the chain or is out of bounds';

/** Messages of real nodes for each fault of a proof: first that of dialect 4, then that of dialect 5. */
const FAULTS = {
  undecodable: ['unable to decode continuation proof', 'verifyCont: Cannot decode transaction output proof'],
  otherChain: [
    'cannot redeem continuation proof on wrong target chain',
    // Real nodes have the same misspelling.
    'verifyCont: cannot redeem continuation proof on wrong targget chain',
  ],
  outside: [OUT_OF_BOUNDS, OUT_OF_BOUNDS],
  noOutput: ['unable to decode spv transaction output', 'verifyCont: Unable to decode SPV transaction output'],
  noDefpact: ['no pact exec found in command result', 'verifyCont: No pact exec found in command result'],
} as const;

/**
 * @returns the state of the defpact on its source chain
 * @throws ContractError if the proof is not valid on this chain
 */
export function provenDefpact(proof: string, { chain, dialect, hasAncestor }: ExecutionContext): DefpactState {
  const parsed = readOr(unproven('undecodable', dialect), () => parseSpvProof(proof));
  if (parsed.targetChain !== chain) throw unproven('otherChain', dialect);
  if (!hasAncestor(encodeBase64url(spvRoot(parsed)))) throw unproven('outside', dialect);
  const defpact = readOr(unproven('noOutput', dialect), () => defpactIn(parsed, dialect));
  if (!defpact) throw unproven('noDefpact', dialect);
  return defpact;
}

/**
 * @returns undefined if the command has no continuation
 * @throws LedgerFormatError if the output is not a command's result
 */
function defpactIn({ output }: SpvProof, dialect: Dialect): DefpactState | undefined {
  const { continuation } = parseCommandResult(parseExactJsonBytes(output));
  return continuation ? defpactOf(continuation, dialect) : undefined;
}

function defpactOf({ stepHasRollback, ...continuation }: Continuation, dialect: Dialect): DefpactState {
  return { ...nestedDefpactOf(continuation, dialect), hasRollback: stepHasRollback };
}

/** Sets `hasRollback` to false. In JSON, only the outermost defpact has this field, and `defpactOf` reads it. */
function nestedDefpactOf(
  { pactId, step, stepCount, executed, continuation, ...rest }: NestedContinuation,
  dialect: Dialect,
): DefpactState {
  const name = QualifiedName.parse(continuation.def);
  const args = valueOfJson(continuation.args, dialect);
  if (!name || args === undefined || !isList(args))
    throw new LedgerFormatError('the proven flow has no name or no arguments');
  const nested = Object.entries(rest.nested ?? {});
  return {
    id: pactId,
    step,
    stepCount,
    hasRollback: false,
    isExecuted: executed ?? undefined,
    continuation: { name, args: args as readonly Storable[] },
    yielded: rest.yield ? yieldedOf(rest.yield, dialect) : undefined,
    nested: new Map(nested.map(([id, json]) => [id, nestedDefpactOf(parseNestedContinuation(json), dialect)])),
  };
}

function yieldedOf(
  { data, source, provenance }: NonNullable<Continuation['yield']>,
  dialect: Dialect,
): DefpactState['yielded'] {
  const object = isExactJsonObject(data) ? objectOfJson(data, dialect) : undefined;
  if (!object) throw new LedgerFormatError('what the proven flow has yielded is no object');
  return {
    data: object,
    provenance: provenance ? { targetChain: provenance.targetChainId, moduleHash: provenance.moduleHash } : undefined,
    sourceChain: source ?? undefined,
  };
}

function unproven(fault: keyof typeof FAULTS, dialect: Dialect): ContractError {
  const [message4, message5] = FAULTS[fault];
  return new ContractError('continuation', dialect === 4 ? message4 : `Continuation error: ${message5}`);
}

function readOr<T>(fault: ContractError, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LedgerFormatError) throw fault;
    throw error;
  }
}
