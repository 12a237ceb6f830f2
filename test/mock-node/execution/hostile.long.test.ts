/** Code that would take more time or memory than anybody can pay for. It fails, and the node continues. */

import { describe, expect, it } from 'vitest';
import { MAX_DEPTH as MAX_BRACKETS } from '#pickaxe/contract/syntax/form-parser.js';
import { MAX_BITS } from '#pickaxe/contract/values/integers.js';
import { MAX_DEPTH, MAX_PARTS } from '#pickaxe/contract/values/values.js';
import { MAX_NODE_STEPS } from '#pickaxe/mock-node/execution/block-environment.js';
import { parseLocalAnswer } from '#pickaxe/protocol/ledger/command/results.js';
import { banksOf } from './bank.ts';
import { codeOn } from './deployed.ts';

const startBank = banksOf('chainweb');

const times = (count: number, text: string) => text.repeat(count);

const STEPS = `Code takes more than ${MAX_NODE_STEPS} steps`;
const PARTS = `A value has more than ${MAX_PARTS} parts`;
const DEPTH = `A value is nested more than ${MAX_DEPTH} deep`;
const BITS = `A number has more than ${MAX_BITS} bits`;
const GAS = /^Gas limit "150000"exceeded: \d+$/;
const ALL_GAS = /^Gas limit "1000000000"exceeded: \d+$/;

/** Code, with the message that ends it in `/local` with any gas limit, and in a block. */
const CODE: readonly [string, string | RegExp, string | RegExp, string][] = [
  [
    'loops in loops',
    STEPS,
    STEPS,
    '(fold (lambda (a b) (+ a (length (map (+ 1) (enumerate 1 100000))))) 0 (enumerate 1 100000))',
  ],
  ['lists of lists', DEPTH, DEPTH, '(fold (lambda (a b) [a a a a]) [1] (enumerate 1 1000))'],
  ['a list that doubles', STEPS, STEPS, '(fold (lambda (a b) (+ a a)) [1 2 3 4] (enumerate 1 60))'],
  ['a text that doubles', STEPS, STEPS, '(fold (lambda (a b) (+ a a)) "abcdefgh" (enumerate 1 60))'],
  ['a long list', PARTS, PARTS, '(make-list 10000000 1)'],
  ['a huge list', ALL_GAS, GAS, '(make-list 1000000000000 1)'],
  ['a list with more items than numbers can count', ALL_GAS, GAS, '(make-list (^ 10 2000) 1)'],
  ['a huge enumeration', ALL_GAS, GAS, '(enumerate 1 1000000000000000)'],
  ['a huge power', ALL_GAS, GAS, '(^ 9999999 99999999)'],
  ['a tower of squares', BITS, BITS, '(fold (lambda (a b) (* a a)) 99 (enumerate 1 60))'],
  ['a huge shift', ALL_GAS, GAS, '(shift 1 1000000000000)'],
  ['formats in formats', STEPS, STEPS, '(fold (lambda (a b) (format "{}{}{}{}" [a a a a])) "x" (enumerate 1 60))'],
  [
    'functions that call functions',
    STEPS,
    STEPS,
    `(namespace "free") (module m G (defcap G () true) (defun f0 (n) n) ${Array.from({ length: 40 }, (_, i) => `(defun f${i + 1} (n) (+ (f${i} n) (f${i} n)))`).join(' ')}) (free.m.f40 1)`,
  ],
  [
    'catching what fails',
    STEPS,
    STEPS,
    '(fold (lambda (a b) (try 0 (length (make-list 1000000 b)))) 0 (enumerate 1 100000))',
  ],
  [
    'comparisons of long texts',
    STEPS,
    STEPS,
    '(let ((t (fold (lambda (a b) (+ a a)) "abcdefgh" (enumerate 1 13)))) (map (lambda (i) (= (+ t "a") (+ t "b"))) (enumerate 1 100000)))',
  ],
  [
    'hashes of long texts',
    STEPS,
    STEPS,
    '(let ((t (fold (lambda (a b) (+ a a)) "abcdefgh" (enumerate 1 13)))) (map (lambda (i) (hash t)) (enumerate 1 100000)))',
  ],
];

/** Code that is not even parsed. */
const TOO_DEEP: readonly [string, string][] = [
  ['deep code', `${times(5_000, '(+ 1 ')}1${times(5_000, ')')}`],
  ['deep lists', `${times(20_000, '[')}${times(20_000, ']')}`],
  ['deep data', `(length ${times(250, '[')}1${times(250, ']')})`],
];

/** Above the limit of blocks: `/local` accepts any limit. */
const HUGE_LIMIT = 1_000_000_000;
const BLOCK_LIMIT = 150_000;

const matching = (cause: string | RegExp) => (typeof cause === 'string' ? cause : expect.stringMatching(cause));

describe('hostile code', () => {
  it.each(CODE)('fails: %s', async (_, locally, inBlock, code) => {
    const { local, run, post } = await startBank();
    const { status, json } = await local(0, codeOn(0, code, { meta: { gasLimit: HUGE_LIMIT } }));
    expect(status).toBe(200);
    const error = (message: string | RegExp) => ({ status: 'failure', error: { message: matching(message) } });
    expect(parseLocalAnswer(json).outcome).toMatchObject(error(locally));
    const done = await run(0, codeOn(0, code, { meta: { gasLimit: BLOCK_LIMIT } }));
    expect(done).toMatchObject({ result: error(inBlock), gas: BLOCK_LIMIT });
    expect((await post(0, 'api/v1/poll', { requestKeys: [done.reqKey] })).status).toBe(200);
  });

  it.each(TOO_DEEP)('is not read: %s', async (_, code) => {
    const { local, send } = await startBank();
    const message = `More than ${MAX_BRACKETS} brackets are inside each other`;
    const { json } = await local(0, codeOn(0, code, { meta: { gasLimit: HUGE_LIMIT } }));
    expect(parseLocalAnswer(json).outcome).toMatchObject({ status: 'failure', error: { message } });
    const { status, text } = await send(0, codeOn(0, code, { meta: { gasLimit: BLOCK_LIMIT } }));
    expect([status, text]).toEqual([400, expect.stringContaining(`failed with: Pact parse error: ${message}`)]);
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
  const code = '(map (lambda (i) (hash-poseidon i 2 3 4 5 6 7 8)) (enumerate 1 26))';
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
