/** Contract code as a syntax tree: modules, interfaces, their definitions, and expressions outside of them. */

import { DEFAULT_DIALECT, type Dialect } from '../dialect.ts';
import { ContractError } from '../errors.ts';
import {
  expressionOf,
  nameOf,
  takeBody,
  takeExpression,
  takeModuleName,
  takeParameter,
  takeParameters,
  takeTypeIfAny,
} from './expressions.ts';
import { Items, isReserved, wordOf } from './items.ts';
import { type Form, type ListForm, readForms } from './reader.ts';
import type {
  CapabilityMeta,
  Defcap,
  Defconst,
  Defpact,
  Defschema,
  Deftable,
  Defun,
  Expression,
  Governance,
  Interface,
  InterfaceItem,
  Module,
  ModuleItem,
  Name,
  Parameter,
  Step,
  TopLevel,
  Use,
} from './tree.ts';

/**
 * Reads a whole text. To run the forms before a faulty one, as dialect 4 does, call `readForms` and `topLevelOf`.
 * @throws ContractError of kind `syntax`; of kind `eval` if a module has two definitions of one name
 */
export function parseProgram(text: string, dialect: Dialect = DEFAULT_DIALECT): readonly TopLevel[] {
  return readForms(text, dialect).map((form) => topLevelOf(form, dialect));
}

/**
 * @param form one that stands outside of all brackets
 * @throws as `parseProgram`
 */
export function topLevelOf(form: Form, dialect: Dialect = DEFAULT_DIALECT): TopLevel {
  if (form.kind !== 'list' || form.bracket !== '(') return expressionOf(form, dialect);
  const word = wordOf(form.items[0]);
  const items = new Items(form, dialect, 1);
  switch (word) {
    case 'module':
      return moduleOf(items);
    case 'interface':
      return interfaceOf(items);
    case 'use':
      return useOf(items);
    case 'let':
    case 'let*':
      return expressionOf(form, dialect);
  }
  if (dialect === 5 && word === 'defun') return defunOf(items);
  if (dialect === 5 && word === 'defconst') return defconstOf(items);
  if (dialect === 4 && word !== undefined && isReserved(word, dialect)) {
    items.refuse(form, 'top-level form (use, let[*], module, interface)', '');
  }
  return expressionOf(form, dialect);
}

/* Modules and interfaces. */

function moduleOf(items: Items): Module {
  const { position, code } = items.list;
  const { name } = items.takeName();
  const governance = takeGovernance(items);
  const documentation = takeDocumentation(items, { mayHaveModel: true, needsMore: true });
  const content: ModuleItem[] = [];
  do content.push(moduleItemOf(items.takeList('('), name));
  while (items.left > 0);
  refuseDuplicates(items, name, content);
  return { kind: 'module', position, code, name, governance, documentation, items: content };
}

function takeGovernance(items: Items): Governance {
  return items.peek()?.kind === 'text'
    ? { kind: 'keyset', name: items.takeText() }
    : { kind: 'capability', name: items.takeName().name };
}

function moduleItemOf(items: Items, module: string): ModuleItem {
  const { position, code } = items.list;
  const head = items.take('defun');
  const word = wordOf(head);
  switch (word) {
    case 'use':
      return useOf(items);
    case 'bless': {
      const hash = takeHash(items);
      items.end();
      return { kind: 'bless', position, code, hash };
    }
    case 'implements': {
      const implemented = takeModuleName(items);
      items.end();
      return { kind: 'implements', position, code, module: implemented };
    }
    case 'defun':
      return defunOf(items);
    case 'defcap':
      return defcapOf(items);
    case 'defconst':
      return defconstOf(items);
    case 'defschema':
      return defschemaOf(items);
    case 'deftable':
      return deftableOf(items);
    case 'defpact':
      return defpactOf(items, module);
  }
  refuseNested(items, word);
  const isOther = word !== undefined && isReserved(word, items.dialect);
  return items.refuse(head, isOther ? 'module level form (use, def..., special form)' : 'reserved word', 'defun');
}

function interfaceOf(items: Items): Interface {
  const { position, code } = items.list;
  const { name } = items.takeName();
  const documentation = takeDocumentation(items, { mayHaveModel: true, needsMore: true });
  const content: InterfaceItem[] = [];
  do content.push(interfaceItemOf(items.takeList('(')));
  while (items.left > 0);
  refuseDuplicates(items, name, content);
  return { kind: 'interface', position, code, name, documentation, items: content };
}

function interfaceItemOf(items: Items): InterfaceItem {
  const { position, code } = items.list;
  const head = items.take('defun');
  const word = wordOf(head);
  switch (word) {
    case 'use':
      return useOf(items);
    case 'defconst':
      return defconstOf(items);
    case 'defschema':
      return defschemaOf(items);
    case 'defun':
    case 'defpact': {
      const signature = { position, code, ...takeSignature(items, false) };
      items.end();
      return word === 'defun' ? { kind: 'defun-signature', ...signature } : { kind: 'defpact-signature', ...signature };
    }
    case 'defcap': {
      const signature = takeSignature(items, false);
      const meta = takeCapabilityMeta(items);
      items.end();
      return { kind: 'defcap-signature', position, code, ...signature, meta };
    }
  }
  refuseNested(items, word);
  if (word === undefined || !isReserved(word, items.dialect)) return items.refuse(head, 'reserved word', 'defun');
  return items.fail(head, `Invalid interface declaration: "${word}"`, 'Expected: [defun]');
}

function refuseNested(items: Items, word: string | undefined): void {
  if (word !== 'module' && word !== 'interface') return;
  items.fail(items.list, 'Invalid nested module or interface', 'Expected: [defun]');
}

/** The error has the kind `eval`, because the reference implementations find duplicates when they load the module. */
function refuseDuplicates(items: Items, module: string, content: readonly (ModuleItem | InterfaceItem)[]): void {
  const names = new Set<string>();
  for (const item of content) {
    if (!('name' in item)) continue;
    if (names.has(item.name)) {
      const message =
        items.dialect === 4 ? `definition name conflict: ${item.name}` : `Duplicate definition: ${module}.${item.name}`;
      throw new ContractError('eval', message, item.position);
    }
    names.add(item.name);
  }
}

function useOf(items: Items): Use {
  const { position, code } = items.list;
  const module = takeModuleName(items);
  const hash = items.peek()?.kind === 'text' ? takeHash(items) : undefined;
  const names = items.left > 0 ? takeNames(items.takeList('[')) : undefined;
  items.end();
  return { kind: 'use', position, code, module, hash, names };
}

function takeNames(list: Items): readonly string[] {
  const names: string[] = [];
  while (list.left > 0) names.push(list.takeName().name);
  return names;
}

function takeHash(items: Items): string {
  const form = items.peek() ?? items.list;
  const hash = items.takeText();
  // Base64url without padding never has a remainder of one character.
  if (/^[\w-]*$/.test(hash) && hash.length % 4 !== 1) return hash;
  return items.fail(form, `bad hash: ${hash}`, `Invalid blessed hash, incorrect format: ${hash}`);
}

/* Definitions. */

interface SignatureParts {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly returnType: Defun['returnType'];
  readonly documentation: string | undefined;
}

/** @param hasBody whether something must follow the documentation */
function takeSignature(items: Items, hasBody: boolean): SignatureParts {
  const { name, type: returnType } = takeParameter(items);
  const parameters = takeParameters(items);
  const documentation = takeDocumentation(items, { mayHaveModel: true, needsMore: hasBody });
  return { name, parameters, returnType, documentation };
}

interface DocumentationPlace {
  readonly mayHaveModel: boolean;
  /** Whether something must follow, so that dialect 5 takes a text at the end as that. */
  readonly needsMore: boolean;
}

/** Takes a text, or `@doc` with a text and `@model` with a list in either order, and drops the model. */
function takeDocumentation(items: Items, { mayHaveModel, needsMore }: DocumentationPlace): string | undefined {
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

function defunOf(items: Items): Defun {
  const { position, code } = items.list;
  return { kind: 'defun', position, code, ...takeSignature(items, true), body: takeBody(items) };
}

function defcapOf(items: Items): Defcap {
  const { position, code } = items.list;
  const signature = takeSignature(items, true);
  const meta = takeCapabilityMeta(items);
  return { kind: 'defcap', position, code, ...signature, meta, body: takeBody(items) };
}

function takeCapabilityMeta(items: Items): CapabilityMeta | undefined {
  if (items.takeWord('@event')) return { kind: 'event' };
  if (!items.takeWord('@managed')) return undefined;
  const [first, second] = items.peekTwo();
  const hasManager = items.dialect === 4 ? wordOf(second) !== undefined : second?.kind === 'name';
  // One name alone is the beginning of the body.
  if (wordOf(first) === undefined || !hasManager) return { kind: 'managed', manager: undefined };
  const parameter = items.takeName().name;
  return { kind: 'managed', manager: { parameter, function: nameOf(items.take('IDENT'), items.dialect) } };
}

function defconstOf(items: Items): Defconst {
  const { position, code } = items.list;
  const { name, type } = takeParameter(items);
  const value = takeExpression(items);
  const documentation = takeDocumentation(items, { mayHaveModel: false, needsMore: false });
  items.end();
  return { kind: 'defconst', position, code, name, type, value, documentation };
}

function defschemaOf(items: Items): Defschema {
  const { position, code } = items.list;
  const { name } = items.takeName();
  const documentation = takeDocumentation(items, { mayHaveModel: true, needsMore: false });
  const fields: Parameter[] = [];
  while (items.left > 0) fields.push(takeParameter(items));
  return { kind: 'defschema', position, code, name, documentation, fields };
}

function deftableOf(items: Items): Deftable {
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

function defpactOf(items: Items, module: string): Defpact {
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
  // Dialect 4 has the model in front, dialect 5 at the end.
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
