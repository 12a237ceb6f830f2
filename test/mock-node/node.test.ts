/**
 * Every mock node of a test, bench, script, example or demo must serve the paths and headers of only one kind of node:
 * that of document 1, or live nodes. A node that serves both would hide a fault in choosing between them.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { MockNode as BenchNode } from '../../bench/lib/mock-node.mjs';
import { MockNode, type MockNodeOptions } from './node.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The files that start a node in this process without naming its dialect, and why they may. */
const MADE: Readonly<Record<string, string>> = {
  'test/mock-node/node.ts': 'its types require the name, and it refuses options without it',
  'test/mock-node/mock-node.test.ts': 'one of its tests is about what a node serves by default',
  'test/mock-node/options.test.ts': 'it asks what options mean, and starts no node',
  'src/cli/mock-node/mock-node.ts': 'the user chooses',
};
/** The files that contain the name of the command `pickaxe mock-node` as a word, and why they may. */
const COMMANDED: Readonly<Record<string, string>> = {
  'test/mock-node/node.ts': 'it makes the arguments of the command, with what the node serves',
  'test/cli/usage/wrong-usage.test.ts': 'the arguments are wrong, so no node starts',
  'test/cli/mock-node/mock-node.test.ts': 'the arguments are wrong, so no node starts',
  'test/cli/mock-node/mock-node.mocks.test.ts': 'the node is a mock, so none starts',
  'test/cli/setup/settings.long.test.ts': 'the settings are wrong, so no node starts',
  'test/cli/usage/commands-document.test.ts': 'it names the page of the command, and starts nothing',
  'test/wings.ts': 'it names the folder',
  'src/cli/commands.ts': 'it describes the command',
  'src/cli/mock-node/dev.ts': 'a comment names its option',
  'src/cli/mock-node/state-file.ts': 'a comment names its option',
};

const files = ['test', 'bench', 'scripts', 'examples', 'src/cli'].flatMap((folder) =>
  readdirSync(ROOT + folder, { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((path) => /\.(ts|mjs)$/.test(path) && path !== 'test/mock-node/node.test.ts'),
);
const filesWhere = (isSo: (text: string) => boolean) => files.filter((path) => isSo(readFileSync(ROOT + path, 'utf8')));

/** An import of the class, with its local name. Benches import `lib/mock-node.mjs`, which names live nodes. */
const IMPORT =
  /^import (?!type\b)[^;]*[{,]\s*MockNode\b(?: as (\w+))?[^;]* from '(?:#pickaxe\/(?:index|mock-node\/mock-node)\.js|pickaxe|[./]+\/(?:mock-node\/)?(?:mock-)?node\.ts)';/gm;
/** Code that hides the start of a node from this test, or that starts a node which serves both. */
const UNSEEN = /\.MockNode\(|\bimport\([^)]*\/mock-node\.js|\b(?:nodes|mocks|banks|mining)Of\(\)|\bdialect: 'both'/;

/** Whether a file starts a node without naming its dialect. */
function leavesOpen(text: string): boolean {
  if (UNSEEN.test(text)) return true;
  return [...text.matchAll(IMPORT)].some(([, name = 'MockNode']) => {
    const calls = [...text.matchAll(new RegExp(`\\b(?:new ${name}|super)\\(([^;]*)`, 'g'))];
    return calls.length === 0 || calls.some(([, options]) => !/\bdialect\b/.test(options));
  });
}

const commands = (text: string) => /(?<!join\()(['"`])mock-node\1|\bmock-node (?:--|\$)/.test(text);

describe('what a mock node serves', () => {
  it('is named wherever one is made, except in these files', () => {
    expect(filesWhere((text) => text.search(IMPORT) >= 0).length).toBeGreaterThan(30);
    expect(filesWhere(leavesOpen).sort()).toEqual(Object.keys(MADE).sort());
  });

  it('is named wherever one is started as a process, except in these files', () => {
    expect(filesWhere(commands).sort()).toEqual(Object.keys(COMMANDED).sort());
  });

  it('is required by the helpers of tests, and live nodes’ in benches', () => {
    expect(() => new MockNode({ chains: 10 } as MockNodeOptions)).toThrow('must name the dialect');
    expect(() => new MockNode({ dialect: 'both' as 'document' })).toThrow('must name the dialect');
    expect(new BenchNode({}).server.settings.dialect).toBe('chainweb');
    expect(new BenchNode({ dialect: 'document' }).server.settings.dialect).toBe('document');
  });

  const imported = "import { MockNode } from '#pickaxe/mock-node/mock-node.js';\n";
  it.each([
    [`${imported}new MockNode({ dialect: 'document' });`, false],
    [`${imported}new MockNode({ dialect, chains: 10 });`, false],
    [`${imported}new MockNode({ chains: 10 });`, true],
    [`${imported}new MockNode();`, true],
    [`${imported}new MockNode(options, { onEvent });`, true],
    [`${imported}new MockNode({ dialect: 'both' });`, true],
    [`${imported}new MockNode({ dialect });\nnew MockNode({ chains: 10 });`, true],
    [`${imported}class Node extends MockNode {}`, true],
    [imported.replace('MockNode', 'CpuEngine,\n  MockNode as Node'), true],
    [`${imported.replace('#pickaxe/mock-node/mock-node.js', 'pickaxe')}new MockNode({ chains: 10 });`, true],
    [`${imported.replace('import', 'import type')}function grow(node: MockNode) {}`, false],
    [`${imported.replace('#pickaxe/mock-node/mock-node.js', './node.ts')}new MockNode({ chains: 10 });`, true],
    [`${imported.replace('#pickaxe/mock-node/mock-node.js', './node.ts')}new MockNode({ dialect });`, false],
    ['const startNode = nodesOf();', true],
    ["startNode({ dialect: 'both' });", true],
    ['new pickaxe.MockNode({ dialect });', true],
    ["const { MockNode } = await import('#pickaxe/mock-node/mock-node.js');", true],
  ])('is found out: %j', (text, open) => {
    expect(leavesOpen(text)).toBe(open);
  });
});
