/** Makes syntax trees of whole programs: modules, interfaces, and everything else outside of brackets. */

import { DEFAULT_DIALECT, type Dialect } from '../dialect.ts';
import { ContractError } from '../errors.ts';
import {
  defcapOf,
  defconstOf,
  defpactOf,
  defschemaOf,
  deftableOf,
  defunOf,
  takeCapabilityMeta,
  takeDocumentation,
  takeSignature,
} from './definitions.ts';
import { expressionOf, takeModuleName } from './expressions.ts';
import { readForms } from './form-parser.ts';
import type { Form } from './forms.ts';
import { Items, isReserved, wordOf } from './items.ts';
import type { Governance, Interface, InterfaceItem, Module, ModuleItem, TopLevel, Use } from './tree.ts';

/**
 * Reads a whole text. To run the forms before a faulty one, as dialect 4 does, call `readForms` and `topLevelOf`.
 * @throws ContractError of kind `syntax`; of kind `eval` if a module has two definitions of one name
 */
export function parseProgram(text: string, dialect: Dialect = DEFAULT_DIALECT): readonly TopLevel[] {
  return readForms(text, dialect).map((form) => topLevelOf(form, dialect));
}

/** @param form outside of all brackets @throws as `parseProgram` */
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

/** The failure has the kind `eval`, because the reference implementations find duplicates when they load the module. */
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
  // The length of base64url without padding is never 4n + 1.
  if (/^[\w-]*$/.test(hash) && hash.length % 4 !== 1) return hash;
  return items.fail(form, `bad hash: ${hash}`, `Invalid blessed hash, incorrect format: ${hash}`);
}
