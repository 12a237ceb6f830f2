/** The commands in the documents must work once pickaxe is installed as the documents describe. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pickaxe } from '../cli/in-process.ts';
import { ROOT } from '../scripts/run.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const paths = [
  'README.md',
  'examples/README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
/** The lines of all blocks of code. */
const typed = (text: string) =>
  [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].flatMap(([, block]) => block.split('\n'));

test('examples type pickaxe, not the file that it is in a checkout', () => {
  const lines = paths.flatMap((path) => typed(read(path)).map((line) => `${path}: ${line}`));
  expect(lines.length).toBeGreaterThan(500);
  expect(lines.filter((line) => line.includes('dist/cli/main.js') && !line.includes('npm root'))).toEqual([]);
});

test('nobody is sent to npm’s registry for pickaxe', () => {
  for (const path of paths) expect(read(path), path).not.toMatch(/(npm (install|i|add)( -\S+)*|npx) pickaxe\b/);
});

test('the README’s commands exist, and the archives have the names that it says', async () => {
  const completion = (await pickaxe('completion', 'bash')).stdout;
  const commands = new Set([...completion.matchAll(/^ +' ([a-z-]+)'\) command=/gm)].map(([, name]) => name));
  const named = typed(read('README.md')).flatMap((line) => /^pickaxe ([a-z-]+)/.exec(line)?.[1] ?? []);
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !commands.has(name))).toEqual([]);
  const files = [...read('scripts/build-archives.mjs').matchAll(/file: `pickaxe-\$\{version\}(\S+)`/g)];
  expect(files.length).toBe(4);
  for (const [, rest] of files) expect(read('packaging/README.md')).toContain(`\`pickaxe-VERSION${rest}\``);
  for (const [, rest] of files.filter(([, each]) => each.startsWith('-'))) {
    expect(read('README.md')).toContain(`pickaxe-VERSION${rest}`);
  }
});
