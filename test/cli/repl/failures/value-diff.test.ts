import { describe, expect, it } from 'vitest';
import { diffLines, valueLines } from '#pickaxe/cli/repl/failures/value-diff.js';
import { inPlain } from '#pickaxe/rig/terminal/screen.js';

const long = (name: string) => `"${name}${'x'.repeat(50)}"`;

describe('a value', () => {
  it('that is short stays on one line', () => {
    expect(valueLines('{"b": [1 2],"a": {}}')).toEqual(['{"a": {}, "b": [1 2]}']);
    expect(valueLines('"a, (b"')).toEqual(['"a, (b"']);
  });

  it('that is long has a line for each item and field, with fields sorted', () => {
    expect(valueLines(`{"b": ${long('b')},"a": [${long('c')} 2 {"k": 1,"j": 2}]}`)).toEqual([
      '{',
      '  "a": [',
      `    ${long('c')}`,
      '    2',
      '    {"j": 2, "k": 1}',
      '  ],',
      `  "b": ${long('b')}`,
      '}',
    ]);
  });

  it('has a line for each line of a text in it, and may have brackets that do not match', () => {
    expect(valueLines('"one\ntwo"')).toEqual(['"one', 'two"']);
    expect(valueLines(`[1 (${'2'.repeat(70)}`)).toEqual(['[', '  1', '  (', `    ${'2'.repeat(70)}`, '  )', ']']);
    expect(valueLines('1)')).toEqual(['1)']);
  });
});

describe('the difference of two values', () => {
  it('marks the lines that only one of them has', () => {
    const value = (name: string) => `{"id": 1,"name": "${name}","note": ${long('n')},"zero": 0}`;
    expect(diffLines(value('Alice'), value('Alicf'), inPlain)).toEqual([
      '  - expected + received',
      '    {',
      '      "id": 1,',
      '  -   "name": "Alice",',
      '  +   "name": "Alicf",',
      `      "note": ${long('n')},`,
      '      "zero": 0',
      '    …',
    ]);
  });

  it('leaves out equal lines that are far from a difference', () => {
    const list = (...items: number[]) => `[${items.map((item) => item + 1_000_000_000_000).join(' ')}]`;
    const lines = diffLines(list(1, 2, 3, 4, 5, 6, 7), list(1, 2, 3, 4, 5, 6, 7, 8), inPlain);
    expect(lines).toEqual([
      '  - expected + received',
      '    …',
      '      1000000000006',
      '      1000000000007',
      '  +   1000000000008',
      '    ]',
    ]);
  });

  it('paints what is missing red and what is more green', () => {
    const paint = (style: string, text: string) => `<${style}>${text}</>`;
    expect(diffLines('"1\n"', '"2\n"', paint)).toEqual([
      '  <red>- expected</> <green>+ received</>',
      '<red>  - "1</>',
      '<green>  + "2</>',
      '    "',
    ]);
    expect(diffLines('1', '2', paint)).toEqual(['<red>  - expected 1</>', '<green>  + received 2</>']);
  });

  it('of long values is cut', () => {
    const list = (first: number) => `[${Array.from({ length: 1000 }, (_, i) => first + i).join(' ')}]`;
    const lines = diffLines(list(0), list(5000), inPlain);
    expect(lines).toHaveLength(62);
    expect(lines.at(-1)).toMatch(/^ {4}… and \d+ more lines$/);
  });

  it('has no characters that could be commands to a terminal', () => {
    expect(diffLines('"\x1b[2J"', '"\u202e"', inPlain).join('\n')).not.toMatch(/[^\P{C}\n]/u);
  });
});
