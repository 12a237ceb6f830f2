/** The types of the package, for TypeScript before 5.7, whose typed arrays are not generic. */

import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** @returns the files of types that a file imports, with all that these import */
function reached(from: URL, found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (found.has(from.href)) return found;
  const text = readFileSync(from, 'utf8');
  found.set(from.href, text);
  for (const [, name] of text.matchAll(/(?:from |import\()['"](\.[^'"]+)['"]/g)) {
    const types = new URL(name.replace(/\.(?:js|ts)$/, '.d.ts'), from);
    if (existsSync(types)) reached(types, found);
  }
  return found;
}

it.each(['index', 'cli/run'])('the types of %s have no generic typed arrays', (name) => {
  const files = reached(new URL(`../../dist/${name}.d.ts`, import.meta.url));
  expect(files.size).toBeGreaterThan(5);
  const generic = [...files].filter(([, text]) => /Array<(?:Shared)?ArrayBuffer/.test(text)).map(([file]) => file);
  expect(generic).toEqual([]);
});
