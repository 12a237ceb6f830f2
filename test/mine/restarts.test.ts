import { expect, test } from 'vitest';
import { Restarts } from '#pickaxe/mine/restarts.js';

const MINUTE_MS = 60_000;

function opened(): Restarts {
  const restarts = new Restarts();
  restarts.opened();
  return restarts;
}

test('are further and further apart, and end', () => {
  const restarts = opened();
  const waits = Array.from({ length: 7 }, () => restarts.after('lost', 100));
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, undefined, undefined]);
  expect(restarts.inARow).toBe(5);
});

test('are counted anew once the device has worked for a minute', () => {
  const restarts = opened();
  for (let i = 0; i < 20; i++) expect(restarts.after('lost', MINUTE_MS + 1)).toBe(1_000);
  expect(restarts.after('lost', MINUTE_MS)).toBe(2_000);
});

test('of a device that takes a minute to fail to open are counted on', () => {
  const restarts = opened();
  expect(Array.from({ length: 6 }, () => restarts.after('lost', 0)).at(-1)).toBeUndefined();
});

test('for wrong hashes are counted anew after an hour only', () => {
  const restarts = opened();
  expect(restarts.after('wrong hashes', 59 * MINUTE_MS)).toBe(1_000);
  expect(restarts.after('wrong hashes', 59 * MINUTE_MS)).toBe(2_000);
  expect(restarts.after('wrong hashes', 61 * MINUTE_MS)).toBe(1_000);
});

test('are not for a device that was never there', () => {
  const restarts = new Restarts();
  expect(restarts.after('missing', 100)).toBeUndefined();
  expect(restarts.after('lost', 100)).toBe(1_000);
  restarts.opened();
  expect(restarts.after('missing', 100)).toBe(2_000);
});
