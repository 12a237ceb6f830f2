/** The state of a defpact, which is stored between its steps. */

import type { QualifiedName } from '../names.ts';
import type { Storable, StorableObject } from '../values/values.ts';

/** The call that has begun a defpact. */
export interface Continuation {
  readonly name: QualifiedName;
  readonly args: readonly Storable[];
}

/** Where a yield to another chain can be resumed. */
export interface Provenance {
  /** The id of the only chain on which the yield can be resumed. */
  readonly targetChain: string;
  /**
   * The hash of the module version that has yielded. The yield can be resumed by this version, and by versions that
   * have blessed it.
   */
  readonly moduleHash: string;
}

/** An object that a step passes to the next step. */
export interface Yield {
  readonly data: StorableObject;
  /** Undefined for a yield to the same chain. */
  readonly provenance: Provenance | undefined;
  /**
   * The id of the chain that has yielded to another chain; undefined if the id is not known, and for a yield to the
   * same chain.
   */
  readonly sourceChain: string | undefined;
}

export interface DefpactState {
  /**
   * The pact id. It is the hash of the transaction that has begun the defpact, in base64url. The id of a nested defpact
   * is a hash of the outer defpact's id and of the continuation.
   */
  readonly id: string;
  readonly stepCount: number;
  /**
   * The number of the running step, from 0. Between steps, the number of the step that was executed or rolled back
   * last.
   */
  readonly step: number;
  /**
   * The yield of the step with the number `step`; for a nested defpact, the latest yield of all its steps. Undefined if
   * there is no yield.
   */
  readonly yielded: Yield | undefined;
  readonly continuation: Continuation;
  /** Whether the step with the number `step` has a rollback. */
  readonly hasRollback: boolean;
  /**
   * Whether the step with the number `step` was executed here: false if it belongs to another participant. Undefined
   * for a step of all participants.
   */
  readonly isExecuted: boolean | undefined;
  /** The states of nested defpacts, by their pact ids. */
  readonly nested: ReadonlyMap<string, DefpactState>;
}
