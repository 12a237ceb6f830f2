import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parseWindows } from '#pickaxe/base/text/schedule-windows.js';
import { keepSchedule } from '#pickaxe/rig/pauses/pauses.js';
import { guarded } from './fakes.ts';

const zone = process.env.TZ;

beforeEach(() => {
  process.env.TZ = 'Europe/Berlin';
  vi.useFakeTimers();
  vi.setSystemTime('2026-06-01T19:59:30.250Z'); // Monday, 21:59:30 in Berlin
});
afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
  vi.useRealTimers();
});

test('devices are paused outside the windows, to the millisecond, with the time until when', () => {
  const { rests, ...given } = guarded();
  const end = keepSchedule(parseWindows('mon-fri 22:00-07:00'), given);
  expect(rests.get('schedule')).toBe('outside the schedule until 22:00');
  vi.advanceTimersByTime(29_749);
  expect(rests.size).toBe(1);
  vi.advanceTimersByTime(1);
  expect(rests.size).toBe(0);
  vi.advanceTimersByTime(9 * 3_600_000 - 1);
  expect(rests.size).toBe(0);
  vi.advanceTimersByTime(1);
  expect(rests.get('schedule')).toBe('outside the schedule until 22:00');
  vi.setSystemTime('2026-06-06T07:00:00Z'); // Saturday
  vi.advanceTimersByTime(60_000);
  expect(rests.get('schedule')).toBe('outside the schedule until mon 22:00');
  end();
  expect([rests.size, vi.getTimerCount()]).toEqual([0, 0]);
});

test('a clock that is set, or a machine that slept, is noticed within a minute', () => {
  const { rests, ...given } = guarded();
  const end = keepSchedule(parseWindows('02:00-03:00'), given);
  expect(rests.size).toBe(1);
  vi.setSystemTime('2026-06-02T00:30:00Z'); // 02:30
  vi.advanceTimersByTime(60_000);
  expect(rests.size).toBe(0);
  vi.setSystemTime('2026-06-01T12:00:00Z'); // back again
  vi.advanceTimersByTime(60_000);
  expect(rests.get('schedule')).toBe('outside the schedule until tue 02:00');
  end();
});

test('a schedule that is always open never pauses devices', () => {
  const { rests, ...given } = guarded();
  const end = keepSchedule(parseWindows('00:00-24:00'), given);
  vi.advanceTimersByTime(600_000);
  expect(rests.size).toBe(0);
  end();
});

test('the log names the time zone', () => {
  const { said, ...given } = guarded();
  keepSchedule(parseWindows('sat,sun'), given)();
  expect(said.map(({ msg }) => msg).join()).toContain(Intl.DateTimeFormat().resolvedOptions().timeZone);
});
