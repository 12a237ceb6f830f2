/** Counts the gas of a transaction. */

import { DEFAULT_DIALECT, type Dialect } from '../dialect.ts';
import { ContractError } from '../errors.ts';
import type { ModuleName } from '../names.ts';
import { type Numeric, toDecimal } from '../values/arithmetic.ts';
import { absolute, MAX_BITS } from '../values/integers.ts';
import { hashedForPrincipal } from '../values/principals.ts';
import { type ContractObject, type Guard, type KeysetGuard, type Value, Walk } from '../values/values.ts';
import {
  costOfFormat,
  costOfInteger,
  costOfLength,
  costOfNative,
  costOfPrincipal,
  costOfReverse,
  costOfWrite,
  FREE_INTEGERS,
  FREE_INTEGERS_BEFORE_48,
  moduleMemory,
  oldCostOfFormat,
  thousandthsOfConcat,
  thousandthsOfKeccak256,
} from './costs.ts';
import { type Flags, FREE_OF_CHARGE, type GasModel, NO_FLAGS } from './model.ts';
import { bitCount, Sizes } from './sizes.ts';

/** Maximum number of log entries, which take some ten megabytes. On chain, there is no log. */
export const MAX_LOG_ENTRIES = 100_000;

interface LogEntry {
  readonly name: string;
  readonly units: bigint;
}

export interface GasOptions {
  /** Free of charge by default. */
  readonly model?: GasModel;
  /** In units; no limit by default. A limit of 0 refuses every charge. */
  readonly limit?: bigint | undefined;
  readonly flags?: Flags;
  readonly dialect?: Dialect;
}

/**
 * The gas of a transaction. Most methods charge for one operation, and throw a ContractError of the kind `gas` if the
 * gas used exceeds the limit.
 */
export class GasMeter {
  model: GasModel;
  limit: bigint | undefined;
  flags: Flags;
  readonly #dialect: Dialect;
  #thousandths = 0n;
  #log: LogEntry[] | undefined;

  constructor({ model = FREE_OF_CHARGE, limit, flags = NO_FLAGS, dialect = DEFAULT_DIALECT }: GasOptions = {}) {
    this.model = model;
    this.limit = limit;
    this.flags = flags;
    this.#dialect = dialect;
  }

  /* The meter itself. */

  /** The gas used, in units: rounded down in dialect 4, and up in dialect 5. */
  get used(): bigint {
    return (this.#thousandths + (this.#dialect === 4 ? 0n : 999n)) / 1000n;
  }

  /** The native `env-gas` with an argument. The next operation compares the new value with the limit. */
  set(units: bigint): void {
    this.#thousandths = units * 1000n;
  }

  /**
   * @returns a function that resets the gas used to the present amount, because failures are free with the flag
   *   `DisablePact44`
   */
  mark(): () => void {
    const used = this.#thousandths;
    return () => {
      this.#thousandths = used;
    };
  }

  /** The native `env-gaslog`. @returns the log since the last call, oldest entry first; undefined for the first call */
  takeLog(): readonly string[] | undefined {
    const entries = this.#log;
    this.#log = [];
    if (!entries) return undefined;
    const total = entries.reduce((sum, { units }) => sum + units, 0n);
    return [`TOTAL: ${total}`, ...entries.map(({ name, units }) => `${name}: ${units}`)];
  }

  /** Discards the log. The next call of `takeLog` begins a new one. */
  endLog(): void {
    this.#log = undefined;
  }

  /* Calls. */

  /** A call of a native. Functions of the interactive interpreter are free of charge. */
  native(name: string): void {
    this.#charge(name, (model) => costOfNative(name, model.rowsCost));
  }

  /** A call of a function or a lambda, the body of a capability or governance, or a step of a defpact. */
  call(name = 'lambda'): void {
    this.#charge(name, () => 1);
  }

  /* Modules, keysets and namespaces. */

  /** The first look-up of a module in a transaction. */
  lookUpModule(): void {
    this.#charge('lookup module', () => 1);
  }

  useModule(): void {
    this.#charge('use', () => 1);
  }

  readKeyset(): void {
    this.#charge('enforce keyset name', () => 1);
  }

  readNamespace(): void {
    this.#charge('namespace', () => 1);
  }

  defineKeyset(name: string, keyset: KeysetGuard): void {
    this.#charge('define-keyset', () => costOfWrite(this.#sizes.text(name)) + costOfWrite(this.#sizes.keyset(keyset)));
  }

  defineNamespace(name: string, userGuard: Guard, adminGuard: Guard): void {
    this.#charge('define-namespace', () => costOfWrite(this.#sizes.namespace(name, userGuard, adminGuard)));
  }

  /**
   * The loading of a module or an interface, without the evaluation of its constants. The memory is an estimate.
   * @param name the name in the code, without the current namespace
   * @param members the names of the module's definitions
   */
  loadModule(name: ModuleName, members: readonly string[], code: string, isInterface = false): void {
    const kind = isInterface ? 'interface' : 'module';
    this.#charge(kind, () => 1);
    for (const member of members) this.#charge(member, () => 1);
    if (this.#countsMemory(isInterface)) this.#charge('Module Memory cost', () => moduleMemory(code, isInterface));
    this.#charge(kind, () => costOfWrite(this.#sizes.moduleName(name)) + costOfWrite(this.#sizes.text(code)));
  }

  /* Tables. */

  /** A row that was found. @param columns number of all columns of the row, not only of the requested ones */
  read(columns: number, name = 'read'): void {
    this.#charge(name, () => columns);
  }

  /** Keys of rows, or numbers of transactions that were read. */
  keys(count: number, name = 'keys'): void {
    this.#charge(name, () => 1, count);
  }

  /** @param columns number of requested columns; undefined without a list of columns */
  select(columns: number | undefined): void {
    this.#charge('select', () => Math.max(1, columns ?? 1));
  }

  foldDb(): void {
    this.#charge('fold-db', () => 1);
  }

  /** @param name the native's name: `insert`, `update` or `write` */
  write(key: string, row: ContractObject, name = 'write'): void {
    this.#charge(name, () => costOfWrite(this.#sizes.text(key)) + costOfWrite(this.#sizes.fields(row)));
  }

  /** @param table the table's name in the database: `module_table` */
  createTable(table: string): void {
    this.#charge('create-table', () => costOfWrite(this.#sizes.text(table)));
  }

  /* Defpacts. */

  yieldObject(object: ContractObject): void {
    this.#charge('yield', () => costOfWrite(this.#sizes.fields(object)));
  }

  /** @param columns number of fields of the yielded object */
  resume(columns: number): void {
    this.#charge('resume', () => columns);
  }

  /* Lists and texts. */

  /** A new list, or the characters of a text. @param length number of items */
  makeList(length: number, name = 'make-list'): void {
    this.#charge(name, () => (this.flags.has('DisablePact45') ? costOfLength(length) : Math.max(0, length)));
  }

  /** @param largest the magnitude of the integer that is farthest from 0 */
  enumerate(length: number, largest: bigint): void {
    this.#charge('enumerate', () => {
      if (this.flags.has('DisablePact45')) return costOfLength(length);
      return length + length * costOfInteger(largest, this.#freeIntegers);
    });
  }

  /** A list that is not empty. @param name the native's name: `sort` or `distinct` */
  sort(length: number, name = 'sort'): void {
    this.#charge(name, () => costOfLength(length));
  }

  /** The different fields by which objects are sorted, in addition to `sort`. */
  sortFields(fields: number): void {
    this.#charge('sort', () => fields);
  }

  reverse(length: number): void {
    if (!this.flags.has('DisablePact48')) this.#charge('reverse', () => costOfReverse(length));
  }

  /** The concatenation of two lists, texts or objects. The lengths count items, characters or fields. */
  append(first: number, second: number): void {
    this.#charge('+', () => first + second);
  }

  /**
   * @param characters number of characters of all texts together
   * @throws ContractError of the kind `eval`, with `DisablePact410`
   */
  concat(characters: number, texts: number): void {
    if (this.flags.has('DisablePact48')) {
      this.#charge('concat', () => costOfLength(texts));
      return;
    }
    if (texts === 0 && this.flags.has('DisablePact410')) throw new ContractError('eval', 'divide by zero');
    this.#chargeThousandths('concat', () => thousandthsOfConcat(characters, texts));
  }

  /**
   * The native `format`.
   * @param values all values, also those without a place
   * @param walk counts all visited parts of the values
   */
  format(template: string, values: readonly Value[], walk = new Walk()): void {
    if (!this.flags.has('DisablePact48')) {
      this.#charge('format', () => costOfFormat(template, values, walk));
    } else if (!this.flags.has('DisablePact44')) {
      this.#charge('format', () => oldCostOfFormat(template, values, walk));
    }
  }

  /** The principal of a guard, which is created or compared. @throws ContractError as `hashedForPrincipal` */
  principal(guard: Guard): void {
    this.#charge('createPrincipal', () => costOfPrincipal(Buffer.byteLength(hashedForPrincipal(guard) ?? '')));
  }

  /** @param texts the hashed texts, in base64url */
  keccak256(texts: readonly string[]): void {
    this.#chargeThousandths('hash-keccak256', () =>
      thousandthsOfKeccak256(texts.map((text) => Buffer.byteLength(text))),
    );
  }

  /* Numbers. */

  /** The operands of `+`, `-`, `*` and `/`. */
  arithmetic(x: Numeric, y: Numeric): void {
    if (this.flags.has('DisablePact43')) return;
    if (typeof x === 'bigint' && typeof y === 'bigint') this.#integers(x, y);
    else this.#integers(toDecimal(x).mantissa, toDecimal(y).mantissa);
  }

  /** The native `^`. */
  power(base: Numeric, exponent: Numeric): void {
    if (typeof base !== 'bigint' || typeof exponent !== 'bigint') this.#charge('^', () => 0);
    else if (!this.flags.has('DisablePact43')) this.#products(absolute(base), exponent);
  }

  /** The native `log`. */
  logarithm(base: Numeric, argument: Numeric): void {
    if (typeof base !== 'bigint' || typeof argument !== 'bigint') this.#charge('log', () => 0);
  }

  /** The native `shift`, which multiplies by a power of 2 to shift to the left. */
  shift(integer: bigint, places: bigint): void {
    if (places <= 0n || this.flags.has('DisablePact47') || this.flags.has('DisablePact43')) return;
    // A shift by more bits fails, except for 0.
    const bounded = places < MAX_BITS ? places : BigInt(MAX_BITS - 1);
    this.#products(2n, bounded);
    this.#integers(integer, 1n << bounded);
  }

  /** The multiplications of a power: a square for each bit after the exponent's first, and one product of squares. */
  #products(base: bigint, exponent: bigint): void {
    const hasProduct = (exponent & (exponent - 1n)) !== 0n;
    if (base <= 1n || this.model.kind === 'fixed') {
      // All multiplications cost the same, and there may be tens of thousands.
      this.#charge('arithmetic', () => 0, Math.max(0, bitCount(exponent) - 1) + Number(hasProduct));
      return;
    }
    let square = base;
    let product = 1n;
    for (let left = exponent; left > 1n; left /= 2n) {
      this.#integers(square, square);
      if (left % 2n === 1n) product *= square;
      square *= square;
    }
    if (hasProduct) this.#integers(square, product);
  }

  #integers(x: bigint, y: bigint): void {
    this.#charge('arithmetic', () => costOfInteger(x, this.#freeIntegers) + costOfInteger(y, this.#freeIntegers));
  }

  get #freeIntegers(): bigint {
    return this.flags.has('DisablePact48') ? FREE_INTEGERS_BEFORE_48 : FREE_INTEGERS;
  }

  get #sizes(): Sizes {
    return new Sizes({ hasOldIntegers: this.flags.has('DisablePact45') });
  }

  /**
   * Whether the memory of a module is charged for. Since version 4.3, the flag `DisableInlineMemCheck` applies to
   * interfaces only.
   */
  #countsMemory(isInterface: boolean): boolean {
    if (!this.flags.has('DisableInlineMemCheck')) return true;
    return !isInterface && !this.flags.has('DisablePact43');
  }

  /** @param cost in units of the table model @param times number of operations */
  #charge(name: string, cost: (model: GasModel & { kind: 'table' }) => number, times = 1): void {
    if (times === 0) return;
    const { model } = this;
    const units = model.kind === 'fixed' ? model.rate : BigInt(cost(model));
    this.#use(name, 1000n * units * BigInt(times));
  }

  #chargeThousandths(name: string, cost: () => number): void {
    const { model } = this;
    this.#use(name, model.kind === 'fixed' ? 1000n * model.rate : BigInt(cost()));
  }

  #use(name: string, thousandths: bigint): void {
    this.#thousandths += thousandths;
    if (this.#log) this.#record(this.#log, name, thousandths / 1000n);
    if (this.limit === undefined || this.#thousandths <= 1000n * this.limit) return;
    const limit = this.#dialect === 4 ? `(${this.limit}) ` : `"${this.limit}"`;
    throw new ContractError('gas', `Gas limit ${limit}exceeded: ${this.used}`);
  }

  #record(log: LogEntry[], name: string, units: bigint): void {
    if (log.length === MAX_LOG_ENTRIES) {
      throw new ContractError('eval', `A gas log has more than ${MAX_LOG_ENTRIES} entries`);
    }
    log.push({ name, units });
  }
}
