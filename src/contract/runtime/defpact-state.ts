/** The state of a defpact between its steps. */

import type { QualifiedName } from '../names.ts';
import type { Storable, StorableObject } from '../values/values.ts';

/** The application with which a defpact began. */
export interface Continuation {
  readonly name: QualifiedName;
  readonly args: readonly Storable[];
}

/** The chain on which a yield to another chain may be resumed, and the version of the module that may resume it. */
export interface Provenance {
  readonly targetChain: string;
  readonly moduleHash: string;
}

export interface Yield {
  readonly data: StorableObject;
  /** Undefined for a yield on the same chain. */
  readonly provenance: Provenance | undefined;
  /** The chain of the step that yielded; undefined for a yield on the same chain. */
  readonly sourceChain: string | undefined;
}

export interface DefpactState {
  /**
   * In base64url: the hash of the transaction that began the defpact; for a nested defpact, the hash of the outer
   * defpact's id and the continuation.
   */
  readonly id: string;
  readonly stepCount: number;
  /** The last executed or rolled-back step, from 0. */
  readonly step: number;
  readonly yielded: Yield | undefined;
  readonly continuation: Continuation;
  /** Whether the last step has a rollback. */
  readonly hasRollback: boolean;
  /** False if the last step belonged to another participant; undefined for a step of all participants. */
  readonly isExecuted: boolean | undefined;
  /** The nested defpacts, by their pact ids. */
  readonly nested: ReadonlyMap<string, DefpactState>;
}
