// Counts what the makers' compilers make of each variant of the GPU kernel, for every family of chips, and computes the
// rates that cards can reach by it. No GPU is needed.
//
//   node native/compilers/count.mjs [--families navi31,sm_86] [--json] [--record] [--out FILE]
//
// Mesa's RADV and ANV compile for AMD's and Intel's chips what Dawn makes of the shaders; NVIDIA's ptxas, Intel's ocloc
// and clang compile the same kernel as PTX and OpenCL C. A missing compiler is named with what it needs. The bound is
// the least number of instructions that a nonce takes on an instruction set (bounds.mjs). Instructions are those of the
// loop over nonces without a hit, in the busiest pipe: lanes × clock ÷ instructions is the rate of a unit.
//
// --record writes the counts to instructions.json, with which a test compares later ones, and the tables of
// the README.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { printHeading, printTable, save } from '../../bench/lib/figures.mjs';
import { INSTRUCTION_SETS } from './bounds.mjs';
import { expectedRates } from './chips.mjs';
import { allFamilies, compileAll, missingCompilers } from './compile/all.mjs';
import { documentTables, withTables } from './document.mjs';
import { grouped, RECORD, recordOf } from './instructions.mjs';

const { values } = parseArgs({
  options: {
    families: { type: 'string' },
    json: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const names = allFamilies().map(({ family }) => family);
const families = values.families?.split(',');
for (const family of families ?? []) {
  if (!names.includes(family)) throw new Error(`there is no family ${family}: name some of ${names.join(', ')}`);
}

const missing = missingCompilers();
for (const [name, why] of Object.entries(missing)) console.error(`not compiled with ${name}: ${why}`);
const rows = await compileAll(families);
if (rows.length === 0) throw new Error('nothing was compiled: see above for what is missing');

if (values.json) console.log(JSON.stringify({ rows }));
else report();
save(values.out, { rows, missing });
if (values.record) record();

function record() {
  if (families) throw new Error('--record takes all families: leave --families out');
  writeFileSync(fileURLToPath(RECORD), recordOf(rows));
  const document = fileURLToPath(new URL('README.md', import.meta.url));
  writeFileSync(document, withTables(readFileSync(document, 'utf8'), documentTables(grouped(rows))));
}

function report() {
  printHeading();
  const figure = (number, unit = '') => (number === undefined ? 'not known' : `${number}${unit}`);
  printTable(
    [
      'families',
      'compiler',
      'variant',
      'instructions',
      'bound',
      'of bound',
      'pipes',
      'registers',
      'spills',
      'waves',
      'code',
      'cache',
    ],
    grouped(rows).map(({ families: alike, ...row }) => [
      alike.join(' '),
      row.compiler,
      row.variant,
      row.instructionsPerNonce,
      row.bound,
      row.ofBound.toFixed(3),
      Object.entries(row.pipes)
        .map(([pipe, n]) => `${n} ${pipe}`)
        .join(', '),
      row.registers,
      row.spills,
      row.waves,
      figure((row.codeBytes / 1024).toFixed(1), ' KiB'),
      figure(row.cacheBytes && row.cacheBytes / 1024, ' KiB'),
    ]),
  );
  const sets = new Set(rows.map(({ set }) => set));
  printTable(
    ['instruction set', 'bound', 'why'],
    [...sets].map((set) => [set, rows.find((row) => row.set === set).bound, INSTRUCTION_SETS[set].why]),
  );
  const rate = ({ hashesPerSecond }) => (hashesPerSecond / 1e9).toFixed(1);
  printTable(
    ['card', 'family', 'units × lanes', 'MHz', 'best variant', 'instructions', 'GH/s', 'GH/s with wgsl', 'published'],
    expectedRates(grouped(rows)).map(({ name, family, units, lanes, MHz, best, plain, published = '' }) => [
      name,
      family,
      `${units} × ${lanes}`,
      MHz,
      best.variant,
      best.instructions,
      rate(best),
      rate(plain),
      published,
    ]),
  );
}
