/** Pure functions that format the results of files as JUnit XML, which CI systems show as a list of tests. */

import type { Expectation, FileResult, Place } from '../../contract/repl/result.ts';
import { failuresOf, placeText } from './report.ts';
import { DifferentNames, testsOf } from './results/tests.ts';

/** Name of the test case for an error that has ended the run of a file. */
const WHOLE_FILE = 'the file runs to its end';

/** @returns a test suite for each file, with a test case for each expectation and for an error that ended the run */
export function junitXml(results: readonly FileResult[]): string {
  const suites = results.map(suiteOf);
  const sum = (count: (result: FileResult) => number) => results.reduce((total, result) => total + count(result), 0);
  const counts = { tests: sum(testsIn), failures: sum((each) => failuresOf(each).length), errors: sum(errorsIn) };
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites${attributes({ name: 'pickaxe repl', ...counts })}>
${suites.join('')}</testsuites>
`;
}

function suiteOf(result: FileResult): string {
  const { file, error } = result;
  const counts = { tests: testsIn(result), failures: failuresOf(result).length, errors: errorsIn(result), skipped: 0 };
  const names = new DifferentNames();
  const cases = testsOf(result, names).map(({ name, expectation }) => {
    return caseOf(name, expectation.place, failureIn(expectation), { seconds: expectation.seconds });
  });
  if (error !== undefined) {
    const { place, message, frames } = error;
    const details = [
      place === undefined ? file : placeText(place),
      message,
      ...frames.map((frame) => ` at ${frame}`),
    ].join('\n');
    const inside = `<error${attributes({ message, type: 'Error' })}>${escaped(details)}</error>`;
    cases.push(caseOf(names.next(WHOLE_FILE), place, inside, { file }));
  }
  return `  <testsuite${attributes({ name: file, ...counts })}>\n${cases.join('')}  </testsuite>\n`;
}

function testsIn(result: FileResult): number {
  return result.expectations.length + errorsIn(result);
}

function errorsIn({ error }: FileResult): number {
  return error === undefined ? 0 : 1;
}

function failureIn({ passed, text, place }: Expectation): string {
  if (passed) return '';
  return `<failure${attributes({ message: text, type: 'ExecError' })}>${escaped(`${placeText(place)}: ${text}`)}</failure>`;
}

interface CaseFacts {
  /** The file, if the place is not known. */
  readonly file?: string;
  readonly seconds?: number | undefined;
}

function caseOf(
  name: string,
  place: Place | undefined,
  inside: string,
  { file: whole = '', seconds }: CaseFacts,
): string {
  const file = place?.file ?? whole;
  const line = place === undefined ? {} : { line: place.position.line };
  const time = seconds === undefined ? {} : { time: seconds.toFixed(3) };
  const start = `    <testcase${attributes({ name, classname: file, file, ...line, ...time })}`;
  return inside === '' ? `${start}/>\n` : `${start}>${inside}</testcase>\n`;
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(
      ([name, value]) =>
        ` ${name}="${escaped(String(value)).replace(/[\t\n\r]/g, (gap) => `&#${gap.charCodeAt(0)};`)}"`,
    )
    .join('');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/**
 * Matches characters that XML 1.0 (section 2.2) does not allow, not even as entities. It also matches other invisible
 * characters: a terminal could take them for commands, and some reverse the direction of the text.
 */
const NO_CHARACTER = /[^\P{C}\t\n\r]/gu;

function escaped(text: string): string {
  return text.replace(NO_CHARACTER, '\ufffd').replace(/[&<>"]/g, (character) => ENTITIES[character]);
}
