// Compiles the GPU kernel for Intel's chips with Mesa's ANV, Linux's driver for them. pretend-i915.c simulates a chip.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commonPath, parseDisassembly, wholeInstructions } from '../loop.mjs';
import { manifestOf, whyNoPipelines } from './radv.mjs';

/**
 * Mesa's names of families, with their instruction set in bounds.mjs, the PCI device id of a chip, the threads that
 * a vector engine can hold, and the lanes that it takes at a time.
 */
export const PLATFORMS = {
  skl: { set: 'gen9', device: 0x1912, threads: 7, lanes: 8 },
  icl: { set: 'gen12', device: 0x8a52, threads: 7, lanes: 8 },
  tgl: { set: 'gen12', device: 0x9a49, threads: 7, lanes: 8 },
  dg2: { set: 'xe', device: 0x56a0, threads: 8, lanes: 8 },
  mtl: { set: 'xe', device: 0x7d55, threads: 8, lanes: 8 },
  lnl: { set: 'xe', device: 0x64a0, threads: 8, lanes: 16 },
  bmg: { set: 'xe', device: 0xe20b, threads: 8, lanes: 16 },
};
const HEADERS = '/usr/include/libdrm';

export function whyNoAnv() {
  if (!manifestOf('intel')) return 'Mesa’s ANV is missing: apt-get install mesa-vulkan-drivers';
  return existsSync(join(HEADERS, 'i915_drm.h')) ? whyNoPipelines() : 'headers are missing: apt-get install libdrm-dev';
}

/** Builds pretend-i915.c. @returns the library's path */
export function buildPretence(folder) {
  const library = join(folder, 'pretend-i915.so');
  const source = fileURLToPath(new URL('./pretend-i915.c', import.meta.url));
  const flags = ['-O1', '-shared', '-fPIC', '-I', HEADERS, '-o', library, source, '-ldl'];
  const { status, stderr, error } = spawnSync('cc', flags, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`pretend-i915.c was not compiled: ${error?.message ?? stderr}`);
  return library;
}

/**
 * @param program of `buildPipelines`
 * @param pretence of `buildPretence`
 * @param spirv paths, by variant
 * @param family one of PLATFORMS
 * @returns a row for each variant, without bound
 */
export function compileWithAnv(program, pretence, spirv, family) {
  const { status, stdout, stderr, error } = spawnSync(program, Object.values(spirv), {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    env: {
      ...process.env,
      LD_PRELOAD: pretence,
      I915_DEVICE: `${PLATFORMS[family].device}`,
      VK_DRIVER_FILES: manifestOf('intel'),
      MESA_SHADER_CACHE_DISABLE: 'true',
    },
  });
  if (status !== 0) throw new Error(`ANV compiled nothing for ${family}: ${error?.message ?? stderr}`);
  const compiler = `ANV ${/^driver .*?(\d+\.\d+\.\d+)/m.exec(stdout)?.[1] ?? 'of an unknown version'}`;
  const shaders = stdout.split(/^shader .*$/m).slice(1);
  return Object.keys(spirv).map((variant, i) => ({ family, compiler, variant, ...figuresOf(shaders[i], family) }));
}

function figuresOf(text, family) {
  const statistic = (name) => Number(new RegExp(`^statistic ${name}: (\\d+)$`, 'm').exec(text)?.[1]);
  const instructions = parse(text.slice(text.indexOf('\nassembly\n'), text.lastIndexOf('\nend')));
  const invocations = statistic('Max dispatch width');
  const { threads, lanes } = PLATFORMS[family];
  const { instructions: vector, operations } = wholeInstructions(commonPath(instructions), invocations, lanes);
  return {
    instructionsPerNonce: vector,
    pipes: { vector },
    operations,
    registers: statistic('Max live registers'),
    spills: statistic('Spill Count'),
    waves: threads,
    codeBytes: 16 * statistic('Instruction Count'),
  };
}

/** Parses lines such as `add(16)  g4<1>D …` and `(+f0.0) if(32)  JIP:  LABEL0 …`; `LABEL0:` is a label. */
const parse = (assembly) =>
  parseDisassembly(assembly, /^(LABEL\d+):/, (line) => {
    const [, op, wide, operands] = /^(?:\([^)]*\)\s*)?([a-z]\w*)[\w.]*\s*[\w ]*\((\d+)\)\s*(.*)$/.exec(line) ?? [];
    if (!op) return undefined;
    const target = ['if', 'while'].includes(op) ? /LABEL\d+/.exec(operands)?.[0] : undefined;
    return { op, lanes: Number(wide), memory: op.startsWith('send'), target };
  });
