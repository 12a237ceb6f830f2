// Compiles every variant of the GPU kernel with every compiler of this machine, for every family of chips.

import { boundOf } from '../bounds.mjs';
import { withFolder, writePrinted, writeSpirv } from '../shaders.mjs';
import { buildPretence, compileWithAnv, PLATFORMS, whyNoAnv } from './anv.mjs';
import { compileWithClang, PROCESSORS, whyNoClang } from './clang.mjs';
import { compileWithOcloc, DEVICES, nameOcloc, whyNoOcloc } from './ocloc.mjs';
import { CHIPS, compileWithPtxas, toolkits, whyNoPtxas } from './ptxas.mjs';
import { buildPipelines, compileWithRadv, FAMILIES, whyNoRadv } from './radv.mjs';

/** Each compiler: why it is missing, its families with their instruction sets, and how it compiles one. */
const COMPILERS = {
  RADV: { whyNot: whyNoRadv, sets: FAMILIES, prepare: prepareRadv },
  ptxas: { whyNot: whyNoPtxas, sets: setsOf(CHIPS), prepare: preparePtxas },
  ocloc: { whyNot: whyNoOcloc, sets: setsOf(DEVICES), prepare: prepareOcloc },
  clang: { whyNot: whyNoClang, sets: PROCESSORS, prepare: prepareClang },
  ANV: { whyNot: whyNoAnv, sets: setsOf(PLATFORMS), prepare: prepareAnv },
};

function setsOf(families) {
  return Object.fromEntries(Object.entries(families).map(([family, { set }]) => [family, set]));
}

/** @returns the missing compilers, by name, with the reason */
export function missingCompilers() {
  return Object.fromEntries(
    Object.entries(COMPILERS).flatMap(([name, { whyNot }]) => {
      const why = whyNot();
      return why ? [[name, why]] : [];
    }),
  );
}

/** @returns all families with the name of their compiler */
export const allFamilies = () =>
  Object.entries(COMPILERS).flatMap(([compiler, { sets }]) =>
    Object.entries(sets).map(([family, set]) => ({ compiler, family, set })),
  );

/**
 * @param {string[]} [families] names of the families to compile for; all by default
 * @param {(variant: string, file: string) => void} [changed] changes the kernel of a variant before it is compiled, for
 *   tests
 * @returns rows; none of families whose compiler is missing
 */
export function compileAll(families, changed = () => {}) {
  const missing = missingCompilers();
  return withFolder(async (folder) => {
    const rows = [];
    const mesa = {};
    for (const [name, { sets, prepare }] of Object.entries(COMPILERS)) {
      const wanted = Object.entries(sets).filter(([family]) => !families || families.includes(family));
      if (missing[name] || wanted.length === 0) continue;
      const compile = await prepare(folder, changed, mesa);
      for (const [family, set] of wanted) rows.push(...compile(family).map((row) => judged(row, set)));
    }
    return rows;
  });
}

function judged({ family, compiler, variant, instructionsPerNonce, ...others }, set) {
  const bound = boundOf(set);
  const ofBound = Number((bound / instructionsPerNonce).toFixed(4));
  return { family, compiler, variant, set, instructionsPerNonce, bound, ofBound, ...others };
}

async function prepareRadv(folder, changed, mesa) {
  const { program, spirv } = await prepareMesa(folder, changed, mesa);
  return (family) => compileWithRadv(program, spirv, family);
}

async function prepareAnv(folder, changed, mesa) {
  const { program, spirv } = await prepareMesa(folder, changed, mesa);
  const pretence = buildPretence(folder);
  return (family) => compileWithAnv(program, pretence, spirv, family);
}

/** Makes the files that both of Mesa's drivers need, at the first call. @param mesa where their paths are kept */
async function prepareMesa(folder, changed, mesa) {
  if (!mesa.program) {
    mesa.spirv = await writeSpirv(folder);
    changeEach(mesa.spirv, changed);
    mesa.program = buildPipelines(folder);
  }
  return mesa;
}

function preparePtxas(folder, changed) {
  const ptx = writePrinted(folder, 'ptx');
  changeEach(ptx, changed);
  const all = toolkits();
  // The oldest toolkit that knows a chip: it comes with a disassembler in Debian, and newer ones make the same of the
  // kernel.
  return (family) => {
    for (const toolkit of all) {
      const rows = compileWithPtxas(toolkit, ptx, family);
      if (rows.length > 0) return rows;
    }
    return [];
  };
}

function prepareOcloc(folder, changed) {
  const sources = writePrinted(folder, 'cl');
  changeEach(sources, changed);
  const compiler = nameOcloc(folder);
  return (family) => compileWithOcloc(sources, family, compiler);
}

function prepareClang(folder, changed) {
  const sources = writePrinted(folder, 'cl');
  changeEach(sources, changed);
  return (family) => compileWithClang(sources, family);
}

function changeEach(paths, changed) {
  for (const [variant, path] of Object.entries(paths)) changed(variant, path);
}
