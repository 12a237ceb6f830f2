// Compiles the GPU kernel for NVIDIA's chips with ptxas of the CUDA toolkit, the nearest relative of the compiler in
// NVIDIA's Vulkan driver, which is not published. A toolkit compiles for the chips that it knows.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commonPath, histogram } from '../loop.mjs';
import { readSass } from './cubin.mjs';

/**
 * Compute capabilities, by their instruction set in bounds.mjs. Warps: what an SM can hold. Cache: bytes of the
 * smallest instruction cache that a part of an SM has, where somebody has measured it (Jia et al., "Dissecting the
 * NVIDIA Volta GPU architecture via microbenchmarking" and "Dissecting the NVIDIA Turing T4 GPU").
 */
export const CHIPS = {
  sm_61: { set: 'pascal', warps: 64 }, // Pascal
  sm_70: { set: 'nvidia', warps: 64, cacheBytes: 12 * 1024 }, // Volta
  sm_75: { set: 'nvidia', warps: 32, cacheBytes: 16 * 1024 }, // Turing
  sm_80: { set: 'nvidia', warps: 64 }, // Ampere A100
  sm_86: { set: 'nvidia', warps: 48 }, // Ampere
  sm_89: { set: 'nvidia', warps: 48 }, // Ada
  sm_90: { set: 'nvidia', warps: 64 }, // Hopper
  sm_100: { set: 'nvidia', warps: 64 }, // Blackwell B200
  sm_120: { set: 'nvidia', warps: 48 }, // Blackwell
};
const REGISTERS = 65_536;
const LANES = 32;

/** Folders of NVIDIA's toolkits, and of Debian's. */
function folders() {
  const local = existsSync('/usr/local') ? readdirSync('/usr/local').filter((name) => name.startsWith('cuda-')) : [];
  return [...local.map((name) => join('/usr/local', name, 'bin')), '/usr/bin'];
}

/** @returns the toolkits of this machine: `{ ptxas, nvdisasm, version }`; nvdisasm may be missing */
export function toolkits() {
  const found = folders().flatMap((folder) => {
    const ptxas = join(folder, 'ptxas');
    const version = existsSync(ptxas) && /release ([\d.]+)/.exec(run(ptxas, ['--version']).stdout)?.[1];
    if (!version) return [];
    const nvdisasm = join(folder, 'nvdisasm');
    return [{ ptxas, version, ...(existsSync(nvdisasm) && { nvdisasm }) }];
  });
  return found.sort((a, b) => Number(a.version) - Number(b.version));
}

export const whyNoPtxas = () =>
  toolkits().length === 0
    ? 'ptxas is missing: install NVIDIA’s CUDA toolkit (Debian: nvidia-cuda-toolkit of the component non-free)'
    : undefined;

const run = (program, args) => spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 26 });

/**
 * @param toolkit one of `toolkits`
 * @param ptx paths, by variant
 * @param family one of CHIPS
 * @returns a row for each variant, without bound; nothing for a chip that the toolkit does not know
 */
export function compileWithPtxas({ ptxas, nvdisasm, version }, ptx, family) {
  return Object.entries(ptx).flatMap(([variant, path]) => {
    const cubin = `${path}.cubin`;
    const { status, stderr, error } = run(ptxas, ['-v', '-arch', family, '-o', cubin, path]);
    if (/gpu-name|not defined for option/.test(stderr)) return [];
    if (status !== 0) throw new Error(`ptxas ${version} did not compile ${path}: ${error?.message ?? stderr}`);
    const code = readSass(readFileSync(cubin), nvdisasm && (() => disassembled(nvdisasm, cubin)), family);
    if (!code) return [];
    return [{ family, compiler: `ptxas ${version}`, variant, ...figuresOf(code, stderr, CHIPS[family]) }];
  });
}

function disassembled(nvdisasm, cubin) {
  const { status, stdout, stderr } = run(nvdisasm, ['-c', cubin]);
  if (status !== 0) throw new Error(`nvdisasm did not read what ptxas wrote: ${stderr}`);
  return stdout;
}

function figuresOf({ instructions, bytes }, log, { set, warps, cacheBytes }) {
  const path = commonPath(instructions);
  const pipes = histogram(path, PIPES[set]);
  const registers = Number(/Used (\d+) registers/.exec(log)[1]);
  const spilled = [...log.matchAll(/(\d+) bytes spill/g)].reduce((sum, [, spill]) => sum + Number(spill), 0);
  // A warp gets registers for its lanes in steps of eight, and each quarter of an SM its own share of warps.
  const fit = 4 * Math.floor(REGISTERS / 4 / (LANES * 8 * Math.ceil(registers / 8)));
  return {
    instructionsPerNonce: SLOTS[set](pipes),
    pipes,
    operations: histogram(path),
    registers,
    spills: spilled,
    waves: Math.min(warps, fit),
    codeBytes: bytes,
    ...(cacheBytes && { cacheBytes }),
  };
}

/** Which part of an SM executes an instruction (NVIDIA's Nsight Compute, "Pipelines"). */
const PIPES = {
  nvidia: ({ op }) => {
    if (/^(IMAD|FFMA|FMUL|FADD)/.test(op)) return 'FMA';
    if (/^(LOP3|SHF|IADD|VIADD|LEA|ISETP|PRMT|SEL|IMNMX|MOV|PLOP3|LOP)/.test(op)) return 'ALU';
    return /^(U[A-Z]|R2UR)/.test(op) ? 'uniform' : 'other';
  },
  // Throughput of native arithmetic instructions for compute capability 6.1 (CUDA C++ Programming Guide): additions
  // and logic 128 lanes a cycle in an SM, shifts 64.
  pascal: ({ op }) => {
    if (/^(SHF|SHL|SHR|LEA)/.test(op)) return 'shift';
    return /^(LOP|IADD|ISETP|XMAD|MOV|SEL|PRMT)/.test(op) ? 'full' : 'other';
  },
};

/**
 * Cycles in which 64 (Pascal: 128) lanes of an SM are busy: those of the busiest pipe, or those of issuing all
 * instructions.
 */
const SLOTS = {
  nvidia: ({ ALU = 0, FMA = 0, uniform = 0, other = 0 }) => Math.max(ALU, FMA, (ALU + FMA + uniform + other) / 2),
  pascal: ({ full = 0, shift = 0, other = 0 }) => full + 2 * shift + other,
};
