// The tables of the README, from the recorded counts.

import { expectedRates } from './chips.mjs';

/** Chips as their buyers know them, with a family that stands for them and the compiler of their driver. */
const GENERATIONS = [
  ['Radeon HD 7000 to RX 590 (GCN 1 to 4)', 'polaris10', 'RADV'],
  ['Radeon Vega and VII, Instinct MI100 to MI300', 'vega10', 'RADV'],
  ['Radeon RX 5000 (RDNA 1)', 'navi10', 'RADV'],
  ['Radeon RX 6000 (RDNA 2)', 'navi21', 'RADV'],
  ['Radeon RX 7000 (RDNA 3)', 'navi31', 'RADV'],
  ['Radeon RX 9000 (RDNA 4)', 'gfx1201', 'RADV'],
  ['Radeon RX 6000 (RDNA 2), by LLVM', 'gfx1030', 'clang'],
  ['GeForce GTX 10 (Pascal)', 'sm_61', 'ptxas'],
  ['Titan V, V100 (Volta)', 'sm_70', 'ptxas'],
  ['GeForce GTX 16, RTX 20 (Turing)', 'sm_75', 'ptxas'],
  ['A100 (Ampere)', 'sm_80', 'ptxas'],
  ['GeForce RTX 30 (Ampere)', 'sm_86', 'ptxas'],
  ['GeForce RTX 40, L40 (Ada)', 'sm_89', 'ptxas'],
  ['H100, H200 (Hopper)', 'sm_90', 'ptxas'],
  ['B200 (Blackwell)', 'sm_100', 'ptxas'],
  ['GeForce RTX 50 (Blackwell)', 'sm_120', 'ptxas'],
  ['Core 6 to 10 (Gen9), Linux', 'skl', 'ANV'],
  ['Core 10 mobile (Gen11), Linux', 'icl', 'ANV'],
  ['Core 11 to 14, Iris Xe (Xe-LP), Linux', 'tgl', 'ANV'],
  ['Arc A (Xe-HPG), Linux', 'dg2', 'ANV'],
  ['Arc B, Core Ultra 200V (Xe2), Linux', 'bmg', 'ANV'],
  ['Core 6 to 10 (Gen9), IGC', 'cfl', 'ocloc'],
  ['Core 11 to 14, Iris Xe (Xe-LP), IGC', 'tgllp', 'ocloc'],
  ['Arc A (Xe-HPG), IGC', 'acm-g10', 'ocloc'],
];

const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** @returns the tables in Markdown: of generations and of cards. @param rows recorded ones */
export function documentTables(rows) {
  return [
    table(
      ['chips', 'compiler', 'best shader', 'instructions', 'least', 'ratio', 'other shaders', 'registers, code'],
      GENERATIONS.map(([name, family, compiler]) => {
        const [best, ...others] = rows
          .filter((row) => row.families.includes(family) && row.compiler.startsWith(compiler))
          .sort((a, b) => a.instructionsPerNonce - b.instructionsPerNonce);
        if (!best)
          throw new Error(`${compiler} compiled nothing for ${family}: --record takes all compilers, for all families`);
        return [
          name,
          best.compiler,
          `\`${best.variant}\``,
          best.instructionsPerNonce,
          best.bound,
          best.ofBound.toFixed(3),
          others.map(({ variant, instructionsPerNonce }) => `\`${variant}\` ${instructionsPerNonce}`).join(', '),
          `${best.registers}, ${(best.codeBytes / 1024).toFixed(1)} KiB`,
        ];
      }),
    ),
    table(
      ['card', 'units', 'boost clock', 'expected with `wgsl`', 'with the best shader', 'published'],
      expectedRates(rows).map(({ name, unit, units, MHz, best, plain, published }) => [
        name,
        `${units} ${unit}`,
        `${MHz} MHz`,
        `${(plain.hashesPerSecond / 1e9).toFixed(1)} GH/s`,
        `**${(best.hashesPerSecond / 1e9).toFixed(1)} GH/s**`,
        published ? `${published.replace(' (', ' GH/s (')}` : '',
      ]),
    ),
  ];
}

/** @returns a document with its tables replaced by new ones with the same head */
export function withTables(text, tables) {
  return tables.reduce((document, each) => {
    const [head] = each.split('\n');
    const at = document.indexOf(head);
    if (at < 0) throw new Error(`the README has no table with the head ${head}`);
    const old = /^(?:\|.*\n)+/.exec(document.slice(at))[0];
    return document.replace(old, () => `${each}\n`);
  }, text);
}
