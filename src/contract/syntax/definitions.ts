/** Parses the definitions in a module: functions, capabilities, defpacts, constants, schemas and tables. */

import { nameOf, takeBody, takeExpression, takeParameter, takeParameters, takeTypeIfAny } from './expressions.ts';
import type { Form, ListForm } from './forms.ts';
import { type Items, wordOf } from './items.ts';
import type {
  CapabilityMeta,
  Defcap,
  Defconst,
  Defpact,
  Defschema,
  Deftable,
  Defun,
  Expression,
  Name,
  Parameter,
  Step,
} from './tree.ts';

interface SignatureParts {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly returnType: Defun['returnType'];
  readonly documentation: string | undefined;
}

/** Takes a name, a return type, parameters and documentation. @param hasBody whether a body must follow */
export function takeSignature(items: Items, hasBody: boolean): SignatureParts {
  const { name, type: returnType } = takeParameter(items);
  const parameters = takeParameters(items);
  const documentation = takeDocumentation(items, { mayHaveModel: true, needsMore: hasBody });
  return { name, parameters, returnType, documentation };
}

interface DocumentationPlace {
  /** Whether `@model` is allowed. */
  readonly mayHaveModel: boolean;
  /**
   * Whether an item must follow the documentation. If so, dialect 5 does not read the last item as documentation, even
   * if it is a text.
   */
  readonly needsMore: boolean;
}

/**
 * Takes the documentation, if there is one: a text, or `@doc` with a text and `@model` with a list, in either order.
 * @returns the text, without the model; undefined if there is no text
 * @throws ContractError for a second `@doc` or `@model`, for a `@doc` without a text, for a `@model` without a list,
 *   and for a `@model` that is not allowed
 */
export function takeDocumentation(items: Items, { mayHaveModel, needsMore }: DocumentationPlace): string | undefined {
  const next = items.peek();
  if (next?.kind === 'text') {
    const isBody = items.dialect === 5 && (next.isSymbol || (needsMore && items.left === 1));
    return isBody ? undefined : items.takeText();
  }
  let documentation: string | undefined;
  let hasModel = false;
  for (;;) {
    const at = items.peek() ?? items.list;
    if (items.takeWord('@doc')) {
      if (documentation !== undefined) refuseSecond(items, at, mayHaveModel);
      documentation = items.takeText();
    } else if (items.takeWord('@model')) {
      if (!mayHaveModel) {
        items.fail(at, 'Unexpected: @model not allowed in this declaration', 'Expected: [@doc]');
      }
      if (hasModel) refuseSecond(items, at, mayHaveModel);
      items.takeList('[');
      hasModel = true;
    } else {
      return documentation;
    }
  }
}

function refuseSecond(items: Items, at: Form | ListForm, mayHaveModel: boolean): never {
  return items.refuse(at, mayHaveModel ? '@doc and/or @model declarations' : '@doc declaration', 'expression');
}

export function defunOf(items: Items): Defun {
  const { position, code } = items.list;
  return { kind: 'defun', position, code, ...takeSignature(items, true), body: takeBody(items) };
}

export function defcapOf(items: Items): Defcap {
  const { position, code } = items.list;
  const signature = takeSignature(items, true);
  const meta = takeCapabilityMeta(items);
  return { kind: 'defcap', position, code, ...signature, meta, body: takeBody(items) };
}

/** Takes `@event` or `@managed`, if one of them is next. `@managed` can have a parameter and a manager function. */
export function takeCapabilityMeta(items: Items): CapabilityMeta | undefined {
  if (items.takeWord('@event')) return { kind: 'event' };
  if (!items.takeWord('@managed')) return undefined;
  const [first, second] = items.peekTwo();
  const hasManager = items.dialect === 4 ? wordOf(second) !== undefined : second?.kind === 'name';
  // Only two names are a parameter and a manager function. A single name is the beginning of the body.
  if (wordOf(first) === undefined || !hasManager) return { kind: 'managed', manager: undefined };
  const parameter = items.takeName().name;
  return { kind: 'managed', manager: { parameter, function: nameOf(items.take('IDENT'), items.dialect) } };
}

export function defconstOf(items: Items): Defconst {
  const { position, code } = items.list;
  const { name, type } = takeParameter(items);
  const value = takeExpression(items);
  const documentation = takeDocumentation(items, { mayHaveModel: false, needsMore: false });
  items.end();
  return { kind: 'defconst', position, code, name, type, value, documentation };
}

export function defschemaOf(items: Items): Defschema {
  const { position, code } = items.list;
  const { name } = items.takeName();
  const documentation = takeDocumentation(items, { mayHaveModel: true, needsMore: false });
  const fields: Parameter[] = [];
  while (items.left > 0) fields.push(takeParameter(items));
  return { kind: 'defschema', position, code, name, documentation, fields };
}

export function deftableOf(items: Items): Deftable {
  const { position, code } = items.list;
  const { name } = items.takeName();
  const schema = takeTableSchema(items);
  const documentation = takeDocumentation(items, { mayHaveModel: false, needsMore: false });
  items.end();
  return { kind: 'deftable', position, code, name, schema, documentation };
}

function takeTableSchema(items: Items): Name | undefined {
  const at = items.peek() ?? items.list;
  const type = takeTypeIfAny(items);
  if (type?.kind === 'schema') return type.schema;
  if (type !== undefined || items.dialect === 5) items.refuse(at, 'user type', '{');
  return undefined;
}

export function defpactOf(items: Items, module: string): Defpact {
  const { position, code } = items.list;
  const signature = takeSignature(items, true);
  const steps: Step[] = [];
  do steps.push(stepOf(items.takeList('(')));
  while (items.left > 0);
  const last = steps.at(-1);
  if (last?.rollback !== undefined) {
    const why = "(the last step can never roll back -- once it's executed the pact is complete)";
    const message4 = `rollbacks aren't allowed on the last step ${why}`;
    items.fail(last, message4, `rollbacks aren't allowed on the last step in: ${module}.${signature.name}`);
  }
  return { kind: 'defpact', position, code, ...signature, steps };
}

function stepOf(items: Items): Step {
  const { position, code } = items.list;
  const head = items.take('step');
  const word = wordOf(head);
  if (word !== 'step' && word !== 'step-with-rollback') return items.refuse(head, 'step or step-with-rollback', 'step');
  // `@model` is before the expressions in dialect 4, and after them in dialect 5. Here, both places are accepted.
  skipModel(items);
  const first = takeExpression(items);
  const others: Expression[] = [];
  while (items.left > 0 && wordOf(items.peek()) !== '@model') others.push(takeExpression(items));
  skipModel(items);
  items.end();
  const rollback = word === 'step' ? undefined : (others.pop() ?? takeExpression(items));
  const [second, extra] = others;
  if (extra !== undefined) items.refuse(extra, 'end of expression', ')');
  return second === undefined
    ? { position, code, entity: undefined, value: first, rollback }
    : { position, code, entity: first, value: second, rollback };
}

function skipModel(items: Items): void {
  if (items.takeWord('@model')) items.takeList('[');
}
