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
import { costOfCall5, costOfNative5, READ_BYTE, WRITTEN_BYTE } from './natives5.ts';
import { bitCount, Sizes } from './sizes.ts';
import { Sizes5 } from './sizes5.ts';

/** Maximum number of entries of the gas log, which take some ten megabytes. There is no gas log on a node. */
export const MAX_LOG_ENTRIES = 100_000;

/** The largest charge of dialect 5. Code can ask for more than numbers can count. */
const MOST = 2n ** 64n - 1n;

function bounded(thousandths: number): bigint {
  return thousandths < Number(MOST) ? BigInt(Math.floor(thousandths)) : MOST;
}

interface LogEntry {
  readonly name: string;
  readonly units: bigint;
}

export interface GasOptions {
  /** `FREE_OF_CHARGE` by default. */
  readonly model?: GasModel;
  /** In units of gas. By default, there is no limit. A limit of 0 refuses every charge above 0. */
  readonly limit?: bigint | undefined;
  /** No flags by default. */
  readonly flags?: Flags;
  /** `DEFAULT_DIALECT` by default. */
  readonly dialect?: Dialect;
}

/**
 * Counts the gas of a transaction. Most methods charge for one operation. They throw a ContractError of the kind `gas`
 * if the gas used then exceeds the limit, and one of the kind `eval` if the log is full.
 */
export class GasMeter {
  model: GasModel;
  /** In units of gas; undefined for no limit. */
  limit: bigint | undefined;
  flags: Flags;
  readonly #dialect: Dialect;
  /** The gas used, in thousandths of a unit. */
  #thousandths = 0n;
  /** Undefined unless `takeLog` has begun a log. */
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

  /** The gas used, in thousandths of a unit. */
  get usedThousandths(): bigint {
    return this.#thousandths;
  }

  set usedThousandths(thousandths: bigint) {
    this.#thousandths = thousandths;
  }

  /**
   * Sets the gas used, for example for the function `env-gas` of the interpreter. The limit is compared with the new
   * value at the next charge.
   */
  set(units: bigint): void {
    this.#thousandths = units * 1000n;
  }

  /**
   * @returns a function that resets the gas used to the amount at the time of this call. With the flag `DisablePact44`,
   *   this function refunds the gas of a failed attempt
   */
  mark(): () => void {
    const used = this.#thousandths;
    return () => {
      this.#thousandths = used;
    };
  }

  /**
   * Takes the entries of the log and begins a new log, for the function `env-gaslog` of the interpreter.
   * @returns the line `TOTAL: n`, followed by a line for each entry, the oldest first; undefined if no log had begun
   */
  takeLog(): readonly string[] | undefined {
    const entries = this.#log;
    this.#log = [];
    if (!entries) return undefined;
    const total = entries.reduce((sum, { units }) => sum + units, 0n);
    return [`TOTAL: ${total}`, ...entries.map(({ name, units }) => `${name}: ${units}`)];
  }

  /** Discards the log and its entries. The next call of `takeLog` begins a new log. */
  endLog(): void {
    this.#log = undefined;
  }

  /* Calls. */

  /** Charges for a call of a native. The caller does not charge for functions of the interactive interpreter. */
  native(name: string): void {
    const cost5 = costOfNative5(name);
    if (cost5 > 0) this.charge5(name, () => cost5);
    this.#charge(name, (model) => costOfNative(name, model.rowsCost));
  }

  /** Charges for a call of a function or a lambda, for running the body of a capability, or for a step of a defpact. */
  call(name = 'lambda'): void {
    this.#charge(name, () => 1);
  }

  /* Dialect 5. Its table model has charges of its own, and leaves out those of all other methods but `cryptography`. */

  /** Whether the charges are those of the table model of dialect 5. */
  get isTable5(): boolean {
    return this.#dialect === 5 && this.model.kind === 'table';
  }

  /** Charges with the table model of dialect 5. @param cost gives thousandths of a unit */
  charge5(name: string, cost: () => number): void {
    if (this.isTable5) this.#use(name, bounded(cost()));
  }

  /** Charges for a native as in `charge5`, both the fixed charge and the other one. */
  native5(name: string, cost: () => number): void {
    this.charge5(name, () => costOfNative5(name) + cost());
  }

  /** Charges with the table model of dialect 5 for what is stored. @param size computes its size in bytes */
  write5(name: string, size: (sizes: Sizes5) => number): void {
    this.charge5(name, () => WRITTEN_BYTE * size(new Sizes5(new Walk())));
  }

  /** Charges with the table model of dialect 5 for what was read from the database. */
  read5(name: string, size: (sizes: Sizes5) => number): void {
    this.charge5(name, () => READ_BYTE * size(new Sizes5(new Walk())));
  }

  /** Charges for a call with the table model of dialect 5. */
  call5(name: string, args: number): void {
    this.charge5(name, () => costOfCall5(args));
  }

  /* Modules, keysets and namespaces. */

  /** Charges for the first look-up of a module in a transaction. */
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
   * Charges for loading a module or an interface, without the evaluation of its constants. The charge for memory is an
   * estimate.
   * @param name the name in the code, without the current namespace
   * @param members the names of all definitions
   * @param code the source
   */
  loadModule(name: ModuleName, members: readonly string[], code: string, isInterface = false): void {
    const kind = isInterface ? 'interface' : 'module';
    this.#charge(kind, () => 1);
    for (const member of members) this.#charge(member, () => 1);
    if (this.#countsMemory(isInterface)) this.#charge('Module Memory cost', () => moduleMemory(code, isInterface));
    this.#charge(kind, () => costOfWrite(this.#sizes.moduleName(name)) + costOfWrite(this.#sizes.text(code)));
  }

  /* Tables. */

  /**
   * Charges for reading a row that exists.
   * @param columns number of all columns of the row, even if only some of them are requested
   * @param name the name of the native, for the log
   */
  read(columns: number, name = 'read'): void {
    this.#charge(name, () => columns);
  }

  /** Charges for each key of a row, or each number of a transaction, that was read. */
  keys(count: number, name = 'keys'): void {
    this.#charge(name, () => 1, count);
  }

  /**
   * Charges for `select`, in addition to the rows.
   * @param columns number of requested columns; undefined if no columns are listed
   */
  select(columns: number | undefined): void {
    this.#charge('select', () => Math.max(1, columns ?? 1));
  }

  foldDb(): void {
    this.#charge('fold-db', () => 1);
  }

  /** Charges for a written row. @param name the name of the native: `insert`, `update` or `write` */
  write(key: string, row: ContractObject, name = 'write'): void {
    this.#charge(name, () => costOfWrite(this.#sizes.text(key)) + costOfWrite(this.#sizes.fields(row)));
  }

  /** @param table the name of the table in the database: `module_table`, or `namespace.module_table` */
  createTable(table: string): void {
    this.#charge('create-table', () => costOfWrite(this.#sizes.text(table)));
  }

  /* Defpacts. */

  yieldObject(object: ContractObject): void {
    this.#charge('yield', () => costOfWrite(this.#sizes.fields(object)));
  }

  /** @param columns number of fields of the resumed object */
  resume(columns: number): void {
    this.#charge('resume', () => columns);
  }

  /* Lists and texts. */

  /** Charges for the list that `make-list` or `str-to-list` makes. @param length number of items */
  makeList(length: number, name = 'make-list'): void {
    this.#charge(name, () => (this.flags.has('DisablePact45') ? costOfLength(length) : Math.max(0, length)));
  }

  /**
   * Charges for the list that `enumerate` makes.
   * @param length number of items
   * @param largest the magnitude of the bound that is farther from 0
   */
  enumerate(length: number, largest: bigint): void {
    this.#charge('enumerate', () => {
      if (this.flags.has('DisablePact45')) return costOfLength(length);
      return length + length * costOfInteger(largest, this.#freeIntegers);
    });
  }

  /**
   * Charges for sorting a list.
   * @param length number of items, at least 1
   * @param name the name of the native: `sort` or `distinct`
   */
  sort(length: number, name = 'sort'): void {
    this.#charge(name, () => costOfLength(length));
  }

  /**
   * Charges for the fields by which `sort` compares objects, in addition to the charge of the method `sort`.
   * @param fields number of different fields
   */
  sortFields(fields: number): void {
    this.#charge('sort', () => fields);
  }

  reverse(length: number): void {
    if (!this.flags.has('DisablePact48')) this.#charge('reverse', () => costOfReverse(length));
  }

  /**
   * Charges for `+` with two lists, texts or objects.
   * @param first number of items, code points or fields of the first operand
   * @param second number of items, code points or fields of the second operand
   */
  append(first: number, second: number): void {
    this.#charge('+', () => first + second);
  }

  /**
   * Charges for `concat`.
   * @param characters number of code points of all texts together
   * @param texts number of texts
   * @throws ContractError of the kind `eval` for an empty list in the versions 4.8 and 4.9
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
   * Charges for `format`, since version 4.4.
   * @param values all values, including those that the template has no `{}` for
   * @param walk counts the visited parts or, before version 4.8, the printed characters of the values
   */
  format(template: string, values: readonly Value[], walk = new Walk()): void {
    if (!this.flags.has('DisablePact48')) {
      this.#charge('format', () => costOfFormat(template, values, walk));
    } else if (!this.flags.has('DisablePact44')) {
      this.#charge('format', () => oldCostOfFormat(template, values, walk));
    }
  }

  /**
   * Charges for making the principal of a guard, also if it is only compared.
   * @throws ContractError as `hashedForPrincipal`
   */
  principal(guard: Guard): void {
    this.#charge('createPrincipal', () => costOfPrincipal(Buffer.byteLength(hashedForPrincipal(guard) ?? '')));
  }

  /** @param texts the texts that encode the hashed bytes in base64url */
  keccak256(texts: readonly string[]): void {
    this.#chargeThousandths('hash-keccak256', () =>
      thousandthsOfKeccak256(texts.map((text) => Buffer.byteLength(text))),
    );
  }

  /** Charges for a native of cryptography. @param thousandths of a unit, as costs.ts computes them */
  cryptography(native: string, thousandths: number): void {
    if (this.isTable5) this.charge5(native, () => thousandths);
    else this.#chargeThousandths(native, () => thousandths);
  }

  /* Numbers. */

  /** Charges for the operands of `+`, `-`, `*` or `/`, since version 4.3. */
  arithmetic(x: Numeric, y: Numeric): void {
    if (this.flags.has('DisablePact43')) return;
    if (typeof x === 'bigint' && typeof y === 'bigint') this.#integers(x, y);
    else this.#integers(toDecimal(x).mantissa, toDecimal(y).mantissa);
  }

  /**
   * Charges for `^`. If both operands are integers, the power costs as much as its multiplications, and nothing before
   * version 4.3. Any other power costs 0 units with the table model, and the rate of a fixed model.
   */
  power(base: Numeric, exponent: Numeric): void {
    if (typeof base !== 'bigint' || typeof exponent !== 'bigint') this.#charge('^', () => 0);
    else if (!this.flags.has('DisablePact43')) this.#products(absolute(base), exponent);
  }

  /**
   * Charges for `log`. If both operands are integers, the logarithm is free of charge. Any other logarithm costs 0
   * units with the table model, and the rate of a fixed model.
   */
  logarithm(base: Numeric, argument: Numeric): void {
    if (typeof base !== 'bigint' || typeof argument !== 'bigint') this.#charge('log', () => 0);
  }

  /**
   * Charges for `shift`, since version 4.7. A shift to the left costs as much as computing a power of 2 and multiplying
   * by this power. A shift to the right is free.
   */
  shift(integer: bigint, places: bigint): void {
    if (places <= 0n || this.flags.has('DisablePact47') || this.flags.has('DisablePact43')) return;
    // Only 0 can be shifted by `MAX_BITS` or more bits. For any other integer, `shift` has failed already.
    const bounded = places < MAX_BITS ? places : BigInt(MAX_BITS - 1);
    this.#products(2n, bounded);
    this.#integers(integer, 1n << bounded);
  }

  /**
   * Charges for the multiplications of a power: one square for each bit of the exponent after the first bit. Unless the
   * exponent is a power of 2, one product of squares is added.
   */
  #products(base: bigint, exponent: bigint): void {
    const hasProduct = (exponent & (exponent - 1n)) !== 0n;
    if (base <= 1n || this.model.kind === 'fixed') {
      // Here, all multiplications cost the same. They are charged for together, because there may be tens of thousands.
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
   * Whether the memory of a module or an interface is charged for. The flag `DisableInlineMemCheck` stops this charge:
   * before version 4.3 for both, and since then only for interfaces.
   */
  #countsMemory(isInterface: boolean): boolean {
    if (!this.flags.has('DisableInlineMemCheck')) return true;
    return !isInterface && !this.flags.has('DisablePact43');
  }

  /**
   * @param name the name of the operation in the log
   * @param cost gives the cost of one operation with the table model, in units
   * @param times number of operations
   */
  #charge(name: string, cost: (model: GasModel & { kind: 'table' }) => number, times = 1): void {
    if (times === 0 || this.isTable5) return;
    const { model } = this;
    const units = model.kind === 'fixed' ? model.rate : BigInt(cost(model));
    this.#use(name, 1000n * units * BigInt(times));
  }

  /** @param cost gives the cost with the table model, in thousandths of a unit */
  #chargeThousandths(name: string, cost: () => number): void {
    if (this.isTable5) return;
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
