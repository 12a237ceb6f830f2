/** Translates the definitions of modules into the smaller language of `terms.ts`, as dialect 5 does. */

import type { ModuleName } from '../names.ts';
import { schemaOf } from '../runtime/lookup.ts';
import { type LoadedModule, Member, memberNameOf, textOfName } from '../runtime/module.ts';
import { sortedModules } from '../runtime/typecheck.ts';
import type { Application, Binding, CapabilityMeta, Expression, Name, Parameter, Type } from '../syntax/tree.ts';
import { Decimal } from '../values/decimal.ts';
import { compareTexts, ModuleRef, UNIT } from '../values/values.ts';
import { nativeFor, SUSPENDED } from './natives.ts';
import type { Definition5, Fields5, FormName, ManagerOf, Meta5, Parameter5, Schema5, Term, Type5 } from './terms.ts';

/** The names of variables that the translation makes. */
const BOUND_OBJECT = '#bindObject';
const MAPPED = ':ijHO1';
const CONSTANTLY = ['#constantlyA1', '#constantlyA2'] as const;
const CONDITIONS = ['#condArg1', '#condArg2'] as const;

/** The forms, with the number of their parts. Only some of them can have fewer: they are then a lambda. */
const FORMS: ReadonlyMap<string, number> = new Map([
  ['if', 3],
  ['and', 2],
  ['or', 2],
  ['enforce', 2],
  ['enforce-one', 2],
  ['try', 2],
  ['pure', 1],
  ['error', 1],
  ['create-user-guard', 1],
]);

const CHARSETS: ReadonlyMap<string, bigint> = new Map([
  ['CHARSET_ASCII', 0n],
  ['CHARSET_LATIN1', 1n],
]);

/** What the translation asks about names that are not those of definitions. */
export interface Meanings {
  readonly isNative: (name: string) => boolean;
  /** The modules that the transaction knows, by their names. */
  readonly state: { readonly modules: ReadonlyMap<string, LoadedModule> };
}

export interface Translation {
  readonly definition: Definition5;
  /** The definitions of the same module that this one names, except by `module.f` without the module's namespace. */
  readonly uses: ReadonlySet<string>;
}

/** A variable in scope, and those around it. */
interface Scope5 {
  readonly name: string;
  /** Number of variables around this one. */
  readonly depth: number;
  /** Whether this is a parameter of a capability or a defpact. It hides no definition from the order of definitions. */
  readonly isTransparent: boolean;
  readonly outer: Scope5 | undefined;
}

const known = new WeakMap<Member, Translation>();

export function translationOf(member: Member, meanings: Meanings): Translation {
  const before = known.get(member);
  if (before) return before;
  const translator = new Translator(member.module, meanings);
  const translation = { definition: translator.definition(member), uses: translator.uses };
  known.set(member, translation);
  return translation;
}

class Translator {
  readonly uses = new Set<string>();
  readonly #module: LoadedModule;
  readonly #meanings: Meanings;

  constructor(module: LoadedModule, meanings: Meanings) {
    this.#module = module;
    this.#meanings = meanings;
  }

  definition({ definition, value }: Member): Definition5 {
    switch (definition.kind) {
      case 'defschema':
        return { kind: 'defschema', name: definition.name, fields: this.#fields(definition.fields, this.#module) };
      case 'deftable': {
        const type = { kind: 'table', schema: definition.schema } as const;
        return { kind: 'deftable', name: definition.name, schema: this.#schema(type, this.#module) };
      }
      case 'defconst':
        return { kind: 'defconst', head: this.#parameter(definition), code: this.#term(definition.value), value };
    }
    const head = this.#parameter({ name: definition.name, type: definition.returnType });
    const parameters = definition.parameters.map((each) => this.#parameter(each));
    const names = definition.parameters.map(({ name }) => name);
    switch (definition.kind) {
      case 'defun':
        return { kind: 'defun', head, parameters, body: this.#lambda(parameters, definition.body, undefined) };
      case 'defcap': {
        const meta = this.#meta(definition.meta, names, (name) => this.#manager(name));
        return {
          kind: 'defcap',
          head,
          parameters,
          meta,
          body: this.#body(definition.body, inside(names, undefined, true)),
        };
      }
      case 'defpact': {
        const scope = inside(names, undefined, true);
        const steps = definition.steps.map(({ value: code, rollback }) => {
          return { value: this.#term(code, scope), rollback: rollback && this.#term(rollback, scope) };
        });
        return { kind: 'defpact', head, parameters, steps };
      }
      case 'defcap-signature':
        return {
          kind: 'defcap-signature',
          head,
          parameters,
          meta: this.#meta(definition.meta, names, (name) => this.#signedManager(name)),
        };
      default:
        return { kind: definition.kind, head, parameters };
    }
  }

  #meta<Manager>(
    meta: CapabilityMeta | undefined,
    parameters: readonly string[],
    find: (name: Name) => Manager | undefined,
  ): Meta5<Manager> | undefined {
    if (meta?.kind !== 'managed') return meta;
    const { manager } = meta;
    const found = manager && find(manager.function);
    if (!manager || found === undefined) return { kind: 'managed', manager: undefined };
    const { parameter } = manager;
    const made: ManagerOf<Manager> = { parameter, index: parameters.indexOf(parameter), function: found };
    return { kind: 'managed', manager: made };
  }

  #manager(name: Name): Member | undefined {
    const found = this.#module.names.find(textOfName(name));
    if (!(found instanceof Member)) return undefined;
    this.#use(found, name);
    return found;
  }

  #signedManager(name: Name): string {
    const member = memberNameOf(name);
    this.uses.add(member);
    return member;
  }

  /** Keeps that the code names a member. */
  #use({ module, definition }: Member, name: Name): void {
    const own = this.#module.name.text;
    if (module.name.text !== own) return;
    if (name.kind === 'name' || (name.kind === 'dotted-name' && name.name.module.text === own)) {
      this.uses.add(definition.name);
    }
  }

  /* Parameters and types. */

  #parameter({ name, type }: { readonly name: string; readonly type?: Type | undefined }): Parameter5 {
    return { name, type: type && this.#type(type, this.#module) };
  }

  #fields(fields: readonly Parameter[], module: LoadedModule): Fields5 {
    const all = new Map(fields.map(({ name, type }) => [name, type && this.#type(type, module)] as const));
    return [...all].sort(([a], [b]) => compareTexts(a, b));
  }

  /** @param module the module in whose code the type is */
  #type(type: Type, module: LoadedModule): Type5 {
    switch (type.kind) {
      case 'primitive':
        return { kind: 'primitive', name: type.name === 'keyset' ? 'guard' : type.name };
      case 'list':
        return { kind: 'list', item: type.item && this.#type(type.item, module) };
      case 'module': {
        const all = type.interfaces.map((each) => {
          const meant = module.names.find(each.text);
          return meant instanceof ModuleRef ? meant.name : each;
        });
        return { kind: 'module', interfaces: sortedModules(all) };
      }
      default:
        return { kind: type.kind === 'table' ? 'table' : 'object', schema: this.#schema(type, module) };
    }
  }

  #schema(type: Type & { readonly schema: Name | undefined }, module: LoadedModule): Schema5 | undefined {
    const schema = schemaOf(type, module.names);
    if (!schema) return undefined;
    if (type.schema && module === this.#module) this.#use(schema, type.schema);
    return { name: schema.name, fields: this.#fields(schema.definition.fields, schema.module) };
  }

  /* Terms. */

  #lambda(parameters: readonly Parameter5[], body: readonly Expression[], scope: Scope5 | undefined): Term {
    const names = parameters.map(({ name }) => name);
    return { kind: 'lambda', parameters, body: this.#body(body, inside(names, scope)) };
  }

  #body(body: readonly Expression[], scope: Scope5 | undefined): Term {
    return sequence(this.#terms(body, scope));
  }

  #terms(expressions: readonly Expression[], scope: Scope5 | undefined): Term[] {
    return expressions.map((each) => this.#term(each, scope));
  }

  #term(expression: Expression, scope?: Scope5): Term {
    switch (expression.kind) {
      case 'integer':
      case 'text':
      case 'boolean':
        return { kind: 'constant', value: expression.value };
      case 'decimal':
        return { kind: 'constant', value: new Decimal(expression.mantissa, expression.places) };
      case 'unit':
        return { kind: 'constant', value: UNIT };
      case 'list':
        return { kind: 'list', items: this.#terms(expression.items, scope) };
      case 'object':
        return { kind: 'object', fields: expression.fields.map(({ key, value }) => [key, this.#term(value, scope)]) };
      case 'lambda': {
        const parameters = expression.parameters.map((each) => this.#parameter(each));
        return this.#lambda(parameters, expression.body, scope);
      }
      case 'let': {
        const made: { variable: Parameter5; value: Term }[] = [];
        let inner = scope;
        for (const { variable, value } of expression.variables) {
          made.push({ variable: this.#parameter(variable), value: this.#term(value, inner) });
          inner = inside([variable.name], inner);
        }
        return made.reduceRight<Term>(
          (body, each) => ({ kind: 'let', ...each, body }),
          this.#body(expression.body, inner),
        );
      }
      case 'cond': {
        const branches = expression.branches.map(({ condition, value }) => this.#terms([condition, value], scope));
        const otherwise = this.#term(expression.otherwise, scope);
        const nested = branches.reduceRight<Term>((rest, each) => form('if', [...each, rest]), otherwise);
        return application(native('cond'), [{ kind: 'lambda', parameters: [], body: nested }]);
      }
      case 'with-capability':
        return form('with-capability', [this.#term(expression.capability, scope), this.#body(expression.body, scope)]);
      case 'application':
        return this.#application(expression, scope);
      default:
        return this.#name(expression, scope);
    }
  }

  #name(name: Name, scope: Scope5 | undefined): Term {
    if (name.kind === 'dynamic-name') {
      const { reference, member } = name;
      return { kind: 'dynamic-name', reference, index: indexOf(reference, scope), member };
    }
    const text = textOfName(name);
    const variable = name.kind === 'name' ? variableOf(text, scope) : undefined;
    if (variable) {
      if (variable.isTransparent && this.#module.members.has(text)) this.uses.add(text);
      return { kind: 'variable', name: text, index: indexOf(text, scope) };
    }
    if (text === 'constantly') {
      const parameters = CONSTANTLY.map((each) => ({ name: each, type: undefined }));
      return { kind: 'lambda', parameters, body: { kind: 'variable', name: CONSTANTLY[0], index: 1 } };
    }
    const charset = CHARSETS.get(text);
    if (charset !== undefined) return { kind: 'constant', value: charset };
    const meant = this.#meanings.isNative(text) ? undefined : this.#module.names.find(text);
    if (meant instanceof Member) {
      this.#use(meant, name);
      return { kind: 'member', member: meant };
    }
    if (meant instanceof ModuleRef) return { kind: 'module', name: meant.name, interfaces: this.#interfacesOf(meant) };
    return native(text);
  }

  /** @returns the interfaces in the order of the module's code */
  #interfacesOf({ name, interfaces }: ModuleRef): readonly ModuleName[] {
    const isOwn = name.text === this.#module.name.text;
    const module = isOwn ? this.#module : this.#meanings.state.modules.get(name.text);
    return module?.interfaces ?? interfaces ?? [];
  }

  /** @param mapped whether the native `map` is to apply this application to one more argument */
  #application(code: Application, scope: Scope5 | undefined, mapped?: string): Term {
    const { callee, arguments: args, binding } = code;
    const name = callee.kind === 'name' && !variableOf(callee.name, scope) ? callee.name : undefined;
    const [first] = args;
    const parts =
      name === 'map' && first?.kind === 'application'
        ? [this.#mapped(first, scope), ...this.#terms(args.slice(1), scope)]
        : this.#terms(args, scope);
    if (binding) parts.push(this.#binding(binding, scope));
    if (mapped !== undefined) parts.push({ kind: 'variable', name: mapped, index: indexOf(mapped, scope) });
    if (name === 'do') return sequence(parts);
    if (name !== undefined && FORMS.has(name)) {
      return FORMS.get(name) === parts.length ? form(name as FormName, parts) : application(partial(name), parts);
    }
    const called = this.#term(callee, scope);
    return called.kind === 'native' ? ofNative(called.name, parts) : application(called, parts);
  }

  #mapped(code: Application, scope: Scope5 | undefined): Term {
    const body = this.#application(code, inside([MAPPED], scope), MAPPED);
    return { kind: 'lambda', parameters: [{ name: MAPPED, type: undefined }], body };
  }

  /** The pairs of a binding become variables in the reverse order of the code. */
  #binding({ pairs, body }: Binding, scope: Scope5 | undefined): Term {
    let inner = inside([BOUND_OBJECT], scope);
    const made = pairs.toReversed().map(({ key, variable }) => {
      const object: Term = { kind: 'variable', name: BOUND_OBJECT, index: indexOf(BOUND_OBJECT, inner) };
      const field: Term = { kind: 'constant', value: key.kind === 'text' ? key.value : '' };
      inner = inside([variable.name], inner);
      return { variable: this.#parameter(variable), value: application(native('at'), [field, object]) };
    });
    const lets = made.reduceRight<Term>(
      (rest, each) => ({ kind: 'let', ...each, body: rest }),
      this.#body(body, inner),
    );
    return { kind: 'lambda', parameters: [{ name: BOUND_OBJECT, type: undefined }], body: lets };
  }
}

function ofNative(name: string, args: readonly Term[]): Term {
  if (name === 'hash-poseidon' || name === 'poseidon-hash-hack-a-chain') {
    return application(native(name), [{ kind: 'list', items: args }]);
  }
  const called = nativeFor(name, args.length);
  const suspended = SUSPENDED.get(called) ?? 0;
  const parts = args.map((each, at): Term => {
    return at < args.length - suspended ? each : { kind: 'lambda', parameters: [], body: each };
  });
  return application(native(called), parts);
}

/** @returns a lambda that applies one of the language's own forms to two arguments */
function partial(name: string): Term {
  const parameters = CONDITIONS.map((each): Parameter5 => ({ name: each, type: { kind: 'primitive', name: 'bool' } }));
  const terms = CONDITIONS.map((each, at): Term => ({ kind: 'variable', name: each, index: 1 - at }));
  return { kind: 'lambda', parameters, body: form(name as FormName, terms) };
}

function form(name: FormName, terms: readonly Term[]): Term {
  return { kind: 'form', form: name, terms };
}

function native(name: string): Term {
  return { kind: 'native', name };
}

function application(callee: Term, args: readonly Term[]): Term {
  return { kind: 'application', callee, arguments: args };
}

function sequence(terms: readonly Term[]): Term {
  return terms.reduceRight((second, first) => ({ kind: 'sequence', first, second }));
}

function inside(names: readonly string[], outer: Scope5 | undefined, isTransparent = false): Scope5 | undefined {
  return names.reduce<Scope5 | undefined>((scope, name) => {
    return { name, depth: depthOf(scope), isTransparent, outer: scope };
  }, outer);
}

/** @returns the number of variables in scope */
function depthOf(scope: Scope5 | undefined): number {
  return scope ? scope.depth + 1 : 0;
}

function variableOf(name: string, scope: Scope5 | undefined): Scope5 | undefined {
  let at = scope;
  while (at && at.name !== name) at = at.outer;
  return at;
}

function indexOf(name: string, scope: Scope5 | undefined): number {
  return depthOf(scope) - (variableOf(name, scope)?.depth ?? 0) - 1;
}
