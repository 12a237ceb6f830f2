/**
 * Symbolic arithmetic on 32-bit words. A value records the loop variables that it depends on, so that a back end can
 * compute it at the right depth: once per job, counter or page, or for every nonce. Sums collect their per-job terms
 * and drop zeros while they are built.
 */

/** Depths: the loop variables that a value depends on, as a bit set. */
export const JOB = 0;
export const COUNTER = 1;
export const PAGE = 2;
export const NONCE = COUNTER | PAGE;
export type Depth = typeof JOB | typeof COUNTER | typeof PAGE | typeof NONCE;

export interface Value {
  /** Ids count up in the order of creation, so the operands of a value have lower ids. */
  readonly id: number;
  readonly depth: Depth;
  readonly op: 'constant' | 'input' | 'add' | 'xor' | 'rotr';
  readonly operands: readonly Value[];
  /** The value of a constant, or the number of bits of a `rotr`. */
  readonly number: number;
  /** The name of an input: `h0` … `h7` (midstate), `m0` … `m7` (tail), `counter` or `page`. */
  readonly name: string;
}

const joined = (values: readonly Value[]): Depth => values.reduce((depth, value) => depth | value.depth, 0) as Depth;

export class Algebra {
  #next = 0;
  readonly #addends: 2 | 3;

  /** @param addends how many terms the machine adds in one operation */
  constructor(addends: 2 | 3) {
    this.#addends = addends;
  }

  constant(number: number): Value {
    return this.#value({ op: 'constant', number: number >>> 0 });
  }

  input(name: string, depth: Depth = JOB): Value {
    return this.#value({ op: 'input', name, depth });
  }

  add(...terms: Value[]): Value {
    const perJob = this.#addPerJob(terms.filter((term) => term.depth === JOB));
    const rest = terms.filter((term) => term.depth !== JOB);
    if (rest.length === 0) return perJob;
    return this.#sum(isZero(perJob) ? rest : [...rest, perJob]);
  }

  xor(...operands: Value[]): Value {
    return this.#value({ op: 'xor', operands });
  }

  rotr(operand: Value, number: number): Value {
    return this.#value({ op: 'rotr', operands: [operand], number });
  }

  #addPerJob(terms: Value[]): Value {
    const constant = terms.filter(isConstant).reduce((sum, term) => sum + term.number, 0);
    const rest = terms.filter((term) => !isConstant(term));
    if (rest.length === 0 || constant !== 0) rest.push(this.constant(constant));
    return this.#sum(rest);
  }

  /**
   * Adds at most as many terms at a time as the machine can. It starts with the pair whose sum depends on the fewest
   * loop variables, and prefers pairs without the second term: in the G function's a + b + m, b is known last, so a + m
   * can be computed before.
   */
  #sum(terms: Value[]): Value {
    if (terms.length === 1) return terms[0];
    if (terms.length <= this.#addends) return this.#value({ op: 'add', operands: terms });
    const pairs = terms.flatMap((a, i) => terms.slice(i + 1).map((b) => [a, b]));
    const cost = (pair: Value[]) => 2 * [0, 1, 1, 2][joined(pair)] + (pair.includes(terms[1]) ? 1 : 0);
    const first = pairs.reduce((best, pair) => (cost(pair) < cost(best) ? pair : best));
    return this.#sum([this.#value({ op: 'add', operands: first }), ...terms.filter((term) => !first.includes(term))]);
  }

  #value(value: Partial<Value> & Pick<Value, 'op'>): Value {
    const operands = value.operands ?? [];
    return { number: 0, name: '', depth: joined(operands), ...value, operands, id: this.#next++ };
  }
}

const isConstant = (value: Value): boolean => value.op === 'constant';
export const isLeaf = (value: Value): boolean => value.operands.length === 0;
const isZero = (value: Value): boolean => isConstant(value) && value.number === 0;
