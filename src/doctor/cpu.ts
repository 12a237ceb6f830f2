/** Examines the CPU: which kernel it uses, how many threads, and why. */

import type { KernelRow } from '../app/kernel-rows.ts';
import type { CoreGroup } from '../engine/cpu/core-groups.ts';
import { isNative } from '../engine/cpu/kernels/native.ts';
import type { Finding } from './finding.ts';

export interface CpuFacts {
  /** Why the threads or the kernel that were asked for cannot be used. */
  readonly refused?: string;
  readonly threads?: { readonly threads: number; readonly groups: readonly CoreGroup[]; readonly why: string };
  readonly kernels: readonly KernelRow[];
}

export function examineCpu({ refused, threads, kernels }: CpuFacts): Finding[] {
  if (refused !== undefined) {
    const mend =
      'change or remove the settings of the CPU (--threads, --kernel, --cpu-cores, --cpu-affinity, --cpu-priority)';
    return [{ about: 'CPU', state: 'fault', what: refused, why: 'pickaxe does not start with these settings', mend }];
  }
  const chosen = kernels.filter((row) => row.chosen);
  if (chosen.length === 0) {
    const what = `no kernel can be used: ${kernels.map(({ name, why }) => `${name}: ${why}`).join('; ')}`;
    return [{ about: 'CPU', state: 'fault', what, why: 'the CPU cannot mine', mend: 'reinstall pickaxe' }];
  }
  const count = threads === undefined ? '' : `, ${threads.threads} ${threads.threads === 1 ? 'thread' : 'threads'}`;
  const how = threads === undefined ? '' : ` (${threads.why})`;
  const used = [...new Set(chosen.map(chosenKernel))].join(', ');
  const finding = { about: 'CPU', what: `kernel ${used}${count}${how}` };
  const native = kernels.filter(({ name }) => isNative(name));
  if (native.some(({ usable }) => usable)) return [{ ...finding, state: 'ok' }];
  // `portable` is compiled wherever any native kernel is, so its reason is the reason of all.
  const reason = native.find(({ name }) => name === 'portable')?.why ?? 'there is none for this chip';
  return [{ ...finding, state: 'warning', why: 'native kernels are two to six times as fast', mend: reason }];
}

/** @returns `avx2 on efficiency cores (not proven yet)`; only the name where all cores are alike and it is proven */
function chosenKernel({ name, cores, proven }: KernelRow): string {
  return `${name}${cores === undefined ? '' : ` on ${cores} cores`}${proven === false ? ' (not proven yet)' : ''}`;
}
