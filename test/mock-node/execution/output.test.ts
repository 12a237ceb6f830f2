/** The JSON of results, failures and continuations. */

import { describe, expect, it } from 'vitest';
import { ContractError } from '#pickaxe/contract/errors.js';
import type { DefpactState } from '#pickaxe/contract/runtime/defpact-state.js';
import { continuationJson, decimalJson, failureOf, outputJson } from '#pickaxe/mock-node/execution/output.js';
import { stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';

describe('a failure', () => {
  it.each([
    ['tx-failure', 'TxFailure', 'TxFailure'],
    ['syntax', 'SyntaxError', 'SyntaxError'],
    ['eval', 'EvalError', 'EvalError'],
    ['db', 'DbError', 'EvalError'],
    ['gas', 'GasError', 'EvalError'],
    ['continuation', 'ContinuationError', 'EvalError'],
  ] as const)('of the kind %s is called %s, and %s in version 5', (kind, old, now) => {
    const error = new ContractError(kind, 'x'.repeat(300));
    expect(failureOf(error, 4)).toEqual({ kind: old, message: 'x'.repeat(300) });
    expect(failureOf(error, 5)).toEqual({ kind: now, message: 'x'.repeat(256) });
  });
});

describe('an output', () => {
  const output = { requestKey: 'key', gas: 7, events: [], continuation: null, txId: 3, hasLogs: true };
  const textOf = (more: Partial<Parameters<typeof outputJson>[0]>) =>
    JSON.parse(stringifyExactJson(outputJson({ ...output, outcome: { data: 'done' }, ...more })));

  it('has its number and its logs, if it has them', () => {
    expect(textOf({})).toEqual({
      gas: 7,
      result: { status: 'success', data: 'done' },
      reqKey: 'key',
      logs: expect.stringMatching(/^[\w-]{43}$/),
      events: [],
      metaData: null,
      continuation: null,
      txId: 3,
    });
    expect(textOf({ txId: null, hasLogs: false })).toMatchObject({ txId: null, logs: null });
    expect(textOf({ txId: 4 }).logs).not.toBe(textOf({}).logs);
    expect(textOf({ events: undefined })).not.toHaveProperty('events');
  });

  it('of a failure has its kind and its message', () => {
    expect(textOf({ outcome: { error: { kind: 'EvalError', message: 'no' } } }).result).toEqual({
      status: 'failure',
      error: { callStack: [], type: 'EvalError', message: 'no', info: '' },
    });
  });
});

it.each([
  [10n ** 12n, '1'],
  [9_007_199_254_740_991n, '9007.199254740991'],
  [9_007_199_254_740_993n, '{"decimal":"9007.199254740993"}'],
])('the decimal %i is written as %s', (decimal, json) => {
  expect(stringifyExactJson(decimalJson(decimal))).toBe(json);
});

describe('a continuation', () => {
  const name = { text: 'm.transfer' } as DefpactState['continuation']['name'];
  const defpact: DefpactState = {
    id: 'outer',
    stepCount: 2,
    step: 0,
    yielded: undefined,
    continuation: { name, args: [] },
    hasRollback: true,
    isExecuted: undefined,
    nested: new Map(),
  };
  const textOf = (more: Partial<DefpactState>) =>
    JSON.parse(stringifyExactJson(continuationJson({ ...defpact, ...more })));
  const plain = {
    executed: null,
    pactId: 'outer',
    step: 0,
    yield: null,
    continuation: { args: [], def: 'm.transfer' },
    stepCount: 2,
  };

  it('has null for what there is not', () => {
    expect(textOf({})).toEqual({ ...plain, stepHasRollback: true });
    expect(textOf({ isExecuted: false, hasRollback: false })).toEqual({
      ...plain,
      executed: false,
      stepHasRollback: false,
    });
  });

  it.each<[string, Partial<NonNullable<DefpactState['yielded']>>, object]>([
    ['for the same chain', {}, { source: null, provenance: null }],
    ['of a chain', { sourceChain: '3' }, { source: '3', provenance: null }],
    [
      'for another chain',
      { provenance: { targetChain: '4', moduleHash: 'hash' } },
      { source: null, provenance: { targetChainId: '4', moduleHash: 'hash' } },
    ],
  ])('has a yield %s', (_, more, expected) => {
    const yielded = { data: new Map(), sourceChain: undefined, provenance: undefined, ...more };
    expect(textOf({ yielded }).yield).toEqual({ data: {}, ...expected });
  });

  it('has nested ones in the order of their ids, without what only the outer one says', () => {
    const nested = new Map(['b', 'a', 'c'].map((id) => [id, { ...defpact, id }]));
    const { nested: written } = textOf({ nested });
    expect(Object.keys(written)).toEqual(['a', 'b', 'c']);
    expect(written.a).toEqual({ ...plain, pactId: 'a' });
  });
});
