/** Contract code and its tests, run by a program: `runContract` of the package's API. */

import { describe, expect, it, test } from 'vitest';
import { chosenDialect } from '#pickaxe/contract/dialect.js';
import { runContract } from '#pickaxe/contract/repl/run-contract.js';

const BANK = `(module bank G
  (defcap G () true)
  (defcap PAY (to) (enforce-guard (read-keyset "owner")))
  (defun pay (to) (with-capability (PAY to) (format "paid {}" [to]))))`;

describe('a run', () => {
  it('has passed if every expectation is met, and shows what the code has made', async () => {
    const code = '(print "hello") (+ 1 2) (expect "sum" 3 (+ 1 2))';
    expect(await runContract(code)).toMatchObject({
      dialect: 5,
      passed: true,
      failures: [],
      error: undefined,
      values: ['()', '3', 'Expect: success sum'],
      printed: ['hello'],
      expectations: [{ passed: true, place: { file: 'test.repl', position: { line: 1, column: 24 } } }],
    });
  });

  it('has a line for each expectation that is not met, and first one for the form that ended it', async () => {
    const code = '(expect "a" 4 (+ 1 2))\n(expect "b" 3 (+ 1 2))\n(expect-failure "c" 1)\n(foo)\n(expect "d" 1 2)';
    const { passed, failures, values } = await runContract(code, { name: 'sums.repl' });
    expect([passed, values.length]).toEqual([false, 3]);
    expect(failures).toEqual([
      'sums.repl:4:1: Unbound variable foo',
      'sums.repl:1:0: FAILURE: a expected: 4, received: 3',
      expect.stringMatching(/^sums\.repl:3:0: FAILURE: c/),
    ]);
  });

  it('ends with an error that names the steps that it may take', async () => {
    const { failures } = await runContract('(fold (+) 0 (enumerate 1 1000))', { maxSteps: 100 });
    expect(failures).toEqual([expect.stringContaining('Code takes more than 100 steps')]);
  });
});

describe('the transaction', () => {
  it('has the data, whatever characters it has', async () => {
    const data = { text: 'ü"\\\n\u0001😀', list: [1, 2.5, true], 'a key': { deep: '' } };
    const { values } = await runContract('(read-msg "text") (read-msg "list") (read-msg "a key")', { data });
    expect(values).toEqual([data.text, '[1.0 2.5 true]', '{"deep": ""}']);
    await expect(runContract('1', { data: () => 1 })).rejects.toThrow(TypeError);
  });

  it('has the signatures, which may be limited to capabilities of code that runs before', async () => {
    const owner = { owner: ['alice'] };
    const run = (caps?: string[]) => {
      const sigs = [{ key: 'alice', ...(caps && { caps }) }];
      return runContract('(bank.pay "bob")', { setUp: BANK, data: owner, sigs });
    };
    expect((await run()).values).toEqual(['paid bob']);
    expect((await run(['(bank.PAY "bob")'])).values).toEqual(['paid bob']);
    expect((await run(['(bank.PAY "eve")'])).failures).toEqual([expect.stringContaining('Keyset failure')]);
    expect((await run(['(bank.NONE)'])).failures).toEqual([expect.stringMatching(/^the set-up:\d+:\d+: /)]);
    const unsigned = await runContract('(bank.pay "bob")', { setUp: BANK, data: owner });
    expect(unsigned.passed).toBe(false);
  });

  it('loads files by their paths, each relative to the file that loads it', async () => {
    const files = { 'contracts/all.repl': '(load "./bank.pact")', 'contracts/bank.pact': BANK };
    const code = '(load "../contracts/all.repl")';
    const { failures, values } = await runContract(`${code} (describe-module "bank")`, { name: 'tests/a.repl', files });
    expect(failures).toEqual([]);
    expect(values.at(-1)).toContain('"name": "bank"');
    expect(
      (await runContract('(load "b.repl") (foo)', { name: './x/../a.repl', files: { './b.repl': '1' } })).failures,
    ).toEqual(['a.repl:1:17: Unbound variable foo']);
    expect((await runContract('(load "none.pact")')).failures).toEqual([
      'test.repl:1:0: load: file load failed: none.pact, it is not among the files',
    ]);
    // No path leads out of the folder of all files and back into it.
    const above = await runContract('(load "../../a.pact")', { files: { 'a.pact': '1' } });
    expect(above.failures).toEqual([expect.stringContaining('file load failed: ../../a.pact, it is not among')]);
  });
});

describe('the dialect', () => {
  it('is 5, or what a comment or the program chooses', async () => {
    const typeOf = async (comment: string, dialect?: 4 | 5) =>
      (await runContract(`${comment}\n(typeof [1])`, dialect === undefined ? {} : { dialect })).values;
    expect(await typeOf('')).toEqual(['list']);
    expect(await typeOf(';; dialect: 4')).toEqual(['[<a>]']);
    expect(await typeOf(';; dialect: 4', 5)).toEqual(['list']);
  });

  test.each<[text: string, chosen: 4 | 5 | undefined]>([
    [';; dialect: 4', 4],
    ['; dialect: 5\n(+ 1 2)', 5],
    ['\n\n;a comment\n  ;;;  dialect:4  \r\n1', 4],
    [`${';\n'.repeat(19)};dialect: 4`, 4],
    [`${';\n'.repeat(20)};dialect: 4`, undefined],
    ['(+ 1 2)\n;; dialect: 4', undefined],
    [';; dialect: 6', undefined],
    [';; the dialect: 4', undefined],
    [';; dialect: 4 or 5', undefined],
    ['', undefined],
  ])('of %j is %j', (text, chosen) => {
    expect(chosenDialect(text)).toBe(chosen);
  });
});
