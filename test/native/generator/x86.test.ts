import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { COUNTER, NONCE } from '../../../native/generator/algebra.ts';
import { assemblyFiles, cpuKernel } from '../../../native/generator/generate.ts';
import { handedDown, operationsAt } from '../../../native/generator/last-block.ts';
import { stepOf } from '../../../native/generator/x86/assembly.ts';
import { ASSEMBLY_KERNELS } from '../../../native/generator/x86/instruction-sets.ts';
import { allocate } from '../../../native/generator/x86/registers.ts';
import { schedule } from '../../../native/generator/x86/schedule.ts';
import { runOneLane } from './one-lane-chip.ts';
import { JOB_WORDS, plainKernel } from './plain-kernel.ts';

const { prepareCounters, prepareJobWords, searchRow } = await plainKernel();

const file = { count: 3, prefix: '%ymm', move: 'vmovdqa', spill: (slot: number) => `${32 * slot}(%rsp)` };

describe('register allocation', () => {
  test('keeps the vectors that are read next, and spills each evicted one only once', () => {
    const [a, b, c, d, sum] = [{}, {}, {}, {}, {}];
    const make = (result: object) => ({ mnemonic: 'make', operands: [], result });
    const { lines, slots } = allocate(
      [
        make(a),
        make(b),
        make(c),
        make(d),
        { mnemonic: 'vpaddd', operands: [c, d], result: sum, commutative: true },
      ].concat([
        { mnemonic: 'vpaddd', operands: [sum, a], result: {}, commutative: true },
        { mnemonic: 'vpaddd', operands: [sum, b], result: {}, commutative: true },
        { mnemonic: 'vpaddd', operands: [sum, b], result: {}, commutative: true },
      ]),
      file,
    );
    expect(lines).toEqual([
      'make %ymm0',
      'make %ymm1',
      'make %ymm2',
      'vmovdqa %ymm1, 0(%rsp)',
      'make %ymm1',
      'vpaddd %ymm1, %ymm2, %ymm1',
      'vpaddd %ymm0, %ymm1, %ymm0',
      'vpaddd 0(%rsp), %ymm1, %ymm2',
      'vpaddd 0(%rsp), %ymm1, %ymm1',
    ]);
    expect(slots).toBe(1);
  });

  test('refuses invalid instructions', () => {
    const [a, b] = [{}, {}];
    expect(() => allocate([{ mnemonic: 'vpaddd', operands: [a, b], result: {} }], file)).toThrow('before it is made');
    const made = { mnemonic: 'make', operands: [], result: a };
    const ternary = { mnemonic: 'vpternlogd $0x96,', operands: [a, a, a], result: {}, overwrites: true };
    expect(() => allocate([made, ternary, { mnemonic: 'vpaddd', operands: [a, a] }], file)).toThrow('overwrites');
  });
});

describe('scheduling', () => {
  const chain = (name: string, length: number) => {
    const vectors = Array.from({ length: length + 1 }, () => ({}));
    return vectors.slice(1).map((result, i) => ({ mnemonic: `${name}${i}`, operands: [vectors[i]], result }));
  };
  const mnemonics = (instructions: readonly { mnemonic: string }[]) => instructions.map(({ mnemonic }) => mnemonic);

  test('takes the longest way first, and two instructions in each cycle', () => {
    const short = ['a', 'b', 'c', 'd'].flatMap((name) => chain(name, 1));
    const scheduled = mnemonics(schedule([...short, ...chain('long', 3)]));
    expect(scheduled).toEqual(['long0', 'a0', 'long1', 'b0', 'c0', 'd0', 'long2']);
  });

  test('starts independent chains side by side, each in its order', () => {
    const scheduled = mnemonics(schedule([...chain('x', 2), ...chain('y', 2), ...chain('z', 2)]));
    expect(scheduled).toEqual(['x0', 'y0', 'z0', 'x1', 'y1', 'z1']);
  });

  test('waits two cycles for a byte shuffle', () => {
    const [a, b, c] = [{}, {}, {}];
    const load = { mnemonic: 'load', operands: [], result: a };
    const shuffle = { mnemonic: 'vpshufb', operands: [a], result: b };
    const store = { mnemonic: 'store', operands: [b], result: c };
    const scheduled = mnemonics(schedule([load, shuffle, store, ...chain('x', 1), ...chain('y', 1), ...chain('z', 1)]));
    expect(scheduled).toEqual(['load', 'x0', 'vpshufb', 'y0', 'z0', 'store']);
  });

  test('waits for both operands, also when they are the same vector', () => {
    const [a, b] = [{}, {}];
    const load = { mnemonic: 'load', operands: [], result: a };
    const twice = { mnemonic: 'twice', operands: [a, a], result: b };
    expect(mnemonics(schedule([load, twice, { mnemonic: 'store', operands: [b], result: 'memory' }]))).toEqual([
      'load',
      'twice',
      'store',
    ]);
  });
});

describe.each(ASSEMBLY_KERNELS)('$name', (assembly) => {
  const { set, vectors } = assembly;
  const { lines, slots, frame } = stepOf(cpuKernel, assembly);

  test('has as many ALU operations as the arithmetic and the test need', () => {
    const alu = lines.filter((line) => /^vp(add|xor|or|and|ror|sll|srl|shuf|ternlog|cmpeq|test)/.test(line));
    const operations = operationsAt(cpuKernel, NONCE);
    const shifted = operations.filter(({ op, number }) => op === 'rotr' && number !== 16 && number !== 8).length;
    const threeTerms = operations.filter(({ operands }) => operands.length === 3).length;
    const perVector = set.avx512 ? operations.length + 1 : operations.length + 2 * shifted + threeTerms + 2;
    // The tests of several vectors are joined; with AVX-512 that takes no vector operation.
    expect(alu).toHaveLength(vectors * perVector + (set.avx512 ? 0 : vectors));
  });

  test('has one-byte offsets except for a few, and uses little stack', () => {
    const offsets = lines.flatMap((line) =>
      [...line.matchAll(/(-?\d+)(?:\+RED_ZONE)?\(%r\w+\)/g)].map(([, offset]) => Number(offset)),
    );
    const far = offsets.filter((offset) => (set.avx512 ? offset / set.bytes : offset) > 127);
    // The base registers of the stack reach 16 vectors. On Golden Cove long offsets were as fast as short ones.
    expect(far.length).toBeLessThanOrEqual(offsets.length / (slots > 20 ? 4 : 10));
    expect(slots).toBeLessThanOrEqual(set.avx512 ? 2 : 24);
  });

  test('computes the same as the plain kernel, on a simulated chip with one lane', () => {
    const word = fc.integer({ min: 0, max: 0xffff_ffff });
    const words = (count: number) => fc.array(word, { minLength: count, maxLength: count });
    fc.assert(
      fc.property(words(8), words(8), word, word, fc.nat(0xffff), (midstate, low, counter, mask, page) => {
        const job = new Int32Array(JOB_WORDS);
        prepareJobWords(Uint32Array.from(midstate), Uint32Array.from([...low, 0, 0, 0, 0, 0, 0, 0, 0]), job);
        const tables = Array.from({ length: vectors }, (_, vector) => {
          const table = new Int32Array(handedDown(cpuKernel, COUNTER).length);
          prepareCounters(job, counter + vector, 1, table);
          return table;
        });
        const memory = new Map<string, number>();
        const put = (place: string | undefined, value: number) => memory.set(place ?? '', value);
        put(frame.page.memory, page);
        put(frame.mask.memory, mask);
        put(frame.zero.memory, 0);
        const registers = new Map<string, number>();
        for (const [bits, { memory, register }] of Object.entries(frame.shuffles)) {
          if (register) registers.set(register, Number(bits));
          else put(memory, Number(bits));
        }
        for (const [i, place] of frame.job.entries()) put(place.memory, job[i]);
        for (const [vector, table] of tables.entries()) {
          for (const [i, place] of frame.table(vector).entries()) put(place.memory, table[i]);
        }
        const anyHit = runOneLane(lines, memory, registers);
        const hits = tables.map((table) => searchRow(job, table, 1, page, mask, new Uint32Array(1)) > 0);
        expect(anyHit).toBe(hits.includes(true));
        for (const [vector, hit] of hits.entries()) {
          expect(((memory.get(frame.word7(vector)) ?? 0) & mask) === 0).toBe(hit);
        }
      }),
      { numRuns: 30 },
    );
  });
});

test.each([...assemblyFiles()])('with room for a red zone, the assembly of %s uses nothing below %%rsp', (_, text) => {
  const used = [...text.matchAll(/(-?\d+)(\+RED_ZONE)?\(%rsp\)/g)];
  for (const [, offset, room] of used) expect(Number(offset) + (room ? 128 : 0)).toBeGreaterThanOrEqual(0);
  const reserved = /^ {2}subq \$\d+\+RED_ZONE, %rsp$/m;
  if (used.length > 0) expect(text).toMatch(reserved);
  expect(text).toMatch(/#if defined\(_WIN32\)\n#define RED_ZONE 128\n#else\n#define RED_ZONE 0\n#endif/);
});

test.each([...assemblyFiles()])(
  "the assembly of %s keeps its name and the caller's registers to itself",
  (name, text) => {
    expect(text).toContain(`#define SYMBOL scan_${name}\n`);
    expect(text).toContain('.hidden SYMBOL\n');
    // The System V ABI: %rbx and %r12 to %r15 belong to the caller, and %rbp, which is saved.
    expect(text).not.toMatch(/%(r?e?bx|bl|r1[2-5])/);
    expect(text).toMatch(/pushq %rbp[\s\S]*popq %rbp\n {2}ret/);
  },
);
