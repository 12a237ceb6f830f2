// Puts old faults back into a copy of the built code, one at a time, and runs the simulation's worlds until one of them
// finds the fault:
//
//   node scripts/old-faults.mjs [--world NAME]… [--first S] [--seeds N] [--minutes M] [--fault TEXT] [--all-faults]
//     [--json] [NAME]…
//
// It tries the faults of test/simulation/old-faults.ts, or those whose names contain each NAME, with N seeds in
// each world of the fault, or in those named: M virtual minutes each. Of the faults of the simulation, only those
// happen that show the old fault (`shownBy`), one at a time. With --fault, these are those whose names contain the
// text; with --all-faults, all of them happen, as in other runs. It prints for each old fault how many seeds find
// it, and what they see. It exits with 1 if no seed finds one.

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals } = readOptions();
const { module } = await runnerImport(`${root}test/simulation/old-faults.ts`, { root, configFile: false });
const folder = mkdtempSync(join(tmpdir(), 'pickaxe-old-faults-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
// A second signal must not interrupt the removal.
for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => process.exit(1));

copyCheckout();
const isWanted = (world) => values.world.length === 0 || values.world.includes(world);
const wanted = module.OLD_FAULTS.map((fault) => ({ ...fault, worlds: fault.worlds.filter(isWanted) })).filter(
  ({ name, worlds }) => worlds.length > 0 && positionals.every((part) => name.includes(part)),
);
if (wanted.length === 0) {
  console.error('There is no such old fault in these worlds. They stand in test/simulation/old-faults.ts.');
  process.exit(2);
}
const results = [];
for (const fault of wanted) {
  const result = { name: fault.name, worlds: await judge(fault) };
  results.push(result);
  if (!values.json) console.log(linesOf(result).join('\n'));
}
if (values.json) console.log(JSON.stringify(results));
const isFound = ({ worlds }) => worlds.some(({ found }) => found > 0);
if (!values.json) console.log(`${results.filter(isFound).length} of ${results.length} old faults are found`);
process.exit(results.every(isFound) ? 0 : 1);

function readOptions() {
  const options = {
    world: { type: 'string', multiple: true, default: [] },
    first: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '10' },
    fault: { type: 'string' },
    'all-faults': { type: 'boolean', default: false },
    minutes: { type: 'string', default: '10' },
    json: { type: 'boolean', default: false },
  };
  try {
    const read = parseArgs({ allowPositionals: true, options });
    for (const name of ['first', 'seeds', 'minutes']) {
      if (!(Number(read.values[name]) > 0)) throw new Error(`--${name} is a number above 0`);
    }
    return read;
  } catch (fault) {
    console.error(`${fault.message}. The head of scripts/old-faults.mjs shows its usage.`);
    process.exit(2);
  }
}

function copyCheckout() {
  for (const path of ['package.json', 'dist']) cpSync(join(root, path), join(folder, path), { recursive: true });
  mkdirSync(join(folder, 'scripts'));
  cpSync(join(root, 'scripts/simulate.mjs'), join(folder, 'scripts/simulate.mjs'));
  for (const path of ['node_modules', 'shaders', 'native', 'tsconfig.json'])
    symlinkSync(join(root, path), join(folder, path));
  cpSync(join(root, 'test'), join(folder, 'test'), {
    recursive: true,
    filter: (path) => !path.includes('.long.test.'),
  });
}

/** @returns for each world of the fault: how many seeds find it, and what the first of them sees */
async function judge({ edits, worlds, shownBy }) {
  const before = new Map();
  try {
    for (const { file, from, to } of edits) {
      const path = join(folder, 'dist', file);
      const text = readFileSync(path, 'utf8');
      if (!before.has(path)) before.set(path, text);
      if (text.split(from).length !== 2) throw new Error(`dist/${file} has not once: ${from}`);
      writeFileSync(
        path,
        text.replace(from, () => to),
      );
    }
    const judged = [];
    for (const world of worlds) judged.push({ world, ...(await simulate(world, shownBy)) });
    return judged;
  } finally {
    for (const [path, text] of before) writeFileSync(path, text);
  }
}

async function simulate(world, shownBy) {
  const { first, seeds, minutes, 'all-faults': all, fault = all ? undefined : shownBy } = values;
  const which = [
    '--world',
    world,
    '--first',
    first,
    '--seeds',
    seeds,
    ...(fault === undefined ? [] : ['--fault', fault, '--alone']),
  ];
  const args = ['scripts/simulate.mjs', ...which, '--minutes', minutes, '--go-on', '--json'];
  const text = await new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 28 }, (_, stdout, stderr) =>
      resolve(stdout || stderr),
    );
  });
  let summary;
  try {
    [summary] = JSON.parse(text);
  } catch {
    // The fault may be one that ends the program.
    return { seeds: Number(seeds), found: Number(seeds), first: text.trim().split('\n')[0] };
  }
  const { violations } = summary;
  const found = new Set(violations.map(({ seed }) => seed)).size;
  return { seeds: summary.seeds, found, ...(found > 0 && { first: violations[0].what }) };
}

function linesOf({ name, worlds }) {
  const seen = ({ world, seeds, found, first }) =>
    `  ${world}: ${found} of ${seeds} seeds${first === undefined ? '' : `, such as: ${first.split('\n')[0]}`}`;
  return [name, ...worlds.map(seen)];
}
