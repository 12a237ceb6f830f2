/** The charges for loading a module or an interface with the table model of dialect 5. */

import type { Environment } from '../runtime/environment.ts';
import { isInterface, type LoadedModule, Member } from '../runtime/module.ts';
import type { State } from '../runtime/state.ts';
import type { Meanings } from '../translation/translator.ts';
import { compareTexts } from '../values/values.ts';
import type { GasMeter } from './meter.ts';
import { HASHED_BYTE } from './natives5.ts';
import { Shape, shapeOf } from './shapes5.ts';
import { HASH, KIND, LIST, RECORD, sizeOfKeysetName, sizeOfList, sizeOfModuleName, sizeOfText } from './sizes5.ts';

/** For each byte of the translated code, before it is checked. */
const TRANSLATED_BYTE = 400;
/** For each term that is searched for names. */
const SEARCHED_TERM = 5;
/** For reading a module, and the number of bytes that cost a thousandth more. */
const READING = 10;
const BYTES_READ = 200;
/** For each pair of a definition that is known already and one that is added. */
const MERGED_PAIR = 10;
/** For each step of a search in a set of names. */
const COMPARED_NAME = 200;

/** Sizes of hashes that are not known yet. */
const NO_MODULE_HASH = 16;
const NO_INTERFACE_HASH = 15;

/** Sizes that differ between the interpreter and nodes, which keep less of the places in the source. */
const IN_INTERPRETER = { place: 21, native: 4 };
const ON_CHAIN = { place: 5, native: 2 };

interface Loading extends Meanings {
  readonly gas: GasMeter;
  readonly environment: Environment;
  readonly state: State;
}

/** Charges for the translation of the code. The constants are not evaluated yet. */
export function chargeForTranslation(loading: Loading, module: LoadedModule): void {
  const { gas, environment } = loading;
  const { native } = environment.isOnChain ? ON_CHAIN : IN_INTERPRETER;
  const hash = isInterface(module) ? NO_INTERFACE_HASH : NO_MODULE_HASH;
  gas.charge5('translation', () => TRANSLATED_BYTE * sizeOf(module, loading, false, { place: 0, native, hash }));
}

/** Charges for hashing and storing a module whose constants are evaluated. */
export function chargeForInstallation(loading: Loading, module: LoadedModule): void {
  const { gas, environment } = loading;
  if (!gas.isTable5) return;
  const parts = environment.isOnChain ? ON_CHAIN : IN_INTERPRETER;
  const hash = isInterface(module) ? NO_INTERFACE_HASH : NO_MODULE_HASH;
  gas.charge5('hash of the module', () => HASHED_BYTE * sizeOf(module, loading, true, { ...parts, place: 0, hash }));
  if (!isInterface(module)) {
    const { members, cost } = neededBy(module, loading);
    const loaded = loadedBy(loading, module).size;
    const count = members.length + membersOf(module).length;
    gas.charge5('needed definitions', () => cost + Math.ceil(count * Math.log(loaded / count + 1)) * COMPARED_NAME);
  }
  chargeForStoring(loading, module);
}

/** Charges for storing a module with the definitions that it needs. */
export function chargeForStoring(loading: Loading, module: LoadedModule): void {
  const { gas, environment } = loading;
  gas.write5('module', () => storedSize(module, loading, environment.isOnChain ? ON_CHAIN : IN_INTERPRETER));
}

/**
 * Charges for reading a module from the database. The charge for its bytes is an estimate, and far below a unit.
 * @param isMerged whether its definitions, and those that it needs, are added to what the code can name
 */
export function chargeForReading(loading: Loading, module: LoadedModule, isMerged: boolean): void {
  const { gas, environment } = loading;
  if (!gas.isTable5) return;
  const parts = environment.isOnChain ? ON_CHAIN : IN_INTERPRETER;
  gas.charge5('module', () => Math.floor(storedSize(module, loading, parts) / BYTES_READ) + READING);
  if (!isMerged) return;
  const added = membersOf(module).length + neededBy(module, loading).members.length;
  gas.charge5('merge', () => MERGED_PAIR * loadedBy(loading).size * added);
}

function storedSize(module: LoadedModule, meanings: Meanings, parts: Omit<Parts, 'hash'>): number {
  const stored = { ...parts, hash: HASH };
  const needed = sizeOfList(neededBy(module, meanings).members, (member) => {
    const name = RECORD + sizeOfModuleName(member.module.name) + sizeOfText(member.definition.name) + HASH;
    return RECORD + name + total(shapeOf(member, meanings, true), stored);
  });
  return KIND + sizeOf(module, meanings, true, stored) + needed;
}

interface Parts {
  readonly place: number;
  readonly native: number;
  readonly hash: number;
}

function total({ bytes, places, natives, hashes }: Shape, { place, native, hash }: Parts): number {
  return bytes + places * place + natives * native + hashes * hash;
}

function sizeOf(module: LoadedModule, meanings: Meanings, isEvaluated: boolean, parts: Parts): number {
  const { name, syntax, interfaces, members } = module;
  const shape = new Shape();
  for (const member of members.values()) shape.add(shapeOf(member, meanings, isEvaluated));
  const transactionHash = HASH;
  let size = RECORD + sizeOfModuleName(name) + LIST + total(shape, parts) + parts.hash + transactionHash + parts.place;
  size += sizeOfList(
    syntax.items.filter((item) => item.kind === 'use'),
    (use) => {
      const names = use.names ? sizeOfList(use.names, sizeOfText) : 0;
      return RECORD + sizeOfModuleName(use.module) + KIND + (use.hash === undefined ? 0 : HASH) + KIND + names;
    },
  );
  if (syntax.kind === 'interface') return size;
  const { governance } = syntax;
  const governor =
    governance.kind === 'keyset'
      ? sizeOfKeysetName(governance.name)
      : KIND + RECORD + sizeOfModuleName(name) + sizeOfText(governance.name) + parts.hash;
  const blessed = new Set(syntax.items.flatMap((item) => (item.kind === 'bless' ? [item.hash] : [])));
  return size + KIND + governor + LIST + HASH * blessed.size + sizeOfList(interfaces, sizeOfModuleName);
}

/** The definitions of other modules that a module needs, and what the search for them costs. */
interface Needed {
  readonly members: readonly Member[];
  readonly cost: number;
}

const known = new WeakMap<LoadedModule, Needed>();

function neededBy(module: LoadedModule, meanings: Meanings): Needed {
  const before = known.get(module);
  if (before) return before;
  const needed = isInterface(module) ? membersOfUsed(module, meanings) : new Search(meanings).from(module);
  known.set(module, needed);
  return needed;
}

/** An interface needs all definitions of the modules whose names it uses. */
function membersOfUsed(module: LoadedModule, meanings: Meanings): Needed {
  const modules = new Set<LoadedModule>();
  for (const member of module.members.values()) {
    for (const used of shapeOf(member, meanings, false).used) modules.add(used.module);
  }
  modules.delete(module);
  return { members: [...modules].flatMap(membersOf).sort(byName), cost: 0 };
}

/** @returns the definitions that code of the transaction could name, with those that they need, by their names */
function loadedBy(loading: Loading, added?: LoadedModule): ReadonlyMap<string, unknown> {
  const { state } = loading;
  const all = new Map<string, unknown>();
  for (const [name, value] of state.imported) if (!(value instanceof Member)) all.set(name, value);
  for (const module of [...state.modules.values(), ...(added ? [added] : [])]) {
    for (const member of membersOf(module)) all.set(member.name.text, member);
    if (module !== added) for (const member of neededBy(module, loading).members) all.set(member.name.text, member);
  }
  return all;
}

class Search {
  #cost = 0;
  readonly #meanings: Meanings;

  constructor(meanings: Meanings) {
    this.#meanings = meanings;
  }

  from(module: LoadedModule): Needed {
    const found = new Map([...module.members.values()].map((member) => [member.name.text, member]));
    const open = new Map(found);
    while (open.size > 0) {
      const [member] = [...open.values()].sort(byName);
      open.delete(member.name.text);
      if (!hasCode(member)) continue;
      const { terms, used } = shapeOf(member, this.#meanings, true);
      this.#cost += SEARCHED_TERM * terms;
      for (const each of used) {
        this.#look(found.size);
        if (found.has(each.name.text)) continue;
        this.#look(found.size);
        this.#look(open.size);
        found.set(each.name.text, each);
        open.set(each.name.text, each);
      }
    }
    const members = [...found.values()].filter((member) => member.module !== module).sort(byName);
    return { members, cost: this.#cost };
  }

  #look(size: number): void {
    if (size > 0) this.#cost += Math.ceil(Math.log(size)) * COMPARED_NAME;
  }
}

function membersOf({ members }: LoadedModule): Member[] {
  return [...members.values()].filter(({ definition }) => !definition.kind.endsWith('-signature'));
}

function hasCode(member: Member): boolean {
  return member.is('defun') || member.is('defcap') || member.is('defpact');
}

function byName(a: Member, b: Member): number {
  const [first, second] = [a.module.name, b.module.name];
  return (
    compareTexts(first.name, second.name) ||
    compareTexts(first.namespace ?? '', second.namespace ?? '') ||
    compareTexts(a.definition.name, b.definition.name)
  );
}
