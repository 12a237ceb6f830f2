/** Parses SPIR-V as far as necessary to read the loop of a shader (SPIR-V 1.6, §2.3 and §3.49). */

export const OP = {
  ExtInst: 12,
  TypeInt: 21,
  TypeVector: 23,
  Constant: 43,
  FunctionCall: 57,
  IAdd: 128,
  IMul: 132,
  ULessThan: 176,
  ULessThanEqual: 178,
  ShiftRightLogical: 194,
  ShiftLeftLogical: 196,
  BitwiseOr: 197,
  BitwiseXor: 198,
  LoopMerge: 246,
  SelectionMerge: 247,
  Label: 248,
} as const;

interface Instruction {
  readonly op: number;
  readonly operands: readonly number[];
}

const MAGIC = 0x0723_0203;
const HEADER_WORDS = 5;

export function readSpirv(binary: Buffer): Instruction[] {
  const words = new Uint32Array(binary.buffer.slice(binary.byteOffset, binary.byteOffset + binary.length));
  if (words[0] !== MAGIC) throw new Error('not SPIR-V');
  const instructions: Instruction[] = [];
  for (let at = HEADER_WORDS; at < words.length; at += words[at] >>> 16) {
    const operands = [...words.subarray(at + 1, at + (words[at] >>> 16))];
    instructions.push({ op: words[at] & 0xffff, operands });
  }
  return instructions;
}

/** The instructions of the only loop, from its merge declaration to the label behind it. */
export function loopOf(instructions: readonly Instruction[]): Instruction[] {
  const starts = instructions.filter(({ op }) => op === OP.LoopMerge);
  if (starts.length !== 1) throw new Error(`${starts.length} loops`);
  const [{ operands }] = starts;
  const from = instructions.indexOf(starts[0]);
  const to = instructions.findIndex((each) => each.op === OP.Label && each.operands[0] === operands[0]);
  return instructions.slice(from, to);
}

export function count(instructions: readonly Instruction[], op: number): number {
  return instructions.filter((instruction) => instruction.op === op).length;
}
