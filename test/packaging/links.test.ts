/** Links between the Markdown files of the repository lead to a file and, behind `#`, to a heading that exist. */

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
