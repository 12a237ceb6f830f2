/** Code that wants to take more time or memory than anybody can pay for: it fails, and the node goes on. */

import { describe, expect, it } from 'vitest';
import { parseLocalAnswer } from '#pickaxe/ledger/command/results.js';
import { MAX_NODE_STEPS } from '#pickaxe/mock-node/contract/environment.js';
import { startBank } from './bank.ts';
import { codeOn } from './deployed.ts';

const times = (count: number, text: string) => text.repeat(count);

const CODE: readonly [string, string][] = [
  ['loops in loops', '(fold (lambda (a b) (+ a (length (map (+ 1) (enumerate 1 100000))))) 0 (enumerate 1 100000))'],
  ['lists of lists', '(fold (lambda (a b) [a a a a]) [1] (enumerate 1 1000))'],
  ['a list that doubles', '(fold (lambda (a b) (+ a a)) [1 2 3 4] (enumerate 1 60))'],
  ['a text that doubles', '(fold (lambda (a b) (+ a a)) "abcdefgh" (enumerate 1 60))'],
  ['a huge list', '(make-list 1000000000000 1)'],
  ['a huge enumeration', '(enumerate 1 1000000000000000)'],
  ['a huge power', '(^ 9999999 99999999)'],
  ['a tower of squares', '(fold (lambda (a b) (* a a)) 99 (enumerate 1 60))'],
  ['a huge shift', '(shift 1 1000000000000)'],
  ['formats in formats', '(fold (lambda (a b) (format "{}{}{}{}" [a a a a])) "x" (enumerate 1 60))'],
  ['deep code', `${times(5_000, '(+ 1 ')}1${times(5_000, ')')}`],
  ['deep lists', `${times(20_000, '[')}${times(20_000, ']')}`],
  ['deep data', `(length ${times(250, '[')}1${times(250, ']')})`],
  [
    'functions that call functions',
    `(namespace "free") (module m G (defcap G () true) (defun f0 (n) n) ${Array.from({ length: 40 }, (_, i) => `(defun f${i + 1} (n) (+ (f${i} n) (f${i} n)))`).join(' ')}) (free.m.f40 1)`,
  ],
  ['catching what fails', '(fold (lambda (a b) (try 0 (length (make-list 1000000 b)))) 0 (enumerate 1 100000))'],
  [
    'comparisons of long texts',
    '(let ((t (fold (lambda (a b) (+ a a)) "abcdefgh" (enumerate 1 13)))) (map (lambda (i) (= (+ t "a") (+ t "b"))) (enumerate 1 100000)))',
  ],
  [
    'hashes of long texts',
    '(let ((t (fold (lambda (a b) (+ a a)) "abcdefgh" (enumerate 1 13)))) (map (lambda (i) (hash t)) (enumerate 1 100000)))',
  ],
];

/** Above that of blocks: `/local` takes any. */
const HUGE_LIMIT = 1_000_000_000;
const BLOCK_LIMIT = 150_000;

describe('hostile code', () => {
  it.each(CODE)('fails: %s', { timeout: 60_000 }, async (_, code) => {
    const { local, run, post } = await startBank();
    const { status, json } = await local(0, codeOn(0, code, { meta: { gasLimit: HUGE_LIMIT } }));
    expect(status).toBe(200);
    const { outcome } = parseLocalAnswer(json);
    expect(outcome).toMatchObject({ status: 'failure', error: { message: expect.stringMatching(/more than \d+/i) } });
    const done = await run(0, codeOn(0, code, { meta: { gasLimit: BLOCK_LIMIT } }));
    expect(done).toMatchObject({ result: { status: 'failure' }, gas: BLOCK_LIMIT });
    expect((await post(0, 'api/v1/poll', { requestKeys: [done.reqKey] })).status).toBe(200);
  });

  it('fails at the gas limit of the command, also in /local', async () => {
    const { local } = await startBank();
    const code = '(length (map (+ 1) (enumerate 1 10000)))';
    const outcome = async (gasLimit: number) => {
      return parseLocalAnswer((await local(0, codeOn(0, code, { meta: { gasLimit } }))).json).outcome;
    };
    expect(await outcome(1_000)).toMatchObject({
      error: { message: expect.stringMatching(/^Gas limit "1000"exceeded: \d+$/) },
    });
    expect(await outcome(100_000)).toMatchObject({ status: 'success' });
  });

  it('takes a bounded number of steps, whatever the gas limit is', async () => {
    const { local } = await startBank();
    const code = '(fold (lambda (a b) (+ a (fold (+) 0 (enumerate 1 1000)))) 0 (enumerate 1 100000))';
    const { json } = await local(0, codeOn(0, code, { meta: { gasLimit: HUGE_LIMIT } }));
    expect(parseLocalAnswer(json).outcome).toMatchObject({
      error: { message: `Code takes more than ${MAX_NODE_STEPS} steps` },
    });
  });
});

it('a block has no more gas than one command may have: others wait for the next block', async () => {
  const { send, poll, node } = await startBank();
  const code = '(fold (lambda (a b) (+ a b)) 0 (enumerate 1 100000))';
  const limits = [100_000, 100_000, 40_000, 1_000];
  const commands = limits.map((gasLimit) => codeOn(0, code, { meta: { gasLimit } }));
  await send(0, ...commands);
  const ran = async () => {
    node.ledger.advance(0);
    const results = await Promise.all(commands.map(({ hash }) => poll(0, hash)));
    return results.map((result) => result !== undefined);
  };
  expect(await ran()).toEqual([true, false, true, true]);
  expect(await ran()).toEqual([true, true, true, true]);
});
