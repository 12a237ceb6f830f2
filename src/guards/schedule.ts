/** Pauses all devices outside the windows of a schedule. */

import { wallMs } from '../system/clock.ts';
import { formatMoment, isOpen, nextChange, type ScheduleWindow } from '../text/schedule-windows.ts';
import type { Guarded } from './guard.ts';

/** The longest time between looks at the schedule: the wall clock may be set, and the machine may sleep. */
const LOOK_MS = 60_000;

/** @returns a function that ends the guard and resumes the devices */
export function keepSchedule(windows: readonly ScheduleWindow[], { controls, clock, log }: Guarded): () => void {
  let timer: NodeJS.Timeout;
  const look = () => {
    const now = wallMs(clock);
    const change = nextChange(windows, now);
    if (isOpen(windows, now)) controls.resume('schedule');
    else controls.pause('schedule', `outside the schedule${change ? ` until ${formatMoment(change, now)}` : ''}`);
    timer = setTimeout(look, Math.min(LOOK_MS, (change ?? Number.POSITIVE_INFINITY) - now));
  };
  log.info({ tag: 'pause' }, `the schedule uses the time zone ${Intl.DateTimeFormat().resolvedOptions().timeZone}`);
  look();
  return () => {
    clearTimeout(timer);
    controls.resume('schedule');
  };
}
