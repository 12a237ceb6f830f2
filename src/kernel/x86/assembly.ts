/** Prints the assembly of one kernel, for the assemblers behind gcc and clang. */

import { costPerNonce, type Kernel } from '../last-block.ts';
import { generatedBy, indent } from '../print.ts';
import { frameOf } from './frame.ts';
import type { AssemblyKernel } from './instruction-sets.ts';
import { instructionsOf } from './instructions.ts';
import { allocate } from './registers.ts';

/** One step of a kernel in instructions, and the vectors that they keep on the stack. */
export function stepOf(kernel: Kernel, assembly: AssemblyKernel) {
  const { bytes, registers, register, avx512 } = assembly.set;
  const frame = frameOf(kernel, bytes, assembly.vectors);
  const move = avx512 ? 'vmovdqa32' : 'vmovdqa';
  const file = { count: registers, prefix: register, move, spill: frame.spill };
  return { ...allocate(instructionsOf(kernel, assembly, frame), file), tableBytes: frame.tableBytes };
}

/** @param kernel of a machine that adds two terms, loops over pages and rotates its result */
export function printAssembly(kernel: Kernel, assembly: AssemblyKernel): string {
  const { name, set, vectors } = assembly;
  const { lines, slots, tableBytes } = stepOf(kernel, assembly);
  return `/* ${generatedBy} */
/* ${costPerNonce(kernel)} operations a vector of ${set.bytes / 4} nonces, ${vectors} a step, in ${lines.length} instructions. */
#if defined(__x86_64__)

#if defined(__APPLE__)
#define SYMBOL(name) _##name
#define HIDDEN .private_extern
#else
#define SYMBOL(name) name
#define HIDDEN .hidden
#endif

/* A scan_function (native/assembly.c): frame %rdi, table %rsi, steps %edx. */
  .text
  .p2align 6
  .globl SYMBOL(scan_${name})
  HIDDEN SYMBOL(scan_${name})
SYMBOL(scan_${name}):
  pushq %rbp
  movq %rsp, %rbp
  subq $${slots * set.bytes}, %rsp
  andq $-64, %rsp
  xorl %eax, %eax
  .p2align 6
.Lstep:
${indent(lines, 2)}
  jnz .Ldone
  addq $${tableBytes}, %rsi
  incl %eax
  cmpl %edx, %eax
  jb .Lstep
.Ldone:
  vzeroupper
  leave
  ret
${set.avx512 ? '' : constants()}
#if defined(__ELF__)
  .section .note.GNU-stack, "", %progbits
#endif
#endif
`;
}

/** They lie behind the code, where %rip reaches them without a relocation. */
function constants(): string {
  const rotated = (bytes: number) =>
    Array.from({ length: 32 }, (_, i) => ((i % 16) & ~3) | ((i + bytes) & 3)).join(', ');
  return `
  .p2align 5
.Lshuffle16:
  .byte ${rotated(2)}
.Lshuffle8:
  .byte ${rotated(1)}
.Lzero:
  .zero 32
`;
}
