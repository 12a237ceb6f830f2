/** What is kept of a defpact between its steps. */

import type { QualifiedName } from '../names.ts';
import type { Storable, StorableObject } from '../values/values.ts';

/** The application with which a defpact began. */
export interface Continuation {
  readonly name: QualifiedName;
  readonly args: readonly Storable[];
}

/** Which chain and which version of a module may resume what was yielded to another chain. */
export interface Provenance {
  readonly targetChain: string;
  readonly moduleHash: string;
}

export interface Yield {
  readonly data: StorableObject;
  /** Undefined for a yield on the same chain. */
  readonly provenance: Provenance | undefined;
  /** The chain that has yielded it; undefined for a yield on the same chain. */
  readonly sourceChain: string | undefined;
}

export interface DefpactState {
  /** The hash of the transaction that began it; if nested, of the outer id and the continuation. In base64url. */
  readonly id: string;
  readonly stepCount: number;
  /** The step that was executed or undone last, from 0. */
  readonly step: number;
  readonly yielded: Yield | undefined;
  readonly continuation: Continuation;
  /** Whether that step has a rollback. */
  readonly hasRollback: boolean;
  /** False if that step was left to another participant; undefined for a step of all participants. */
  readonly isExecuted: boolean | undefined;
  /** The defpacts that steps of this one have begun, by their ids. */
  readonly nested: ReadonlyMap<string, DefpactState>;
}
