/** Writes the values of constants as CBOR. */

import { QualifiedName } from '../names.ts';
import { Decimal } from '../values/decimal.ts';
import { Time } from '../values/time.ts';
import {
  compareTexts,
  type Guard,
  isGuard,
  isList,
  isObject,
  ModuleRef,
  type Storable,
  type Unit,
  Walk,
} from '../values/values.ts';
import { NameWriter } from './names.ts';

/** Microseconds from the beginning of the modified Julian day 0 until 1970. */
const MICROS_BEFORE_1970 = 40_587n * 86_400_000_000n;
/** The built-in predicates of keysets, by their numbers. */
const PREDICATES = ['keys-all', 'keys-2', 'keys-any'];

/** Counts the parts of the values, and fails for values that are too large. */
export class ValueWriter extends NameWriter {
  readonly #walk = new Walk();

  value(value: Storable): void {
    this.#walk.visit(1);
    if (isList(value)) {
      this.#kind(1, () => this.#walk.inside(() => this.sized(value, (item) => this.value(item))));
    } else if (isGuard(value)) this.#kind(2, () => this.#guard(value));
    else if (isObject(value)) {
      const fields = [...value].sort(([a], [b]) => compareTexts(a, b));
      this.#kind(3, () => this.#walk.inside(() => this.map(fields, (field) => this.value(field))));
    } else if (value instanceof ModuleRef) {
      this.#kind(4, () => {
        this.array(2);
        this.moduleName(value.name);
        this.sized(value.interfaces ?? [], (each) => this.moduleName(each));
      });
    } else if (value instanceof Time) this.#kind(6, () => this.integer(value.micros + MICROS_BEFORE_1970));
    else this.#kind(0, () => this.literal(value));
  }

  literal(value: string | bigint | boolean | Decimal | Unit): void {
    if (typeof value === 'string') {
      this.#walk.visitText(value.length);
      this.#kind(0, () => this.text(value));
    } else if (typeof value === 'bigint') this.#kind(1, () => this.integer(value));
    else if (value instanceof Decimal) {
      this.#kind(2, () => {
        this.array(2);
        this.integer(value.places);
        this.integer(value.mantissa);
      });
    } else if (typeof value === 'boolean') this.#kind(4, () => this.boolean(value));
    else {
      this.array(1);
      this.integer(3);
    }
  }

  #guard(guard: Guard): void {
    switch (guard.kind) {
      case 'keyset':
        this.#kind(0, () => {
          this.array(2);
          this.sized([...guard.keys].sort(compareTexts), (key) => this.text(key));
          this.#predicate(guard.predicate);
        });
        return;
      case 'keyset-ref':
        this.#kind(1, () => this.keysetName(guard.name));
        return;
      case 'user':
        this.#kind(2, () => {
          this.array(2);
          this.qualifiedName(guard.fun);
          this.list(guard.args, (arg) => this.value(arg));
        });
        return;
      case 'capability':
        this.#kind(3, () => {
          this.array(3);
          this.qualifiedName(guard.name);
          this.list(guard.args, (arg) => this.value(arg));
          this.optional(guard.pactId, (id) => this.text(id));
        });
        return;
      case 'module':
        this.#kind(4, () => {
          this.array(2);
          this.moduleName(guard.module);
          this.text(guard.name);
        });
        return;
      case 'defpact':
        this.#kind(5, () => {
          this.array(2);
          this.text(guard.pactId);
          this.text(guard.name);
        });
    }
  }

  #predicate(predicate: string): void {
    const number = PREDICATES.indexOf(predicate);
    if (number >= 0) {
      this.array(1);
      this.integer(number);
      return;
    }
    this.#kind(PREDICATES.length, () => {
      const name = QualifiedName.parse(predicate);
      if (name) this.#kind(0, () => this.qualifiedName(name));
      else this.#kind(1, () => this.text(predicate));
    });
  }

  #kind(number: number, write: () => void): void {
    this.array(2);
    this.integer(number);
    write();
  }
}
