/** Runs the programs that docs/library.md shows. */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PAGE = readFileSync(new URL('../docs/library.md', import.meta.url), 'utf8');

/** @returns the programs of a chapter, in their order */
export function programsOf(heading: string): string[] {
  const [, chapter = ''] = new RegExp(`^## ${heading}\\n(.*?)^## `, 'ms').exec(PAGE) ?? [];
  return [...chapter.matchAll(/^```js\n(.*?)^```$/gms)].map(([, text]) => text);
}

/** The program comes on standard input, so that no file of it is in the way of other tests. @returns its output */
export async function runProgram(program: string, here: Record<string, string>, env = {}): Promise<string> {
  const replaced = { ...here, "from 'pickaxe'": "from '#pickaxe/index.js'" };
  const text = Object.entries(replaced).reduce((text, [from, to]) => text.replaceAll(from, to), program);
  const options = { cwd: ROOT, env: { ...process.env, ...env } };
  const running = promisify(execFile)(process.execPath, ['--input-type=module', '-'], options);
  running.child.stdin!.end(text.replace(/p2pUrl: '[^']+', /, ''));
  return (await running).stdout;
}
