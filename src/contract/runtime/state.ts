/** The state of a transaction, which its code changes, and the context of the code that runs. */

import type { QualifiedName } from '../names.ts';
import type { Defun } from '../syntax/tree.ts';
import type { Value } from '../values/values.ts';
import type { Namespace } from './database.ts';
import type { DefpactState, Yield } from './defpact-state.ts';
import type { Capability } from './environment.ts';
import type { Callable, LoadedModule, Member } from './module.ts';

export interface Event {
  /** The name of the event's capability, with module and namespace. */
  readonly name: QualifiedName;
  readonly args: readonly Value[];
  /** The hash of the module that has emitted the event. */
  readonly moduleHash: string;
}

/** A capability that is held, with the capabilities that it has composed. */
export interface Grant {
  readonly capability: Capability;
  readonly composed: readonly Capability[];
}

/** A managed capability that can be acquired in this transaction. */
export interface InstalledCapability {
  /** The capability as a signature or code has installed it. */
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
  /** The index of the managed argument. All other arguments must equal those of the installed capability. */
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
 * What the code of a transaction has changed so far, apart from the database. Each change makes a new state object, so
 * that the state before a caught failure can be restored.
 */
export interface State {
  readonly namespace: Namespace | undefined;
  /** The names that `use` and definitions have given to code outside of modules. */
  readonly imported: ReadonlyMap<string, Value>;
  /** The modules that this transaction has looked up, by their names. The transaction keeps using these versions. */
  readonly modules: ReadonlyMap<string, LoadedModule>;
  /** The names of the modules for which this transaction holds the admin rights. */
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

/** A call of a member of a module that has not returned yet. `outer` is the frame of the calling code. */
export interface Frame {
  readonly member: Member<Callable>;
  readonly outer: Frame | undefined;
}

/**
 * The access of running code to tables. Conditions of `enforce`, user guards and predicates of keysets have `none` in
 * dialect 4 and `read` in dialect 5 (for the first two, since version 5.3). Constants have `none`. Tests of
 * `enforce-one` and actions of `try` and `pure` have `read`.
 */
export type TableAccess = 'write' | 'read' | 'none';

/** A requested step of a defpact. */
export interface DefpactStep {
  readonly pactId: string;
  /** From 0. */
  readonly step: number;
  readonly isRollback: boolean;
  /** The yield of the step before; undefined if the request does not include one. */
  readonly resumed: Yield | undefined;
}

/** The place of the running code in the calls of a transaction. A context ends when its code returns. */
export interface Context {
  /** The innermost call; undefined for code outside of modules. */
  readonly frame: Frame | undefined;
  readonly access: TableAccess;
  /**
   * In dialect 5, the names of the modules that have called through a module reference. Until the call returns, code
   * of these modules can only read, so that the foreign module cannot make changes by calling them back.
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
