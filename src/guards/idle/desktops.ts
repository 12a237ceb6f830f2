/** Watches keyboard and mouse of the desktop session that pickaxe was started in: exact, but blind to other sessions. */

import { ask } from '../ask.ts';
import type { IdleWatch } from './watch.ts';

type Ask = typeof ask;

const MUTTER = 'org.gnome.Mutter.IdleMonitor';
const NS_PER_MS = 1e6;

/** Tries GNOME (Wayland or X11) first, then X11. @returns undefined when neither answers */
export async function watchDesktop(env: NodeJS.ProcessEnv, asks: Ask = ask): Promise<IdleWatch | undefined> {
  const gnome = watch('the GNOME session', async () =>
    gnomeIdleMs(
      await asks('busctl', '--user', 'call', MUTTER, '/org/gnome/Mutter/IdleMonitor/Core', MUTTER, 'GetIdletime'),
    ),
  );
  if (env.DBUS_SESSION_BUS_ADDRESS && (await answers(gnome))) return gnome;
  const x11 = watch('the X11 session (xprintidle)', async () => x11IdleMs(await asks('xprintidle')));
  // Under Wayland, an X server sees only the input for X programs.
  if (env.DISPLAY && !env.WAYLAND_DISPLAY && (await answers(x11))) return x11;
  return undefined;
}

export async function watchMac(asks: Ask = ask): Promise<IdleWatch | undefined> {
  const hid = watch('keyboard and mouse', async () => macIdleMs(await asks('ioreg', '-c', 'IOHIDSystem', '-d', '4')));
  return (await answers(hid)) ? hid : undefined;
}

/** @param answer `t 12345`: an unsigned 64-bit number, milliseconds */
export function gnomeIdleMs(answer: string): number | undefined {
  return number(/^t (\d+)\s*$/.exec(answer)?.[1]);
}

/** @param answer a number of milliseconds */
export function x11IdleMs(answer: string): number | undefined {
  return number(/^(\d+)\s*$/.exec(answer)?.[1]);
}

/** @param answer a list of properties with `"HIDIdleTime" = 123456789`, in nanoseconds */
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
