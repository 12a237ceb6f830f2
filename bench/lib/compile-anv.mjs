// Compiles the GPU kernel for Intel's chips with Mesa's ANV, Linux's driver for them. It needs `intel_stub_gpu` of
// Mesa's own build (`-Dtools=drm-shim,intel`), which makes programs see a chip. Debian does not package that.

import { spawnSync } from 'node:child_process';
import { manifestOf, whyNoPipelines } from './compile-radv.mjs';
import { commonPath, wholeInstructions } from './gpu-loop.mjs';

/**
 * Mesa's names of families, with their instruction set in gpu-bounds.mjs, the threads that a vector engine can hold,
 * and the lanes that it takes at a time.
 */
export const PLATFORMS = {
  skl: { set: 'gen9', threads: 7, lanes: 8 },
  icl: { set: 'gen12', threads: 7, lanes: 8 },
  tgl: { set: 'gen12', threads: 7, lanes: 8 },
  dg2: { set: 'xe', threads: 8, lanes: 8 },
  mtl: { set: 'xe', threads: 8, lanes: 8 },
  lnl: { set: 'xe', threads: 8, lanes: 16 },
  bmg: { set: 'xe', threads: 8, lanes: 16 },
};
const STUB = 'intel_stub_gpu';

export const whyNoAnv = () => {
  if (!manifestOf('intel')) return 'Mesa’s ANV is missing: apt-get install mesa-vulkan-drivers';
  return spawnSync(STUB, ['--help']).error
    ? `${STUB} is missing: build Mesa with -Dtools=drm-shim,intel`
    : whyNoPipelines();
};

/**
 * @param program of `buildPipelines`
 * @param spirv paths, by variant
 * @param family one of PLATFORMS
 * @returns a row for each variant, without bound
 */
export function compileWithAnv(program, spirv, family) {
  const { status, stdout, stderr, error } = spawnSync(STUB, ['-p', family, program, ...Object.values(spirv)], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    env: { ...process.env, VK_DRIVER_FILES: manifestOf('intel'), MESA_SHADER_CACHE_DISABLE: 'true' },
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
function parse(assembly) {
  let label;
  return assembly.split('\n').flatMap((line) => {
    label = /^(LABEL\d+):/.exec(line)?.[1] ?? label;
    const [, op, wide, operands] = /^(?:\([^)]*\)\s*)?([a-z]\w*)[\w.]*\s*[\w ]*\((\d+)\)\s*(.*)$/.exec(line) ?? [];
    if (!op) return [];
    const instruction = {
      op,
      lanes: Number(wide),
      memory: op.startsWith('send'),
      ...(label !== undefined && { label }),
      ...(['if', 'while'].includes(op) && { target: /LABEL\d+/.exec(operands)?.[0] }),
    };
    label = undefined;
    return [instruction];
  });
}
