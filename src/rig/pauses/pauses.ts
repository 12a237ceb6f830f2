/** Guards that pause all devices: outside of the schedule, on battery, and while somebody uses the machine. */

import { type Timer, wallMs } from '../../base/system/clock.ts';
import { formatMoment, isOpen, nextChange, type ScheduleWindow } from '../../base/text/schedule-windows.ts';
import type { PauseReason } from '../../miner/events/events.ts';
import type { RunningMiner } from '../running-miner.ts';
import type { Power } from './power.ts';
import type { IdleWatch } from './terminals.ts';

type Guarded = Pick<RunningMiner, 'controls' | 'clock' | 'log'>;

/**
 * The result of a check. `pause` is the reason to pause, as a clause for people. `go on` means that this guard has
 * no reason to pause. After `unknown`, nothing changes.
 */
type Observation = { readonly pause: string } | 'go on' | 'unknown';

/**
 * Checks a condition at once and then repeatedly. A check begins `everyMs` after the previous one has ended, so two
 * checks never run at the same time.
 * @returns after the first check, a function that ends the guard and resumes the devices that have no other reason to
 *   pause
 */
async function keepLooking(
  reason: PauseReason,
  everyMs: number,
  look: () => Promise<Observation>,
  { controls, clock }: Guarded,
): Promise<() => void> {
  let ended = false;
  let timer: Timer | undefined;
  const lookAgain = async () => {
    const found = await look();
    if (ended) return;
    if (found === 'go on') controls.resume(reason);
    else if (found !== 'unknown') controls.pause(reason, found.pause);
    timer = clock.setTimeout(lookAgain, everyMs);
  };
  await lookAgain();
  return () => {
    ended = true;
    timer?.cancel();
    controls.resume(reason);
  };
}

/**
 * Maximum time between two checks of the schedule. Without a maximum, the next check would be late after the wall clock
 * was set or the machine has slept.
 */
const SCHEDULE_LOOK_MS = 60_000;

/**
 * Pauses all devices outside of the windows.
 * @returns a function that ends the guard and resumes the devices that have no other reason to pause
 */
export function keepSchedule(windows: readonly ScheduleWindow[], { controls, clock, log }: Guarded): () => void {
  let timer: Timer;
  const look = () => {
    const now = wallMs(clock);
    const change = nextChange(windows, now);
    if (isOpen(windows, now)) controls.resume('schedule');
    else controls.pause('schedule', `outside the schedule${change ? ` until ${formatMoment(change, now)}` : ''}`);
    timer = clock.setTimeout(look, Math.min(SCHEDULE_LOOK_MS, (change ?? Number.POSITIVE_INFINITY) - now));
  };
  log.info({ tag: 'pause' }, `the schedule uses the time zone ${Intl.DateTimeFormat().resolvedOptions().timeZone}`);
  look();
  return () => {
    timer?.cancel();
    controls.resume('schedule');
  };
}

/** Time between two checks of the power supply. */
const BATTERY_LOOK_MS = 10_000;

/**
 * Pauses all devices while the machine runs on battery. Nothing changes while the power supply cannot be read.
 * @returns after the first check, a function that ends the guard
 */
export function pauseOnBattery(readPower: () => Promise<Power>, guarded: Guarded): Promise<() => void> {
  const { log } = guarded;
  let known: Power | 'unknown' | undefined;
  const look = async () => {
    const power = await readPower().catch((fault: Error) => {
      if (known !== 'unknown')
        log.warn({ tag: 'pause' }, `cannot tell whether this machine runs on battery: ${fault.message}`);
      return 'unknown' as const;
    });
    if (power === 'no battery' && known !== power) log.info({ tag: 'pause' }, 'this machine has no battery');
    known = power;
    if (power === 'battery') return { pause: 'the machine runs on battery' };
    return power === 'unknown' ? power : 'go on';
  };
  return keepLooking('battery', BATTERY_LOOK_MS, look, guarded);
}

/** Time between two checks of whether somebody uses the machine. A check takes a few milliseconds. */
const ACTIVITY_LOOK_MS = 5_000;

/**
 * Pauses all devices while somebody uses the machine. If all watches are without an answer, nothing changes.
 * @param afterMs time without use after which mining resumes
 * @returns after the first check, a function that ends the guard
 */
export function pauseWhileUsed(watches: readonly IdleWatch[], afterMs: number, guarded: Guarded): Promise<() => void> {
  const { clock, log } = guarded;
  /** The watches that had no answer at the last check; all watches before the first check. */
  const blind = new Set(watches);
  log.info({ tag: 'pause' }, `activity on this machine: watching ${watches.map(({ name }) => name).join('; ')}`);
  const look = async (): Promise<Observation> => {
    const now = wallMs(clock);
    const asked = await Promise.all(
      watches.map(async (watch) => {
        const idleMs = await watch.idleMs(now);
        if (idleMs !== undefined) blind.delete(watch);
        else if (!blind.has(watch)) log.warn({ tag: 'pause' }, `${watch.name}: activity can no longer be seen`);
        if (idleMs === undefined) blind.add(watch);
        return idleMs;
      }),
    );
    const idles = asked.filter((idleMs) => idleMs !== undefined);
    if (idles.length === 0) return 'unknown';
    if (Math.min(...idles) >= afterMs) return 'go on';
    return { pause: `somebody used the machine less than ${afterMs / 1000} s ago` };
  };
  return keepLooking('activity', ACTIVITY_LOOK_MS, look, guarded);
}
