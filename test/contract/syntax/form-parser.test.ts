import { blake2b } from '@noble/hashes/blake2.js';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { ContractError } from '#pickaxe/contract/errors.js';
import { MAX_DEPTH, MAX_DIGITS, MAX_PLACES, MAX_TEXT_LENGTH, readForms } from '#pickaxe/contract/syntax/form-parser.js';
import type { Form } from '#pickaxe/contract/syntax/forms.js';
import { codeOf, vectors } from '../vectors.ts';

/** The content of a form without its position. */
function plain(form: Form): unknown {
  switch (form.kind) {
    case 'decimal':
      return { mantissa: form.mantissa, places: form.places };
    case 'text':
      return form.isSymbol ? { symbol: form.value } : { text: form.value };
    case 'name':
      return form.parts.join(' . ');
    case 'dynamic':
      return `${form.reference} :: ${form.member}`;
    case 'list':
      return [form.bracket, ...form.items.map(plain)];
    case 'separator':
      return { separator: form.separator };
    default:
      return form.value;
  }
}

const read = (text: string, dialect: Dialect = 4) => readForms(text, dialect).map(plain);

function failure(text: string, dialect: Dialect = 4): { message: string; line: number; column: number } {
  try {
    readForms(text, dialect);
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    expect(error.kind).toBe('syntax');
    return { message: error.message, line: error.position!.line, column: error.position!.column };
  }
  throw new Error(`${text} was read`);
}

describe('tokens', () => {
  it('reads numbers with all their places', () => {
    expect(read('1 -12 007 1.50 -0.5 0.0 123456789012345678901234567890.10')).toEqual([
      1n,
      -12n,
      7n,
      { mantissa: 150n, places: 2 },
      { mantissa: -5n, places: 1 },
      { mantissa: 0n, places: 1 },
      { mantissa: 12345678901234567890123456789010n, places: 2 },
    ]);
    expect(read('- -a +1 (- 1 2)')).toEqual(['-', '-a', '+1', ['(', '-', 1n, 2n]]);
  });

  it.each(['1.', '.5', '(1. 2)'])('refuses %s', (text) => {
    expect(failure(text).message).toContain('error: expected');
    expect(() => readForms(text, 5)).toThrow(ContractError);
  });

  it('reads names, dotted and dynamic ones', () => {
    expect(read('a m.f ns.m.f a.b.c.d r::f map+ or? @doc % ~/|')).toEqual([
      ...['a', 'm . f', 'ns . m . f', 'a . b . c . d', 'r :: f', 'map+', 'or?', '@doc', '%', '~/|'],
    ]);
    expect(read('x:integer {"a":=b}')).toEqual([
      'x',
      { separator: ':' },
      'integer',
      ['{', { text: 'a' }, { separator: ':=' }, 'b'],
    ]);
    expect(read('true false truth [1, 2]')).toEqual([true, false, 'truth', ['[', 1n, { separator: ',' }, 2n]]);
  });

  it('takes letters of all scripts in dialect 4, and only ASCII in dialect 5', () => {
    expect(read("λ größe '𝒳y")).toEqual(['λ', 'größe', { symbol: '𝒳y' }]);
    expect(failure('größe', 5).message).toBe('Lexical Error: Encountered unexpected character "ö", Last seen "r"');
  });

  it('reads symbols, which dialect 5 limits to letters, digits, - and _', () => {
    expect(read("'a-b_1")).toEqual([{ symbol: 'a-b_1' }]);
    expect(read("'a-b_1", 5)).toEqual([{ symbol: 'a-b_1' }]);
    expect(read("'a/b?")).toEqual([{ symbol: 'a/b?' }]);
    expect(read("'a/b?", 5)).toEqual([{ symbol: 'a' }, '/b?']);
    expect(failure("' a").message).toBe('error: expected: atom');
  });

  it('skips white space and comments', () => {
    expect(read('; (a\n\t1 ;; " \r\n 2;')).toEqual([1n, 2n]);
    expect(read('')).toEqual([]);
    expect(read(' ; nothing')).toEqual([]);
    expect(read('1\u00a02\u30003')).toEqual([1n, 2n, 3n]);
    for (const [text, dialect] of [
      ['1×2', 4],
      ['1\u200b2', 4],
      ['1\u00a02', 5],
    ] as const) {
      expect(() => read(text, dialect)).toThrow(ContractError);
    }
  });

  it('reads the escapes of each dialect', () => {
    const common = String.raw`"\n\t\\\"\' ü\   \-"`;
    for (const dialect of [4, 5] as const) expect(read(common, dialect)).toEqual([{ text: '\n\t\\"\' ü-' }]);
    expect(read(String.raw`"\r\a\b\f\v\65\x41\o101\1234\&5\128512\xd800"`)).toEqual([
      { text: '\r\x07\b\f\vAAA\u04d25😀\ufffd' },
    ]);
    expect(read('"a\\\n   \\b"')).toEqual([{ text: 'ab' }]);
    expect(failure(String.raw`"\q"`).message).toBe('error: expected: escape code');
    expect(failure(String.raw`"\1114112"`).message).toBe('error: expected: escape code');
    for (const text of ['"a\nb"', '"a\tb"', '"a', '"\\', '"\\ ', '"\\ x"']) {
      expect(failure(text).message).toContain('error: expected: e');
    }
    expect(read('"a\tb"', 5)).toEqual([{ text: 'a\tb' }]);
  });

  it.each([
    [String.raw`"\q"`, 'Invalid escape sequence'],
    [String.raw`"\x41"`, 'Invalid escape sequence'],
    [String.raw`"\r"`, 'carriage return is not supported in strings literals'],
    ['"a\nb"', 'newline in string literal'],
    ['"a\rb"', 'carriage return in string literal'],
    ['"a', 'did not close string literal'],
    ['"\\', 'did not close string literal'],
    ['"\\ ', 'did not close string literal'],
    ['"\\ x"', 'Invalid multiline string'],
  ])('refuses %j as dialect 5 does', (text, cause) => {
    expect(failure(text, 5).message).toBe(`Lexical Error: String literal parsing error:  ${cause}`);
  });
});

describe('brackets', () => {
  it.each(['(', '[', '{'])('must be closed: %s', (open) => {
    const close = { '(': ')', '[': ']', '{': '}' }[open];
    expect(failure(`${open}1`)).toEqual({ message: `error: expected: "${close}"`, line: 1, column: 2 });
    expect(failure(`${open}1`, 5).message).toBe(`Expected: ['${close}']`);
    expect(failure(`\n${open}\n1 <>`.replace('<>', open === '[' ? ')' : ']'))).toMatchObject({ line: 3, column: 2 });
  });

  it('are not closed without being open', () => {
    expect(failure('(+ 1 2)) 3').message).toBe('error: expected: end of input');
    const rest = (text: string) => failure(`(+ 1 2)) ${text}`, 5).message.split('tokens: ')[1];
    expect(rest('')).toBe('[]');
    expect(rest('f m.g r::h ; end')).toBe('[ident<f>, ident<m>, ., ident<g>, ident<r>, ::, ident<h>]');
    expect(rest(`'a "b" -1.5 2 true,: )`)).toBe(`['a, "b", number<-1>, ., number<5>, number<2>, true, ,, :, )]`);
    expect(rest('1 2 3 4 5 6 7 8 9 [] "')).toBe(
      `[${[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `number<${n}>`).join(', ')}, [, ...]`,
    );
    expect(failure('1 ] 2 "').message).toBe('error: expected: end of input');
    expect(failure('1 ] 2', 5).message).toBe('Unexpected input after expr, remaining tokens: [], number<2>]');
  });
});

describe('places', () => {
  it('counts lines from 1, columns from 0 in characters, and offsets in code units', () => {
    const [, list] = readForms('"😀" ; 😀\n  (a\n "é😀" b)', 4);
    expect(list?.position).toEqual({ line: 2, column: 2, offset: 12 });
    const items = list?.kind === 'list' ? list.items : [];
    expect(items.map(({ position }) => position)).toEqual([
      { line: 2, column: 3, offset: 13 },
      { line: 3, column: 1, offset: 16 },
      { line: 3, column: 6, offset: 22 },
    ]);
  });

  it('counts the first and the last character of two code units as one', () => {
    const columns = readForms('"\u{10000}" a "\u{10ffff}" b', 4).map(({ position }) => position.column);
    expect(columns).toEqual([0, 4, 6, 10]);
  });

  it('gives the code of each form up to the next token', () => {
    const [first, second] = readForms(' (f (> 2) ; two\n x)\n; end\n\n3 ;', 4);
    expect(first?.code).toBe('(f (> 2) ; two\n x)\n; end\n\n');
    expect(second?.code).toBe('3 ;');
    expect(first?.kind === 'list' && first.items.map(({ code }) => code)).toEqual(['f ', '(> 2) ; two\n ', 'x']);
  });

  it('gives the code over which hashes of modules are computed', () => {
    expect(vectors.module_hashes.texts).toHaveLength(2);
    const hashOf = (code: string) =>
      Buffer.from(blake2b(new TextEncoder().encode(code), { dkLen: 32 })).toString('base64url');
    for (const { text, hash } of vectors.module_hashes.texts) {
      expect(hashOf(readForms(text, 4)[0]!.code)).toBe(hash);
      expect(hashOf(readForms(` 1 ${text}2`, 4)[1]!.code)).toBe(hash);
    }
  });

  it.each([4, 5] as const)('gives code that adds up to the text in dialect %d', (dialect) => {
    const text = codeOf(dialect).join('\n');
    const forms = readForms(text, dialect);
    expect(forms.length).toBeGreaterThan(400);
    expect(forms.map(({ code }) => code).join('')).toBe(text);
  });
});

describe('bounds', () => {
  it('limits the places of a decimal', () => {
    const most = `1.${'1'.repeat(MAX_PLACES)}`;
    expect(read(most)).toEqual([{ mantissa: BigInt(most.replace('.', '')), places: MAX_PLACES }]);
    const digits = '1'.repeat(MAX_PLACES + 1);
    expect(failure(`-1.${digits}`).message).toBe(`error: decimal precision overflow (255 max): "1"."${digits}"`);
    expect(failure(`1.${digits}`, 5).message).toBe('Precision overflow (>=255 decimal places):  256 decimals');
  });

  it('limits the digits of a number', () => {
    expect(read(`-${'9'.repeat(MAX_DIGITS)}`)).toEqual([1n - 10n ** BigInt(MAX_DIGITS)]);
    expect(failure('9'.repeat(MAX_DIGITS + 1)).message).toBe('A number has more than 10000 digits');
  });

  it('limits the depth', () => {
    const deep = (depth: number) => '[{('.repeat(depth).slice(0, depth);
    expect(failure(deep(MAX_DEPTH)).message).toContain('error: expected');
    expect(failure(deep(MAX_DEPTH + 1))).toEqual({
      message: 'More than 200 brackets are inside each other',
      line: 1,
      column: MAX_DEPTH,
    });
    expect(readForms('('.repeat(MAX_DEPTH) + ')'.repeat(MAX_DEPTH), 4)).toHaveLength(1);
  });

  it('limits the length of a text', () => {
    expect(readForms(' '.repeat(MAX_TEXT_LENGTH), 4)).toEqual([]);
    expect(() => readForms(' '.repeat(MAX_TEXT_LENGTH + 1), 4)).toThrow('The text is longer than 1048576 characters');
  });
});
