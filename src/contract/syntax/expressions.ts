/** Parses names, types and expressions: makes syntax trees of their forms. */

import type { Dialect } from '../dialect.ts';
import { ContractError } from '../errors.ts';
import { ModuleName, QualifiedName } from '../names.ts';
import type { Form, ListForm } from './forms.ts';
import { checkReserved, Items, isReserved, type Placed, refuse, wordOf } from './items.ts';
import type {
  Application,
  Binding,
  BindingPair,
  Cond,
  Expression,
  Lambda,
  Let,
  LetVariable,
  Name,
  ObjectExpression,
  Parameter,
  PrimitiveType,
  Type,
  WithCapability,
} from './tree.ts';

const PRIMITIVES: ReadonlySet<string> = new Set<PrimitiveType>([
  'integer',
  'decimal',
  'time',
  'bool',
  'string',
  'keyset',
  'guard',
]);

/* Names. */

export function nameOf(form: Form, dialect: Dialect): Name {
  if (form.kind !== 'name' && form.kind !== 'dynamic') return refuse(form, dialect, 'atom', 'IDENT');
  checkReserved(form, dialect);
  const { position, code } = form;
  if (form.kind === 'dynamic') {
    return { kind: 'dynamic-name', position, code, reference: form.reference, member: form.member };
  }
  const [first, second, third, ...others] = form.parts;
  if (first === undefined || others.length > 0) return refuse(form, dialect, 'bareword or qualified atom', 'IDENT');
  if (second === undefined) return { kind: 'name', position, code, name: first };
  const name =
    third === undefined
      ? new QualifiedName(new ModuleName(first), second)
      : new QualifiedName(new ModuleName(second, first), third);
  return { kind: 'dotted-name', position, code, name };
}

export function takeModuleName(items: Items): ModuleName {
  const form = items.take('IDENT');
  if (form.kind !== 'name') return items.refuse(form, 'atom', 'IDENT');
  checkReserved(form, items.dialect);
  const [first, second, ...others] = form.parts;
  if (first === undefined || others.length > 0) {
    return items.refuse(form, 'qualified module name reference', 'IDENT');
  }
  return second === undefined ? new ModuleName(first) : new ModuleName(second, first);
}

/* Types. */

/** Takes a name, with its type if there is one: `name` or `name:type`. */
export function takeParameter(items: Items): Parameter {
  const { name, position } = items.takeName();
  return { name, position, type: takeTypeIfAny(items) };
}

/** Takes a list of parameters. Dialect 4 drops what follows the last parameter, from the first item that is no name. */
export function takeParameters(items: Items): readonly Parameter[] {
  const list = items.takeList('(');
  const parameters: Parameter[] = [];
  while (list.left > 0 && (items.dialect === 5 || list.hasName)) parameters.push(takeParameter(list));
  return parameters;
}

/** Takes a colon and a type, if a colon is next. @returns undefined if there is no colon */
export function takeTypeIfAny(items: Items): Type | undefined {
  return items.takeSeparator(':') ? takeType(items) : undefined;
}

function takeType(items: Items): Type {
  const form = items.take('IDENT');
  if (form.kind === 'list' && form.bracket === '[') {
    const inner = new Items(form, items.dialect);
    const item = takeType(inner);
    inner.endUnlessLenient();
    return { kind: 'list', item };
  }
  if (form.kind === 'list' && form.bracket === '{') {
    const schema = schemaIn(form, items.dialect);
    return schema === undefined ? items.refuse(form, 'type', 'IDENT') : { kind: 'schema', schema };
  }
  const word = wordOf(form);
  if (word === 'module') return takeModuleType(items);
  if (word === 'list') return { kind: 'list', item: undefined };
  if (word === 'object' || word === 'table') {
    const schema = takeSchema(items);
    if (word === 'table' && schema === undefined && items.dialect === 5) return noSuchType(items, form, word);
    return { kind: word, schema };
  }
  if (word !== undefined && (isPrimitive(word) || (word === 'unit' && items.dialect === 5))) {
    // In dialect 5, the type of keysets is another name of the type of guards.
    return { kind: 'primitive', name: word === 'keyset' && items.dialect === 5 ? 'guard' : word };
  }
  return word === undefined ? items.refuse(form, 'type', 'IDENT') : noSuchType(items, form, word);
}

function isPrimitive(word: string): word is PrimitiveType {
  return PRIMITIVES.has(word);
}

function noSuchType(items: Items, at: Placed, type: string): never {
  return items.fail(at, 'Expected: type', `No such type: ${type}`);
}

function takeModuleType(items: Items): Type {
  const list = items.takeList('{');
  const interfaces = [takeModuleName(list)];
  while (list.takeSeparator(',')) interfaces.push(takeModuleName(list));
  list.endUnlessLenient();
  return { kind: 'module', interfaces };
}

/**
 * Takes `{name}` if it is next. Braces with any other content are no part of the type.
 * @returns undefined if `{name}` is not next
 */
function takeSchema(items: Items): Name | undefined {
  const next = items.peek();
  const schema = next && schemaIn(next, items.dialect);
  if (schema !== undefined) items.take('}');
  return schema;
}

function schemaIn(form: Form, dialect: Dialect): Name | undefined {
  if (form.kind !== 'list' || form.bracket !== '{') return undefined;
  const [item, ...others] = form.items;
  if (others.length > 0 && dialect === 5) return undefined;
  return item?.kind === 'name' ? nameOf(item, dialect) : undefined;
}

/* Expressions. */

export function expressionOf(form: Form, dialect: Dialect): Expression {
  switch (form.kind) {
    case 'integer':
    case 'decimal':
    case 'boolean':
      return form;
    case 'text':
      return { kind: 'text', position: form.position, code: form.code, value: form.value };
    case 'name':
    case 'dynamic':
      return nameOf(form, dialect);
    case 'separator':
      return refuse(form, dialect, 'literal', 'expression');
    case 'list':
      if (form.bracket === '(') return inParentheses(form, dialect);
      return form.bracket === '[' ? listOf(form, dialect) : objectOf(form, dialect);
  }
}

export function takeExpression(items: Items): Expression {
  return expressionOf(items.take('expression'), items.dialect);
}

/** Takes all items that are left, and at least one, as expressions. */
export function takeBody(items: Items): readonly Expression[] {
  const body: Expression[] = [];
  do body.push(takeExpression(items));
  while (items.left > 0);
  return body;
}

function inParentheses(list: ListForm, dialect: Dialect): Expression {
  const [head] = list.items;
  if (head === undefined && dialect === 5) return { kind: 'unit', position: list.position, code: list.code };
  const word = wordOf(head);
  const items = new Items(list, dialect, 1);
  switch (word) {
    case 'let':
    case 'let*':
      return letOf(items, word === 'let*');
    case 'lambda':
      return lambdaOf(items);
    case 'cond':
      return condOf(items);
    case 'with-capability':
      return withCapabilityOf(items);
  }
  if (head !== undefined && word !== undefined && isReserved(word, dialect)) {
    return refuse(head, dialect, 'value level form (let, let*, with-capability, cond)', 'expression');
  }
  return applicationOf(new Items(list, dialect));
}

function applicationOf(items: Items): Application {
  const { position, code } = items.list;
  const head = items.take('expression');
  const callee = items.dialect === 4 ? nameOf(head, 4) : expressionOf(head, 5);
  const given: Expression[] = [];
  while (items.left > 0) {
    const next = items.take('expression');
    if (isBinding(next)) {
      return { kind: 'application', position, code, callee, arguments: given, binding: bindingOf(next, items) };
    }
    given.push(expressionOf(next, items.dialect));
  }
  return { kind: 'application', position, code, callee, arguments: given, binding: undefined };
}

/** Whether a form is a binding: braces whose first separator is `:=`. The first separator of an object is `:`. */
function isBinding(form: Form): form is ListForm {
  if (form.kind !== 'list' || form.bracket !== '{') return false;
  const separator = form.items.find((item) => item.kind === 'separator');
  return separator?.kind === 'separator' && separator.separator === ':=';
}

function bindingOf(list: ListForm, rest: Items): Binding {
  const items = new Items(list, rest.dialect);
  const pairs: BindingPair[] = [];
  do {
    const form = items.take('STR');
    if (items.dialect === 5 && form.kind !== 'text') items.refuse(form, 'string', 'STR');
    items.expectSeparator(':=');
    pairs.push({ key: expressionOf(form, items.dialect), variable: takeParameter(items) });
  } while (items.takeSeparator(','));
  items.endUnlessLenient();
  if (rest.left === 0) {
    rest.fail(rest.list, 'Unexpected end of input', 'Bind expression lacks an accompanying body');
  }
  return { position: list.position, code: list.code, pairs, body: takeBody(rest) };
}

function listOf(list: ListForm, dialect: Dialect): Expression {
  const items = new Items(list, dialect);
  const second = list.items[1];
  const hasCommas = second?.kind === 'separator' && second.separator === ',';
  const elements: Expression[] = [];
  const takeElement = () => {
    const element = dialect === 4 ? elementOf4(items) : takeExpression(items);
    if (element !== undefined) elements.push(element);
    return element !== undefined;
  };
  if (hasCommas) {
    if (takeElement()) while (items.takeSeparator(',')) elements.push(takeExpression(items));
    items.endUnlessLenient();
  } else {
    while (items.left > 0 && takeElement());
  }
  return { kind: 'list', position: list.position, code: list.code, items: elements };
}

/**
 * Takes the next element of a list in dialect 4, in which a list ends at a separator, at a reserved word, and at braces
 * that are no object.
 * @returns undefined if the list ends before the next item
 */
function elementOf4(items: Items): Expression | undefined {
  const next = items.take('expression');
  if (next.kind === 'list' && next.bracket !== '{') return expressionOf(next, 4);
  try {
    return expressionOf(next, 4);
  } catch (fault) {
    if (fault instanceof ContractError && fault.kind === 'syntax') return undefined;
    throw fault;
  }
}

function objectOf(list: ListForm, dialect: Dialect): ObjectExpression {
  const items = new Items(list, dialect);
  const fields: { key: string; value: Expression }[] = [];
  if (items.left > 0) {
    do {
      const key = items.takeText();
      items.expectSeparator(':');
      fields.push({ key, value: takeExpression(items) });
    } while (items.takeSeparator(','));
  }
  items.end();
  return { kind: 'object', position: list.position, code: list.code, fields };
}

function letOf(items: Items, isSequential: boolean): Let {
  const { position, code } = items.list;
  const list = items.takeList('(');
  const variables: LetVariable[] = [];
  do {
    const pair = list.takeList('(');
    variables.push({ variable: takeParameter(pair), value: takeExpression(pair) });
    pair.endUnlessLenient();
  } while (items.dialect === 5 ? list.left > 0 : list.hasList('('));
  return { kind: 'let', position, code, isSequential, variables, body: takeBody(items) };
}

function lambdaOf(items: Items): Lambda {
  const { position, code } = items.list;
  return { kind: 'lambda', position, code, parameters: takeParameters(items), body: takeBody(items) };
}

function condOf(items: Items): Cond {
  const { position, code } = items.list;
  if (items.left < 2) {
    const cause5 = 'cond: expected list of conditions with a default case';
    items.fail(items.list, 'Unexpected end of input', `Desugar syntax failure: ${cause5}`);
  }
  const branches: { condition: Expression; value: Expression }[] = [];
  while (items.dialect === 4 ? items.hasList('(') : items.left > 1) {
    const pair = items.takeList('(');
    branches.push({ condition: takeExpression(pair), value: takeExpression(pair) });
    pair.endUnlessLenient();
  }
  return { kind: 'cond', position, code, branches, otherwise: takeExpression(items) };
}

function withCapabilityOf(items: Items): WithCapability {
  const { position, code } = items.list;
  if (items.left < 2) {
    const cause5 = 'with-capability must take at least 2 expressions';
    items.fail(items.list, 'Unexpected end of input', `Desugar syntax failure: ${cause5}`);
  }
  const capability = items.dialect === 4 ? applicationOf(items.takeList('(')) : takeExpression(items);
  return { kind: 'with-capability', position, code, capability, body: takeBody(items) };
}
