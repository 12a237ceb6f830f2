// Compiles the GPU kernel for Intel's chips with ocloc, the offline compiler of their OpenCL driver. Intel's driver for
// Windows has the same back end, IGC; Mesa's ANV on Linux has its own.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commonPath, parseDisassembly, wholeInstructions } from '../loop.mjs';

/** ocloc's names of families, by their instruction set in bounds.mjs. Threads: what a vector engine can hold. */
export const DEVICES = {
  cfl: { set: 'gen9', threads: 7 }, // Gen9
  icllp: { set: 'gen12', threads: 7 }, // Gen11
  tgllp: { set: 'gen12', threads: 7 }, // Xe-LP
  'acm-g10': { set: 'xe', threads: 8 }, // Xe-HPG
  pvc: { set: 'xe', threads: 8 }, // Xe-HPC
};

/** Least number of lanes that a vector engine takes at a time, even of an instruction that has fewer. */
const LEAST_LANES = 8;

export const whyNoOcloc = () =>
  spawnSync('ocloc', ['--help']).error ? 'Intel’s ocloc is missing: apt-get install intel-opencl-icd' : undefined;

/** @returns the compiler with its version, which ocloc writes to a file */
export function nameOcloc(folder) {
  spawnSync('ocloc', ['query', 'OCL_DRIVER_VERSION'], { cwd: folder });
  return `ocloc ${/[\d.]+/.exec(readFileSync(join(folder, 'OCL_DRIVER_VERSION'), 'latin1'))?.[0]}`;
}

/**
 * @param sources paths of OpenCL C, by variant
 * @param family one of DEVICES
 * @param compiler of `nameOcloc`
 * @returns a row for each variant, without bound
 */
export function compileWithOcloc(sources, family, compiler) {
  return Object.entries(sources).map(([variant, path]) => {
    const folder = `${path}.${family}`;
    mkdirSync(folder);
    const { status, stdout, stderr, error } = spawnSync('ocloc', ['compile', '-file', path, '-device', family], {
      cwd: folder,
      encoding: 'utf8',
      // With these variables the compiler also writes the disassembly.
      env: { ...process.env, IGC_ShaderDumpEnable: '1', IGC_DumpToCustomDir: folder },
    });
    if (status !== 0)
      throw new Error(`ocloc did not compile ${path} for ${family}: ${error?.message ?? stdout + stderr}`);
    const file = readdirSync(folder).find((name) => /simd\d+_entry_\d+\.asm$/.test(name));
    if (!file) throw new Error(`ocloc wrote no disassembly for ${family}`);
    const lanes = Number(/simd(\d+)/.exec(file)[1]);
    return { family, compiler, variant, ...figuresOf(readFileSync(join(folder, file), 'utf8'), lanes, family) };
  });
}

function figuresOf(assembly, invocations, family) {
  const instructions = parse(assembly);
  const { instructions: vector, operations } = wholeInstructions(commonPath(instructions), invocations, LEAST_LANES);
  return {
    instructionsPerNonce: vector,
    pipes: { vector },
    operations,
    registers: Number(/numGRF=(\d+)/.exec(assembly)?.[1] ?? 128),
    spills: Number(/spill size (\d+)/i.exec(assembly)?.[1] ?? 0),
    waves: DEVICES[family].threads,
    codeBytes: 16 * instructions.length - 8 * (assembly.match(/\{[^}]*Compacted/g)?.length ?? 0),
  };
}

/** Parses lines such as `(W) add (16|M0) r13.0<1>:d …` and `(~f1.0) goto (32|M0) _0_010 …`; `_0_010:` is a label. */
const parse = (assembly) =>
  parseDisassembly(assembly, /^(\w+):/, (line) => {
    const [, op, wide, operands] = /^(?:\([^)]*\))?\s+([a-z]\w*)[\w.]*(?:\s+\((\d+)\|M\d+\))?\s*(.*)$/.exec(line) ?? [];
    if (!op) return undefined;
    const target = ['if', 'while', 'goto', 'jmpi'].includes(op) ? /\b_\w+/.exec(operands)?.[0] : undefined;
    return { op, lanes: Number(wide ?? 1), memory: op.startsWith('send'), target };
  });
