/** Prints the assembly of one kernel, for the assemblers behind gcc and clang. */

import { costPerNonce, type KernelDescription } from '../last-block.ts';
import { generatedBy, indent } from '../print.ts';
import { frameOf, RED_ZONE_BYTES } from './frame.ts';
import type { AssemblyKernel } from './instruction-sets.ts';
import { instructionsOf } from './instructions.ts';
import { allocate } from './registers.ts';

/** @returns the instructions of one step of the kernel, the frame, and how many vectors they spill */
export function stepOf(kernel: KernelDescription, assembly: AssemblyKernel) {
  const { registers, register, avx512 } = assembly.set;
  const frame = frameOf(kernel, assembly);
  const move = avx512 ? 'vmovdqa32' : 'vmovdqa';
  const file = { count: registers - frame.registers, prefix: register, move, spill: frame.spill };
  return { frame, ...allocate(instructionsOf(kernel, assembly, frame), file) };
}

/** @param kernel for a machine that adds two terms, loops over pages and rotates its result */
export function printAssembly(kernel: KernelDescription, assembly: AssemblyKernel): string {
  const { name, set, vectors } = assembly;
  const { frame, lines, slots } = stepOf(kernel, assembly);
  return `/* ${generatedBy} */
/* A step hashes ${vectors} x ${set.bytes / 4} nonces, with ${costPerNonce(kernel)} operations each, in ${lines.length} instructions. */
#if defined(__x86_64__)

#if defined(__APPLE__)
#define SYMBOL _scan_${name}
  .private_extern SYMBOL
#else
#define SYMBOL scan_${name}
#endif
#if defined(__ELF__)
  .hidden SYMBOL
#endif

/* Windows may overwrite what is below the stack pointer: this many bytes more are reserved there. */
#if defined(_WIN32)
#define RED_ZONE ${RED_ZONE_BYTES}
#else
#define RED_ZONE 0
#endif

/* A scan_function (native/assembly.c), also on Windows: frame in %rdi, table in %rsi, steps in %edx. */
  .text
  .p2align 6
  .globl SYMBOL
SYMBOL:
  pushq %rbp
  movq %rsp, %r10
  movl %edx, %r9d
  xorl %r8d, %r8d
${indent(frame.setUp(slots), 2)}
  .p2align 6
.Lstep:
${indent(lines, 2)}
  jnz .Ldone
  addq $${frame.stepBytes}, %rsi
  incl %r8d
  cmpl %r9d, %r8d
  jb .Lstep
.Ldone:
  vzeroupper
  movl %r8d, %eax
  movq %r10, %rsp
  popq %rbp
  ret

#if defined(__ELF__)
  .section .note.GNU-stack, "", %progbits
#endif
#endif
`;
}
