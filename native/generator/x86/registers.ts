/**
 * Assigns registers to vectors. When there are too few, the vector whose next use is furthest away is spilled: it moves
 * to memory and is read from there. This is Bélády's rule, which is optimal for loads. Compilers, which must be fast,
 * spill half as much again.
 */

import type { Instruction, Vector } from './instruction.ts';

interface RegisterFile {
  /** How many registers the allocator may use: the first ones. */
  readonly count: number;
  /** `%ymm` or `%zmm`. */
  readonly prefix: string;
  /** Moves a vector between a register and aligned memory. */
  readonly move: string;
  /** The address that a spilled vector moves to. */
  spill(slot: number): string;
}

interface Allocated {
  readonly lines: readonly string[];
  /** The most vectors that are spilled at the same time. */
  readonly slots: number;
}

export function allocate(instructions: readonly Instruction[], file: RegisterFile): Allocated {
  const allocator = new Allocator(instructions, file);
  for (const instruction of instructions) allocator.place(instruction);
  return { lines: allocator.lines, slots: allocator.slots };
}

class Allocator {
  readonly lines: string[] = [];
  slots = 0;
  readonly #file: RegisterFile;
  /** The positions of the instructions that read each vector and are not placed yet. */
  readonly #uses = new Map<Vector, number[]>();
  /** The vector in each register. */
  readonly #held: (Vector | undefined)[];
  readonly #slotOf = new Map<Vector, number>();
  readonly #freeSlots: number[] = [];

  constructor(instructions: readonly Instruction[], file: RegisterFile) {
    this.#file = file;
    this.#held = new Array(file.count).fill(undefined);
    instructions.forEach(({ operands }, position) => {
      for (const vector of operands) this.#uses.set(vector, [...(this.#uses.get(vector) ?? []), position]);
    });
  }

  place(instruction: Instruction): void {
    const operands = this.#inOrder(instruction);
    const last = operands.length > 1 ? operands.length - 1 : -1;
    const kept = new Set(operands);
    const sources = operands.map((vector, i) => {
      if (vector.register) return vector.register;
      const register = this.#held.indexOf(vector);
      if (register >= 0) return this.#name(register);
      return (i === last && this.#memoryOf(vector)) || this.#name(this.#load(vector, kept));
    });
    const own = this.#held.indexOf(operands[0]);
    for (const vector of operands) this.#uses.get(vector)?.shift();
    // A freed slot must not be used again before the instruction has read it.
    const released = operands.filter((vector) => this.#isDead(vector)).flatMap((vector) => this.#release(vector));
    const { result, mnemonic, overwrites } = instruction;
    let target = typeof result === 'string' ? result : undefined;
    if (typeof result === 'object') {
      if (overwrites && this.#held[own]) throw new Error(`${mnemonic} overwrites a vector that is read later`);
      target = this.#name(this.#hold(result, kept, overwrites ? own : undefined));
    }
    this.#freeSlots.push(...released);
    const written = [...sources.slice(overwrites ? 1 : 0).reverse(), target].filter(Boolean);
    this.lines.push(`${mnemonic} ${written.join(', ')}`.trimEnd());
  }

  /**
   * Swaps commutative operands when that helps: an operand in memory must come last, and a lower register in the last
   * place saves a byte.
   */
  #inOrder({ operands, commutative }: Instruction): readonly Vector[] {
    if (!commutative) return operands;
    const [first, second] = operands.map((vector) => this.#held.indexOf(vector));
    const swap = first < 0 ? second >= 0 : first < second;
    return swap ? [operands[1], operands[0]] : operands;
  }

  #memoryOf(vector: Vector): string | undefined {
    const slot = this.#slotOf.get(vector);
    return slot === undefined ? vector.memory : this.#file.spill(slot);
  }

  #load(vector: Vector, kept: ReadonlySet<Vector>): number {
    const from = this.#memoryOf(vector);
    if (from === undefined) throw new Error('a vector is read before it is made');
    const register = this.#hold(vector, kept);
    this.lines.push(`${this.#file.move} ${from}, ${this.#name(register)}`);
    return register;
  }

  /** Puts a vector into a register: the wanted one, or any. */
  #hold(vector: Vector, kept: ReadonlySet<Vector>, wanted = this.#held.indexOf(undefined)): number {
    const register = wanted >= 0 ? wanted : this.#evict(kept);
    this.#held[register] = vector;
    return register;
  }

  #evict(kept: ReadonlySet<Vector>): number {
    let furthest = -1;
    let register = -1;
    for (const [candidate, vector] of this.#held.entries()) {
      if (vector === undefined || kept.has(vector)) continue;
      // Among equally distant vectors, one that is in memory already is evicted.
      const next = (this.#uses.get(vector)?.[0] ?? Number.POSITIVE_INFINITY) + (this.#memoryOf(vector) ? 0.5 : 0);
      if (next > furthest) [furthest, register] = [next, candidate];
    }
    const vector = this.#held[register];
    if (vector === undefined) throw new Error('an instruction needs more registers than there are');
    if (this.#memoryOf(vector) === undefined) {
      const slot = this.#freeSlots.pop() ?? this.slots++;
      this.#slotOf.set(vector, slot);
      this.lines.push(`${this.#file.move} ${this.#name(register)}, ${this.#file.spill(slot)}`);
    }
    return register;
  }

  #isDead(vector: Vector): boolean {
    return this.#uses.get(vector)?.length === 0;
  }

  /** Frees a vector's register. @returns the slot that the vector no longer needs, if it has one */
  #release(vector: Vector): number[] {
    const register = this.#held.indexOf(vector);
    if (register >= 0) this.#held[register] = undefined;
    const slot = this.#slotOf.get(vector);
    this.#slotOf.delete(vector);
    return slot === undefined ? [] : [slot];
  }

  #name(register: number): string {
    return `${this.#file.prefix}${register}`;
  }
}
