/** Interprets the vector instructions of a step with vectors of one lane, to test the assembly on every machine. */

type Operate = (operands: number[], immediate: number) => number;

const rotateRight: Operate = ([x], bits) => (x >>> bits) | (x << (32 - bits));
const move: Operate = ([x]) => x;

/** The instructions' meaning. Operands are in the order of the assembly: the last source comes first. */
const OPERATIONS: Record<string, Operate> = {
  vpaddd: ([b, a]) => a + b,
  vpxor: ([b, a]) => a ^ b,
  vpxord: ([b, a]) => a ^ b,
  vpor: ([b, a]) => a | b,
  vpand: ([b, a]) => a & b,
  vpcmpeqd: ([b, a]) => (a === b ? -1 : 0),
  vptestnmd: ([b, a]) => ((a & b) === 0 ? 1 : 0),
  vprord: rotateRight,
  vpslld: ([x], bits) => x << bits,
  vpsrld: ([x], bits) => x >>> bits,
  vpshufb: ([bits, x]) => rotateRight([x], bits),
  vmovdqa: move,
  vmovdqa32: move,
};

/**
 * @param memory the content of memory, by the addresses as the assembly writes them; results and spilled vectors are
 *   added
 * @param registers the content of registers before the step
 * @returns whether any vector had a hit: then the zero flag is clear
 * @throws Error at an unknown instruction, or at one that reads what was never written
 */
export function runOneLane(
  lines: readonly string[],
  memory: Map<string, number>,
  registers = new Map<string, number>(),
): boolean {
  const storeOf = (place: string) => (place.startsWith('%') ? registers : memory);
  const read = (place: string): number => {
    const value = storeOf(place).get(place);
    if (value === undefined) throw new Error(`${place} is read before it is written`);
    return value | 0;
  };
  let anyHit = false;
  for (const line of lines) {
    const [, mnemonic, text] = /^(\w+) (.*)$/.exec(line) ?? [];
    const parts = text.split(', ');
    const immediate = parts[0].startsWith('$') ? Number(parts.shift()?.slice(1)) : 0;
    const target = parts[parts.length - 1];
    if (mnemonic === 'vptest' || mnemonic === 'kortestw') {
      anyHit = parts.some((place) => read(place) !== 0);
    } else if (mnemonic === 'vpternlogd') {
      registers.set(
        target,
        parts.reduce((x, place) => x ^ read(place), 0),
      );
    } else {
      const operate = OPERATIONS[mnemonic];
      if (!operate) throw new Error(`unknown instruction: ${line}`);
      storeOf(target).set(target, operate(parts.slice(0, -1).map(read), immediate) | 0);
    }
  }
  return anyHit;
}
