/** S-expressions as names, types and expressions of the syntax tree. */

import { ContractError, type Dialect, type Position } from './errors.ts';
import type { Bracket, DynamicForm, Form, ListForm, NameForm, SeparatorForm } from './reader.ts';
import type {
  Application,
  Binding,
  BindingPair,
  Cond,
  Expression,
  Lambda,
  Let,
  LetVariable,
  ModulePath,
  Name,
  ObjectExpression,
  Parameter,
  PrimitiveType,
  Type,
  WithCapability,
} from './syntax.ts';

/** Words that cannot be names, in both dialects. */
const RESERVED = new Set([
  ...['bless', 'defcap', 'defconst', 'defpact', 'defschema', 'deftable', 'defun', 'false', 'implements', 'interface'],
  ...['lambda', 'let', 'let*', 'module', 'step', 'step-with-rollback', 'true', 'use'],
]);
/** Dialect 5 treats these as names of natives. */
const RESERVED_4 = new Set(['cond', 'with-capability']);
const RESERVED_5 = new Set(['@doc', '@event', '@managed', '@model']);

const PRIMITIVES: ReadonlySet<string> = new Set<PrimitiveType>([
  'integer',
  'decimal',
  'time',
  'bool',
  'string',
  'keyset',
  'guard',
]);

export function isReserved(word: string, dialect: Dialect): boolean {
  return RESERVED.has(word) || (dialect === 4 ? RESERVED_4 : RESERVED_5).has(word);
}

/** @returns the word if the form is a name of one part */
export function wordOf(form: Form | undefined): string | undefined {
  return form?.kind === 'name' && form.parts.length === 1 ? form.parts[0] : undefined;
}

interface Placed {
  readonly position: Position;
}

/** The items of a list, taken from left to right. */
export class Items {
  readonly list: ListForm;
  readonly dialect: Dialect;
  #at: number;

  constructor(list: ListForm, dialect: Dialect, start = 0) {
    this.list = list;
    this.dialect = dialect;
    this.#at = start;
  }

  get left(): number {
    return this.list.items.length - this.#at;
  }

  peek(): Form | undefined {
    return this.list.items[this.#at];
  }

  peekTwo(): readonly [Form | undefined, Form | undefined] {
    return [this.list.items[this.#at], this.list.items[this.#at + 1]];
  }

  /** @throws ContractError at the end of the list. `token` is what dialect 5 expects there */
  take(token: string): Form {
    const form = this.list.items[this.#at];
    if (form === undefined) return this.#failAtEnd(token);
    this.#at++;
    return form;
  }

  /** Takes the next item if it is this separator. */
  takeSeparator(separator: SeparatorForm['separator']): boolean {
    const next = this.peek();
    const isThere = next?.kind === 'separator' && next.separator === separator;
    if (isThere) this.#at++;
    return isThere;
  }

  expectSeparator(separator: SeparatorForm['separator']): void {
    if (this.takeSeparator(separator)) return;
    this.refuse(this.take(separator), separator, separator);
  }

  takeList(bracket: Bracket): Items {
    const form = this.take(bracket);
    if (form.kind === 'list' && form.bracket === bracket) return new Items(form, this.dialect);
    return this.refuse(form, { '(': '(list)', '[': '[list]', '{': '{list}' }[bracket], bracket);
  }

  /** Takes the next item if it is this word. */
  takeWord(word: string): boolean {
    const isThere = wordOf(this.peek()) === word;
    if (isThere) this.#at++;
    return isThere;
  }

  takeText(): string {
    const form = this.take('STR');
    return form.kind === 'text' ? form.value : this.refuse(form, 'string', 'STR');
  }

  /** Takes a name of one part that is no reserved word. */
  takeName(): { readonly name: string; readonly position: Position } {
    const form = this.take('IDENT');
    if (form.kind !== 'name' && form.kind !== 'dynamic') return this.refuse(form, 'atom', 'IDENT');
    const name = wordOf(form);
    if (name === undefined) return this.refuse(form, 'unqualified atom', 'IDENT');
    checkReserved(form, this.dialect);
    return { name, position: form.position };
  }

  /** Takes all items that are left, at least one. */
  takeBody(): readonly Expression[] {
    if (this.left === 0) this.#failAtEnd('expression');
    const body: Expression[] = [];
    while (this.left > 0) body.push(expressionOf(this.take('expression'), this.dialect));
    return body;
  }

  takeExpression(): Expression {
    return expressionOf(this.take('expression'), this.dialect);
  }

  /** @throws ContractError if items are left */
  end(): void {
    const next = this.peek();
    if (next !== undefined) this.refuse(next, 'end of expression', { '(': ')', '[': ']', '{': '}' }[this.list.bracket]);
  }

  refuse(at: Placed, expected4: string, expected5: string): never {
    return refuse(at, this.dialect, expected4, expected5);
  }

  /** @throws ContractError with a message of its own for each dialect */
  fail(at: Placed, message4: string, message5: string): never {
    throw new ContractError('syntax', this.dialect === 4 ? message4 : message5, at.position);
  }

  #failAtEnd(token: string): never {
    return this.fail(this.list, 'Unexpected end of input', `Expected: [${token}]`);
  }
}

function refuse(at: Placed, dialect: Dialect, expected4: string, expected5: string): never {
  throw new ContractError('syntax', dialect === 4 ? `Expected: ${expected4}` : `Expected: [${expected5}]`, at.position);
}

function checkReserved(form: NameForm | DynamicForm, dialect: Dialect): void {
  const parts = form.kind === 'name' ? form.parts : [form.reference, form.member];
  if (!parts.some((part) => isReserved(part, dialect))) return;
  const message = dialect === 4 ? 'Unexpected: reserved word' : 'Expected: [IDENT]';
  throw new ContractError('syntax', message, form.position);
}

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
  return third === undefined
    ? { kind: 'qualified-name', position, code, namespace: undefined, module: first, member: second }
    : { kind: 'qualified-name', position, code, namespace: first, module: second, member: third };
}

export function takeModulePath(items: Items): ModulePath {
  const form = items.take('IDENT');
  if (form.kind !== 'name') return items.refuse(form, 'atom', 'IDENT');
  checkReserved(form, items.dialect);
  const [first, second, ...others] = form.parts;
  if (first === undefined || others.length > 0) {
    return items.refuse(form, 'qualified module name reference', 'IDENT');
  }
  return second === undefined ? { namespace: undefined, name: first } : { namespace: first, name: second };
}

/* Types. */

/** Takes `name` or `name:type`. */
export function takeParameter(items: Items): Parameter {
  const { name, position } = items.takeName();
  return { name, position, type: takeTypeIfAny(items) };
}

export function takeParameters(items: Items): readonly Parameter[] {
  const list = items.takeList('(');
  const parameters: Parameter[] = [];
  while (list.left > 0) parameters.push(takeParameter(list));
  return parameters;
}

/** Takes `:type` if that is next. */
export function takeTypeIfAny(items: Items): Type | undefined {
  return items.takeSeparator(':') ? takeType(items) : undefined;
}

function takeType(items: Items): Type {
  const form = items.take('IDENT');
  if (form.kind === 'list' && form.bracket === '[') {
    const inner = new Items(form, items.dialect);
    const item = takeType(inner);
    inner.end();
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
    return { kind: 'primitive', name: word };
  }
  return noSuchType(items, form, form.code.trimEnd());
}

function isPrimitive(word: string): word is PrimitiveType {
  return PRIMITIVES.has(word);
}

function noSuchType(items: Items, at: Placed, type: string): never {
  return items.fail(at, 'Expected: type', `No such type: ${type}`);
}

function takeModuleType(items: Items): Type {
  const list = items.takeList('{');
  const interfaces = [takeModulePath(list)];
  while (list.takeSeparator(',')) interfaces.push(takeModulePath(list));
  list.end();
  return { kind: 'module', interfaces };
}

/** Takes `{name}` if that is next. Other braces belong to what follows the type. */
function takeSchema(items: Items): Name | undefined {
  const next = items.peek();
  const schema = next && schemaIn(next, items.dialect);
  if (schema !== undefined) items.take('}');
  return schema;
}

function schemaIn(form: Form, dialect: Dialect): Name | undefined {
  if (form.kind !== 'list' || form.bracket !== '{' || form.items.length !== 1) return undefined;
  const [item] = form.items;
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

/** Whether a form in braces is a binding, and no object: its first separator decides. */
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
  items.end();
  if (rest.left === 0) {
    rest.fail(rest.list, 'Unexpected end of input', 'Bind expression lacks an accompanying body');
  }
  return { position: list.position, code: list.code, pairs, body: rest.takeBody() };
}

function listOf(list: ListForm, dialect: Dialect): Expression {
  const items = new Items(list, dialect);
  const second = list.items[1];
  const hasCommas = second?.kind === 'separator' && second.separator === ',';
  const elements: Expression[] = [];
  if (hasCommas) {
    do elements.push(items.takeExpression());
    while (items.takeSeparator(','));
    items.end();
  } else {
    while (items.left > 0) elements.push(items.takeExpression());
  }
  return { kind: 'list', position: list.position, code: list.code, items: elements };
}

function objectOf(list: ListForm, dialect: Dialect): ObjectExpression {
  const items = new Items(list, dialect);
  const fields: { key: string; value: Expression }[] = [];
  if (items.left > 0) {
    do {
      const key = items.takeText();
      items.expectSeparator(':');
      fields.push({ key, value: items.takeExpression() });
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
    variables.push({ variable: takeParameter(pair), value: pair.takeExpression() });
    pair.end();
  } while (list.left > 0);
  return { kind: 'let', position, code, isSequential, variables, body: items.takeBody() };
}

function lambdaOf(items: Items): Lambda {
  const { position, code } = items.list;
  return { kind: 'lambda', position, code, parameters: takeParameters(items), body: items.takeBody() };
}

function condOf(items: Items): Cond {
  const { position, code } = items.list;
  if (items.left < 2) {
    const cause5 = 'cond: expected list of conditions with a default case';
    items.fail(items.list, 'Unexpected end of input', `Desugar syntax failure: ${cause5}`);
  }
  const branches: { condition: Expression; value: Expression }[] = [];
  while (items.left > 1) {
    const pair = items.takeList('(');
    branches.push({ condition: pair.takeExpression(), value: pair.takeExpression() });
    pair.end();
  }
  return { kind: 'cond', position, code, branches, otherwise: items.takeExpression() };
}

function withCapabilityOf(items: Items): WithCapability {
  const { position, code } = items.list;
  if (items.left < 2) {
    const cause5 = 'with-capability must take at least 2 expressions';
    items.fail(items.list, 'Unexpected end of input', `Desugar syntax failure: ${cause5}`);
  }
  const capability = items.dialect === 4 ? applicationOf(items.takeList('(')) : items.takeExpression();
  return { kind: 'with-capability', position, code, capability, body: items.takeBody() };
}
