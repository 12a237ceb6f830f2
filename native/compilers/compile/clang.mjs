// Compiles the GPU kernel for AMD's chips with clang. No driver that pickaxe runs on is known to use clang, but drivers
// of several makers contain LLVM, and this shows what LLVM's optimizer makes of the kernel.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { commonPath, histogram, parseDisassembly } from '../loop.mjs';

/**
 * By LLVM's models of the chips, one wave takes 897 cycles for the 897 instructions on Vega, 1163 for 895 on RDNA 2 and
 * 1346 for 974 on GCN, where it waits for results of its own: two waves keep a unit busy. That is from llvm-mca 14,
 * which crashes on some of the loops, so it is not run here.
 *
 * LLVM's names of processors, with their instruction set in bounds.mjs.
 */
export const PROCESSORS = { gfx803: 'gcn', gfx900: 'vega', gfx1030: 'rdna' };

/** What a driver's library defines. Workgroups have 128 invocations. */
const LIBRARY = {
  'get_global_id(d)':
    '((d) ? __builtin_amdgcn_workgroup_id_y() : __builtin_amdgcn_workgroup_id_x() * 128u + __builtin_amdgcn_workitem_id_x())',
  'atomic_inc(p)':
    '__opencl_atomic_fetch_add((volatile __global atomic_uint *)(p), 1u, memory_order_relaxed, memory_scope_device)',
};
const TARGET = ['-target', 'amdgcn-amd-amdhsa', '-nogpulib'];

export const whyNoClang = () => {
  const { status, stdout } = spawnSync('clang', ['--print-targets'], { encoding: 'utf8' });
  return status === 0 && stdout.includes('amdgcn') ? undefined : 'clang for AMDGPU is missing: apt-get install clang';
};

/**
 * @param sources paths of OpenCL C, by variant
 * @param family one of PROCESSORS
 * @returns a row for each variant, without bound
 */
export function compileWithClang(sources, family) {
  const version = /version (\d+)/.exec(spawnSync('clang', ['--version'], { encoding: 'utf8' }).stdout)?.[1];
  const library = Object.entries(LIBRARY).map(([name, text]) => `-D${name}=${text}`);
  return Object.entries(sources).map(([variant, path]) => {
    const assembly = `${path}.${family}.s`;
    const flags = ['-x', 'cl', '-cl-std=CL2.0', ...TARGET, `-mcpu=${family}`, '-O2', ...library];
    const { status, stderr } = spawnSync('clang', [...flags, '-S', '-o', assembly, path], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`clang did not compile ${path} for ${family}: ${stderr}`);
    return { family, compiler: `clang ${version}`, variant, ...figuresOf(readFileSync(assembly, 'utf8')) };
  });
}

function figuresOf(text) {
  const statistic = (name) => Number(new RegExp(`^; ${name}[:=] ?(\\d+)`, 'm').exec(text)?.[1]);
  const path = commonPath(parse(text));
  const pipes = histogram(path, ({ op }) => (op.startsWith('v_') ? 'vector' : 'scalar'));
  return {
    instructionsPerNonce: pipes.vector,
    pipes,
    operations: histogram(path),
    registers: statistic('NumVgprs'),
    spills: statistic('ScratchSize'),
    waves: statistic('Occupancy'),
    codeBytes: statistic('codeLenInByte '),
  };
}

/** Parses lines such as `	v_xor_b32_e32 v3, s1, v2` and `	s_cbranch_execz .LBB0_4`; `.LBB0_4:` is a label. */
const parse = (assembly) =>
  parseDisassembly(assembly, /^(\.LBB\d+_\d+):/, (line) => {
    const [, op, operands] = /^\t([a-z]\w+)\s*(.*)$/.exec(line) ?? [];
    if (!op) return undefined;
    const target = /^s_c?branch/.test(op) ? /\.LBB\d+_\d+/.exec(operands)?.[0] : undefined;
    const memory = /^(buffer|global|flat)_(atomic|store)/.test(op);
    return { op: op.replace(/_e(32|64)$/, ''), memory, target };
  });
