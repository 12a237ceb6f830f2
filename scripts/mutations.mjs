// Puts faults into a copy of the built code and counts those that the tests notice.
//
//   node scripts/mutations.mjs [--sample 100] [--seed 1] [--since REV] [--again FILE] [--seconds S] [--long]
//     [--tests PATH]… [--json] [PATH…]
//
// It draws faults at random from all places of src/ at which a rule of mutations/places.mjs applies: those in the files
// and folders named, and in lines that are new since REV. With --again it takes the faults instead that an earlier run
// with --json has written to FILE as not noticed or not judged, if their lines are still where they were. A fault
// counts as noticed if a test of `npm test` fails with it and passes without it. All faults are in one build, behind a
// switch; each test is repeated in place with the faults that it reaches. With --long, the long tests that are nearest
// to the code judge the faults that are left then. After S seconds the run stops, and lists the faults that are left as
// not judged. With --tests only the tests in these files and folders judge. A test that fails without a fault judges
// nothing, and is listed.

import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Campaign } from './mutations/campaign.mjs';
import { findPlaces, putIn } from './mutations/places.mjs';
import { makeSelection } from './mutations/selection.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Modules that run in a browser, which cannot import the switch. In a test they ask that of the test's process. */
const IN_BROWSER = /^dist\/(rig|fleet)\/page\//;
/** Number of files of long tests that judge a file of code: those of a command reach nearly all code. */
const LONG_FILES = 5;

/**
 * Which of the files of tests that reach a fault judge it from their start: first the nearest, which notice most
 * faults, then more. Those that are further away reach a module by way of many others, and seldom fail because of it.
 */
const FILES_TOGETHER = [
  [0, 4],
  [4, 30],
];

const options = readOptions();
process.chdir(root);
if (spawnSync(process.execPath, ['scripts/ready.mjs', '--no-install'], { stdio: 'inherit' }).status !== 0)
  process.exit(1);
const folder = mkdtempSync(join(tmpdir(), 'pickaxe-mutations-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
// A second signal must not interrupt the removal.
for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => process.exit(1));

const copy = join(folder, 'pickaxe');
copyCheckout(copy);
// The build may be older than this script's start.
const { seededRandom } = await import('../dist/mock-node/random.js');
const faults = chooseFaults(findAll());
putAllIn(faults);
await judge();

function readOptions() {
  const options = {
    sample: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    since: { type: 'string' },
    again: { type: 'string' },
    seconds: { type: 'string', default: 'Infinity' },
    tests: { type: 'string', multiple: true, default: [] },
    long: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  };
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options });
    const [sample, seed, seconds] = [values.sample, values.seed, values.seconds].map(Number);
    if (!Number.isSafeInteger(sample) || sample < 1) throw new Error('--sample is a whole number above 0');
    if (!Number.isSafeInteger(seed)) throw new Error('--seed is a whole number');
    if (!(seconds > 0)) throw new Error('--seconds is a number above 0');
    return { ...values, sample, seed, seconds, paths: positionals };
  } catch (fault) {
    console.error(`${fault.message}. The head of scripts/mutations.mjs shows its usage.`);
    process.exit(2);
  }
}

function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28 })
    .split('\n')
    .filter(Boolean);
}

function copyCheckout(to) {
  for (const path of [...git('ls-files', '-co', '--exclude-standard'), 'dist', 'native/build']) {
    // A file that was deleted is still listed until that is committed.
    if (existsSync(path)) cpSync(path, join(to, path), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(to, 'node_modules'));
}

/**
 * @returns every place in which a fault may be put: its `rule`, its number (`order`) in the module `built`, and the
 *   `file` and `line` of its source
 */
function findAll() {
  const isWanted = linesWanted();
  const found = [];
  for (const name of readdirSync('dist', { recursive: true }).sort()) {
    if (!name.endsWith('.js')) continue;
    const built = join('dist', name);
    const text = readFileSync(built, 'utf8');
    const map = new SourceMap(JSON.parse(readFileSync(`${built}.map`, 'utf8')));
    const lines = lineStarts(text);
    for (const [order, place] of findPlaces(text).entries()) {
      const line = lines.findLastIndex((start) => start <= place.start);
      const { originalSource, originalLine } = map.findEntry(line, place.start - lines[line]);
      const file = relative(root, join(root, dirname(built), originalSource));
      const where = { file, line: originalLine + 1 };
      if (isWanted(where)) found.push({ ...where, built, order, rule: place.rule });
    }
  }
  return found;
}

function lineStarts(text) {
  return [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
}

/** @returns a function that tells whether the options allow faults in a line */
function linesWanted() {
  const { paths, since } = options;
  if (since === undefined) return ({ file }) => isIn(paths, file);
  const fresh = new Set();
  let file = '';
  for (const line of git('diff', '--unified=0', since, '--', 'src')) {
    if (line.startsWith('+++ ')) file = line.slice('+++ b/'.length);
    const [, first, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    for (let i = 0; first !== undefined && i < Number(count); i++) fresh.add(`${file}:${Number(first) + i}`);
  }
  return ({ file, line }) => isIn(paths, file) && fresh.has(`${file}:${line}`);
}

/** @returns whether a file is one of the paths, or in one of them. No paths stand for all files */
function isIn(paths, file) {
  return paths.length === 0 || paths.some((path) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`));
}

/** @returns those that an earlier run has not noticed, or else a random sample, with numbers as `id` */
function chooseFaults(places) {
  if (options.again === undefined) return draw(places);
  const { notNoticed, notJudged } = JSON.parse(readFileSync(options.again, 'utf8'));
  const keyOf = ({ file, line, rule }) => `${file}:${line}: ${rule}`;
  const wanted = new Set([...notNoticed, ...notJudged].map(keyOf));
  return places.filter((place) => wanted.has(keyOf(place))).map((place, id) => ({ ...place, id }));
}

function draw(places) {
  const random = seededRandom(options.seed);
  const most = Math.min(options.sample, places.length);
  for (let i = 0; i < most; i++) {
    const j = i + Math.floor(random() * (places.length - i));
    [places[i], places[j]] = [places[j], places[i]];
  }
  return places.slice(0, most).map((place, id) => ({ ...place, id }));
}

function putAllIn(all) {
  cpSync('scripts/mutations/switch.mjs', join(copy, 'dist/fault-switch.js'));
  for (const built of new Set(all.map((fault) => fault.built))) {
    const text = readFileSync(built, 'utf8');
    const places = findPlaces(text);
    const some = all.filter((fault) => fault.built === built);
    const chosen = some.toSorted((a, b) => a.order - b.order).map(({ id, order }) => ({ ...places[order], id }));
    const path = relative(dirname(built), 'dist/fault-switch.js');
    const first = IN_BROWSER.test(built) ? '' : `import './${path}';\n`;
    const [shebang] = /^#!.*\n/.exec(text) ?? [''];
    writeFileSync(join(copy, built), shebang + first + putIn(text, chosen).slice(shebang.length));
  }
}

/** @returns the files of tests: those in folders of the module’s name, and then those with fewer imports between */
function nearestFirst(built, distances) {
  const names = built.replace(/^dist\/|\.js$/g, '').split('/');
  const common = (path) => {
    const others = path.replace(/^test\/|(\.\w+)*\.test\.ts$/g, '').split('/');
    const end = names.findIndex((name, i) => name !== others[i]);
    return end < 0 ? names.length : end;
  };
  // Many files of tests are few imports away from a module without trying it, so the folder comes first.
  return [...distances].sort(([a, x], [b, y]) => common(b) - common(a) || x - y).map(([path]) => path);
}

/** @returns the items of all lists without repetitions: the first of each list, then the second of each list, … */
function inTurn(lists) {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return [...new Set(Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list[i] ?? [])).flat())];
}

async function judge() {
  const tests = git('ls-files', 'test').filter((path) => path.endsWith('.test.ts') && isIn(options.tests, path));
  const log = (line) => console.error(`${Math.round(performance.now() / 1000)} s: ${line}`);
  const endsMs = performance.now() + options.seconds * 1000;
  const campaign = new Campaign({ root: copy, folder, faults: faults.length, endsMs, log });
  const isLong = (path) => path.endsWith('.long.test.ts');
  const judgeBy = async (some, most) => {
    const select = makeSelection(root, some);
    const left = faults.filter(({ id }) => !campaign.noticed.has(id));
    const codes = [...new Set(left.map(({ built }) => built))];
    const nearest = new Map(codes.map((built) => [built, nearestFirst(built, select(built)).slice(0, most)]));
    const files = inTurn([...nearest.values()]);
    log(`${left.length} faults in ${codes.length} files of code, which ${files.length} files of tests can reach`);
    await campaign.inPlace(files);
    const nearestOf = new Map(left.map(({ id, built }) => [id, nearest.get(built)]));
    for (const range of FILES_TOGETHER) await campaign.together(nearestOf, range);
  };
  await judgeBy(tests.filter((path) => !isLong(path)));
  if (options.long) await judgeBy(tests.filter(isLong), LONG_FILES);
  print(campaign);
}

function print({ noticed, reached, failing, isOutOfTime }) {
  const everReached = new Set([...reached.values()].flatMap((ids) => [...ids]));
  const shown = ({ id, file, line, rule }) => ({ file, line, rule, isReached: everReached.has(id) });
  const left = faults.filter(({ id }) => !noticed.has(id));
  // Each test may still notice a fault from the start of its file.
  const notNoticed = isOutOfTime ? [] : left;
  const result = {
    putIn: faults.length,
    noticed: noticed.size,
    notNoticed: notNoticed.map(shown),
    notJudged: (isOutOfTime ? left : []).map(shown),
    failing: [...failing],
    wings: wingsOf(noticed),
  };
  if (options.json) {
    console.log(JSON.stringify(result, undefined, 2));
    return;
  }
  for (const [name, { putIn, noticed: count }] of Object.entries(result.wings))
    console.log(`${name}: ${count} of ${putIn}`);
  const list = (what, some) => {
    for (const { file, line, rule, isReached } of some) {
      console.log(`${what}: ${file}:${line}: ${rule}${isReached ? '' : ' (no test reached it)'}`);
    }
  };
  list('not noticed', result.notNoticed);
  list('not noticed by the tests that ran in time', result.notJudged);
  for (const test of result.failing) console.log(`fails without a fault, and judges nothing: ${test}`);
  const percent = ((100 * result.noticed) / (result.putIn || 1)).toFixed(1);
  const least = result.notJudged.length > 0 ? 'at least ' : '';
  console.log(`${least}${result.noticed} of ${result.putIn} faults noticed (${percent} %)`);
}

function wingsOf(noticed) {
  const wings = {};
  for (const { id, file } of faults.toSorted((a, b) => (a.file < b.file ? -1 : 1))) {
    const name = file.split('/')[1];
    wings[name] ??= { putIn: 0, noticed: 0 };
    wings[name].putIn++;
    if (noticed.has(id)) wings[name].noticed++;
  }
  return wings;
}
