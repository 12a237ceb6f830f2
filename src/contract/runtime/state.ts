/**
 * What a transaction knows while it runs. It is replaced as a whole, never changed, so that a failure that code catches
 * takes everything back to what it was before.
 */

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

/** A capability that is held, with those that it brings along. */
export interface Grant {
  readonly capability: Capability;
  readonly composed: readonly Capability[];
}

/** A managed capability that can be acquired in this transaction. */
export interface InstalledCapability {
  /** The one that was installed. */
  readonly capability: Capability;
  readonly composed: readonly Capability[];
  /** What manages it; undefined for a capability that can be acquired once. */
  readonly manager: CapabilityManager | undefined;
  /** What is left, for the manager; whether it can still be acquired, without one. */
  readonly remaining: Value;
}

export interface CapabilityManager {
  readonly function: Member<Defun>;
  /** Which of the capability's arguments is managed. All others must be equal. */
  readonly parameter: number;
}

export interface Capabilities {
  /** Those that are held, the newest at the end. */
  readonly grants: readonly Grant[];
  readonly installed: readonly InstalledCapability[];
  /** Those that code has announced with `install-capability`. */
  readonly autonomous: readonly Capability[];
  /** Those whose bodies are being evaluated. */
  readonly evaluating: readonly Capability[];
}

export interface State {
  readonly namespace: Namespace | undefined;
  /** The names that `use` and definitions of this transaction have brought to code outside of modules. */
  readonly imported: ReadonlyMap<string, Value>;
  /** The modules that were looked up in this transaction, by their names: they do not change in it unseen. */
  readonly modules: ReadonlyMap<string, LoadedModule>;
  /** The modules whose governance has agreed in this transaction. */
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

/** A call of a module's code that has not returned yet, with the calls around it. */
export interface Frame {
  readonly member: Member<Callable>;
  readonly outer: Frame | undefined;
}

/**
 * What code may do with tables. Conditions of `enforce` and user guards can only read rows in dialect 5, and not even
 * that in dialect 4; the same holds for constants in both. What `try` and `enforce-one` run can read rows, too.
 */
export type TableAccess = 'write' | 'read' | 'none';

/** The step of a defpact that is asked for. */
export interface DefpactStep {
  readonly pactId: string;
  /** From 0. */
  readonly step: number;
  readonly isRollback: boolean;
  /** What the step before has yielded, if the step comes with it. */
  readonly resumed: Yield | undefined;
}

/** Where in a transaction some code is. It ends with the code. */
export interface Context {
  /** The innermost call; undefined for code outside of modules. */
  readonly frame: Frame | undefined;
  readonly access: TableAccess;
  /**
   * The modules of dialect 5 that have called what a reference names. Their own code can only read until that returns,
   * so that a foreign module cannot call it back to make changes.
   */
  readonly referring: ReadonlySet<string>;
  readonly step: DefpactStep | undefined;
}

export const OUTERMOST: Context = { frame: undefined, access: 'write', referring: new Set(), step: undefined };

/** @returns the innermost frame for which the test is true */
export function findFrame(frame: Frame | undefined, test: (frame: Frame) => boolean): Frame | undefined {
  for (let each = frame; each; each = each.outer) if (test(each)) return each;
  return undefined;
}
