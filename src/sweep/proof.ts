/** Reads what a cross-chain proof proves, before a step 1 is paid for that cannot succeed. */

import { parseCommandResult } from '../ledger/command/results.ts';
import { LedgerFormatError } from '../ledger/errors.ts';
import { parseExactJsonBytes } from '../ledger/exact-json.ts';
import { parseSpvProof, spvRoot } from '../ledger/spv-proof.ts';

/**
 * @param text what /spv has answered
 * @param step0 the request key of step 0
 * @returns the hash of the block on the target chain to which the proof leads, 32 bytes
 * @throws LedgerFormatError when it is for another chain, or proves something else than that step 0 has succeeded.
 */
export function rootOfProof(text: string, step0: string, targetChain: number): Uint8Array {
  const proof = parseSpvProof(text);
  if (proof.targetChain !== targetChain) {
    throw new LedgerFormatError(`the proof is for chain ${proof.targetChain}, not for chain ${targetChain}`);
  }
  const { reqKey, result } = parseCommandResult(parseExactJsonBytes(proof.output));
  if (reqKey !== step0 || result.status !== 'success') {
    throw new LedgerFormatError('the proof is of another command than step 0');
  }
  return spvRoot(proof);
}
