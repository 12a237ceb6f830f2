import fc from 'fast-check';
import { stringify } from 'smol-toml';
import { afterAll, describe, expect, it } from 'vitest';
import { type Positions, tomlPositions } from '#pickaxe/app/config/parse.js';
import { ENTRIES } from '#pickaxe/app/config/settings.js';
import { anyText } from '../../any-text.ts';
import { Folder, problemsOf } from './folder.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const name = fc.constantFrom(...ENTRIES.flatMap(({ table, key }) => [table, key]), '__proto__', 'constructor', 'token');
const value = fc.oneof(fc.jsonValue(), fc.constantFrom(1, 90, 'none', 'cpu', ['cpu'], 'info', true));
const tables = fc.dictionary(name, fc.oneof(fc.dictionary(name, value), value));

/** Checks that loading ends with a configuration or a ConfigError: `problemsOf` rethrows any other error. */
function survives(file: string, text: string | Uint8Array): void {
  const path = folder.write(file, text);
  for (const problem of problemsOf(() => folder.load({ file: path }))) expect(problem).toMatch(/^\S.*: .*\.|is .*\./s);
}

describe('any file leads to a configuration or a ConfigError', () => {
  it('if it is TOML', () => {
    const toml = tables.map((document) => {
      try {
        return stringify(document);
      } catch {
        return ''; // it has values that TOML cannot express
      }
    });
    fc.assert(fc.property(toml, (text) => survives('a.toml', text)));
    const scrap = fc.constantFrom(
      '[',
      ']',
      '{',
      '}',
      '=',
      '.',
      ',',
      '"',
      "'",
      '"""',
      "'''",
      '\\',
      '#',
      '\n',
      ' ',
      'cpu',
      '1',
    );
    fc.assert(fc.property(fc.array(scrap, { maxLength: 40 }), (scraps) => survives('a.toml', scraps.join(''))));
  });

  it('if it is arbitrary text or bytes', () => {
    fc.assert(fc.property(anyText(), (text) => survives('a.toml', text)));
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => survives('a.toml', bytes)));
  });

  it('and so do any variables', () => {
    const names = fc.constantFrom(...ENTRIES.map(({ variable }) => variable), 'PICKAXE_', 'PICKAXE_X');
    fc.assert(
      fc.property(fc.dictionary(names, fc.string()), (environment) => {
        problemsOf(() => folder.load({ environment }));
      }),
    );
  });

  it.each([
    ['deep TOML', 'a.toml', `a = ${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['a long key', 'a.toml', `${'a.'.repeat(130_000)}a = 1`],
    ['a long text', 'a.toml', `[miner]\naccount = """${'x\\t"\n'.repeat(40_000)}"""`],
    ['a long literal', 'a.toml', `[miner]\naccount = '''${"x'\n".repeat(80_000)}'''`],
    ['many settings', 'a.toml', Array.from({ length: 16_000 }, (_, index) => `a${index} = ${index}`).join('\n')],
    ['a long list', 'a.toml', `devices.use = ${JSON.stringify(Array(43_000).fill('tpu'))}`],
    ['deep tables', 'a.toml', `a = ${'{a = '.repeat(40_000)}1${'}'.repeat(40_000)}`],
    ['a deep list without its end', 'a.toml', `a = ${'['.repeat(130_000)}`],
    ['TOML of nothing but faults', 'a.toml', 'a = =\n'.repeat(43_000)],
    ['a TOML setting again and again', 'a.toml', 'a.b = 1\n'.repeat(32_000)],
    [
      'unknown settings after a fault',
      'a.toml',
      `[x\n${Array.from({ length: 14_000 }, (_, i) => `urls${i} = ${i}`).join('\n')}`,
    ],
    ['unknown tables', 'a.toml', Array.from({ length: 16_000 }, (_, i) => `[nod${i}]`).join('\n')],
  ])('if it is as large as a file may be: %s', (_, file, text) => survives(file, text));
});

/** @returns the line of each path in a text */
function linesOf(read: (text: string) => Positions, text: string) {
  const positions = read(text);
  return (path: Parameters<Positions>[0]) => positions(path)?.line;
}

describe('the line numbers of errors', () => {
  it('in TOML are those of the keys', () => {
    const line = linesOf(
      tomlPositions,
      [
        'cpu.threads = 1 # [node]', // 1
        '"gpu" . \'batch-ms\' = 3', // 2
        'text = """', // 3
        '[cpu]', // 4
        'priority = "\\""""', // 5
        "more = '''''it's'''''", // 6
        '[ node ]', // 7
        'urls = [ # ]', // 8
        '  "a", [ 1,', // 9
        '  2 ] ]', // 10
        'network = "x = 1"', // 11
        '[[list]]', // 12
        'a = { b = 1 }', // 13
        '[log]', // 14
        'level = 1979-05-27T07:32:00Z', // 15
      ].join('\n'),
    );
    expect(line(['cpu', 'threads'])).toBe(1);
    expect(line(['cpu', 'priority'])).toBe(1);
    expect(line(['gpu', 'batch-ms'])).toBe(2);
    expect(line(['text'])).toBe(3);
    expect(line(['more'])).toBe(6);
    expect(line(['node'])).toBe(7);
    expect(line(['node', 'urls', 1])).toBe(8);
    expect(line(['node', 'network'])).toBe(11);
    expect(line(['list', 0, 'a'])).toBe(12);
    expect(line(['log', 'level'])).toBe(15);
    expect(line(['nowhere'])).toBeUndefined();
    expect(line([])).toBeUndefined();
  });

  it('in TOML are found for any document', () => {
    const key = fc.stringMatching(/^[a-z-]{1,8}$/);
    const member = fc.tuple(key, fc.oneof(fc.string(), fc.integer(), fc.array(fc.string()), fc.boolean()));
    fc.assert(
      fc.property(fc.uniqueArray(member, { selector: ([key]) => key, minLength: 1 }), (members) => {
        const line = linesOf(
          tomlPositions,
          members.map(([key, item]) => stringify({ t: { [key]: item } }).replace('[t]\n', 't.')).join(''),
        );
        members.forEach(([key], index) => {
          expect(line(['t', key])).toBe(index + 1);
        });
      }),
    );
  });
});
