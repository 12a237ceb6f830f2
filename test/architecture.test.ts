import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vite';
import { describe, expect, it, test } from 'vitest';
import { WINGS } from './wings.ts';

const src = fileURLToPath(new URL('../src', import.meta.url));
const tests = fileURLToPath(new URL('.', import.meta.url));

const GUIDE = readFileSync(join(src, 'ARCHITECTURE.md'), 'utf8');
const wingOf = (path: string) => path.split('/')[0];

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

const IMPORTS = [
  /^(?:import|export)\s[^'"`;]*\bfrom '([^']+)'/gm,
  /^import '([^']+)'/gm,
  /\bimport\('([^']+)'\)/g, // dynamic imports, and imports of types
];

function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8');
  return IMPORTS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, path]) => path));
}

const isRelative = (path: string) => path.startsWith('.');

function targetOf(file: string, path: string): string {
  return relative(src, join(src, dirname(file), path));
}

/** @returns one circle of the graph, from a place back to it; empty when there is none */
function circleIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const visit = (place: string, path: readonly string[]): string[] => {
    const at = path.indexOf(place);
    if (at >= 0) return [...path.slice(at), place];
    if (done.has(place)) return [];
    for (const next of graph.get(place) ?? []) {
      const circle = visit(next, [...path, place]);
      if (circle.length > 0) return circle;
    }
    done.add(place);
    return [];
  };
  for (const place of graph.keys()) {
    const circle = visit(place, []);
    if (circle.length > 0) return circle;
  }
  return [];
}

test('circles of imports are found', () => {
  const graph = { a: ['b'], b: ['c', 'd'], c: [], d: ['b'] };
  expect(circleIn(new Map(Object.entries(graph)))).toEqual(['b', 'd', 'b']);
});

describe('imports point one way', () => {
  it('says of every folder of src/ what it may import', () => {
    expect(files.length).toBeGreaterThan(20);
    const folders = new Set(files.map(wingOf).filter((name) => !name.endsWith('.ts')));
    expect([...folders].sort()).toEqual(Object.keys(WINGS).sort());
  });

  it.each(files.filter((file) => file !== 'index.ts'))('%s', (file) => {
    const { wings, packages } = WINGS[wingOf(file)];
    for (const path of importsOf(file)) {
      if (isRelative(path)) {
        expect([wingOf(file), ...wings], `${file} imports ${path}`).toContain(wingOf(targetOf(file, path)));
      } else if (!path.startsWith('node:')) {
        const fine = packages.some((each) => path === each || path.startsWith(`${each}/`));
        expect(fine, `${file} imports the package ${path}`).toBe(true);
      }
    }
  });

  it.each([
    ['miner/loop', 'the loop knows interfaces alone', /^miner\/(?:engine\/[cg]pu|source\/\w+\/|relay)/],
    ['miner/engine', 'engines search what they are given', /^miner\/(?:loop|source|relay|events)/],
    ['miner/source', 'sources know neither engines nor relays', /^miner\/(?:loop|engine|relay)/],
    ['miner/relay', 'relays share a source with the loop, and know neither', /^miner\/(?:loop|engine)/],
    ['node/client', 'a client of the API keeps nothing', /^node\/(?:blocks|sweep)/],
    ['contract/syntax', 'text is read without being run', /^contract\/\w+\//],
    [
      'rig/page',
      'a browser has what is computed alone',
      /^(?:node\/client|miner\/(?!events\/vocabulary)|rig\/(?!page|status\/\w+\.ts|http\/api-answers\.ts))/,
    ],
  ])('%s: %s', (folder, _, never) => {
    const own = files.filter((file) => file.startsWith(`${folder}/`));
    expect(own.length).toBeGreaterThan(3);
    const imported = own.flatMap((file) =>
      importsOf(file)
        .filter(isRelative)
        .map((path) => targetOf(file, path)),
    );
    expect(imported.filter((file) => never.test(file) && !file.startsWith(`${folder}/`))).toEqual([]);
  });

  it('the generator of kernels, which no code in src/ can import, takes from there what defines the hash alone', () => {
    const generator = join(src, '../native/generator');
    const sources = readdirSync(generator, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const imported = sources.flatMap((name) => importsOf(join('../native/generator', name)));
    const outside = imported.filter((path) => !/^(node:|\.{1,2}\/[a-z0-9/-]+\.ts$)/.test(path));
    expect([...new Set(outside)].sort()).toEqual([
      '#pickaxe/protocol/chain/blake2s.js',
      '#pickaxe/protocol/chain/bytes.js',
    ]);
  });

  it('lists each wing below those that it imports', () => {
    const order = Object.keys(WINGS);
    for (const [name, { wings }] of Object.entries(WINGS)) {
      expect(wings.filter((each) => order.indexOf(each) >= order.indexOf(name))).toEqual([]);
    }
  });

  it('names no file or folder in the guide that is not there, and every room of every wing', () => {
    const named = [...GUIDE.matchAll(/`([a-z-]+\/[a-z0-9/-]*(?:\.ts)?)`/g)].map(([, path]) => path.replace(/\/$/, ''));
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter((path) => !existsSync(join(src, path)) && !existsSync(join(src, '..', path)))).toEqual([]);
    const folders = new Set(files.map((file) => dirname(file).split('/').slice(0, 2).join('/')));
    folders.delete('.');
    expect([...folders].filter((folder) => !named.includes(folder))).toEqual([]);
    expect(GUIDE.split('\n').length).toBeLessThanOrEqual(81);
  });

  it('has no circles of files', () => {
    const ofFiles = new Map(
      files.map((file) => [
        file,
        importsOf(file)
          .filter(isRelative)
          .map((path) => targetOf(file, path)),
      ]),
    );
    expect(circleIn(ofFiles)).toEqual([]);
  });

  it.each([
    ['cli/main.ts', 'makes the help of every command slower'],
    ['miner/engine/cpu/worker-thread.ts', 'is loaded by each hashing thread'],
    ['miner/engine/cpu/kernels/measuring-thread.ts', 'is loaded by each measuring thread'],
  ])('keeps what is heavy away from %s, where it %s', (start) => {
    const loaded = new Set([start]);
    const packages = new Set<string>();
    for (const file of loaded) {
      const text = readFileSync(join(src, file), 'utf8');
      for (const [, path] of text.matchAll(/^(?:import|export)\s(?!type\b)[^'"`;]*\bfrom '([^']+)'/gm)) {
        if (isRelative(path)) loaded.add(targetOf(file, path));
        else packages.add(path.split('/')[0]);
      }
    }
    expect(loaded.size).toBeGreaterThan(5);
    expect(['zod', 'smol-toml', 'yaml', 'undici', 'fastify', 'pino'].filter((name) => packages.has(name))).toEqual([]);
  });

  it.each([
    ['code is run', ['cli/repl/repl.ts', 'cli/repl/prompt.ts']],
    ['the library starts a mock node', ['index.ts']],
    [
      'a command starts a mock node',
      ['cli/mining/mine.ts', 'cli/mining/stats.ts', 'cli/coins/balance.ts', 'cli/ledger/ledger.ts'],
    ],
  ])('loads the contract language only when %s', (_, start) => {
    const loaded = new Set(start);
    for (const file of loaded) {
      const text = readFileSync(join(src, file), 'utf8');
      for (const [, path] of text.matchAll(/^(?:import|export)\s(?!type\b)[^'"`;]*\bfrom '([^']+)'/gm)) {
        if (isRelative(path)) loaded.add(targetOf(file, path));
      }
    }
    expect(loaded.size).toBeGreaterThan(10);
    // The first two import nothing, and the third loads the rest when code runs.
    const light = ['contract/dialect.ts', 'contract/repl/result.ts', 'contract/repl/run-contract.ts'];
    expect([...loaded].filter((file) => file.startsWith('contract/') && !light.includes(file))).toEqual([]);
  });

  it('lets the web page import only types from the server', () => {
    const types = /^import type [^;]+ from '(?:[^']*\/http\/[^']+|zod)';$/gm;
    for (const file of files.filter((file) => /^(?:rig|fleet)\/page\//.test(file))) {
      const rest = readFileSync(join(src, file), 'utf8').replaceAll(types, '');
      expect(rest, file).not.toMatch(/from '([^']*\/http\/[^']+|zod|node:[^']+)'/);
    }
  });

  it('keeps the pure wings free of I/O', () => {
    for (const file of files.filter((file) => ['protocol', 'contract'].includes(wingOf(file)))) {
      // Signatures are computed, and the kind of an address is read from its text.
      const pure = file === 'protocol/wire/lines.ts' ? ['node:crypto', 'node:net'] : ['node:crypto'];
      expect(importsOf(file).filter((path) => path.startsWith('node:') && !pure.includes(path))).toEqual([]);
    }
  });
});

test('a folder of tests is named after the folder or file that it tests', () => {
  const others =
    /^(?:bench|clients|faults|foreign|interfaces|native|packaging|scripts|simulation|wine|vectors|(?:protocol\/ledger|cli\/usage\/completion)\/\w+)(?:\/|$)/;
  const folders = readdirSync(tests, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => relative(tests, join(parentPath, name)));
  expect(folders.length).toBeGreaterThan(30);
  const isInSrc = (path: string) => existsSync(join(src, path)) || existsSync(join(src, `${path}.ts`));
  expect(folders.filter((path) => !others.test(path) && !isInSrc(path))).toEqual([]);
});

test('no test gets a second try: what fails sometimes is a fault', () => {
  expect(readFileSync(join(src, '../vitest.config.ts'), 'utf8')).not.toContain('retry');
});

test('no helper of tests registers a hook when it is loaded, because files that share a process load it once', () => {
  const helpers = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.(ts|mjs)$/.test(name) && !/\.test\.ts$/.test(name) && name !== 'leaks.ts',
  );
  const registers = (name: string) => /^(?:before|after)(?:Each|All)\(/m.test(readFileSync(join(tests, name), 'utf8'));
  expect(helpers.length).toBeGreaterThan(100);
  expect(helpers.filter(registers)).toEqual([]);
});

test('every wait has a limit of time of its own, because a busy machine needs longer than the usual second', () => {
  const waits = readdirSync(tests, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => {
      const text = readFileSync(join(tests, name), 'utf8');
      return /\bvi\.wait/.test(text) ? waitsOf(text).map((wait) => ({ name, ...wait })) : [];
    });
  expect(waits.length).toBeGreaterThan(100);
  // Options are a number or a constant, or else an object.
  const unlimited = waits.filter(({ options = '{}' }) => /^\{(?!.*(?:\btimeout\b|\.\.\.PATIENCE\b))/s.test(options));
  expect(unlimited.map(({ name, code }) => `${name}: ${code}`)).toEqual([]);
});

/** @returns each call of `vi.waitFor` and `vi.waitUntil` in a text, with its second argument, which has the limit */
function waitsOf(text: string): { code: string; options: string | undefined }[] {
  const textOf = ({ start, end }: Node) => text.slice(start, end);
  return [...nodesIn(parseAst(text, { lang: 'ts' }))]
    .filter((node) => node.type === 'CallExpression' && /^vi\.wait(?:For|Until)$/.test(textOf(node.callee!)))
    .map((node) => ({ code: textOf(node).split('\n')[0], options: node.arguments![1] && textOf(node.arguments![1]) }));
}

/** What this file reads of a node of a syntax tree. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  /** Those of a call. */
  readonly callee?: Node;
  readonly arguments?: readonly Node[];
}

/** @returns a part of a syntax tree with all nodes in it */
function* nodesIn(part: unknown): Generator<Node> {
  if (part === null || typeof part !== 'object') return;
  if ('type' in part) yield part as Node;
  for (const inner of Object.values(part)) yield* nodesIn(inner);
}

test('comments are no wider than the code', () => {
  const root = join(src, '..');
  const wide = ['src', 'test', 'bench', 'scripts', 'native/compilers'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      // Generated files have a width of their own.
      .filter((name) => /\.(ts|mjs)$/.test(name) && !/\.generated\./.test(name))
      .flatMap((name) => {
        const lines = readFileSync(join(root, folder, name), 'utf8').split('\n');
        // Command lines in a comment are indented, and stay whole.
        const isWide = (line: string) => line.length > 120 && /^\s*(?:\/\*|\*|\/\/(?! {3}))/.test(line);
        return lines.flatMap((line, at) => (isWide(line) ? [`${folder}/${name}:${at + 1}`] : []));
      }),
  );
  expect(wide).toEqual([]);
});

test('CONTRIBUTING.md names no file or folder that is not there', () => {
  const root = join(src, '..');
  const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const inCode = [...page.matchAll(/`(\.?[\w.-]+\/[\w./-]*|[A-Z]+\.md)`/g)].map(([, path]) => path);
  const linked = [...page.matchAll(/\]\(([^)#]+)/g)].map(([, path]) => path);
  expect(inCode.length).toBeGreaterThan(30);
  expect([...inCode, ...linked].filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('CONTRIBUTING.md names every package that CI installs', () => {
  const root = join(src, '..');
  const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const script = readFileSync(join(root, '.ci/packages'), 'utf8');
  const [, packages] = /--no-install-recommends \\\n((?:.*\\\n)*.*)/.exec(script) ?? [];
  const names = [...packages.matchAll(/(?:^|\s)([a-z][a-z0-9+-]+)(?=\s)/g)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(10);
  for (const name of [...names, 'mesa-vulkan-drivers', 'prometheus', 'chromium']) expect(page).toContain(`\`${name}\``);
});
