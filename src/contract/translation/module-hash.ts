/** The hash of a module or an interface in dialect 5: that of its translated code in CBOR, without places. */

import { encodeBase64url } from '../../protocol/ledger/json.ts';
import { isInterface, type LoadedModule, type Member } from '../runtime/module.ts';
import type { Use } from '../syntax/tree.ts';
import { hashBytes } from '../values/hash.ts';
import { compareTexts, isStorable } from '../values/values.ts';
import { numberOfNative } from './natives.ts';
import { orderOfDefinitions } from './order.ts';
import type { Definition5, FormName, Meta5, Parameter5, Term } from './terms.ts';
import { type Meanings, translationOf } from './translator.ts';
import { ValueWriter } from './values.ts';

/** What stands for the hash of the module itself, which is not known yet. */
const UNKNOWN = { module: '#placeholder', interface: 'placeholder' };

const DEFINITIONS: readonly Definition5['kind'][] = ['defun', 'defconst', 'defcap', 'defschema', 'deftable', 'defpact'];
const SIGNATURES: readonly Definition5['kind'][] = [
  'defun-signature',
  'defconst',
  'defcap-signature',
  'defschema',
  'defpact-signature',
];
const FORMS: readonly FormName[] = [
  'and',
  'or',
  'if',
  'enforce-one',
  'enforce',
  'with-capability',
  'try',
  'create-user-guard',
  'error',
  'pure',
];

/** @returns the hash that code sees while the module is loaded, in base64url */
export function unknownHash(kind: keyof typeof UNKNOWN): string {
  return encodeBase64url(new TextEncoder().encode(UNKNOWN[kind]));
}

/** @param module has the constants' values, and `unknownHash` as its hash @returns its hash in base64url */
export function moduleHash5(module: LoadedModule, meanings: Meanings): string {
  const writer = new ModuleWriter(meanings);
  writer.module(module);
  return hashBytes(writer.bytes());
}

class ModuleWriter extends ValueWriter {
  readonly #meanings: Meanings;

  constructor(meanings: Meanings) {
    super();
    this.#meanings = meanings;
  }

  module(module: LoadedModule): void {
    const { name, syntax, interfaces } = module;
    const imports = syntax.items.filter((item) => item.kind === 'use');
    const isOfInterface = isInterface(module);
    this.array(isOfInterface ? 6 : 9);
    this.moduleName(name);
    if (syntax.kind === 'module') {
      const { governance } = syntax;
      this.#kind(governance.kind === 'keyset' ? 0 : 1, () => {
        if (governance.kind === 'keyset') this.keysetName(governance.name);
        else this.#fullName(module, governance.name);
      });
    }
    this.list(this.#sorted(module), (each) => this.#definition(each, isOfInterface ? SIGNATURES : DEFINITIONS));
    if (syntax.kind === 'module') {
      const blessed = new Set(syntax.items.flatMap((item) => (item.kind === 'bless' ? [item.hash] : [])));
      this.sized(sortedHashes(blessed), (each) => this.hash(each));
    }
    this.list(imports, (each) => this.#import(each));
    if (syntax.kind === 'module') this.list(interfaces, (each) => this.moduleName(each));
    // The hashes of the module and of its transaction.
    this.binary(new Uint8Array());
    this.binary(new Uint8Array());
    this.null();
  }

  #sorted({ members }: LoadedModule): readonly Definition5[] {
    const all = new Map([...members].map(([name, member]) => [name, translationOf(member, this.#meanings)] as const));
    const order = orderOfDefinitions(new Map([...all].map(([name, { uses }]) => [name, uses] as const)));
    return order.flatMap((name) => all.get(name)?.definition ?? []);
  }

  #import({ module, hash, names }: Use): void {
    this.array(3);
    this.moduleName(module);
    this.optional(hash, (each) => this.hash(each));
    this.optional(names, (all) => this.list(all, (each) => this.text(each)));
  }

  #fullName({ name, hash }: LoadedModule, member: string): void {
    this.array(3);
    this.moduleName(name);
    this.text(member);
    this.hash(hash);
  }

  /* Definitions. */

  #definition(definition: Definition5, kinds: readonly Definition5['kind'][]): void {
    this.#kind(kinds.indexOf(definition.kind), () => {
      switch (definition.kind) {
        case 'defun':
          this.#signature(4, definition);
          this.#term(definition.body);
          break;
        case 'defconst':
          this.#constant(definition);
          break;
        case 'defcap':
          this.#signature(5, definition);
          this.#term(definition.body);
          this.#meta(definition.meta, ({ module, definition: { name } }) => this.#fullName(module, name));
          break;
        case 'defschema':
          this.array(3);
          this.text(definition.name);
          this.fields(definition.fields);
          break;
        case 'deftable':
          this.array(3);
          this.text(definition.name);
          if (definition.schema) this.schema(definition.schema);
          break;
        case 'defpact':
          this.#signature(4, definition);
          this.list(definition.steps, ({ value, rollback }) => {
            this.array(rollback ? 3 : 2);
            this.integer(rollback ? 1 : 0);
            this.#term(value);
            if (rollback) this.#term(rollback);
          });
          break;
        case 'defcap-signature':
          this.#signature(4, definition);
          this.#meta(definition.meta, (name) => this.text(name));
          break;
        default:
          this.#signature(3, definition);
      }
      this.null();
    });
  }

  #signature(length: number, { head, parameters }: { head: Parameter5; parameters: readonly Parameter5[] }): void {
    this.array(length);
    this.parameter(head);
    this.list(parameters, (each) => this.parameter(each));
  }

  #constant({ head, code, value }: Definition5 & { readonly kind: 'defconst' }): void {
    this.array(3);
    this.parameter(head);
    if (value !== undefined && isStorable(value)) this.#kind(1, () => this.value(value));
    else this.#kind(0, () => this.#term(code));
  }

  #meta<Manager>(meta: Meta5<Manager> | undefined, write: (manager: Manager) => void): void {
    if (meta?.kind !== 'managed') {
      this.array(1);
      this.integer(meta ? 0 : 2);
      return;
    }
    this.#kind(1, () => {
      const { manager } = meta;
      this.array(manager ? 3 : 1);
      this.integer(manager ? 0 : 1);
      if (!manager) return;
      this.array(2);
      this.integer(manager.index);
      this.text(manager.parameter);
      write(manager.function);
    });
  }

  /* Terms. */

  #term(term: Term): void {
    switch (term.kind) {
      case 'variable':
        this.#name(term.name, () => this.#kind(0, () => this.integer(term.index)));
        break;
      case 'dynamic-name':
        this.#name(term.reference, () => {
          this.#kind(3, () => {
            this.array(2);
            this.text(term.member);
            this.integer(term.index);
          });
        });
        break;
      case 'member':
        this.#member(term.member);
        break;
      case 'module':
        this.#name(term.name.name, () => {
          this.array(3);
          this.integer(2);
          this.moduleName(term.name);
          this.list(term.interfaces, (each) => this.moduleName(each));
        });
        break;
      case 'lambda':
        this.#lambda(term.parameters, term.body);
        break;
      case 'let':
        this.#begin(5, 2);
        this.parameter(term.variable);
        this.#term(term.value);
        this.#term(term.body);
        break;
      case 'application':
        this.#begin(4, 3);
        this.#term(term.callee);
        this.list(term.arguments, (each) => this.#term(each));
        break;
      case 'sequence':
        this.#begin(4, 4);
        this.#term(term.first);
        this.#term(term.second);
        break;
      case 'form':
        this.#begin(3, 6);
        this.array(1 + term.terms.length);
        this.integer(FORMS.indexOf(term.form));
        for (const each of term.terms) this.#term(each);
        break;
      case 'native':
        this.#begin(3, 7);
        this.integer(numberOfNative(term.name));
        break;
      case 'constant':
        this.#begin(3, 8);
        this.literal(term.value);
        break;
      case 'list':
        this.#begin(3, 9);
        this.list(term.items, (each) => this.#term(each));
        break;
      case 'object':
        this.#begin(3, 10);
        this.list(term.fields, ([key, value]) => {
          this.array(2);
          this.text(key);
          this.#term(value);
        });
    }
    this.null();
  }

  #begin(length: number, number: number): void {
    this.array(length);
    this.integer(number);
  }

  /** Without parameters, it is a term of another kind. */
  #lambda(parameters: readonly Parameter5[], body: Term): void {
    if (parameters.length > 0) {
      this.#begin(4, 1);
      this.list(parameters, (each) => this.parameter(each));
    } else this.#begin(3, 5);
    this.#term(body);
  }

  #name(name: string, writeKind: () => void): void {
    this.#begin(3, 0);
    this.array(2);
    this.text(name);
    writeKind();
  }

  #member({ module, definition }: Member): void {
    this.#name(definition.name, () => {
      this.array(3);
      this.integer(1);
      this.moduleName(module.name);
      this.hash(module.hash);
    });
  }

  #kind(number: number, write: () => void): void {
    this.array(2);
    this.integer(number);
    write();
  }
}

/** @param hashes in base64url */
function sortedHashes(hashes: ReadonlySet<string>): readonly string[] {
  const bytes = (hash: string): string => Buffer.from(hash, 'base64url').toString('hex');
  return [...hashes].sort((a, b) => compareTexts(bytes(a), bytes(b)));
}
