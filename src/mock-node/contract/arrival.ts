/** The proof that a flow has come from another chain. */

import { ContractError } from '../../contract/errors.ts';
import type { FlowState } from '../../contract/evaluator/flow-state.ts';
import { QualifiedName } from '../../contract/names.ts';
import { valueOfJson } from '../../contract/values/json.ts';
import { isList, isObject, isStorable, type Storable, type StorableObject } from '../../contract/values/values.ts';
import { type CommandResult, parseCommandResult } from '../../ledger/command/results.ts';
import { type ExactJson, encodeBase64url, LedgerFormatError, parseExactJsonBytes } from '../../ledger/json.ts';
import { parseSpvProof, type SpvProof, spvRoot } from '../../ledger/spv-proof.ts';
import type { Ground } from './environment.ts';

type Continuation = NonNullable<CommandResult['continuation']>;

/** @returns the state of the flow on the other chain @throws ContractError if the proof is wrong */
export function provenFlow(proof: string, { chain, hasAncestor }: Ground): FlowState {
  const parsed = orContractError(() => parseSpvProof(proof));
  if (parsed.targetChain !== chain) throw unproven(`the proof is for chain ${parsed.targetChain}`);
  if (!hasAncestor(encodeBase64url(spvRoot(parsed)))) throw unproven('the proof leads to no block of this chain');
  const { continuation } = orContractError(() => resultIn(parsed));
  if (!continuation) throw unproven('the proven command has not begun or continued a flow');
  return flowOf(continuation);
}

function resultIn({ output }: SpvProof): CommandResult {
  return parseCommandResult(parseExactJsonBytes(output));
}

function flowOf({
  pactId,
  step,
  stepCount,
  stepHasRollback,
  executed,
  continuation,
  ...rest
}: Continuation): FlowState {
  const name = QualifiedName.parse(continuation.def);
  const args = storableOf(continuation.args);
  if (!name || !isList(args)) throw unproven('the proven flow has no name or no arguments');
  return {
    id: pactId,
    step,
    stepCount,
    hasRollback: stepHasRollback,
    isExecuted: executed ?? undefined,
    continuation: { name, args: args as readonly Storable[] },
    yielded: rest.yield ? yieldedOf(rest.yield) : undefined,
    nested: new Map(),
  };
}

function yieldedOf({ data, source, provenance }: NonNullable<Continuation['yield']>): FlowState['yielded'] {
  const object = storableOf(data);
  if (!isObject(object)) throw unproven('what the proven flow has yielded is no object');
  return {
    data: object as StorableObject,
    provenance: provenance ? { targetChain: provenance.targetChainId, moduleHash: provenance.moduleHash } : undefined,
    sourceChain: source ?? undefined,
  };
}

function storableOf(json: ExactJson): Storable {
  const value = valueOfJson(json);
  if (value !== undefined && isStorable(value)) return value;
  throw unproven('the proven flow has a value that is none');
}

function unproven(why: string): ContractError {
  return new ContractError('continuation', `SPV verification failed: ${why}`);
}

function orContractError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LedgerFormatError) throw unproven(error.message);
    throw error;
  }
}
