/**
 * Desktop sessions as logind knows them, for a pickaxe that runs outside of them (as a service, say). A desktop tells
 * logind that it is idle once its own time for that is over, five minutes with GNOME as it comes; some never do.
 */

import { ask } from '../ask.ts';
import type { IdleWatch } from './watch.ts';

const PROPERTIES = ['Id', 'Type', 'Class', 'Remote', 'IdleHint', 'IdleSinceHint'];
const DESKTOPS = ['x11', 'wayland', 'mir'];
/** No more sessions than this are looked at. */
const MAX_SESSIONS = 64;

interface Sessions {
  /** For how long all desktops that tell have been idle, for ever where there is none; undefined when none tells. */
  readonly idleMs: number | undefined;
  /** Desktop sessions that have never said whether they are idle. */
  readonly silent: readonly string[];
}

/**
 * @param tell is told once of each desktop session that cannot be seen
 * @returns undefined where there is no logind
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

/** @param answer of `loginctl list-sessions`: a line for each, its first word the session */
export function sessionIds(answer: string): string[] {
  const ids = answer.split('\n').map((line) => line.trim().split(/\s+/)[0]);
  return ids.filter((id) => /^\w+$/.test(id)).slice(0, MAX_SESSIONS);
}

/** @param answer of `loginctl show-session`: lines `Name=value`, an empty one between two sessions */
export function parseSessions(answer: string, nowMs: number): Sessions {
  const silent: string[] = [];
  const idles: number[] = [];
  let desktops = 0;
  for (const block of answer.split(/\n\s*\n/)) {
    const session = Object.fromEntries(block.split('\n').map((line) => line.trim().split('=', 2)));
    const { Id, Type, Class, Remote, IdleHint, IdleSinceHint } = session as Record<string, string | undefined>;
    // Terminals are watched by themselves.
    if (!Id || Class !== 'user' || Remote !== 'no' || !DESKTOPS.includes(Type ?? '')) continue;
    desktops++;
    const sinceMs = Number(IdleSinceHint) / 1000;
    if (!(sinceMs > 0)) silent.push(Id);
    else if (IdleHint !== 'yes') idles.push(0);
    // Else the clock was set back since: for how long it has been idle is not known.
    else if (sinceMs <= nowMs) idles.push(nowMs - sinceMs);
  }
  const isKnown = idles.length > 0 || desktops === 0;
  return { idleMs: isKnown ? Math.min(Number.POSITIVE_INFINITY, ...idles) : undefined, silent };
}
