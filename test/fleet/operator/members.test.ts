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

it('is silent after a time, and forgotten after a day, each in the order of its last message', () => {
  const all = members();
  all.take('a', message, 1, 0);
  all.take('b', message, 1, 1);
  all.take('a', message, 1, 2);
  const silent = (nowMs: number) =>
    all.all(nowMs).map(([name, member]) => `${name} ${all.isUnresponsive(member, nowMs)}`);
  expect(silent(SILENT_MS + 1)).toEqual(['a false', 'b false']);
  expect(silent(SILENT_MS + 2)).toEqual(['a false', 'b true']);
  expect(namesOf(all, 86_400_001)).toEqual(['a', 'b']);
  expect(namesOf(all, 86_400_002)).toEqual(['a']);
  expect(all.get('b')).toBeUndefined();
});

it('a name is that of two members for a minute after their messages have alternated', () => {
  const all = members();
  const isDuplicate = (nowMs: number) => all.get('a')?.isDuplicate(nowMs) ?? false;
  for (const [at, instance] of ['1', '2', '3', '2'].entries()) {
    expect(isDuplicate(at)).toBe(false);
    all.take('a', { instance }, 1, at);
  }
  expect([isDuplicate(3), isDuplicate(60_002), isDuplicate(60_003)]).toEqual([true, true, false]);
});

it('the messages of one member, and of all, are read at a bounded rate', () => {
  const options = { most: 4, unresponsiveMs: SILENT_MS, bytesOfAll: RATE, mostBytes: 100 };
  const rates = { rate: { most: 2, perSecond: 1 }, rateOfAll: { most: 5, perSecond: 2 } };
  const all = new Members({ ...options, ...rates }, 0);
  const read = (name: string, nowMs: number) => {
    let count = 0;
    while (all.admits(name, 1, nowMs)) count++;
    return count;
  };
  expect([read('a', 0), read('b', 0), read('c', 0)]).toEqual([2, 2, 1]);
  expect([read('a', 1_000), read('b', 1_000)]).toEqual([1, 1]);
});

it('remembers the rates of twice as many senders as members', () => {
  const rate = { most: 1, perSecond: 0 };
  const all = new Members(
    { most: 4, unresponsiveMs: SILENT_MS, rate, rateOfAll: RATE, bytesOfAll: RATE, mostBytes: 100 },
    0,
  );
  const admitted = (name: string) => all.admits(name, 1, 0);
  expect(admitted('first')).toBe(true);
  for (let i = 0; i < 7; i++) expect(admitted(`other${i}`)).toBe(true);
  expect(admitted('first')).toBe(false);
  expect(admitted('other7')).toBe(true);
  expect(admitted('first')).toBe(true);
});

it('a member that is known takes no room of others, as long as its messages fit', () => {
  const all = members();
  for (const name of ['a', 'b', 'c', 'd']) expect(all.take(name, message, 10, 0)).toBeUndefined();
  expect(all.take('e', message, 10, 1)).toBe('tooManyMembers');
  expect(all.take('a', message, 10, SILENT_MS + 1)).toBeUndefined();
  expect(namesOf(all, SILENT_MS + 1)).toEqual(['a', 'b', 'c', 'd']);
  expect(all.take('e', message, 10, SILENT_MS + 1)).toBeUndefined();
  expect(namesOf(all, SILENT_MS + 1)).toEqual(['a', 'c', 'd', 'e']);
});

it('a member whose message is longer than before makes room with silent ones, and not with itself', () => {
  const all = members();
  all.take('a', message, 60, 0);
  all.take('b', message, 30, 0);
  expect(all.take('a', message, 80, SILENT_MS + 1)).toBeUndefined();
  expect(namesOf(all, SILENT_MS + 1)).toEqual(['a']);
  expect(all.take('b', message, 21, SILENT_MS + 1)).toBe('tooManyMembers');
  expect(all.take('b', message, 20, SILENT_MS + 1)).toBeUndefined();
});
