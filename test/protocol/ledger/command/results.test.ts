import { describe, expect, it, test } from 'vitest';
import { detailsOf, tokenBalanceOf } from '#pickaxe/protocol/ledger/command/coin.js';
import {
  isAlreadyCompleted,
  type Outcome,
  parseCommandResult,
  parseListenAnswer,
  parseLocalAnswer,
  parsePollAnswer,
  parseSendAnswer,
  readProofRefusal,
  readSendRefusal,
} from '#pickaxe/protocol/ledger/command/results.js';
import { decimalOf, formatTokenAmount, ONE } from '#pickaxe/protocol/ledger/decimal.js';
import { LedgerFormatError, parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import { results } from '../command-vectors.ts';

const exact = (value: unknown) => parseExactJson(JSON.stringify(value));
const KEY = 'bKT10kNSeAyE4LgfFInhorKpK_tNLcNjsaWgug4v82s';
const result = {
  reqKey: KEY,
  result: { status: 'success', data: 1 },
  gas: 6,
  txId: null,
  logs: '',
  metaData: null,
  continuation: null,
};
const success = (data: unknown): Outcome => ({ status: 'success', data: exact(data) });
const failure = (message: string): Outcome => ({ status: 'failure', error: { message } });

/** The tool's documentation also has a row of types instead of values. */
const isReal = ({ result }: { result: object }) => !JSON.stringify(result).includes('$ref');

describe('results of the live network', () => {
  test.each(results.commandResults.filter(isReal))('$source', ({ result }) => {
    const read = parseCommandResult(result);
    expect(read.reqKey).toBe(result.reqKey);
    expect(read.result.status).toBe('success');
    expect(read.events).toHaveLength((result.events as unknown[] | undefined)?.length ?? 0);
    for (const { name, params, module } of read.events) {
      expect(module.name).not.toBe('');
      if (name === 'TRANSFER') expect(decimalOf(params[2])).toBeGreaterThan(0n);
    }
  });

  test.each([
    ['coin', { name: 'coin', namespace: null }],
    ['free.token', { name: 'token', namespace: 'free' }],
    [
      { namespace: 'free', name: 'token' },
      { name: 'token', namespace: 'free' },
    ],
    [{ name: 'coin' }, { name: 'coin', namespace: null }],
  ])('have events of the module %j', (written, module) => {
    const event = { name: 'A', params: [], moduleHash: '', module: written };
    expect(parseCommandResult(exact({ ...result, events: [event] })).events).toMatchObject([{ module }]);
  });

  test('that are none are refused', () => {
    const rest = results.commandResults.filter((each) => !isReal(each));
    expect(rest).toHaveLength(1);
    expect(() => parseCommandResult(rest[0].result)).toThrow(LedgerFormatError);
  });

  test('poll, listen, local and send', () => {
    const polled = parsePollAnswer(results.poll);
    expect([...polled.keys()]).toEqual(Object.keys(results.poll));
    expect(polled.get(KEY)).toMatchObject({
      gas: 607,
      txId: 20160180,
      metaData: { blockHeight: 3281769, blockTime: 1670883254243347 },
    });
    expect(parseListenAnswer(results.listen)).toEqual(polled.get(KEY));
    const { outcome, result, warnings } = parseLocalAnswer(results.local);
    expect(result?.gas).toBe(6);
    expect([outcome.status, warnings]).toEqual(['success', []]);
    expect(parseSendAnswer(results.send)).toHaveLength(2);
  });

  test('a transfer to another chain', () => {
    const { transferCrosschainStep0, continuationStep1 } = results.outputs;
    const begun = parseCommandResult(transferCrosschainStep0);
    expect(begun.continuation).toMatchObject({
      pactId: begun.reqKey,
      step: 0,
      stepCount: 2,
      stepHasRollback: false,
      executed: null,
      yield: { source: '19', provenance: { targetChainId: '0' } },
      continuation: { def: 'coin.transfer-crosschain' },
    });
    expect(parseCommandResult(continuationStep1).continuation).toMatchObject({
      pactId: begun.reqKey,
      step: 1,
      yield: null,
    });
  });
});

describe('answers', () => {
  test('of a dry run have warnings', () => {
    const answer = parseLocalAnswer(exact({ preflightResult: result, preflightWarnings: ['old'] }));
    expect(answer).toMatchObject({ outcome: { status: 'success' }, result: { reqKey: KEY }, warnings: ['old'] });
  });

  test('of a stand-alone server are read in both of its forms', () => {
    const wrapped = (response: unknown) => exact({ status: 'success', response });
    expect(parseLocalAnswer(wrapped({ status: 'success', data: 'x' }))).toEqual({
      outcome: success('x'),
      warnings: [],
    });
    expect(parseLocalAnswer(wrapped(result)).result?.reqKey).toBe(KEY);
    expect(parseSendAnswer(wrapped({ requestKeys: [KEY] }))).toEqual([KEY]);
    expect(parsePollAnswer(wrapped({ [KEY]: result })).size).toBe(1);
    expect(parseListenAnswer(exact({ status: 'timeout', 'timeout-micros': 180_000_000 }))).toEqual({
      timeoutMicros: 180_000_000,
    });
  });

  test('about nothing are empty', () => {
    expect(parsePollAnswer(exact({})).size).toBe(0);
  });

  test('tell why a command has failed', () => {
    const error = { callStack: ['a'], type: 'TxFailure', message: 'Insufficient funds', info: '' };
    const read = parseCommandResult(exact({ ...result, result: { status: 'failure', error } }));
    expect(read.result).toEqual({ status: 'failure', error });
  });

  test.each<[string, unknown, RegExp]>([
    ['no gas', { ...result, gas: undefined }, /gas/],
    ['half a unit of gas', { ...result, gas: 0.5 }, /gas: .* is not an integer/],
    ['no request key', { ...result, reqKey: 'x' }, /^result\.reqKey: must be a request key/],
    ['a success without data', { ...result, result: { status: 'success' } }, /result: must have data/],
    ['a failure without an error', { ...result, result: { status: 'failure', data: 1 } }, /result: must have data/],
    ['a list', [], /^result/],
    [
      'an event without a module',
      { ...result, events: [{ name: 'A', params: [], moduleHash: '' }] },
      /events\.0\.module/,
    ],
  ])('cannot have %s', (_, json, message) => {
    const parse = () => parseCommandResult(exact(json));
    expect(parse).toThrow(LedgerFormatError);
    expect(parse).toThrow(message);
  });

  test('under another key are refused', () => {
    const other = `A${KEY.slice(1)}`;
    expect(() => parsePollAnswer(exact({ [other]: result }))).toThrow(/for another key/);
    expect(() => parsePollAnswer(exact([]))).toThrow(LedgerFormatError);
    expect(() => parseSendAnswer(exact({ requestKeys: ['x'] }))).toThrow(/43 characters/);
  });
});

describe('an account', () => {
  it('has the balance that the ledger tells, to the last digit', () => {
    const finest = `${'9'.repeat(30)}.${'1234567890'.repeat(25)}12345`;
    for (const text of ['12345678901.123456789012', '0.000000000000000001', '0.0', finest]) {
      const told = [parseExactJson(text), { decimal: text }];
      for (const data of told) {
        expect(formatTokenAmount(tokenBalanceOf({ status: 'success', data }, 'a', 'free.token')!)).toBe(text);
      }
    }
    expect(
      formatTokenAmount(tokenBalanceOf({ status: 'success', data: parseExactJson('1.0e-18') }, 'a', 'free.token')!),
    ).toBe('0.000000000000000001');
    expect(formatTokenAmount(tokenBalanceOf(success({ int: 7 }), 'a', 'coin')!)).toBe('7.0');
    const tooFine = success({ decimal: `${finest}6` });
    expect(() => tokenBalanceOf(tooFine, 'a', 'free.token')).toThrow('has more than 255 decimal places');
    const tooFineForCoins = success({ decimal: '0.1234567890123' });
    expect(() => tokenBalanceOf(tooFineForCoins, 'a', 'coin')).toThrow('has more than 12 decimal places');
    const coins = { account: 'a', balance: { decimal: '0.1234567890123' }, guard: {} };
    expect(() => detailsOf(success(coins), 'a')).toThrow('has more than 12 decimal places');
  });

  it('cannot have less than nothing', () => {
    const negative = { decimal: '-0.000000000001' };
    const message = 'The balance of an account must not be negative';
    expect(() => tokenBalanceOf(success(negative), 'a', 'coin')).toThrow(message);
    expect(() => tokenBalanceOf(success(-5), 'a', 'free.token')).toThrow(message);
    expect(() => detailsOf(success({ account: 'a', balance: negative, guard: {} }), 'a')).toThrow(message);
  });

  const long = `k:58705e86${'0'.repeat(56)}`;

  test.each([
    ['k:a', 'with-read: row not found: k:a'],
    ['k:a', 'read: row not found: k:a'],
    ['k:a', 'No value found in table coin_coin-table for key: k:a'],
    [long, `with-read: row not found: ${long}`],
    // Since its last version, the contract language shows ten characters of a key.
    [long, 'No value found in table coin_coin-table for key: k:58705e86...'],
    [long, `No value found in table coin_coin-table for key: ${long}`],
    ['k:12345678', 'No value found in table coin_coin-table for key: k:12345678'],
    ['k:123456789', 'No value found in table free.token_ledger for key: k:12345678...'],
    ['😀123456789a', 'No value found in table coin_coin-table for key: 😀123456789...'],
  ])('%s that does not exist is found missing: %s', (account, message) => {
    expect(tokenBalanceOf(failure(message), account, 'coin')).toBeUndefined();
    expect(detailsOf(failure(message), account)).toBeUndefined();
  });

  test.each([
    ['k:a', 'with-read: row not found: k:ab'],
    ['k:a', 'row not found: b'],
    ['k:a', 'Gas limit exceeded'],
    ['k:a', 'No value found in table x for key: k:ab'],
    ['k:a', ''],
    // Messages of another contract, and account names that imitate messages.
    ['k:a', 'Paused: with-read: row not found: k:a'],
    ['k:a', 'enforce failed: row not found: k:a'],
    ['k:a', 'Paused. No value found in table coin_coin-table for key: k:a'],
    ['k:a', 'with-read: row not found: k:a\nsomething else'],
    [long, 'No value found in table coin_coin-table for key: k:58705e87...'],
    [long, 'No value found in table coin_coin-table for key: k:58705e8...'],
    [long, 'No value found in table coin_coin-table for key: k:58705e86'],
    [long, 'with-read: row not found: k:58705e86...'],
    ['k:12345678', 'No value found in table coin_coin-table for key: k:12345678...'],
  ])('%s is not taken for empty because of %j', (account, message) => {
    expect(() => tokenBalanceOf(failure(message), account, 'coin')).toThrow(LedgerFormatError);
    expect(() => detailsOf(failure(message), account)).toThrow(`The ledger cannot read the account: ${message}`);
  });

  it('has a guard', () => {
    const keyset = { keys: ['00'], pred: 'keys-any' };
    expect(detailsOf(success({ account: 'a', balance: 5, guard: keyset }), 'a')).toEqual({
      account: 'a',
      balance: 5n * ONE,
      guard: keyset,
      keyset,
    });
    const other = detailsOf(success({ account: 'a', balance: 5, guard: { keysetref: 'x' } }), 'a');
    expect(other).not.toHaveProperty('keyset');
    expect(() => detailsOf(success({ account: 'b', balance: 5, guard: keyset }), 'a')).toThrow(LedgerFormatError);
    expect(() => tokenBalanceOf(success('5'), 'a', 'coin')).toThrow(LedgerFormatError);
  });
});

describe('a refusal', () => {
  it('of /send names the command and the reason', () => {
    const text = `One or more transactions were invalid: Transaction ${KEY} at index 0 failed with: Transaction already exists on chain\n`;
    expect(readSendRefusal(text)).toEqual({
      reqKey: KEY,
      reason: 'Transaction already exists on chain',
      isKnown: true,
    });
    const other = `One or more transactions were invalid: Transaction "${KEY}" at index 3 failed with: TTL expired`;
    expect(readSendRefusal(other)).toEqual({ reqKey: KEY, reason: 'TTL expired', isKnown: false });
    expect(readSendRefusal('Validation failed: x')).toEqual({ reason: 'Validation failed: x', isKnown: false });
  });

  it('of /spv says whether to wait', () => {
    expect(readProofRefusal('SPV target not reachable: target chain not reachable').wait).toBe(true);
    expect(readProofRefusal('Transaction hash not found: x').wait).toBe(true);
    expect(readProofRefusal('Invalid request')).toEqual({ reason: 'Invalid request', wait: false });
  });

  it('of a continuation that somebody else has finished is a success', () => {
    expect(isAlreadyCompleted(failure(`resumePact: pact completed: ${KEY}`))).toBe(true);
    expect(isAlreadyCompleted(failure('Requested defpact execution already completed for defpact id'))).toBe(true);
    expect(isAlreadyCompleted(failure('resumePact: no previous execution found'))).toBe(false);
    expect(isAlreadyCompleted(success('pact completed'))).toBe(false);
  });
});
