/** When to mine: windows of local time, as people write them: `mon-fri 22:00-07:00, sat,sun`. Pure. */

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];
const DAY_MINUTES = 24 * 60;
const MINUTE_MS = 60_000;
/** A schedule repeats after a week; a day more for the hour that a change of the clocks takes or gives. */
const AHEAD_MINUTES = 8 * DAY_MINUTES;
/** Of one schedule: far more than a week needs. */
const MAX_WINDOWS = 64;

const EXAMPLE = 'write it like 22:00-07:00, or mon-fri 22:00-07:00, sat,sun';

export interface Window {
  /** On which it begins: 0 is Sunday, as of `Date`. */
  readonly days: ReadonlySet<number>;
  /** Minute of the day, local time. */
  readonly from: number;
  /** Up to but without this minute: of the next day when it is not after `from`. */
  readonly to: number;
}

/**
 * Windows between commas, each with days, a time, or both: `22:00-07:00` is every day's, `sat` a whole day. Days may be
 * listed before their time: `sat,sun 10:00-18:00`; such that none follows are whole days.
 * @throws RangeError that says what is wrong
 */
export function parseWindows(text: string): Window[] {
  const windows: Window[] = [];
  let days: number[] = [];
  for (const part of text.toLowerCase().split(',')) {
    const words = part.trim().split(/\s+/);
    if (words[0] === '') throw new RangeError(`a schedule has nothing between two commas: ${EXAMPLE}`);
    if (words.length > 2)
      throw new RangeError(`"${part.trim()}" is no window: put a comma between two, and ${EXAMPLE}`);
    const [first, second] = words;
    const timeAlone = second === undefined && /\d/.test(first);
    if (!timeAlone) days.push(...parseDays(first));
    const time = timeAlone ? first : second;
    if (time === undefined) continue;
    windows.push({ days: new Set(days.length > 0 ? days : EVERY_DAY), ...parseTime(time) });
    days = [];
  }
  if (days.length > 0) windows.push({ days: new Set(days), from: 0, to: DAY_MINUTES });
  if (windows.length > MAX_WINDOWS) throw new RangeError(`a schedule has at most ${MAX_WINDOWS} windows`);
  return windows;
}

/** `mon`, or `fri-mon`, which goes on over the week's end. */
function parseDays(text: string): number[] {
  const [first, last = first, ...more] = text.split('-').map((name) => DAYS.indexOf(name));
  if (first < 0 || last < 0 || more.length > 0) {
    throw new RangeError(`"${text}" is no day: days are ${DAYS.join(', ')} or a span of them like mon-fri`);
  }
  const count = ((last - first + 7) % 7) + 1;
  return Array.from({ length: count }, (_, i) => (first + i) % 7);
}

function parseTime(text: string): { from: number; to: number } {
  const match = /^(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})$/.exec(text);
  if (!match) throw new RangeError(`"${text}" is no time: ${EXAMPLE}`);
  const [fromHour, fromMinute, toHour, toMinute] = match.slice(1).map(Number);
  const from = fromHour * 60 + fromMinute;
  const to = toHour * 60 + toMinute;
  if (fromMinute > 59 || toMinute > 59 || from >= DAY_MINUTES || to > DAY_MINUTES) {
    throw new RangeError(`"${text}" is no time: hours go from 00:00 to 24:00`);
  }
  if (from === to) throw new RangeError(`"${text}" begins when it ends: a whole day is 00:00-24:00`);
  return { from, to };
}

/** @param atMs wall clock, milliseconds since the UNIX epoch; what counts is what local clocks show then */
export function isOpen(windows: readonly Window[], atMs: number): boolean {
  const at = new Date(atMs);
  const day = at.getDay();
  const dayBefore = (day + 6) % 7;
  const minute = at.getHours() * 60 + at.getMinutes();
  return windows.some(({ days, from, to }) =>
    from < to
      ? days.has(day) && minute >= from && minute < to
      : (days.has(day) && minute >= from) || (days.has(dayBefore) && minute < to),
  );
}

/**
 * When the windows open or close next. Each minute is looked at, so that every change of the clocks is seen; it takes some
 * milliseconds at most.
 * @returns milliseconds since the UNIX epoch; undefined when nothing changes within a week
 */
export function nextChange(windows: readonly Window[], fromMs: number): number | undefined {
  const open = isOpen(windows, fromMs);
  const thisMinuteMs = Math.floor(fromMs / MINUTE_MS) * MINUTE_MS;
  for (let minutes = 1; minutes <= AHEAD_MINUTES; minutes++) {
    const atMs = thisMinuteMs + minutes * MINUTE_MS;
    if (isOpen(windows, atMs) !== open) return atMs;
  }
  return undefined;
}

/** `22:00`, or `mon 22:00` on another day. Local time. */
export function formatMoment(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const time = `${String(at.getHours()).padStart(2, '0')}:${String(at.getMinutes()).padStart(2, '0')}`;
  return at.toDateString() === new Date(nowMs).toDateString() ? time : `${DAYS[at.getDay()]} ${time}`;
}
