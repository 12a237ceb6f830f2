import { expect, it } from 'vitest';
import { junitXml } from '#pickaxe/cli/repl/junit.js';
import { expectation, resultOf } from './fake-session.ts';

it('has a suite for each file and a case for each expectation', () => {
  const xml = junitXml([
    resultOf({
      expectations: [
        expectation('Expect: success: sums', 3),
        expectation('FAILURE: products: expected 6:integer, received 5:integer', 4, 'loaded.repl'),
      ],
    }),
    resultOf({
      file: 'b.repl',
      error: {
        place: { file: 'b.repl', position: { line: 9, column: 1, offset: 0 } },
        message: 'Cannot resolve x',
        frames: ['b.repl:9:4: (m.f)'],
      },
    }),
    resultOf({ file: 'c.repl' }),
  ]);
  expect(xml).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="pickaxe repl" tests="3" failures="1" errors="1">
  <testsuite name="a.repl" tests="2" failures="1" errors="0" skipped="0">
    <testcase name="sums" classname="a.repl" file="a.repl" line="3"/>
    <testcase name="products" classname="loaded.repl" file="loaded.repl" line="4"><failure message="FAILURE: products: expected 6:integer, received 5:integer" type="ExecError">loaded.repl:4:2: FAILURE: products: expected 6:integer, received 5:integer</failure></testcase>
  </testsuite>
  <testsuite name="b.repl" tests="1" failures="0" errors="1" skipped="0">
    <testcase name="the file runs to its end" classname="b.repl" file="b.repl" line="9"><error message="Cannot resolve x" type="Error">b.repl:9:1
Cannot resolve x
 at b.repl:9:4: (m.f)</error></testcase>
  </testsuite>
  <testsuite name="c.repl" tests="0" failures="0" errors="0" skipped="0">
  </testsuite>
</testsuites>
`);
});

it('has the error of a file whose place is not known', () => {
  const xml = junitXml([resultOf({ error: { place: undefined, message: 'no', frames: [] } })]);
  expect(xml).toContain(
    '<testcase name="the file runs to its end" classname="a.repl" file="a.repl"><error message="no"',
  );
});

it.each([
  ['Expect: success: d', 'FAILURE: d: expected 1:integer, received 2:integer'],
  ['Expect: success: d', 'FAILURE: d: evaluation of actual failed:a.repl:3:0: no'],
  ['Expect failure: success: d', 'FAILURE: d: expected failure, got result = 1'],
  ['Expect-that: success: d', 'FAILURE: d: did not satisfy (> 2) : 3:integer'],
  ['Expect-that: success: d', 'FAILURE: d: predicate did not return boolean: 3'],
  ['Expect: success d', 'FAILURE: d expected: 1, received: 2'],
  ['Expect: success d', 'FAILURE: d evaluation of actual failed with error message:\nno'],
  ['Expect failure: Success: d', 'FAILURE: d: expected failure, got result'],
  ['Expect-that: success d', 'FAILURE: Expect-that: Did not satisfy condition: d'],
])('a test has one name, whether it passes or not: %s, %s', (passed, failed) => {
  for (const text of [passed, failed])
    expect(junitXml([resultOf({ expectations: [expectation(text)] })])).toContain('<testcase name="d" ');
});

it('numbers tests of one name, and names those without words by their place', () => {
  const expectations = ['Expect: success: d', 'Expect: success: d', 'Expect: success: '].map((text) =>
    expectation(text),
  );
  const xml = junitXml([resultOf({ expectations })]);
  expect([...xml.matchAll(/testcase name="([^"]*)"/g)].map(([, name]) => name)).toEqual([
    'd',
    'd (2)',
    'line 1, column 2',
  ]);
});

it('escapes what XML reserves, and replaces what it does not allow', () => {
  const text = 'FAILURE: <"a" & \'b\'>\t\n\r\x00\x1b[0m\ud800\uffff😀: expected ]]>';
  const xml = junitXml([resultOf({ file: 'a&b.repl', expectations: [expectation(text)] })]);
  expect(xml).toContain('<testsuite name="a&amp;b.repl"');
  const shown = "FAILURE: &lt;&quot;a&quot; &amp; 'b'&gt;\t\n\r\ufffd\ufffd[0m\ufffd\ufffd😀: expected ]]&gt;";
  expect(xml).toContain(`>a.repl:1:2: ${shown}</failure>`);
  const inAttribute = shown.replace('\t', '&#9;').replace('\n', '&#10;').replace('\r', '&#13;');
  expect(xml).toContain(`<failure message="${inAttribute}"`);
  expect(xml).not.toMatch(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u);
});

it('has no characters that change the direction of a line or could be commands', () => {
  const hostile = 'a\x1b[2J\x9b\u202eb\u2066c\u200fd\ufffe';
  const xml = junitXml([
    resultOf({
      file: hostile,
      expectations: [expectation(`FAILURE: ${hostile}`, 1, hostile)],
      error: { place: undefined, message: hostile, frames: [hostile] },
    }),
  ]);
  expect(xml).not.toMatch(/[^\P{C}\n]/u);
});
