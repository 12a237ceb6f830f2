/** Runs the programs that docs/library.md shows. */

import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

const PAGE = readFileSync(new URL('../docs/library.md', import.meta.url), 'utf8');

/** @returns the programs of a chapter, in their order */
export function programsOf(heading: string): string[] {
  const [, chapter = ''] = new RegExp(`^## ${heading}\\n(.*?)^## `, 'ms').exec(PAGE) ?? [];
  return [...chapter.matchAll(/^```js\n(.*?)^```$/gms)].map(([, text]) => text);
}

/** Each program runs beside this test, because its imports are those of the package. @returns its output */
export async function runProgram(program: string, i: number, here: Record<string, string>, env = {}): Promise<string> {
  const file = fileURLToPath(new URL(`./library-page-${i}-${process.pid}.mjs`, import.meta.url));
  const replaced = { ...here, "from 'pickaxe'": "from '#pickaxe/index.js'" };
  const text = Object.entries(replaced).reduce((text, [from, to]) => text.replaceAll(from, to), program);
  writeFileSync(file, text.replace(/p2pUrl: '[^']+', /, ''));
  onTestFinished(() => rmSync(file, { force: true }));
  return (await promisify(execFile)(process.execPath, [file], { env: { ...process.env, ...env } })).stdout;
}
