/** Writes names, types and hashes of translated code as CBOR. */

import { decodeBase64url } from '../../protocol/ledger/json.ts';
import type { ModuleName, QualifiedName } from '../names.ts';
import { CborWriter } from './cbor.ts';
import type { Fields5, Parameter5, Schema5, Type5 } from './terms.ts';

const PRIMITIVES = ['integer', 'decimal', 'bool', 'string', 'guard', 'time', 'unit'];
/** Stands for a type that code does not name, where there must be one. */
const ANY = 8;

export class NameWriter extends CborWriter {
  /** The bytes of hashes that were written, by their texts: there are few, and most of them come often. */
  readonly #hashes = new Map<string, Uint8Array>();

  moduleName({ name, namespace }: ModuleName): void {
    this.array(2);
    this.text(name);
    this.optional(namespace, (each) => this.text(each));
  }

  qualifiedName({ module, member }: QualifiedName): void {
    this.array(2);
    this.text(member);
    this.moduleName(module);
  }

  /** @param name with its namespace, if it has one: `ns.k` */
  keysetName(name: string): void {
    const point = name.indexOf('.');
    this.array(2);
    this.text(name.slice(point + 1));
    this.optional(point < 0 ? undefined : name.slice(0, point), (each) => this.text(each));
  }

  /** @param hash in base64url */
  hash(hash: string): void {
    const bytes = this.#hashes.get(hash) ?? decodeBase64url(hash);
    this.#hashes.set(hash, bytes);
    this.binary(bytes);
  }

  parameter({ name, type }: Parameter5): void {
    this.array(3);
    this.text(name);
    this.optional(type, (each) => this.type(each));
    this.null();
  }

  fields(fields: Fields5): void {
    this.map(fields, (type) => {
      if (type) this.type(type);
      else this.#kind(ANY);
    });
  }

  schema({ name, fields }: Schema5): void {
    this.array(2);
    this.qualifiedName(name);
    this.fields(fields);
  }

  type(type: Type5): void {
    switch (type.kind) {
      case 'primitive':
        this.#kind(0, () => this.integer(PRIMITIVES.indexOf(type.name)));
        return;
      case 'list': {
        const { item } = type;
        if (item) this.#kind(1, () => this.type(item));
        else this.#kind(2);
        return;
      }
      case 'module':
        this.#kind(3, () => this.sized(type.interfaces, (each) => this.moduleName(each)));
        return;
      case 'object':
      case 'table': {
        const { schema } = type;
        if (schema) this.#kind(type.kind === 'object' ? 4 : 6, () => this.schema(schema));
        else this.#kind(5);
      }
    }
  }

  #kind(number: number, write?: () => void): void {
    this.array(write ? 2 : 1);
    this.integer(number);
    write?.();
  }
}
