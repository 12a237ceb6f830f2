/**
 * Links between the Markdown files of the repository lead to a file and, behind `#`, to a heading that exist. The
 * documents stay few and short: who adds to them finds something to leave out.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../scripts/run.ts';

const FOLDERS = ['docs', 'bench', 'native', 'test', 'shaders', 'examples', 'packaging', 'src'];
const files = [
  ...readdirSync(ROOT),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ),
].filter((path) => path.endsWith('.md') && !path.includes('node_modules'));

/** The text without blocks of code, whose lines may look like links and headings. */
const prose = (path: string) => readFileSync(join(ROOT, path), 'utf8').replace(/^ *```[\s\S]*?^ *```/gm, '');

/** @returns the anchors of a file's headings, as GitHub makes them */
function anchorsOf(path: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading] of prose(path).matchAll(/^#+ (.*)$/gm)) {
    const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').trim();
    const slug = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

test('links between Markdown files lead somewhere', () => {
  const links = files.flatMap((from) =>
    [...prose(from).matchAll(/\]\((?!\w+:)([^)\s#]*)#?([^)\s]*)\)/g)].map(([, path, anchor]) => ({
      link: `${from}: ${path}#${anchor}`,
      to: path === '' ? from : join(dirname(from), path),
      anchor,
    })),
  );
  expect(links.length).toBeGreaterThan(300);
  const isBroken = ({ to, anchor }: (typeof links)[number]) =>
    !existsSync(join(ROOT, to)) || (anchor !== '' && to.endsWith('.md') && !anchorsOf(to).has(anchor));
  expect(links.filter(isBroken).map(({ link }) => link)).toEqual([]);
});

/** Names of documents, which other files may name without a link. */
const documents = files.filter((path) => dirname(path) === 'docs' && path !== join('docs', 'README.md'));

test('files name only documents that exist', () => {
  const named = ['src', 'test', 'bench', 'native', 'scripts', 'shaders', 'examples', 'packaging'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter(
        (name) => /\.(ts|mjs|md|sh|txt|service|yml|toml)$|Containerfile$/.test(name) && !name.includes('node_modules'),
      )
      .flatMap((name) => {
        const text = readFileSync(join(ROOT, folder, name), 'utf8');
        return [...text.matchAll(/(?<![\w-]\/)\bdocs[/\\]([a-z-]+\.md)\b/g)].map(([, document]) => document);
      }),
  );
  const known = new Set(files.map((path) => path.replaceAll('\\', '/')));
  expect(named.length).toBeGreaterThan(50);
  expect([...new Set(named)].filter((document) => !known.has(`docs/${document}`))).toEqual([]);
});

/** Words have a letter or a digit: bars of tables and dashes of lists are none. Blocks of code count. */
const wordsIn = (text: string) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

test('the documents are at most 18, with at most 36,000 words', () => {
  expect(documents.length).toBeGreaterThan(10);
  expect(documents.length).toBeLessThanOrEqual(18);
  const words = ['README.md', join('docs', 'README.md'), ...documents].map((path) =>
    wordsIn(readFileSync(join(ROOT, path), 'utf8')),
  );
  expect(words.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(36_000);
});

test('the changelog has a page for a version', () => {
  const versions = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')
    .split(/^(?=## )/m)
    .slice(1);
  expect(versions.length).toBeGreaterThan(0);
  for (const version of versions) {
    expect(version.split('\n').length).toBeLessThanOrEqual(60);
    expect(wordsIn(version)).toBeLessThanOrEqual(700);
  }
});
