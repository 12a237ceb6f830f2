/**
 * What the definitions of a module count for with the table model of dialect 5. The language translates code into a
 * smaller set of terms, in which `let` has one variable, a body is a chain of pairs, and a binding is a lambda. Loading
 * costs by the size of these terms.
 */

import type { ModuleName } from '../names.ts';
import { schemaOf } from '../runtime/lookup.ts';
import { type Callable, Member, type Names, textOfName } from '../runtime/module.ts';
import { sortedModules } from '../runtime/typecheck.ts';
import type { Application, Binding, Expression, Name, Parameter, Type } from '../syntax/tree.ts';
import { Decimal } from '../values/decimal.ts';
import { ModuleRef, Walk } from '../values/values.ts';
import {
  HASH,
  KIND,
  LIST,
  MACHINE_INTEGER,
  RECORD,
  Sizes5,
  sizeOfList,
  sizeOfModuleName,
  sizeOfText,
} from './sizes5.ts';

/** Size of the number of a variable. */
const VARIABLE = 9;
/** The names of variables that the translation makes. */
const BOUND_OBJECT = '#bindObject';
const MAPPED = ':ijHO1';
const CONSTANTLY = ['#constantlyA1', '#constantlyA2'];

/** Forms that are no natives in the translated code. */
const FORMS: ReadonlySet<string> = new Set(['if', 'and', 'or', 'enforce', 'enforce-one', 'try', 'pure', 'error']);

/** The size of a definition, apart from parts whose size depends on where it is. */
export class Shape {
  bytes = 0;
  /** Number of places in the source, which each term has. */
  places = 0;
  /** Number of names of natives. */
  natives = 0;
  /** Number of hashes of the definition's own module. */
  hashes = 0;
  /** Number of terms. */
  terms = 0;
  /** The members of modules in code that runs, in the order of the code. */
  readonly used: Member[] = [];

  add(other: Shape): void {
    this.bytes += other.bytes;
    this.places += other.places;
    this.natives += other.natives;
    this.hashes += other.hashes;
    this.terms += other.terms;
    this.used.push(...other.used);
  }
}

type Variables = ReadonlySet<string>;

const known = new WeakMap<Member, Shape>();

/** @param isEvaluated whether a constant counts with its value, or with the code that gives it */
export function shapeOf(member: Member, isNative: (name: string) => boolean, isEvaluated: boolean): Shape {
  const before = isEvaluated ? known.get(member) : undefined;
  if (before) return before;
  const writer = new ShapeWriter(member.module.names, member.module.name, isNative);
  writer.definition(member, isEvaluated);
  if (isEvaluated) known.set(member, writer.shape);
  return writer.shape;
}

class ShapeWriter {
  readonly shape = new Shape();
  readonly #names: Names;
  readonly #module: ModuleName;
  readonly #isNative: (name: string) => boolean;

  constructor(names: Names, module: ModuleName, isNative: (name: string) => boolean) {
    this.#names = names;
    this.#module = module;
    this.#isNative = isNative;
  }

  definition(member: Member, isEvaluated: boolean): void {
    const { definition } = member;
    this.#bytes(KIND + RECORD);
    this.shape.places++;
    switch (definition.kind) {
      case 'defschema':
        this.#bytes(sizeOfText(definition.name) + this.#sizeOfFields(definition.fields, this.#names));
        return;
      case 'deftable': {
        const type = { kind: 'table', schema: definition.schema } as const;
        this.#bytes(
          sizeOfText(definition.name) + KIND + (definition.schema ? this.#sizeOfSchema(type, this.#names) : 0),
        );
        return;
      }
      case 'defconst':
        this.#parameter(definition);
        this.#bytes(KIND);
        if (isEvaluated && member.value !== undefined) this.#bytes(new Sizes5(new Walk()).value(member.value));
        else this.#term(definition.value, new Set());
        return;
    }
    const { name, returnType, parameters } = definition;
    this.#parameter({ name, type: returnType });
    this.#parameters(parameters);
    const variables = new Set(parameters.map((each) => each.name));
    switch (definition.kind) {
      case 'defun':
        this.#lambda(parameters, () => this.#body(definition.body, variables));
        return;
      case 'defcap':
        this.#meta(definition.meta);
        this.#body(definition.body, variables);
        return;
      case 'defcap-signature':
        this.#bytes(KIND);
        if (definition.meta?.kind !== 'managed') return;
        this.#bytes(KIND);
        if (definition.meta.manager) this.#signedManager(definition.meta.manager);
        return;
      case 'defpact':
        this.#bytes(LIST);
        for (const { value, rollback } of definition.steps) {
          this.#bytes(KIND);
          this.#term(value, variables);
          if (rollback) this.#term(rollback, variables);
        }
    }
  }

  #signedManager({ parameter, function: name }: { readonly parameter: string; readonly function: Name }): void {
    this.#bytes(RECORD + MACHINE_INTEGER + sizeOfText(parameter) + sizeOfText(textOfName(name)));
  }

  #meta(meta: (Member<Callable>['definition'] & { kind: 'defcap' })['meta']): void {
    this.#bytes(KIND);
    if (meta?.kind !== 'managed') return;
    this.#bytes(KIND);
    if (!meta.manager) return;
    this.#bytes(RECORD + MACHINE_INTEGER + sizeOfText(meta.manager.parameter) + KIND);
    const manager = this.#names.find(textOfName(meta.manager.function));
    if (manager instanceof Member) {
      this.#qualified(manager);
      this.shape.used.push(manager);
    }
  }

  /** A full name with the hash of the module. */
  #qualified({ module, definition }: Member): void {
    this.#bytes(RECORD + sizeOfModuleName(module.name) + sizeOfText(definition.name));
    this.#hash(module.name);
  }

  #hash(module: ModuleName): void {
    if (module.text === this.#module.text) this.shape.hashes++;
    else this.#bytes(HASH);
  }

  /* Parameters and types. */

  #parameters(parameters: readonly Pick<Parameter, 'name' | 'type'>[]): void {
    this.#bytes(LIST);
    for (const each of parameters) this.#parameter(each);
  }

  #parameter({ name, type }: { readonly name: string; readonly type?: Type | undefined }): void {
    this.#bytes(RECORD + sizeOfText(name) + KIND + (type ? this.#sizeOfType(type, this.#names) : 0));
    this.shape.places++;
  }

  #sizeOfType(type: Type, names: Names): number {
    switch (type.kind) {
      case 'primitive':
        return KIND + 1;
      case 'list':
        return KIND + (type.item ? this.#sizeOfType(type.item, names) : 0);
      case 'module': {
        const all = type.interfaces.map((each) => {
          const meant = names.find(each.text);
          return meant instanceof ModuleRef ? meant.name : each;
        });
        return KIND + sizeOfList(sortedModules(all), sizeOfModuleName);
      }
      default:
        return KIND + (type.schema ? this.#sizeOfSchema(type, names) : 0);
    }
  }

  #sizeOfSchema(type: Type, names: Names): number {
    const schema = schemaOf(type, names);
    if (!schema) return 0;
    const { name, definition, module } = schema;
    const qualified = RECORD + sizeOfText(name.member) + sizeOfModuleName(name.module);
    return RECORD + qualified + this.#sizeOfFields(definition.fields, module.names);
  }

  #sizeOfFields(fields: readonly Parameter[], names: Names): number {
    return sizeOfList(fields, ({ name, type }) => {
      return RECORD + sizeOfText(name) + (type ? this.#sizeOfType(type, names) : KIND);
    });
  }

  /* Terms. */

  #bytes(bytes: number): void {
    this.shape.bytes += bytes;
  }

  #node(): void {
    this.shape.bytes += KIND;
    this.shape.places++;
    this.shape.terms++;
  }

  /** One of the language's own forms. */
  #form(): void {
    this.#node();
    this.#bytes(KIND);
  }

  #native(): void {
    this.#node();
    this.shape.natives++;
  }

  /** A variable of the code or, with such a name, of the translation. */
  #variable(name: string): void {
    this.#node();
    this.#bytes(RECORD + sizeOfText(name) + KIND + VARIABLE);
  }

  #text(text: string): void {
    this.#node();
    this.#bytes(KIND + sizeOfText(text));
  }

  #lambda(parameters: readonly Pick<Parameter, 'name' | 'type'>[], body: () => void): void {
    this.#node();
    if (parameters.length > 0) this.#parameters(parameters);
    body();
  }

  #body(body: readonly Expression[], variables: Variables): void {
    for (let at = 1; at < body.length; at++) this.#node();
    for (const each of body) this.#term(each, variables);
  }

  #list(items: readonly Expression[], variables: Variables): void {
    this.#node();
    this.#bytes(LIST);
    for (const item of items) this.#term(item, variables);
  }

  #term(expression: Expression, variables: Variables): void {
    switch (expression.kind) {
      case 'integer':
      case 'text':
      case 'boolean':
      case 'decimal':
      case 'unit': {
        this.#node();
        // The literal is the value without the mark that it is one.
        const value = literalOf(expression);
        this.#bytes(value === undefined ? KIND : new Sizes5(new Walk()).value(value) - KIND);
        return;
      }
      case 'list':
        this.#list(expression.items, variables);
        return;
      case 'object':
        this.#node();
        this.#bytes(LIST);
        for (const { key, value } of expression.fields) {
          this.#bytes(RECORD + sizeOfText(key));
          this.#term(value, variables);
        }
        return;
      case 'lambda': {
        const inner = new Set([...variables, ...expression.parameters.map(({ name }) => name)]);
        this.#lambda(expression.parameters, () => this.#body(expression.body, inner));
        return;
      }
      case 'let': {
        let inner = variables;
        for (const { variable, value } of expression.variables) {
          this.#node();
          this.#parameter(variable);
          this.#term(value, inner);
          inner = new Set([...inner, variable.name]);
        }
        this.#body(expression.body, inner);
        return;
      }
      case 'cond':
        this.#node();
        this.#native();
        this.#bytes(LIST);
        this.#node();
        for (const { condition, value } of expression.branches) {
          this.#form();
          this.#term(condition, variables);
          this.#term(value, variables);
        }
        this.#term(expression.otherwise, variables);
        return;
      case 'with-capability':
        this.#form();
        this.#term(expression.capability, variables);
        this.#body(expression.body, variables);
        return;
      case 'application':
        this.#application(expression, variables);
        return;
      default:
        this.#name(expression, variables);
    }
  }

  #name(name: Name, variables: Variables): void {
    if (name.kind === 'name' && variables.has(name.name)) {
      this.#variable(name.name);
      return;
    }
    if (name.kind === 'dynamic-name') {
      this.#node();
      this.#bytes(RECORD + sizeOfText(name.reference) + KIND + RECORD + sizeOfText(name.member) + VARIABLE);
      return;
    }
    const text = textOfName(name);
    if (text === 'constantly') {
      this.#lambda(
        CONSTANTLY.map((each) => ({ name: each, type: undefined })),
        () => this.#variable(CONSTANTLY[0]),
      );
      return;
    }
    if (text.startsWith('CHARSET_')) {
      this.#node();
      this.#bytes(KIND + 8);
      return;
    }
    const meant = this.#isNative(text) ? undefined : this.#names.find(text);
    if (meant instanceof Member) {
      this.#node();
      this.#bytes(RECORD + sizeOfText(meant.definition.name) + KIND + sizeOfModuleName(meant.module.name));
      this.#hash(meant.module.name);
      this.shape.used.push(meant);
    } else if (meant instanceof ModuleRef) {
      this.#node();
      this.#bytes(RECORD + sizeOfText(meant.name.name) + KIND + sizeOfModuleName(meant.name));
      this.#bytes(sizeOfList(meant.interfaces ?? [], sizeOfModuleName));
    } else this.#native();
  }

  #application({ callee, arguments: args, binding }: Application, variables: Variables, last?: string): void {
    const name = callee.kind === 'name' && !variables.has(callee.name) ? callee.name : undefined;
    const count = args.length + (last === undefined ? 0 : 1);
    const each = (): void => {
      for (const arg of args) this.#term(arg, variables);
      if (binding) this.#binding(binding, variables);
      if (last !== undefined) this.#variable(last);
    };
    if (name === 'do') {
      for (let at = 1; at < count; at++) this.#node();
      each();
      return;
    }
    if (name !== undefined && (name === 'create-user-guard' || (FORMS.has(name) && isComplete(name, count)))) {
      this.#form();
      each();
      return;
    }
    this.#node();
    if (name !== undefined && FORMS.has(name)) this.#partialForm();
    else this.#term(callee, variables);
    this.#bytes(LIST);
    const [first] = args;
    if (name === 'map' && first?.kind === 'application') {
      this.#lambda([{ name: MAPPED, type: undefined }], () => this.#application(first, variables, MAPPED));
      for (const arg of args.slice(1)) this.#term(arg, variables);
      if (last !== undefined) this.#variable(last);
      return;
    }
    if (name === 'hash-poseidon' || name === 'poseidon-hash-hack-a-chain') {
      this.#node();
      this.#bytes(LIST);
    }
    each();
  }

  /** A lambda that applies one of the language's own forms to two arguments. */
  #partialForm(): void {
    const names = CONSTANTLY.map((name) => ({ name, type: undefined }));
    this.#lambda(names, () => {
      this.#form();
      for (const { name } of names) this.#variable(name);
    });
  }

  #binding({ pairs, body }: Binding, variables: Variables): void {
    this.#lambda([{ name: BOUND_OBJECT, type: undefined }], () => {
      for (const { key, variable } of pairs) {
        this.#node();
        this.#parameter(variable);
        this.#node();
        this.#native();
        this.#bytes(LIST);
        this.#text(key.kind === 'text' ? key.value : '');
        this.#variable(BOUND_OBJECT);
      }
      this.#body(body, new Set([...variables, ...pairs.map(({ variable }) => variable.name)]));
    });
  }
}

function isComplete(name: string, count: number): boolean {
  if (name === 'if') return count === 3;
  return count === (name === 'pure' || name === 'error' ? 1 : 2);
}

function literalOf(expression: Expression) {
  switch (expression.kind) {
    case 'integer':
    case 'text':
    case 'boolean':
      return expression.value;
    case 'decimal':
      return new Decimal(expression.mantissa, expression.places);
    default:
      return undefined;
  }
}
