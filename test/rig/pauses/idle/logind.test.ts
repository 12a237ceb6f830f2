import { expect, test } from 'vitest';
import { parseSessions, sessionIds, watchLogind } from '#pickaxe/rig/pauses/idle.js';

const NOW = 1_800_000_000_000;
/** Output of `loginctl` from systemd 252. */
const LIST = `     2 1000 alice seat0 tty2
    c1  120 gdm   seat0 tty1
   113 1000 alice       pts/1
`;
const session = (id: string, more: Record<string, string>) =>
  Object.entries({ Id: id, Remote: 'no', Type: 'wayland', Class: 'user', ...more })
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
const idleFor = (seconds: number) => ({ IdleHint: 'yes', IdleSinceHint: String((NOW - seconds * 1000) * 1000) });
const busySince = (seconds: number) => ({ IdleHint: 'no', IdleSinceHint: String((NOW - seconds * 1000) * 1000) });
const never = { IdleHint: 'no', IdleSinceHint: '0' };
const all = (...sessions: string[]) => `${sessions.join('\n\n')}\n`;

test('the ids of sessions are read from a list', () => {
  expect(sessionIds(LIST)).toEqual(['2', 'c1', '113']);
  expect(sessionIds('--help\n\n')).toEqual([]);
  expect(sessionIds('')).toEqual([]);
});

test('all desktops are idle since the last one became idle', () => {
  expect(parseSessions(all(session('2', idleFor(400)), session('5', idleFor(90))), NOW)).toEqual({
    idleMs: 90_000,
    unreported: [],
  });
  expect(parseSessions(all(session('2', idleFor(400)), session('5', busySince(3_000))), NOW).idleMs).toBe(0);
});

test('an idle time in the future, after the clock was set back, is ignored', () => {
  expect(parseSessions(all(session('2', idleFor(-7_200))), NOW)).toEqual({ idleMs: undefined, unreported: [] });
});

test('a desktop that has never reported anything to logind is ignored', () => {
  expect(parseSessions(all(session('2', never)), NOW)).toEqual({ idleMs: undefined, unreported: ['2'] });
});

test('terminals, greeters and remote sessions are not desktops', () => {
  const others = [
    session('1', { Type: 'tty', ...busySince(1) }),
    session('c1', { Class: 'greeter', ...busySince(1) }),
    session('9', { Remote: 'yes', ...busySince(1) }),
  ];
  const nobody = { idleMs: Number.POSITIVE_INFINITY, unreported: [] };
  expect(parseSessions(all(...others), NOW)).toEqual(nobody);
  expect(parseSessions('Failed to get session\n', NOW)).toEqual(nobody);
});

test('a desktop that has reported nothing to logind is reported once', async () => {
  const asked: string[][] = [];
  const told: string[] = [];
  const watch = (await watchLogind(
    (why) => told.push(why),
    async (...words) => {
      asked.push(words);
      return words[1] === 'list-sessions' ? LIST : all(session('2', idleFor(77)), session('3', never));
    },
  ))!;
  expect(await watch.idleMs(NOW)).toBe(77_000);
  await watch.idleMs(NOW);
  expect(told).toHaveLength(1);
  expect(told[0]).toContain('desktop session 3 ');
  expect(asked[1].slice(0, 5)).toEqual(['loginctl', 'show-session', '2', 'c1', '113']);
});

test('without logind there is no watch, and when it goes the watch gives no answer', async () => {
  let there = false;
  const asks = async (...words: string[]) => {
    if (!there) throw new Error('System has not been booted with systemd');
    return words[1] === 'list-sessions' ? LIST : all(session('2', idleFor(1)));
  };
  expect(await watchLogind(() => {}, asks)).toBeUndefined();
  there = true;
  const watch = (await watchLogind(() => {}, asks))!;
  there = false;
  expect(await watch.idleMs(NOW)).toBeUndefined();
});
