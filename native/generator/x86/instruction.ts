/** x86 vector instructions before registers are assigned. */

/** A vector of 32-bit words, which one instruction makes and others read. */
export interface Vector {
  /** The address of a vector that is in memory from the start. */
  readonly memory?: string;
  /** The register of a vector that stays there in all steps. */
  readonly register?: string;
}

export interface Instruction {
  /** The mnemonic, with the immediate if there is one: `vprord $7,`. */
  readonly mnemonic: string;
  /** All operands are read from registers, except that the last of several may be read from memory. */
  readonly operands: readonly Vector[];
  /** The vector that the instruction makes, or another place that it writes to, such as `%k1`. */
  readonly result?: Vector | string;
  /** Whether the operands may be swapped. */
  readonly commutative?: boolean;
  /** Whether the result must be in the register of the first operand. */
  readonly overwrites?: boolean;
}
