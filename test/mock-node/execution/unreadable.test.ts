/** Commands whose code cannot be parsed. Nodes refuse them, with the messages of each version. */

import { describe, expect, it } from 'vitest';
import type { Command } from '#pickaxe/protocol/ledger/command/command.js';
import { at } from '../ask.ts';
import { banksOf } from './bank.ts';
import { codeOn } from './deployed.ts';

const startBank = banksOf('chainweb');

const GAS_LIMIT = 1_000;
const command = (code: string) => codeOn(0, code, { meta: { gasLimit: GAS_LIMIT } });
const refusal = ({ hash }: Command, says: string) =>
  `One or more transactions were invalid: Transaction ${hash} at index 0 failed with: ${says}`;

/** Faulty code, with the messages up to version 4, and in version 5. */
const UNREADABLE: readonly [string, string, { 4: string; 5: string }][] = [
  ['a bracket that is not closed', '(+ 1', { 4: 'Failed reading: mzero', 5: "Expected: [')']" }],
  ['a bracket too many', '(+ 1 2))', { 4: 'endOfInput', 5: 'Too many closing parens, remaining tokens: []' }],
  [
    'a text without an end',
    '(+ 1 2) "abc',
    { 4: 'endOfInput', 5: 'Lexical Error: String literal parsing error:  did not close string literal' },
  ],
  [
    'too many brackets',
    '('.repeat(5_000),
    { 4: 'Failed reading: mzero', 5: 'More than 200 brackets are inside each other' },
  ],
];

describe.each([4, 5] as const)('in dialect %i', (contractDialect) => {
  it.each(UNREADABLE)('%s is not taken', async (_, code, { [contractDialect]: fault }) => {
    const { send, node, poll } = await startBank({ contractDialect });
    const sent = command(code);
    const { status, text } = await send(0, sent);
    expect([status, text]).toEqual([400, refusal(sent, `Pact parse error: ${fault}`)]);
    node.ledger.advance(0);
    expect(await poll(0, sent.hash)).toBeUndefined();
  });

  it.each(UNREADABLE)('%s is not tried', async (_, code, { [contractDialect]: fault }) => {
    const { local } = await startBank({ contractDialect });
    const unsigned = { ...command(code), sigs: [] };
    const message = contractDialect === 4 ? `Pact parse error: ${fault}` : fault;
    const result = {
      gas: GAS_LIMIT,
      result: { status: 'failure', error: { type: 'SyntaxError', message } },
      reqKey: unsigned.hash,
      logs: null,
      events: [],
      metaData: null,
      continuation: null,
      txId: null,
    };
    const plain = await local(0, unsigned);
    expect([plain.status, plain.plain]).toMatchObject([200, result]);
    const { plain: tried } = await local(0, unsigned, '?preflight=true');
    // In version 5, the form of the answer does not depend on the request.
    expect(tried).toMatchObject(contractDialect === 4 ? { preflightResult: result, preflightWarnings: [] } : result);
  });

  it('the hash of a command is checked before its code where signatures are not', async () => {
    const { local } = await startBank({ contractDialect });
    const changed = { ...command('(+ 1'), hash: 'A'.repeat(43) };
    const { status, text } = await local(0, changed, '?signatureVerification=false');
    expect([status, text]).toEqual([400, expect.stringMatching(/^Validation failed: Hash Mismatch, received A{43}/)]);
  });

  it('forms that mean nothing', async () => {
    const { send, local } = await startBank({ contractDialect });
    const sent = command('(+ 1 2) "ä" (let)');
    const fault = contractDialect === 4 ? 'Unexpected end of input' : "Expected: ['(']";
    const { text } = await send(0, sent);
    const says =
      contractDialect === 4
        ? `Transaction compilation failed: <interactive>:0:12: Failure: Syntax error: ${fault}`
        : `Pact parse error: ${fault}`;
    expect(text).toBe(refusal(sent, says));
    const { json } = await local(0, sent);
    expect([at(json, 'result', 'error', 'type'), at(json, 'result', 'error', 'message')]).toEqual([
      'SyntaxError',
      fault,
    ]);
  });

  it('no code at all', async () => {
    const { send, run } = await startBank({ contractDialect });
    const sent = command(' ; nothing\n');
    if (contractDialect === 4) {
      expect((await send(0, sent)).text).toBe(refusal(sent, 'Pact parse error: Failed reading: mzero'));
    } else {
      expect((await run(0, sent)).result.status).toBe('failure');
    }
  });
});

it('code that is too long for a block is not even read', async () => {
  const { send } = await startBank();
  const long = codeOn(0, `${'1 '.repeat(160_000)}(`, { meta: { gasLimit: 150_000 } });
  expect((await send(0, long)).text).toBe(
    refusal(long, `Attempt to buy gas failed with: "${long.hash}" Failed to purchas gas: tx too big for gas limit`),
  );
});
