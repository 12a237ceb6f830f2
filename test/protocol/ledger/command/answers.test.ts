/** What nodes answer about accounts and commands, and the exact words for answers that are none. */

import { describe, expect, it } from 'vitest';
import { amountFault, detailsOf, tokenBalanceOf } from '#pickaxe/protocol/ledger/command/coin.js';
import {
  isAlreadyCompleted,
  type Outcome,
  parseLocalAnswer,
  parsePollAnswer,
  parseProofAnswer,
  readProofRefusal,
  readSendRefusal,
} from '#pickaxe/protocol/ledger/command/results.js';
import { decimalOf, ONE } from '#pickaxe/protocol/ledger/decimal.js';
import { LedgerFormatError, parseExactJson } from '#pickaxe/protocol/ledger/json.js';

const exact = (value: unknown) => parseExactJson(JSON.stringify(value));
const success = (data: unknown): Outcome => ({ status: 'success', data: exact(data) });
const failure = (message: string): Outcome => ({ status: 'failure', error: { message } });
const fault = (message: string) => new LedgerFormatError(message);

describe('an account', () => {
  const NAME = 'k:0123456789';
  const row = (more: object = {}) => success({ account: 'a', balance: 1.5, guard: {}, ...more });

  it.each([
    [`read: row not found: ${NAME}`, true],
    [`with-read: row not found: ${NAME}`, true],
    [`No value found in table coin_coin-table for key: ${NAME}`, true],
    ['No value found in table coin_coin-table for key: k:01234567...', true],
    ['No value found in table coin_coin-table for key: k:0123456...', false],
    [`row not found: ${NAME}`, false],
    [`read: row not found: ${NAME}0`, false],
    [`No value found in table a b for key: ${NAME}`, false],
    ['broken', false],
  ])('is missing after the message “%s”: %s', (message, isMissing) => {
    const readings = [() => detailsOf(failure(message), NAME), () => tokenBalanceOf(failure(message), NAME, 'coin')];
    for (const read of readings) {
      if (isMissing) expect(read()).toBeUndefined();
      else expect(read).toThrow(fault(`The ledger cannot read the account: ${message}`));
    }
  });

  it('with a short name is not missing because of a shortened one', () => {
    const message = (key: string) => `No value found in table t for key: ${key}`;
    expect(detailsOf(failure(message('0123456789')), '0123456789')).toBeUndefined();
    expect(() => detailsOf(failure(message('0123456789...')), '0123456789')).toThrow(LedgerFormatError);
    expect(detailsOf(failure(message('0123456789...')), '01234567890')).toBeUndefined();
  });

  it.each([
    [
      { keys: ['a', 'b'], pred: 'keys-all' },
      { keys: ['a', 'b'], pred: 'keys-all' },
    ],
    [
      { keys: [], pred: 'p' },
      { keys: [], pred: 'p' },
    ],
    [{ keys: ['a', 1], pred: 'keys-all' }, undefined],
    [{ keys: 'a', pred: 'keys-all' }, undefined],
    [{ keys: ['a'], pred: 1 }, undefined],
    [{ keys: ['a'] }, undefined],
    [{ pred: 'keys-all' }, undefined],
    ['a guard', undefined],
  ])('with the guard %j has the keyset %j', (guard, keyset) => {
    expect(detailsOf(row({ guard }), 'a')).toEqual({
      account: 'a',
      balance: (3n * ONE) / 2n,
      guard: exact(guard),
      ...(keyset && { keyset }),
    });
  });

  it.each([
    ['no object', success('a')],
    ['another name', row({ account: 'b' })],
    ['no balance', row({ balance: undefined })],
    ['no guard', row({ guard: undefined })],
  ])('with %s is none', (_, outcome) => {
    expect(() => detailsOf(outcome, 'a')).toThrow(
      fault('The details of an account must be its name, its balance and its guard'),
    );
  });

  it('has a balance that is not negative, and coins have twelve places', () => {
    const negative = fault('The balance of an account must not be negative');
    expect(() => detailsOf(row({ balance: -1 }), 'a')).toThrow(negative);
    expect(() => tokenBalanceOf(success(-1), 'a', 'coin')).toThrow(negative);
    expect([detailsOf(row({ balance: 0 }), 'a')?.balance, tokenBalanceOf(success(0), 'a', 'coin')]).toEqual([0n, 0n]);
    const thirteen = success({ decimal: '0.0000000000001' });
    expect(() => tokenBalanceOf(thirteen, 'a', 'coin')).toThrow(/has more than 12 decimal places$/);
    expect(tokenBalanceOf(thirteen, 'a', 'free.coin')).toBe(10n ** 242n);
  });
});

describe('the answer of a node', () => {
  const WRONG = 'answer: must have data with a success, and an error with a failure';

  it.each([
    [{ status: 'success' }],
    [{ status: 'failure' }],
    [{ status: 'success', error: { message: 'm' } }],
    [{ status: 'failure', data: 1 }],
  ])('%j has no outcome', (answer) => {
    expect(() => parseLocalAnswer(exact(answer))).toThrow(fault(WRONG));
  });

  it('has the outcome of its status, whatever else it has', () => {
    const error = { message: 'm' };
    const both = { data: 1, error };
    expect(parseLocalAnswer(exact({ status: 'success', ...both }))).toEqual({ outcome: success(1), warnings: [] });
    expect(parseLocalAnswer(exact({ status: 'failure', ...both }))).toEqual({ outcome: failure('m'), warnings: [] });
  });

  it('of a stand-alone server has its answer inside', () => {
    const inner = { status: 'success', data: 1 };
    expect(parseLocalAnswer(exact({ status: 'success', response: inner })).outcome).toEqual(success(1));
    expect(parseProofAnswer(exact({ status: 'success', response: 'cHJvb2Y' }))).toBe('cHJvb2Y');
    expect(parsePollAnswer(exact({})).size).toBe(0);
    expect(() => parsePollAnswer(exact([]))).toThrow(fault('The answer of /poll must be an object'));
    expect(() => parseProofAnswer(exact('a b'))).toThrow(fault('proof: is not base64url'));
    expect(() => parseProofAnswer(exact({ response: 'cHJvb2Y' }))).toThrow(LedgerFormatError);
  });
});

describe('a refusal', () => {
  const KEY = 'bKT10kNSeAyE4LgfFInhorKpK_tNLcNjsaWgug4v82s';

  it.each([
    [`Transaction ${KEY} at index 0 failed with: a\nb \n`, { reqKey: KEY, reason: 'a\nb', isKnown: false }],
    [`Transaction "${KEY}" at index 12 failed with: a`, { reqKey: KEY, reason: 'a', isKnown: false }],
    [' Transaction already exists on chain\n', { reason: 'Transaction already exists on chain', isKnown: true }],
    ['Transaction x at index 0 failed with: a', { reason: 'Transaction x at index 0 failed with: a', isKnown: false }],
  ])('of a command is read: %j', (text, refusal) => {
    expect(readSendRefusal(text)).toEqual(refusal);
  });

  it.each([
    [' SPV target not reachable: 7\n', { reason: 'SPV target not reachable: 7', wait: true }],
    ['transaction HASH not found', { reason: 'transaction HASH not found', wait: true }],
    ['SPV target', { reason: 'SPV target', wait: false }],
  ])('of a proof is read: %j', (text, refusal) => {
    expect(readProofRefusal(text)).toEqual(refusal);
  });

  it('of a step that somebody else has done is known', () => {
    expect(
      ['Pact completed', 'x: defpact execution already completed', 'completed'].map(failure).map(isAlreadyCompleted),
    ).toEqual([true, true, false]);
    expect(isAlreadyCompleted(success('pact completed'))).toBe(false);
  });
});

describe('a capability whose amount cannot be compared', () => {
  const code = '(coin.transfer "a" "b" 3.0)';

  it.each([
    ['a text as its amount', ['a', 'b', '10.0']],
    ['no amount', ['a', 'b']],
    ['a sender that is no text', [1, 'b', 10]],
    ['a receiver that is no text', ['a', 1, 10]],
  ])('has no fault: %s', (_, args) => {
    expect(amountFault({ name: 'coin.TRANSFER', args: args.map(exact) }, code)).toBeUndefined();
    expect(amountFault({ name: 'coin.TRANSFER', args: ['a', 'b', exact(10)] }, code)).toBe(
      'it allows 10.0, but the code transfers 3.0',
    );
  });
});

it.each(['{"int":true}', '{"int":"x"}', `{"int":"${'1'.repeat(401)}"}`, '{"int":{}}', 'true'])(
  '%s is no decimal',
  (json) => {
    expect(() => decimalOf(parseExactJson(json))).toThrow(
      fault('A decimal is a number, {"decimal": "91.0"} or {"int": 91}'),
    );
    expect(decimalOf(parseExactJson(`{"int":"-${'1'.repeat(400)}"}`))).toBe(-BigInt('1'.repeat(400)) * ONE);
  },
);
