// Compiles the GPU kernel for AMD's chips, with Mesa's RADV on its device without a chip.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commonPath, histogram, parseDisassembly } from '../loop.mjs';

/** RADV's names of families, oldest first, with their instruction sets in bounds.mjs. */
export const FAMILIES = Object.fromEntries(
  [
    ['gcn', 'tahiti pitcairn verde oland hainan bonaire kaveri kabini hawaii'],
    ['gcn', 'tonga iceland carrizo fiji stoney polaris10 polaris11 polaris12 vegam'],
    ['vega', 'vega10 vega12 vega20 raven raven2 renoir mi100 mi200 gfx940'],
    ['rdna', 'navi10 navi12 navi14 navi21 navi22 navi23 navi24 vangogh rembrandt'],
    ['rdna', 'navi31 navi32 navi33 phoenix phoenix2 gfx1150 gfx1151 gfx1152 gfx1153 gfx1200 gfx1201'],
  ].flatMap(([set, names]) => names.split(' ').map((family) => [family, set])),
);

/** Bytes of the cache that the units of a group read instructions from (AMD's RDNA and GCN whitepapers). */
const INSTRUCTION_CACHE = 32 * 1024;

const MANIFESTS = '/usr/share/vulkan/icd.d';

/** @returns why RADV cannot be used on this machine; undefined when it can */
export const whyNoRadv = () =>
  manifestOf('radeon') ? whyNoPipelines() : 'Mesa’s RADV is missing: apt-get install mesa-vulkan-drivers';

/** @returns why pipelines.c cannot be built on this machine; undefined when it can */
export function whyNoPipelines() {
  if (!existsSync('/usr/include/vulkan/vulkan.h')) return 'Vulkan’s headers are missing: apt-get install libvulkan-dev';
  return spawnSync('cc', ['--version']).error ? 'there is no C compiler: apt-get install gcc libc6-dev' : undefined;
}

/** @returns the path of the manifest of one of Mesa's drivers; undefined when it is not installed */
export function manifestOf(driver) {
  const files = existsSync(MANIFESTS) ? readdirSync(MANIFESTS) : [];
  const name = files.find((file) => file.startsWith(`${driver}_icd`) && file.endsWith('.json'));
  return name && join(MANIFESTS, name);
}

/** Builds pipelines.c. @returns the program's path */
export function buildPipelines(folder) {
  const program = join(folder, 'pipelines');
  const source = fileURLToPath(new URL('./pipelines.c', import.meta.url));
  const { status, stderr, error } = spawnSync('cc', ['-O1', '-o', program, source, '-lvulkan'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`pipelines.c was not compiled: ${error?.message ?? stderr}`);
  return program;
}

/**
 * @param program of `buildPipelines`
 * @param spirv paths, by variant
 * @param family one of FAMILIES
 * @returns a row for each variant, without bound; nothing for a family that this Mesa does not know
 */
export function compileWithRadv(program, spirv, family) {
  const { status, stdout, stderr } = spawnSync(program, Object.values(spirv), {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    env: {
      ...process.env,
      VK_DRIVER_FILES: manifestOf('radeon'),
      RADV_FORCE_FAMILY: family,
      MESA_SHADER_CACHE_DISABLE: 'true',
    },
  });
  if (/Unknown family/.test(stderr)) return [];
  if (status !== 0) throw new Error(`RADV compiled nothing for ${family}: ${stderr}`);
  const compiler = `RADV ${/^driver .*?(\d+\.\d+\.\d+)/m.exec(stdout)?.[1] ?? 'of an unknown version'}`;
  const shaders = stdout.split(/^shader .*$/m).slice(1);
  return Object.keys(spirv).map((variant, i) => ({ family, compiler, variant, ...figuresOf(shaders[i]) }));
}

function figuresOf(text) {
  const statistics = Object.fromEntries(
    [...text.matchAll(/^statistic (.*): (.*)$/gm)].map(([, name, value]) => [name, Number(value)]),
  );
  const path = commonPath(parse(text.slice(text.indexOf('\nassembly\n'), text.lastIndexOf('\nend'))));
  const pipes = histogram(path, ({ op }) =>
    op.startsWith('v_') ? 'vector' : op === 's_delay_alu' ? 'hints' : 'scalar',
  );
  return {
    instructionsPerNonce: pipes.vector,
    pipes,
    operations: histogram(path),
    registers: statistics.VGPRs,
    spills: statistics['Spilled VGPRs'] + statistics['Spilled SGPRs'],
    waves: statistics['Subgroups per SIMD'],
    codeBytes: statistics['Code size'],
    cacheBytes: INSTRUCTION_CACHE,
  };
}

/**
 * Parses RADV's disassembly: `BB1:` before a block, and lines such as `v_xor_b32_e32 v3, s1, v2 ; 3a0604ff`. Of the
 * oldest chips' code, RADV has none and prints its own notation: `BB1`, and lines such as `v1: %5:v[3] = v_xor_b32 …`.
 */
const parse = (assembly) =>
  parseDisassembly(assembly, /^(BB\d+):?$/, (line) => {
    const [, op, operands] = /^\t *(?:.* = )?([a-z]\w+)\s*([^;]*)/.exec(line) ?? [];
    if (!op) return undefined;
    const target = /^s_c?branch/.test(op) ? /BB\d+/.exec(operands)?.[0] : undefined;
    return { op: op.replace(/_e(32|64)$/, ''), memory: /^(buffer|global|flat)_/.test(op), target };
  });
