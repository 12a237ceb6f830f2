import { expect, test } from 'vitest';
import { ReopenPolicy } from '#pickaxe/miner/loop/reopen-policy.js';

const MINUTE_MS = 60_000;

function opened(): ReopenPolicy {
  const policy = new ReopenPolicy();
  policy.opened();
  return policy;
}

test('the waits between attempts grow, and the attempts end', () => {
  const policy = opened();
  const waits = Array.from({ length: 7 }, () => policy.waitAfter('lost', 100));
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, undefined, undefined]);
  expect(policy.inARow).toBe(5);
});

test('the first wait can be chosen, and decides the others', () => {
  const policy = new ReopenPolicy(7);
  expect(policy.inARow).toBe(0);
  expect(Array.from({ length: 6 }, () => policy.waitAfter('lost', 0))).toEqual([7, 14, 28, 56, 112, undefined]);
});

test('attempts are counted from zero once the device has been in service for a minute', () => {
  const policy = opened();
  for (let i = 0; i < 20; i++) expect(policy.waitAfter('lost', MINUTE_MS + 1)).toBe(1_000);
  expect(policy.waitAfter('lost', MINUTE_MS)).toBe(2_000);
});

test('attempts that fail after a minute of opening are still counted', () => {
  const policy = opened();
  expect(Array.from({ length: 6 }, () => policy.waitAfter('lost', 0)).at(-1)).toBeUndefined();
});

test('after wrong hashes attempts are counted from zero only after an hour in service', () => {
  const policy = opened();
  expect(policy.waitAfter('wrong-hashes', 59 * MINUTE_MS)).toBe(1_000);
  expect(policy.waitAfter('wrong-hashes', 59 * MINUTE_MS)).toBe(2_000);
  expect(policy.waitAfter('wrong-hashes', 60 * MINUTE_MS)).toBe(4_000);
  expect(policy.waitAfter('wrong-hashes', 60 * MINUTE_MS + 1)).toBe(1_000);
  expect(policy.waitAfter('wrong-hashes', 60 * MINUTE_MS)).toBe(2_000);
});

test('a device that was missing from the start is not reopened', () => {
  const policy = new ReopenPolicy();
  expect(policy.waitAfter('missing', 100)).toBeUndefined();
  expect(policy.waitAfter('lost', 100)).toBe(1_000);
  policy.opened();
  expect(policy.waitAfter('missing', 100)).toBe(2_000);
  expect(policy.waitAfter('missing', 100)).toBe(4_000);
  expect(policy.inARow).toBe(3);
});
