import { describe, expect, it } from 'vitest';
import { printedValue } from '../evaluate.ts';
import { expectFault } from '../faults.ts';

const NUMBER = '<a[integer,decimal]>';
const UNARY = `x:${NUMBER} -> ${NUMBER}`;
const BINARY = `x:${NUMBER} y:${NUMBER} -> ${NUMBER}, x:${NUMBER} y:<b[integer,decimal]> -> decimal`;
const INTEGERS = 'x:integer y:integer -> integer';
const JOINED = '<a[string,[<l>],object:<{o}>]>';
const EQUATED = '<a[integer,string,time,decimal,bool,[<l>],object:<{o}>,keyset,guard,module{}]>';
const ORDERED = '<a[integer,decimal,string,time]>';
const ROUNDING = '[x:decimal prec:integer -> decimal, x:decimal -> integer]';
const TOO_LARGE = 'A number has more than 65536 bits';

describe('what operators say of wrong arguments in dialect 4', () => {
  it.each([
    ['(+ 1 "a")', '1 "a"', `[${BINARY}, x:${JOINED} y:${JOINED} -> ${JOINED}]`],
    ['(+ "a" ["b"])', '"a" ["b"]', `[${BINARY}, x:${JOINED} y:${JOINED} -> ${JOINED}]`],
    ['(- 1 true)', '1 true', `[${BINARY}, ${UNARY}]`],
    ['(- "a")', '"a"', `[${BINARY}, ${UNARY}]`],
    ['(- 1 2 3)', '1 2 3', `[${BINARY}, ${UNARY}]`],
    ['(* 1)', '1', `[${BINARY}]`],
    ['(/ "a" 0)', '"a" 0', `[${BINARY}]`],
    ['(^ 1.0 [])', '1.0 []', `[${BINARY}]`],
    ['(log 1 2 3)', '1 2 3', `[${BINARY}]`],
    ['(exp "a")', '"a"', UNARY],
    ['(ln)', '', UNARY],
    ['(sqrt 1 2)', '1 2', UNARY],
    ['(abs "1")', '"1"', '[x:decimal -> decimal, x:integer -> integer]'],
    ['(dec 1.0)', '1.0', 'x:integer -> decimal'],
    ['(round 1)', '1', ROUNDING],
    ['(floor 1.5 2.0)', '1.5 2.0', ROUNDING],
    ['(ceiling 1.5 1 1)', '1.5 1 1', ROUNDING],
    ['(mod 1 2.0)', '1 2.0', INTEGERS],
    ['(& 1 true)', '1 true', INTEGERS],
    ['(| 1)', '1', INTEGERS],
    ['(xor 1.0 1)', '1.0 1', INTEGERS],
    ['(shift 1 1 1)', '1 1 1', INTEGERS],
    ['(~ 1.0)', '1.0', 'x:integer -> integer'],
    ['(= 1)', '1', `x:${EQUATED} y:${EQUATED} -> bool`],
    ['(!= 1 2 3)', '1 2 3', `x:${EQUATED} y:${EQUATED} -> bool`],
    ['(< 1 1.0)', '1 1.0', `x:${ORDERED} y:${ORDERED} -> bool`],
    ['(>= true false)', 'true false', `x:${ORDERED} y:${ORDERED} -> bool`],
    ['(<= "a" (time "2020-01-01T00:00:00Z"))', '"a" "2020-01-01T00:00:00Z"', `x:${ORDERED} y:${ORDERED} -> bool`],
    ['(> 1)', '1', `x:${ORDERED} y:${ORDERED} -> bool`],
  ])('%s', (code, received, signatures) => {
    expectFault(code, 4, `Invalid arguments, received [${received}] for ${signatures}`, 'args');
  });
});

describe('what operators say of wrong arguments in dialect 5', () => {
  it.each([
    ['(+ 2 "hello")', '+', 'integer, string'],
    ['(< 1 1.0)', '<', 'integer, decimal'],
    ['(= 1 (lambda (x) x))', '=', 'integer, closure'],
    ['(= + +)', '=', 'closure, closure'],
    ['(mod 1 2.0)', 'mod', 'integer, decimal'],
    ['(negate "a")', 'negate', 'string'],
  ])('%s', (code, name, types) => {
    const message = `Type error: failed to call native function ${name} with argument(s) of type(s): ${types}`;
    expectFault(code, 5, message, 'args');
  });

  it.each([
    ['(* 1)', '*', 1, 2],
    ['(~ 1 2)', '~', 2, 1],
    ['(= 1 2 3)', '=', 3, 2],
  ])('%s', (code, name, given, wanted) => {
    const message = `Incorrect number of arguments (${given}) for native function ${name} supplied; expected (${wanted})`;
    expectFault(code, 5, message, 'args');
  });
});

describe('logarithms of integers beyond the range of binary64', () => {
  it.each([
    ['(round (ln (^ 10 400)) 9)', '921.034037198'],
    ['(log 10 (^ 10 400))', '400'],
    ['(log (^ 10 400) (^ 10 800))', '2'],
  ])('%s in dialect 5', (code, printed) => {
    expect(printedValue(code, 5)).toBe(printed);
  });
});

describe('mixed operands', () => {
  it.each([
    ['(^ 2 -1.0)', '0.5'],
    ['(^ 2.0 3)', '8.0'],
    ['(- 1 0.25)', '0.75'],
    ['(/ 1 4.0)', '0.25'],
    ['(* 3 1.50)', '4.5'],
    ['(+ 1.50 1)', '2.50'],
    ['(- 2.50)', '-2.50'],
    ['(abs -2.50)', '2.50'],
    ['(round 2.5 3)', '2.500'],
    ['(floor -1.55 1)', '-1.6'],
    ['(ceiling -1.55 1)', '-1.5'],
    ['(+ [1 "a"] [true])', '[1 "a" true]'],
    ['(+ "" "")', '""'],
    ['(+ { "b": 1 } { "c": 2, "a": 3, "b": 4 })', '{"a": 3,"b": 1,"c": 2}'],
    ['(= 1 "1")', 'false'],
    ['(!= true 1)', 'true'],
    ['(= { "a": [1] } { "a": 1 })', 'false'],
    ['(< (time "2020-01-01T00:00:00Z") (time "2020-01-01T00:00:01Z"))', 'true'],
    ['(< "\uffff" "\u{10000}")', 'true'],
    ['(>= 1.00 1.0)', 'true'],
    ['(mod 7 -2)', '-1'],
  ])('%s is %s', (code, printed) => {
    expect(printedValue(code)).toBe(printed);
  });
});

describe('differences of the dialects', () => {
  it('has negate in dialect 5 only', () => {
    expect(printedValue('(negate 3)', 5)).toBe('-3');
    expectFault('(negate 3)', 4, 'Cannot resolve negate');
  });

  it('orders bools in dialect 5 only', () => {
    expect(printedValue('[(< false true) (>= false true) (<= true true)]', 5)).toBe('[true false true]');
  });

  it('compares values of different shapes in dialect 5 only', () => {
    expect(printedValue('(= 1 [1])', 5)).toBe('false');
    expectFault('(!= { "a": 1 } "a")', 4, 'cannot compare incompatible types: object:*, string');
  });

  it.each([
    ['(/ 1 0.0)', 'Division by 0: (1, 0.0)', 'Arithmetic exception: div by zero, decimal'],
    ['(^ 2 -1)', 'Integral power must be >= 0: (2, -1)', 'Arithmetic exception: negative exponent in integer power'],
    ['(mod 1 0)', 'divide by zero', 'divide by zero'],
    ['(log -2 8)', 'Illegal base or argument in log', 'Arithmetic exception: Negative log base'],
    ['(log 2 0)', 'Illegal base or argument in log', 'Arithmetic exception: Non-positive log argument'],
    ['(log 1 8)', 'Operation resulted in +- infinity or NaN', 'Arithmetic exception: Base 1 not supported'],
    [
      '(ln 0)',
      'Illegal argument for ln: must be greater than zero',
      'Arithmetic exception: Natural logarithm must be greater then 0',
    ],
    ['(sqrt -1)', 'Sqrt must be non-negative', 'Arithmetic exception: Square root must be non-negative'],
    [
      '(^ -2.0 0.5)',
      'Operation resulted in +- infinity or NaN',
      'Floating point error: Floating operation resulted in Infinity or NaN',
    ],
  ])('both refuse %s', (code, in4, in5) => {
    expectFault(code, 4, in4);
    expectFault(code, 5, in5);
  });
});

describe('bounds', () => {
  it.each([
    '(^ 2 65536)',
    '(^ 3 1000000000000000000000000)',
    '(^ (^ 2 60000) 2)',
    '(* (^ 2 40000) (^ 2 40000))',
    '(+ (^ 2 65535) (^ 2 65535))',
    '(shift 1 65536)',
    '(shift 1 1000000000000000000000000)',
    '(~ (+ (^ 2 65535) (- (^ 2 65535) 1)))',
    '(minutes (^ 2 65535))',
  ])('%s is too large', (code) => {
    for (const dialect of [4, 5] as const) expectFault(code, dialect, TOO_LARGE);
  });

  it('shifts far to the right', () => {
    expect(printedValue('[(shift 5 -1000000000000000000000000) (shift -5 -1000000000000000000000000)]')).toBe('[0 -1]');
    expect(printedValue('(shift 0 1000000000000000000000000)')).toBe('0');
  });

  /** @returns code that doubles a value `times` times, and compares the result with it */
  const doubled = (value: string, times: number) => {
    const steps = Array.from({ length: times }, (_, at) => `(v${at + 1} (+ v${at} v${at}))`);
    return `(let* ((v0 ${value}) ${steps.join(' ')}) (= v${times} v0))`;
  };

  it.each([
    ['"x"', 23, 'A value has more than 8388608 characters'],
    ['[1]', 20, 'A value has more than 1048576 parts'],
  ])('joins %s %i times at most', (value, most, message) => {
    expect(printedValue(doubled(value, most))).toBe('false');
    expectFault(doubled(value, most + 1), 4, message);
    expectFault(doubled(value, 50), 5, message);
  });

  it.each([
    ['large integers', '(* (^ 2 30000) (^ 2 30000))', 8000],
    ['decimals', '(/ 1.0 3.0)', 30],
    ['roots', '(sqrt 2)', 30],
    ['joined texts', `(+ "${'x'.repeat(500)}" "${'y'.repeat(500)}")`, 1000],
    ['compared texts', `(< "${'x'.repeat(10_000)}" "${'x'.repeat(10_000)}")`, 150],
    ['equal lists', `(= [${'1 '.repeat(100)}] [${'1 '.repeat(100)}])`, 300],
  ])('counts the steps of %s', (_, code, steps) => {
    expect(() => printedValue(code, 4, steps)).toThrow(`Code takes more than ${steps} steps`);
    expect(printedValue(code, 4, steps * 4)).toBeTypeOf('string');
  });
});
