/** The paths and queries of requests, and the heights that they name. */

import { describe, expect, it } from 'vitest';
import { NodeError, unlessMissing } from '#pickaxe/node/http/node-error.js';
import { chainPath, commandPathsOf, heights, isInRange, query, requestKey } from '#pickaxe/node/http/request.js';

const MAX_U32 = 2 ** 32 - 1;

it('a path names a chain by a number that a header can have', () => {
  expect([0, MAX_U32].map((chain) => chainPath(chain, 'hash'))).toEqual(['chain/0/hash', `chain/${MAX_U32}/hash`]);
  for (const chain of [-1, 0.5, MAX_U32 + 1, Number.NaN]) {
    expect(() => chainPath(chain, 'hash')).toThrow(`${chain} is not a chain`);
  }
});

describe('a query', () => {
  it.each([
    [{}, ''],
    [{ limit: undefined }, ''],
    [{ limit: 0, next: undefined, minheight: 0n, strict: true }, '?limit=0&minheight=0&strict=true'],
    [{ next: 'inclusive:A', limit: 2 ** 53 - 1 }, '?next=inclusive:A&limit=9007199254740991'],
    [{ maxheight: 2n ** 64n }, '?maxheight=18446744073709551616'],
  ])('of %o is %j', (values, text) => {
    expect(query(values)).toBe(text);
  });

  it.each([-1, 0.5, 2 ** 53, -1n])('has no number such as %d', (limit) => {
    expect(() => query({ limit })).toThrow(new RangeError(`limit must be a whole number from 0 on, not ${limit}`));
  });
});

describe('a range of heights', () => {
  it.each([
    [{}, undefined],
    [{ minHeight: 7n }, undefined],
    [{ maxHeight: 0 }, 1_000n],
    [{ minHeight: 7, maxHeight: 7n }, 1_000n],
    [{ minHeight: 7n, maxHeight: 9 }, 3_000n],
    [{ minHeight: 8, maxHeight: 7 }, 0n],
    [{ minHeight: 9, maxHeight: 7 }, 0n],
  ])('%o has a number of blocks that no network exceeds: %s', (range, most) => {
    const { minHeight: minheight, maxHeight: maxheight } = range as { minHeight?: number; maxHeight?: number };
    expect(heights(range)).toEqual({ query: { minheight, maxheight }, most });
  });

  it.each([
    [{}, 0n, true],
    [{ minHeight: 7 }, 6n, false],
    [{ minHeight: 7 }, 7n, true],
    [{ maxHeight: 7n }, 7n, true],
    [{ maxHeight: 7n }, 8n, false],
    [{ minHeight: 7, maxHeight: 9 }, 6n, false],
    [{ minHeight: 7, maxHeight: 9 }, 10n, false],
    [{ minHeight: 7, maxHeight: 9 }, 8n, true],
  ])('%o has the height %i: %s', (range, height, isIn) => {
    expect(isInRange(height, range)).toBe(isIn);
  });
});

it('a request key has 43 characters of base64url', () => {
  expect(requestKey('A-_0'.padEnd(43, 'z'))).toHaveLength(43);
  for (const text of ['', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(42)}+`]) {
    expect(() => requestKey(text)).toThrow(`${JSON.stringify(text)} is not a request key`);
  }
});

it.each([
  ['chainweb', undefined, 'chain/7/pact/api/v1', 'chain/7/pact/spv'],
  ['document', undefined, 'chain/7/flow/api/v1', 'chain/7/flow/spv'],
  ['document', '/api/v1', '/api/v1', '/api/v1/spv'],
  ['document', '/here/<chain>/<chain>/api/v1//', '/here/7/7/api/v1', '/here/7/7/spv'],
  ['chainweb', 'other', 'other', 'other/spv'],
] as const)('commands of the dialect %s with the path %s', (dialect, path, commands, proofs) => {
  expect(commandPathsOf(dialect, 7, path)).toEqual({ commands, proofs });
});

it('what a node does not have or serve is missing, and all other errors stay errors', async () => {
  const fails = (error: Error) => unlessMissing(Promise.reject(error));
  expect(await unlessMissing(Promise.resolve('there'))).toBe('there');
  for (const kind of ['not found', 'no such side'] as const)
    expect(await fails(new NodeError(kind, kind))).toBeUndefined();
  for (const error of [new NodeError('refused', 'no'), Object.assign(new Error('no'), { kind: 'not found' })]) {
    await expect(fails(error)).rejects.toBe(error);
  }
});
