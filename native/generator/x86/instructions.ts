/**
 * Turns the kernel into x86 vector instructions without regard to the number of registers; `registers.ts` assigns the
 * real ones.
 */

import { COUNTER, JOB, NONCE, type Value } from '../algebra.ts';
import { handedDown, type KernelDescription, operationsAt } from '../last-block.ts';
import type { Frame } from './frame.ts';
import type { Instruction, Vector } from './instruction.ts';
import type { AssemblyKernel, InstructionSet } from './instruction-sets.ts';
import { schedule } from './schedule.ts';

/**
 * @returns the instructions of one step: it hashes one or more vectors of nonces, and clears the zero flag if one is a
 *   hit
 */
export function instructionsOf(
  kernel: KernelDescription,
  { set, vectors, turn = Number.POSITIVE_INFINITY, scheduled }: AssemblyKernel,
  frame: Frame,
): Instruction[] {
  const programs = Array.from({ length: vectors }, (_, vector) => new VectorProgram(kernel, set, frame, vector));
  const orders = programs.map(({ instructions }) => (scheduled ? schedule(instructions) : instructions));
  const longest = Math.max(...orders.map(({ length }) => length));
  const step: Instruction[] = [];
  for (let at = 0; at < longest; at += turn) {
    for (const order of orders) step.push(...order.slice(at, at + turn));
  }
  return [...step, ...(set.avx512 ? testOfMasks(vectors) : testOfVectors(programs.map(({ hits }) => hits)))];
}

const testOfMasks = (vectors: number): Instruction[] => [{ mnemonic: `kortestw %k1, %k${vectors}`, operands: [] }];

function testOfVectors([first, ...others]: Vector[]): Instruction[] {
  const test: Instruction[] = [];
  let any = first;
  for (const hits of others) {
    const both: Vector = {};
    test.push({ mnemonic: 'vpor', operands: [any, hits], result: both, commutative: true });
    any = both;
  }
  return [...test, { mnemonic: 'vptest', operands: [any, any] }];
}

/** The instructions for one vector of nonces. */
class VectorProgram {
  readonly instructions: Instruction[] = [];
  /**
   * Without AVX-512: all bits are set in the lanes with a hit. With AVX-512 the mask %k1 has the hits of the first
   * vector …
   */
  readonly hits: Vector;
  readonly #set: InstructionSet;
  readonly #frame: Frame;
  readonly #made = new Map<Value, Vector>();

  constructor(kernel: KernelDescription, set: InstructionSet, frame: Frame, vector: number) {
    this.#set = set;
    this.#frame = frame;
    const table = frame.table(vector);
    for (const [i, value] of handedDown(kernel, JOB).entries()) this.#made.set(value, frame.job[i]);
    for (const [i, value] of handedDown(kernel, COUNTER).entries()) this.#made.set(value, table[i]);
    for (const value of kernel.values) if (value.name === 'page') this.#made.set(value, frame.page);
    for (const value of operationsAt(kernel, NONCE)) this.#made.set(value, this.#operation(value));
    const word7 = this.#made.get(kernel.result) as Vector;
    this.instructions.push({
      mnemonic: set.avx512 ? 'vmovdqa32' : 'vmovdqa',
      operands: [word7],
      result: frame.word7(vector),
    });
    this.hits = this.#test(word7, `%k${vector + 1}`);
  }

  #operation({ op, operands, number }: Value): Vector {
    const vectors = operands.map((operand) => this.#made.get(operand) as Vector);
    if (op === 'add') return this.#emit('vpaddd', vectors, { commutative: true });
    return op === 'xor' ? this.#xor(vectors) : this.#rotate(vectors[0], number);
  }

  #xor([a, b, ...c]: Vector[]): Vector {
    if (c.length === 0) return this.#emit(this.#set.avx512 ? 'vpxord' : 'vpxor', [a, b], { commutative: true });
    if (this.#set.avx512) return this.#emit('vpternlogd $0x96,', [a, b, ...c], { overwrites: true });
    return this.#xor([this.#xor([a, b]), ...c]);
  }

  /** AVX2 has no rotate: rotates by whole bytes are shuffles, and the others need three operations. */
  #rotate(vector: Vector, bits: number): Vector {
    if (this.#set.avx512) return this.#emit(`vprord $${bits},`, [vector]);
    const shuffle = this.#frame.shuffles[bits];
    if (shuffle) return this.#emit('vpshufb', [vector, shuffle]);
    const halves = [this.#emit(`vpsrld $${bits},`, [vector]), this.#emit(`vpslld $${32 - bits},`, [vector])];
    return this.#emit('vpor', halves, { commutative: true });
  }

  #test(word7: Vector, mask: string): Vector {
    if (this.#set.avx512) return this.#emit('vptestnmd', [word7, this.#frame.mask], { result: mask });
    const kept = this.#emit('vpand', [word7, this.#frame.mask], { commutative: true });
    return this.#emit('vpcmpeqd', [kept, this.#frame.zero], { commutative: true });
  }

  #emit(mnemonic: string, operands: Vector[], kind: Partial<Instruction> = {}): Vector {
    const result: Vector = {};
    this.instructions.push({ mnemonic, operands, result, ...kind });
    return result;
  }
}
