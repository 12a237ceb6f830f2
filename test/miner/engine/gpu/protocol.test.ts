import { expect, test } from 'vitest';
import { common, without } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { toChild, toParent } from '#pickaxe/miner/engine/gpu/protocol.js';
import { TUNING_LIMITS } from '#pickaxe/miner/engine/gpu/tuning.js';

const strip = (counter: number, counters: number) => ({ lane: 1, step: 1, page: 2, pages: 1, counter, counters });
const report = { type: 'report', search: 1, searched: strip(0, 10), beganMs: 12.5, candidates: [5n] };
const words = { midstate: new Uint32Array(8), tail: new Uint32Array(16), target: new Uint32Array(8) };

test('valid messages of both sides are accepted', () => {
  expect(toParent.parse(report)).toEqual(report);
  const search = { type: 'search', search: 1, ...words };
  expect(toChild.parse(search)).toEqual(search);
  const range = { type: 'range', search: 1, range: strip(2 ** 32 - 1, 1) };
  expect(toChild.parse(range)).toEqual(range);
  const far = { lane: 2 ** 32 - 1, step: 65_536, page: 2 ** 16 - 2, pages: 2, counter: 2 ** 16 - 3, counters: 3 };
  expect(toChild.parse({ ...range, range: far })).toEqual({ ...range, range: far });
});

test.each([
  ['the first and the last nonce', { ...report, candidates: [0n, (1n << 64n) - 1n] }],
  ['all pages', { ...report, searched: { ...strip(0, 1), page: 0, pages: 65_536 } }],
  ['all counters', { ...report, searched: strip(0, 2 ** 32) }],
  ['the first lane, page and counter', { ...report, searched: { ...strip(0, 1), lane: 0, page: 0 } }],
  ['no readings', { type: 'pulse' }],
  ['a reading below zero', { type: 'pulse', telemetry: { temperatureCelsius: -10 } }],
])('the parent takes %s', (_, message) => {
  expect(toParent.parse(message)).toEqual(message);
});

test.each([
  ['no pages', { ...report, searched: { ...strip(0, 1), pages: 0 } }],
  ['a lane below zero', { ...report, searched: { ...strip(0, 1), lane: -1 } }],
  ['a page below zero', { ...report, searched: { ...strip(0, 1), page: -1, pages: 1 } }],
  ['a counter below zero', { ...report, searched: strip(-1, 1) }],
  ['a part of a counter', { ...report, searched: strip(0.5, 1) }],
  ['a nonce below zero', { ...report, candidates: [-1n] }],
  ['a nonce over 64 bits', { ...report, candidates: [1n << 64n] }],
  ['a nonce that is a number', { ...report, candidates: [5] }],
  ['a range past the last counter', { ...report, searched: strip(2 ** 32 - 1, 2) }],
  ['an empty range', { ...report, searched: strip(0, 0) }],
  ['a range past the last page', { ...report, searched: { ...strip(0, 1), page: 2 ** 16 - 1, pages: 2 } }],
  ['a lane of more bytes than its step', { ...report, searched: { ...strip(0, 1), lane: 2 ** 24, step: 256 } }],
  ['a range past the last counter of its step', { ...report, searched: { ...strip(2 ** 24 - 1, 2), step: 256 } }],
  ['a step of 2', { ...report, searched: { ...strip(0, 1), step: 2 } }],
  ['an unknown message', { type: 'hello' }],
  ['no message', undefined],
])('the parent refuses %s', (_, message) => {
  expect(toParent.safeParse(message).success).toBe(false);
});

const OPEN = {
  type: 'open',
  softwareGpu: false,
  tuneAgain: false,
  minesAtOnce: false,
  hurried: false,
  tuningLimits: TUNING_LIMITS,
  skip: [],
  card: {},
  pulseMs: 0.5,
};

test.each([
  ['no length of batches', {}, true],
  ['batches of 2 ms', { batchMs: 2 }, true],
  ['batches of less than 2 ms', { batchMs: 1.9 }, false],
  ['no time between pulses', { pulseMs: 0 }, false],
  ['a card of an unknown maker', { card: { vendor: 'matrox' } }, false],
  ['a card with a maker and an address', { card: { vendor: 'amd', bus: '0000:03:00.0' } }, true],
])('the child opens a GPU with %s: %s', (_, change, isRight) => {
  expect(toChild.safeParse({ ...OPEN, ...change }).success).toBe(isRight);
});

test('the child refuses arrays of a wrong length or type', () => {
  for (const wrong of [{ tail: new Uint32Array(15) }, { midstate: new Int32Array(8) }, { target: [] }]) {
    expect(toChild.safeParse({ type: 'search', search: 1, ...words, ...wrong }).success).toBe(false);
  }
});

test('a part is cut out of a strip', () => {
  expect(without(strip(10, 10), strip(10, 10))).toEqual([]);
  expect(without(strip(10, 10), strip(10, 4))).toEqual([strip(14, 6)]);
  expect(without(strip(10, 10), strip(16, 4))).toEqual([strip(10, 6)]);
  expect(without(strip(10, 10), strip(12, 3))).toEqual([strip(10, 2), strip(15, 5)]);
});

test('a part is cut out of pages', () => {
  const whole = { ...strip(10, 10), pages: 5 };
  expect(without(whole, whole)).toEqual([]);
  expect(without(whole, { ...strip(10, 10), page: 4, pages: 2 })).toEqual([
    { ...strip(10, 10), pages: 2 },
    { ...strip(10, 10), page: 6, pages: 1 },
  ]);
});

test('the intersection of two strips is the part that lies in both', () => {
  expect(common(strip(10, 10), strip(10, 10))).toEqual(strip(10, 10));
  expect(common(strip(10, 10), strip(9, 2))).toEqual(strip(10, 1));
  expect(common(strip(10, 10), strip(19, 2))).toEqual(strip(19, 1));
  expect(common(strip(10, 10), strip(20, 2))).toBeUndefined();
  expect(common(strip(10, 10), { ...strip(12, 1), page: 3 })).toBeUndefined();
  expect(common(strip(10, 10), { ...strip(12, 1), lane: 0 })).toBeUndefined();
  expect(common(strip(10, 10), { ...strip(12, 1), step: 256 })).toBeUndefined();
  expect(common({ ...strip(10, 10), pages: 4 }, { ...strip(15, 9), page: 5, pages: 7 })).toEqual({
    ...strip(15, 5),
    page: 5,
    pages: 1,
  });
});
