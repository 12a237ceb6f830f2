import { describe, expect, it } from 'vitest';
import type { ErrorKind } from '#pickaxe/contract/errors.js';
import { printedValue } from '../evaluate.ts';
import { expectFault } from '../faults.ts';

const TAKE =
  '[count:integer list:<a[[<l>],string]> -> <a[[<l>],string]>, keys:[string] object:object:<{o}> -> object:<{o}>]';
const TOO_MANY_PARTS = 'A value has more than 1048576 parts';
const MANY = '(make-list 1048576 1)';

describe('natives of lists', () => {
  it.each([
    ['(take 1 "😀b")', '"😀"'],
    ['(take -1 "a😀")', '"😀"'],
    ['(drop 1 "😀b")', '"b"'],
    ['(drop -1 "a😀")', '"a"'],
    ['(take -100 [1 2])', '[1 2]'],
    ['(drop -100 [1 2])', '[]'],
    ['(drop -2 [1 2 3])', '[1]'],
    ['(take -4 [1 2 3])', '[1 2 3]'],
    ['(drop -4 [1 2 3])', '[]'],
    ['(take 340282366920938463463374607431768211456 "ab")', '"ab"'],
    ['(take ["c" "b" "x"] {"c": 1, "b": 2, "a": 3})', '{"b": 2,"c": 1}'],
    ['(drop ["a"] {"c": 1, "b": 2, "a": 3})', '{"b": 2,"c": 1}'],
    ['(take 0 "ab")', '""'],
    ['(take 2 "ab")', '"ab"'],
    ['(take 0 [1 2])', '[]'],
    ['(take 2 [1 2])', '[1 2]'],
    ['(take 3 [1 2])', '[1 2]'],
    ['(take -2 [1 2])', '[1 2]'],
    ['(drop 0 [1 2])', '[1 2]'],
    ['(drop 2 [1 2])', '[]'],
    ['(drop 3 "ab")', '""'],
    ['(drop -2 "ab")', '""'],
    ['(drop -3 "ab")', '""'],
    ['(length {"a": 1, "b": 2})', '2'],
    ['(length [1 2 3])', '3'],
    ['(length "a😀")', '2'],
    ['(at 1 ["a" "b"])', '"b"'],
    ['(enumerate 1 3)', '[1 2 3]'],
    ['(enumerate 3 1)', '[3 2 1]'],
    ['(enumerate 1 4 2)', '[1 3]'],
    ['(enumerate 1 2 0)', '[]'],
    ['(make-list 2 "a")', '["a" "a"]'],
    ['(where "a" (< 1) {"a": 2})', 'true'],
    ['(where "a" (+ 1) {"a": 2})', '3'],
    ['(zip (+) [1 2 3] [10 20])', '[11 22]'],
    ['(remove "a" {"b": 1, "a": 2})', '{"b": 1}'],
    ['(sort [1.5 1 true "a" {"x": 1}])', '["a" 1 1.5 true {"x": 1}]'],
    ['(distinct [1 2 1 2.0 2.0 "1"])', '[1 2 2.0 "1"]'],
    ['(at 0 ["a"])', '"a"'],
    ['(at "b" {"a": 1, "b": 2})', '2'],
    ['(contains 1.00 [1.0])', 'true'],
    ['(contains 1 [1.0 "1"])', 'false'],
    ['(contains {"a": [1]} [{"a": [2]} {"a": [1]}])', 'true'],
    ['(contains "" "")', 'true'],
    ['(contains "abababababababababac" "ababababababababababababababac")', 'true'],
    ['(contains "abababababababababad" "ababababababababababababababac")', 'false'],
    ['(contains "x" {"y": 1})', 'false'],
    ['(distinct [1.0 1 "1" 1.00 {"a": 1} {"a": 2} {"a": 1} [] [] true true])', '[1.0 1 "1" {"a": 1} {"a": 2} [] true]'],
    ['(make-list 0 1)', '[]'],
    ['(make-list -1 1)', '[]'],
    ['(enumerate 3 -3 -3)', '[3 0 -3]'],
    ['(enumerate 5 5 0)', '[5]'],
    ['(sort [true 2.0 "b" 2 false 1 "a" 1.5])', '["a" "b" 1 2 1.5 2.0 false true]'],
    ['(sort ["￿" "😀" "a"])', '["a" "￿" "😀"]'],
    [
      '(sort [(time "2021-01-01T00:00:00Z") true (time "2020-01-01T00:00:00Z")])',
      '[true "2020-01-01T00:00:00Z" "2021-01-01T00:00:00Z"]',
    ],
    ['(sort [{"b": 1} {"a": 1} {"c": 1}])', '[{"b": 1} {"a": 1} {"c": 1}]'],
    ['(sort ["x"] [])', '[]'],
    ['(sort [])', '[]'],
    ['(filter (where "a" (constantly true)) [{"a": 1}])', '[{"a": 1}]'],
    ['(where "a" (identity) {"a": true})', 'true'],
    ['(map (at "a") [{"a": 1} {"a": 2}])', '[1 2]'],
    ['(fold (lambda (so-far item) (at item so-far)) [[7]] [0 0])', '7'],
    ['(zip (lambda (x y) [x y]) [1 2] ["a" "b" "c"])', '[[1 "a"] [2 "b"]]'],
    ['(remove "x" {"b": 1, "a": 2})', '{"a": 2,"b": 1}'],
  ])('%s', (code, text) => {
    expect(printedValue(code)).toBe(text);
  });

  it('decide by the last of the fields first, which dialect 4 keeps as a set', () => {
    const objects = '[{"a": 1, "b": 2} {"a": 2, "b": 1} {"a": 0, "b": 2}]';
    const byB = '[{"a": 2,"b": 1} {"a": 0,"b": 2} {"a": 1,"b": 2}]';
    expect(printedValue(`(sort ["a" "b"] ${objects})`)).toBe(byB);
    expect(printedValue(`(sort ["b" "a"] ${objects})`)).toBe(byB);
    expect(printedValue(`(sort ["a" "b"] ${objects})`, 5)).toBe(byB);
    expect(printedValue(`(sort ["b" "a"] ${objects})`, 5)).toBe('[{"a": 0,"b": 2} {"a": 1,"b": 2} {"a": 2,"b": 1}]');
  });

  it('exist in one dialect only', () => {
    expect(printedValue('(list)', 4)).toBe('[]');
    expectFault('(list 1)', 5, 'Unbound variable list');
    expect(printedValue('(reverse "a😀")', 5)).toBe('"😀a"');
    expect(printedValue('(map length ["a" "bc"])', 5)).toBe('[1 2]');
    expect(printedValue('(sort [] [{"a": 1}])', 5)).toBe('[{"a": 1}]');
  });
});

describe('what natives of lists say of wrong arguments in dialect 4', () => {
  it.each([
    ['(at 1.0 [1])', '1.0 [1]', '[idx:integer list:[<l>] -> <a>, idx:string object:object:<{o}> -> <a>]'],
    [
      '(contains 1 "1")',
      '1 "1"',
      '[value:<a> list:[<a>] -> bool, key:<a> object:object:<{o}> -> bool, value:string string:string -> bool]',
    ],
    ['(distinct "aa")', '"aa"', 'values:[<a>] -> [<a>]'],
    ['(drop "a" [1])', '"a" [1]', TAKE],
    ['(take 1 2)', '1 2', TAKE],
    [
      '(enumerate 1 "2")',
      '1 "2"',
      '[from:integer to:integer inc:integer -> [integer], from:integer to:integer -> [integer]]',
    ],
    ['(filter 1 [1])', '"1" "[1]"', 'app:x:<a> -> bool list:[<a>] -> [<a>]'],
    ['(filter (identity) [1] 2)', '"(identity)" "[1]" "2"', 'app:x:<a> -> bool list:[<a>] -> [<a>]'],
    ['(fold (at) 1)', '"(at)" "1"', 'app:x:<a> y:<b> -> <a> init:<a> list:[<b>] -> <a>'],
    ['(length 1)', '1', 'x:<a[[<l>],string,object:<{o}>]> -> integer'],
    ['(make-list "1" 1)', '"1" 1', 'length:integer value:<a> -> [<a>]'],
    ['(map [1] (identity))', '"[1]" "(identity)"', 'app:x:<b> -> <a> list:[<b>] -> [<a>]'],
    ['(remove 1 {})', '1 {}', 'key:string object:object:<{o}> -> object:<{o}>'],
    ['(reverse "ab")', '"ab"', 'list:[<a>] -> [<a>]'],
    ['(sort "ba")', '"ba"', '[values:[<a>] -> [<a>], fields:[string] values:[object:<{o}>] -> [object:<{o}>]]'],
    [
      '(where "a" (identity) 1)',
      '""a"" "(identity)" "1"',
      'field:string app:x:<a> -> bool value:object:<{row}> -> bool',
    ],
    ['(zip (at) 1 [])', '1 []', 'f:x:<a> y:<b> -> <c> list1:[<a>] list2:[<b>] -> [<c>]'],
  ])('%s', (code, received, signatures) => {
    expectFault(code, 4, `Invalid arguments, received [${received}] for ${signatures}`, 'args');
  });

  it.each([
    ['(at 1 [1])', 'at: bad index 1, length 1'],
    ['(at -1 [1])', 'at: bad index -1, length 1'],
    ['(at "b" {"a": 1})', 'key not found in object: b'],
    ['(at 1 {"a": 1})', 'object lookup only supported with strings'],
    ['(where "b" (identity) {"a": 1})', 'key not found in object: b'],
    ['(take [1] {"a": 1})', 'String required'],
    ['(sort [] [1])', 'Empty fields list'],
    ['(sort [1] [{"a": 1}])', 'String required'],
    ['(map (identity) "abc")', 'map: expecting list: "abc"'],
    [`(map (identity) "${'a'.repeat(60)}")`, `map: expecting list: "${'a'.repeat(49)}...`],
    ['(fold (at) 1 2)', 'fold: expecting list: 2'],
    ['(filter (identity) 1)', 'filter: expecting list: 1'],
    ['(filter (at "a") [{"a": 1}])', 'filter: expected closure to return bool: (at "a")'],
  ])('%s', (code, message) => {
    expectFault(code, 4, message);
  });
});

describe('what natives of lists say of wrong arguments in dialect 5', () => {
  it.each<[string, string, ErrorKind]>([
    ['(at 3 [1 2])', 'Array index out of bounds. Length (2), Index (3)', 'eval'],
    ['(at "c" {"b": 1, "a": [1 2]})', 'Key "c" not found in object: {"a": [1 2],"b": 1}', 'eval'],
    ['(at 1 {})', 'Type error: failed to call native function at with argument(s) of type(s): integer, object', 'args'],
    ['(enumerate 0 1 -1)', 'Enumeration error: enumerate: increment diverges below from interval bounds.', 'eval'],
    ['(filter identity [1])', 'expected bool value, got 1', 'eval'],
    ['(where "a" identity {"a": 1})', 'expected bool value, got 1', 'eval'],
    [
      '(map identity 1)',
      'Type error: failed to call native function map with argument(s) of type(s): closure, integer',
      'args',
    ],
    [
      '(map (at 1) 1)',
      'Type error: failed to call native function map with argument(s) of type(s): closure, integer',
      'args',
    ],
    ['(fold at 1)', 'Incorrect number of arguments (2) for native function fold supplied; expected (3)', 'args'],
  ])('%s', (code, message, kind) => {
    expectFault(code, 5, message, kind);
  });
});

describe('the bounds of natives of lists', () => {
  it.each([
    '(make-list 1048577 1)',
    '(make-list 340282366920938463463374607431768211456 1)',
    '(enumerate 1 1048577)',
    '(enumerate 0 340282366920938463463374607431768211456)',
  ])('%s makes too many items', (code) => {
    expectFault(code, 4, TOO_MANY_PARTS);
  });

  it('allow 2^20 items', () => {
    expect(printedValue(`(length ${MANY})`)).toBe('1048576');
    expect(printedValue('(length (enumerate 0 1048575))')).toBe('1048576');
  });

  it.each([
    ['(make-list 5000 1)'],
    ['(enumerate 1 5000)'],
    ['(contains 0 (make-list 2000 1))'],
    ['(distinct (map (lambda (x) [x]) (enumerate 1 100)))'],
    ['(sort (enumerate 2000 1))'],
    ['(reverse (make-list 2000 1))'],
    ['(take 1 (make-list 2000 1))'],
    ['(map (constantly 1) (make-list 2000 1))'],
  ])('%s takes steps for each item', (code) => {
    expectFault(code, 4, 'Code takes more than 3000 steps', 'eval', 3000);
  });

  it('find a text in another one in linear time', () => {
    const half = '(concat (make-list 262144 "a"))';
    const code = `(contains (concat [${half} "b" ${half}]) (concat (make-list 1048576 "a")))`;
    expect(printedValue(code)).toBe('false');
  });

  it('count what comparing long texts takes', () => {
    const long = (last: string) => `(concat [(concat (make-list 100000 "a")) "${last}"])`;
    const code = `(contains ${long('b')} (make-list 100000 ${long('c')}))`;
    expectFault(code, 4, 'Code takes more than 1000000 steps', 'eval', 1_000_000);
  });
});
