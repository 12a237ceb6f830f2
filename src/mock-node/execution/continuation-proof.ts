/** Checks the proof with which a command continues a defpact of another chain. */

import type { Dialect } from '../../contract/dialect.ts';
import { ContractError } from '../../contract/errors.ts';
import { QualifiedName } from '../../contract/names.ts';
import type { DefpactState } from '../../contract/runtime/defpact-state.ts';
import { valueOfJson } from '../../contract/values/json.ts';
import { isList, isObject, isStorable, type Storable, type StorableObject } from '../../contract/values/values.ts';
import {
  type CommandResult,
  type NestedContinuation,
  parseCommandResult,
  parseNestedContinuation,
} from '../../protocol/ledger/command/results.ts';
import { type ExactJson, encodeBase64url, LedgerFormatError, parseExactJsonBytes } from '../../protocol/ledger/json.ts';
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
  const defpact = readOr(unproven('noOutput', dialect), () => defpactIn(parsed));
  if (!defpact) throw unproven('noDefpact', dialect);
  return defpact;
}

/**
 * @returns undefined if the command has no continuation
 * @throws LedgerFormatError if the output is not a command's result
 */
function defpactIn({ output }: SpvProof): DefpactState | undefined {
  const { continuation } = parseCommandResult(parseExactJsonBytes(output));
  return continuation ? defpactOf(continuation) : undefined;
}

function defpactOf({ stepHasRollback, ...continuation }: Continuation): DefpactState {
  return { ...nestedDefpactOf(continuation), hasRollback: stepHasRollback };
}

/** Sets `hasRollback` to false. In JSON, only the outermost defpact has this field, and `defpactOf` reads it. */
function nestedDefpactOf({
  pactId,
  step,
  stepCount,
  executed,
  continuation,
  ...rest
}: NestedContinuation): DefpactState {
  const name = QualifiedName.parse(continuation.def);
  const args = storableOf(continuation.args);
  if (!name || !isList(args)) throw new LedgerFormatError('the proven flow has no name or no arguments');
  const nested = Object.entries(rest.nested ?? {});
  return {
    id: pactId,
    step,
    stepCount,
    hasRollback: false,
    isExecuted: executed ?? undefined,
    continuation: { name, args: args as readonly Storable[] },
    yielded: rest.yield ? yieldedOf(rest.yield) : undefined,
    nested: new Map(nested.map(([id, json]) => [id, nestedDefpactOf(parseNestedContinuation(json))])),
  };
}

function yieldedOf({ data, source, provenance }: NonNullable<Continuation['yield']>): DefpactState['yielded'] {
  const object = storableOf(data);
  if (!isObject(object)) throw new LedgerFormatError('what the proven flow has yielded is no object');
  return {
    data: object as StorableObject,
    provenance: provenance ? { targetChain: provenance.targetChainId, moduleHash: provenance.moduleHash } : undefined,
    sourceChain: source ?? undefined,
  };
}

function storableOf(json: ExactJson): Storable {
  const value = valueOfJson(json);
  if (value !== undefined && isStorable(value)) return value;
  throw new LedgerFormatError('the proven flow has a value that is none');
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
