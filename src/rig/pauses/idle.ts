/**
 * Finds the watches that this system offers. A watch tells for how long a part of the system has not been used: on
 * Linux the terminals or desktop sessions, on macOS the keyboard and mouse.
 */

import { ask } from './ask.ts';
import { type IdleWatch, watchTerminals } from './terminals.ts';

/**
 * @param warn receives a sentence for people about each desktop session that cannot be watched
 * @returns the available watches; none on other systems than Linux and macOS
 */
export async function findWatches(
  warn: (why: string) => void,
  platform: string = process.platform,
): Promise<IdleWatch[]> {
  if (platform === 'darwin') return present([await watchMac()]);
  if (platform !== 'linux') return [];
  const desktop = await watchDesktop(process.env);
  // The desktop gives a more exact idle time than logind, and gives it sooner.
  return present([desktop ?? (await watchLogind(warn)), await watchTerminals('/dev')]);
}

function present(watches: (IdleWatch | undefined)[]): IdleWatch[] {
  return watches.filter((watch) => watch !== undefined);
}

/*
 * On Linux, the idle time of the desktop session in which pickaxe was started. This time is exact, but does not cover
 * other desktop sessions. On macOS, the idle time of the machine.
 */

type Ask = typeof ask;

const MUTTER = 'org.gnome.Mutter.IdleMonitor';
const NS_PER_MS = 1e6;

/**
 * Tries GNOME (on Wayland or X11), then any X11 desktop.
 * @returns the watch of the desktop session; undefined if neither GNOME nor X11 gives an idle time
 */
export async function watchDesktop(env: NodeJS.ProcessEnv, asks: Ask = ask): Promise<IdleWatch | undefined> {
  const gnome = watch('the GNOME session', async () =>
    gnomeIdleMs(
      await asks('busctl', '--user', 'call', MUTTER, '/org/gnome/Mutter/IdleMonitor/Core', MUTTER, 'GetIdletime'),
    ),
  );
  if (env.DBUS_SESSION_BUS_ADDRESS && (await answers(gnome))) return gnome;
  const x11 = watch('the X11 session (xprintidle)', async () => x11IdleMs(await asks('xprintidle')));
  // In a Wayland session, an X server receives only the input for X programs, so its idle time is too long.
  if (env.DISPLAY && !env.WAYLAND_DISPLAY && (await answers(x11))) return x11;
  return undefined;
}

export async function watchMac(asks: Ask = ask): Promise<IdleWatch | undefined> {
  const hid = watch('keyboard and mouse', async () => macIdleMs(await asks('ioreg', '-c', 'IOHIDSystem', '-d', '4')));
  return (await answers(hid)) ? hid : undefined;
}

/**
 * @param answer output of `busctl`, such as `t 12345`: `t` is the type uint64 in D-Bus, the number is in milliseconds
 */
export function gnomeIdleMs(answer: string): number | undefined {
  return number(/^t (\d+)\s*$/.exec(answer)?.[1]);
}

/** @param answer output of `xprintidle`: a number of milliseconds */
export function x11IdleMs(answer: string): number | undefined {
  return number(/^(\d+)\s*$/.exec(answer)?.[1]);
}

/** @param answer output of `ioreg`: properties, among them `"HIDIdleTime" = 123456789`, in nanoseconds */
export function macIdleMs(answer: string): number | undefined {
  const ns = number(/"HIDIdleTime" = (\d+)/.exec(answer)?.[1]);
  return ns === undefined ? undefined : ns / NS_PER_MS;
}

function number(digits: string | undefined): number | undefined {
  return digits === undefined ? undefined : Number(digits);
}

function watch(name: string, read: () => Promise<number | undefined>): IdleWatch {
  return { name, idleMs: () => read().catch(() => undefined) };
}

async function answers({ idleMs }: IdleWatch): Promise<boolean> {
  return (await idleMs(0)) !== undefined;
}

/*
 * The idle time of all desktop sessions, from logind. It is used if no desktop session gives its own idle time, for
 * example because pickaxe runs as a service. When a desktop has become idle, it reports this to logind only after a
 * delay (GNOME: five minutes by default), and some desktops never report it.
 */

const PROPERTIES = ['Id', 'Type', 'Class', 'Remote', 'IdleHint', 'IdleSinceHint'];
const DESKTOPS = ['x11', 'wayland', 'mir'];
/** Maximum number of sessions that are watched. */
const MAX_SESSIONS = 64;

interface Sessions {
  /**
   * Time in ms for which all desktop sessions have been idle, as far as their states are known. Infinite if there is no
   * desktop session; undefined if there are desktop sessions, but the state of none is known.
   */
  readonly idleMs: number | undefined;
  /** Ids of the desktop sessions that have never reported to logind whether they are idle. */
  readonly unreported: readonly string[];
}

/**
 * @param warn receives one sentence about each desktop session that has not reported to logind
 * @returns the watch of all desktop sessions; undefined if logind cannot be asked
 */
export async function watchLogind(warn: (why: string) => void, asks = ask): Promise<IdleWatch | undefined> {
  const warned = new Set<string>();
  const read = async (nowMs: number) => {
    const ids = sessionIds(await asks('loginctl', 'list-sessions', '--no-legend'));
    if (ids.length === 0) return Number.POSITIVE_INFINITY;
    const properties = PROPERTIES.flatMap((property) => ['-p', property]);
    const { idleMs, unreported } = parseSessions(await asks('loginctl', 'show-session', ...ids, ...properties), nowMs);
    for (const id of unreported) {
      if (warned.has(id)) continue;
      warned.add(id);
      warn(
        `desktop session ${id} has not reported to logind yet whether it is idle, so its keyboard and mouse cannot be watched ` +
          '(in an X11 session, install xprintidle)',
      );
    }
    return idleMs;
  };
  const there = await read(0).then(
    () => true,
    () => false,
  );
  if (!there) return undefined;
  return {
    name: 'desktop sessions that report to logind',
    idleMs: (nowMs) => read(nowMs).catch(() => undefined),
  };
}

/** @param answer output of `loginctl list-sessions`: one line for each session, which begins with the session's id */
export function sessionIds(answer: string): string[] {
  const ids = answer.split('\n').map((line) => line.trim().split(/\s+/)[0]);
  return ids.filter((id) => /^\w+$/.test(id)).slice(0, MAX_SESSIONS);
}

/**
 * @param answer output of `loginctl show-session`: lines `Name=value`, with an empty line between two sessions
 * @param nowMs present time, in ms since the UNIX epoch
 */
export function parseSessions(answer: string, nowMs: number): Sessions {
  const unreported: string[] = [];
  const idles: number[] = [];
  let desktops = 0;
  for (const block of answer.split(/\n\s*\n/)) {
    const session = Object.fromEntries(block.split('\n').map((line) => line.trim().split('=', 2)));
    const { Id, Type, Class, Remote, IdleHint, IdleSinceHint } = session as Record<string, string | undefined>;
    // Only local desktop sessions of users count. Text sessions are skipped, because terminals.ts watches them.
    if (!Id || Class !== 'user' || Remote !== 'no' || !DESKTOPS.includes(Type ?? '')) continue;
    desktops++;
    const sinceMs = Number(IdleSinceHint) / 1000;
    if (!(sinceMs > 0)) unreported.push(Id);
    else if (IdleHint !== 'yes') idles.push(0);
    // If the time is in the future, the clock has been set back, so the session's idle time is not known.
    else if (sinceMs <= nowMs) idles.push(nowMs - sinceMs);
  }
  const isKnown = idles.length > 0 || desktops === 0;
  return { idleMs: isKnown ? Math.min(Number.POSITIVE_INFINITY, ...idles) : undefined, unreported };
}
