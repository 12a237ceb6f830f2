/** Pure functions that name tests. A test is an expectation: a call of `expect`, `expect-failure` or `expect-that`. */

import { oneLine } from '../../../base/text/plain-text.ts';
import type { Expectation, FileResult } from '../../../contract/repl/result.ts';

/** Matches the beginning of a passed test's text, in both dialects. The name that the author gave the test follows. */
const BEFORE_PASSED = /^Expect(?: failure|-that)?: success:? ?/i;
/** Matches the beginning of a failed test's text. The name of the test follows. */
const BEFORE_FAILED = /^FAILURE: (?:Expect-that: Did not satisfy condition: )?/;
/** Matches the end of a failed test's text, which follows the name of the test. */
const AFTER_FAILED =
  /(?:: expected | expected: |: evaluation of | evaluation of (?:actual|expected) failed|: did not satisfy |: predicate did not ).*$/s;

export interface Test {
  /** Differs from the names of all other tests of the file. */
  readonly name: string;
  /** The file, the transaction if it has a name, and the name, for a person: `a.repl > deposits > a deposit adds`. */
  readonly path: string;
  readonly expectation: Expectation;
}

/** @param names the names that are in use in the file */
export function testsOf(
  { file, expectations }: Pick<FileResult, 'file' | 'expectations'>,
  names = new DifferentNames(),
): Test[] {
  return expectations.map((expectation) => {
    const name = names.next(wordsOf(expectation));
    const { transaction } = expectation;
    const path = [file, ...(transaction === undefined ? [] : [transaction]), name]
      .map((each) => oneLine(each))
      .join(' > ');
    return { name, path, expectation };
  });
}

/**
 * @returns the name that the author gave the test, which is the same whether the test passes or fails; without a name,
 *   the test's line and column
 */
function wordsOf({ name, passed, text, place }: Expectation): string {
  const words = passed ? text.replace(BEFORE_PASSED, '') : text.replace(BEFORE_FAILED, '').replace(AFTER_FAILED, '');
  return (name ?? words).trim() || `line ${place.position.line}, column ${place.position.column}`;
}

/** Numbers the tests that have the same name, because CI systems recognize a test by its name. */
export class DifferentNames {
  readonly #counts = new Map<string, number>();

  next(name: string): string {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count === 1 ? name : `${name} (${count})`;
  }
}
