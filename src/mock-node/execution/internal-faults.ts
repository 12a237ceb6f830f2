/**
 * Faults of the evaluator itself, which are no ContractErrors. A command that causes one fails, and the node goes on,
 * whatever the fault is.
 */

import { ContractError } from '../../contract/errors.ts';

export interface InternalFaultEvent {
  readonly type: 'internal fault';
  /** The fault, with its stack if it has one. */
  readonly what: string;
}

/** Maximum number of different faults that are reported. */
const MOST_REPORTED = 100;

/** @returns a function that emits each fault once, however many commands and blocks cause it */
export function reportOnce(emit: (event: InternalFaultEvent) => void): (fault: unknown) => void {
  const reported = new Set<string>();
  return (fault) => {
    const what = (fault instanceof Error && fault.stack) || String(fault);
    if (reported.has(what) || reported.size >= MOST_REPORTED) return;
    reported.add(what);
    emit({ type: 'internal fault', what });
  };
}

/** @returns a ContractError as it is; for any other fault, which is reported, one with which the command fails */
export function contractFault(fault: unknown, report: (fault: unknown) => void): ContractError {
  if (fault instanceof ContractError) return fault;
  report(fault);
  return new ContractError('eval', 'internal error of the mock node: its log says what');
}
