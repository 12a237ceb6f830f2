/** The state of a transaction, which its code changes, and the context in which code runs. */

import type { QualifiedName } from '../names.ts';
import type { Defun } from '../syntax/tree.ts';
import type { Value } from '../values/values.ts';
import type { Namespace } from './database.ts';
import type { DefpactState, Yield } from './defpact-state.ts';
import type { Capability } from './environment.ts';
import type { Callable, LoadedModule, Member } from './module.ts';

export interface Event {
  /** The full name of the capability that is the event. */
  readonly name: QualifiedName;
  readonly args: readonly Value[];
  /** The hash of the module that has emitted the event, in base64url. */
  readonly moduleHash: string;
}

/** A capability that is held. */
export interface Grant {
  readonly capability: Capability;
  /**
   * The capabilities that the body of `capability` has acquired with `compose-capability`. They are held as long as
   * `capability`.
   */
  readonly composed: readonly Capability[];
}

/** A managed capability that was installed in this transaction, so that it can be acquired. */
export interface InstalledCapability {
  /** The capability, with the arguments that a signature or `install-capability` has given. */
  readonly capability: Capability;
  /** The capabilities that are acquired together with this one. */
  readonly composed: readonly Capability[];
  /** Undefined for a capability without a manager function, which can be acquired only once. */
  readonly manager: CapabilityManager | undefined;
  /**
   * With a manager, the first argument of the next call of the manager function, such as the remaining amount. Without
   * a manager, whether the capability can still be acquired.
   */
  readonly remaining: Value;
}

/** How acquisitions of a managed capability are limited. */
export interface CapabilityManager {
  /**
   * The manager function. Its arguments are the rest and the requested amount. It returns the rest after the
   * acquisition, or fails.
   */
  readonly function: Member<Defun>;
  /**
   * The index of the managed argument, from 0. To acquire the capability, all other arguments must equal those of the
   * installed one.
   */
  readonly parameter: number;
}

export interface Capabilities {
  /** The capabilities that are held, with the one acquired last at the end. */
  readonly grants: readonly Grant[];
  /** The managed capabilities that were installed. */
  readonly installed: readonly InstalledCapability[];
  /** The capabilities for which code has called the native `install-capability`. */
  readonly autonomous: readonly Capability[];
  /** The capabilities whose bodies are being evaluated now. */
  readonly evaluating: readonly Capability[];
}

/**
 * What the code of a transaction has changed so far, apart from the database. A change makes a new state object. So
 * after a failure that code catches, the earlier object can be used again.
 */
export interface State {
  /** The namespace that the native `namespace` has chosen; undefined for none. */
  readonly namespace: Namespace | undefined;
  /** The names that code outside of modules can use because of `use`, loaded modules, and its own definitions. */
  readonly imported: ReadonlyMap<string, Value>;
  /** The modules that the transaction has looked up or loaded, by their full names. Look-ups find these versions. */
  readonly modules: ReadonlyMap<string, LoadedModule>;
  /** The full names of the modules for which the transaction has the rights of an administrator. */
  readonly administered: ReadonlySet<string>;
  /** The emitted events, from the first to the last. */
  readonly events: readonly Event[];
  readonly capabilities: Capabilities;
  /** The defpact whose step is being executed, or was executed last; undefined if there was none. */
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

/** A running call of a member of a module. */
export interface Frame {
  readonly member: Member<Callable>;
  /** The frame of the calling code; undefined if code outside of modules has called. */
  readonly outer: Frame | undefined;
}

/**
 * The access of running code to tables. `write` includes reading. Constants have `none`. Predicates of keysets have
 * `none` in dialect 4 and `read` in dialect 5. Conditions of `enforce` and functions of user guards have `none` before
 * version 5.3 of the language, and `read` since then. Tests of `enforce-one` and the actions of `try` and `pure` have
 * `read`.
 */
export type TableAccess = 'write' | 'read' | 'none';

/** A requested or running step of a defpact. */
export interface DefpactStep {
  readonly pactId: string;
  /** The number of the step, from 0. */
  readonly step: number;
  /** Whether the step's rollback runs instead of the step itself. */
  readonly isRollback: boolean;
  /** What the native `resume` returns: the yield of an earlier step. Undefined if there is none. */
  readonly resumed: Yield | undefined;
}

/** The context of running code. After the code has returned, the context around it applies again. */
export interface Context {
  /** The frame of the innermost call; undefined for code outside of modules. */
  readonly frame: Frame | undefined;
  readonly access: TableAccess;
  /**
   * In dialect 5, the full names of the modules that have called another module through a module reference. Until such
   * a call returns, code of the calling module can only read tables. So the called module cannot cause changes by
   * calling back.
   */
  readonly referring: ReadonlySet<string>;
  /** The running step of a defpact; undefined outside of defpacts. */
  readonly step: DefpactStep | undefined;
}

export const OUTERMOST: Context = { frame: undefined, access: 'write', referring: new Set(), step: undefined };

/** @param frame where the search begins @returns the innermost frame that passes the test; undefined if none does */
export function findFrame(frame: Frame | undefined, test: (frame: Frame) => boolean): Frame | undefined {
  for (let each = frame; each; each = each.outer) if (test(each)) return each;
  return undefined;
}
