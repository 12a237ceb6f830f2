// Finds the files of tests that can reach a module of the built code, by the imports that are written in the files.

import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Imports, the files of worker threads, and the programs of the built code that tests start. */
const LINKS = /\b(?:from|import|URL\()\s*\(?\s*['"](\.{1,2}\/[^'"]+|#pickaxe\/[^'"]+)['"]|(dist\/[\w/.-]+\.js)/g;

/**
 * @param root the folder of the checkout
 * @param tests paths of files of tests, relative to it
 * @returns a function of the path of a module in dist/, which gives the distance of each file of tests that reaches it:
 *   the least number of imports between the two
 */
export function makeSelection(root, tests) {
  const links = new Map();
  const linksOf = (path) => {
    if (!links.has(path)) links.set(path, readLinks(root, path));
    return links.get(path);
  };
  const importers = new Map();
  const seen = new Set(tests);
  for (const path of seen) {
    for (const target of linksOf(path)) {
      importers.set(target, [...(importers.get(target) ?? []), path]);
      seen.add(target);
    }
  }
  const isTest = new Set(tests);
  return (module) => {
    const distances = new Map([[module, 0]]);
    for (const [path, distance] of distances) {
      for (const importer of importers.get(path) ?? []) {
        if (!distances.has(importer)) distances.set(importer, distance + 1);
      }
    }
    return new Map([...distances].filter(([path]) => isTest.has(path)));
  };
}

function readLinks(root, path) {
  let text;
  try {
    text = readFileSync(join(root, path), 'utf8');
  } catch {
    return [];
  }
  return [...text.matchAll(LINKS)].map(([, imported, program]) => {
    if (program !== undefined) return program;
    if (imported.startsWith('#pickaxe/')) return imported.replace('#pickaxe/', 'dist/');
    return normalize(join(dirname(path), imported)).replaceAll('\\', '/');
  });
}
