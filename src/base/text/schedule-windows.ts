/** Weekly time windows of a schedule, in local time, such as `mon-fri 22:00-07:00, sat,sun`. Pure. */

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];
const DAY_MINUTES = 24 * 60;
const MINUTE_MS = 60_000;
/**
 * Time for which `nextChange` searches: a week, after which a schedule repeats, and one more day because of changes to
 * and from summer time.
 */
const AHEAD_MINUTES = 8 * DAY_MINUTES;
/** Maximum number of windows in a schedule, far more than a week needs. */
const MAX_WINDOWS = 64;

export interface ScheduleWindow {
  /** Days on which the window begins: 0 is Sunday, as for `Date`. */
  readonly days: ReadonlySet<number>;
  /** First minute of the window, counted from midnight. */
  readonly from: number;
  /** First minute after the window, counted from midnight. If it is less than `from`, it is on the next day. */
  readonly to: number;
}

/**
 * Parses windows separated by commas. In `fri 22:00-24:00, sat,sun 10:00-18:00`, the last time applies to the two days
 * before it. A time without days (`22:00-07:00`) applies to every day. Days that no time follows (`sat`) are open all
 * day.
 * @throws RangeError whose message names the mistake
 */
export function parseWindows(text: string): ScheduleWindow[] {
  const windows: ScheduleWindow[] = [];
  let days: number[] = [];
  for (const part of text.toLowerCase().split(',')) {
    const words = part.trim().split(/\s+/);
    if (words[0] === '') throw new RangeError('a schedule has nothing between two commas');
    if (words.length > 2)
      throw new RangeError(`"${part.trim()}" is not a time window: put a comma between two windows`);
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

/** Parses a day such as `mon`, or a span such as `fri-mon`, which may include the end of a week. */
function parseDays(text: string): number[] {
  const [first, last = first, ...more] = text.split('-').map((name) => DAYS.indexOf(name));
  if (first < 0 || last < 0 || more.length > 0) {
    throw new RangeError(`"${text}" is not a day: days are ${DAYS.join(', ')} or a span of them like mon-fri`);
  }
  const count = ((last - first + 7) % 7) + 1;
  return Array.from({ length: count }, (_, i) => (first + i) % 7);
}

function parseTime(text: string): { from: number; to: number } {
  const match = /^(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})$/.exec(text);
  if (!match) throw new RangeError(`"${text}" is not a time`);
  const [fromHour, fromMinute, toHour, toMinute] = match.slice(1).map(Number);
  const from = fromHour * 60 + fromMinute;
  const to = toHour * 60 + toMinute;
  if (fromMinute > 59 || toMinute > 59 || from >= DAY_MINUTES || to > DAY_MINUTES) {
    throw new RangeError(`"${text}" is not a time: hours go from 00:00 to 24:00`);
  }
  if (from === to) throw new RangeError(`"${text}" begins when it ends: a whole day is 00:00-24:00`);
  return { from, to };
}

/** @returns a text from which `parseWindows` reads the same windows */
export function formatWindows(windows: readonly ScheduleWindow[]): string {
  return windows.map((window, index) => formatWindow(window, index === windows.length - 1)).join(', ');
}

/**
 * @param isLast whether the window is the last of the schedule. Only the last one may omit its time: the days of an
 *   earlier one would get the time of the next window
 */
function formatWindow({ days, from, to }: ScheduleWindow, isLast: boolean): string {
  const isEveryDay = days.size === EVERY_DAY.length;
  const isWholeDay = from === 0 && to === DAY_MINUTES;
  const time = isLast && isWholeDay && !isEveryDay ? [] : [`${formatMinute(from)}-${formatMinute(to)}`];
  return [...(isEveryDay ? [] : [formatDays(days)]), ...time].join(' ');
}

/** @returns days separated by commas, in which a span stands for three or more days in a row: `mon-fri,sun` */
function formatDays(days: ReadonlySet<number>): string {
  const runs: number[][] = [];
  for (const day of [...EVERY_DAY.slice(1), 0]) {
    if (!days.has(day)) continue;
    const run = runs.at(-1);
    if (run && (run[run.length - 1] + 1) % 7 === day) run.push(day);
    else runs.push([day]);
  }
  return runs
    .map((run) => run.map((day) => DAYS[day]))
    .map((names) => (names.length > 2 ? `${names[0]}-${names[names.length - 1]}` : names.join(',')))
    .join(',');
}

function formatMinute(minute: number): string {
  return `${twoDigits(Math.floor(minute / 60))}:${twoDigits(minute % 60)}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

/** Whether one of the windows is open. @param atMs milliseconds since the UNIX epoch */
export function isOpen(windows: readonly ScheduleWindow[], atMs: number): boolean {
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
 * Finds the next time at which the result of `isOpen` changes. It tries every minute, which is correct even when summer
 * time begins or ends, and takes a few milliseconds at most.
 * @param fromMs milliseconds since the UNIX epoch
 * @returns milliseconds since the UNIX epoch; undefined when nothing changes within eight days
 */
export function nextChange(windows: readonly ScheduleWindow[], fromMs: number): number | undefined {
  const open = isOpen(windows, fromMs);
  const thisMinuteMs = Math.floor(fromMs / MINUTE_MS) * MINUTE_MS;
  for (let minutes = 1; minutes <= AHEAD_MINUTES; minutes++) {
    const atMs = thisMinuteMs + minutes * MINUTE_MS;
    if (isOpen(windows, atMs) !== open) return atMs;
  }
  return undefined;
}

/** @returns local time such as `22:00`, or `mon 22:00` when `atMs` is on another day than `nowMs` */
export function formatMoment(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const time = formatMinute(at.getHours() * 60 + at.getMinutes());
  return at.toDateString() === new Date(nowMs).toDateString() ? time : `${DAYS[at.getDay()]} ${time}`;
}
