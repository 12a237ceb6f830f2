/**
 * Visits the free names of an expression. A name is free if it is not the name of a parameter or a variable of the
 * expression.
 */

import type { Dialect } from '../dialect.ts';
import { ContractError, type Position } from '../errors.ts';
import { type Definition, textOfName } from '../runtime/module.ts';
import type { Evaluator } from '../runtime/native.ts';
import type { Binding, Expression, Name, Parameter, Type } from '../syntax/tree.ts';

/**
 * Called with each free name.
 * @param name the text that `textOfName` gives; for `reference::member`, only the reference
 */
export type Visit = (name: string, position: Position | undefined) => void;

/** Called with the name of each parameter and of each variable of `let`, but not with the variables of a binding. */
export type Declare = (name: string, position: Position) => void;

/**
 * @throws ContractError in dialect 5 if a native has this name, because no definition, parameter or variable may have
 *   the name of a native
 */
export function refuseShadow(
  { dialect, isNative }: Pick<Evaluator, 'dialect' | 'isNative'>,
  name: string,
  position: Position,
): void {
  if (dialect === 5 && isNative(name)) {
    throw new ContractError('eval', `Variable ${name} shadows native with the same name`, position);
  }
}

/** The names of the parameters and variables in scope. */
type Variables = ReadonlySet<string>;

const NONE: Variables = new Set();

/**
 * Visits the free names of a definition, including those in types. A name that occurs several times is visited several
 * times.
 */
export function visitDefinition(definition: Definition, dialect: Dialect, visit: Visit, declare: Declare): void {
  const walk = new NameWalk(dialect, visit, declare);
  switch (definition.kind) {
    case 'defconst':
      walk.type(definition.type, definition.position);
      walk.expression(definition.value, NONE);
      return;
    case 'defschema':
      walk.types(definition.fields);
      return;
    case 'deftable':
      if (definition.schema) walk.name(definition.schema, NONE);
      return;
  }
  walk.parameters(definition.parameters);
  walk.type(definition.returnType, definition.position);
  const variables: Variables = new Set(definition.parameters.map(({ name }) => name));
  switch (definition.kind) {
    case 'defcap':
      if (definition.meta?.kind === 'managed' && definition.meta.manager) {
        walk.name(definition.meta.manager.function, NONE);
      }
      walk.body(definition.body, variables);
      return;
    case 'defun':
      walk.body(definition.body, variables);
      return;
    case 'defpact':
      for (const { entity, value, rollback } of definition.steps) {
        for (const each of [entity, value, rollback]) if (each) walk.expression(each, variables);
      }
  }
}

/** Visits the free names of an expression that is outside of modules. */
export function visitExpression(expression: Expression, dialect: Dialect, visit: Visit, declare: Declare): void {
  new NameWalk(dialect, visit, declare).expression(expression, NONE);
}

class NameWalk {
  readonly #dialect: Dialect;
  readonly #visit: Visit;
  readonly #declare: Declare;

  constructor(dialect: Dialect, visit: Visit, declare: Declare) {
    this.#dialect = dialect;
    this.#visit = visit;
    this.#declare = declare;
  }

  name(name: Name, variables: Variables): void {
    if (name.kind === 'name' && variables.has(name.name)) return;
    if (name.kind !== 'dynamic-name') this.#visit(textOfName(name), name.position);
    else if (!variables.has(name.reference)) this.#visit(name.reference, name.position);
  }

  parameters(parameters: readonly Parameter[]): void {
    for (const { name, position } of parameters) this.#declare(name, position);
    this.types(parameters);
  }

  types(parameters: readonly Parameter[]): void {
    for (const { type, position } of parameters) this.type(type, position);
  }

  type(type: Type | undefined, position: Position): void {
    switch (type?.kind) {
      case 'list':
        this.type(type.item, position);
        return;
      case 'object':
      case 'table':
      case 'schema':
        if (type.schema) this.name(type.schema, NONE);
        return;
      case 'module':
        for (const { text } of type.interfaces) this.#visit(text, position);
    }
  }

  body(body: readonly Expression[], variables: Variables): void {
    for (const each of body) this.expression(each, variables);
  }

  expression(expression: Expression, variables: Variables): void {
    switch (expression.kind) {
      case 'name':
      case 'dotted-name':
      case 'dynamic-name':
        this.name(expression, variables);
        return;
      case 'list':
        this.body(expression.items, variables);
        return;
      case 'object':
        for (const { value } of expression.fields) this.expression(value, variables);
        return;
      case 'application':
        this.expression(expression.callee, variables);
        this.body(expression.arguments, variables);
        if (expression.binding) this.#binding(expression.binding, variables);
        return;
      case 'let': {
        // In dialect 5, every `let` is evaluated like `let*`.
        const isNested = expression.isSequential || this.#dialect === 5;
        const inner = new Set(variables);
        for (const { variable, value } of expression.variables) {
          this.parameters([variable]);
          this.expression(value, isNested ? inner : variables);
          inner.add(variable.name);
        }
        this.body(expression.body, inner);
        return;
      }
      case 'lambda':
        this.parameters(expression.parameters);
        this.body(expression.body, withAll(variables, expression.parameters));
        return;
      case 'cond':
        for (const { condition, value } of expression.branches) this.body([condition, value], variables);
        this.expression(expression.otherwise, variables);
        return;
      case 'with-capability':
        this.expression(expression.capability, variables);
        this.body(expression.body, variables);
        return;
    }
  }

  #binding({ pairs, body }: Binding, variables: Variables): void {
    for (const { key, variable } of pairs) {
      this.expression(key, variables);
      this.type(variable.type, variable.position);
    }
    this.body(
      body,
      withAll(
        variables,
        pairs.map(({ variable }) => variable),
      ),
    );
  }
}

function withAll(variables: Variables, more: readonly Parameter[]): Variables {
  return new Set([...variables, ...more.map(({ name }) => name)]);
}
