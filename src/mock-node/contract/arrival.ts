/** The second step of a transfer from another chain: the coins arrive if the proof of the first step is right. */

import { z } from 'zod';
import type { ContMessage } from '../../ledger/command/payload.ts';
import { type CommandResult, parseCommandResult } from '../../ledger/command/results.ts';
import { decimalOf } from '../../ledger/decimal.ts';
import { checked, reading } from '../../ledger/fields.ts';
import { type ExactJson, encodeBase64url, LedgerFormatError, parseExactJsonBytes } from '../../ledger/json.ts';
import { parseSpvProof, type SpvProof, spvRoot } from '../../ledger/spv-proof.ts';
import { type CallResult, continuationJson, credit, type Environment } from './coin.ts';
import { alreadyCompleted, ContractError, noPreviousStep, type Words } from './contract-error.ts';
import { transferEvent } from './output.ts';

const Yielded = z.object({
  amount: reading(z.custom<ExactJson>(), decimalOf),
  receiver: z.string(),
  'receiver-guard': z.object({ pred: z.string(), keys: z.array(z.string()) }),
});

/**
 * @param hasAncestor whether a block, named by its hash as text, is an ancestor of the new block
 * @throws ContractError if the proof is wrong, or the coins have arrived already
 */
export function runArrival(
  message: ContMessage,
  environment: Environment,
  hasAncestor: (id: string) => boolean,
): CallResult {
  const { state, words, chain } = environment;
  const { pactId, step, rollback } = message;
  if (state.hasArrived(pactId)) throw alreadyCompleted(pactId, words);
  const { continuation } = provenResult(message, chain, words, hasAncestor);
  if (!continuation?.yield || continuation.pactId !== pactId) {
    throw noPreviousStep(pactId, words);
  }
  if (step !== 1 || rollback)
    throw new ContractError(`resumePactExec: step ${step} cannot be run`, { kind: 'EvalError' });
  if (continuation.yield.provenance?.targetChainId !== String(chain)) {
    throw new ContractError('enforceYield: yield provenance does not match this chain', { kind: 'EvalError' });
  }
  const yielded = orContractError(() => checked(Yielded, continuation.yield!.data, 'yield'));
  const { receiver, amount, 'receiver-guard': guard } = yielded;
  credit(state, receiver, guard, amount);
  state.setArrived(pactId);
  const { args, def } = continuation.continuation;
  const source = continuation.yield.source ?? '';
  return {
    data: 'Write succeeded',
    events: [transferEvent('', receiver, amount), { module: 'pact', name: 'X_RESUME', params: [source, def, args] }],
    continuation: continuationJson(pactId, 1, null, args),
    gas: 478,
  };
}

function provenResult(
  { proof, pactId }: ContMessage,
  chain: number,
  words: Words,
  hasAncestor: (id: string) => boolean,
): CommandResult {
  if (proof === null) throw noPreviousStep(pactId, words);
  const parsed = orContractError(() => parseSpvProof(proof));
  if (parsed.targetChain !== chain) {
    throw new ContractError(`SPV verification failed: the proof is for chain ${parsed.targetChain}`, {
      kind: 'EvalError',
    });
  }
  if (!hasAncestor(encodeBase64url(spvRoot(parsed)))) {
    throw new ContractError('SPV verification failed: the proof leads to no block of this chain', {
      kind: 'EvalError',
    });
  }
  return orContractError(() => resultIn(parsed));
}

function resultIn({ output }: SpvProof): CommandResult {
  return parseCommandResult(parseExactJsonBytes(output));
}

function orContractError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LedgerFormatError)
      throw new ContractError(`SPV verification failed: ${error.message}`, { kind: 'EvalError' });
    throw error;
  }
}
