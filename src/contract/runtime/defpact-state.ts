/** The state of a defpact between its steps. */

import type { QualifiedName } from '../names.ts';
import type { Storable, StorableObject } from '../values/values.ts';

/** The application with which a defpact began. */
export interface Continuation {
  readonly name: QualifiedName;
  readonly args: readonly Storable[];
}

/** The chain and the version of a module that may resume a yield to another chain. */
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
  /** The hash of the transaction that began it; if nested, of the outer id and the continuation. In base64url. */
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
