/**
 * What the definitions of a module count for with the table model of dialect 5: the size of their translated code, by
 * which loading costs.
 */

import type { ModuleName } from '../names.ts';
import type { Member } from '../runtime/module.ts';
import type { Definition5, Fields5, Meta5, Parameter5, Schema5, Term, Type5 } from '../translation/terms.ts';
import { type Meanings, translationOf } from '../translation/translator.ts';
import { Walk } from '../values/values.ts';
import {
  HASH,
  KIND,
  LIST,
  MACHINE_INTEGER,
  RECORD,
  Sizes5,
  sizeOfList,
  sizeOfModuleName,
  sizeOfName,
  sizeOfText,
} from './sizes5.ts';

/** Size of the number of a variable. */
const VARIABLE = 9;

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

const known = new WeakMap<Member, Shape>();

/** @param isEvaluated whether a constant counts with its value, or with the code that gives it */
export function shapeOf(member: Member, meanings: Meanings, isEvaluated: boolean): Shape {
  const before = isEvaluated ? known.get(member) : undefined;
  if (before) return before;
  const writer = new ShapeWriter(member.module.name);
  writer.definition(translationOf(member, meanings).definition, isEvaluated);
  if (isEvaluated) known.set(member, writer.shape);
  return writer.shape;
}

class ShapeWriter {
  readonly shape = new Shape();
  readonly #module: ModuleName;

  constructor(module: ModuleName) {
    this.#module = module;
  }

  definition(definition: Definition5, isEvaluated: boolean): void {
    this.#bytes(KIND + RECORD);
    this.shape.places++;
    switch (definition.kind) {
      case 'defschema':
        this.#bytes(sizeOfText(definition.name) + sizeOfFields(definition.fields));
        return;
      case 'deftable':
        this.#bytes(sizeOfText(definition.name) + KIND + (definition.schema ? sizeOfSchema(definition.schema) : 0));
        return;
      case 'defconst':
        this.#parameter(definition.head);
        this.#bytes(KIND);
        if (isEvaluated && definition.value !== undefined) {
          this.#bytes(new Sizes5(new Walk()).value(definition.value));
        } else this.#term(definition.code);
        return;
    }
    this.#parameter(definition.head);
    this.#parameters(definition.parameters);
    switch (definition.kind) {
      case 'defun':
        this.#term(definition.body);
        return;
      case 'defcap':
        this.#meta(definition.meta, (manager) => {
          this.#bytes(KIND);
          this.#qualified(manager);
          this.shape.used.push(manager);
        });
        this.#term(definition.body);
        return;
      case 'defcap-signature':
        this.#meta(definition.meta, (name) => this.#bytes(sizeOfText(name)));
        return;
      case 'defpact':
        this.#bytes(LIST);
        for (const { value, rollback } of definition.steps) {
          this.#bytes(KIND);
          this.#term(value);
          if (rollback) this.#term(rollback);
        }
    }
  }

  #meta<Manager>(meta: Meta5<Manager> | undefined, write: (manager: Manager) => void): void {
    this.#bytes(KIND);
    if (meta?.kind !== 'managed') return;
    this.#bytes(KIND);
    if (!meta.manager) return;
    this.#bytes(RECORD + MACHINE_INTEGER + sizeOfText(meta.manager.parameter));
    write(meta.manager.function);
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

  #parameters(parameters: readonly Parameter5[]): void {
    this.#bytes(LIST);
    for (const each of parameters) this.#parameter(each);
  }

  #parameter({ name, type }: Parameter5): void {
    this.#bytes(RECORD + sizeOfText(name) + KIND + (type ? sizeOfType(type) : 0));
    this.shape.places++;
  }

  #bytes(bytes: number): void {
    this.shape.bytes += bytes;
  }

  #terms(terms: readonly Term[]): void {
    for (const each of terms) this.#term(each);
  }

  #term(term: Term): void {
    this.#bytes(KIND);
    this.shape.places++;
    this.shape.terms++;
    switch (term.kind) {
      case 'variable':
        this.#bytes(RECORD + sizeOfText(term.name) + KIND + VARIABLE);
        return;
      case 'dynamic-name':
        this.#bytes(RECORD + sizeOfText(term.reference) + KIND + RECORD + sizeOfText(term.member) + VARIABLE);
        return;
      case 'member': {
        const { module, definition } = term.member;
        this.#bytes(RECORD + sizeOfText(definition.name) + KIND + sizeOfModuleName(module.name));
        this.#hash(module.name);
        this.shape.used.push(term.member);
        return;
      }
      case 'module':
        this.#bytes(RECORD + sizeOfText(term.name.name) + KIND + sizeOfModuleName(term.name));
        this.#bytes(sizeOfList(term.interfaces, sizeOfModuleName));
        return;
      case 'native':
        this.shape.natives++;
        return;
      case 'constant':
        // The literal is the value without the mark that it is one.
        this.#bytes(new Sizes5(new Walk()).value(term.value) - KIND);
        return;
      case 'lambda':
        if (term.parameters.length > 0) this.#parameters(term.parameters);
        this.#term(term.body);
        return;
      case 'let':
        this.#parameter(term.variable);
        this.#terms([term.value, term.body]);
        return;
      case 'application':
        this.#term(term.callee);
        this.#bytes(LIST);
        this.#terms(term.arguments);
        return;
      case 'sequence':
        this.#terms([term.first, term.second]);
        return;
      case 'form':
        this.#bytes(KIND);
        this.#terms(term.terms);
        return;
      case 'list':
        this.#bytes(LIST);
        this.#terms(term.items);
        return;
      case 'object':
        this.#bytes(LIST);
        for (const [key, value] of term.fields) {
          this.#bytes(RECORD + sizeOfText(key));
          this.#term(value);
        }
    }
  }
}

function sizeOfType(type: Type5): number {
  switch (type.kind) {
    case 'primitive':
      return KIND + 1;
    case 'list':
      return KIND + (type.item ? sizeOfType(type.item) : 0);
    case 'module':
      return KIND + sizeOfList(type.interfaces, sizeOfModuleName);
    default:
      return KIND + (type.schema ? sizeOfSchema(type.schema) : 0);
  }
}

function sizeOfSchema({ name, fields }: Schema5): number {
  return RECORD + sizeOfName(name) + sizeOfFields(fields);
}

function sizeOfFields(fields: Fields5): number {
  return sizeOfList(fields, ([name, type]) => RECORD + sizeOfText(name) + (type ? sizeOfType(type) : KIND));
}
