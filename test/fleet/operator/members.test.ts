/** The bounds on what the members of a fleet cost an operator in bytes. */

import { expect, it } from 'vitest';
import { Members } from '#pickaxe/fleet/operator/members.js';

const SILENT_MS = 1_000;
const RATE = { most: 1_000, perSecond: 0 };
const message = { instance: '' };

function members(more: { mostBytes?: number; bytesOfAll?: { most: number; perSecond: number } } = {}) {
  const options = { most: 4, unresponsiveMs: SILENT_MS, rate: RATE, rateOfAll: RATE, bytesOfAll: RATE, mostBytes: 100 };
  return new Members({ ...options, ...more }, 0);
}

const namesOf = (of: Members<typeof message>, nowMs: number) => of.all(nowMs).map(([name]) => name);

it('keeps messages up to a number of bytes, and only silent members make room', () => {
  const all = members();
  expect(all.take('a', message, 40, 0)).toBeUndefined();
  expect(all.take('b', message, 40, 0)).toBeUndefined();
  expect(all.take('c', message, 40, 1)).toBe('tooManyMembers');
  // A member may send a longer message, as long as there is room.
  expect(all.take('a', message, 60, 1)).toBeUndefined();
  expect(all.take('a', message, 61, 2)).toBe('tooManyMembers');
  expect(namesOf(all, 2)).toEqual(['a', 'b']);
  expect(all.take('a', message, 10, 3)).toBeUndefined();
  expect(all.take('c', message, 50, 3)).toBeUndefined();
  const laterMs = SILENT_MS + 2;
  expect(all.take('a', message, 10, laterMs)).toBeUndefined();
  expect(all.take('d', message, 41, laterMs)).toBe('tooManyMembers');
  expect(namesOf(all, laterMs)).toEqual(['a', 'c']);
  expect(all.take('d', message, 40, laterMs)).toBeUndefined();
});

it('forgets the bytes of those that it forgets', () => {
  const all = members();
  all.take('a', message, 100, 0);
  const nextDayMs = 86_400_001;
  expect(namesOf(all, nextDayMs)).toEqual([]);
  expect(all.take('b', message, 100, nextDayMs)).toBeUndefined();
});

it('reads a number of bytes of all members in a time', () => {
  const all = members({ bytesOfAll: { most: 100, perSecond: 10 } });
  expect(all.admits('a', 60, 0)).toBe(true);
  expect(all.admits('b', 60, 0)).toBe(false);
  expect(all.admits('c', 40, 0)).toBe(true);
  expect(all.admits('c', 60, 6_000)).toBe(true);
});
