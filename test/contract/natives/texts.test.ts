import { describe, expect, it } from 'vitest';
import { printedValue } from '../evaluate.ts';
import { expectFault } from '../faults.ts';

const TOO_MANY_PARTS = 'A value has more than 1048576 parts';
const TOO_MANY_CHARACTERS = 'A value has more than 8388608 characters';
const NO_BASE = 'Base value must be >= 2 and <= 16, or 64';

describe('natives of texts', () => {
  it.each([
    ['(str-to-list "a😀")', '["a" "😀"]'],
    ['(format "no places" [])', '"no places"'],
    ['(format "{}-{}" [1 "b" 3])', '"1-b"'],
    ['(format "{}" [{"b": ["x"], "a": 1}])', '"{"a": 1,"b": ["x"]}"'],
    ['(format "{}{}" ["{}" 1])', '"{}1"'],
    ['(str-to-int 16 "aBc")', '2748'],
    ['(str-to-int 64 "")', '0'],
    [`(str-to-int 2 "${'0'.repeat(511)}1")`, '1'],
    ['(int-to-str 2 0)', '"0"'],
    ['(int-to-str 64 0)', '"AA"'],
    ['(int-to-str 64 256)', '"AQA"'],
    ['(str-to-int 64 (int-to-str 64 123456789012345678901234567890))', '123456789012345678901234567890'],
    ['CHARSET_ASCII', '0'],
    ['CHARSET_LATIN1', '1'],
    ['(let ((CHARSET_ASCII 5)) CHARSET_ASCII)', '5'],
    ['(is-charset CHARSET_LATIN1 "Ā")', 'false'],
    ['(base64-encode "ä?>")', '"w6Q_Pg"'],
    ['(base64-decode "w6Q_Pg")', '"ä?>"'],
    ['(base64-decode "ZA==")', '"d"'],
    ['(base64-decode "ZA=")', '"d"'],
    ['(base64-decode "77-9")', '"\ufffd"'],
    ['(base64-decode "77u_YQ")', '"\ufeffa"'],
    ['(hash-keccak256 ["" "Zm9v"])', '"QbGgZJdSrxsos9wpoVVu7ngeSkw6H39T-Q-oNN4JjE0"'],
    ['(typeof 1)', '"integer"'],
    ['(typeof [1])', '"[<a>]"'],
    ['(typeof {"a": 1})', '"object:*"'],
  ])('%s', (code, text) => {
    expect(printedValue(code)).toBe(text);
  });

  it('exist in one dialect only', () => {
    expectFault('(show 1)', 4, 'Cannot resolve show');
    expect(printedValue('(show "a")', 5)).toBe('""a""');
    expect(printedValue('(show 2.00)', 5)).toBe('"2.0"');
    expect(printedValue('(typeof [1])', 5)).toBe('"list"');
    expect(printedValue('(typeof (lambda (x) x))', 5)).toBe('"<<closure>>"');
    expect(printedValue('(typeof typeof)', 5)).toBe('"<<closure>>"');
  });
});

describe('what natives of texts say of wrong arguments', () => {
  it.each([
    ['(base64-decode 1)', '1', 'string:string -> string'],
    ['(base64-encode 1)', '1', 'string:string -> string'],
    ['(concat "asdf")', '"asdf"', 'str-list:[string] -> string'],
    ['(format "{}" 1)', '"{}" 1', 'template:string vars:[*] -> string'],
    ['(hash)', '', 'value:<a> -> string'],
    ['(hash-keccak256 [1])', '[1]', 'bytes:[string] -> string'],
    ['(int-to-str "2" 1)', '"2" 1', 'base:integer val:integer -> string'],
    ['(is-charset "0" "a")', '"0" "a"', 'charset:integer input:string -> bool'],
    ['(str-to-int 1)', '1', '[str-val:string -> integer, base:integer str-val:string -> integer]'],
    ['(str-to-list ["a"])', '["a"]', 'str:string -> [string]'],
    ['(typeof 1 2)', '1 2', 'x:<a> -> string'],
  ])('%s', (code, received, signatures) => {
    expectFault(code, 4, `Invalid arguments, received [${received}] for ${signatures}`, 'args');
  });

  it.each([
    [
      '(format "{} {}" [1])',
      'format: not enough arguments for template',
      'format',
      'not enough arguments for template',
    ],
    ['(str-to-int 1 "1")', NO_BASE, 'str-to-int-base', NO_BASE],
    ['(str-to-int 63 "1")', NO_BASE, 'str-to-int-base', NO_BASE],
    ['(int-to-str 1 1)', 'Invalid base, must be 2-16 or 64', 'int-to-str', 'invalid base for base64URL conversion'],
    [
      '(int-to-str 64 -1)',
      'Only positive values allowed for base64URL conversion.',
      'int-to-str',
      'int-to-str error: cannot show negative integer',
    ],
    [
      '(int-to-str 10 -36)',
      'Numeric.showIntAtBase: applied to negative number -36',
      'int-to-str',
      'int-to-str error: cannot show negative integer',
    ],
    ['(is-charset 2 "a")', 'Unsupported character set: 2', 'is-charset', 'Unsupported character set'],
  ])('%s', (code, in4, native, in5) => {
    expectFault(code, 4, in4);
    expectFault(code, 5, `native execution failure, ${native} failed with message: ${in5}`);
  });

  const long = 'a'.repeat(513);
  const undecodable = 'Could not base64-decode string';
  it.each([
    [`(str-to-int 16 "${long}")`, 'Invalid input, only up to 512 length supported', undefined],
    ['(str-to-int "")', 'empty text: ', undefined],
    ['(str-to-int 8 "778")', "character '8' is out of range for base 8: 778", undefined],
    [
      '(str-to-int "-12")',
      "character '-' is out of range for base 10: -12",
      'invalid digit: supported digits are 0-9, A-F',
    ],
    ['(str-to-int 64 "a")', undecodable, 'invalid b64 encoding'],
    ['(base64-decode "a")', `Could not decode string: ${undecodable}`, 'invalid b64 encoding'],
    ['(base64-decode "AAAA=")', `Could not decode string: ${undecodable}`, 'invalid b64 encoding'],
    ['(base64-decode "AA=A")', `Could not decode string: ${undecodable}`, 'invalid b64 encoding'],
    ['(base64-decode "a+/b")', `Could not decode string: ${undecodable}`, 'invalid b64 encoding'],
    [
      '(base64-decode "_w")',
      'Could not decode string: Base64URL decode failed: invalid unicode',
      'invalid b64 encoding',
    ],
  ])('%s', (code, in4, in5 = in4) => {
    expectFault(code, 4, in4);
    expectFault(code, 5, `Decoding error: ${in5}`);
  });

  it('in lists', () => {
    expectFault('(concat ["a" {"b": 1}])', 4, 'concat: expecting list of strings: {"b": 1}');
    const message = 'Base64URL decode failed: a text is not base64url without padding';
    expectFault('(hash-keccak256 ["Zm9v" "fooey"])', 4, message);
  });
});

describe('the bounds of natives of texts', () => {
  const million = '(concat (make-list 1000 (concat (make-list 1000 "a"))))';
  const eight = `(let* ((a ${million}) (b (+ a a)) (c (+ b b))) (+ c c))`;
  it.each([
    `(let ((x ${eight})) (concat [x x]))`,
    `(let ((x ${million})) (format "{}{}{}{}{}{}{}{}{}" [x x x x x x x x x]))`,
    `(base64-encode ${eight})`,
  ])('%s makes too long a text', (code) => {
    expectFault(code, 4, TOO_MANY_CHARACTERS);
  });

  it('let a text be longer than a list', () => {
    const twoMillions = `(let ((x ${million})) (concat [x x]))`;
    expect(printedValue(`(length ${twoMillions})`)).toBe('2000000');
    expect(printedValue(`(take -1 (drop 1999998 ${twoMillions}))`)).toBe('"a"');
    expectFault(`(str-to-list ${twoMillions})`, 4, TOO_MANY_PARTS);
    expectFault(`(format "{}" [(make-list 1048576 1)])`, 4, TOO_MANY_PARTS);
  });

  const thousand = '(make-list 1000 "aaaa")';
  it.each([
    `(concat ${thousand})`,
    `(str-to-list (concat (make-list 1000 "aa")))`,
    `(format "{}" [(make-list 1000 1)])`,
    `(hash ${thousand})`,
    `(hash-keccak256 ${thousand})`,
    `(base64-encode (concat (make-list 1000 "a")))`,
  ])('%s takes steps for each character', (code) => {
    expectFault(code, 4, 'Code takes more than 2200 steps', 'eval', 2200);
  });
});
