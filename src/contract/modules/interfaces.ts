/** Checks whether a module implements an interface. */

import type { Dialect } from '../dialect.ts';
import { ContractError } from '../errors.ts';
import { schemaOf } from '../runtime/lookup.ts';
import { type Definition, type LoadedModule, type Member, textOfName } from '../runtime/module.ts';
import { fullNameOf, haveSameFields, textOfType } from '../runtime/typecheck.ts';
import type { CapabilityMeta, Defschema, Parameter, Type } from '../syntax/tree.ts';

/**
 * @throws ContractError if the module lacks a function, a capability or a defpact of the interface, or has it with
 *   another signature; in dialect 4 also if it has a definition with the name of a constant or schema of the interface
 */
export function checkInterface(module: LoadedModule, { name, members }: LoadedModule, dialect: Dialect): void {
  for (const [key, wanted] of members) {
    const isOptional = wanted.is('defconst') || wanted.is('defschema');
    if (isOptional && dialect === 5) continue;
    const found = module.members.get(key);
    if (found) new Comparison(name.text, wanted, found, dialect).check();
    else if (!isOptional) throw new ContractError('eval', missingText(module, name.text, key, dialect));
  }
}

function missingText({ name }: LoadedModule, wanted: string, member: string, dialect: Dialect): string {
  return dialect === 4
    ? `found unimplemented member while resolving model constraints: ${member}`
    : `Interface member not implemented, module ${name.text} does not implement interface ${wanted} member: ${member}`;
}

/** Maps each kind of signature in an interface to the kind of definition that implements it. */
const KINDS = {
  'defun-signature': 'defun',
  'defcap-signature': 'defcap',
  'defpact-signature': 'defpact',
} as const;

function isSignature(definition: Definition): definition is Extract<Definition, { kind: keyof typeof KINDS }> {
  return definition.kind in KINDS;
}

interface Signature {
  readonly parameters: readonly Parameter[];
  readonly returnType: Type | undefined;
  readonly meta?: CapabilityMeta | undefined;
}

/** Compares one definition of a module with the interface's definition of the same name. */
class Comparison {
  readonly #interface: string;
  readonly #wanted: Member;
  readonly #found: Member;
  readonly #dialect: Dialect;

  constructor(name: string, wanted: Member, found: Member, dialect: Dialect) {
    this.#interface = name;
    this.#wanted = wanted;
    this.#found = found;
    this.#dialect = dialect;
  }

  check(): void {
    const [wanted, found] = [this.#wanted.definition, this.#found.definition];
    if (!isSignature(wanted) || !('parameters' in found)) {
      if (this.#dialect === 5) throw this.#differs(found.name);
      throw new ContractError('eval', `found overlapping refs - please resolve: ${found.name}`, found.position);
    }
    this.#match('Def type mismatch', KINDS[wanted.kind], found.kind);
    if (this.#dialect === 5) this.#matchMeta(wanted, found);
    this.#matchType('Return type mismatch', wanted.returnType, found.returnType);
    this.#match('Arity mismatch', wanted.parameters.length, found.parameters.length);
    this.#matchMeta(wanted, found);
    for (const [at, parameter] of wanted.parameters.entries()) {
      const own = found.parameters[at];
      this.#match('Argument name mismatch', parameter.name, own.name);
      this.#matchType(`Argument type mismatch for ${parameter.name}`, parameter.type, own.type);
    }
  }

  #matchType(what: string, wanted: Type | undefined, found: Type | undefined): void {
    if (areSameType(wanted, found, this.#wanted, this.#found)) return;
    const [text, ownText] = [wanted, found].map((each) => (each ? textOfType(each) : '<a>'));
    this.#fail(what, text, ownText);
  }

  /**
   * @throws ContractError unless both definitions have the same `@event` or `@managed`. If the interface has `@managed`
   *   without a manager, the module may have `@managed` with any manager
   */
  #matchMeta({ meta: wanted }: Signature, { meta: found }: Signature): void {
    const text = metaText(wanted);
    // Dialect 5 compares what the name of the manager means, so the module can also write it with its own name.
    const own = ` ${this.#found.module.name.text}.`;
    const ownText = this.#dialect === 4 ? metaText(found) : metaText(found).replace(own, ' ');
    const acceptsAny = wanted?.kind === 'managed' && !wanted.manager && found?.kind === 'managed';
    if (acceptsAny || text === ownText) return;
    if (this.#dialect === 5) throw this.#differs(`: defcap mismatch for ${this.#found.definition.name}`);
    this.#fail('Defmeta mismatch', text, ownText);
  }

  #match<T extends string | number>(what: string, wanted: T, found: T): void {
    if (wanted !== found) this.#fail(what, `${wanted}`, `${found}`);
  }

  /** @returns the fault of dialect 5, which does not tell what differs @param what the definition's name */
  #differs(what: string): ContractError {
    const { module, definition } = this.#found;
    const message = `Module ${module.name.text} does not correctly implement the function ${what} from Interface`;
    return new ContractError('eval', `${message} ${this.#interface}`, definition.position);
  }

  #fail(what: string, wanted: string, found: string): never {
    if (this.#dialect === 5) throw this.#differs(this.#found.definition.name);
    const message = `${what} with ${this.#interface}: found ${found}, expected ${wanted}`;
    throw new ContractError('eval', message, this.#found.definition.position);
  }
}

/** @param of the member in which `a` is written @param ofOther the member in which `b` is written */
function areSameType(a: Type | undefined, b: Type | undefined, of: Member, ofOther: Member): boolean {
  if (!a || !b) return a === b;
  if (a.kind === 'list' && b.kind === 'list') return areSameType(a.item, b.item, of, ofOther);
  if (a.kind !== b.kind) return false;
  const [schema, other] = [schemaOf(a, of.module.names), schemaOf(b, ofOther.module.names)];
  if (schema || other) return schema !== undefined && other !== undefined && areSameSchema(schema, other);
  if (a.kind === 'module' && b.kind === 'module') {
    const names = (type: typeof a, { module }: Member) =>
      type.interfaces
        .map(({ text }) => fullNameOf(text, module.names))
        .sort()
        .join();
    return names(a, of) === names(b, ofOther);
  }
  return textOfType(a) === textOfType(b);
}

/**
 * Whether two schemas have the same name and fields. They may be different objects, because the module of a schema may
 * have been loaded again after the interface.
 */
function areSameSchema(a: Member<Defschema>, b: Member<Defschema>): boolean {
  return a.name.text === b.name.text && haveSameFields(a, b);
}

/** @returns `@event` or `@managed` of a capability, as it is written in code; empty for a capability without either */
export function metaText(meta: CapabilityMeta | undefined): string {
  if (!meta) return '';
  if (meta.kind === 'event') return '@event';
  return meta.manager ? `@managed ${meta.manager.parameter} ${textOfName(meta.manager.function)}` : '@managed';
}
