// Measures how easily a stranger finds something in src/:
//
//   node scripts/house.mjs [--json]
//
// It prints the names at the top and the arrows between them, the largest folder, names used twice, whether the words
// of the field lead to the files that answer, and how far a reader walks to follow a value through the code.
// test/scripts/house.test.ts holds the bounds.

import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { QUESTIONS, WALKS } from './journeys.mjs';

const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

/** @returns the paths of all files below a folder, with slashes, in alphabetical order */
function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath.replaceAll('\\', '/'), name).slice(folder.length))
    .sort();
}

/**
 * @param src path with a slash at its end
 * @returns for each TypeScript file, the files that it imports, types included
 */
export function importsIn(src, files = filesBelow(src)) {
  const known = new Set(files);
  return new Map(
    files
      .filter((file) => file.endsWith('.ts'))
      .map((file) => {
        const paths = [...readFileSync(src + file, 'utf8').matchAll(IMPORT)].map(([, path]) =>
          join(dirname(file), path),
        );
        return [file, paths.map((path) => path.replace(/\.js$/, '.ts')).filter((path) => known.has(path))];
      }),
  );
}

/** @returns the number of times that neighbours in the list differ */
function changes(list) {
  return list.filter((each, at) => at > 0 && each !== list[at - 1]).length;
}

/** @returns whether a path has every word of one of the alternatives, in the singular */
export function answers(path, word) {
  return word.split('|').some((words) => words.split(' ').every((each) => path.includes(each.replace(/s$/, ''))));
}

function walkOf(files) {
  const level = (depth) => files.map((file) => file.split('/').slice(0, depth).join('/'));
  return {
    files: new Set(files).size,
    stays: files.length,
    moves: { wings: changes(level(1)), rooms: changes(level(2)) },
  };
}

/** @param root path of a checkout, with a slash at its end */
export function measure(root) {
  const src = `${root}src/`;
  const files = filesBelow(src);
  const imports = importsIn(src, files);
  const wingOf = (file) => file.split('/')[0];
  const inWings = (file) => file.includes('/');

  const arrows = new Set(
    [...imports].flatMap(([file, targets]) =>
      [file, ...targets].every(inWings) ? targets.map((target) => `${wingOf(file)} → ${wingOf(target)}`) : [],
    ),
  );
  for (const wing of new Set(files.map(wingOf))) arrows.delete(`${wing} → ${wing}`);
  const twoWay = [...arrows].filter((arrow) => arrows.has(arrow.split(' → ').reverse().join(' → ')));

  const folders = new Map();
  for (const file of files) {
    for (let [entry, folder] = [file, dirname(file)]; entry !== '.'; [entry, folder] = [folder, dirname(folder)]) {
      if (!folders.has(folder)) folders.set(folder, new Set());
      folders.get(folder).add(entry);
    }
  }
  folders.delete('.');
  const [largest] = [...folders].sort(([, a], [, b]) => b.size - a.size);

  const code = files.filter((file) => file.endsWith('.ts'));
  const named = new Map();
  for (const file of code) named.set(basename(file), (named.get(basename(file)) ?? 0) + 1);
  const lines = (paths) => paths.reduce((sum, path) => sum + readFileSync(path, 'utf8').split('\n').length - 1, 0);
  const linesIn = (folder, pattern) =>
    lines(
      filesBelow(`${root}${folder}/`)
        .filter((file) => pattern.test(file))
        .map((file) => `${root}${folder}/${file}`),
    );
  const documents = ['README.md', ...filesBelow(`${root}docs/`).map((file) => `docs/${file}`)].filter((path) =>
    path.endsWith('.md'),
  );
  // Bars of tables and dashes of lists are not words.
  const wordsOf = (text) => text.split(/\s+/).filter((each) => /[\p{L}\p{N}]/u.test(each)).length;
  const words = documents.map((path) => wordsOf(readFileSync(root + path, 'utf8')));

  return {
    names: new Set(files.filter(inWings).map(wingOf)).size,
    arrows: arrows.size,
    twoWay,
    largestFolder: { name: largest[0], entries: largest[1].size },
    namesUsedTwice: [...named.values()].filter((count) => count > 1).length,
    ruleLines: lines([`${root}test/wings.ts`]),
    questions: {
      asked: QUESTIONS.length,
      found: QUESTIONS.filter(([word, file]) => answers(file, word)).length,
      lost: QUESTIONS.filter(([word, file]) => !answers(file, word)).map(([word, file]) => `${word} → ${file}`),
    },
    walks: Object.fromEntries(Object.entries(WALKS).map(([name, walk]) => [name, walkOf(walk)])),
    documents: { files: documents.length, words: words.reduce((sum, each) => sum + each, 0) },
    lines: {
      src: lines(files.map((file) => src + file)),
      bench: linesIn('bench', /\.(mjs|c)$/),
      test: linesIn('test', /\.(ts|mjs)$/),
    },
  };
}

function print(house) {
  console.log(`names at the top of src/        ${house.names}`);
  console.log(`arrows between them             ${house.arrows}, two-way ${house.twoWay.length}`);
  console.log(`entries of the largest folder   ${house.largestFolder.entries} (${house.largestFolder.name})`);
  console.log(`file names used twice or more   ${house.namesUsedTwice}`);
  console.log(`lines of test/wings.ts          ${house.ruleLines}`);
  const { asked, found, lost } = house.questions;
  console.log(`words that lead to the file     ${found} of ${asked}; not: ${lost.join(', ') || 'none'}`);
  console.log(`words of README and docs/       ${house.documents.words} in ${house.documents.files} files`);
  console.log(`lines of src, bench, test       ${Object.values(house.lines).join(', ')}`);
  console.log('\nwalk                               files  stays  moves between wings, folders');
  for (const [name, { files, stays, moves }] of Object.entries(house.walks)) {
    console.log(name.padEnd(35), `${files}`.padEnd(6), `${stays}`.padEnd(6), `${moves.wings}, ${moves.rooms}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const house = measure(fileURLToPath(new URL('..', import.meta.url)).replaceAll('\\', '/'));
  if (process.argv.includes('--json')) console.log(JSON.stringify(house, undefined, 2));
  else print(house);
}
