import { describe, expect, it } from 'vitest';
import { printedValue } from '../evaluate.ts';
import { expectFault } from '../faults.ts';

const NOON = '(time "2016-07-22T12:00:00Z")';

describe('what natives of times say of wrong arguments', () => {
  const duration = '[n:decimal -> decimal, n:integer -> decimal]';
  const addTime = '[time:time seconds:decimal -> time, time:time seconds:integer -> time]';
  it.each([
    ['(time 1)', '1', 'utcval:string -> time'],
    ['(time "a" "b")', '"a" "b"', 'utcval:string -> time'],
    ['(parse-time "%F")', '"%F"', 'format:string utcval:string -> time'],
    ['(parse-time "%F" 2016)', '"%F" 2016', 'format:string utcval:string -> time'],
    ['(format-time "%F" "2016-07-22")', '"%F" "2016-07-22"', 'format:string time:time -> string'],
    [`(add-time ${NOON} "1")`, '"2016-07-22T12:00:00Z" "1"', addTime],
    [`(add-time 1 ${NOON})`, '1 "2016-07-22T12:00:00Z"', addTime],
    [`(diff-time ${NOON})`, '"2016-07-22T12:00:00Z"', 'time1:time time2:time -> decimal'],
    ['(minutes "1")', '"1"', duration],
    ['(hours)', '', duration],
    ['(days 1 2)', '1 2', duration],
  ])('%s', (code, received, signatures) => {
    expectFault(code, 4, `Invalid arguments, received [${received}] for ${signatures}`, 'args');
  });

  it('names types in dialect 5', () => {
    const call = 'Type error: failed to call native function';
    expectFault(`(add-time ${NOON} "1")`, 5, `${call} add-time with argument(s) of type(s): time, string`, 'args');
    expectFault('(days true)', 5, `${call} days with argument(s) of type(s): bool`, 'args');
    const count = 'Incorrect number of arguments (0) for native function time supplied; expected (1)';
    expectFault('(time)', 5, count, 'args');
  });
});

describe('times', () => {
  it.each([
    [`(format-time "%H:%M:%S.%v" (add-time ${NOON} 1.5))`, '"12:00:01.500000"'],
    [`(format-time "%v" (add-time ${NOON} 0.0000005))`, '"000000"'],
    [`(add-time ${NOON} -1)`, '"2016-07-22T11:59:59Z"'],
    [`(diff-time ${NOON} (add-time ${NOON} (days 1.5)))`, '-129600.0'],
    [`(diff-time (add-time ${NOON} 0.25) ${NOON})`, '0.25'],
    // Beyond what 64 bits can count, the language counts on from the first time.
    [`(format-time "%F" (add-time ${NOON} 10000000000000))`, '"-265651-11-22"'],
    ['(format-time "%F" (time "390419-01-01T00:00:00Z"))', '"-194136-12-13"'],
    ['(format-time "%F" (parse-time "%F" "-390419-01-01"))', '"194135-01-19"'],
    ['(minutes 1.50)', '90.0'],
    ['(days -1)', '-86400.0'],
  ])('%s is %s', (code, printed) => {
    expect(printedValue(code)).toBe(printed);
    expect(printedValue(code, 5)).toBe(printed);
  });

  it('says that a text has another format', () => {
    expectFault('(time "2016-07-22")', 4, "Invalid time, expecting '%Y-%m-%dT%H:%M:%SZ': 2016-07-22");
    expectFault('(parse-time "%F" "today")', 4, "Failed to parse time 'today' with format: %F");
    const failure = 'native execution failure,';
    expectFault('(time "a")', 5, `${failure} time failed with message: time default format parse failure`);
    expectFault('(parse-time "%F" "a")', 5, `${failure} parse-time failed with message: parse-time parse failure`);
  });

  it('have bounds', () => {
    const long = 'x'.repeat(1001);
    for (const code of [`(time "${long}")`, `(parse-time "${long}" "")`, `(format-time "${long}" ${NOON})`]) {
      expectFault(code, 4, 'A time and its format may have at most 1000 characters');
    }
    expect(printedValue(`(format-time "${'x'.repeat(1000)}" ${NOON})`)).toBe(`"${'x'.repeat(1000)}"`);
    expectFault(`(parse-time "%Y" "${'9'.repeat(20)}")`, 4, `Failed to parse time '${'9'.repeat(20)}' with format: %Y`);
  });

  it.each([
    [`(format-time "${'%c'.repeat(100)}" ${NOON})`, 700],
    [`(parse-time "${'%Y'.repeat(100)}" "${'1'.repeat(400)}")`, 19_000],
    ['(days (^ 2 60000))', 7000],
    [`(add-time ${NOON} (^ 2 60000))`, 7000],
  ])('count the steps of %s', (code, steps) => {
    expect(() => printedValue(code, 4, steps)).toThrow(`Code takes more than ${steps} steps`);
  });
});
