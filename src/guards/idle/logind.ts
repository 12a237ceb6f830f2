/**
 * Watches desktop sessions through logind, when pickaxe runs outside of them, for example as a service. A desktop tells logind
 * that it is idle only after its own delay, by default five minutes with GNOME. Some desktops never tell it.
 */

import { ask } from '../ask.ts';
import type { IdleWatch } from './watch.ts';

const PROPERTIES = ['Id', 'Type', 'Class', 'Remote', 'IdleHint', 'IdleSinceHint'];
const DESKTOPS = ['x11', 'wayland', 'mir'];
/** The most sessions that are looked at. */
const MAX_SESSIONS = 64;

interface Sessions {
  /** For how long all known desktops have been idle: infinite when there is no desktop, undefined when none is known. */
  readonly idleMs: number | undefined;
  /** Desktop sessions that have never told logind whether they are idle. */
  readonly silent: readonly string[];
}

/**
 * @param tell receives a sentence for people about each desktop session that cannot be watched, once
 * @returns undefined when there is no logind
 */
export async function watchLogind(tell: (why: string) => void, asks = ask): Promise<IdleWatch | undefined> {
  const told = new Set<string>();
  const read = async (nowMs: number) => {
    const ids = sessionIds(await asks('loginctl', 'list-sessions', '--no-legend'));
    if (ids.length === 0) return Number.POSITIVE_INFINITY;
    const properties = PROPERTIES.flatMap((property) => ['-p', property]);
    const { idleMs, silent } = parseSessions(await asks('loginctl', 'show-session', ...ids, ...properties), nowMs);
    for (const id of silent) {
      if (told.has(id)) continue;
      told.add(id);
      tell(
        `desktop session ${id} has not told logind yet whether it is idle, so its keyboard and mouse cannot be watched ` +
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

/** @param answer the output of `loginctl list-sessions`: a line for each session, whose first word is its id */
export function sessionIds(answer: string): string[] {
  const ids = answer.split('\n').map((line) => line.trim().split(/\s+/)[0]);
  return ids.filter((id) => /^\w+$/.test(id)).slice(0, MAX_SESSIONS);
}

/** @param answer the output of `loginctl show-session`: lines `Name=value`, with an empty line between two sessions */
export function parseSessions(answer: string, nowMs: number): Sessions {
  const silent: string[] = [];
  const idles: number[] = [];
  let desktops = 0;
  for (const block of answer.split(/\n\s*\n/)) {
    const session = Object.fromEntries(block.split('\n').map((line) => line.trim().split('=', 2)));
    const { Id, Type, Class, Remote, IdleHint, IdleSinceHint } = session as Record<string, string | undefined>;
    // Text sessions are skipped: terminals.ts watches them.
    if (!Id || Class !== 'user' || Remote !== 'no' || !DESKTOPS.includes(Type ?? '')) continue;
    desktops++;
    const sinceMs = Number(IdleSinceHint) / 1000;
    if (!(sinceMs > 0)) silent.push(Id);
    else if (IdleHint !== 'yes') idles.push(0);
    // A time in the future means that the clock was set back: then it is not known how long the session has been idle.
    else if (sinceMs <= nowMs) idles.push(nowMs - sinceMs);
  }
  const isKnown = idles.length > 0 || desktops === 0;
  return { idleMs: isKnown ? Math.min(Number.POSITIVE_INFINITY, ...idles) : undefined, silent };
}
