/**
 * What the texts mean with which nodes refuse commands and proofs. The texts are foreign: make them safe before showing
 * them.
 */

import type { Outcome } from './results.ts';

/** Why /send has refused a whole batch. */
export interface SendRefusal {
  /** The request key of the command that was refused, if the text names it. */
  readonly reqKey?: string;
  readonly reason: string;
  /** An earlier try has succeeded: look the command up instead of sending it again. */
  readonly isKnown: boolean;
}

/** Why /spv has no proof: `wait` says that there will be one. */
export interface ProofRefusal {
  readonly reason: string;
  readonly wait: boolean;
}

/** @param text the body of a 400 of /send */
export function readSendRefusal(text: string): SendRefusal {
  const [, reqKey, reason] = /Transaction "?([\w-]{43})"? at index \d+ failed with: (.*)$/s.exec(text) ?? [];
  const isKnown = text.includes('Transaction already exists on chain');
  return { ...(reqKey && { reqKey }), reason: (reason ?? text).trim(), isKnown };
}

/** @param text the body of a 400 of /spv */
export function readProofRefusal(text: string): ProofRefusal {
  return { reason: text.trim(), wait: /SPV target not reachable|Transaction hash not found/i.test(text) };
}

/** Whether a continuation has failed only because somebody else has finished it: the coins have arrived. */
export function isAlreadyCompleted(outcome: Outcome): boolean {
  return (
    outcome.status === 'failure' && /pact completed|defpact execution already completed/i.test(outcome.error.message)
  );
}
