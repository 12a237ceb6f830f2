import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ask } from '#pickaxe/rig/pauses/ask.js';
import { findWatches } from '#pickaxe/rig/pauses/idle.js';

vi.mock('#pickaxe/rig/pauses/ask.js');
vi.mock('#pickaxe/rig/pauses/terminals.js', () => ({
  watchTerminals: async (dev: string) => ({ name: `terminals in ${dev}`, idleMs: async () => 0 }),
}));

/** The answers of programs. Any other program fails. */
let answers: Record<string, string> = {};
beforeEach(() => {
  answers = {};
  vi.mocked(ask).mockImplementation(async (...words) => {
    const answer = answers[words.join(' ')] ?? answers[words[0]];
    if (answer === undefined) throw new Error(`${words[0]}: not there`);
    return answer;
  });
  vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', 'unix:path=/run/user/1000/bus');
  vi.stubEnv('DISPLAY', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.mocked(ask).mockReset();
});

const GNOME = { busctl: 't 1000\n' };
/** One desktop session, which has never reported whether it is idle. */
const LOGIND = {
  'loginctl list-sessions --no-legend': '2 1000 alice seat0 tty2\n',
  loginctl: 'Id=2\nType=x11\nClass=user\nRemote=no\nIdleHint=no\nIdleSinceHint=0\n',
};

async function found(platform: string) {
  const told: string[] = [];
  const watches = await findWatches((why) => told.push(why), platform);
  return { names: watches.map(({ name }) => name), told };
}

test('on Linux the desktop and terminals are watched, and logind is not needed', async () => {
  answers = { ...GNOME, ...LOGIND };
  expect(await found('linux')).toEqual({ names: ['the GNOME session', 'terminals in /dev'], told: [] });
});

test('outside of a desktop logind is used, and what it cannot see is reported', async () => {
  answers = LOGIND;
  const { names, told } = await found('linux');
  expect(names).toEqual(['desktop sessions that report to logind', 'terminals in /dev']);
  expect(told).toEqual([expect.stringContaining('desktop session 2 ')]);
});

test('without a desktop and logind, only terminals are watched', async () => {
  expect((await found('linux')).names).toEqual(['terminals in /dev']);
});

test('on macOS keyboard and mouse are watched, if it reports them', async () => {
  expect((await found('darwin')).names).toEqual([]);
  answers = { ...GNOME, ...LOGIND, ioreg: '"HIDIdleTime" = 1000\n' };
  expect((await found('darwin')).names).toEqual(['keyboard and mouse']);
});

test('on other systems nothing is watched', async () => {
  answers = { ...GNOME, ...LOGIND };
  expect((await found('win32')).names).toEqual([]);
});
