/** What is kept of a flow between its steps. */

import type { QualifiedName } from '../names.ts';
import type { StorableObject, Value } from '../values/values.ts';

/** The application with which a flow began. */
export interface Continuation {
  readonly name: QualifiedName;
  readonly args: readonly Value[];
}

export interface Yield {
  readonly data: StorableObject;
  /** Which chain and which version of the module may resume it; undefined for a yield on the same chain. */
  readonly provenance: { readonly targetChain: string; readonly moduleHash: string } | undefined;
  /** The chain that has yielded it. */
  readonly sourceChain: string | undefined;
}

export interface FlowState {
  /** The hash of the transaction that has begun the flow, in base64url. */
  readonly id: string;
  readonly stepCount: number;
  /** The step that was executed last, from 0. */
  readonly step: number;
  readonly yielded: Yield | undefined;
  readonly continuation: Continuation;
  /** Whether the step that was executed last has a rollback. */
  readonly hasRollback: boolean;
  /** Whether the step that was executed last was undone. */
  readonly isRollback: boolean;
  readonly isCompleted: boolean;
  /** False if the last step was left to another participant. */
  readonly isExecuted: boolean;
  /** The flows that steps of this one have begun, by their ids. */
  readonly nested: ReadonlyMap<string, FlowState>;
}
