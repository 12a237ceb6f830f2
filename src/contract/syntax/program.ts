/** Parses whole programs, which consist of top-level forms: modules, interfaces, `use` and expressions. */

import type { Dialect } from '../dialect.ts';
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
import type {
  Bless,
  CapabilitySignature,
  Defconst,
  Defschema,
  Governance,
  Implements,
  Interface,
  InterfaceItem,
  Module,
  ModuleItem,
  TopLevel,
  Use,
} from './tree.ts';

/**
 * Parses all forms of a text. Code that runs one form after the other must not use this function, but call `readForms`,
 * and `topLevelOf` for each form just before the form runs. Otherwise, a fault that `topLevelOf` finds would prevent
 * the earlier forms from running.
 * @throws ContractError of kind `syntax`; of kind `eval` if a module or interface defines a name twice
 */
export function parseProgram(text: string, dialect: Dialect): readonly TopLevel[] {
  return readForms(text, dialect).map((form) => topLevelOf(form, dialect));
}

/** @param form that is in no other form @returns its syntax tree @throws ContractError as `parseProgram` */
export function topLevelOf(form: Form, dialect: Dialect): TopLevel {
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

/**
 * The parsers of a module's or interface's items, by the first word of the item. A parser takes the rest of the item.
 * Its second argument is the name of the module.
 */
type ItemParsers<Item> = Readonly<Record<string, (items: Items, module: string) => Item>>;

const COMMON_ITEMS: ItemParsers<Use | Defconst | Defschema> = {
  use: useOf,
  defconst: defconstOf,
  defschema: defschemaOf,
};

const MODULE_ITEMS: ItemParsers<ModuleItem> = {
  ...COMMON_ITEMS,
  bless: blessOf,
  implements: implementsOf,
  defun: defunOf,
  defcap: defcapOf,
  deftable: deftableOf,
  defpact: defpactOf,
};

const INTERFACE_ITEMS: ItemParsers<InterfaceItem> = {
  ...COMMON_ITEMS,
  defun: (items) => ({ kind: 'defun-signature', ...signatureOf(items) }),
  defcap: capabilitySignatureOf,
  defpact: (items) => ({ kind: 'defpact-signature', ...signatureOf(items) }),
};

function moduleOf(items: Items): Module {
  const { position, code } = items.list;
  const { name } = items.takeName();
  const governance = takeGovernance(items);
  const documentation = takeDocumentation(items, { mayHaveModel: true, needsMore: true });
  const content = takeItems(items, name, MODULE_ITEMS, (item, head, word) => {
    const isReservedWord = word !== undefined && isReserved(word, items.dialect);
    return item.refuse(
      head,
      isReservedWord ? 'module level form (use, def..., special form)' : 'reserved word',
      'defun',
    );
  });
  return { kind: 'module', position, code, name, governance, documentation, items: content };
}

function interfaceOf(items: Items): Interface {
  const { position, code } = items.list;
  const { name } = items.takeName();
  const documentation = takeDocumentation(items, { mayHaveModel: true, needsMore: true });
  const content = takeItems(items, name, INTERFACE_ITEMS, (item, head, word) => {
    if (word === undefined || !isReserved(word, items.dialect)) return item.refuse(head, 'reserved word', 'defun');
    return item.fail(head, `Invalid interface declaration: "${word}"`, 'Expected: [defun]');
  });
  return { kind: 'interface', position, code, name, documentation, items: content };
}

/**
 * Takes the items of a module or interface: all that are left, and at least one.
 * @param module the name of the module or interface
 * @param refuse called for an item without a parser, to throw the error
 */
function takeItems<Item extends ModuleItem | InterfaceItem>(
  items: Items,
  module: string,
  parsers: ItemParsers<Item>,
  refuse: (item: Items, head: Form, word: string | undefined) => never,
): readonly Item[] {
  const content: Item[] = [];
  do {
    const item = items.takeList('(');
    const head = item.take('defun');
    const word = wordOf(head);
    if (word === 'module' || word === 'interface') {
      item.fail(item.list, 'Invalid nested module or interface', 'Expected: [defun]');
    }
    const isKnown = word !== undefined && Object.hasOwn(parsers, word);
    content.push(isKnown ? parsers[word](item, module) : refuse(item, head, word));
  } while (items.left > 0);
  refuseDuplicates(items, module, content);
  return content;
}

function takeGovernance(items: Items): Governance {
  return items.peek()?.kind === 'text'
    ? { kind: 'keyset', name: items.takeText() }
    : { kind: 'capability', name: items.takeName().name };
}

function blessOf(items: Items): Bless {
  const { position, code } = items.list;
  const hash = takeHash(items);
  items.end();
  return { kind: 'bless', position, code, hash };
}

function implementsOf(items: Items): Implements {
  const { position, code } = items.list;
  const module = takeModuleName(items);
  items.end();
  return { kind: 'implements', position, code, module };
}

function signatureOf(items: Items) {
  const { position, code } = items.list;
  const signature = takeSignature(items, false);
  items.end();
  return { position, code, ...signature };
}

function capabilitySignatureOf(items: Items): CapabilitySignature {
  const { position, code } = items.list;
  const signature = takeSignature(items, false);
  const meta = takeCapabilityMeta(items);
  items.end();
  return { kind: 'defcap-signature', position, code, ...signature, meta };
}

/**
 * @throws ContractError if two items define the same name. Its kind is not `syntax` but `eval`, because the reference
 *   implementation finds such a fault only when it loads the module
 */
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
  // A text of base64url without padding never has 4n + 1 characters.
  if (/^[\w-]*$/.test(hash) && hash.length % 4 !== 1) return hash;
  return items.fail(form, `bad hash: ${hash}`, `Invalid blessed hash, incorrect format: ${hash}`);
}
