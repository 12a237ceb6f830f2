/** The state of a transaction, which its code changes, and the context of the code that runs. */

import type { QualifiedName } from '../names.ts';
import type { Defun } from '../syntax/tree.ts';
import type { Value } from '../values/values.ts';
import type { Namespace } from './database.ts';
import type { DefpactState, Yield } from './defpact-state.ts';
import type { Capability } from './environment.ts';
import type { Callable, LoadedModule, Member } from './module.ts';

export interface Event {
  /** With module and namespace. */
  readonly name: QualifiedName;
  readonly args: readonly Value[];
  /** The hash of the module that has emitted it. */
  readonly moduleHash: string;
}

/** A capability that is held, with the capabilities that it has composed. */
export interface Grant {
  readonly capability: Capability;
  readonly composed: readonly Capability[];
}

/** A managed capability that can be acquired in this transaction. */
export interface InstalledCapability {
  /** As it was installed, by a signature or by code. */
  readonly capability: Capability;
  readonly composed: readonly Capability[];
  /** Undefined for a capability that can be acquired only once. */
  readonly manager: CapabilityManager | undefined;
  /**
   * The first argument of the manager's next call, such as an amount; without a manager, whether the capability can
   * still be acquired.
   */
  readonly remaining: Value;
}

export interface CapabilityManager {
  readonly function: Member<Defun>;
  /** The index of the managed argument. All others must be equal. */
  readonly parameter: number;
}

export interface Capabilities {
  /** The capabilities that are held, the newest last. */
  readonly grants: readonly Grant[];
  readonly installed: readonly InstalledCapability[];
  /** Capabilities installed by code, not by a signature. */
  readonly autonomous: readonly Capability[];
  /** Capabilities whose bodies are being evaluated. */
  readonly evaluating: readonly Capability[];
}

/**
 * What the code of a transaction has changed so far, apart from the database. It is replaced as a whole, never changed,
 * so that a failure that code catches can restore it.
 */
export interface State {
  readonly namespace: Namespace | undefined;
  /** The names that `use` and definitions have given to code outside of modules. */
  readonly imported: ReadonlyMap<string, Value>;
  /** The modules that this transaction has looked up, by their names. It keeps using these versions. */
  readonly modules: ReadonlyMap<string, LoadedModule>;
  /** The names of modules whose governance has agreed in this transaction. */
  readonly administered: ReadonlySet<string>;
  readonly events: readonly Event[];
  readonly capabilities: Capabilities;
  /** The defpact whose step is being executed, or was executed last. */
  readonly defpact: DefpactState | undefined;
}

export const NO_CAPABILITIES: Capabilities = { grants: [], installed: [], autonomous: [], evaluating: [] };

export const INITIAL_STATE: State = {
  namespace: undefined,
  imported: new Map(),
  modules: new Map(),
  administered: new Set(),
  events: [],
  capabilities: NO_CAPABILITIES,
  defpact: undefined,
};

/** A call of a member of a module that has not returned yet. `outer` is the frame that it was called from. */
export interface Frame {
  readonly member: Member<Callable>;
  readonly outer: Frame | undefined;
}

/**
 * The access of code to tables. Conditions of `enforce` and user guards can read rows in dialect 5, and do nothing in
 * dialect 4. Constants can do nothing. The tests of `try` and `enforce-one` can read rows.
 */
export type TableAccess = 'write' | 'read' | 'none';

/** A requested step of a defpact. */
export interface DefpactStep {
  readonly pactId: string;
  /** From 0. */
  readonly step: number;
  readonly isRollback: boolean;
  /** What the step before has yielded, if the request includes it. */
  readonly resumed: Yield | undefined;
}

/** The place of the running code in the calls of a transaction. A context ends when its code returns. */
export interface Context {
  /** The innermost call; undefined for code outside of modules. */
  readonly frame: Frame | undefined;
  readonly access: TableAccess;
  /**
   * The modules of dialect 5 that have called through a module reference. Their own code can only read until the call
   * returns, so that a foreign module cannot call back to make changes.
   */
  readonly referring: ReadonlySet<string>;
  readonly step: DefpactStep | undefined;
}

export const OUTERMOST: Context = { frame: undefined, access: 'write', referring: new Set(), step: undefined };

/** @returns the innermost frame that passes the test */
export function findFrame(frame: Frame | undefined, test: (frame: Frame) => boolean): Frame | undefined {
  for (let each = frame; each; each = each.outer) if (test(each)) return each;
  return undefined;
}
