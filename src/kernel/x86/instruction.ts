/** x86 vector instructions before they are given registers. */

/** A vector of 32-bit words: made by one instruction, read by others. */
export interface Vector {
  /** The address of a vector that is in memory from the start. */
  readonly memory?: string;
}

export interface Instruction {
  /** The mnemonic, with its immediate if it has one: `vprord $7,`. */
  readonly mnemonic: string;
  /** All are read from registers, except that the last of several may be read from memory. */
  readonly operands: readonly Vector[];
  /** What it makes, or a place of its own to write to, such as `%k1`. */
  readonly result?: Vector | string;
  /** Whether its operands may change places. */
  readonly commutative?: boolean;
  /** Whether its result takes the place of its first operand. */
  readonly overwrites?: boolean;
}
