/** Has all devices rest outside of the windows of a schedule. */

import { wallMs } from '../system/clock.ts';
import { formatMoment, isOpen, nextChange, type ScheduleWindow } from '../text/schedule-windows.ts';
import type { Guarded } from './guard.ts';

/** The wall clock may be set, and a machine may sleep, so the schedule is looked at again after this time at the latest. */
const LOOK_MS = 60_000;

/** @returns what ends it; no device rests because of the schedule any more */
export function keepSchedule(windows: readonly ScheduleWindow[], { controls, clock, log }: Guarded): () => void {
  let timer: NodeJS.Timeout;
  const look = () => {
    const now = wallMs(clock);
    const change = nextChange(windows, now);
    if (isOpen(windows, now)) controls.resume('schedule');
    else controls.pause('schedule', `outside the schedule${change ? ` until ${formatMoment(change, now)}` : ''}`);
    timer = setTimeout(look, Math.min(LOOK_MS, (change ?? Number.POSITIVE_INFINITY) - now));
  };
  log.info({ tag: 'rest' }, `the schedule uses the time zone ${Intl.DateTimeFormat().resolvedOptions().timeZone}`);
  look();
  return () => {
    clearTimeout(timer);
    controls.resume('schedule');
  };
}
