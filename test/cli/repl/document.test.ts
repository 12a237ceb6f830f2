/** What docs/repl.md shows is what happens. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { resolvePath } from '#pickaxe/cli/repl/source-files.js';
import { Session } from '#pickaxe/contract/repl/repl-session.js';
import { Folder } from '../../app/config/folder.ts';
import { pickaxeIn } from '../in-process.ts';
import { isolated, MAIN } from '../pickaxe.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

const repl = (...args: string[]) => pickaxeIn(folder.path, ['repl', ...args]);

const page = readFileSync(new URL('../../../docs/repl.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```\n([\s\S]*?)^```$/gm)].map(([, block]) => block);
const block = (start: string) => blocks.find((each) => each.startsWith(start))!;
const contract = block('(module savings');
const tests = block('(begin-tx "deploy")');
const passed = block('$ pickaxe repl savings.repl\n').replace(/^.*\n/, '');
const failed = block('savings.repl:9:0:ExecError');

it.each(['4', '5'])('the example passes in dialect %s', async (dialect) => {
  folder.write('savings.pact', contract);
  folder.write('savings.repl', tests);
  expect(await repl('savings.repl', '--dialect', dialect)).toEqual({
    code: 0,
    stdout: passed.trimEnd().replace('dialect 5', `dialect ${dialect}`),
    stderr: '',
  });
});

it('the example fails as it says, once it is changed', async () => {
  folder.write('savings.pact', contract);
  folder.write(
    'savings.repl',
    tests.replace('"a deposit adds to the balance" 5.0', '"a deposit adds to the balance" 6.0'),
  );
  expect(await repl('savings.repl')).toEqual({ code: 1, stdout: failed.trimEnd(), stderr: '' });
});

it('names functions that exist', () => {
  const names = new Session({ readFile: () => '', resolvePath }).names();
  const named = [...page.matchAll(/^\| (`\(.*?) \|/gm)].flatMap(([, cell]) => [...cell.matchAll(/`\(([a-z-]+)/g)]);
  expect(named.length).toBeGreaterThan(12);
  expect(named.map(([, name]) => name).filter((name) => !names.includes(name))).toEqual([]);
});

it('reads standard input as it says', () => {
  const line = block("echo '").trim();
  const [, code] = /^echo '(.*)' \| pickaxe repl$/.exec(line)!;
  const run = spawnSync(process.execPath, [MAIN, 'repl'], { input: code, ...isolated, encoding: 'utf8' });
  expect(run).toMatchObject({
    status: 0,
    stdout: 'Load successful\n1 file, 1 expectation: passed; dialect 5\n',
    stderr: '',
  });
});
